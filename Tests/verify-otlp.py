#!/usr/bin/env python3
"""Reads recorded requests to OpenTelemetry collectors with the reference messages of OTLP.

usage: verify-otlp.py REQUESTS

REQUESTS is NDJSON: {"kind": "traces" or "metrics", "request": {...}}. OTLP in JSON differs from Protobuf's mapping in one
point: identifiers are hexadecimal. They are converted, then the library must read every field. Rules beyond the
messages are checked too. Every failure is printed; the exit status is 1 when there was one, or when a kind is missing.
"""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

MESSAGES = {"traces": ExportTraceServiceRequest, "metrics": ExportMetricsServiceRequest}
LENGTHS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def converted(value, key=None):
    """The same JSON with identifiers in Base64, and without shortcuts that the mapping allows."""
    if isinstance(value, dict):
        return {name: converted(member, name) for name, member in value.items()}
    if isinstance(value, list):
        assert value or key == "attributes", f"{key} is an empty list"
        return [converted(element, key) for element in value]
    if key in LENGTHS:
        assert value == value.lower(), f"{key} has capital letters"
        identifier = bytes.fromhex(value)
        assert len(identifier) == LENGTHS[key] and any(identifier), f"{key} is {value}"
        return base64.b64encode(identifier).decode()
    if key in ("kind", "code", "aggregationTemporality"):
        assert isinstance(value, int), f"{key} is not a number"
    if key and (key.endswith("UnixNano") or key in ("intValue", "asInt", "count", "bucketCounts")):
        assert isinstance(value, str), f"{key} is not a string"
    return value


def check_traces(message):
    spans = [s for r in message.resource_spans for scope in r.scope_spans for s in scope.spans]
    assert spans, "the request has no span"
    for span in spans:
        assert span.name and span.kind, "a span has no name or no kind"
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, "a span ends before it begins"
        assert span.parent_span_id != span.span_id, "a span is its own parent"


def check_metrics(message):
    metrics = [m for r in message.resource_metrics for scope in r.scope_metrics for m in scope.metrics]
    assert metrics, "the request has no metric"
    assert len({m.name for m in metrics}) == len(metrics), "two metrics have one name"
    for metric in metrics:
        data = getattr(metric, metric.WhichOneof("data"))
        assert data.data_points, f"{metric.name} has no point"
        points = [tuple(sorted((a.key, a.value.string_value) for a in p.attributes)) for p in data.data_points]
        assert len(set(points)) == len(points), f"{metric.name} has two points with equal attributes"
        for point in data.data_points:
            if metric.WhichOneof("data") == "histogram":
                assert len(point.bucket_counts) == len(point.explicit_bounds) + 1, metric.name
                assert sum(point.bucket_counts) == point.count, metric.name
                assert list(point.explicit_bounds) == sorted(set(point.explicit_bounds)), metric.name


def check(line):
    record = json.loads(line)
    message = MESSAGES[record["kind"]]()
    json_format.ParseDict(converted(record["request"]), message, ignore_unknown_fields=False)
    {"traces": check_traces, "metrics": check_metrics}[record["kind"]](message)
    return record["kind"]


def main(path):
    counts = dict.fromkeys(MESSAGES, 0)
    failures = 0
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                counts[check(line)] += 1
            except (AssertionError, json_format.ParseError, ValueError, KeyError) as error:
                failures += 1
                print(f"{path}:{number}: {error}", file=sys.stderr)
    for kind in (kind for kind, count in counts.items() if count == 0):
        failures += 1
        print(f"{path}: no request with {kind}", file=sys.stderr)
    print(", ".join(f"{count} requests with {kind}" for kind, count in counts.items()) + " read")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
