"""The other side of a connection, as a test wants it: python3 -c PROGRAM MODE [OPTION...].

Listens on a free port of loopback, prints the port, then one JSON object for each request that came, and ends with its
standard input. Modes: see the functions at the end.
"""

import argparse
import base64
import json
import os
import socket
import ssl
import struct
import sys
import threading

options = argparse.ArgumentParser()
options.add_argument("mode")
options.add_argument("--certificate")
options.add_argument("--key")
options.add_argument("--client-authority")
options.add_argument("--newest", choices=["1.1", "1.2"])
options.add_argument("--alpn")
options.add_argument("--close-notify", action="store_true")
options.add_argument("--reply", action="append", default=[])
options.add_argument("--script")
options.add_argument("--status", type=int, default=200)
options = options.parse_args()

output = threading.Lock()
served = 0
asked = {}
wanted = threading.Event()
arrived = threading.Event()
BUSY = b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n"


def say(value):
    with output:
        print(json.dumps(value), flush=True)


def tls():
    if not options.certificate:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    if options.newest == "1.1":
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    if options.newest == "1.2":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    if options.client_authority:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(options.client_authority)
    if options.alpn:
        context.set_alpn_protocols([options.alpn])
    return context


def read_request(connection):
    """One request of HTTP/1.1, announced on standard output; its first line, or false when the connection ends instead."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            return False
        received += piece
    head, body = received.split(b"\r\n\r\n", 1)
    line, *fields = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, value in (field.split(":", 1) for field in fields)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    say({"line": line, "headers": headers, "body": body.decode("latin-1"), "from": connection.getpeername()[1]})
    return line


def unescaped(reply):
    return reply.encode("latin-1").decode("unicode_escape").encode("latin-1")


def canned(connection):
    """Answers each request with the next --reply, the last one again and again."""
    global served
    while read_request(connection):
        reply = options.reply[min(served, len(options.reply) - 1)]
        served += 1
        connection.sendall(unescaped(reply))


def scripted(connection):
    """Answers by path, as the file --script says: each request for one with the next of its replies, the last one again
    and again; a path that is not there with 404.
    """
    script = json.load(open(options.script))
    while line := read_request(connection):
        path = line.split(" ")[1]
        with output:
            number = asked[path] = asked.get(path, -1) + 1
        replies = script.get(path, [{"head": "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"}])
        reply = replies[min(number, len(replies) - 1)]
        head = reply["head"].encode()
        body = base64.b64decode(reply.get("body", ""))
        left = reply.get("times", 1)
        # One write if possible: a client must not depend on how the response is cut into pieces.
        if left == 1 and not reply.get("gap"):
            connection.sendall(head + body)
            left = -1
        else:
            connection.sendall(head)
        # Zero repeats without end.
        while left > 0 or reply.get("times") == 0:
            connection.sendall(body)
            threading.Event().wait(reply.get("gap", 0))
            left -= 1
        if reply.get("end") == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if "end" in reply:
            return


def slowly(connection, start, piece):
    read_request(connection)
    connection.sendall(start)
    while True:
        connection.sendall(piece)
        threading.Event().wait(0.002)


def mute(connection):
    """Never says a word, not even of TLS."""
    while connection.recv(65536):
        pass


def late(connection):
    """Answers after three seconds."""
    read_request(connection)
    threading.Event().wait(3)
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")


def trickled_headers(connection):
    slowly(connection, b"HTTP/1.1 200 OK\r\nx-slow: ", b"a")


def trickled_body(connection):
    slowly(connection, b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", b"a")


def endless_headers(connection):
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"x-more: again\r\n" * 100)


def endless_line(connection):
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nx-more: ")
    while True:
        connection.sendall(b"again" * 1000)


def endless_body(connection):
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"1000\r\n" + b"a" * 0x1000 + b"\r\n")


def hangs_up(connection):
    """Takes the request, and closes."""
    read_request(connection)


def hangs_up_later(connection):
    """Answers the first request with 204. Takes each later one, and closes."""
    global served
    while read_request(connection):
        served += 1
        if served > 1:
            return
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")


def hangs_up_at_once(connection):
    """Receives the first bytes and closes."""
    connection.recv(65536)


def leftovers(connection):
    """Answers two requests with 204 and later ones with 503. The first connection gets --reply, too, after its first
    response. It has arrived when the second request is answered.
    """
    global served
    while read_request(connection):
        served += 1
        number = served
        if number == 2:
            wanted.set()
            arrived.wait()
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n" if number <= 2 else BUSY)
        if number == 1:
            wanted.wait()
            connection.sendall(unescaped(options.reply[0]))
            arrived.set()


def resets(connection):
    read_request(connection)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def proxy(connection):
    """Answers CONNECT: with --status, and when that is 200, with a tunnel to where it was asked to."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(1)
    line, *fields = head.decode("latin-1").strip().split("\r\n")
    say({"line": line, "headers": {n.lower(): v.strip() for n, v in (f.split(":", 1) for f in fields)}, "body": ""})
    connection.sendall(b"HTTP/1.1 %d Proxy\r\nx-from: proxy\r\ncontent-length: 0\r\n\r\n" % options.status)
    if options.status != 200:
        return
    host, port = line.split(" ")[1].rsplit(":", 1)
    # Names mean this machine here.
    server = socket.create_connection(("127.0.0.1", int(port)))

    def pass_on(source, target):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)

    threading.Thread(target=pass_on, args=(server, connection), daemon=True).start()
    pass_on(connection, server)


def cut_off(connection):
    """Sends --reply, and ends the connection. With --close-notify, TLS announces the end."""
    read_request(connection)
    connection.sendall(unescaped(options.reply[0]))
    if options.close_notify:
        connection.unwrap()


def http2(connection):
    """Enough of RFC 9113 to answer every request with 204, and to say the length of its body. With --reply early, the
    answer comes after the first part of a body, with a reset for NO_ERROR. With --reply cut, further answers are the head
    of a 200 and such a reset; with --reply refused, a reset for REFUSED_STREAM.
    """

    def frame(kind, flags, stream, payload=b""):
        connection.sendall(struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload)

    def exactly(count):
        read = b""
        while len(read) < count:
            piece = connection.recv(count - len(read))
            if not piece:
                raise ConnectionError
            read += piece
        return read

    preface = exactly(24)
    frame(4, 0, 0)
    lengths = {}
    while True:
        head = exactly(9)
        length = int.from_bytes(head[:3], "big")
        exactly(length)
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
        if kind == 4 and not flags & 1:
            frame(4, 1, 0)
        if kind not in (0, 1) or lengths.get(stream) == "answered":
            continue
        lengths[stream] = lengths.get(stream, 0) + (length if kind == 0 else 0)
        is_early = kind == 0 and "early" in options.reply
        if not flags & 1 and not is_early:
            continue
        body = str(lengths[stream])
        say({"line": preface.decode("latin-1").split("\r\n")[0], "headers": {}, "body": body})
        lengths[stream] = "answered"
        is_refused = "refused" in options.reply
        is_cut = len(lengths) > 1 and (is_refused or "cut" in options.reply)
        # The static table's entries for statuses of 200 and 204.
        frame(1, 4 if is_cut else 5, stream, b"\x88" if is_cut else b"\x89")
        if is_early or is_cut:
            frame(3, 0, stream, struct.pack(">I", 7 if is_refused else 0))


def serve(connection, context):
    try:
        with connection if context is None else secured(connection, context) as connection:
            globals()[options.mode.replace("-", "_")](connection)
    except OSError:
        # The gateway closed the connection or refused the certificate; the test checks this on its side.
        pass


def secured(connection, context):
    connection = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
    try:
        connection.do_handshake()
    except ssl.SSLError:
        # Closing with bytes unread would reset the connection, and the alert that says why might never arrive.
        connection.shutdown(socket.SHUT_WR)
        while socket.socket.recv(connection, 65536):
            pass
        connection.close()
        raise
    return connection


def accept(listener, context):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, context), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
threading.Thread(target=accept, args=(listener, tls()), daemon=True).start()
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
os._exit(0)
