#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints which ranks hold a job up, where each group is, and why the first waiting rank waits.

    least.py --load hang.pdb     a snapshot
    least.py --pid 4711          the launcher of a job on this host

docs/json.md and docs/json-schema.json describe pdb's answers in JSON. Exit status: 0 no certain
hang, 1 hang or crash, 2 pdb failed."""

import json
import subprocess
import sys


def ask(job, *questions):
    """Returns one answer of pdb for each question."""
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
    """Returns 3 for "3-5,8", None for ""."""
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
