#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the recorder costs real programs as a whole: those of the campaign that are installed, with and
without it, in turns, and the memory that it takes for each rank. "make campaign" installs them all.

Each pair of runs is a line of a file as soon as it is there. Those that are in it, of the same recorder
and length, are not made again, so it can be done in sittings; what is printed is all of them."""

import argparse
import hashlib
import json
import os
import signal
import statistics
import sys
import time

from campaign.programs import PROGRAMS
from jobs.job import JobError
from jobs.mpi import find_mpis


def run_once(program, mpi, size, preload):
    """Seconds, by the program's own clock if it has one."""
    began = time.monotonic()
    with program.start(mpi, size, preload) as job:
        if job.wait_for_end() != 0:
            raise JobError(f"{program.name} failed: " + " | ".join(job.output()[-3:]))
        return program.read_seconds(job) or time.monotonic() - began


def look_at_once(program, mpi, size):
    """MPI calls a second of a rank, as many as any has made, and the largest segment, in bytes."""
    largest, calls, began, seconds = 0, 0, None, 0
    with program.start(mpi, size, True) as job:
        job.find_pids()
        while job.launcher.poll() is None:
            now = job.segments().values()
            # A transition into the call, and one out of it.
            made = max((sum(lane.events // 2 + lane.polls for lane in one.lanes) for one in now),
                       default=0)
            if made and began is None:
                began = time.monotonic()
            if made > calls:
                calls, seconds = made, time.monotonic() - began
            for one in now:
                try:
                    largest = max(largest, os.stat(one.path).st_blocks * 512)
                except FileNotFoundError:
                    pass
            time.sleep(0.1)
        job.wait_for_end()
    return calls / seconds if seconds else 0, largest


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


def measure(program, mpi, size, rounds, log):
    """Make what is missing, and print the line."""
    key = {"program": program.name, "mpi": mpi.name, "ranks": size, "steps": program.steps,
           "recorder": identify(mpi.recorder)}
    if not log.find(key, "rate"):
        rate, memory = look_at_once(program, mpi, size)
        log.add(key, rate=rate, memory=memory)
    for number in range(len(log.find(key, "alone")), rounds):
        order = (False, True) if number % 2 else (True, False)
        seconds = {preload: run_once(program, mpi, size, preload) for preload in order}
        log.add(key, alone=seconds[False], recorded=seconds[True])
    look = log.find(key, "rate")[-1]
    pairs = [(row["alone"], row["recorded"]) for row in log.find(key, "alone")]
    alone, recorded = (statistics.median(column) for column in zip(*pairs))
    ratios = sorted(recorded / alone for alone, recorded in pairs)
    print(f"{program.name + ', ' + mpi.name:<27} {alone:8.2f} {recorded:8.2f} "
          f"{statistics.median(ratios):7.3f} {ratios[len(ratios) // 4]:7.3f} to "
          f"{ratios[-1 - len(ratios) // 4]:5.3f} {look['rate']:10.0f} {look['memory'] / 1024:6.0f} {len(pairs):5}",
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
          "runs, alone and recorded:\n"
          f"{'':<27} {'alone':>8} {'recorded':>8} {'ratio':>7}  {'half of them':>14} {'calls/s':>10} "
          f"{'KiB':>6} {'pairs':>5}\n{'':<27} {'s':>8} {'s':>8} {'':>7}  {'':>14} {'a rank':>10} {'a rank':>6}")
    for mpi in find_mpis(args.build, args.mpi):
        for program in PROGRAMS:
            if args.program and program.name not in args.program:
                continue
            if program.is_there(mpi) and program.takes(args.ranks):
                try:
                    measure(program, mpi, args.ranks, args.rounds, log)
                except JobError as error:
                    print(f"{program.name + ', ' + mpi.name:<27} {error}", flush=True)
                    failed += 1
            elif not args.mpi and mpi.suffix in program.mpis:
                print(f"{program.name + ', ' + mpi.name:<27} not installed here", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
