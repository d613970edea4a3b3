#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of tests/mpi with a fault, under MPIs from wheels, with the recorder and without. An MPI
that cannot be had is left out, and said so."""

import argparse
import glob
import os
import re
import subprocess
import sys

from jobs.answers import check_unharmed, named_ranks
from jobs.job import Job, ask_job
from jobs.mpi import find_pdb
from jobs.report import Report, Skip, check
from jobs.run import one_of_each_kind, run_by_pdb_run, run_faulty, run_healthy
from jobs.source import list_programs
from mpis.wheels import FAMILIES, Missing, WheelMpi, install, install_mpi4py

# The part of mpi4py's own tests that is run, and how long it may take.
MPI4PY = ("p2p", "test_comm", "request")
MPI4PY_S = 150
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Without a recorder: what stacks alone must find.
STACKS = ("pipeline", "nested")


def run_by_stacks(pdb, mpi, folder, program, size, rank):
    command = [*mpi.launcher(size), *program.build(mpi, folder), str(rank)]
    with Job(command, size, mpi.environment()) as job:
        job.find_pids()
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_until_quiet(ranks=())
        answer = ask_job(pdb, job, "lp", "info job")
        check_unharmed(job, answer)
        check(mpi.family.launcher in answer.output,
          f"expected '{mpi.family.launcher}' in {answer.show()}")
        check(named_ranks(answer) == {rank}, f"expected rank {rank} in {answer.show()}")


def run_queues(build, mpi):
    """Message queues, as they are in the memory of the library."""
    source = os.path.join(TESTS, "attach", "queues.c")
    program = os.path.join(mpi.folder, "queues")
    command = [*mpi.compiler(source), "-o", program, source]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    check(result.returncode == 0, result.stderr)
    result = subprocess.run(["sh", os.path.join(TESTS, "attach", "queues.sh"), build, program,
                             *mpi.launcher()], env=mpi.environment(), capture_output=True,
                            text=True, check=False)
    check(result.returncode == 0, result.stderr + result.stdout)


def run_recorder(build, mpi):
    """The recorder's own tests, in C and C++."""
    env = {**mpi.environment(), "FORTRAN": "no"}
    env["PATH"] = mpi.make_commands() + os.pathsep + env["PATH"]
    result = subprocess.run(["sh", os.path.join(TESTS, "recorder", "run.sh"), build, mpi.suffix],
                            env=env, capture_output=True, text=True, check=False)
    check(result.returncode == 0, result.stdout + result.stderr)
    return result.stdout.strip().split("\n")[-1]


def run_mpi4py(build, mpi):
    """mpi4py's own tests say the same with the recorders and without."""
    try:
        folder = install_mpi4py(mpi.root)
    except Missing as why:
        raise Skip(why) from None
    recorders = ":".join(glob.glob(os.path.join(os.path.abspath(build), "libpdbrec-*.so")))
    said = []
    for preload in (None, recorders):
        command = [*mpi.launcher(2, preload), os.path.join(mpi.root, "bin", "python"), "main.py",
                   *(word for part in MPI4PY for word in ("-i", part))]
        result = subprocess.run(command, cwd=folder, env=mpi.environment(), capture_output=True,
                                text=True, timeout=MPI4PY_S, check=False)
        lines = re.findall(r"(Ran \d+ tests|OK.*|FAILED.*|^(?:ERROR|FAIL): .*)",
                           result.stdout + result.stderr, re.M)
        said.append([result.returncode, *sorted(lines)])
    check(len(said[0]) > 1, f"no tests were run: {said[0]}")
    check(said[0] == said[1], f"without recorders {said[0]}, with them {said[1]}")
    return said[0]


def add_mpi(report, build, pdb, mpi):
    # Options of launchers differ from version to version.
    programs = [one for one in list_programs() if one.ending == ".c" and one.runs_with(mpi)
                and not one.below and not one.is_alone and not one.launch]
    for program in one_of_each_kind(programs):
        program = program.under(mpi)
        size, rank = program.ranks[0]
        name = f"{mpi.label} {program.label}"
        if program.is_healthy:
            report.add(f"{name}, no fault", run_healthy, pdb, mpi, mpi.folder, program, size)
        elif program.expected("kind") != "ended":
            report.add(f"{name}, fault in {rank}", run_faulty, pdb, mpi, mpi.folder, program, size,
                       rank)
    for program in programs:
        if program.name in STACKS:
            report.add(f"{mpi.label} {program.label}, no recorder", run_by_stacks, pdb, mpi,
                       mpi.folder, program, *program.ranks[0])
    program = next(one for one in programs if one.name == "nested")
    report.add(f"{mpi.label} by pdb run", run_by_pdb_run, pdb, mpi, mpi.folder, program,
               *program.ranks[0])
    if mpi.suffix == "openmpi":
        report.add(f"{mpi.label} queues", run_queues, build, mpi)
    if mpi.label == "mpich":
        report.add(f"{mpi.label} mpi4py", run_mpi4py, build, mpi)
    # Some of their programs hang under Intel MPI, without a recorder, too.
    if mpi.label == "mpich-abi":
        report.add(f"{mpi.label} recorder", run_recorder, build, mpi)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    args = parser.parse_args()
    # Ranks of most of these MPIs do not yield while they wait.
    report, pdb = Report(workers=2), find_pdb(args.build)
    num = 0
    for family in FAMILIES:
        try:
            root = install(args.build, family.packages)
        except Missing as why:
            print(f"skip  {family.label}: {why}", flush=True)
            continue
        mpi = WheelMpi(family, root, args.build)
        print(f"({mpi.label}: {mpi.version()})", flush=True)
        add_mpi(report, args.build, pdb, mpi)
        num += 1
    if num == 0:
        print("0 passed, 0 failed")
        sys.exit(0)
    report.finish()


if __name__ == "__main__":
    main()
