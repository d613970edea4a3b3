#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the recorder costs real programs as a whole: LAMMPS and HPL with and without it, in turns,
and the memory that it takes for each rank."""

import argparse
import os
import statistics
import time

from jobs.job import JobError
from jobs.mpi import find_mpis
from jobs.programs import PROGRAMS


def run_once(program, mpi, size, preload):
    """Seconds by the program's own clock, and the largest segment seen while it ran, in bytes."""
    largest = 0
    with program.start(mpi, size, preload) as job:
        job.find_pids()
        while job.launcher.poll() is None:
            if preload:
                for one in job.segments().values():
                    try:
                        largest = max(largest, os.stat(one.path).st_blocks * 512)
                    except FileNotFoundError:
                        pass
            time.sleep(0.1)
        if job.wait_for_end() != 0:
            raise JobError("the program failed: " + " | ".join(job.output()[-3:]))
        return program.read_seconds(job), largest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--ranks", type=int, default=min(8, os.cpu_count()))
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    mpi = find_mpis(args.build, ["openmpi"])[0]
    print(f"whole programs, {args.ranks} ranks on {os.cpu_count()} cores, {mpi.name}, "
          f"{args.rounds} runs each in turns:")
    for program in PROGRAMS:
        times = {True: [], False: []}
        memory = 0
        for number in range(args.rounds):
            for preload in ((False, True) if number % 2 else (True, False)):
                seconds, largest = run_once(program, mpi, args.ranks, preload)
                times[preload].append(seconds)
                memory = max(memory, largest)
        alone, recorded = (statistics.median(times[key]) for key in (False, True))
        spread = (max(times[False]) - min(times[False])) / alone
        print(f"  {program.name:<8} alone {alone:7.3f} s  recorded {recorded:7.3f} s  "
              f"ratio {recorded / alone:.3f}  (runs alone differ by {spread:.0%})  "
              f"recorder {memory / 1024:.0f} KiB a rank", flush=True)


if __name__ == "__main__":
    main()
