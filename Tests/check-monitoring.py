#!/usr/bin/env python3
"""Checks the metrics of a built gateway, and the dashboard and alert rules that ship with it.

usage: check-monitoring.py BINARY PROMTOOL FOLDER_OF_EXAMPLES

Starts the gateway, sends payloads of several outcomes, and reads its metrics in both formats. promtool checks the
Prometheus text, the alert rules and their tests, and the queries of the dashboard; the parser of prometheus-client
reads the OpenMetrics text. Each query must name families of the page and their labels.
Prints every failure; the exit status is 1 if there was one.
"""

import gzip
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families

CONFIG = {
    "gateway": {"name": "check"},
    "egress": {"allow": ["127.0.0.0/8"]},
    "destinations": {
        "crm": {"url": "http://127.0.0.1:9/hook", "secret": "env:CRM_SECRET", "retry": {"attempts": 1}},
        "inbox": {"builtin": "inbox"},
    },
    "routes": [
        {"name": "every \"alert\"", "match": {"data": {"kind": ["alert"]}}, "to": ["crm", "inbox"]},
    ],
}
PAYLOADS = [b'{"aps":{"alert":"hello"}}', b'{"aps":{"content-available":1}}', b'{"aps":{"alert":"hello","badge":"x"}}']
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OPEN_METRICS = "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5"
# Labels that Prometheus and histograms add.
ADDED = {"job", "instance", "le"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def request(url, body=None, headers=None):
    """Returns the status, the header fields and the body; None while the gateway cannot be reached."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers or {}), timeout=20) as reply:
            return reply.status, reply.headers, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()
    except (urllib.error.URLError, ConnectionError):
        return None


def scrapes(binary, folder):
    """Returns the page in the Prometheus format and in OpenMetrics, of one gateway after some payloads."""
    (folder / "routes.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    url = f"http://127.0.0.1:{free_port()}"
    command = [binary, "serve", "--config", folder / "routes.json", "--data-dir", folder / "data", "--listen", url[7:]]
    environment = {"CRM_SECRET": SECRET, "PATH": "/usr/bin:/bin"}
    with open(folder / "log", "wb") as log:
        gateway = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + 60
        while request(url + "/healthz") is None:
            if gateway.poll() is not None or time.monotonic() > end:
                sys.exit("the gateway does not start:\n" + (folder / "log").read_text(encoding="utf-8"))
            time.sleep(0.05)
        for body in PAYLOADS + [b"[" + b",".join(PAYLOADS) + b"]", b"not json"]:
            request(url + "/v1/notifications", body, {"content-type": "application/json"})
        request(url + "/v1/destinations/crm/pause?reason=check", b"")
        request(url + "/v1/destinations/none/pause", b"")
        plain = request(url + "/metrics")
        text = request(url + "/metrics", headers={"accept": OPEN_METRICS, "accept-encoding": "gzip"})
        return plain, text
    finally:
        gateway.terminate()
        gateway.wait(30)


def run(*command, stdin=None):
    """Returns the failures of a tool, as text."""
    result = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    words = " ".join(str(word) for word in command[:3])
    return [] if result.returncode == 0 else [f"{words}: " + result.stdout.decode(errors="replace")]


def families(page):
    """Returns the labels of each sample name of a page in the Prometheus format."""
    labels = {}
    for line in page.splitlines():
        kind = re.match(r"# TYPE (\S+) (\S+)", line)
        if kind:
            suffixes = ["_bucket", "_sum", "_count"] if kind[2] == "histogram" else [""]
            for suffix in suffixes:
                labels.setdefault(kind[1] + suffix, set())
            continue
        sample = re.match(r"([a-z0-9_]+)(\{.*\})? ", line)
        if sample and not line.startswith("#"):
            names = re.findall(r'([a-z_]+)="(?:[^"\\]|\\.)*"', sample[2] or "")
            labels.setdefault(sample[1], set()).update(names)
    return labels


def query_failures(query, labels):
    """Returns what a query names that the page does not have."""
    names = set(re.findall(r"\b(?:signalbox|process)_[a-z0-9_]+", query))
    if not names:
        yield f"{query}: names no metric of the gateway"
    for name in sorted(names - labels.keys()):
        yield f"{query}: {name} does not exist"
    for name, matchers in re.findall(r"\b([a-z_][a-z0-9_]*)\{([^}]*)\}", query):
        used = set(re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)\s*\"", matchers)) - ADDED
        for label in sorted(used - labels.get(name, set())):
            yield f"{query}: {name} has no label {label}"
    known = ADDED.union(*(labels.get(name, set()) for name in names)) if names else ADDED
    for group in re.findall(r"\bby \(([^)]*)\)", query):
        for label in sorted({word.strip() for word in group.split(",")} - known):
            yield f"{query}: no metric of the query has the label {label}"


def dashboard_queries(dashboard):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]
    for annotation in dashboard["annotations"]["list"]:
        yield annotation["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"]


def alert_queries(text):
    """The expressions of alert rules: on one line, or in an indented block."""
    for found in re.finditer(r"^( *)expr: (?:>-\n((?:\1 +.*\n)+)|(.*))", text, re.MULTILINE):
        yield " ".join((found[2] or found[3]).split())


def as_rules(queries):
    """Recording rules of the dashboard's queries, so that promtool parses them."""
    lines = ["groups:", "  - name: dashboard", "    rules:"]
    for number, query in enumerate(queries):
        if query.startswith("label_values"):
            continue
        query = query.replace("$__rate_interval", "5m").replace("$job", ".*").replace("$instance", ".*")
        lines += [f"      - record: dashboard:{number}", f"        expr: {json.dumps(query)}"]
    return "\n".join(lines) + "\n"


def page_failures(plain, text):
    """Returns the failures of the two scrapes."""
    if plain[0] != 200 or text[0] != 200:
        yield f"/metrics answers {plain[0]} and {text[0]}"
        return
    if text[1]["content-encoding"] != "gzip" or "openmetrics-text" not in text[1]["content-type"]:
        yield f"accept is not obeyed: {dict(text[1])}"
        return
    page = gzip.decompress(text[2]).decode()
    if not page.endswith("\n# EOF\n"):
        yield "the OpenMetrics page has no end"
    try:
        found = {family.name for family in text_string_to_metric_families(page)}
    except ValueError as error:
        yield f"OpenMetrics: {error}"
        return
    for name in ["signalbox_events_received", "signalbox_delivery_lag_seconds", "signalbox_build", "process_cpu_seconds"]:
        if name not in found:
            yield f"OpenMetrics has no family {name}"
    for sample in [
        r'signalbox_events_received_total\{source="default",vendor="unknown",kind="alert"\} 4',
        r'signalbox_payloads_rejected_total\{source="default",code="payload-not-json"\} 1',
        r"signalbox_events_unrouted_total 2",
        r'signalbox_route_matched_total\{route="every \\"alert\\""\} 4',
        r'signalbox_http_request_duration_seconds_count\{route="/v1/notifications",status="202"\} 4',
        r'signalbox_http_request_duration_seconds_count\{route="/v1/notifications",status="400"\} 1',
        r'signalbox_actions_total\{operation="destinations.pause",result="done"\} 1',
        r'signalbox_actions_total\{operation="destinations.pause",result="refused"\} 1',
    ]:
        if not re.search(f"^{sample}$", plain[2].decode(), re.MULTILINE):
            yield f"the page has no line {sample}"


def main(binary, promtool, examples):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plain, text = scrapes(binary, folder)
        failures = list(page_failures(plain, text))
        failures += run(promtool, "check", "metrics", stdin=plain[2])
        failures += run(promtool, "check", "rules", examples / "alerts.yml")
        failures += run(promtool, "test", "rules", examples / "alerts.test.yml")

        labels = families(plain[2].decode())
        rules = (examples / "alerts.yml").read_text(encoding="utf-8")
        dashboard = json.loads((examples / "grafana-dashboard.json").read_text(encoding="utf-8"))
        queries = list(dashboard_queries(dashboard))
        (folder / "dashboard.yml").write_text(as_rules(queries), encoding="utf-8")
        failures += run(promtool, "check", "rules", folder / "dashboard.yml")
        alerts = list(alert_queries(rules))
        if len(alerts) != rules.count("- alert:") or len(queries) < 30:
            failures.append(f"found {len(alerts)} queries of alerts and {len(queries)} of the dashboard")
        for query in alerts + queries:
            failures += query_failures(query, labels)
    for failure in failures:
        print(failure)
    count = len(labels)
    print(f"{count} families, {len(alerts)} alerts, {len(queries)} queries of the dashboard: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    binary, promtool = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    sys.exit(main(binary, promtool, pathlib.Path(sys.argv[3])))
