#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long a first answer takes on a hung job of many ranks on several hosts, the start of pdb's
daemons on them included; beside the same job on the first host alone, where pdb needs none. The
hosts are made of this machine and have its cores together, so the ranks, but not the launcher's
daemons, have the lowest priority. Then where the time goes, as pdb itself tells ("info overhead")."""

import argparse
import os
import re
import statistics
import sys

from first_answer import show
from jobs.job import QUIET_NEW_S, Job, ask_job
from jobs.mpi import find_mpis, find_pdb
from jobs.place import Here, Hosts, enter_hosts
from jobs.source import build_folder, find_program

TIMES = 11
LOWEST = ["nice", "-n", "19"]


def show_parts(answers):
    """Medians of what each took of the time of an answer."""
    patterns = {"the launcher is told to start daemons": r"launcher told (\d+)",
                "they start: libraries, MPI_Init": r"connected (\d+)",
                "they are told of the job": r"job told (\d+)",
                "the look": r"last look +(\d+)"}
    rest = statistics.median(answer.seconds for answer in answers)
    for what, pattern in patterns.items():
        seconds = statistics.median(int(re.search(pattern, answer.output)[1]) / 1000
                                    for answer in answers)
        rest -= seconds
        print(f"    {what:<42} {seconds:8.3f} s")
    print(f"    {'the rest: finding the job, ending':<42} {rest:8.3f} s")


def measure(pdb, mpi, command, ranks, what):
    """Returns an answer that is wrong, if there was one."""
    rank = ranks // 2
    launch = [*mpi.launcher(ranks, mpi.recorder), *LOWEST, *command, str(rank)]
    with Job(launch, ranks, mpi.environment(), place=mpi.place) as job:
        job.wait_for_line(f"fault: rank {rank}", 300)
        job.wait_until_quiet(QUIET_NEW_S, timeout=300)
        answers = [ask_job(pdb, job, "lp") for _ in range(TIMES)]
        parts = [ask_job(pdb, job, "info overhead") for _ in range(TIMES)] if mpi.place.names else []
    show(what, [answer.seconds for answer in answers])
    if parts:
        show_parts(parts)
    right = f"Culprit: rank {rank} of {ranks}"
    return next((answer for answer in answers if answer.first_line != right), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--hosts", type=int, default=4)
    args = parser.parse_args()
    enter_hosts(args.hosts)
    pdb = find_pdb(args.build)
    here, hosts = (find_mpis(args.build, ["openmpi"], place)[0] for place in (Here(), Hosts()))
    command = find_program("first.c").build(here, build_folder(args.build, here))
    print(f"first answer, {args.ranks} ranks on {os.cpu_count()} cores, {here.name}:")
    wrong = [measure(pdb, here, command, args.ranks, "on one host"),
             measure(pdb, hosts, command, args.ranks, f"on {args.hosts} hosts, by daemons")]
    for answer in wrong:
        if answer:
            sys.exit(f"wrong answer: {answer.show()}")


if __name__ == "__main__":
    main()
