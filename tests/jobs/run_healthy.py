#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Correct programs at random moments: pdb accuses nobody. All programs of tests/mpi without their
faults, and the slow twins of those in waits/, in which one rank computes or sleeps up to seconds in
each step while the others wait."""

import argparse
import os
import random
import time

from jobs.answers import (NONE, NOT_SURE, accusation, check_first_line, check_status,
                          check_unharmed, find_claim)
from jobs.job import Job, ask_job
from jobs.mpi import find_mpis, find_pdb
from jobs.report import Report, check
from jobs.source import build_folder, list_programs

SIZE = 4
SIZE_ALONE = 2  # of programs whose ranks have two threads each that wait busily
LOOKS = 4  # at each job
PAUSE_S = 2.5  # at most, between two looks: about a slow step
FOREVER = 1000000000


def check_answer(answer, size, slow_rank):
    check_status(answer, 0)
    check(not find_claim(answer), f"a correct program is accused: {answer.show()}")
    # Of a rank that takes longer than before pdb may say so, as long as it does not call it a hang.
    if slow_rank is None or NOT_SURE not in answer.output or answer.first_line.startswith(NONE):
        check_first_line(answer, NONE)
    else:
        check_first_line(answer, accusation([slow_rank], size))


def run_looks(pdb, mpi, folder, program, size, slow_rank, pauses):
    arguments = [] if slow_rank is None else ["-1", str(FOREVER), str(slow_rank)]
    launcher = mpi.launcher(size, mpi.recorder, options=program.launch.get(mpi.name, ()))
    command = [*launcher, *program.build(mpi, folder), *arguments]
    with Job(command, size, mpi.environment()) as job:
        job.wait_until_recorded()
        for pause in pauses:
            time.sleep(pause)
            answer = ask_job(pdb, job, "lp")
            check_unharmed(job, answer)
            check_answer(answer, size, slow_rank)
        job.wait_until_moving()


def choose_size(program):
    if program.is_alone:
        return SIZE_ALONE
    return program.ranks[0][0] if program.has_slow_twin else SIZE


def list_variants(mpis):
    """(MPI, program, whether it is the slow twin) of all that there are."""
    variants = []
    for mpi in mpis:
        for program in list_programs():
            if program.runs_with(mpi):
                variants.append((mpi, program, False))
                if program.has_slow_twin:
                    variants.append((mpi, program, True))
    return variants


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--mpi", action="append", help="openmpi or mpich (default: all there are)")
    parser.add_argument("--only", help="pattern or words of the names of tests (or $TEST)")
    parser.add_argument("--samples", type=int, default=int(os.environ.get("SAMPLES") or 200))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or 1))
    args = parser.parse_args()
    report, pdb, generator = Report(args.only), find_pdb(args.build), random.Random(args.seed)
    variants = list_variants(find_mpis(args.build, args.mpi))
    generator.shuffle(variants)
    for number in range(0, args.samples, LOOKS):
        mpi, program, is_slow = variants[number // LOOKS % len(variants)]
        looks = min(LOOKS, args.samples - number)
        pauses = [generator.uniform(0, PAUSE_S) for _ in range(looks)]
        size = choose_size(program)
        slow_rank = generator.randrange(size) if is_slow else None
        name = f"{mpi.name} {program.label} {size} ranks, {looks} looks"
        if is_slow:
            name += f", rank {slow_rank} slow"
        report.add(name, run_looks, pdb, mpi, build_folder(args.build, mpi), program, size,
                   slow_rank, pauses, is_alone=program.is_alone)
    report.finish()


if __name__ == "__main__":
    main()
