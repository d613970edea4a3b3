#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/accuracy.md and its pictures of a campaign's raw data (tests/run_campaign.py)."""

import argparse
import json
import os
import statistics
from xml.sax.saxutils import escape

from campaign import verdict, watching

EXPLAINED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "campaign", "explained.json")
LOOKS = {"recorder": "with the recorder", "stacks": "by stacks alone"}
# Faults after which one rank is elsewhere than those that wait for it.
STUCK = ("loop", "sleep", "stop", "slow")
OUTCOMES = ("right", "undecided", "unsure", "wrong")
COLOURS = {"right": "#4878a8", "undecided": "#d8d8d8", "unsure": "#e0b060", "wrong": "#c44e52"}

HEAD = """# Accuracy

Made by `make accuracy` from the raw data of `make campaign`; docs/testing.md says how runs are made.
A real program of Debian's, or one of our own that is healthy and hardly moves, runs until a fault is
made in one random rank, at a random place of its own code and a random moment. When the job has come to rest, `lp` is asked twice: with the recorder,
and with what it wrote hidden, by stacks alone.

- *right*: the injected rank (in a deadlock: one of the two) is among those that `lp` names; in a slow
  job nobody else is.
- *undecided*: `lp` says so, or names nobody.
- *unsure*: others alone are named, but `lp` says that it is not sure that this is a hang or that they
  are its cause.
- *wrong*: others alone are named, and nothing of the kind is said.
- *accuracy* is the share of right answers, *precision* the mean share of injected ranks among those
  that an answer names, *kind* the share of answers of the right kind (computation, stopped, lost message ...).
"""

KINDS = """## By what the fault leaves to be seen

After an endless loop, a long sleep, SIGSTOP or a slowed rank one rank is somewhere else than all that wait for
it. After a lost message, a skipped collective, a deadlock or a turned branch all ranks may be inside
MPI, and each has just the stack that it has while a message is on its way to it: whether one is, and whose call is
missing, stands in counts that the recorder has. No tool can tell that by stacks; pdb said so up to version 98d405e
("undecided") and named nobody. Since then "by stacks" is by stacks and by the messages that the MPI library holds, which
often tell whose message is missing.

"""

APART = """
It shows where they are, though, and which ranks are not in the call that most are in. Who has skipped a collective is
one of these, and who waits for a lost message; a deadlock and what follows from it can leave everybody elsewhere:

"""


# The first runs of a pdb that reads message queues where there is no recorder, by MPI.
SINCE_QUEUES = {"openmpi4": "2026-11-22 22:46", "openmpi5": "2026-11-22 22:46", "mpich": "2026-11-23 01:54"}
NUM_LATEST = 500
LATEST = """## All faults in turns, the latest {num} runs

Since what the MPI libraries hold of messages is read where there is no recorder: of Open MPI since
2026-11-22 22:46, of MPICH since 2026-11-23 01:54. Before, runs of single kinds of faults were chosen to see how these are
told. Each run's answer is that of the version that was asked then, what was mended after it included; the last table
is by version.

"""


class Answered:
    """One answer of a run, judged."""

    def __init__(self, line, look):
        self.line, self.by, self.text = line, look["by"], look["text"]
        answer = verdict.parse(look["text"])
        self.kind = answer["kind"]
        self.outcome = verdict.judge_line(line, answer)
        self.precision = verdict.precision(line["truth"], answer)
        self.is_kind_right = verdict.is_kind_right(line["fault"], answer)
        self.apart = answer["apart"]
        self.seconds = look["seconds"]


def read_lines(paths):
    """The last of the lines about each run, one with an answer if there is any, and those that were
    made again since."""
    lines, earlier = {}, []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for text in file:
                try:
                    line = json.loads(text)
                except ValueError:
                    continue  # cut off when the machine went down
                before = lines.get(key_of(line))
                if before and has_answer(before) and not has_answer(line):
                    continue
                if before:
                    earlier.append(lines.pop(key_of(line)))
                lines[key_of(line)] = line
    return list(lines.values()), earlier


def has_answer(line):
    return bool(line.get("looks") or line.get("watch"))


def is_loaded(line):
    """Whether others had the cores as well: times of such runs are not those of a machine for itself."""
    return line["load"] > int(line["machine"].split()[-2])


def key_of(line):
    return f"{line['seed']} {line['run']} {line['program']} {line['mpi']} {line['fault']} " \
           f"{line['watched']}".rstrip()


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def figures(answers):
    """The columns of a row."""
    named = [one.precision for one in answers if one.precision is not None]
    kinds = [one for one in answers if one.outcome == "right"]
    count = {outcome: sum(one.outcome == outcome for one in answers) for outcome in OUTCOMES}
    return [str(len(answers)), percent(count["right"], len(answers)),
            percent(sum(named), len(named)), str(count["undecided"]), str(count["unsure"]), str(count["wrong"]),
            percent(sum(one.is_kind_right for one in kinds), len(kinds)),
            seconds([one.seconds for one in answers], [one.line for one in answers])]


def seconds(values, lines, digits=2):
    """The median, marked if most of the runs were on a loaded machine."""
    if not values:
        return "-"
    mark = " *" if 2 * sum(map(is_loaded, lines)) > len(lines) else ""
    return f"{statistics.median(values):.{digits}f} s{mark}"


def table(title, answers, name_of):
    names = sorted({name_of(one) for one in answers})
    rows = [f"| {title} | asked | runs | accuracy | precision | undecided | unsure | wrong | kind | answer after |",
            "|---|---|---|---|---|---|---|---|---|---|"]
    for name in names:
        for by, said in LOOKS.items():
            some = [one for one in answers if one.by == by and name_of(one) == name]
            if some:
                rows.append("| " + " | ".join([str(name), said, *figures(some)]) + " |")
    return "\n".join(rows) + "\n"


def names_of_versions(lines):
    """Of each commit: the date of the first run of it and its own name, so that their order is that of time."""
    names = {}
    for line in sorted(lines, key=lambda line: line["date"]):
        names.setdefault(line["version"], f"{line['date']} {line['version'] or 'unknown'}")
    return names


def healthy_table(lines):
    rows = ["| program | snapshots | a rank accused, with the recorder | (named, but not sure) | accused by "
            "stacks alone | (not sure) |", "|---|---|---|---|---|---|"]
    answers = [Answered(line, look) for line in lines for look in line.get("looks", [])]
    for program in [*sorted({line["program"] for line in lines}), "all"]:
        some = [one for one in answers if program in ("all", one.line["program"])]
        by = {by: [one for one in some if one.by == by] for by in LOOKS}
        rows.append(f"| {program} | {len(by['recorder'])} | " + " | ".join(
            str(sum(one.outcome == outcome for one in by[name]))
            for name in LOOKS for outcome in ("wrong", "unsure")) + " |")
    return "\n".join(rows) + "\n"


def kind_of(answer):
    return "a rank does not get on" if answer.line["fault"] in STUCK else "all wait for what never comes"


def apart_table(answers):
    """Of the answers by stacks that name nobody, since such are shown."""
    some = [one for one in answers if one.by == "stacks" and one.outcome == "undecided" and
            one.apart is not None]
    rows = ["| fault | runs | somebody is apart | the injected rank among them | ranks apart (median) |",
            "|---|---|---|---|---|"]
    for fault in sorted({one.line["fault"] for one in some}):
        of_fault = [one for one in some if one.line["fault"] == fault]
        apart = [one for one in of_fault if one.apart]
        rows.append("| " + " | ".join([
            fault, str(len(of_fault)), str(len(apart)),
            str(sum(bool(set(one.apart) & set(one.line["truth"])) for one in apart)),
            str(statistics.median(len(one.apart) for one in apart)) if apart else "-"]) + " |")
    return APART + "\n".join(rows) + "\n" if some else ""


def latest_table(answers):
    some = [one for one in answers if one.line["date"] >= SINCE_QUEUES[one.line["mpi"]]]
    # A run has an answer of each kind, with the same date.
    dates = sorted((one.line["date"] for one in some if one.by == "recorder"), reverse=True)[:NUM_LATEST]
    if not dates:
        return ""
    some = [one for one in some if one.line["date"] >= dates[-1]]
    versions = names_of_versions([one.line for one in some])
    return (LATEST.format(num=sum(one.by == "recorder" for one in some)) + table("", some, lambda one: "all") + "\n" +
            table("MPI", some, lambda one: one.line["mpi"]) + "\n" +
            table("fault", some, lambda one: one.line["fault"]) + "\n" +
            table("version, since", some, lambda one: versions[one.line["version"]]))


def watch_row(name, lines):
    """Of runs that hung, and of those that did not."""
    faulty = [line for line in lines if line["fault"] not in ("healthy", "slow") and
              (line["watch"]["event"] or "hung" in line["outcome"])]
    judged = [watching.judge(line) for line in faulty]
    told = [line for line in faulty if line["watch"]["delay_s"] is not None]
    kinds = [verdict.is_kind_right(line["fault"], watching.answer_of(line["watch"]["event"]))
             for line in told]
    delays = sorted(line["watch"]["delay_s"] for line in told)
    fine = [line for line in lines if line["fault"] in ("healthy", "slow")]
    alarms = sum(watching.judge(line) == "false alarm" for line in lines)
    hours = sum(line["watch"]["watched_s"] for line in fine) / 3600
    return "| " + " | ".join([
        name, str(len(faulty)), percent(len(told), len(faulty)),
        seconds(delays, told, 1),
        f"{delays[-1]:.1f} s" if delays else "-",
        percent(judged.count("right"), len(told)), percent(sum(kinds), len(kinds)),
        f"{hours:.2f}", str(alarms)]) + " |"


def watch_table(lines):
    rows = ["| watched by | hangs | told | median delay | longest | rank right | kind right | "
            "hours without a hang | false alarms |", "|---|---|---|---|---|---|---|---|---|"]
    for by in LOOKS:
        some = [line for line in lines if line["watched"] == by]
        rows += [watch_row(f"{by}, {fault}", [line for line in some if line["fault"] == fault])
                 for fault in sorted({line["fault"] for line in some})]
        if some:
            rows.append(watch_row(f"{by}, all", some))
    return "\n".join(rows) + "\n"


def list_wrong(answers, explained):
    """Each with what was injected, what was said, how to make it again and why it came to that."""
    parts = []
    for one in answers:
        if one.outcome != "wrong":
            continue
        line = one.line
        parts.append(f"### {line['program']}, {line['fault']}, {line['ranks']} ranks, "
                     f"{line['mpi']}: run {line['run']} of seed {line['seed']}, {LOOKS[one.by]}\n\n"
                     f"Injected: ranks {line['truth']}, {line['what']}. Again: `{line['repeat']}`\n\n"
                     + "\n".join("    " + text for text in one.text.split("\n")) + "\n\n"
                     + explained.get(key_of(line), "Not explained yet.") + "\n")
    return "\n".join(parts)


def list_undecided(answers, explained):
    return "".join(f"- {key_of(one.line)}, ranks {one.line['truth']}: {one.outcome}. "
                   + explained.get(key_of(one.line), "Not explained yet.") + "\n"
                   for one in answers
                   if one.by == "recorder" and one.outcome in ("undecided", "unsure")
                   and one.line["fault"] != "healthy")


def list_wrong_watches(lines, explained):
    return "".join(
        f"### pdb watch: {key_of(line)}: {watching.judge(line)}\n\nInjected: ranks {line.get('truth')}, "
        f"{line.get('what')}; {line['outcome']}. Told: {line['watch']['event']}. Again: "
        f"`{line['repeat']}`\n\n" + explained.get(key_of(line), "Not explained yet.") + "\n\n"
        for line in lines if watching.judge(line) in ("wrong", "false alarm") or
        watching.judge(line) == "missed" and "hung" in line["outcome"])


def draw_bars(path, title, answers, name_of):
    """For each name two bars, of the shares of the outcomes."""
    names = sorted({str(name_of(one)) for one in answers})
    bars = [(name, by) for name in names for by in LOOKS]
    height, left, wide = 60 + 22 * len(bars) + 6 * len(names), 250, 420
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 90}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="10" y="20" font-size="14">{escape(title)}</text>']
    for number, outcome in enumerate(OUTCOMES):
        out.append(f'<rect x="{left + 110 * number}" y="30" width="12" height="12" '
                   f'fill="{COLOURS[outcome]}"/><text x="{left + 110 * number + 18}" y="40">{outcome}</text>')
    y = 54
    for name, by in bars:
        some = [one for one in answers if one.by == by and str(name_of(one)) == name]
        if by == "recorder":
            y += 6
            out.append(f'<text x="10" y="{y + 13}">{escape(name)}</text>')
        out.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end" fill="#555">{LOOKS[by]}</text>')
        x = float(left)
        for outcome in OUTCOMES:
            part = wide * sum(one.outcome == outcome for one in some) / max(len(some), 1)
            out.append(f'<rect x="{x:.1f}" y="{y}" width="{part:.1f}" height="17" '
                       f'fill="{COLOURS[outcome]}"/>')
            x += part
        out.append(f'<text x="{left + wide + 8}" y="{y + 13}">{len(some)} runs</text>')
        y += 22
    out.append("</svg>\n")
    write(path, "\n".join(out))


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def count_outcomes(lines):
    counts = {}
    for line in lines:
        what = line["outcome"].split(":")[0]
        counts[what] = counts.get(what, 0) + 1
    return ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))


def list_repaired(earlier, explained):
    """Wrong answers of earlier tools in runs that were made again since."""
    parts = []
    for line in earlier:
        wrong = [look["by"] for look in line.get("looks", [])
                 if verdict.judge_line(line, verdict.parse(look["text"])) == "wrong"]
        if line.get("watch") and watching.judge(line) in ("wrong", "false alarm"):
            wrong.append("pdb watch")
        if wrong:
            parts.append(f"- {key_of(line)}, {line['version']}, {', '.join(wrong)}: "
                         + explained.get(key_of(line), "Not explained yet."))
    return "\n".join(parts) + ("\n" if parts else "")


def describe_runs(lines):
    """What they are of."""
    dates = sorted(line["date"] for line in lines)
    versions = {}
    for line in lines:
        versions[line["version"]] = versions.get(line["version"], 0) + 1
    said = ", ".join(f"{number} of {version or 'unknown'}" for version, number in sorted(versions.items()))
    num_loaded = sum(map(is_loaded, lines))
    load = statistics.median(line["load"] for line in lines)
    return (f"{len(lines)} runs from {dates[0]} to {dates[-1]}: {count_outcomes(lines)}. Commits of the tool: "
            f"{said}. In {num_loaded} of them the machine ({lines[-1]['machine']}) had more to do than it has "
            f"cores (median of the load: {load:.0f}); times that were mostly measured so are marked with a *.\n\n"
            "Runs that did not come to rest, ended, moved on after all, or into which nothing could be "
            "injected are in the raw data and not in the tables: a turned branch or a message that is lost "
            "is often harmless.\n")


def make_page(lines, earlier, folder):
    faulty = [line for line in lines if line["fault"] != "healthy"]
    healthy = [line for line in lines if line["fault"] == "healthy"]
    moved = [line for line in faulty if line["outcome"] == verdict.MOVED_ON]
    answers = [Answered(line, look) for line in faulty for look in line.get("looks", [])
               if line not in moved]
    try:
        with open(EXPLAINED, encoding="utf-8") as file:
            explained = json.load(file)
    except FileNotFoundError:
        explained = {}
    parts = [HEAD, describe_runs(lines)]
    harmed = [key_of(line) for line in lines if line.get("harm")]
    parts.append(f"Jobs harmed by pdb: {', '.join(harmed) or 'none'}.\n")
    if answers:
        parts.append("## All\n\n" + table("", answers, lambda one: "all"))
        parts.append(latest_table(answers))
        parts.append(KINDS + table("fault", answers, kind_of) + apart_table(answers))
    versions = names_of_versions(faulty)
    for title, name_of in (("version", lambda one: versions[one.line["version"]]),
                           ("program", lambda one: one.line["program"]),
                           ("fault", lambda one: one.line["fault"]),
                           ("ranks", lambda one: one.line["ranks"]),
                           ("MPI", lambda one: one.line["mpi"])):
        if not answers:
            continue
        parts.append(f"## By {title}\n\n" + table(title, answers, name_of))
        if title in ("program", "fault"):
            name = f"accuracy-{title}s.svg"
            draw_bars(os.path.join(folder, name), f"Answers by {title}", answers, name_of)
            parts.append(f"![answers by {title}]({name})\n")
    watched = [line for line in lines if line.get("watch")]
    if watched:
        parts.append("## pdb watch\n\nThe delay is that from the fault to the line that tells of the "
                     "hang. A slow job does not hang.\n\n" + watch_table(watched))
    healthy = [line for line in healthy if line.get("looks")]
    if healthy:
        parts.append("## Healthy jobs\n\n" + healthy_table(healthy))
    answers += [Answered(line, look) for line in healthy + moved for look in line.get("looks", [])]
    parts.append("## Wrong answers\n\n" + (list_wrong_watches(watched, explained) +
                                            list_wrong(answers, explained) or "None.\n"))
    undecided = list_undecided(answers, explained)
    if undecided:
        parts.append("## Not decided\n\nWith the recorder, and each with its reason:\n\n" + undecided)
    repaired = list_repaired(earlier, explained)
    if repaired:
        parts.append("## Put right since\n\nOf earlier commits, in runs that were made again:\n\n" + repaired)
    write(os.path.join(folder, "accuracy.md"), "\n".join(parts))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="files of raw data")
    parser.add_argument("--out", default="docs", help="folder")
    args = parser.parse_args()
    lines, earlier = read_lines(args.data)
    if not lines:
        parser.error("there are no runs in " + ", ".join(args.data))
    os.makedirs(args.out, exist_ok=True)
    make_page(lines, earlier, args.out)
    print(f"{os.path.join(args.out, 'accuracy.md')}: {len(lines)} runs")


if __name__ == "__main__":
    main()
