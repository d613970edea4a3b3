# SPDX-License-Identifier: BSD-3-Clause
"""The jobs that pdb meets an accident beside: what they print is known, whatever they go through."""

import itertools
import os
import re
import shutil
import tempfile
import threading

from jobs.job import Job, JobError
from jobs.mpi import find_mpis
from jobs.place import Here, Hosts
from jobs.programs import Lammps
from jobs.source import build_folder, find_program

SIZE = 4
_PRINT_EVERY = 100  # of checksum.c
_ENDLESS = "1000000000"
_numbers = itertools.count()
_MASK = (1 << 64) - 1


class Kind:
    """One kind of job: a program under an MPI, with or without the recorder, here or on hosts."""

    def __init__(self, mpi, program, how, place=Here()):
        self.mpi, self.program, self.how, self.place = mpi, program, how, place
        self.name = f"{program.name}, {mpi.name}, {how}" + (", 2 hosts" if place.names else "")

    @property
    def is_recorded(self):
        return self.how != "no recorder"

    @property
    def is_traced(self):
        return self.how == "traced"

    def start(self):
        """A job that ends by itself, soon after let_end() or, of some programs, after some seconds."""
        env = {"PDB_TRACE": "1M"} if self.is_traced else {}
        folder = "/dev/shm"
        if not self.place.names:
            folder = tempfile.mkdtemp(prefix="pdb-test.", dir="/dev/shm")
            env["PDB_SEGMENT_DIR"] = folder
        job = self.program.start(self, env, folder)
        try:
            job.find_pids()
            if self.is_recorded:
                job.wait_until_recorded()
        except JobError:
            self.end(job)
            raise
        return job

    def check_end(self, job):
        """Let the job end. What is wrong with its end and with what it has printed: a list."""
        self.program.let_end(job)
        status = job.wait_for_end()
        wrong = [f"the job ended with {status}: {job.output()[-3:]}"] if status else []
        output = sorted(line for line in job.output() if self.program.is_result(line))
        expected = self.program.expected(self, output)
        if output != expected:
            differing = sorted(set(output) ^ set(expected))
            wrong.append(f"the output differs in {len(differing)} lines: {differing[:3]}")
        return wrong

    def end(self, job):
        """Returns the files that it has left in its folder of segments."""
        job.end()
        self.program.clear(job)
        if job.segment_dir == "/dev/shm":
            return []
        left = os.listdir(job.segment_dir)
        shutil.rmtree(job.segment_dir)
        return left


class Checksum:
    """tests/mpi/checksum.c: ranks exchange messages and numbers all the time, until they are told to end."""

    name = "checksum"

    def __init__(self, build):
        self.build = build

    @staticmethod
    def is_result(line):
        return line.startswith("step ")

    def start(self, kind, env, folder):
        command = find_program("checksum.c").build(kind.mpi, build_folder(self.build, kind.mpi))
        recorder = kind.mpi.recorder if kind.is_recorded else None
        # Of all hosts, if there are several.
        end_file = os.path.join(self.build, f"end.{os.getpid()}.{next(_numbers)}")
        job = Job([*kind.mpi.launcher(SIZE, recorder, env), *command, "-1", _ENDLESS, "-1", end_file],
                  SIZE, kind.mpi.environment(), segment_dir=folder, place=kind.place)
        job.end_file = end_file
        return job

    @staticmethod
    def let_end(job):
        with open(job.end_file, "x", encoding="utf-8"):
            pass

    @staticmethod
    def clear(job):
        if os.path.exists(job.end_file):
            os.unlink(job.end_file)

    @staticmethod
    def expected(_kind, lines):
        """Computed here, by the same rule as in checksum.c, up to the last step that was printed."""
        last = max((int(line.split()[1]) for line in lines), default=_PRINT_EVERY)
        return sorted(_checksums(last))


def _checksums(steps):
    values = [rank + 1 for rank in range(SIZE)]
    lines = []
    for step in range(1, steps + 1):
        values = [((values[rank] ^ values[rank - 1]) * 6364136223846793005 + 1442695040888963407 + rank)
                  & _MASK for rank in range(SIZE)]
        mixed = (sum(values) & _MASK) >> 7
        values = [value ^ mixed for value in values]
        if step % _PRINT_EVERY == 0:
            lines += [f"step {step} rank {rank}: {value:016x}" for rank, value in enumerate(values)]
    return lines


class Melt(Lammps):
    """LAMMPS, whose table of temperatures and energies shows each wrong number."""

    steps = 1000

    def __init__(self, seconds):
        self.seconds = seconds
        self._lock = threading.Lock()
        self._runs = {}  # by MPI: steps, lines

    @staticmethod
    def is_result(line):
        return re.match(r"\s*\d+( +-?[0-9.]+){3,}\s*$", line) is not None

    def start(self, kind, env, folder):
        steps, _ = self._measure(kind)
        with self._lock:  # "steps" is for one start at a time
            self.steps = steps
            return Lammps.start(self, kind.mpi, SIZE, kind.is_recorded, env=env, segment_dir=folder)

    @staticmethod
    def let_end(_job):
        """It ends after its steps."""

    @staticmethod
    def clear(_job):
        pass

    def _run(self, kind, steps):
        self.steps = steps
        with Lammps.start(self, kind.mpi, SIZE, False) as job:
            status = job.wait_for_end()
            if status != 0:
                raise JobError(f"LAMMPS alone ended with {status}: {job.output()[-3:]}")
            return self.read_seconds(job), sorted(filter(self.is_result, job.output()))

    def _measure(self, kind):
        with self._lock:
            if kind.mpi.name not in self._runs:
                seconds, _ = self._run(kind, 400)
                steps = max(100, int(400 * self.seconds / seconds) // 100 * 100)
                self._runs[kind.mpi.name] = steps, self._run(kind, steps)[1]
            return self._runs[kind.mpi.name]

    def expected(self, kind, _lines):
        """What it prints without pdb."""
        return self._measure(kind)[1]


def list_kinds(build, seconds, names=None, hosts=0):
    """Those that are there, of these MPIs (None: all): here, or on hosts, which are there already. seconds: how
    long those take that are not told to end."""
    checksum, melt = Checksum(build), Melt(seconds)
    if hosts:
        place = Hosts()
        return [Kind(mpi, checksum, how, place) for mpi in find_mpis(build, ["openmpi"], place)
                for how in ("recorder", "no recorder")]
    kinds = []
    for mpi in find_mpis(build, names):
        hows = ["recorder", "no recorder", *(["traced"] if mpi.suffix == "openmpi" else [])]
        kinds += [Kind(mpi, checksum, how) for how in hows]
        if mpi.suffix == "openmpi" and shutil.which("lmp") and os.path.exists(Lammps.example):
            kinds += [Kind(mpi, melt, how) for how in ("recorder", "no recorder")]
    return kinds
