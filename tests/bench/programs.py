#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the recorder costs real programs as a whole: those of the campaign, with and without it at once, in
turns of a tenth of a second, and the memory that it takes for each rank, in its segment and in the process.

Each pair of runs is a line of a file as soon as it is there. Those that are in it, of the same recorder
and length, are not made again, so it can be done in sittings; what is printed is all of them."""

import argparse
import functools
import hashlib
import json
import math
import os
import signal
import statistics
import sys
import time

from campaign.programs import PROGRAMS
from jobs.job import JobError
from jobs.mpi import find_mpis
from jobs.turns import run_in_turns
from recorder.dump_segment import Segment, read_sparse

MEMORY_RUNS = 5  # of each kind


class FailsAlone(JobError):
    """The program does not come to its end without the recorder either."""


def run_pair(program, mpi, size, order):
    """Whether with the recorder, and the seconds of such a run."""
    starts = [functools.partial(program.start, mpi, size, preload) for preload in order]
    return dict(zip(order, run_in_turns(starts)))


def read_private(pid):
    """Memory of the process that is no file's, in bytes; 0: it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def read_rate(path):
    """Calls a second of a rank since MPI_Init, failed polls included."""
    segment = Segment(read_sparse(path))
    sites = range(segment.tables[3].count)
    # A transition into the call, and one out of it.
    calls = sum(lane.events // 2 + sum(lane.state_stats(2 * site)[1] for site in sites) for lane in segment.lanes)
    return calls * 1e9 / max(1, time.time_ns() - segment.start_real)


class Seen:
    """The most that was seen of a job while it ran; of the rate, the last."""

    def __init__(self):
        self.rate = self.segment = 0
        self.private = {}
        self.began, self.next_rate = time.monotonic(), 0

    def look(self, job, pids):
        rates = []
        # Now and then, as it takes a processor from the job for a moment.
        passed = time.monotonic() - self.began
        wants_rate = passed >= self.next_rate
        for one in job.segments().values():
            try:
                self.segment = max(self.segment, os.stat(one.path).st_blocks * 512)
                if wants_rate:
                    rates.append(read_rate(one.path))
            except FileNotFoundError:
                pass
        if rates:
            self.rate, self.next_rate = max(rates), 1.25 * passed
        for rank, pid in pids.items():
            self.private[rank] = max(self.private.get(rank, 0), read_private(pid))


def look_at_once(program, mpi, size, preload):
    """What is seen of a run of the program."""
    seen = Seen()
    with program.start(mpi, size, preload) as job:
        pids = job.find_pids()
        while job.launcher.poll() is None:
            seen.look(job, pids)
            time.sleep(0.1)
        if job.wait_for_end() != 0 and not preload:
            raise FailsAlone(f"fails with {size} ranks, without the recorder, too")
    return seen


def least_private(looks):
    """Of each rank, the least of the most that each run had: what runs differ in comes on top."""
    return {rank: min(look.private.get(rank, math.inf) for look in looks) for rank in looks[0].private}


def measure_memory(program, mpi, size):
    """Calls a second of a rank, as many as any has made; the largest segment; and how much more private
    memory a rank had than alone, on average. In bytes."""
    alone, recorded = [], []
    for _ in range(MEMORY_RUNS):
        alone.append(look_at_once(program, mpi, size, False))
        recorded.append(look_at_once(program, mpi, size, True))
    before, after = least_private(alone), least_private(recorded)
    more = [after[rank] - before[rank] for rank in after if rank in before]
    return {"rate": statistics.median(look.rate for look in recorded), "memory": max(look.segment for look in recorded),
            "private": max(0, statistics.mean(more) if more else 0)}


class Log:
    """What was measured, as lines of JSON."""

    def __init__(self, path):
        self.path = path
        self.rows = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                # The last one may be cut off.
                self.rows = [json.loads(line) for line in file if line.endswith("}\n")]

    def find(self, key, what):
        """The rows about this that have it."""
        return [row for row in self.rows if what in row and key.items() <= row.items()]

    def add(self, key, **values):
        self.rows.append({**key, **values})
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(self.rows[-1]) + "\n")


def identify(path):
    """Enough to tell a recorder from another."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


def median_range(values):
    """The smallest and the largest that the median may be, of all such runs, as sure as 95 %: that so few
    or fewer of the sorted values are on one side of it (the sign test) is less likely than 2.5 %."""
    number, below, chance = len(values), 0, 0.5 ** len(values)
    while below + 1 < (number + 1) // 2 and chance + math.comb(number, below + 1) * 0.5 ** number <= 0.025:
        below += 1
        chance += math.comb(number, below) * 0.5 ** number
    return values[below], values[-1 - below]


def measure(program, mpi, size, rounds, log):
    """Make what is missing, and print the line."""
    key = {"program": program.name, "mpi": mpi.name, "ranks": size, "steps": program.steps,
           "recorder": identify(mpi.recorder)}
    if not log.find(key, "private"):
        log.add(key, **measure_memory(program, mpi, size))
    for number in range(len(log.find(key, "alone")), rounds):
        order = (False, True) if number % 2 else (True, False)
        seconds = run_pair(program, mpi, size, order)
        log.add(key, alone=seconds[False], recorded=seconds[True])
    look = log.find(key, "private")[-1]
    pairs = [(row["alone"], row["recorded"]) for row in log.find(key, "alone")]
    alone, recorded = (statistics.median(column) for column in zip(*pairs))
    ratios = sorted(recorded / alone for alone, recorded in pairs)
    low, high = median_range(ratios)
    print(f"{program.name + ', ' + mpi.name:<27} {alone:8.2f} {recorded:8.2f} "
          f"{statistics.median(ratios):7.3f} {low:7.3f} to {high:5.3f} {look['rate']:10.0f} {look['memory'] / 1024:6.0f} "
          f"{look['private'] / 1024:6.0f} {len(pairs):5}",
          flush=True)


def main():
    def names(text):
        return [one.strip() for one in text.split(",") if one.strip()]

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--ranks", type=int, default=min(8, os.cpu_count()))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--program", type=names, help="only these")
    parser.add_argument("--mpi", type=names, help="only these: openmpi, mpich")
    parser.add_argument("--log", default="bench-programs.jsonl", help="what was measured, to be gone on with")
    args = parser.parse_args()
    # Jobs are ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    log, failed = Log(args.log), 0
    print(f"whole programs, {args.ranks} ranks on {os.cpu_count()} cores, median of pairs of "
          "runs, alone and recorded in short turns:\n"
          f"{'':<27} {'alone':>8} {'recorded':>8} {'ratio':>7}  {'surely within':>14} {'calls/s':>10} "
          f"{'KiB':>6} {'KiB':>6} {'pairs':>5}\n{'':<27} {'s':>8} {'s':>8} {'':>7}  {'':>14} {'a rank':>10} {'shared':>6} {'own':>6}")
    for mpi in find_mpis(args.build, args.mpi):
        # As mpirun does by itself for so few: unbound ranks are moved about, which is most of the noise.
        if args.ranks <= os.cpu_count():
            mpi.binding = "hwthread"
        for program in PROGRAMS:
            if not program.is_timed or (args.program and program.name not in args.program):
                continue
            if program.is_there(mpi) and program.takes(args.ranks):
                try:
                    measure(program, mpi, args.ranks, args.rounds, log)
                except JobError as error:
                    print(f"{program.name + ', ' + mpi.name:<27} {error}", flush=True)
                    failed += not isinstance(error, FailsAlone)
            elif not args.mpi and mpi.suffix in program.mpis:
                print(f"{program.name + ', ' + mpi.name:<27} not installed here", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
