#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/accuracy.md of what is answered of the kept snapshots (answers.txt), with the reasons in explained.json
of those answers that are not right."""

import collections
import json
import os

from jobs.answers import format_ranks
from verdicts import corpus
from verdicts.run import read_answers

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "accuracy.md")
EXPLAINED = os.path.join(HERE, "explained.json")
JUDGEMENTS = ("right", "undecided", "unsure", "wrong")

HEAD = """# Accuracy

What `lp` answers of {snapshots} recorded moments of {runs} jobs, as this version of pdb answers. They are kept in
`tests/verdicts/corpus`; `make check-verdicts` replays them, and this page is made by `make accuracy`
([testing](testing.md#recorded-hangs) says how jobs are recorded).

In most of the jobs a real program of Debian's, or one of our own that is healthy and hardly moves, ran with 4 or 8 ranks under Open MPI
or MPICH until a fault was made in one random rank, at a random place of its own code and a random moment: an endless loop, a
long sleep, SIGSTOP, a lost message, a collective that is left out, a receive of two ranks for messages that nobody sends (deadlock), a
turned branch, ten times slower; or none. The others are small programs that hang: those of `tests/mpi`, and some written after
public reports.

- *right*: the rank of the fault (in a deadlock: one of the two) is among those that `lp` names; in a slow job nobody else
  is named, in a healthy one nobody.
- *undecided*: `lp` says so, or names nobody.
- *unsure*: others alone are named, but `lp` says that it is not sure that this is a hang or that they are its cause.
- *wrong*: others alone are named, and nothing of the kind is said; of a program after a report also what says something
  that is not true of it.

`pdb watch` cannot be replayed. In campaigns until 2026-11-25 it told 235 of 236 hangs with the recorder, and all of 109 without, and
raised no false alarm in 7 hours of healthy and slow jobs.
"""

BY = (("recorder", "With the recorder", ""),
      ("stacks", "Without it", """
By stacks and by the messages that the MPI library holds, four times in a second. After an endless loop, a long sleep or SIGSTOP one rank
is somewhere else than all that wait for it. After a lost message, a skipped collective, a deadlock or a turned branch all ranks may be
inside MPI, and each has just the stack that it has while a message is on its way to it: whose call is missing stands in counts
that the recorder has.
"""),
      ("third", "With the recorder in two thirds of the ranks", """
As when a part of the job was started without it. Which ranks have it is chosen by the name of the file.
"""))


def group_of(truth):
    """What a row of a table is of."""
    return truth["program"]


def percent(part, whole):
    return f"{100 * part / whole:.1f} %"


def row(title, judgements):
    counts = collections.Counter(judgements)
    return (f"| {title} | {len(judgements)} | {percent(counts['right'], len(judgements))} | " +
            " | ".join(str(counts[one]) for one in JUDGEMENTS[1:]) + " |")


def table(title, groups):
    """Rows by what is in `groups`, and their sum."""
    yield f"\n| {title} | moments | right | undecided | unsure | wrong |\n|---|---|---|---|---|---|"
    for name in sorted(groups, key=lambda name: (name in ("tests/mpi", "reports"), name)):
        yield row(name, groups[name])
    yield row("all", [one for group in groups.values() for one in group])


FAULTS = {"program": "of its own", "report": "of its own", "any": "of its own"}


def tables(truth, answers, by):
    faults, programs = collections.defaultdict(list), collections.defaultdict(list)
    for (name, asked), answer in answers.items():
        if asked == by:
            fault = truth[name]["fault"]
            faults[FAULTS.get(fault, fault)].append(answer.judgement)
            programs[group_of(truth[name])].append(answer.judgement)
    yield from table("fault", faults)
    yield from table("program", programs)


def title_of(truth, by):
    what = f"{truth['program']}, {truth['what']}" if "seed" not in truth else \
        f"{truth['program']}, {truth['fault']}, run {truth['run']} of seed {truth['seed']}"
    return f"{what}, {truth['ranks']} ranks, {truth['mpi']}, " + \
        {"recorder": "with the recorder", "stacks": "without it", "third": "in two thirds of the ranks"}[by]


def reason_of(key, explained):
    """By how the file's name begins, and by what it was asked."""
    return next((text for begin, text in explained.items() if key.startswith(begin)), "Not looked into.")


def wrong_answers(truth, answers, explained):
    """All that are wrong, and with the recorder those that are not right."""
    for (name, by), answer in sorted(answers.items(), key=lambda one: corpus.natural(one[0][0])):
        if answer.judgement == "wrong" or (by == "recorder" and answer.judgement != "right"):
            one = truth[name]
            fault = f"{one['fault']} in rank {format_ranks(one['truth'])}" if one["truth"] else one["fault"]
            what = f" ({one['what']})" if "seed" in one and one["what"] else ""
            named = f"ranks {answer.ranks} ({answer.kind}, {answer.certainty})" if answer.ranks != "-" else answer.kind
            yield (f"\n### {title_of(one, by)}\n\nFault: {fault}{what}. Answer: {answer.judgement}, {named}. `{name}`\n\n"
                   f"{reason_of(f'{name} {by}', explained)}")


def main():
    truth, answers = corpus.read_truth(), read_answers()
    with open(EXPLAINED, encoding="utf-8") as file:
        explained = json.load(file)
    runs = {(one["program"], one["what"], one["mpi"]) if "seed" not in one else (one["seed"], one["run"])
            for one in truth.values()}
    parts = [HEAD.format(snapshots=len(truth), runs=len(runs)).rstrip("\n")]
    for by, title, text in BY:
        parts += [f"\n## {title}", *([text.rstrip("\n")] if text else []), *tables(truth, answers, by)]
    parts.append("\n## Answers that are not right\n\nEvery wrong one, and with the recorder every one that is not right.")
    parts += wrong_answers(truth, answers, explained)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
