#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which ranks hold a job up, where each group of ranks is, and why the first of those that wait does.

    least.py --load hang.pdb     a snapshot
    least.py --pid 4711          the launcher of a job on this host

It is what pdb answers in JSON, which docs/json.md and docs/json-schema.json describe. Exit status
as pdb's: 0 no hang, 1 a hang, 2 it could not be looked at."""

import json
import subprocess
import sys


def ask(job, *questions):
    """The answers of one pdb, by command."""
    words = ["pdb", "-n", *job, "--batch", "--json"]
    for question in questions:
        words += ["-ex", question]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for answer in answers:
        if answer["pdb"]["schema"] != 1:
            sys.exit(f"least.py: schema {answer['pdb']['schema']} is not known")
        if "error" in answer:
            print("least.py:", answer["error"]["text"], file=sys.stderr)
    if done.returncode == 2:
        sys.exit(2)
    return answers


def first_rank(ranks):
    """Of "3-5,8"; None if it is empty."""
    return int(ranks.replace("-", ",").split(",")[0]) if ranks else None


def main(job):
    lp, groups = ask(job, "lp", "groups")
    verdict = lp["result"]
    print(f"{verdict['verdict']}: {verdict['count']} of {lp['job']['size']} ranks ({verdict['ranks']})")
    for group in groups["result"]["groups"]:
        iterations = ", ".join(str(loop["iteration"]) for loop in group.get("iterations", []))
        print(f"{group['count']} ranks ({group['ranks']}) {group['where']}"
              + (f", iteration {iterations}" if iterations else "")
              + (" <-" if group.get("least_progressed") else ""))
    waiting = first_rank(verdict["waiting"])
    if waiting is not None and lp["job"]["recorded"]:
        for step in ask(job, f"why {waiting}")[0]["result"]["text"]:
            print(step)
    return 1 if verdict["hang"] else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1:]))
