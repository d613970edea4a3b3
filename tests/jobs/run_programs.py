#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS and HPL as jobs, with one rank caught in an endless loop inside a function of theirs, with a
message lost or a collective left out, and without a fault: pdb names the rank and what is wrong, and
nobody in a healthy run. The endless loops also without the recorder, by stacks alone."""

import argparse
import os
import random
import re
import signal
import subprocess

from jobs.answers import (accusation, ask_until_sure, check_first_line, check_healthy, check_kind,
                          check_modest, check_status, check_unharmed, check_words, find_claim,
                          named_ranks)
from jobs.job import ask_job
from jobs.mpi import find_mpis, find_pdb
from jobs.patience import Patience
from jobs.programs import PROGRAMS
from jobs.report import Report, check

SIZES = {"LAMMPS": 8, "HPL": 4}
HEALTHY_LOOKS = 4
# Runs of each program without the recorder: in "make check", and when only these are asked for.
UNRECORDED_RUNS, ALL_UNRECORDED_RUNS = 2, 20
# Until the other ranks have come to wait and a look finds nobody moving.
UNRECORDED_S = 120


def inject(tool, job, rank, arguments):
    """Until the rank is caught. The last argument is the function or module, or empty. On a loaded
    machine a rank that waits a lot is seldom seen elsewhere."""
    *options, place = arguments
    command = [tool, *options, "--timeout", "60", str(job.pids[rank]), *([place] if place else [])]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    check(result.returncode == 0, f"nothing was injected: {result.stderr}")


def run_faulty(pdb, tool, mpi, program, arguments, rank, where):
    size = SIZES[program.name]
    with program.start(mpi, size, True, is_endless=True) as job:
        program.wait_until_working(job)
        inject(tool, job, rank, arguments)
        job.wait_until_quiet()
        answer = ask_until_sure(pdb, job, accusation([rank], size))
        check_unharmed(job, answer)
        check_status(answer, 1)
        check("outside MPI" in answer.output, f"expected 'outside MPI' in {answer.show()}")
        check(where in answer.output, f"expected '{where}' in {answer.show()}")


def run_unrecorded(pdb, tool, mpi, program, arguments, rank):
    """Nothing says when the hang has spread: the first answer that names anybody counts."""
    size, patience = SIZES[program.name], Patience(UNRECORDED_S)
    with program.start(mpi, size, False, is_endless=True) as job:
        program.wait_until_working(job, is_recorded=False)
        inject(tool, job, rank, arguments)
        answer = ask_job(pdb, job, "lp")
        while not named_ranks(answer) and not patience.is_over():
            answer = ask_job(pdb, job, "lp")
        check_unharmed(job, answer)
    named = named_ranks(answer)
    check(rank in named and 2 * len(named) <= size,
          f"expected rank {rank} among few, got {answer.show()}")
    return answer.first_line


def run_unrecorded_healthy(pdb, mpi, program):
    """Nobody is said to hang. On a loaded machine a rank may get no processor all through a look; so
    who is named with doubt is no failure."""
    with program.start(mpi, SIZES[program.name], False, is_endless=True) as job:
        program.wait_until_working(job, is_recorded=False)
        for _ in range(HEALTHY_LOOKS):
            answer = ask_job(pdb, job, "lp")
            check_unharmed(job, answer)
            check_status(answer, 0)


def start_with_fault(library, mpi, program, rank, kind):
    """The job, hung by a fault of this rank's communication, and the line that says which."""
    job = program.start(mpi, SIZES[program.name], True, is_endless=True, fault=library)
    try:
        program.wait_until_working(job)
        os.kill(job.pids[rank], kind)
        line = job.wait_for_line(f"fault: rank {rank} ")
        job.wait_until_quiet()
    except BaseException:
        job.end()
        raise
    return job, line


def run_lost(pdb, library, mpi, program, rank):
    job, line = start_with_fault(library, mpi, program, rank, signal.SIGUSR1)
    receiver, tag = re.search(r"to (\d+), (tag \d+)$", line).groups()
    with job:
        if program.is_polling:
            answer = ask_job(pdb, job, "lp")
        else:
            answer = ask_until_sure(pdb, job, accusation([rank], SIZES[program.name]))
        why = ask_job(pdb, job, f"why {receiver}")
        check_unharmed(job, answer)
    check_words(why, [tag, rf"\b{rank}\b"])
    if not program.is_polling:
        check_status(answer, 1)
        check_kind(answer, ["lost"])
        check_words(answer, [tag])
    elif find_claim(answer):
        check_first_line(answer, accusation([rank], SIZES[program.name]))
        check_words(answer, ["likely, not certain: ranks that poll"])
    else:
        check_modest(answer)
    return line


def run_skipped(pdb, library, mpi, program, rank):
    """The others are in it, the rank is in another one, or waits for one of them."""
    job, line = start_with_fault(library, mpi, program, rank, signal.SIGUSR2)
    with job:
        answer = ask_job(pdb, job, "lp")
        check_unharmed(job, answer)
    check_status(answer, 1)
    check_words(answer, [rf"\b{rank}\b", line.split()[-1]])
    check(find_claim(answer) in ("mismatch", "deadlock"), f"got {answer.show()}")
    return line


def run_healthy(pdb, mpi, program):
    with program.start(mpi, SIZES[program.name], True, is_endless=True) as job:
        program.wait_until_working(job)
        check_healthy(pdb, job, HEALTHY_LOOKS)


def add_program(report, pdb, build, mpi, program, generator):
    tool, library = (os.path.abspath(os.path.join(build, name)) for name in ("inject", f"libfault-{mpi.suffix}.so"))
    label, size = f"{mpi.name} {program.name}", SIZES[program.name]
    first, *_ = program.functions

    def add(what, arguments, where):
        rank = generator.randrange(size)
        report.add(f"{label} {what}, rank {rank}", run_faulty, pdb, tool, mpi, program, arguments,
                   rank, where)

    for function in program.functions:
        add(f"loops in {function}", [function], function.rpartition(":")[2])
    add(f"sleeps in {first}", ["--sleep", first], first.rpartition(":")[2])
    for module in program.modules:
        add(f"loops anywhere in {module or 'its own code'}", ["--here", module], "")
    rank = generator.randrange(size)
    report.add(f"{label} loses a message, rank {rank}", run_lost, pdb, library, mpi, program, rank)
    if program.has_collectives:
        report.add(f"{label} skips a collective, rank {rank}", run_skipped, pdb, library, mpi,
                   program, rank)
    report.add(f"{label} healthy", run_healthy, pdb, mpi, program)


def add_unrecorded(report, pdb, build, mpi, program, generator, runs):
    tool = os.path.abspath(os.path.join(build, "inject"))
    label, size = f"{mpi.name} {program.name} without recorder", SIZES[program.name]
    places = [[function] for function in program.functions]
    places += [["--here", module] for module in program.modules]

    for run in range(1, runs + 1):
        rank, place = generator.randrange(size), generator.choice(places)
        report.add(f"{label} run {run}: {' '.join(place).strip()}, rank {rank}", run_unrecorded,
                   pdb, tool, mpi, program, place, rank)
    report.add(f"{label} healthy", run_unrecorded_healthy, pdb, mpi, program)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb, inject and recorders are")
    parser.add_argument("--only", help="pattern or words of the names of tests (or $TEST)")
    parser.add_argument("--repeat", help="how often to run each (or $REPEAT)")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or 1))
    parser.add_argument("--no-recorder", action="store_true",
                        help="only without the recorder, and more of these")
    args = parser.parse_args()
    report = Report(args.only, args.repeat)
    pdb, generator = find_pdb(args.build), random.Random(args.seed)
    # Debian builds these programs for its default MPI, which is Open MPI.
    for mpi in find_mpis(args.build, ["openmpi"]):
        for program in PROGRAMS:
            if not args.no_recorder:
                add_program(report, pdb, args.build, mpi, program, generator)
            add_unrecorded(report, pdb, args.build, mpi, program, generator,
                           ALL_UNRECORDED_RUNS if args.no_recorder else UNRECORDED_RUNS)
    report.finish()


if __name__ == "__main__":
    main()
