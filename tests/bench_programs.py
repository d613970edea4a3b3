#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the recorder costs real programs as a whole: those of the campaign that are installed, with and
without it, in turns, and the memory that it takes for each rank. "make campaign" installs them all."""

import argparse
import os
import statistics
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


def measure(program, mpi, size, rounds):
    """Prints its line."""
    rate, memory = look_at_once(program, mpi, size)
    pairs = []
    for number in range(rounds):
        order = (False, True) if number % 2 else (True, False)
        seconds = {preload: run_once(program, mpi, size, preload) for preload in order}
        pairs.append((seconds[False], seconds[True]))
    alone, recorded = (statistics.median(column) for column in zip(*pairs))
    ratios = sorted(recorded / alone for alone, recorded in pairs)
    print(f"{program.name + ', ' + mpi.name:<27} {alone:8.2f} {recorded:8.2f} "
          f"{statistics.median(ratios):7.3f} {ratios[len(ratios) // 4]:7.3f} to "
          f"{ratios[-1 - len(ratios) // 4]:5.3f} {rate:10.0f} {memory / 1024:6.0f}", flush=True)


def main():
    def names(text):
        return [one.strip() for one in text.split(",") if one.strip()]

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--ranks", type=int, default=min(8, os.cpu_count()))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--program", type=names, help="only these")
    parser.add_argument("--mpi", type=names, help="only these: openmpi, mpich")
    args = parser.parse_args()
    print(f"whole programs, {args.ranks} ranks on {os.cpu_count()} cores, median of {args.rounds} pairs of "
          "runs, alone and recorded:\n"
          f"{'':<27} {'alone':>8} {'recorded':>8} {'ratio':>7}  {'half of them':>14} {'calls/s':>10} "
          f"{'KiB':>6}\n{'':<27} {'s':>8} {'s':>8} {'':>7}  {'':>14} {'a rank':>10} {'a rank':>6}")
    for mpi in find_mpis(args.build, args.mpi):
        for program in PROGRAMS:
            if args.program and program.name not in args.program:
                continue
            if program.is_there(mpi) and program.takes(args.ranks):
                measure(program, mpi, args.ranks, args.rounds)
            elif not args.mpi and mpi.suffix in program.mpis:
                print(f"{program.name + ', ' + mpi.name:<27} not installed here", flush=True)


if __name__ == "__main__":
    main()
