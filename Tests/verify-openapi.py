#!/usr/bin/env python3
"""Verifies the description of the API: by itself, by recorded answers, and against the built gateway.

usage: verify-openapi.py BINARY [ANSWERS]

The document must be valid OpenAPI 3.1 for openapi-spec-validator. ANSWERS is NDJSON of the answers that tests received:
{"method", "url", "status"} and perhaps "type" and "body" (base64); each one must be described. Then schemathesis sends
requests that it derives from the document to a gateway with tokens: no answer may be a 5xx, and each one must have a
described status, media type, header and body. Objects are closed for both comparisons, so a member that the document
does not have is a failure. Every failure is printed; the exit status is 1 when there was one.
"""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

SEED = 20261123
TOKENS = {"APP_TOKEN": "app-4f1c7d20c9ab", "ADMIN_TOKEN": "admin-93c5be7714d2"}
SECRETS = TOKENS | {"WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
# Answered by the connection, before a path is known.
CONNECTION_STATUSES = {400, 417, 501, 431}
# Streams do not end; tests read them.
STREAMS = ["/v1/stream"]
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "ignored_auth", "allow_header_conformance", "unsupported_method",
]
# Operations whose bodies have thousands of variants: random ones are enough here, and their forms have their own tests.
BROAD = [
    "putInAppMessage", "putFailureRule", "searchCaptures", "awaitMatchingCaptures", "explainInApp", "fillInAppSlots",
    "searchEvents", "matchPattern",
]


def closed(schema):
    """The same with every object closed that lists its members and does not say otherwise."""
    if isinstance(schema, list):
        return [closed(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if result.get("type") == "object" and "properties" in result and "additionalProperties" not in result:
        result["additionalProperties"] = False
    return result


def with_closed_answers(document):
    """The document with closed schemas. Those of events stay open, because routes add members."""
    document = json.loads(json.dumps(document))
    schemas = document["components"]["schemas"]
    document["components"]["schemas"] = {
        name: schema if name.endswith("Event") else closed(schema) for name, schema in schemas.items()
    }
    return document


# MARK: Recorded answers


class Answers:
    """Compares answers with the document."""

    def __init__(self, document):
        self.document = document
        resource = Resource.from_contents(document, default_specification=DRAFT202012)
        self.registry = Registry().with_resource("urn:document", resource)
        self.paths = [
            (re.compile("^" + re.sub(r"\{[^}]+\}", "[^/]+", path).replace(".", r"\.") + "$"), path)
            for path in document["paths"]
        ]
        # A fixed path comes before one with a parameter.
        self.paths.sort(key=lambda entry: "{" in entry[1])

    def problem(self, answer):
        """Why the document does not describe an answer; None if it does, or if the request is of another API."""
        path = urllib.parse.urlsplit(answer["url"]).path
        template = next((template for pattern, template in self.paths if pattern.match(path)), None)
        method = "get" if answer["method"] == "HEAD" else answer["method"].lower()
        operation = self.document["paths"].get(template, {}).get(method)
        if operation is None:
            return None
        described = operation["responses"].get(str(answer["status"]))
        if described is None:
            return None if answer["status"] in CONNECTION_STATUSES else f"the status {answer['status']}"
        content = described.get("content", {})
        if "body" not in answer or answer["method"] == "HEAD":
            return None
        return self.problem_of_body(base64.b64decode(answer["body"]), answer, content)

    def problem_of_body(self, body, answer, content):
        kind = answer.get("type", "").split(";")[0]
        if not content or not body:
            return None if not content and not body else f"a body of {len(body)} bytes with {answer['status']}"
        if not kind:
            # The client kept no type: the body tells a problem.
            kind = "application/problem+json" if b'"urn:signalbox:problem:' in body[:60] else next(iter(content))
        if kind not in content:
            return None if "*/*" in content else f"the type {kind} with {answer['status']}"
        schema = content[kind].get("schema")
        if schema is None or not kind.endswith("json"):
            return None
        location = "urn:document#" + self.location(answer, kind)
        validator = Draft202012Validator({"$ref": location}, registry=self.registry, format_checker=FormatChecker())
        error = next(iter(validator.iter_errors(json.loads(body))), None)
        return error and f"{error.json_path}: {error.message[:300]}"

    def location(self, answer, kind):
        """A JSON Pointer to the schema of an answer."""
        path = urllib.parse.urlsplit(answer["url"]).path
        template = next(template for pattern, template in self.paths if pattern.match(path))
        method = "get" if answer["method"] == "HEAD" else answer["method"].lower()
        keys = ["paths", template, method, "responses", str(answer["status"]), "content", kind, "schema"]
        return "".join("/" + urllib.parse.quote(key.replace("~", "~0").replace("/", "~1"), safe="~") for key in keys)


def check_recorded(document, file):
    answers, failures, count = Answers(document), set(), 0
    for line in open(file, encoding="utf-8"):
        answer = json.loads(line)
        count += 1
        problem = answers.problem(answer)
        path = urllib.parse.urlsplit(answer["url"]).path
        if problem:
            failures.add(f"{answer['method']} {path}: {problem}")
    for failure in sorted(failures):
        print(f"recorded answer not described: {failure}")
    print(f"{count} recorded answers, {len(failures)} kinds of them not described")
    return not failures and count > 0


# MARK: A gateway


class Receiver(BaseHTTPRequestHandler):
    """Accepts every webhook."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


def config(receiver):
    return {
        "gateway": {"name": "test"},
        "egress": {"allow": ["127.0.0.0/8"]},
        "sources": {"app": {"auth": {"bearer": ["env:APP_TOKEN"]}, "explain": True}},
        "admin": {"auth": {"bearer": ["env:ADMIN_TOKEN"]}},
        "destinations": {
            "crm": {"url": f"http://127.0.0.1:{receiver}", "secret": "env:WEBHOOK_SECRET"},
            "inbox": {"builtin": "inbox"},
        },
        "routes": [{"name": "everything", "match": {}, "to": ["crm"]}],
    }


class Gateway:
    """The built binary with a fresh queue, as a context."""

    def __init__(self, binary, directory):
        self.binary, self.directory = os.path.abspath(binary), directory
        self.receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=self.receiver.serve_forever, daemon=True).start()

    def __enter__(self):
        with open(self.directory + "/routes.json", "w", encoding="utf-8") as file:
            json.dump(config(self.receiver.server_port), file)
        self.log = []
        self.process = subprocess.Popen(
            [self.binary, "serve", "--listen", "127.0.0.1:0"], cwd=self.directory, env=os.environ | SECRETS,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.url = None
        for line in self.process.stdout:
            self.log.append(line)
            found = re.search(r"listening on (http://[^ ]+)", line)
            if found:
                self.url = found.group(1).strip()
                break
        assert self.url, "the gateway did not start: " + "".join(self.log)
        threading.Thread(target=self.log.extend, args=[self.process.stdout], daemon=True).start()
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.status = self.process.wait(30)
        self.receiver.shutdown()

    def request(self, method, path, body=None, token="ADMIN_TOKEN"):
        request = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": "Bearer " + TOKENS[token], "content-type": "application/json"})
        with urllib.request.urlopen(request) as reply:
            return json.loads(reply.read())


def fill(gateway, examples):
    """Stores some of everything; returns values for parameters."""
    events = []
    for name in sorted(os.listdir(examples)):
        payload = json.load(open(os.path.join(examples, name), encoding="utf-8"))
        events.append(gateway.request("POST", "/v1/notifications", payload, "APP_TOKEN")["id"])
    gateway.request(
        "POST", "/v1/interactions",
        {"eventId": events[0], "actionIdentifier": "default", "deviceTime": "2026-11-20T21:29:00Z"}, "APP_TOKEN")
    gateway.request(
        "PUT", "/v1/inapp/messages/welcome",
        {"vendor": "synerise", "kind": "banner", "triggers": [{"type": "sessionStart"}], "content": {"text": "Hi"}})
    gateway.request("PUT", "/v1/failures/slow", {"platform": "apns", "delay": "1ms"})
    offer = gateway.request(
        "POST", "/v1/inapp/triggers", {"device": "d1", "event": {"type": "sessionStart"}}, "APP_TOKEN").get("offer", {})
    digest = "0" * 64
    return {
        ("deliveries", "id"): [1, 2, 99999], ("events", "id"): events[:2] + ["01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11"],
        ("inapp", "id"): ["welcome", offer.get("id", "offer"), "none"], ("destinations", "name"): ["crm", "none"],
        ("failures", "name"): ["slow", "other"], ("sources", "source"): ["app"],
        ("categories", "identifier"): ["none", "content-extension"], ("service", "sha256"): [digest],
        ("service", "file"): ["notification-1.json", "interaction-1.json", "none.json", "app.js"],
    }


def narrowed(document, values):
    """The document with known values for parameters that name something, and short waits."""
    document = json.loads(json.dumps(document))
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                known = values.get((operation["tags"][0], parameter.get("name")))
                if parameter.get("in") == "path" and known:
                    parameter["schema"] = {"enum": known}
                if parameter.get("name") == "timeout":
                    parameter.update(required=True, schema={"enum": ["1ms", "20ms"]})
                if parameter.get("name") == "destination":
                    parameter["schema"] = {"enum": ["crm", "none"]}
    for path in STREAMS:
        document["paths"].pop(path, None)
    return document


SETTINGS = """
checks.enabled = false
{checks}
auth.openapi.source.bearer = "{APP_TOKEN}"
auth.openapi.operator.bearer = "{ADMIN_TOKEN}"
generation.database = "none"
generation.with-security-parameters = false
warnings = false

[phases.stateful]
enabled = false

[[operations]]
include-operation-id = {broad}
phases.coverage.enabled = false

[[operations]]
include-path = "/v1/captures/wait"
generation.mode = "positive"
"""


def run_schemathesis(gateway, document, directory):
    with open(directory + "/openapi.json", "w", encoding="utf-8") as file:
        json.dump(document, file)
    with open(directory + "/schemathesis.toml", "w", encoding="utf-8") as file:
        checks = "\n".join(f"checks.{name}.enabled = true" for name in CHECKS)
        file.write(SETTINGS.format(checks=checks, broad=json.dumps(BROAD), **TOKENS))
    program = os.path.join(os.path.dirname(sys.executable), "schemathesis")
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    return subprocess.run(
        [
            program, "--config-file", directory + "/schemathesis.toml", "run", directory + "/openapi.json", "--url",
            gateway.url, "--seed", str(SEED), "--max-examples", os.environ.get("EXAMPLES", "8"), "--no-color",
            "--request-timeout", "30", "--suppress-health-check", "all", "--continue-on-failure", "--no-shrink",
        ], cwd=directory, env=environment).returncode == 0


def main():
    binary, recorded = sys.argv[1], sys.argv[2:3]
    printed = json.loads(subprocess.run([binary, "schema", "openapi"], check=True, capture_output=True).stdout)
    errors = list(OpenAPIV31SpecValidator(printed).iter_errors())
    for error in errors:
        print(f"invalid document: {list(error.absolute_path)}: {error.message[:300]}")
    passed = not errors
    document = with_closed_answers(printed)
    if recorded:
        passed = check_recorded(document, recorded[0]) and passed
    examples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Examples/payloads")
    with tempfile.TemporaryDirectory() as directory, Gateway(binary, directory) as gateway:
        served = json.loads(urllib.request.urlopen(gateway.url + "/openapi.json").read())
        if served != printed:
            print("The gateway serves another document than the command prints.")
            passed = False
        values = fill(gateway, examples)
        passed = run_schemathesis(gateway, narrowed(document, values), directory) and passed
    if gateway.status != 0:
        print(f"The gateway exited with {gateway.status}.")
        passed = False
    sys.exit(0 if passed else 1)


main()
