# SPDX-License-Identifier: BSD-3-Clause
"""What pdb answers of the kept snapshots, and whether that is right."""

import collections
import concurrent.futures
import hashlib
import json
import re
import subprocess

from campaign import verdict
from jobs.answers import format_ranks

_PROCESSES = 2

_SLOW = "Slow or hung: "  # and in a short look without the recorder it may be either

# kind: as verdict.parse() has it; certainty: sure, unsure or undecided, "-" where nobody is named; text: a digest.
Answer = collections.namedtuple("Answer", "judgement kind ranks certainty status text")


def _replay_some(replay, paths):
    output = subprocess.run([replay, *paths], capture_output=True, text=True, check=False)
    if output.returncode:
        raise RuntimeError(f"{replay}: {output.stderr}")
    return [json.loads(line) for line in output.stdout.splitlines()]


def replay_all(replay, paths):
    """What `replay` says of all of these."""
    parts = [sorted(paths)[number::_PROCESSES] for number in range(_PROCESSES)]
    with concurrent.futures.ThreadPoolExecutor(_PROCESSES) as pool:
        return [one for part in pool.map(lambda part: _replay_some(replay, part), parts) for one in part]


def _wanted(truth, by):
    """Lists of expressions: an answer is to match all of one list. Where recorders are hidden, the least that is wanted is
    what is wanted without any; if that is nothing, it is the right ranks: the first of what is wanted with recorders."""
    words = truth["words"]
    if by == "recorder":
        return [words["recorder"]]
    names_ranks = words["recorder"][0].startswith("(Culprit|")
    return [words["recorder"], words["stacks"] or (words["recorder"][:1] if names_ranks else words["recorder"])]


def _judge_words(truth, by, text, answer):
    """Of a program whose answer is to match expressions: as they are written, those are of looks that are long enough."""
    said = " ".join(text.split()).replace(_SLOW, "Culprit: ", 1)
    if truth.get("never") and re.search(truth["never"], said):
        return "wrong"
    if any(all(re.search(one, said) for one in wanted) for wanted in _wanted(truth, by)):
        return "right"
    if by == "recorder" and answer["sure"]:
        return "wrong"
    return "undecided" if not answer["sure"] else "unsure"


def _is_slow(text, recorded):
    """Is this "slow or hung" of ranks for which others wait, as the answer of the same moment with recorders says?"""
    named = set(verdict.parse(text)["ranks"])
    return text.startswith(_SLOW) and named <= set(verdict.parse(recorded)["awaited"])


def judge(truth, by, text, recorded):
    """`recorded`: what was answered of the same moment with recorders in all ranks."""
    answer = verdict.parse(text)
    if "words" in truth:
        return _judge_words(truth, by, text, answer)
    if truth["fault"] == "any":  # nobody is to blame for sure
        return "wrong" if answer["sure"] else "right"
    judgement = verdict.judge_line(truth, answer)
    is_well = truth["fault"] in ("healthy", "slow") or truth["outcome"] == verdict.MOVED_ON
    return "right" if judgement == "unsure" and is_well and _is_slow(text, recorded) else judgement


def answer_of(truth, said, recorded):
    parsed = verdict.parse(said["text"])
    certainty = "undecided" if parsed["undecided"] else "sure" if parsed["sure"] else "unsure"
    return Answer(judge(truth, said["by"], said["text"], recorded), parsed["kind"],
                  format_ranks(parsed["ranks"]) or "-", certainty if parsed["ranks"] else "-",
                  str(said["status"]), hashlib.sha256(said["text"].encode()).hexdigest()[:8])
