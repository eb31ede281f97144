"""A gateway for the tests of the console: the built binary with a config, a receiver of webhooks, and a picture server.

Everything is on loopback and in a temporary directory, and ends with the `with` block.
"""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import tempfile
import threading
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = pathlib.Path(os.environ.get("SIGNALBOX_BINARY", ROOT / ".build/debug/signalbox"))


def png(size=8):
    """A small blue picture."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = b"".join(b"\0" + b"\x30\x60\xd0" * size for _ in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Peer(http.server.BaseHTTPRequestHandler):
    """`/ok` accepts webhooks, `/down` fails for now, `/dead` refuses them for good; `/picture*` serves a picture,
    `/frame?URL` a page with a frame."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="text/plain"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/down":
            return self.answer(503)
        self.answer(200 if self.path == "/ok" or self.server.accepts else 400, b"<b>refused</b>\x1b[31m")

    def do_GET(self):
        self.server.pictures.append(self.path)
        if self.path.startswith("/frame?"):
            page = f"<!doctype html><iframe src='{self.path[7:]}'></iframe>"
            self.answer(200, page.encode(), "text/html")
        elif self.path.startswith("/picture"):
            self.answer(200, png(), "image/png")
        else:
            self.answer(404)


class Gateway:
    """A running gateway. `url` ends with a slash."""

    def __init__(self, process, url, peer, directory):
        self.process, self.url, self.peer, self.directory = process, url, peer, directory
        self.host = url.split("/")[2]

    @property
    def peer_url(self):
        return f"http://127.0.0.1:{self.peer.server_port}"

    def request(self, method, path, body=None, **headers):
        """The status, the headers and the body of an answer."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request(method, path, content, names)
        answer = connection.getresponse()
        with contextlib.closing(connection):
            return answer.status, dict((k.lower(), v) for k, v in answer.getheaders()), answer.read()

    def get(self, path, **headers):
        """The JSON of an answer, which must be 200."""
        status, _, body = self.request("GET", path, **headers)
        assert status == 200, (path, status, body[:300])
        return json.loads(body)

    def send(self, payload, source="mobile"):
        """Accepts a payload; returns the id of its event."""
        status, _, body = self.request(
            "POST", f"/v1/sources/{source}/notifications", payload, content_type="application/json")
        assert status == 202, (status, body[:300])
        return json.loads(body)["id"]

    def reload(self, **sections):
        """Replaces sections of the config, and tells the gateway."""
        path = pathlib.Path(self.directory, "routes.json")
        new = pathlib.Path(self.directory, "routes.new")
        new.write_text(json.dumps({**json.loads(path.read_text()), **sections}))
        new.replace(path)
        self.process.send_signal(signal.SIGHUP)

    def until(self, what, condition, seconds=30):
        """Polls until the condition holds. Fails with `what` after the time."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"timed out: {what}"
            time.sleep(0.05)

    def has_dead(self, number):
        """Whether the destination `erp` has this number of dead deliveries."""
        rows = self.get("/v1/destinations")["destinations"]
        return any(row["name"] == "erp" and row["dead"] >= number for row in rows)


def config(peer, more):
    """A config with two destinations: `crm` accepts everything, `erp` refuses it. `more` replaces sections."""
    url = f"http://127.0.0.1:{peer.server_port}"
    retry = {"attempts": 1, "base": "1ms", "max": "20ms"}
    return {
        "gateway": {"name": "test"}, "egress": {"allow": ["127.0.0.0/8"]},
        "media": {"allow": ["127.0.0.0/8"], "allowHttp": True, "retry": {"attempts": 1}},
        "console": {"keepPayloads": "all"},
        "destinations": {
            "crm": {"url": url + "/ok", "secret": "env:WEBHOOK_SECRET", "retry": retry},
            "erp": {"url": url + "/dead", "secret": "env:WEBHOOK_SECRET", "retry": retry},
        },
        "routes": [
            {"name": "everything", "match": {}, "to": ["crm"], "media": "stored", "mediaWait": "2s"},
            {"name": "dead", "match": {"data": {"content": {"body": ["to erp"]}}}, "to": ["erp"]},
        ],
        **more,
    }


@contextlib.contextmanager
def gateway(environment=None, **more):
    """A gateway on a free port. `more`: sections of the config that replace the usual ones."""
    peer = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Peer)
    peer.accepts, peer.pictures = False, []
    threading.Thread(target=peer.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "routes.json").write_text(json.dumps(config(peer, more)))
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        path = pathlib.Path(directory, "log")
        with path.open("w") as log:
            process = subprocess.Popen(
                [BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=directory, stdout=log, stderr=subprocess.STDOUT,
                env={"PATH": os.environ["PATH"], "WEBHOOK_SECRET": secret, **(environment or {})})
        try:
            yield Gateway(process, listening(process, path), peer, directory)
        finally:
            process.terminate()
            process.wait(30)
            peer.shutdown()
            peer.server_close()


def listening(process, log):
    """The URL that the log names."""
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if found:
            return found[0] + "/"
        time.sleep(0.02)
    raise AssertionError(log.read_text())


def alert(title, body="text", **more):
    """A payload of APNs."""
    return {"aps": {"alert": {"title": title, "body": body}}, **more}


def with_buttons(title, number, body="text", media=None):
    """A payload of MCE with buttons, and with a picture if a link is given."""
    actions = [{"name": f"Button {at}", "type": "url", "value": f"https://shop.example/{at}"} for at in range(number)]
    picture = {"media-attachment": media} if media else {}
    return alert(
        title, body, **picture, **{
            "notification-action": {"type": "url", "value": "https://shop.example/"},
            "category-actions": actions, "category-name": "five", "mce": {"attribution": "x", "mailingId": "1"}})


def with_carousel(title, links):
    """A payload of Blueshift with a carousel."""
    items = [{"image_url": link, "deep_link_url": "https://shop.example/"} for link in links]
    return {
        "aps": {"alert": {"title": title, "body": "text"}, "category": "carousel", "mutable-content": 1},
        "bsft_message_uuid": "7d3a2c5e-1f0b-4a6d-9c8e-2b1a0f9e8d7c", "carousel_elements": items}
