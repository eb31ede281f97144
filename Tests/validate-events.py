#!/usr/bin/python3
"""Checks recorded events against their JSON Schema (Draft 2020-12).

usage: validate-events.py SCHEMA EVENTS

EVENTS is NDJSON, one event a line. The schema lets receivers meet members that it does not know, as later versions may
have; what this version writes must be in it, so here such members are failures. Every failure is printed with its line and JSON Pointer; the exit status is 1 when
there was one, or no event at all.
"""

import json
import sys

import jsonschema


def pointer(path):
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def close(schema):
    """Makes every object that lists its properties have no others."""
    if isinstance(schema, dict):
        for part in schema.values():
            close(part)
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    elif isinstance(schema, list):
        for part in schema:
            close(part)


def failures(validator, line):
    try:
        event = json.loads(line)
    except ValueError as error:
        return [("", f"not JSON: {error}")]
    return [(pointer(error.absolute_path), error.message) for error in validator.iter_errors(event)]


def main(schema_path, events_path):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    close(schema)
    validator = jsonschema.Draft202012Validator(schema)
    count = failed = 0
    with open(events_path, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            found = failures(validator, line)
            count += 1
            failed += bool(found)
            for place, message in found:
                print(f"{events_path}:{number}: {place or '(event)'}: {message}")
    print(f"{count} events, {failed} invalid", file=sys.stderr)
    return 1 if failed or not count else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    sys.exit(main(*sys.argv[1:]))
