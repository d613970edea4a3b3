#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/accuracy.md from the kept answers (answers.txt), with the reasons in explained.json for
those that are not right."""

import collections
import json
import os
import re
import textwrap

from jobs.answers import format_ranks
from verdicts import corpus
from verdicts.run import read_answers

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "accuracy.md")
EXPLAINED = os.path.join(HERE, "explained.json")
JUDGEMENTS = ("right", "undecided", "unsure", "wrong")

HEAD = """# Accuracy

How often this version of `lp` is right about {snapshots} recorded moments of {runs} jobs. The snapshots are
in `tests/verdicts/corpus`. `make check-verdicts` replays them, `make accuracy` makes this page
([testing](testing.md#recorded-hangs)).

Most jobs are a real program of Debian's, or a healthy one of our own that hardly moves, with 4 or 8
ranks under Open MPI or MPICH. In it one fault was made in one random rank, at a random place of its
own code and a random moment ([list](testing.md#the-fault-campaign)), or none. The others are small
programs that hang ("of its own"): those of `tests/mpi`, and some written after public reports.

- *right*: `lp` names the rank of the fault (in a deadlock: one of the two). In a slow job it names
  nobody else, in a healthy one nobody. It may call ranks "slow or hung" there if the others do wait
  for them, as the recorders of the same moment say.
- *undecided*: `lp` says so, or names nobody.
- *unsure*: `lp` names only others, but says that it is not sure.
- *wrong*: `lp` names only others and claims to be sure. In a program after a report an
  untrue statement is wrong, too.

Some programs also ask for words, as "iteration 5". With hidden recorders, the least that is asked for
is what is asked for without any, and the rank.

Each moment is asked about three times:

- *recorder*: all ranks have the recorder.
- *stacks*: none has. `lp` uses stacks and the MPI library's message queues, four times in a second.
  A second does not tell a hang from a long step: {slow} of the right answers about hangs say "slow or
  hung". In a live job, `lp` in a script then looks for five seconds.
  After a loop, a sleep or SIGSTOP one rank is elsewhere than those that wait for it. After a lost
  message, a skipped collective, a deadlock or a turned branch all ranks may be inside MPI, with the
  stacks of a healthy job. Only the recorder's counts tell whose call is missing.
- *two thirds* of the ranks have it, chosen by the name of the file, as when part of the job was
  started without it.

`pdb watch` cannot be replayed. In campaigns until 2026-11-25 it found 235 of 236 hangs with the
recorder and all of 109 without, with no false alarm in 7 hours of healthy and slow jobs.
"""

BY = (("recorder", "recorder"), ("stacks", "stacks"), ("third", "two thirds"))

TAIL = """
## Answers that are not right

Every wrong one, and with the recorder every one that is not right. The file's name has the seed and
number of a campaign's run, the program, MPI and fault.

Without recorders, most answers that are not right would need what no stack and no queue shows: whose
message a master has not got, whom `MPI_Win_lock`, `MPI_Win_wait`, `MPI_Probe` or a partitioned
receive waits for, what the other threads of a rank do, and whether a rank still moves after a second.
"""


def group_of(truth):
    """What a row of a table is of."""
    return truth["program"]


def percent(part, whole):
    return f"{100 * part / whole:.1f} %"


def row(title, judgements):
    """`judgements` by what was asked: how many are right, and the counts of the others."""
    cells = []
    for by, _ in BY:
        counts = collections.Counter(judgements[by])
        cells += [percent(counts["right"], len(judgements[by])),
                  ", ".join(str(counts[one]) for one in JUDGEMENTS[1:])]
    return f"| {title} | {len(judgements[BY[0][0]])} | " + " | ".join(cells) + " |"


def table(title, groups):
    """Rows by what is in `groups`, and their sum."""
    head = " | ".join(f"{name}: right | undecided, unsure, wrong" for _, name in BY)
    yield f"\n| {title} | moments | {head} |\n|---|---|" + "---|" * 2 * len(BY)
    for name in sorted(groups, key=lambda name: (name in ("tests/mpi", "reports"), name)):
        yield row(name, groups[name])
    yield row("all", {by: [one for group in groups.values() for one in group[by]] for by, _ in BY})


FAULTS = {"program": "of its own", "report": "of its own", "any": "of its own"}


def tables(truth, answers):
    faults, programs = (collections.defaultdict(lambda: collections.defaultdict(list))
                        for _ in range(2))
    for (name, by), answer in answers.items():
        fault = truth[name]["fault"]
        faults[FAULTS.get(fault, fault)][by].append(answer.judgement)
        programs[group_of(truth[name])][by].append(answer.judgement)
    yield from table("fault", faults)
    yield from table("program", programs)


def reason_of(key, explained):
    """By how the file's name begins, and by what it was asked."""
    return next((f"Why: {text}" for begin, text in explained.items() if key.startswith(begin)), "")


def wrong_answers(truth, answers, explained):
    """All that are wrong, and with the recorder those that are not right."""
    for (name, by), answer in sorted(answers.items(), key=lambda one: corpus.natural(one[0][0])):
        if answer.judgement == "wrong" or (by == "recorder" and answer.judgement != "right"):
            one = truth[name]
            fault = one["fault"] + (f" in rank {format_ranks(one['truth'])}" if one["truth"] else "")
            what = re.sub(" 0x[0-9a-f]+", "", one["what"]) if "seed" in one else ""
            what = f" ({what})" if what else ""
            named = answer.kind
            if answer.ranks != "-":
                named = f"ranks {answer.ranks} ({answer.kind}, {answer.certainty})"
            words = (f"- `{name}`, {dict(BY)[by]}: {answer.judgement}. Fault: {fault}{what}. "
                     f"Answer: {named}. {reason_of(f'{name} {by}', explained)}")
            yield textwrap.fill(words, 100, subsequent_indent="  ", break_long_words=False,
                                break_on_hyphens=False)


def main():
    truth, answers = corpus.read_truth(), read_answers()
    with open(EXPLAINED, encoding="utf-8") as file:
        explained = json.load(file)
    runs = {(one["program"], one["what"], one["mpi"]) if "seed" not in one else (one["seed"], one["run"])
            for one in truth.values()}
    slow = [name for (name, by), answer in answers.items() if by == "stacks" and answer.judgement == "right" and
            (answer.kind, answer.certainty) == ("computation", "unsure") and truth[name]["outcome"] == "hung"]
    parts = [HEAD.format(snapshots=len(truth), runs=len(runs), slow=len(slow)).rstrip("\n")]
    parts += ["\n## By fault and program", *tables(truth, answers)]
    parts.append(TAIL)
    parts += wrong_answers(truth, answers, explained)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
