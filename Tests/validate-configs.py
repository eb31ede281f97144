#!/usr/bin/python3
"""Checks configs against the JSON Schema of routes.json (Draft 2020-12).

usage: validate-configs.py SCHEMA GOOD... --bad FOLDER

Every good config must be valid, and every file of the folder invalid. Exceptions are files that are not JSON, and the
files that the folder's beyond-schema.txt names, one a line: a schema cannot express their errors, so they must be valid.
Prints every failure; the exit status is 1 if there was one, or if there was no file to check.
"""

import json
import pathlib
import sys

import jsonschema


def read(path):
    """Returns the value, or None if the file is not JSON."""
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def failures(validator, good, folder):
    for path in good:
        config = read(path)
        if config is None:
            yield f"{path}: not valid JSON"
            continue
        for error in validator.iter_errors(config):
            yield f"{path}: {error.json_path}: {error.message}"
    beyond = set((folder / "beyond-schema.txt").read_text(encoding="utf-8").split())
    names = set()
    for path in sorted(folder.glob("*.json")):
        names.add(path.stem)
        config = read(path)
        if config is None:
            continue
        is_valid = validator.is_valid(config)
        if is_valid and path.stem not in beyond:
            yield f"{path}: this is wrong, and the schema does not say so: correct the schema, or name it in beyond-schema.txt"
        if not is_valid and path.stem in beyond:
            yield f"{path}: beyond-schema.txt names it, but the schema says that it is wrong"
    for name in sorted(beyond - names):
        yield f"{folder / 'beyond-schema.txt'}: there is no {name}.json"


def main(schema_path, good, folder):
    schema = json.loads(pathlib.Path(schema_path).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    found = list(failures(jsonschema.Draft202012Validator(schema), good, folder))
    for failure in found:
        print(failure)
    bad = len(list(folder.glob("*.json")))
    print(f"{len(good)} good and {bad} bad configs, {len(found)} failures", file=sys.stderr)
    return 1 if found or not good or not bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 5 or sys.argv[-2] != "--bad":
        sys.exit(__doc__.strip())
    good_paths = [pathlib.Path(path) for path in sys.argv[2:-2] if not path.endswith(".expected.json")]
    sys.exit(main(sys.argv[1], good_paths, pathlib.Path(sys.argv[-1])))
