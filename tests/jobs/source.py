# SPDX-License-Identifier: BSD-3-Clause
"""The small programs in tests/mpi: what their first lines say of them, and how they are built."""

import copy
import glob
import os
import re
import subprocess
import threading

from .report import Failure, check

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mpi")
_SHARED = [os.path.join(SOURCES, name) for name in ("fault.h", "fault.fi")]
_HEAD_LINES = 14


class Program:
    """A source file and what it says of itself in its first lines (docs/testing.md)."""

    def __init__(self, path):
        self.path = path
        self.name, self.ending = os.path.splitext(os.path.basename(path))
        self.label = os.path.relpath(path, SOURCES)
        with open(path, encoding="utf-8") as file:
            head = "".join(file.readlines()[:_HEAD_LINES])
        self.expect = " ".join(_directives(head, "expect"))
        self.expect_under = {name: " ".join(_directives(head, f"expect {name}"))
                             for name in ("openmpi4", "openmpi5", "mpich")}
        # A pattern each, to be found in the answer.
        self.says = [one.strip() for line in _directives(head, "says") for one in line.split(";")]
        ranks = " ".join(_directives(head, "ranks")).split()
        self.ranks = [tuple(int(part) for part in pair.split(":")) for pair in ranks]
        self.mpis = " ".join(_directives(head, "mpi")).split()
        self.flags = " ".join(_directives(head, "flags")).split()
        # More options of the launcher, by MPI.
        self.launch = {line.split()[0]: line.split()[1:] for line in _directives(head, "launch")}
        # A library of tests/fault that is behind the recorder: what it loses has left the program.
        self.below = " ".join(_directives(head, "below"))
        self._lock = threading.Lock()
        check(self.expect and self.ranks, f"{path} does not say what is expected")

    @property
    def is_healthy(self):
        return self.expect == "none"

    @property
    def has_slow_twin(self):
        return os.path.dirname(self.label) == "waits"

    @property
    def is_alone(self):
        """Ranks whose threads wake each other leave next to nothing of the processors to ranks that
        yield while they wait, those of another job among them (seen with Linux 6.18). Nor may those of
        Open MPI 5, whose threads wake each other all the time, yield themselves: a few steps of
        theirs have taken minutes. They say so with `launch:`."""
        return "-pthread" in self.flags

    def under(self, mpi):
        """The same program, if something else is expected under this MPI with that."""
        program = copy.copy(self)
        program.expect = self.expect_under[mpi.name] or self.expect
        return program

    def runs_with(self, mpi):
        if mpi.name in self.launch and not mpi.takes_options:
            return False
        return not self.mpis or mpi.suffix in self.mpis or mpi.name in self.mpis

    def expected(self, word):
        match = re.search(rf"\b{word}=(\S+)", self.expect)
        return match.group(1) if match else None

    def expected_ranks(self, word, size, rank):
        """Those that expressions like "R-1,R" stand for, sorted; None if nothing is stated."""
        text = self.expected(word)
        if text is None:
            return None
        if text in _SETS:
            return list(_SETS[text](size))
        return sorted(_evaluate(one, size, rank) for one in text.split(","))

    def expected_words(self, size, rank):
        """Patterns of `says:`, with {R+1} and the like replaced."""
        return [re.sub(r"\{(\w[^}]*)\}", lambda match: str(_evaluate(match.group(1), size, rank)),
                       one) for one in self.says]

    def build(self, mpi, folder):
        """The command that a launcher is to run. Built only if it is not there yet."""
        if self.ending == ".py":
            return ["/usr/bin/python3", self.path]
        binary = os.path.join(folder, self.label.replace(os.sep, "-").removesuffix(self.ending))
        with self._lock:
            if _is_older(binary, [self.path, *_SHARED]):
                result = subprocess.run(
                    [*mpi.compiler(self.path), *self.flags, f"-I{SOURCES}", "-o", binary, self.path],
                    cwd=folder, capture_output=True, text=True, check=False)
                if result.returncode != 0:
                    raise Failure(f"{self.label} cannot be built: {result.stderr}")
        return [binary]


_SETS = {"all": range, "lower": lambda size: range(size // 2)}


def _evaluate(expression, size, rank):
    """R is the faulty rank and N the number of ranks; ranks count round."""
    check(re.fullmatch(r"[RN0-9+*/^-]+", expression), f"'{expression}' stands for no rank")
    # Only digits and operators are left of it, as the check has seen.
    text = expression.replace("/", "//").replace("R", str(rank)).replace("N", str(size))
    return eval(text) % size


def _directives(head, name):
    return re.findall(rf"^[\s*/!#C]*{name}: (.*?)\s*(?:\*/)?$", head, re.MULTILINE)


def _is_older(binary, sources):
    try:
        built = os.path.getmtime(binary)
    except FileNotFoundError:
        return True
    return any(os.path.getmtime(source) >= built for source in sources)


def list_programs():
    paths = glob.glob(os.path.join(SOURCES, "*.*")) + glob.glob(os.path.join(SOURCES, "*", "*.*"))
    return [Program(path) for path in sorted(paths) if path not in _SHARED]


def find_program(name):
    return Program(os.path.join(SOURCES, name))


def build_folder(build, mpi):
    """Where programs for this MPI are built."""
    folder = os.path.abspath(os.path.join(build, "tests", "mpi", mpi.name))
    os.makedirs(folder, exist_ok=True)
    return folder
