#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does pdb answer of the kept snapshots (corpus.py) what it answered last time (answers.txt)? Each is replayed as of a
job with the recorder, of one without, and of one where a third of the ranks have none. Tells what has changed: first what
was right and is not, then what is right now. keep: what it answers now is what counts from now on. add FOLDER RUNS:
the snapshots of a campaign, with the raw data of its runs, into the corpus. unpack: the snapshots as files. pack: the
corpus of these files anew, after they were changed."""

import argparse
import collections
import json
import os
import subprocess
import sys

from verdicts import corpus, judge, reading

ANSWERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers.txt")
_SHOWN = 10  # texts of answers
# Of a run's raw data.
_KEPT = ("seed", "run", "program", "mpi", "fault", "ranks", "truth", "what", "outcome", "version", "date", "words", "never")


def read_answers():
    """By file and by what it was answered."""
    if not os.path.exists(ANSWERS):
        return {}
    with open(ANSWERS, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    return {(fields[0], fields[1]): judge.Answer(*fields[2:]) for fields in lines}


def write_answers(answers):
    with open(ANSWERS, "w", encoding="utf-8") as file:
        for key in sorted(answers, key=lambda key: (corpus.natural(key[0]), key[1])):
            file.write(" ".join((*key, *answers[key])) + "\n")


class Replay:
    """All answers of now."""

    def __init__(self, build):
        self.truth = corpus.read_truth()
        self.paths = corpus.unpack(os.path.join(build, "verdicts"))
        said = judge.replay_all(os.path.join(build, "tests", "verdicts", "replay"), self.paths.values())
        self.texts = {(one["file"], one["by"]): one["text"] for one in said}
        self.answers = {(one["file"], one["by"]): judge.answer_of(self.truth[one["file"]], one,
                                                                  self.texts[one["file"], "recorder"])
                        for one in said}


def kind_of_change(before, now):
    if before.judgement == "right" and now.judgement != "right":
        return 0
    if before.judgement != "right" and now.judgement == "right":
        return 1
    return 2 if before[:-1] != now[:-1] else 3


TITLES = ("was right", "is right now", "otherwise", "in other words")


def describe(key, before, now):
    def words(answer):
        return f"{answer.judgement} ({answer.kind} {answer.ranks} {answer.certainty}, status {answer.status})"

    return f"{key[0]} by {key[1]}: {words(before)} -> {words(now)}"


def count(answers):
    counts = collections.Counter((by, answer.judgement) for (_, by), answer in answers.items())
    for by in ("recorder", "third", "stacks"):
        said = ", ".join(f"{counts[by, one]} {one}" for one in ("right", "wrong", "unsure", "undecided"))
        print(f"{by}: {said}")


def check(replay):
    """Returns how many answers are as before, and how many are not."""
    before, changes = read_answers(), []
    for key, now in replay.answers.items():
        if key not in before:
            changes.append((2, key, f"{key[0]} by {key[1]} is new: make verdicts-keep"))
        elif before[key] != now:
            changes.append((kind_of_change(before[key], now), key, describe(key, before[key], now)))
    lost = before.keys() - replay.answers.keys()
    changes += [(2, key, f"{key[0]} by {key[1]} is answered no more") for key in lost]
    for number, (kind, key, text) in enumerate(sorted(changes)):
        print(f"FAILED  {TITLES[kind]}: {text}")
        if number < _SHOWN and key in replay.texts:
            print("      | " + replay.texts[key].rstrip().replace("\n", "\n      | "))
    return len(replay.answers) - len([one for one in changes if one[1] not in lost]), len(changes)


def read_runs(paths):
    """What is to be known of each snapshot of these files of raw data."""
    truth = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for run in map(json.loads, file):
                for name in run.get("snapshots", ()):
                    truth[name] = {"file": name, **{key: run[key] for key in _KEPT if key in run}}
    return truth


def add(build, folder, runs):
    """Shrunk: with the same answers."""
    truth, shrunk = read_runs(runs), os.path.join(build, "verdicts", "shrunk")
    tool = os.path.join(build, "tests", "verdicts", "replay")
    names = [name for name in truth if os.path.exists(os.path.join(folder, name))]
    os.makedirs(shrunk, exist_ok=True)
    for name in names:
        subprocess.run([tool, "--shrink", os.path.join(folder, name), os.path.join(shrunk, name)], check=True)
    whole, small = (judge.replay_all(tool, [os.path.join(one, name) for name in names])
                    for one in (folder, shrunk))
    changed = {a["file"] for a, b in zip(whole, small) if a != b}
    if changed:
        print("answered otherwise when shrunk, and added as they are: " + ", ".join(sorted(changed)))
    paths = corpus.unpack(os.path.join(build, "verdicts"))
    paths.update({name: os.path.join(folder if name in changed else shrunk, name) for name in names})
    corpus.pack(paths, {**corpus.read_truth(), **truth})
    print(f"{len(names)} snapshots added, {len(paths)} in all")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("what", choices=("check", "keep", "add", "unpack", "pack"))
    parser.add_argument("folder", nargs="?")
    parser.add_argument("runs", nargs="*")
    args = parser.parse_args()
    into = os.path.join(args.build, "verdicts")
    if args.what == "add":
        add(args.build, args.folder, args.runs)
    elif args.what == "unpack":
        print("\n".join(sorted(corpus.unpack(into).values())))
    elif args.what == "pack":
        corpus.pack(corpus.unpack(into), corpus.read_truth())
    else:
        replay = Replay(args.build)
        if args.what == "keep":
            write_answers(replay.answers)
        count(replay.answers)
        passed, failed = (a + b for a, b in zip(check(replay), reading.check()))
        print(f"{passed} passed, {failed} failed")
        sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
