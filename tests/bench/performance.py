#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run benchmarks and put what they measured into docs/performance.md, between its markers.

    performance.py [--build DIR] [--tables] PAGE [NAME...]

NAME are blocks of the page; without any: all that are measured within minutes. --tables: measure
nothing, only make the tables once more of what was printed. What a benchmark prints is kept in
DIR/performance/NAME.txt. A block whose benchmark fails stays as it is, and the exit status is 1."""

import argparse
import datetime
import os
import re
import signal
import subprocess
import sys

LIMIT_S = 900  # of one benchmark


# ---- Tables ----


def table(head, rows, num_texts=1):
    """The first columns are texts, the others numbers."""
    lines = [head, [":--"] * num_texts + ["--:"] * (len(head) - num_texts), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def seconds(value):
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def over(bad, what):
    return f"{what}: none over the budget." if not bad else f"{what}, over the budget: {', '.join(bad)}."


RECORDER_ROWS = (
    "Send-to-nobody", "Send-to-nobody-by-4096-paths", "Sendrecv", "Irecv+Send+Wait", "Irecv+Isend+2*Wait", "16*(Irecv+Isend)+Waitall",
    "2*Start+2*Wait", "Test", "Iprobe", "Barrier", "Bcast", "Allreduce", "Iallreduce+Wait", "Put",
    "Win_lock+Put+Win_unlock", "Win_post+start+complete+wait", "Fortran-Irecv+Isend+2*Wait",
    "Fortran-Allreduce", "mpi_f08-Irecv+Isend+2*Wait")


def shown(name):
    return "`" + name.replace("-", " ") + "`"


def recorder(text):
    pattern = re.compile(r"(\S+) +(\S+) +(\d+) frames: +(\S+) ns without, +\S+ ns with, +(\S+) ns added to a call"
                         r"[^\n]*?(?:, (\S+) by count, (\S+) by backtrace)?$", re.M)
    found = {(mpi, name, int(frames)): rest for mpi, name, frames, *rest in pattern.findall(text)}
    rows, bad = [], []
    for mpi in ("openmpi", "mpich"):
        for name in RECORDER_ROWS:
            if (mpi, name, 10) not in found:
                continue
            at = {frames: found[mpi, name, frames] for frames in (10, 20)}

            def cells(column):
                return [f"{float(at[frames][column]):,.0f}" if at[frames][column] else "" for frames in (10, 20)]

            added = cells(1)
            count = at[10][2] and f"{max(0, float(at[10][2])):.0f}"
            rows.append([shown(name), mpi, f"{float(at[10][0]):.0f}", *added, count, *cells(3)])
        bad += [f"{shown(name)} with {mpi} {float(rest[1]):.0f} ns" for (of, name, frames), rest in found.items()
                if of == mpi and frames == 20 and name != "Startall+Waitall-of-32" and float(rest[1]) > 60]
    clock = re.findall(r"two time stamps (\S+) ns", text)
    return (table(["calls", "MPI", "alone, ns", "+ recorder, 10 frames", "20 frames", "+ counting",
                   "+ `backtrace()`, 10 frames", "20 frames"], rows, 2) +
            f"\nTwo readings of the time stamp, which each call takes: {clock[0] if clock else '?'} ns. " +
            over(bad, f"All {len(found) // 2} kinds that are measured, 60 ns at 20 frames") + "\n")


def instructions(text):
    pattern = re.compile(r"(\S+) +(\S+) +(\d+) frames: +(\d+) instructions a call")
    found = {(mpi, name, frames): number for mpi, name, frames, number in pattern.findall(text)}
    rows = [[shown(name), *(found.get((mpi, name, frames), "") for mpi in ("openmpi", "mpich")
                            for frames in ("10", "20"))]
            for name in RECORDER_ROWS if ("openmpi", name, "10") in found]
    return table(["calls", "Open MPI, 10 frames", "20 frames", "MPICH, 10 frames", "20 frames"], rows)


def programs(text):
    rows, bad, perhaps = [], [], []
    for line in text.splitlines():
        words = re.match(r"(.+?), (\S+) +(\S+) +(\S+) +(\S+) +(\S+) to +(\S+) +(\S+) +(\S+) +(\S+) +(\d+)$", line)
        if not words:
            continue
        name, mpi, alone, with_it, ratio, low, high, rate, size, own, pairs = words.groups()
        rows.append([name, mpi, pairs, alone, with_it, ratio, f"{low} to {high}", f"{float(rate):,.0f}",
                     f"{float(size):,.0f}", f"{float(own):,.0f}"])
        budget = 1.01 if float(rate) < 10000 else 1.05
        if float(low) > budget or float(size) >= 1024:
            bad.append(f"{name} with {mpi}")
        elif float(ratio) > budget:
            perhaps.append(f"{name} with {mpi}")
    return (table(["program", "MPI", "pairs", "alone, s", "recorded, s", "ratio", "95 % sure within",
                   "calls/s a rank", "KB a rank, segment", "KB a rank, own"], rows, 2) + "\n" +
            over(bad, f"{len(rows)} programs") +
            (f" Over it, if not by chance: {', '.join(perhaps)}." if perhaps else "") + "\n")


def first_answer(text):
    rows = []
    bad = ""
    for ranks, asleep, rest in re.findall(r"first answer, (\d+) ranks(, asleep,)? on [^\n]*\n((?:  .*\n?)*)", text):
        cells = [float(value) for value in re.findall(r" (\d+\.\d+) s  \(median", rest)]
        rows.append([f"{int(ranks):,}", *(seconds(value) for value in cells)])
        if int(ranks) == 64:
            bad = f"{cells[0]:.2f} s for 64 ranks, budget 0.3 s."
    return table(["ranks", "`lp`, s", "`bt all`, s", "eu-stack, s", "gdb, s"], rows, 0) + f"\n{bad}\n"


def states(text):
    rows = []
    for ranks, number, how, merge, place, judge, size in re.findall(
            r"^ *(\d+) +(\d+) (\w+) +(\S+) +(\S+) +(\S+) +(\S+)$", text, re.M):
        if int(number) < 1000:
            continue  # milliseconds
        all_of_it = float(merge) + float(place) + float(judge)
        rows.append([how, f"{int(ranks):,}", f"{int(number):,}", *(f"{float(value) / 1e3:.3f}" for value in
                                                                  (merge, place, judge, all_of_it)),
                     f"{float(size):,.0f}"])
    rows.sort(key=lambda row: ("equal groups different".index(row[0]), int(row[1].replace(",", ""))))
    return table(["ranks are", "ranks", "states", "merge, s", "loops, s", "groups and verdict, s", "all, s", "MB"],
                 rows)


def commands(text):
    rows = re.findall(r"^(\S.*?) +(\d+\.\d+) +(\d+\.\d+) +(\d+\.\d+)$", text, re.M)
    base = next((float(row[2]) for row in rows if row[0] == "show"), 0)
    bad = [f"`{name}` {wall} s" for name, wall, _, _ in rows if float(wall) > 1]
    what = re.search(r"snapshot of (\d+) ranks, (\S+ MB)", text)
    return (table(["command", "s", "of processor, s", "beyond loading, s", "MB"],
                  [[f"`{name}`", wall, busy, f"{max(0, float(busy) - base):.2f}", f"{float(size):.0f}"]
                   for name, wall, busy, size in rows]) +
            f"\n{int(what[1]):,} ranks; the snapshot has {what[2]}. " + over(bad, "One second for each") + "\n")


def queues(text):
    rows = re.findall(r"queues of (\S+), (\d+) ranks: (\S+) us a rank \((\S+) to (\S+)\), the first time (\S+) us", text)
    return table(["MPI", "ranks", "us a rank, median", "shortest", "longest", "us, the first time"], rows)


# What make is told, and what makes a table of what that prints.
BLOCKS = {
    "recorder": ("bench-recorder RUNS=5", recorder),
    "instructions": ("bench-instructions", instructions),
    "first-answer": ("bench-first-answer|RANKS=1 4 16 64 128 256|ASLEEP=yes", first_answer),
    "queues": ("bench-queues", queues),
    "states": ("bench-states", states),
    "commands": ("bench-commands", commands),
    "programs": ("bench-programs", programs),
}
TAKES_HOURS = ("programs",)


# ---- Running ----


def end(group):
    """Let it end what it has started; then whatever is left of it."""
    for sign, patience in ((signal.SIGTERM, 30), (signal.SIGKILL, 10)):
        try:
            os.killpg(group.pid, sign)
            group.wait(patience)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def run(target, build, path, limit):
    """Whether it succeeded; what it printed, behind a line about the circumstances, is then in path."""
    words = target.split("|") if "|" in target else target.split()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    about = (f"# {datetime.date.today()}; {os.cpu_count()} processors{', ' + model[1].strip() if model else ''}; "
             f"load before {os.getloadavg()[0]:.1f}\n")
    # A group of its own, as it is ended with all that it started.
    with open(path + ".new", "w+", encoding="utf-8") as file:
        file.write(about)
        file.flush()
        with subprocess.Popen(["make", "--no-print-directory", f"O={build}", *words], stdout=file,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              start_new_session=True) as bench:
            try:
                is_done = bench.wait(limit) == 0
            except subprocess.TimeoutExpired:
                print(f"performance.py: {words[0]} has not ended in {limit} s", file=sys.stderr)
                is_done = False
            finally:
                if bench.poll() is None:
                    end(bench)
    if is_done:
        os.replace(path + ".new", path)
    return is_done


def fill(page, name, folder):
    """Put the table of what was printed into the page's block. Whether there was any."""
    with open(os.path.join(folder, name + ".txt"), encoding="utf-8") as file:
        about, text = file.read().split("\n", 1)
    lines = BLOCKS[name][1](text)
    with open(page, encoding="utf-8") as file:
        old = file.read()
    begin, finish = f"<!-- begin of {name} -->\n", f"<!-- end of {name} -->\n"
    before, rest = old.split(begin)
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}{lines}\nMeasured on {about[2:]}.\n{finish}{rest.split(finish)[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("page")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BLOCKS))
    args = parser.parse_args()
    wrong = [name for name in args.names if name not in BLOCKS]
    if wrong:
        parser.error(f"there is no block {wrong[0]}; blocks are {', '.join(BLOCKS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = os.path.join(args.build, "performance")
    os.makedirs(folder, exist_ok=True)
    failed = []
    for name in args.names or [name for name in BLOCKS if name not in TAKES_HOURS]:
        path = os.path.join(folder, name + ".txt")
        print(f"  {'TABLE' if args.tables else 'BENCH':<7} {name}", flush=True)
        limit = None if name in TAKES_HOURS else LIMIT_S
        if not args.tables and not run(BLOCKS[name][0], args.build, path, limit):
            print(f"performance.py: {name} failed: {path}.new", file=sys.stderr)
            failed.append(name)
            continue
        fill(args.page, name, folder)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
