#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The programs in tests/traces, each in a good version and in a bad one, which is another build with its
lines moved: the rank that does something else is the first suspect, and the diff shows the place. And
LAMMPS, with a rank caught in an endless loop."""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading

from jobs.job import Job, ask, ask_job
from jobs.mpi import find_mpis, find_pdb
from jobs.programs import Lammps
from jobs.report import Report, check

SOURCES = os.path.dirname(os.path.abspath(__file__))
SIZE, RANK, STEP = 4, 2, 21
LAMMPS_SIZE, LAMMPS_RANK = 4, 2
TRACE = {"PDB_TRACE": "1048576"}
# What a new version has more of at its top.
MORE_LINES = 7


def read_faults(path):
    """By name, what is expected: of "fault order: place=left seen=..." a dictionary."""
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"^ \* fault (\w+): (.*)$", file.read(), re.MULTILINE)
    return {name: dict(re.findall(r"(\w+)=(\S+)", text)) for name, text in found}


def build(mpi, folder, name, is_new):
    """The program of this name, whose new version is another build with other lines."""
    with open(os.path.join(SOURCES, name + ".c"), encoding="utf-8") as file:
        text = file.read()
    if is_new:
        text = text.replace("#include <mpi.h>", "\n" * MORE_LINES + "#include <mpi.h>")
    source = os.path.join(folder, f"{'new' if is_new else 'old'}", name + ".c")
    os.makedirs(os.path.dirname(source), exist_ok=True)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    binary = os.path.join(folder, f"{name}-{'new' if is_new else 'old'}")
    result = subprocess.run([*mpi.compiler(source), f"-I{SOURCES}", "-o", binary, source],
                            capture_output=True, text=True, check=False)
    check(result.returncode == 0, f"{name} cannot be built: {result.stderr}")
    return binary


def save(pdb, job, path):
    answer = ask_job(pdb, job, f"save {path}")
    check(answer.status in (0, 1) and os.path.exists(path), f"not saved: {answer.show()}")


def run(pdb, mpi, binary, arguments, path, size=SIZE):
    """A job until nobody does anything any more, and its snapshot."""
    command = [*mpi.launcher(size, mpi.recorder, TRACE), binary, *arguments]
    with Job(command, size, mpi.environment()) as job:
        job.wait_until_recorded()
        job.wait_until_quiet()
        save(pdb, job, path)


def read_json(pdb, arguments, command, folder):
    path = os.path.join(folder, "answer.json")
    answer = ask(pdb, [*arguments, "--batch", "-ex", f"{command} > {path}"])
    check(answer.status in (0, 1), f"{command}: {answer.show()}")
    with open(path, encoding="utf-8") as file:
        return json.load(file)["result"]


def look(pdb, bad, command):
    answer = ask(pdb, ["--load", bad, "--batch", "-ex", command])
    check(answer.status in (0, 1), f"{command}: {answer.show()}")
    return answer


def check_first(pdb, good, bad, rank):
    answer = look(pdb, bad, f"suspects {good}")
    check(re.match(rf"Most suspicious: rank {rank}, of \d+ traces", answer.first_line),
          f"expected rank {rank}, got {answer.show()}")
    return answer


def check_place(pdb, good, bad, rank, place):
    """It is in a line that both sides do not have, or not as often."""
    answer = look(pdb, bad, f"diff {good}:{rank} {rank}")
    marked = [line for line in answer.output.split("\n") if re.search(r"(^| )[<>|]( |$)", line)]
    check(any(re.search(place, line) for line in marked),
          f"no line that differs has '{place}': {answer.show()}")


def check_fault(pdb, mpi, source, fault, expected):
    with tempfile.TemporaryDirectory(prefix="pdb-test.") as folder:
        good, bad = source.ensure(), os.path.join(folder, "bad.pdb")
        run(pdb, mpi, build(mpi, folder, source.name, True), [fault, str(RANK), str(STEP)], bad)
        keep([good, bad], f"{mpi.name}-{source.name}-{fault}")
        check_first(pdb, good, bad, RANK)
        check_place(pdb, good, bad, RANK, expected["place"])


class Good:
    """The good version of a program under an MPI: run once, for all that is compared with it."""

    def __init__(self, pdb, mpi, folder, name):
        self.pdb, self.mpi, self.name = pdb, mpi, name
        self.folder = os.path.join(folder, f"{mpi.name}-{name}")
        self.path = os.path.join(self.folder, "good.pdb")
        self._lock = threading.Lock()

    def ensure(self):
        with self._lock:
            if not os.path.exists(self.path):
                os.makedirs(self.folder, exist_ok=True)
                run(self.pdb, self.mpi, build(self.mpi, self.folder, self.name, False), [],
                    self.path)
        return self.path


def keep(paths, name):
    """For a person: PDB_KEEP=FOLDER."""
    if os.environ.get("PDB_KEEP"):
        for path in paths:
            shutil.copy(path, os.path.join(os.environ["PDB_KEEP"],
                                           f"{name}-{os.path.basename(path)}"))


def compare(pdb, command):
    """Of files alone: without a job, and whatever jobs there are."""
    answer = ask(pdb, ["--batch", "-ex", command])
    check(answer.status == 0, f"{command}: {answer.show()}")
    return answer


def check_same(pdb, mpi, source):
    """Two builds that do the same have no suspects and nothing that differs."""
    with tempfile.TemporaryDirectory(prefix="pdb-test.") as folder:
        good, new = source.ensure(), os.path.join(folder, "new.pdb")
        run(pdb, mpi, build(mpi, folder, source.name, True), [], new)
        answer = compare(pdb, f"suspects {good} {new}")
        check(answer.first_line.startswith("No rank is suspicious."), f"got {answer.show()}")
        for rank in range(SIZE):
            answer = compare(pdb, f"diff {good}:{rank} {new}:{rank}")
            check("The traces are the same." in answer.output, f"got {answer.show()}")


def check_more_ranks(pdb, mpi, source, fault):
    """On more ranks than the good run had: each is compared with the most similar one."""
    with tempfile.TemporaryDirectory(prefix="pdb-test.") as folder:
        good, bad = source.ensure(), os.path.join(folder, "bad.pdb")
        run(pdb, mpi, build(mpi, folder, source.name, True), [fault, str(RANK), str(STEP)], bad,
            SIZE + 2)
        keep([good, bad], f"{mpi.name}-{source.name}-more")
        answer = check_first(pdb, good, bad, RANK)
        check("compared with" in answer.output, f"got {answer.show()}")


def check_receiver(pdb, mpi):
    """The lattice and the similarities of DiffTrace's first example, as far as calls are recorded."""
    with tempfile.TemporaryDirectory(prefix="pdb-test.") as folder:
        good, bad = os.path.join(folder, "good.pdb"), os.path.join(folder, "bad.pdb")
        run(pdb, mpi, build(mpi, folder, "receiver", False), [], good)
        concepts = read_json(pdb, ["--load", good], "lattice -by call", folder)["concepts"]
        found = {one["ranks"]: one["attributes"] for one in concepts if one["count"]}
        check(found == {"0-3": ["MPI_Init"], "0": ["MPI_Recv"], "1-3": ["MPI_Send"]},
              f"concepts {found}")
        similar = read_json(pdb, ["--load", good], "similar -by call", folder)
        values = dict(zip(similar["rows"], similar["similarity"]))
        check(sorted(values) == ["0", "1-3"], f"rows {similar['rows']}")
        check(sorted(values["0"]) == [0.333333, 1], f"similarity {values}")
        check_picture(pdb, good, folder)
        run(pdb, mpi, build(mpi, folder, "receiver", True), ["twice", "3", "0"], bad)
        check_first(pdb, good, bad, 3)


def check_picture(pdb, good, folder):
    for command, name in (("lattice", "lattice.svg"), ("similar", "similar.svg"),
                          ("diff 0 1", "diff.svg"), ("diff 0 1", "diff.dot")):
        path = os.path.join(folder, name)
        answer = ask(pdb, ["--load", good, "--batch", "-ex", f"{command} > {path}"])
        check(answer.status in (0, 1) and os.path.getsize(path) > 300,
              f"{command}: {answer.show()}")


class HeldLammps(Lammps):
    """It ends its steps, all ranks together, and waits before MPI_Finalize."""

    def prepare(self, folder, size, is_endless):
        arguments = super().prepare(folder, size, is_endless)
        with open(os.path.join(folder, "in.melt"), "a", encoding="utf-8") as file:
            file.write("\nshell sleep 1000\n")
        return arguments

    steps = 200


def check_lammps(pdb, mpi, tool):
    """A rank does not come back from a function: its trace ends before those of the others."""
    held, endless = HeldLammps(), Lammps()
    with tempfile.TemporaryDirectory(prefix="pdb-test.") as folder:
        good, bad = os.path.join(folder, "good.pdb"), os.path.join(folder, "bad.pdb")
        with held.start(mpi, LAMMPS_SIZE, True, env=TRACE) as job:
            job.wait_for_line("Loop time of")
            job.wait_until_quiet()
            save(pdb, job, good)
        with endless.start(mpi, LAMMPS_SIZE, True, is_endless=True, env=TRACE) as job:
            endless.wait_until_working(job)
            command = [tool, "--timeout", "60", str(job.pids[LAMMPS_RANK]), endless.functions[0]]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            check(result.returncode == 0, f"nothing was injected: {result.stderr}")
            job.wait_until_quiet()
            save(pdb, job, bad)
        keep([good, bad], f"{mpi.name}-LAMMPS")
        check_first(pdb, good, bad, LAMMPS_RANK)


def add_all(report, pdb, mpi, folder, tool):
    if mpi.suffix == "openmpi" and shutil.which("lmp"):
        report.add(f"{mpi.name} LAMMPS", check_lammps, pdb, mpi, tool)
    report.add(f"{mpi.name} receiver", check_receiver, pdb, mpi)
    for name in ("oddeven", "stencil"):
        source = Good(pdb, mpi, folder, name)
        report.add(f"{mpi.name} {name} in two builds", check_same, pdb, mpi, source)
        for fault, expected in read_faults(os.path.join(SOURCES, name + ".c")).items():
            report.add(f"{mpi.name} {name} {fault}", check_fault, pdb, mpi, source, fault, expected)
    report.add(f"{mpi.name} stencil on more ranks", check_more_ranks, pdb, mpi, source, "order")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--mpi", action="append")
    options = parser.parse_args()
    pdb, report = find_pdb(options.build), Report()
    tool = os.path.abspath(os.path.join(options.build, "inject"))

    with tempfile.TemporaryDirectory(prefix="pdb-test.") as folder:
        for mpi in find_mpis(options.build, options.mpi):
            add_all(report, pdb, mpi, folder, tool)
        report.finish()


if __name__ == "__main__":
    main()
