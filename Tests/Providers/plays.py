"""The plays of frames.py, a function each. The server answers /ok with 200 and no body, /error with 400 and a
body. It never answers /hold."""

import socket
import ssl
import struct
import time

from frames import ACK, END_HEADERS, END_STREAM, PATIENCE, PREFACE, Connection, frame, report, settings


def ended(connection):
    found = connection.end()
    report(closed=found is not None, frames=[repr(f) for f in found or [] if f.name == "GOAWAY"])


def log(port, authority):
    """Every frame of a connection with a good and a bad request."""
    connection = Connection(port, authority, alpn=["h2"] if authority else None)
    connection.request(1, "/ok", b"{}", [("apns-id", "AbC-1")])
    connection.request(3, "/error", b"{}")
    last = lambda f: f.stream == 3 and f.flags & END_STREAM
    for f in connection.frames(until=last):
        report(frame=repr(f))


def without_alpn(port, authority):
    """No ALPN, no SNI, no :authority, and the preface byte by byte."""
    for alpn, name in [(None, "localhost"), (None, None), (["h2"], "localhost")]:
        connection = Connection(port, authority, alpn=alpn, begin=False, server_name=name)
        for byte in PREFACE:
            connection.socket.sendall(bytes([byte]))
        connection.send(4, 0, 0)
        connection.request(1, "/ok", b"{}", authority=None)
        report(answers=connection.answers(1))


def http1(port, authority):
    """HTTP/1.1, negotiated or not; two requests on one connection."""
    for alpn in ([None, ["http/1.1"]] if authority else [None]):
        connection = Connection(port, authority, alpn=alpn, begin=False)
        for path in ("/error", "/ok"):
            connection.socket.sendall(
                f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\napns-id: x\r\n\r\n{{}}".encode())
            answer = b""
            while b"\r\n\r\n" not in answer or (path == "/error" and not answer.endswith(b"}")):
                answer += connection.socket.recv(4096)
            report(answer=answer.decode())


def text(connection):
    """Everything that arrives before the connection ends, as text."""
    answer = b""
    while piece := connection.socket.recv(65536):
        answer += piece
    return answer.decode()


def pipelined(port, authority):
    """Two requests with chunked bodies in one piece. The first line asks for the answer to the first one."""
    connection = Connection(port, authority, begin=False)
    first, second = [f"POST {path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
                     for path in ("/hold", "/error")]
    connection.socket.sendall((first + second).encode())
    report(ready=True)
    answer = b""
    while (answer.count(b"HTTP/1.1") < 2 or not answer.endswith(b"}")) and (piece := connection.socket.recv(4096)):
        answer += piece
    report(statuses=[int(line.split()[1]) for line in answer.decode().splitlines() if line.startswith("HTTP/1.1")])
    connection.socket.sendall(b"POST /ok HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    report(last=text(connection).splitlines()[0])


def large(port, authority):
    """The last response is larger than the socket takes at once, and the client reads late."""
    connection = Connection(port, authority, begin=False)
    connection.socket.sendall(b"POST /large HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    connection.socket.recv(1, socket.MSG_PEEK)
    report(ready=True)
    report(bytes=len(text(connection).split("\r\n\r\n")[1]))


def half_closed(port, authority):
    """A client that ends its output before it receives the response. The first line asks for the response."""
    connection = Connection(port, authority, begin=False)
    connection.socket.sendall(b"POST /hold HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}")
    connection.socket.shutdown(socket.SHUT_WR)
    report(ready=True)
    report(answer=text(connection).splitlines()[0])


def head(port, authority):
    """The response to HEAD has no DATA frame."""
    connection = Connection(port, authority)
    connection.request(1, "/error", method="HEAD")
    for f in connection.frames(until=lambda f: f.flags & END_STREAM and f.stream):
        if f.stream:
            report(frame=repr(f))


def too_large(port, authority):
    """A declared length beyond the limit is answered before the body; an undeclared one at the limit."""
    connection = Connection(port, authority)
    connection.send(1, END_HEADERS, 1, connection.head("/ok", [("content-length", "4097")]))
    report(declared=connection.answers(1))
    connection.send(0, END_STREAM, 1, b"x" * 4097)
    connection.send(1, END_HEADERS, 3, connection.head("/ok"))
    connection.send(0, 0, 3, b"x" * 4096)
    connection.send(0, 0, 3, b"x")
    report(undeclared=connection.answers(1))
    connection.send(0, END_STREAM, 3, b"x" * 100)
    connection.request(5, "/ok", b"x" * 4096)
    report(fitting=connection.answers(1))


def many(port, authority):
    """A thousand streams at once on one connection."""
    connection = Connection(port, authority)
    connection.settle()
    for number in range(1000):
        connection.request(2 * number + 1, "/error" if number % 2 else "/ok", b"{}" * 100)
    answers = connection.answers(1000)
    report(ok=sum(a == [200, ""] for a in answers.values()), bad=sum(a[0] == 400 and a[1] != "" for a in answers.values()))


def goaway(port, authority):
    """The debug data of GOAWAY gives the reason of the end."""
    connection = Connection(port, authority)
    connection.request(1, "/goaway", b"{}")
    for f in connection.end():
        report(frame=repr(f))


def error_after_goaway(port, authority):
    """An error of the connection while a request is incomplete, after the last GOAWAY."""
    connection = Connection(port, authority)
    connection.send(1, END_HEADERS, 1, connection.head("/ok"))
    connection.request(3, "/goaway", b"{}")
    for _ in connection.frames(until=lambda f: f.stream == 3 and f.flags & END_STREAM):
        pass
    # DATA of the connection itself is an error of the connection.
    connection.send(0, 0, 0, b"x")
    ended(connection)


def delayed(port, authority):
    """A response that is held, and one that is not; also with HTTP/1.1, where it is the last one."""
    connection = Connection(port, authority)
    connection.socket.sendall(b"".join(
        frame(1, END_HEADERS | END_STREAM, stream, connection.head(path)) for stream, path in [(1, "/late"), (3, "/ok")]))
    found = [repr(f) for f in connection.frames(until=lambda f: f.stream == 1 and f.flags & END_STREAM)
             if f.name in ("HEADERS", "DATA")]
    report(frames=found)
    connection = Connection(port, authority, begin=False)
    late = b"POST /late HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}"
    connection.socket.sendall(late + b"POST /ok HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    report(statuses=[int(line.split()[1]) for line in text(connection).splitlines() if line.startswith("HTTP/1.1")])


def narrow(port, authority):
    """One stream at a time until a success."""
    connection = Connection(port, authority)
    connection.settle()
    for stream, path in [(1, "/narrow"), (3, "/error"), (5, "/ok"), (7, "/ok")]:
        connection.request(stream, path, b"{}")
        last = lambda f: f.stream == stream and f.flags & END_STREAM and f.name in ("HEADERS", "DATA")
        found = list(connection.frames(until=last))
        # The settings come with the response that changes them, or follow it.
        changed = lambda f: f.name == "SETTINGS" and not f.flags
        if path != "/error" and stream != 7 and not any(changed(f) for f in found):
            found += connection.frames(until=changed)
        for f in found:
            if f.name in ("HEADERS", "DATA") or f.name == "SETTINGS" and not f.flags:
                report(frame=repr(f))


def cut(port, authority):
    """The connection ends in the middle of a response, with and without a body."""
    for path in ("/cut", "/cut-ok"):
        connection = Connection(port, authority)
        connection.request(1, path, b"{}")
        report(frames=[repr(f) for f in connection.end() if f.name in ("HEADERS", "DATA", "GOAWAY", "RST_STREAM")])
    for path in ("/cut", "/cut-ok"):
        connection = Connection(port, authority, begin=False)
        connection.socket.sendall(f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{{}}".encode())
        answer = b""
        try:
            while piece := connection.socket.recv(4096):
                answer += piece
        except ConnectionError:
            pass
        report(answer=answer.decode())


def torn(port, authority):
    """Whether TLS ends before a connection that is cut, over HTTP/2 and HTTP/1.1."""
    for is_http2 in (True, False):
        context = ssl.create_default_context(cafile=authority)
        # Python sets it. With it, the end of TCP would count as the end of TLS.
        context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
        connection = Connection(port, authority, begin=is_http2, context=context)
        connection.socket.suppress_ragged_eofs = False
        if is_http2:
            connection.request(1, "/cut", b"{}")
        else:
            connection.socket.sendall(b"POST /cut HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}")
        try:
            while connection.socket.recv(4096):
                pass
            report(ended=True)
        except (ssl.SSLError, ConnectionError):
            report(ended=False)


def stop(port, authority):
    """The server stops with requests in progress. The first line asks for the stop."""
    connection = Connection(port, authority)
    connection.settle()
    for number in range(200):
        connection.request(2 * number + 1, "/hold", b"{}")
    connection.request(401, "/ok", b"{}")
    connection.answers(1)
    report(ready=True)
    statuses, aways = 0, []
    for f in connection.frames():
        if f.name == "GOAWAY":
            aways.append(repr(f))
        if f.name == "PING" and not f.flags:
            connection.send(6, 1, 0, f.payload)
        statuses += f.name == "HEADERS"
    report(statuses=statuses, aways=aways)


def silent_stop(port, authority):
    """The server stops a connection whose client acknowledges no PING. The first line asks for the stop."""
    connection = Connection(port, authority)
    connection.request(1, "/ok", b"{}")
    connection.answers(1)
    report(ready=True)
    report(aways=[repr(f) for f in connection.end() if f.name == "GOAWAY"])


def late_request(port, authority):
    """A request is on its way when the server stops an idle connection. The first line asks for the stop."""
    connection = Connection(port, authority)
    connection.request(1, "/ok", b"{}")
    connection.answers(1)
    report(ready=True)
    seen = []
    for f in connection.frames():
        if f.name == "GOAWAY" and not seen:
            connection.request(3, "/ok", b"{}")
        if f.name == "PING" and not f.flags:
            connection.send(6, 1, 0, f.payload)
        if f.name in ("GOAWAY", "HEADERS"):
            seen.append(repr(f))
    report(seen=seen)


def cancels(port, authority):
    """Three hundred requests are cancelled; later ones are answered."""
    connection = Connection(port, authority)
    connection.settle()
    for number in range(300):
        connection.request(2 * number + 1, "/hold", b"{}")
        connection.send(3, 0, 2 * number + 1, struct.pack(">I", 8))
    connection.request(601, "/ok", b"{}")
    report(answers=connection.answers(1))


def late_resets(port, authority):
    """Each stream is reset after its response, as libcurl 7.88 does. Later requests are answered."""
    connection = Connection(port, authority)
    connection.settle()
    for first in range(1, 6001, 200):
        streams = range(first, first + 200, 2)
        for stream in streams:
            connection.request(stream, "/ok", b"{}")
        connection.answers(len(streams))
        connection.socket.sendall(b"".join(frame(3, 0, stream, struct.pack(">I", 5)) for stream in streams))
    connection.request(6001, "/ok", b"{}")
    report(answers=connection.answers(1))


def rapid_reset(port, authority):
    """Requests that are cancelled at once. Their frames are made first, so that they arrive as fast as an attack."""
    connection = Connection(port, authority)
    attack = b"".join(
        frame(1, END_HEADERS, stream, connection.head("/ok")) + frame(3, 0, stream, struct.pack(">I", 8))
        for stream in range(1, 8_000, 2))
    try:
        connection.socket.sendall(attack)
    except OSError:
        pass
    ended(connection)


def flood(port, authority, data):
    connection = Connection(port, authority)
    connection.request(1, "/hold", b"{}")
    try:
        for _ in range(20_000):
            connection.socket.sendall(data)
    except OSError:
        pass
    ended(connection)


def pings(port, authority):
    flood(port, authority, frame(6, 0, 0, b"12345678"))


def settings_flood(port, authority):
    flood(port, authority, frame(4, 0, 0))


def priorities(port, authority):
    flood(port, authority, frame(2, 0, 3, struct.pack(">IB", 0, 1)))


def window_updates(port, authority):
    flood(port, authority, frame(8, 0, 0, struct.pack(">I", 1)))


def unknown_frames(port, authority):
    flood(port, authority, frame(99, 0, 0, b"x"))


def empty_data(port, authority):
    connection = Connection(port, authority)
    connection.send(1, END_HEADERS, 1, connection.head("/ok"))
    try:
        for _ in range(1000):
            connection.send(0, 0, 1)
    except OSError:
        pass
    ended(connection)


def continuations(port, authority):
    """CVE-2024-27316: a header block without end."""
    connection = Connection(port, authority)
    connection.send(1, 0, 1, connection.head("/ok"))
    try:
        for _ in range(1000):
            connection.send(9, 0, 1, b"\x00\x01a\x01b" * 10)
    except OSError:
        pass
    ended(connection)


def header_bomb(port, authority):
    """References to one large entry of the table."""
    connection = Connection(port, authority)
    # One field of 3,000 bytes is added to the table, then referred to.
    block = connection.head("/ok") + b"\x40\x01a" + b"\x7f" + bytes([0x80 | (3000 - 127) % 128, (3000 - 127) // 128]) + b"x" * 3000
    block += b"\xbe" * 5000
    connection.send(1, END_HEADERS | END_STREAM, 1, block)
    ended(connection)


def half_header(port, authority):
    """A header block that stops in the middle."""
    connection = Connection(port, authority)
    connection.socket.sendall(frame(1, END_HEADERS | END_STREAM, 1, connection.head("/ok"))[:-3])
    ended(connection)


def slow_body(port, authority):
    """A body that stops; the other stream is answered."""
    connection = Connection(port, authority)
    connection.send(1, END_HEADERS, 1, connection.head("/ok", [("content-length", "100")]))
    connection.send(0, 0, 1, b"x" * 10)
    connection.request(3, "/ok", b"{}")
    found = []
    for f in connection.frames(until=lambda f: len(found) == 2):
        if f.name in ("HEADERS", "RST_STREAM"):
            found.append(repr(f))
    report(frames=sorted(found))


def no_window(port, authority):
    """The client gives no window for bodies and never extends it."""
    connection = Connection(port, authority, settings=settings(window=0))
    connection.settle()
    for number in range(1000):
        connection.request(2 * number + 1, "/error", b"{}")
    found = connection.end()
    report(closed=found is not None, bodies=sum(f.name == "DATA" for f in found or []),
           heads=sum(f.name == "HEADERS" for f in found or []))


def window_runs_out(port, authority):
    """A client that never extends the window of the connection. The connection ends before bodies are lost."""
    connection = Connection(port, authority, settings=settings(window=1 << 20))
    requests, answered, aways, closed = 0, 0, [], False
    while not closed and requests < 10_000:
        closed = True
        try:
            connection.request(2 * requests + 1, "/error", b"{}")
        except OSError:
            break
        requests += 1
        for f in connection.frames(until=lambda f: f.name == "DATA"):
            if f.name == "GOAWAY":
                aways.append(repr(f))
            if f.name == "PING" and not f.flags:
                connection.acknowledge_ping(f)
            if f.name == "DATA":
                answered, closed = answered + 1, False
    report(closed=closed, aways=aways, unanswered=requests - answered)


def late_window(port, authority):
    """A client that extends the window after it has read more than most clients do."""
    connection = Connection(port, authority, settings=settings(window=1 << 20))
    pings, answered = 0, 0
    for number in range(400):
        connection.request(2 * number + 1, "/error", b"{}")
        for f in connection.frames(until=lambda f: f.name == "DATA"):
            if f.name == "PING" and not f.flags:
                pings += 1
                connection.send(8, 0, 0, struct.pack(">I", 1 << 20))
                connection.acknowledge_ping(f)
            answered += f.name == "DATA"
    report(pings=pings, answered=answered)


def unread(port, authority):
    """A client that sends requests and does not read. The responses are large, so few requests fill its connection."""
    import socket
    connection = Connection(port, authority)
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.socket.settimeout(1)
    sent, stream = 0, 1
    try:
        while stream < 2_000_000:
            connection.request(stream, "/ok", headers=[("apns-id", "x" * 4000)])
            stream += 2
            sent += 1
    except OSError as error:
        report(sent=sent, error=type(error).__name__)
        return
    report(sent=sent, error=None)


def handshake(port, authority):
    """The server closes a connection without bytes."""
    connection = Connection(port, authority, begin=False) if not authority else Connection(port, begin=False)
    report(closed=connection.end() is not None)


def keepalive(port, authority):
    """Pings at an interval, on an idle connection."""
    connection = Connection(port, authority)
    for number in range(20):
        connection.send(6, 0, 0, b"%08d" % number)
        for f in connection.frames(until=lambda f: f.name == "PING"):
            pass
        time.sleep(0.25)
    connection.request(1, "/ok", b"{}")
    report(answers=connection.answers(1))


def certificate(port, authority):
    """The digest of the certificate that the server presents."""
    import hashlib
    connection = Connection(port, authority, alpn=["h2"])
    report(sha256=hashlib.sha256(connection.socket.getpeercert(True)).hexdigest(), version=connection.socket.version())


def old_tls(port, authority):
    """TLS 1.1 is refused."""
    context = ssl.create_default_context(cafile=authority)
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    import socket
    try:
        context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
        report(refused=False)
    except (ssl.SSLError, ConnectionError):
        report(refused=True)


def bad_handshakes(port, authority):
    """Handshakes that fail, one after the other. Most of them do not use the file of the authority."""
    def attempt(name, context=None, data=b""):
        plain = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        try:
            if context:
                context.wrap_socket(plain, server_hostname="localhost").recv(1)
            else:
                plain.sendall(data)
                plain.shutdown(socket.SHUT_WR)
                while plain.recv(4096):
                    pass
        except (ssl.SSLError, ConnectionError):
            pass
        plain.close()
        report(attempt=name)

    cipher = ssl.create_default_context(cafile=authority)
    cipher.maximum_version = ssl.TLSVersion.TLSv1_2
    cipher.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
    key = ssl.create_default_context(cafile=authority)
    key.maximum_version = ssl.TLSVersion.TLSv1_2
    key.set_ciphers("AES128-GCM-SHA256")
    attempt("probe")
    attempt("cipher", cipher)
    attempt("key", key)
    attempt("authority", ssl.create_default_context())
    attempt("http", data=b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    attempt("preface", data=PREFACE)
    attempt("proxy", data=b"CONNECT api.push.apple.com:443 HTTP/1.1\r\n\r\n")


def client_certificates(port, authority):
    """A client certificate by the authority, one without an issuer, and none."""
    import datetime
    import os
    import tempfile

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    folder = os.path.dirname(authority)
    issuer = x509.load_pem_x509_certificate(open(authority, "rb").read())
    issuer_key = serialization.load_pem_private_key(open(folder + "/ca.key", "rb").read(), None)
    now = datetime.datetime.now(datetime.timezone.utc)
    for kind in ("known", "unknown", "none"):
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.USER_ID, "com.example.app"),
                          x509.NameAttribute(NameOID.COMMON_NAME, "Apple Push Services: com.example.app")])
        certificate = (x509.CertificateBuilder().subject_name(name).public_key(key.public_key())
                       .issuer_name(issuer.subject if kind == "known" else name).serial_number(1)
                       .not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1))
                       .sign(issuer_key if kind == "known" else key, hashes.SHA256()))
        context = ssl.create_default_context(cafile=authority)
        if kind != "none":
            with tempfile.NamedTemporaryFile(suffix=".pem") as file:
                file.write(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                             serialization.NoEncryption()))
                file.write(certificate.public_bytes(serialization.Encoding.PEM))
                file.flush()
                context.load_cert_chain(file.name)
        connection = Connection(port, authority, context=context)
        connection.request(1, "/certificate")
        report(kind=kind, answers=connection.answers(1))


def idle(port, authority):
    """A connection without requests, by a client that acknowledges no PING."""
    connection = Connection(port, authority)
    found = connection.end()
    report(closed=found is not None, frames=[repr(f) for f in found or [] if f.name in ("GOAWAY", "PING")])


def before_requests(port, authority):
    """Frames of a connection without requests, byte by byte; then a request that depends on them."""
    connection = Connection(port, authority)
    early = frame(6, 0, 0, b"12345678") + frame(8, 0, 0, struct.pack(">I", 1000))
    early += frame(4, 0, 0, settings(window=0)) + frame(6, 1, 0, b"87654321")
    for byte in early:
        connection.socket.sendall(bytes([byte]))
    acknowledged = []
    for f in connection.frames(until=lambda f: len(acknowledged) == 2):
        report(frame=repr(f))
        if f.name == "SETTINGS" and f.flags:
            acknowledged.append(f)
    connection.request(1, "/error", b"{}")
    for f in connection.frames(until=lambda f: f.name == "HEADERS"):
        report(frame=repr(f))
    # No window until now.
    connection.send(6, 0, 0, b"12345678")
    connection.send(4, 0, 0, settings(window=100))
    for f in connection.frames(until=lambda f: f.name == "DATA"):
        report(frame=repr(f))


def malformed(port, authority):
    """Requests whose fields contradict each other, then requests whose fields do not."""
    connection = Connection(port, authority)
    cases = [
        [("host", "other.example")], [("host", "localhost:8443")], [("host", "localhost"), ("host", "a")],
        [("content-length", "+2")], [("content-length", "2, 2")], [("content-length", "2"), ("content-length", "2")],
        [("host", "LOCALHOST:443"), ("content-length", "2")], [("host", "localhost"), ("content-length", "02")],
    ]
    for number, fields in enumerate(cases):
        stream = 2 * number + 1
        connection.request(stream, "/ok", b"{}", fields)
        for f in connection.frames(until=lambda f: f.stream == stream):
            pass
        report(frame=repr(f))


def early_streams(port, authority):
    """A thousand requests, and one too many, before the client reads the server's settings."""
    connection = Connection(port, authority)
    for number in range(1001):
        connection.request(2 * number + 1, "/hold", b"{}")
    for f in connection.frames(until=lambda f: f.name == "RST_STREAM"):
        pass
    report(ready=repr(f))
    answers = connection.answers(1000)
    report(answered=len(answers), statuses=sorted({status for status, _ in answers.values()}))


def many_pings(port, authority):
    """As many frames as a client may send at once; then a request."""
    connection = Connection(port, authority)
    acknowledged = 0
    for number in range(190):
        connection.send(6, 0, 0, b"%08d" % number)
        for f in connection.frames(until=lambda f: f.name == "PING"):
            acknowledged += f.name == "PING" and f.payload == b"%08d" % number
    connection.request(1, "/ok", b"{}")
    report(acknowledged=acknowledged, answers=connection.answers(1))


def invalid_beginnings(port, authority):
    """Connections whose first frames break a rule, each in another way."""
    for data in (frame(6, 0, 0, b"12345678"), frame(4, 0, 0, settings(frame=1)), frame(4, 0, 0, b"12345"),
                 frame(4, 0, 0) + frame(8, 0, 0, bytes(4)), frame(4, 0, 0) + frame(4, ACK, 0) + frame(4, ACK, 0),
                 frame(4, 0, 0) + frame(6, 0, 1, b"12345678"), frame(4, 0, 0) + frame(6, 0, 0, b"1234"),
                 frame(4, 0, 0) + frame(8, 0, 0, b"\x7f\xff\xff\xff"), frame(4, 0, 0) + frame(9, 4, 1)):
        connection = Connection(port, authority, begin=False)
        connection.socket.sendall(PREFACE + data)
        found = connection.end()
        report(closed=found is not None, codes=[f.payload[7] for f in found or [] if f.name == "GOAWAY"])


def connect(port, text):
    """A plain connection to the proxy that sent a text, and the bytes that came back, up to an empty line."""
    plain = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    plain.sendall(text.encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n") and (piece := plain.recv(1)):
        answer += piece
    return plain, answer.decode()


def tunnel(port, authority):
    """The proxy: a tunnel, then HTTP/2 or HTTP/1.1 in it as without one. Paths of other hosts are unknown there."""
    import hashlib
    host = "api.push.apple.com"
    for alpn, version in [(["h2"], "1.1"), (None, "1.0"), (None, "1.1")]:
        plain, head = connect(port, f"CONNECT {host}:443 HTTP/{version}\r\n\r\n")
        connection = Connection(port, authority, alpn=alpn, server_name=host, tunnel=plain)
        connection.request(1, "/ok", b"{}", authority=host)
        connection.request(3, "/certificate", authority=host)
        report(head=head.split("\r\n")[0], answers=connection.answers(2),
               sha256=hashlib.sha256(connection.socket.getpeercert(True)).hexdigest())
    host = "iamcredentials.googleapis.com"
    plain, _ = connect(port, f"CONNECT {host}:443 HTTP/1.1\r\n\r\n")
    connection = Connection(port, authority, begin=False, server_name=host, tunnel=plain)
    connection.socket.sendall(f"GET /ok HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode())
    answer = b""
    while piece := connection.socket.recv(4096):
        answer += piece
    report(google=answer.decode())


def refusals(port, authority):
    """The proxy: answers without a tunnel, after which it closes."""
    for text in ("CONNECT example.com:443 HTTP/1.1\r\n\r\n", "GET http://exp.host/ HTTP/1.1\r\n\r\n",
                 "CONNECT exp.host:443 HTTP/1.1\r\n\r\n", "\x16\x03\x01", "CONNECT " + "x" * 9000):
        plain, answer = connect(port, text)
        while piece := plain.recv(4096):
            answer += piece.decode()
        plain.close()
        report(answer=answer)


def unused_tunnels(port, authority):
    """The proxy: connections that open no tunnel, or do not use it."""
    for text in ("CONNECT exp", "CONNECT api.push.apple.com:443 HTTP/1.1\r\n\r\n", ""):
        try:
            plain, _ = connect(port, text)
            while plain.recv(4096):
                pass
        except ConnectionError:
            # The end came before the text.
            pass
        report(closed="true")


def waiting_tunnel(port, authority):
    """The proxy stops between the tunnel and TLS."""
    plain, _ = connect(port, "CONNECT api.push.apple.com:443 HTTP/1.1\r\n\r\n")
    report(ready=True)
    while plain.recv(4096):
        pass
    report(closed="true")


def client_chains(port, authority):
    """Client certificates with the chains of chains.py. The second connection resumes the session of the first."""
    import os
    folder = os.path.dirname(authority)
    for name in ("chain", "leaf", "impostor"):
        context = ssl.create_default_context(cafile=authority)
        # Sessions of TLS 1.2 are known when the handshake ends.
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(f"{folder}/{name}.pem")
        connection = Connection(port, authority, context=context)
        connection.request(1, "/certificate")
        report(answers=connection.answers(1))
        if name == "chain":
            again = Connection(port, authority, context=context, session=connection.socket.session)
            again.request(1, "/certificate")
            report(answers=again.answers(1), resumed=again.socket.session_reused)


TOKEN = "0123456789abcdef" * 4
PUSH = [("apns-topic", "com.example.app")]


def pushes(port, authority):
    """A sender that pushes one message after the other, while another connection attacks."""
    connection = Connection(port, authority)
    statuses = {}
    for number in range(100):
        connection.request(2 * number + 1, "/3/device/" + TOKEN, b'{"aps":{"alert":"Hello"}}', PUSH)
        for status, _ in connection.answers(1).values():
            statuses[str(status)] = statuses.get(str(status), 0) + 1
    report(statuses=statuses)


def pushes_until_goaway(port, authority):
    """200 pushes at a time, with a secret in the path, until the server announces its end.

    Reports how many pushes the server answered, and how many are beyond its last GOAWAY."""
    connection = Connection(port, authority)
    connection.settle()
    stream, last, aways, answered = 1, None, 0, set()

    def read(until, seconds):
        nonlocal last, aways
        for f in connection.frames(until=until, seconds=seconds):
            if f.name == "HEADERS":
                answered.add((f.stream, dict(f.headers)[":status"]))
            if f.name == "PING" and not f.flags:
                connection.send(6, 1, 0, f.payload)
            if f.name == "GOAWAY":
                aways += 1
                last = struct.unpack(">I", f.payload[:4])[0] & 0x7FFFFFFF

    while not aways and stream < 100_000:
        for _ in range(200):
            connection.request(stream, "/s/secret/3/device/" + TOKEN, b'{"aps":{"alert":"Hello"}}', PUSH)
            stream += 2
        if stream == 401:
            report(ready=True)
        expected = (stream - 1) // 2
        read(lambda f: aways or (f.name == "HEADERS" and len(answered) == expected), PATIENCE)
    read(lambda f: False, PATIENCE)
    report(sent=(stream - 1) // 2, aways=aways, answered=sum(status == "200" for _, status in answered),
           untaken=sum(number > last for number in range(1, stream, 2)))


def slow_pings(port, authority):
    """Pings as in keepalive, every 15 s for five minutes."""
    connection = Connection(port, authority)
    for number in range(20):
        connection.send(6, 0, 0, b"%08d" % number)
        for f in connection.frames(until=lambda f: f.name == "PING" and f.flags):
            pass
        time.sleep(15)
    connection.request(1, "/s/secret/3/device/" + TOKEN, b'{"aps":{"alert":"Hello"}}', PUSH)
    report(answers=connection.answers(1))
