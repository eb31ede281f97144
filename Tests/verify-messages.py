#!/usr/bin/env python3
"""Reads recorded webhook messages as a receiver would, with the reference libraries.

usage: verify-messages.py MESSAGES

MESSAGES is NDJSON: {"format", "headers", "body" (base64)}, and "secret" where the message was sent and signed, "events"
where what it was made of is known. CloudEvents must read in every mode as the structured event reads; signatures must be
those that the library makes. Every failure is printed; the exit status is 1 when there was one, or when a format is
missing.
"""

import base64
import gzip
import json
import sys
from datetime import datetime, timezone

from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from standardwebhooks.webhooks import Webhook

STRUCTURED = {"content-type": "application/cloudevents+json"}
FORMATS = {"cloudevents", "cloudevents-binary", "cloudevents-batch", "standard-webhooks", "raw", "template", "slack", "teams", "discord"}


def read(headers, body):
    """Attributes and data of a message in structured or binary mode."""
    event = from_http_event(HTTPMessage(headers=headers, body=body))
    # A header has no types: CloudEvents' canonical strings are compared.
    attributes = {key: canonical(value) for key, value in event.get_attributes().items()}
    return attributes, event.get_data()


def canonical(value):
    return str(value).lower() if isinstance(value, bool) else value if isinstance(value, datetime) else str(value)


def cloudevents(name, headers, body):
    """The events of a message by the library; nothing for other formats."""
    if name == "cloudevents-batch":
        assert headers["content-type"] == "application/cloudevents-batch+json", headers
        return [read(STRUCTURED, json.dumps(event).encode()) for event in json.loads(body)]
    if name in ("cloudevents", "cloudevents-binary"):
        assert headers["content-type"].startswith("application/cloudevents") == (name == "cloudevents"), headers
        return [read(headers, body)]
    return []


def check_signature(message, headers, body):
    time = datetime.fromtimestamp(int(headers["webhook-timestamp"]), tz=timezone.utc)
    wanted = Webhook(message["secret"]).sign(headers["webhook-id"], time, body.decode())
    assert wanted in headers["webhook-signature"].split(" "), "the library signs otherwise"


def texts(value):
    """Every object with a member `text` in a message of a chat."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for element in value:
            yield from texts(element)


def check_chat(name, message):
    """Rules of the services that keep a text from mentioning anyone, and a message from being rejected."""
    if name == "slack":
        for text in texts(message):
            inner = text["text"][1:-1] if text.get("type") == "mrkdwn" else text["text"]
            assert "<" not in inner and ">" not in inner, text
            assert 0 < len(inner.encode("utf-16-le")) / 2 <= 3000, text
        assert message["mrkdwn"] is False
        assert len(message["blocks"][0]["text"]["text"].encode("utf-16-le")) / 2 <= 150
    if name == "discord":
        assert message["allowed_mentions"] == {"parse": []}
        (embed,) = message["embeds"]
        assert 0 < len(embed["title"]) <= 256 and len(embed.get("description", "")) <= 4096
        assert sum(len(embed.get(key, "")) for key in ("title", "description")) + len(embed["footer"]["text"]) <= 6000
    if name == "teams":
        (attachment,) = message["attachments"]
        card = attachment["content"]
        assert {block["type"] for block in card["body"]} <= {"RichTextBlock", "Image"}, card
        assert "msteams" not in card
        assert len(json.dumps(message).encode()) < 28_000


def check(message):
    name, headers, body = message["format"], message["headers"], base64.b64decode(message["body"])
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    if "secret" in message:
        check_signature(message, headers, body)
    if name == "cloudevents-binary" and not body:
        return  # The library insists on data for a content type of its own choosing.
    found = cloudevents(name, headers, body)
    if found and "events" in message:
        events = [read(STRUCTURED, event.encode()) for event in message["events"]]
        assert found == events, f"{found} is not {events}"
    if name in ("slack", "teams", "discord"):
        check_chat(name, json.loads(body))
    if name == "standard-webhooks":
        payload = json.loads(body)
        assert list(payload) == ["type", "timestamp", "data"], list(payload)
        datetime.fromisoformat(payload["timestamp"].replace("Z", "+00:00"))


def main(path):
    count = failed = 0
    seen, signed = set(), set()
    with open(path, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            message = json.loads(line)
            count += 1
            seen.add(message["format"])
            if "secret" in message:
                signed.add(message["format"])
            try:
                check(message)
            except Exception as error:  # any error of a library is a failure of the message
                failed += 1
                print(f"{path}:{number}: {message['format']}: {type(error).__name__}: {error}")
    print(f"{count} messages, {failed} unreadable", file=sys.stderr)
    if FORMATS - seen or not signed:
        print(f"no message of: {', '.join(sorted(FORMATS - seen)) or 'any format was signed'}", file=sys.stderr)
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1]))
