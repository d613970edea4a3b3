#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read documents of pdb, a line each, and check them against docs/json-schema.json, in which members that
it does not name are refused here: so what is not in the schema is not said. Prints the commands that
they answer, a line each; status 1 and why if a line is not what it should be."""
import json
import sys

import jsonschema


def make_strict(schema):
    """Members may be added for programs that read documents; here each has to be named."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for value in schema.values():
            make_strict(value)
    elif isinstance(schema, list):
        for value in schema:
            make_strict(value)


def main():
    with open("docs/json-schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, part in schema["$defs"].items():
        make_strict(part)
    validator = jsonschema.Draft202012Validator(schema)
    failed = False
    # Bytes that are not UTF-8 end it.
    for line in sys.stdin.buffer.read().decode("utf-8").splitlines():
        document = json.loads(line)
        for error in validator.iter_errors(document):
            best = jsonschema.exceptions.best_match([error])
            print("%s: %s: %s" % (document.get("line"), best.json_path, best.message[:300]))
            failed = True
        known = set(schema["properties"])
        if document["command"] != "watch" and set(document) - known:
            print("%s: unknown members %s" % (document["line"], set(document) - known))
            failed = True
        print("%s%s" % (document["command"], "" if "error" not in document else " error"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
