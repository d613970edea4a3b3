# SPDX-License-Identifier: BSD-3-Clause
"""What is expected of pdb's answers to "lp"."""

import re

from .job import QUIET_NEW_S, ask_job
from .report import check

# The first words of an answer that names somebody.
TITLES = ("Culprit: ", "Deadlock: ", "Least progressed: ", "Message lost between: ", "Crashed: ", "Slow or hung: ")
# And of one that names nobody: none is likely, or none is certain.
NONE = ("No hang", "No certain hang")
NOT_SURE = "not sure that this is a hang"
# What is claimed from evidence, at the beginning of the second line of an answer.
CLAIMS = {"deadlock": "deadlock: ", "mismatch": "mismatch: ", "lost": "lost message: "}
# What must be somewhere in an answer of another kind.
_KINDS = {"computation": "outside MPI", "stopped": "stopped", "left": "the others wait"}


def format_ranks(ranks):
    """"0-3,7", of a sorted list."""
    runs = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def accusation(ranks, size):
    """What the first line says of them, behind any of TITLES."""
    word = "rank" if len(ranks) == 1 else "ranks"
    return f"{word} {format_ranks(ranks)} of {size}"


def named_ranks(answer):
    """The set of ranks that the first line names, "undecided among" others or not."""
    match = re.match(f"(?:{'|'.join(TITLES)})(?:undecided among )?ranks? ([0-9,-]+) of", answer.first_line)
    ranks = set()
    for part in match.group(1).split(",") if match else ():
        first, _, last = part.partition("-")
        ranks |= set(range(int(first), int(last or first) + 1))
    return ranks


def check_first_line(answer, expected):
    """`expected` is what it begins with, or what is behind a title; of several one."""
    several = (expected,) if isinstance(expected, str) else expected
    check(any(answer.first_line.startswith(title + one) for title in ("", *TITLES) for one in several),
          f"expected '{expected}', got {answer.show()}")


def check_status(answer, status):
    check(answer.status == status, f"expected status {status}, got {answer.show()}")


def find_claim(answer):
    """The kind of what the answer claims from evidence, or None."""
    lines = answer.output.split("\n")
    second = lines[1].strip() if len(lines) > 1 else ""
    return next((kind for kind, word in CLAIMS.items() if second.startswith(word)), None)


def said(answer):
    """Without line breaks, which come at the width of the terminal, anywhere."""
    return " ".join(answer.output.split())


def check_kind(answer, kinds):
    """One of the kinds, as a program's `kind=` has them."""
    claim = find_claim(answer)
    if claim or set(kinds) <= set(CLAIMS):
        check(claim in kinds, f"expected {' or '.join(kinds)}, got {answer.show()}")
    else:
        check(any(word in said(answer) for kind, word in _KINDS.items() if kind in kinds),
              f"expected {' or '.join(kinds)}, got {answer.show()}")


def check_words(answer, patterns):
    for pattern in patterns:
        check(re.search(pattern, said(answer)), f"expected /{pattern}/ in {answer.show()}")


def check_modest(answer):
    """Somebody is named, and nothing is claimed as certain."""
    check(named_ranks(answer), f"expected somebody to be named, got {answer.show()}")
    check(find_claim(answer) is None, f"more is claimed than can be known: {answer.show()}")
    check(any(word in said(answer) for word in ("undecided", "likely", "need not be the cause")),
          f"more is claimed than can be known: {answer.show()}")


def check_unharmed(job, answer, *excepted):
    """Nothing is wrong with the job's processes after the answer, as Job.check_unharmed() has it."""
    wrong = job.check_unharmed(*excepted)
    check(not wrong, f"{', '.join(wrong)} after {answer.show()}")


def check_healthy(pdb, job, looks):
    """So many looks at a job that is all right: nobody is behind, and it goes on after each."""
    for _ in range(looks):
        answer = ask_job(pdb, job, "lp")
        check_unharmed(job, answer)
        check_first_line(answer, NONE)
        check_status(answer, 0)
        job.wait_until_moving()


def ask_until_sure(pdb, job, expected, *more):
    """On a loaded machine a rank may once have stayed long where it hangs now; then pdb says whom it
    suspects but that it is not sure, until the hang has lasted much longer: ten times as long. It has
    to name the same rank all along."""
    for patience in range(5):
        answer = ask_job(pdb, job, "lp", *more)
        check_first_line(answer, expected)
        if NOT_SURE not in answer.output:
            break
        job.wait_until_quiet(QUIET_NEW_S * 2 ** patience)
    return answer
