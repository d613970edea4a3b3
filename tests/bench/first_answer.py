#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long a first answer takes on a hung job of many ranks on this node: pdb, beside eu-stack and
gdb over all ranks. The job's ranks have the lowest priority, so that their busy waiting on a few
cores, which a real node would have one each of, does not decide what is measured; with --asleep, for
more ranks than that can be done with, they sleep while they wait, all but the faulty one."""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import time

from jobs.job import QUIET_NEW_S, Job, ask_job
from jobs.mpi import find_mpis, find_pdb
from jobs.source import build_folder, find_program


def timed(action, repeat):
    """Seconds of each run."""
    seconds = []
    for _ in range(repeat):
        began = time.monotonic()
        action()
        seconds.append(time.monotonic() - began)
    return seconds


def run_for_each(pids, command):
    """The command with each pid, one after the other; what it prints does not matter."""
    for pid in pids:
        subprocess.run([*command, str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL, check=False)


def show(what, seconds):
    print(f"  {what:<44} {statistics.median(seconds):8.3f} s  (median of {len(seconds)}, "
          f"{min(seconds):.3f} to {max(seconds):.3f})", flush=True)


def measure(pdb, mpi, command, ranks, asleep):
    """Prints the lines of a job of so many ranks. Returns an answer that is wrong, if there was one."""
    rank = ranks // 2
    preload = mpi.recorder if not asleep else f"{mpi.recorder}:{os.path.abspath(asleep)}"
    launch = ["nice", "-n", "19", *mpi.launcher(ranks, preload), *command, str(rank)]
    with Job(launch, ranks, mpi.environment()) as job:
        job.wait_for_line(f"fault: rank {rank}", 300)
        job.wait_until_quiet(QUIET_NEW_S, timeout=300)
        print(f"first answer, {ranks} ranks{', asleep,' if asleep else ''} on {os.cpu_count()} cores, {mpi.name}:")
        answers = [ask_job(pdb, job, "lp") for _ in range(11)]
        show("pdb --batch -ex lp", [answer.seconds for answer in answers])
        answers_bt = [ask_job(pdb, job, "bt all") for _ in range(5)]
        show("pdb --batch -ex 'bt all'", [answer.seconds for answer in answers_bt])
        pids = list(job.pids.values())
        show("eu-stack -p, rank after rank",
             timed(lambda: run_for_each(pids, ["eu-stack", "-p"]), 3))
        # gdb takes minutes for all: some of the ranks, and in proportion.
        some = pids[:4]
        gdb = timed(lambda: run_for_each(some, ["gdb", "-nx", "-batch", "-ex", "bt", "-p"]), 3)
        show("gdb -batch -ex bt -p, rank after rank (*)",
             [seconds * ranks / len(some) for seconds in gdb])
        print(f"  (*) measured on {len(some)} ranks and multiplied", flush=True)
        # Nobody waits for the only one.
        right = (f"Culprit: rank {rank} of {ranks}" if ranks > 1
                 else "No certain hang: no rank waits inside MPI.")
        wrong = [answer for answer in answers if answer.first_line != right]
        return wrong[0] if wrong else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--ranks", type=int, nargs="+", default=[64], help="of a job each")
    parser.add_argument("--asleep", help="the library that lets ranks sleep (bench/asleep.c)")
    args = parser.parse_args()
    # Jobs are ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    pdb = find_pdb(args.build)
    mpi = find_mpis(args.build, ["openmpi"])[0]
    command = find_program("first.c").build(mpi, build_folder(args.build, mpi))
    for ranks in args.ranks:
        wrong = measure(pdb, mpi, command, ranks, args.asleep)
        if wrong:
            sys.exit(f"wrong answer: {wrong.show()}")


if __name__ == "__main__":
    main()
