#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Job tests: every program in tests/mpi, under every MPI of this machine, with its fault and
without. The program's source says what pdb is expected to answer; see docs/testing.md."""

import argparse
import glob
import os
import re
import subprocess
import tempfile

from jobs.job import QUIET_NEW_S, QUIET_S, Job, ask, ask_job
from jobs.mpi import find_mpis, find_pdb
from jobs.report import Report, check

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpi")
HEALTHY_SIZE = 4
HEALTHY_LOOKS = 2

# What must be in the answer for a verdict of this kind.
KINDS = {"computation": "outside MPI", "stopped": "stopped"}


class Program:
    """A source file and what it says of itself in its first lines."""

    def __init__(self, path):
        self.path = path
        self.name, self.ending = os.path.splitext(os.path.basename(path))
        with open(path, encoding="utf-8") as file:
            head = "".join(file.readlines()[:12])
        self.expect = self._directive(head, "expect")
        ranks = self._directive(head, "ranks").split()
        self.ranks = [tuple(int(part) for part in pair.split(":")) for pair in ranks]
        self.mpis = self._directive(head, "mpi").split()
        self.flags = self._directive(head, "flags").split()
        check(self.expect and self.ranks, f"{path} does not say what is expected")

    @staticmethod
    def _directive(head, name):
        match = re.search(rf"\b{name}: (.*?)\s*(\*/)?$", head, re.MULTILINE)
        return match.group(1) if match else ""

    @property
    def is_healthy(self):
        return self.expect == "none"

    def expected(self, word):
        match = re.search(rf"\b{word}=(\S+)", self.expect)
        return match.group(1) if match else None

    def build(self, mpi, folder):
        """The command that a launcher is to run."""
        if self.ending == ".py":
            return ["/usr/bin/python3", self.path]
        binary = os.path.join(folder, self.name)
        subprocess.run([*mpi.compiler(self.path), *self.flags, f"-I{SOURCES}", "-o", binary,
                        self.path], check=True, cwd=folder)
        return [binary]


def check_first_line(answer, expected):
    check(answer.first_line.startswith(expected),
          f"expected '{expected}', got {answer.show()}")


def check_accusation(answer, program, rank):
    """The answer names this rank, and the kind and place that the program states."""
    check_first_line(answer, f"Least progressed: rank {rank}, 1 of ")
    check(answer.status == 1, f"expected status 1, got {answer.show()}")
    kind, where = KINDS[program.expected("kind")], program.expected("where")
    check(kind in answer.output, f"expected '{kind}' in {answer.show()}")
    check(not where or where in answer.output, f"expected '{where}' in {answer.show()}")


def run_faulty(pdb, mpi, command, program, size, rank):
    with Job([*mpi.launcher(size, mpi.recorder), *command, str(rank)], size,
             mpi.environment()) as job:
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_until_quiet(QUIET_NEW_S if program.expected("place") == "new" else QUIET_S)
        stopped = {rank} if program.expected("kind") == "stopped" else set()
        answer = ask_until_sure(pdb, job, f"Least progressed: rank {rank}, 1 of {size} ranks")
        wrong = job.check_unharmed(stopped)
        check(not wrong, f"{', '.join(wrong)} after {answer.show()}")
        check_accusation(answer, program, rank)


def ask_until_sure(pdb, job, expected):
    """On a loaded machine a rank may once have stayed long where it hangs now; then pdb says whom it
    suspects but that it is not sure, until the hang has lasted much longer. It has to name the same
    rank all along."""
    for _ in range(3):
        answer = ask_job(pdb, job, "lp")
        check_first_line(answer, expected)
        if "not sure that this is a hang" not in answer.output:
            break
        job.wait_until_quiet(QUIET_NEW_S)
    return answer


def run_healthy(pdb, mpi, command, size):
    with Job([*mpi.launcher(size, mpi.recorder), *command], size, mpi.environment()) as job:
        job.wait_until_recorded(events=20)
        for _ in range(HEALTHY_LOOKS):
            answer = ask_job(pdb, job, "lp")
            wrong = job.check_unharmed()
            check(not wrong, f"{', '.join(wrong)} after {answer.show()}")
            check_first_line(answer, "No rank is behind.")
            check(answer.status == 0, f"expected status 0, got {answer.show()}")
            job.wait_until_moving()


def run_by_pdb_run(pdb, mpi, command, size, rank):
    """pdb starts the job, with its recorder in it, and stays attached."""
    with Job([pdb, "run", "--", *mpi.launcher(size), *command, str(rank)], size,
             mpi.environment(), stdin=subprocess.PIPE) as job:
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_until_quiet()
        job.say("refresh\nlp\n")
        line = job.wait_for_line("Least progressed")
        check(f"Least progressed: rank {rank}, 1 of {size} ranks" in line, f"got '{line}'")


def run_by_pdb_env(pdb, mpi, command, size, rank):
    """A shell starts the job, with what pdb says to put into its environment."""
    script = 'eval "$("$0" env --mpi "$1")" && shift && exec "$@"'
    with Job(["sh", "-c", script, pdb, mpi.suffix, *mpi.launcher(size), *command, str(rank)], size,
             mpi.environment()) as job:
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_until_quiet()
        answer = ask_job(pdb, job, "lp")
        check_first_line(answer, f"Least progressed: rank {rank}, 1 of {size} ranks")


def run_by_rank(pdb, mpi, command, size, rank):
    """pdb is given the pid of a rank in place of the launcher's."""
    with Job([*mpi.launcher(size, mpi.recorder), *command, str(rank)], size,
             mpi.environment()) as job:
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_until_quiet()
        answer = ask(pdb, ["--pid", str(job.pids[0]), "--batch", "-ex", "lp"])
        check_first_line(answer, f"Least progressed: rank {rank}, 1 of {size} ranks")


def run_snapshot(pdb, mpi, command, size, rank):
    """What is saved answers the same after the job is gone."""
    with Job([*mpi.launcher(size, mpi.recorder), *command, str(rank)], size,
             mpi.environment()) as job, tempfile.TemporaryDirectory() as folder:
        job.wait_for_line(f"fault: rank {rank}")
        job.wait_until_quiet()
        path = os.path.join(folder, "hang.pdb")
        live = ask_job(pdb, job, "groups", f"save {path}")
        job.end()
        saved = ask(pdb, ["--load", path, "--batch", "-ex", "groups", "-ex", "lp"])
        check(live.output.split("\n")[1] in saved.output, f"{live.show()}\n{saved.show()}")
        check(f"Least progressed: rank {rank}, 1 of {size} ranks" in saved.output,
              f"expected rank {rank} in {saved.show()}")
        check(saved.status == 1, f"expected status 1, got {saved.show()}")


WAYS = (("pdb run", run_by_pdb_run), ("pdb env", run_by_pdb_env), ("a rank's pid", run_by_rank),
        ("a snapshot", run_snapshot))


def run_ways(report, pdb, mpi, program, folder):
    """The other ways to a job, with one program for all."""
    size, rank = program.ranks[0]
    names = [f"{mpi.name} by {way}" for way, _ in WAYS]
    if any(report.is_selected(name) for name in names):
        command = program.build(mpi, folder)
        for name, (_, test) in zip(names, WAYS):
            report.run(name, test, pdb, mpi, command, size, rank)


def run_program(report, pdb, mpi, program, folder):
    label = f"{mpi.name} {program.name}{program.ending}"
    names = [f"{label} {size} ranks" + ("" if rank < 0 else f", fault in {rank}")
             for size, rank in program.ranks]
    healthy = f"{label} {HEALTHY_SIZE} ranks, no fault"
    if not any(report.is_selected(name) for name in [*names, healthy]):
        return
    try:
        command = program.build(mpi, folder)
    except subprocess.CalledProcessError as error:
        report.fail(label, f"cannot be built: {error}")
        return
    for name, (size, rank) in zip(names, program.ranks):
        if program.is_healthy:
            report.run(name, run_healthy, pdb, mpi, command, size)
        else:
            report.run(name, run_faulty, pdb, mpi, command, program, size, rank)
    if not program.is_healthy:
        report.run(healthy, run_healthy, pdb, mpi, command, HEALTHY_SIZE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--mpi", action="append", help="openmpi or mpich (default: all there are)")
    parser.add_argument("--only", help="pattern or words of the names of tests (or $TEST)")
    parser.add_argument("--repeat", help="how often to run each (or $REPEAT)")
    args = parser.parse_args()
    report = Report(args.only, args.repeat)
    pdb = find_pdb(args.build)
    programs = [Program(path) for path in sorted(glob.glob(os.path.join(SOURCES, "*.*")))
                if not path.endswith(".h")]
    for _ in range(report.repeat):
        for mpi in find_mpis(args.build, args.mpi):
            folder = os.path.abspath(os.path.join(args.build, "tests", "mpi", mpi.name))
            os.makedirs(folder, exist_ok=True)
            for program in programs:
                if not program.mpis or mpi.suffix in program.mpis:
                    run_program(report, pdb, mpi, program, folder)
            nested = next(program for program in programs if program.name == "nested")
            run_ways(report, pdb, mpi, nested, folder)
    report.finish()


if __name__ == "__main__":
    main()
