#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Job tests: every program in tests/mpi, under every MPI of this machine, with its fault and
without. The program's source says what pdb is expected to answer; see docs/testing.md."""

import argparse
import os
import subprocess
import tempfile

from jobs import process
from jobs.answers import (accusation, ask_until_sure, check_first_line, check_healthy, check_kind,
                          check_modest, check_status, check_unharmed, check_words)
from jobs.job import QUIET_NEW_S, QUIET_S, QUIET_START_S, Job, JobError, ask, ask_job
from jobs.mpi import Srun, find_mpis, find_pdb
from jobs.place import Here, Hosts, enter_hosts
from jobs.report import Report, Skip, check
from jobs.source import build_folder, list_programs

HEALTHY_SIZE = 4
HEALTHY_LOOKS = 2


def start(mpi, folder, program, size, *arguments, env=None):
    below = [os.path.join(os.path.dirname(mpi.recorder), f"{program.below}-{mpi.suffix}.so")]
    libraries = ":".join([mpi.recorder, *(below if program.below else ())])
    command = mpi.launcher(size, libraries, env, program.launch.get(mpi.name, ()))
    return Job([*command, *program.build(mpi, folder), *(str(one) for one in arguments)], size,
               mpi.environment(), place=mpi.place)


def start_surely(mpi, *arguments):
    """Start it until all ranks have left MPI_Init, as often as this MPI may fail to."""
    for more in range(mpi.starts - 1, 0, -1):
        job = start(mpi, *arguments)
        try:
            job.wait_until_recorded(events=0)
            return job
        except JobError as error:
            job.end()
            print(f"({more} more starts: {error})", flush=True)
    return start(mpi, *arguments)


def wait_until_hung(job, program, size, rank):
    """Until the fault has shown all its effect."""
    gone = {rank} if program.expected("gone") else set()
    still = program.expected_ranks("still", size, rank) or range(size)
    job.find_pids()
    job.wait_for_line(f"fault: rank {rank}")
    quiet = {"new": QUIET_NEW_S, "start": QUIET_START_S}.get(program.expected("place"), QUIET_S)
    job.wait_until_quiet(quiet, set(still) - gone)
    return gone


def run_faulty(pdb, mpi, folder, program, size, rank):
    if program.expected("gone") and mpi.place.names and mpi.name == "openmpi5":
        raise Skip("ranks of Open MPI 5 end when a connection to another breaks")
    kinds = program.expected("kind").split(",")
    named = program.expected_ranks("lp", size, rank)
    with start_surely(mpi, folder, program, size, rank) as job:
        gone = wait_until_hung(job, program, size, rank)
        answer = ask_until_sure(pdb, job, accusation(named, size) if named else "")
        check_unharmed(job, answer, {rank} if "stopped" in kinds else set(), gone)
        check_status(answer, 1)
        if kinds == ["likely"]:
            check_modest(answer)
        else:
            check_kind(answer, kinds)
        where = program.expected("where")
        check(not where or where in answer.output, f"expected '{where}' in {answer.show()}")
        check_words(answer, program.expected_words(size, rank))


def run_ended(pdb, mpi, folder, program, size, rank):
    """The fault is the end of the whole job; pdb says that nothing is there. What the ranks leave
    behind is in a folder of its own, as they may have gone before anybody has seen them."""
    with tempfile.TemporaryDirectory(dir=folder) as segments, start(
            mpi, folder, program, size, rank, env={"PDB_SEGMENT_DIR": segments}) as job:
        pid = job.pid  # not to be found later
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_for_end()
        answer = ask_job(pdb, job, "lp")
    check_status(answer, 2)
    check(f"{pid}" in answer.errors, f"expected {pid} in {answer.show()}")


def run_healthy(pdb, mpi, folder, program, size):
    with start_surely(mpi, folder, program, size) as job:
        job.wait_until_recorded(events=20)
        check_healthy(pdb, job, HEALTHY_LOOKS)


# ---- The other ways to a job, with one program for all -------------------------------------------


def run_by_pdb_run(pdb, mpi, folder, program, size, rank):
    """pdb starts the job, with its recorder in it, and stays attached."""
    command = [*mpi.launcher(size), *program.build(mpi, folder), str(rank)]
    with Job([pdb, "run", "--", *command], size, mpi.environment(),
             stdin=subprocess.PIPE, place=mpi.place) as job:
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_until_quiet()
        job.say("refresh\nlp\n")
        line = job.wait_for_line("Culprit: ")
        check(accusation([rank], size) in line, f"got '{line}'")


def run_by_pdb_env(pdb, mpi, folder, program, size, rank):
    """A shell starts the job, with what pdb says to put into its environment."""
    script = 'eval "$("$0" env --mpi "$1")" && shift && exec "$@"'
    command = [*mpi.launcher(size), *program.build(mpi, folder), str(rank)]
    with Job(["sh", "-c", script, pdb, mpi.suffix, *command], size, mpi.environment(),
             place=mpi.place) as job:
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_until_quiet()
        answer = ask_job(pdb, job, "lp")
        check_first_line(answer, accusation([rank], size))


def run_by_rank(pdb, mpi, folder, program, size, rank):
    """pdb is given the pid of a rank in place of the launcher's."""
    with start(mpi, folder, program, size, rank) as job:
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_until_quiet()
        pid = process.list_pids(job.pids[0])[-1]
        answer = ask(pdb, ["--pid", str(pid), "--batch", "-ex", "lp"], place=mpi.place)
        check_first_line(answer, accusation([rank], size))


def run_snapshot(pdb, mpi, folder, program, size, rank):
    """What is saved answers the same after the job is gone."""
    with start(mpi, folder, program, size, rank) as job, \
            tempfile.TemporaryDirectory(dir=folder) as saved_in:
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_until_quiet()
        path = os.path.join(saved_in, "hang.pdb")
        live = ask_job(pdb, job, "groups", f"save {path}")
        job.end()
        saved = ask(pdb, ["--load", path, "--batch", "-ex", "groups", "-ex", "lp"],
                    place=mpi.place)
        check(live.output.split("\n")[1] in saved.output, f"{live.show()}\n{saved.show()}")
        check(accusation([rank], size) in saved.output,
              f"expected rank {rank} in {saved.show()}")
        check(saved.status == 1, f"expected status 1, got {saved.show()}")


WAYS = (("pdb run", run_by_pdb_run), ("pdb env", run_by_pdb_env), ("a rank's pid", run_by_rank),
        ("a snapshot", run_snapshot))


# ---- What is run ---------------------------------------------------------------------------------


def choose_ranks(mpi, program):
    """What ranks do with messages does not depend on both, their number and the MPI: Open MPI has all the
    sizes, but of the many programs in waits/ one, the larger if its ranks yield while they wait; MPICH has the
    smaller. SIZES=all: each has both."""
    if os.environ.get("SIZES") == "all":
        return program.ranks
    if mpi.suffix == "openmpi" and not program.has_slow_twin:
        return program.ranks
    return program.ranks[-1:] if mpi.name == "openmpi4" else program.ranks[:1]


def one_of_each_kind(programs):
    """The first that is expected to end in each way, and of which pdb is to say more than that."""
    first = {}
    for program in programs:
        first.setdefault((program.expected("kind"), bool(program.says)), program)
    return list(first.values())


def label(mpi):
    return mpi.name + (f" on {len(mpi.place.names)} hosts" if mpi.place.names else "")


def add_program(report, pdb, mpi, folder, program):
    what = f"{label(mpi)} {program.label}"
    for size, rank in choose_ranks(mpi, program):
        name = f"{what} {size} ranks" + ("" if rank < 0 else f", fault in {rank}")
        if program.is_healthy:
            report.add(name, run_healthy, pdb, mpi, folder, program, size,
                       is_alone=program.is_alone)
        elif program.expected("kind") == "ended":
            report.add(name, run_ended, pdb, mpi, folder, program, size, rank)
        else:
            report.add(name, run_faulty, pdb, mpi, folder, program, size, rank,
                       is_alone=program.is_alone)
    # Those with a slow twin are looked at without a fault by run_healthy.py.
    if not program.is_healthy and not program.has_slow_twin:
        report.add(f"{what} {HEALTHY_SIZE} ranks, no fault", run_healthy, pdb, mpi, folder,
                   program, HEALTHY_SIZE, is_alone=program.is_alone)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--mpi", action="append", help="openmpi or mpich (default: all there are)")
    parser.add_argument("--srun", type=int, metavar="NODES",
                        help="srun starts the jobs, on so many nodes of tests/slurm/slurm.sh -x")
    parser.add_argument("--hosts", type=int, metavar="NUMBER",
                        help="run the jobs over so many hosts, made with tests/hosts/hosts.sh")
    parser.add_argument("--short", action="store_true", help="one program of each kind only")
    parser.add_argument("--only", help="pattern or words of the names of tests (or $TEST)")
    parser.add_argument("--repeat", help="how often to run each (or $REPEAT)")
    args = parser.parse_args()
    place = Here()
    if args.hosts:
        enter_hosts(args.hosts)
        place = Hosts()
    report = Report(args.only, args.repeat)
    pdb, programs = find_pdb(args.build), list_programs()
    nested = next(program for program in programs if program.name == "nested")
    if args.short:
        programs = one_of_each_kind(programs)
    for mpi in find_mpis(args.build, args.mpi, place):
        if args.srun:
            mpi = Srun(mpi, args.srun)
        folder = build_folder(args.build, mpi)
        for program in programs:
            if program.runs_with(mpi):
                add_program(report, pdb, mpi, folder, program.under(mpi))
        # They have launchers of their own.
        for way, test in () if args.srun else WAYS:
            report.add(f"{label(mpi)} by {way}", test, pdb, mpi, folder, nested, *nested.ranks[0])
    report.finish()


if __name__ == "__main__":
    main()
