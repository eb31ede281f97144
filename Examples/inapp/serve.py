#!/usr/bin/env python3
"""Serves the example client and forwards its requests to a gateway, so both have one origin. For trying it out only.

    signalbox serve &
    SIGNALBOX_TOKEN=... python3 Examples/inapp/serve.py      then open http://127.0.0.1:8000/?user=ann

GATEWAY is the gateway's address, SIGNALBOX_TOKEN a source's token if the config has sources.
"""

import http.server
import os
import pathlib
import urllib.error
import urllib.request

GATEWAY = os.environ.get("GATEWAY", "http://127.0.0.1:8080")
TOKEN = os.environ.get("SIGNALBOX_TOKEN")
FORWARDED = ("/v1/inapp/triggers", "/v1/inapp/slots", "/v1/inapp/offers/")
LONGEST = 64 * 1024


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=str(pathlib.Path(__file__).parent / "client"))

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not self.path.startswith(FORWARDED) or not length.isdigit() or int(length) > LONGEST:
            self.send_error(404)
            return
        headers = {"content-type": "application/json"}
        if TOKEN:
            headers["authorization"] = "Bearer " + TOKEN
        request = urllib.request.Request(GATEWAY + self.path, self.rfile.read(int(length)), headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                self.answer(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            self.answer(error.code, error.headers, error.read())
        except OSError as error:
            self.send_error(502, str(error))

    def answer(self, status, headers, body):
        self.send_response(status)
        self.send_header("content-type", headers.get("content-type", "application/json"))
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Handler).serve_forever()
