"""A push service over HTTP/2 for tests: python -c PROGRAM [OPTION...]. Needs the package h2.

Listens on a free port of loopback, prints the port, then one JSON object for each request that came, and ends with its
standard input. A device token, in the path (APNs) or in the message (FCM), begins with the status of the answer, such
as 410. 999 means no answer, other digits mean 200. Any request with the credential "Bearer refused" is
answered 401, to FCM with "Bearer forbidden" 403.
"""

import argparse
import json
import os
import re
import socket
import ssl
import struct
import sys
import threading
import uuid

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings

options = argparse.ArgumentParser()
options.add_argument("--certificate")
options.add_argument("--key")
options.add_argument("--streams", type=int, default=1000, help="permitted until the first answer; 1000 afterwards")
options.add_argument("--together", type=int, default=1, help="answers when this number of requests of a connection wait")
options.add_argument("--requests", type=int, default=0, help="ends a connection after this number of answers")
options.add_argument("--second", choices=["large", "refuse", "reset"],
                     help="instead of the second answer of connection 1")
options = options.parse_args()

TIMESTAMP = 1795210140123
REASONS = {"400": "BadDeviceToken", "403": "InvalidProviderToken", "410": "Unregistered", "429": "TooManyRequests",
           "500": "InternalServerError", "503": "ServiceUnavailable"}
CODES = {"400": "INVALID_ARGUMENT", "401": "UNAUTHENTICATED", "403": "PERMISSION_DENIED", "404": "NOT_FOUND",
         "429": "RESOURCE_EXHAUSTED", "503": "UNAVAILABLE"}
CREDENTIALS = {"Bearer refused": "401", "Bearer forbidden": "403"}
DETAILS = {"404": "UNREGISTERED", "429": "QUOTA_EXCEEDED", "503": "UNAVAILABLE"}
output = threading.Lock()


def say(value):
    with output:
        print(json.dumps(value), flush=True)


def apns_answer(token, headers):
    status = token[:3] if token[:3] in REASONS else "200"
    fields = [("apns-id", headers.get("apns-id", str(uuid.uuid4()).upper()))]
    if status == "200":
        return status, fields + [("apns-unique-id", "unique-" + token[:4])], b""
    if status in ("429", "503"):
        fields.append(("retry-after", "7"))
    body = {"reason": REASONS[status]}
    if status == "410":
        body["timestamp"] = TIMESTAMP
    return status, fields + [("content-type", "application/json")], json.dumps(body).encode()


def fcm_answer(token, headers, path, body):
    status = CREDENTIALS.get(headers.get("authorization"), token[:3] if token[:3] in CODES else "200")
    fields = [("content-type", "application/json; charset=UTF-8")]
    if status == "200":
        identifier = "fake_message_id" if body.get("validate_only") else "1-" + token
        return status, fields, json.dumps({"name": f"{path.split(':')[0][4:]}/{identifier}"}).encode()
    error = {"code": int(status), "message": "No.", "status": CODES[status], "details": []}
    if status in DETAILS:
        error["details"].append({"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
                                 "errorCode": DETAILS[status]})
    return status, fields, json.dumps({"error": error}).encode()


class Connection:
    def __init__(self, number, link):
        self.number, self.link, self.streams, self.waiting, self.answered = number, link, {}, [], 0
        self.requests = 0
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))

    def serve(self):
        self.h2.initiate_connection()
        self.h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: options.streams})
        self.send()
        while received := self.link.recv(65536):
            for event in self.h2.receive_data(received):
                self.take(event)
            self.send()

    def send(self):
        self.link.sendall(self.h2.data_to_send())

    def take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.streams[event.stream_id] = (event.headers, bytearray())
        elif isinstance(event, h2.events.DataReceived):
            self.streams[event.stream_id][1].extend(event.data)
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.requested(event.stream_id)

    def requested(self, stream):
        headers, body = self.streams.pop(stream)
        pseudo = {name: value for name, value in headers if name.startswith(":")}
        fields = [(name, value) for name, value in headers if not name.startswith(":")]
        say({"connection": self.number, "method": pseudo[":method"], "path": pseudo[":path"],
             "authority": pseudo.get(":authority"), "headers": fields, "body": body.decode("latin-1")})
        self.requests += 1
        if options.second and self.number == 1 and self.requests == 2:
            return self.end(stream)
        path, named = pseudo[":path"], dict(fields)
        if path.startswith("/v1/projects/"):
            message = json.loads(body)
            token = message.get("message", {}).get("token", "")
            answer = fcm_answer(token, named, path, message)
        else:
            token = re.sub("^/3/device/", "", path)
            answer = apns_answer(token, named)
        if token.startswith("999"):
            return
        self.waiting.append((stream, answer))
        if len(self.waiting) >= options.together:
            for stream, answer in self.waiting:
                self.answer(stream, *answer)
            self.waiting = []
        if options.requests and self.answered >= options.requests:
            self.h2.close_connection()
            self.send()
            self.link.close()

    def end(self, stream):
        if options.second == "refuse":
            self.h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
        elif options.second == "large":
            fields = [(f"x-{number}", "a" * 4000) for number in range(40)]
            self.h2.send_headers(stream, [(":status", "200")] + fields, end_stream=True)
        else:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.link.close()

    def answer(self, stream, status, fields, body):
        self.h2.send_headers(stream, [(":status", status)] + fields, end_stream=not body)
        if body:
            self.h2.send_data(stream, body, end_stream=True)
        self.answered += 1
        if self.answered == 1 and options.streams < 1000:
            self.h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 1000})


def serve(number, link, context):
    try:
        if context:
            link = context.wrap_socket(link, server_side=True)
        Connection(number, link).serve()
    except (OSError, h2.exceptions.ProtocolError):
        pass
    finally:
        link.close()


def main():
    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
        context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    print(listener.getsockname()[1], flush=True)

    def accept():
        number = 0
        while True:
            link, _ = listener.accept()
            number += 1
            threading.Thread(target=serve, args=(number, link, context), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.buffer.read()
    os._exit(0)


main()
