# SPDX-License-Identifier: BSD-3-Clause
"""Are pdb's answers read and judged as they should be (tests/campaign/verdict.py, judge.py)?"""

from campaign import verdict
from verdicts import judge

BEHIND = "Culprit: rank {} of 4\n  outside MPI, in compute(), for 5 s\n"
SEVERAL = "Culprit: ranks 1-2,5 of 8\n"
NOT_SURE = BEHIND + "  not sure that this is a hang: it may just\n  take long\n"
STACKS = "Culprit: rank {} of 4\n  rank 1: in f()\n  evidence: 3 of 4\n    by stack samples\n"
UNDECIDED = "Least progressed: undecided among ranks 0-3 of 4\n"
POLLING = SEVERAL + "  likely, not certain: ranks that poll\n"
INSIDE = SEVERAL.replace("Culprit", "Least progressed") + "  all ranks that do not move are inside MPI. These are the least\n  progressed, which need not be the cause\n"
STOPPED = "Culprit: rank 2 of 4\n  rank 2: process 7 (state T) stopped by a signal\n"
LOST = "Culprit: rank 1 of 4\n  lost message: tag 7\n"
CYCLE = "Deadlock: ranks 0,2 of 4\n  deadlock: 0 waits for 2\n"
CRASHED = "Crashed: rank 3 of 4\n"
SLOW = STACKS.replace("Culprit", "Slow or hung") + "  not sure that this is a hang\n"
AWAITED = "No certain hang: 3 of 4\n  ranks wait for rank 2, which is outside MPI.\n"
NONE = "No hang: all 4 ranks are making progress.\n"
UNKNOWN = "Not known: which rank holds up the others\n"

# The text, ranks, kind, whether undecided, whether sure.
PARSED = (
    (BEHIND.format(1), [1], "computation", False, True),
    (BEHIND.format(12), [12], "computation", False, True),
    (SEVERAL, [1, 2, 5], "likely", False, True),
    (NOT_SURE.format(3), [3], "computation", False, False),
    (STACKS.format(1), [1], "computation", False, True),
    (SLOW.format(1), [1], "computation", False, False),
    (UNDECIDED, [0, 1, 2, 3], "likely", True, False),
    (POLLING, [1, 2, 5], "likely", False, False),
    (INSIDE, [1, 2, 5], "likely", False, False),
    (STOPPED, [2], "stopped", False, True),
    (LOST, [1], "lost", False, True),
    (CYCLE, [0, 2], "deadlock", False, True),
    (CRASHED, [3], "likely", False, True),
    (NONE, [], "none", False, False),
    (UNKNOWN, [], "unknown", False, False),
    (AWAITED, [], "none", False, False),
    ("", [], "unknown", False, False),
)

# Fault, truth, text, judgement, precision, whether the kind is right.
JUDGED = (
    ("loop", [1], BEHIND.format(1), "right", 1, True),
    ("loop", [2], BEHIND.format(1), "wrong", 0, True),
    ("loop", [2], NOT_SURE.format(1), "unsure", 0, True),
    ("loop", [2], NOT_SURE.format(2), "right", 1, True),
    ("sleep", [5], SEVERAL, "right", 1 / 3, False),
    ("loop", [0], UNDECIDED, "undecided", None, False),
    ("loop", [0], NONE, "undecided", None, False),
    ("loop", [0], UNKNOWN, "undecided", None, False),
    ("stop", [2], STOPPED, "right", 1, True),
    ("stop", [1], STOPPED, "wrong", 0, True),
    ("lost", [1], LOST, "right", 1, True),
    ("lost", [7], INSIDE, "unsure", 0, True),
    ("collective", [1], LOST, "right", 1, False),
    ("deadlock", [0, 2], CYCLE, "right", 1, True),
    ("deadlock", [0, 1], CYCLE, "right", 1 / 2, True),
    ("slow", [1], NONE, "right", None, True),
    ("slow", [1], NOT_SURE.format(1), "right", 1, True),
    ("slow", [1], NOT_SURE.format(2), "unsure", 0, True),
    ("slow", [1], BEHIND.format(2), "wrong", 0, True),
    ("healthy", [], NONE, "right", None, True),
    ("healthy", [], UNKNOWN, "right", None, True),
    ("healthy", [], BEHIND.format(1), "wrong", 0, True),
    ("healthy", [], NOT_SURE.format(1), "unsure", 0, True),
)

# Text without the recorder, the text with it, of a healthy job.
SLOW_JUDGED = (
    (SLOW.format(2), AWAITED, "right"),
    (SLOW.format(2), BEHIND.format(2), "right"),
    (SLOW.format(1), AWAITED, "unsure"),
    (SLOW.format(2), NONE, "unsure"),
    (SLOW.format(2), UNDECIDED, "unsure"),
    (NOT_SURE.format(2), AWAITED, "unsure"),
    (BEHIND.format(2), AWAITED, "wrong"),
)


def _check(counts, text, got, expected):
    counts[got == expected] += 1
    if got != expected:
        print(f"FAILED  {text!r}: expected {expected}, got {got}")


def check():
    """How many are, and how many are not."""
    counts = {True: 0, False: 0}
    for text, *expected in PARSED:
        answer = verdict.parse(text)
        _check(counts, text, [answer[name] for name in ("ranks", "kind", "undecided", "sure")],
              expected)
    for fault, truth, text, *expected in JUDGED:
        answer = verdict.parse(text)
        _check(counts, f"{fault}: {text}",
              [verdict.judge(fault, truth, answer), verdict.precision(truth, answer),
               verdict.is_kind_right(fault, answer)], expected)
    healthy = {"fault": "healthy", "truth": [], "outcome": "healthy"}
    for text, recorded, expected in SLOW_JUDGED:
        _check(counts, text, judge.judge(healthy, "stacks", text, recorded), expected)
    return counts[True], counts[False]
