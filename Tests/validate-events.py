#!/usr/bin/python3
"""Checks recorded events against their JSON Schemas (Draft 2020-12).

usage: validate-events.py SCHEMA... EVENTS

EVENTS is NDJSON, one event a line. Each is checked against the schema whose $id is its dataschema. Forms, which are not
events, are lines with dataschema and form. The schemas permit unknown members, because later versions may add some; here
an unknown member is a failure. Prints every failure with its line and JSON Pointer; the exit status is 1 if there was
one, or if there was no event.
"""

import json
import sys

import jsonschema


def pointer(path):
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def close(schema):
    """Closes every object that lists its properties. Conditions list only some, so they stay open."""
    if isinstance(schema, dict):
        for key, part in schema.items():
            if key not in ("if", "then", "else"):
                close(part)
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    elif isinstance(schema, list):
        for part in schema:
            close(part)


def validator(schema_path):
    """Returns the schema's name and its validator."""
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    close(schema)
    return schema["$id"], jsonschema.Draft202012Validator(schema)


def failures(validators, line):
    try:
        event = json.loads(line)
    except ValueError as error:
        return [("", f"not JSON: {error}")]
    validator = validators.get(event.get("dataschema")) if isinstance(event, dict) else None
    if validator is None:
        return [("/dataschema", "none of the schemas")]
    value = event.get("form", event)
    return [(pointer(error.absolute_path), error.message) for error in validator.iter_errors(value)]


def main(schema_paths, events_path):
    validators = dict(validator(path) for path in schema_paths)
    count = failed = 0
    with open(events_path, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            found = failures(validators, line)
            count += 1
            failed += bool(found)
            for place, message in found:
                print(f"{events_path}:{number}: {place or '(event)'}: {message}")
    print(f"{count} events, {failed} invalid", file=sys.stderr)
    return 1 if failed or not count else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1:-1], sys.argv[-1]))
