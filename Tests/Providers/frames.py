"""A client of HTTP/2 that chooses every frame: it breaks rules on purpose and reports what arrives.

Usage: frames.py PLAY PORT [FILE], with the FILE of the authority for TLS. Prints one JSON line for each result.
"""

import json
import socket
import ssl
import struct
import sys
import time

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
NAMES = ["DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
         "CONTINUATION"]
END_STREAM, END_HEADERS, ACK = 0x1, 0x4, 0x1
# Seconds that anything may take before a play fails: more than it takes while all tests run on a busy machine.
PATIENCE = 300


def report(**result):
    print(json.dumps(result), flush=True)


class Connection:
    """One connection. `alpn`: the protocols offered, or None; `settings`: sent with the preface."""

    def __init__(self, port, authority=None, alpn=None, settings=b"", begin=True, server_name="localhost", context=None,
                 tunnel=None, session=None):
        self.socket = tunnel or socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        if authority:
            context = context or ssl.create_default_context(cafile=authority)
            context.check_hostname = server_name is not None
            if alpn:
                context.set_alpn_protocols(alpn)
            self.socket = context.wrap_socket(self.socket, server_hostname=server_name, session=session)
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder()
        self.buffer = b""
        if begin:
            self.socket.sendall(PREFACE)
            self.send(4, 0, 0, settings)

    def send(self, kind, flags, stream, payload=b""):
        self.socket.sendall(frame(kind, flags, stream, payload))

    def head(self, path, headers=(), method="POST", authority="localhost"):
        fields = [(":method", method), (":scheme", "https"), (":path", path)]
        if authority:
            fields.append((":authority", authority))
        return self.encoder.encode(fields + list(headers), huffman=False)

    def request(self, stream, path, body=b"", headers=(), **more):
        end = 0 if body else END_STREAM
        data = frame(1, END_HEADERS | end, stream, self.head(path, headers, **more))
        if body:
            data += frame(0, END_STREAM, stream, body)
        self.socket.sendall(data)

    def frames(self, until=None, seconds=PATIENCE):
        """The frames that arrive until one fulfils `until`, the connection ends, or the time is over."""
        deadline = time.monotonic() + seconds
        while True:
            found = self.frame(deadline)
            if found is None:
                return
            yield found
            if until and until(found):
                return

    def frame(self, deadline):
        while len(self.buffer) < 9 or len(self.buffer) < 9 + int.from_bytes(self.buffer[:3], "big"):
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self.socket.settimeout(left)
            try:
                piece = self.socket.recv(65536)
            except (TimeoutError, ConnectionError, ssl.SSLError):
                return None
            if not piece:
                return None
            self.buffer += piece
        length = int.from_bytes(self.buffer[:3], "big")
        kind, flags, stream = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big") & 0x7FFFFFFF
        payload, self.buffer = self.buffer[9:9 + length], self.buffer[9 + length:]
        if kind == 4 and not flags:
            self.acknowledge()
        return Frame(kind, flags, stream, payload, self.decoder)

    def acknowledge(self):
        """Accepts the server's settings."""
        try:
            self.send(4, ACK, 0)
        except OSError:
            pass

    def acknowledge_ping(self, ping):
        """The server may have closed the connection meanwhile."""
        try:
            self.send(6, ACK, 0, ping.payload)
        except OSError:
            pass

    def settle(self):
        """Waits for the server's settings, so that a thousand streams are permitted."""
        for _ in self.frames(until=lambda f: f.name == "SETTINGS" and not f.flags):
            pass

    def answers(self, count, seconds=PATIENCE):
        """The statuses and bodies of `count` streams, by stream."""
        found, ended = {}, 0
        for f in self.frames(seconds=seconds):
            if f.name == "HEADERS":
                found[f.stream] = [int(dict(f.headers)[":status"]), ""]
            if f.name == "DATA":
                found[f.stream][1] += f.payload.decode()
            ended += f.name in ("HEADERS", "DATA") and f.flags & END_STREAM
            if ended == count:
                break
        return found

    def end(self, seconds=PATIENCE):
        """The frames until the connection ends; None when it does not."""
        found = []
        deadline = time.monotonic() + seconds
        while (f := self.frame(deadline)) is not None:
            found.append(f)
        return found if time.monotonic() < deadline else None


class Frame:
    def __init__(self, kind, flags, stream, payload, decoder):
        self.name = NAMES[kind] if kind < len(NAMES) else str(kind)
        self.flags, self.stream, self.payload = flags, stream, payload
        self.headers = decoder.decode(payload) if self.name == "HEADERS" else []

    def __repr__(self):
        text = f"{self.name} {self.stream} {self.flags}"
        if self.name == "HEADERS":
            return text + " " + " ".join(f"{name}={value}" for name, value in self.headers)
        if self.name == "GOAWAY":
            last, code = struct.unpack(">II", self.payload[:8])
            return f"{text} last={last} code={code} {self.payload[8:].decode()}".rstrip()
        if self.name in ("DATA", "PING"):
            return text + " " + self.payload.decode(errors="replace")
        return (text + " " + self.payload.hex()).rstrip()


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def settings(**values):
    ids = {"table": 1, "streams": 3, "window": 4, "frame": 5, "list": 6}
    return b"".join(struct.pack(">HI", ids[name], value) for name, value in values.items())


if __name__ == "__main__":
    import plays
    play, port = sys.argv[1], int(sys.argv[2])
    getattr(plays, play)(port, sys.argv[3] if len(sys.argv) > 3 else None)
