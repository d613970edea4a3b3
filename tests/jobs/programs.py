# SPDX-License-Identifier: BSD-3-Clause
"""Real programs from Debian's packages, built for Open MPI: LAMMPS and HPL (in hpcc). They know
nothing of pdb, and most have no debug information."""

import os
import re
import shutil
import tempfile

from .job import Job, JobError

FOREVER = 100000000


class RealProgram:
    """Started in a folder of its own, which is removed with the job."""

    name = ""
    command = ()
    # Functions of the program that each rank calls over and over; the place of the fault.
    functions = ()
    # Where a rank may be caught at a random place: these libraries, "" for the program itself.
    modules = ()
    # Which of its messages hang it when they are lost: variables of tests/fault/fault.c.
    losable = {}
    # Whether its main part calls collectives, which may be left out.
    has_collectives = True
    # Whether it polls for the messages, so that nothing about them is certain.
    is_polling = False

    def prepare(self, folder, size, is_endless):
        """Write the input files. Returns the arguments."""
        raise NotImplementedError

    def wait_until_working(self, job, is_recorded=True):
        """Until the main part of the program has begun in all ranks."""
        raise NotImplementedError

    def start(self, mpi, size, preload, is_endless=False, fault=None, env=None,
              segment_dir="/dev/shm"):
        """`fault` is the path of a library to be in front of the recorder (tests/fault), `env` are
        more variables for the ranks."""
        folder = tempfile.mkdtemp(prefix="pdb-test.")
        try:
            arguments = self.prepare(folder, size, is_endless)
            libraries = ":".join([*([fault] if fault else []), *([mpi.recorder] if preload else [])])
            launcher = mpi.launcher(size, libraries,
                                    {**(self.losable if fault else {}), **(env or {})})
            job = _FolderJob([*launcher, *self.command, *arguments], size, mpi.environment(),
                             folder, segment_dir)
        except BaseException:
            shutil.rmtree(folder)
            raise
        return job


class _FolderJob(Job):
    def __init__(self, command, size, env, folder, segment_dir):
        self.folder = folder
        super().__init__(command, size, env, cwd=folder, segment_dir=segment_dir)

    def end(self):
        super().end()
        shutil.rmtree(self.folder, ignore_errors=True)


class Lammps(RealProgram):
    """Molecular dynamics: the Lennard-Jones melt of its examples, with more steps."""

    name = "LAMMPS"
    command = ("lmp",)
    example = "/usr/share/lammps/examples/melt/in.melt"
    steps = 5000
    functions = tuple("LAMMPS_NS::" + name for name in (
        "PairLJCut::compute", "FixNVE::initial_integrate", "FixNVE::final_integrate",
        "NBinStandard::bin_atoms", "AtomVec::unpack_reverse", "CommBrick::exchange", "Neighbor::decide",
        "AtomVec::pack_comm", "Thermo::compute"))
    modules = ("liblammps",)
    # Each sum comes after as many messages, the last of which no later one is taken for.
    losable = {"PDB_FAULT_LAST": "1"}
    output_steps = 20

    def prepare(self, folder, size, is_endless):
        with open(self.example, encoding="utf-8") as file:
            text = file.read()
        steps = FOREVER if is_endless else self.steps
        lines = [f"thermo {self.output_steps}", *(["thermo_modify flush yes"] if is_endless else []),
                 f"run {steps}"]
        with open(os.path.join(folder, "in.melt"), "w", encoding="utf-8") as file:
            file.write(re.sub(r"(?m)^run\s.*$", "\n".join(lines), text))
        return ["-in", "in.melt", "-log", "none"]

    def wait_until_working(self, job, is_recorded=True):
        if is_recorded:
            job.wait_until_recorded(events=500)
            return
        job.find_pids()
        # Of the table with a line for each so many steps: the step and the temperature.
        job.wait_for(lambda: sum(bool(re.match(r"\s*\d+ +[0-9.]+ ", line))
                                 for line in job.output()) > 3, "LAMMPS did not begin")

    def read_seconds(self, job):
        """Of a run that has ended: the seconds that the program itself says its work took."""
        for line in job.output():
            match = re.match(r"Loop time of ([0-9.]+) on", line)
            if match:
                return float(match.group(1))
        raise JobError("LAMMPS did not say how long it took")


class Hpl(RealProgram):
    """Linpack: one small problem solved with every variant that HPL knows. The problem is small
    because hpcc runs other benchmarks before, sized by it."""

    name = "HPL"
    command = ("hpcc",)
    example = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
    rows = 800
    functions = ("cblas_dgemm", "cblas_dtrsm", "cblas_idamax")
    modules = ("",)
    # A panel's: each has a tag of its own, unlike those within a panel and of the pivots.
    losable = {"PDB_FAULT_TAGS": "2001-3000"}
    has_collectives = False
    is_polling = True

    def prepare(self, folder, size, is_endless):
        rows = next(rows for rows in range(int(size ** 0.5), 0, -1) if size % rows == 0)
        numbers = {
            "Ns": "400" if is_endless else str(self.rows), "NBs": "80 64 48" if is_endless else "80", "Ps": str(rows), "Qs": str(size // rows),
            "PFACTs": "0 1 2", "NBMINs": "2 4", "RFACTs": "0 1 2",
            "BCASTs": "0 1 2 3 4 5" if is_endless else "1", "DEPTHs": "0 1",
        }
        with open(self.example, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for number, line in enumerate(lines):
            word = line.split()[1] if len(line.split()) > 1 else ""
            if word in numbers and number < 30:
                lines[number] = f"{numbers[word]} {word}"
                # Above all but the sizes of the grid stands how many values there are.
                if word not in ("Ps", "Qs"):
                    lines[number - 1] = f"{len(numbers[word].split())} number of {word}"
        with open(os.path.join(folder, "hpccinf.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        return []

    def _read_output(self, job):
        try:
            with open(os.path.join(job.folder, "hpccoutf.txt"), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def wait_until_working(self, job, is_recorded=True):
        if is_recorded:
            job.wait_until_recorded()
        else:
            job.find_pids()
        # The first solved system shows that the part before it is over in all ranks.
        job.wait_for(lambda: re.search(r"(?m)^W[RC]\d", self._read_output(job)),
                     "HPL did not begin")


PROGRAMS = (Lammps(), Hpl())
