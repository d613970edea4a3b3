# SPDX-License-Identifier: BSD-3-Clause
"""What pdb's answer says, and whether that is right."""

import re

from jobs.answers import NONE, TITLES

from .faults import KINDS

_FIRST = re.compile(f"^(?:{'|'.join(TITLES)})" r"(undecided among )?ranks? (\d+(?:[-,]\d+)*)")
_CLAIMS = (("deadlock", "deadlock: "), ("mismatch", "mismatch: "), ("lost", "lost message: "))
_WORDS = (("stopped", "stopped by a signal"), ("left", "while the others wait"),
          ("computation", "outside MPI"), ("computation", "by stack samples"))
_AWAITED = re.compile(r"^No (?:certain )?hang: .*? wait for ranks? (\d+(?:[-,]\d+)*)", re.DOTALL)
_APART = re.compile(r"ranks? (\d+(?:[-,]\d+)*) (?:is|are) not where most are")
_UNSURE = ("not sure that this is a hang", "need not be the cause", "likely, not certain")


# Of a run: the fault did no harm, the job only seemed to hang.
MOVED_ON = "moved on"


def parse_ranks(text):
    ranks = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        ranks += range(int(first), int(last or first) + 1)
    return ranks


def parse(text):
    """{"ranks", "kind", "undecided", "sure", "awaited", "apart"} of the text of `lp`. "awaited": the
    ranks that are named and decided, or that it says others wait for. "apart": the ranks of which it
    says so, none if it says of no rank; None: it shows no places of all that wait."""
    lines = text.split("\n")
    match = _FIRST.match(lines[0])
    said = " ".join(text.split())
    second = lines[1].strip() if len(lines) > 1 else ""
    kind = next((kind for kind, word in _CLAIMS if second.startswith(word)), None)
    if kind is None and match:
        kind = next((kind for kind, word in _WORDS if word in said), "likely")
    unsure = any(word in said for word in _UNSURE)
    apart = _APART.search(said)
    awaited = match if match and not match.group(1) else _AWAITED.search(text)
    has_places = 'next: "bt' in said or 'next: "waits", "bt' in said
    return {
        "ranks": parse_ranks(match.group(2)) if match else [],
        "kind": kind if match else "none" if lines[0].startswith(NONE) else "unknown",
        "undecided": bool(match and match.group(1)),
        "sure": bool(match and not match.group(1) and not unsure),
        "awaited": parse_ranks(awaited.groups()[-1]) if awaited else [],
        "apart": parse_ranks(apart.group(1)) if apart else [] if has_places and not match else None,
    }


def judge(fault, truth, answer):
    """"right", "wrong", "undecided" (it names nobody, or says that it has not decided) or "unsure" (it
    names others, and says that it is not sure that they are the cause or that this is a hang)."""
    named = set(answer["ranks"])
    if fault == "healthy":
        is_right = not named
    elif fault == "slow":
        is_right = named <= set(truth)
    elif not named or answer["undecided"]:
        return "undecided"
    else:
        is_right = bool(named & set(truth))
    if is_right:
        return "right"
    return "wrong" if answer["sure"] else "unsure"


def judge_line(line, answer):
    """Of a run's raw data. A fault that did no harm is none: but who has it may be named."""
    fault = "slow" if line["outcome"] == MOVED_ON else line["fault"]
    return judge(fault, line["truth"], answer)


def is_kind_right(fault, answer):
    return not KINDS[fault] or answer["kind"] in KINDS[fault]


def precision(truth, answer):
    """The share of the named that were injected; None if nobody was named."""
    named = set(answer["ranks"])
    return len(named & set(truth)) / len(named) if named and not answer["undecided"] else None
