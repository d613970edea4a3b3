# SPDX-License-Identifier: BSD-3-Clause
"""The programs of a campaign, all from Debian's packages, with inputs that keep them going for as long
as a run takes, or, for tests/bench/programs.py, some seconds. Most are built for Open MPI alone."""

import gzip
import os
import re
import shutil
import subprocess

from jobs.programs import FOREVER, Hpl, Lammps, RealProgram

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inputs")
_BUILD = os.path.abspath(os.environ.get("CAMPAIGN_BUILD", "build/tests"))


class CampaignProgram(RealProgram):
    """By default there for Open MPI, with any number of ranks."""

    # A pattern of the names of files that are the program's own code; None: all that is not MPI,
    # system or mathematics.
    modules = None
    needs = ()  # files that must be there
    mpis = ("openmpi",)
    events = 200  # of each rank, after which its main part has begun
    steps = 0  # of a run that is not endless
    is_timed = True  # bench/programs.py
    env = {}  # for the ranks
    losable = {}

    def is_there(self, mpi):
        return (mpi.suffix in self.mpis and shutil.which(self.command_for(mpi)[0]) is not None
                and all(os.path.exists(path) for path in self.needs))

    def takes(self, _size):
        return True

    def command_for(self, _mpi):
        return self.command

    def wait_until_working(self, job):
        job.wait_until_recorded(events=self.events)

    def start(self, mpi, *arguments, env=None, **options):
        self.command = self.command_for(mpi)
        return super().start(mpi, *arguments, env={**self.env, **(env or {})}, **options)

    @staticmethod
    def write(folder, name, text):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


class LammpsPair(CampaignProgram, Lammps):
    name = "LAMMPS pair"
    needs = (Lammps.example,)
    steps = 8000
    modules = None
    wait_until_working = CampaignProgram.wait_until_working
    losable = Lammps.losable


class LammpsGranular(LammpsPair):
    """Grains poured into a box, with friction that has a history."""

    name = "LAMMPS granular"
    example = "/usr/share/lammps/examples/pour/in.pour"
    needs = (example,)
    steps = 50000

    def prepare(self, folder, size, is_endless):
        with open(self.example, encoding="utf-8") as file:
            text = file.read()
        text = text[:re.search(r"(?m)^run\s", text).start()].replace("thermo\t\t1000", "thermo 100")
        with open(os.path.join(folder, "in.pour"), "w", encoding="utf-8") as file:
            file.write(f"{text}\nrun {FOREVER if is_endless else self.steps}\n")
        return ["-in", "in.pour", "-log", "none"]


class LammpsLongRange(LammpsPair):
    """A peptide in water: long-range forces by FFTs over all ranks, constraints."""

    name = "LAMMPS long-range"
    folder = "/usr/share/lammps/examples/peptide"
    example = folder + "/in.peptide"
    needs = (example, folder + "/data.peptide")
    steps = 1000

    def prepare(self, folder, size, is_endless):
        shutil.copy(self.needs[1], folder)
        with open(self.example, encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(folder, "in.peptide"), "w", encoding="utf-8") as file:
            file.write(re.sub(r"(?m)^run\s.*$", f"run {FOREVER if is_endless else self.steps}", text))
        return ["-in", "in.peptide", "-log", "none"]


def grid_of(size):
    """Rows and columns, as near to each other as can be."""
    rows = next(rows for rows in range(int(size ** 0.5), 0, -1) if size % rows == 0)
    return rows, size // rows


class CampaignHpl(CampaignProgram, Hpl):
    needs = (Hpl.example,)
    rows = 1200
    modules = None
    losable = Hpl.losable
    wait_until_working = Hpl.wait_until_working

    def prepare(self, folder, size, is_endless):
        """Every variant many times, so that it lasts as long as a run, however fast the machine is."""
        arguments = super().prepare(folder, size, is_endless)
        if not is_endless:
            return arguments
        path = os.path.join(folder, "hpccinf.txt")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for values, name in (("2 4", "NBMINs"), ("0 1", "DEPTHs")):
            text = text.replace(f"2 number of {name}\n{values} {name}",
                                f"20 number of {name}\n{' '.join([values] * 10)} {name}")
        self.write(folder, "hpccinf.txt", text)
        return arguments


class Ptrans(CampaignHpl):
    """The parts of hpcc before HPL: transposes of a matrix over a grid of ranks, many of them, and before
    that, which takes long on a loaded machine, accesses to a table that is spread over the ranks."""

    name = "PTRANS"
    losable = {}
    steps = 6  # sizes
    is_timed = False  # it is the program that HPL is of
    wait_until_working = CampaignProgram.wait_until_working

    def prepare(self, folder, size, is_endless):
        super().prepare(folder, size, is_endless)
        rows, columns = grid_of(size)
        path = os.path.join(folder, "hpccinf.txt")
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        grids = next(number for number, line in enumerate(lines) if "process grids" in line)
        lines[grids:grids + 3] = ["2 process grids", f"{rows} " * 2 + "Ps", f"{columns} " * 2 + "Qs"]
        at = next(number for number, line in enumerate(lines) if line.startswith("#####")) + 1
        sizes = [str(1000 + 10 * number) for number in range(18 if is_endless else self.steps)]
        blocks = ["40", "16", "24", "32"] * 5
        lines[at:] = [f"{len(sizes)} sizes for PTRANS", " ".join(sizes) + " values of N",
                      f"{len(blocks)} blocking sizes", " ".join(blocks) + " values of NB", ""]
        self.write(folder, "hpccinf.txt", "\n".join(lines))
        return []


class Scalapack(CampaignProgram):
    """Its own test of Cholesky's factorization, with many sizes of matrix and block. In Fortran, on
    BLACS in C. Without the check of condition numbers, which does not end in Debian's build."""

    name = "ScaLAPACK"
    folder = "/usr/lib/x86_64-linux-gnu/scalapack"
    mpis = ("openmpi", "mpich")
    modules = "^(xdllt|libscalapack)"
    steps = 4  # grids

    def command_for(self, mpi):
        return (f"{self.folder}/{mpi.suffix}-tests/xdllt",)

    def prepare(self, folder, size, is_endless):
        def numbers(values, what):
            return f"{len(values)} number of {what}\n{' '.join(map(str, values))} {what}\n"

        rows, columns = grid_of(size)
        grids = 8 if is_endless else self.steps
        self.write(folder, "LLT.dat", "'Input'\n'MPI'\n'LLT.out' file\n6 device\n'U' half\n" +
                   numbers([100 + 10 * number for number in range(20)], "sizes") +
                   numbers([8, 12, 16, 20, 24, 28, 32], "blocks") +
                   numbers([1, 3, 4, 9], "right-hand sides") + numbers([3, 5, 8, 10], "their blocks") +
                   f"{grids} grids\n{' '.join([str(rows)] * grids)} P\n{' '.join([str(columns)] * grids)} Q\n" +
                   "1000.0 threshold\nF check\n")
        return []


class Mumps(CampaignProgram):
    """Its own test, on a matrix that takes long: Poisson's equation in a cube. Polls for messages."""

    name = "MUMPS"
    program = "/usr/lib/mumps/dsimpletest"
    needs = (program,)
    modules = "mumps|^dsimpletest"
    edge = 64
    steps = 42  # edge of the cube
    events = 30

    def command_for(self, _mpi):
        # Rank 0 reads the matrix from its standard input.
        return "sh", "-c", f"exec {self.program} <matrix"

    def prepare(self, folder, size, is_endless):
        edge = self.edge if is_endless else self.steps
        number = edge ** 3
        lines = []
        for row in range(number):
            lines.append(f"{row + 1} {row + 1} 6.5")
            for step, place in ((1, row % edge), (edge, row // edge % edge),
                                (edge * edge, row // edge // edge)):
                if place + 1 < edge:
                    lines.append(f"{row + 1} {row + step + 1} -1.0")
                    lines.append(f"{row + step + 1} {row + 1} -0.9")
        right = "\n".join(["1.0"] * number)
        self.write(folder, "matrix", f"{number} :N\n{len(lines)} :NZ\n" + "\n".join(lines) +
                   f"\n{right}\n")
        return []


class Petsc(CampaignProgram):
    """An example of its time steppers: reaction and diffusion in a plane, solved implicitly. Built by
    the Makefile, from the source in the package of examples."""

    name = "PETSc"
    command = (f"{_BUILD}/campaign/petsc",)
    steps = 1200

    def prepare(self, folder, size, is_endless):
        return ["-ts_max_steps", str(FOREVER if is_endless else self.steps), "-ts_max_time", "1e30", "-ts_adapt_type", "none",
                "-da_grid_x", "48", "-da_grid_y", "48"]


class Python(CampaignProgram):
    """A program in Python of our own, with mpi4py and numpy. Its functions are the interpreter's."""

    name = "mpi4py"
    steps = 80000
    command = ("/usr/bin/python3",)
    needs = ("/usr/lib/python3/dist-packages/mpi4py", "/usr/lib/python3/dist-packages/numpy")

    def prepare(self, folder, size, is_endless):
        return [os.path.join(INPUTS, "heat.py"), *([] if is_endless else [str(self.steps)])]


class Espresso(CampaignProgram):
    """Quantum ESPRESSO: two atoms of silicon that move, self-consistently in each step. In Fortran."""

    name = "Quantum ESPRESSO"
    command = ("pw.x",)
    potential = "/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz"
    needs = (potential,)
    env = {"OMP_NUM_THREADS": "1"}
    steps = 180

    def takes(self, size):
        # Of 32 ranks some have no part of its grid, and it stops.
        return size <= 16

    def prepare(self, folder, size, is_endless):
        with gzip.open(self.potential, "rt", encoding="utf-8") as file:
            self.write(folder, "Si.UPF", file.read())
        with open(os.path.join(INPUTS, "silicon.in"), encoding="utf-8") as file:
            text = file.read()
        if not is_endless:
            text = re.sub(r"nstep=\d+", f"nstep={self.steps}", text)
        self.write(folder, "silicon.in", text)
        return ["-in", "silicon.in"]


class Nwchem(CampaignProgram):
    """Hartree and Fock's method for a molecule of water, over and over. In Fortran, on one-sided
    communication of its own."""

    name = "NWChem"
    mpis = ("openmpi", "mpich")
    tasks = 5000
    # What it takes to see each call path for the first time, 0.06 s, is the same in a long run.
    steps = 180

    def command_for(self, mpi):
        return (f"nwchem.{mpi.suffix}",)

    def prepare(self, folder, size, is_endless):
        with open(os.path.join(INPUTS, "water.nw"), encoding="utf-8") as file:
            head, task = file.read().split("# again\n")
        self.write(folder, "water.nw", head + task * (self.tasks if is_endless else self.steps))
        return ["water.nw"]


class Openfoam(CampaignProgram):
    """OpenFOAM: the flow in a cavity whose lid moves, in parts along one direction. In C++."""

    name = "OpenFOAM"
    command = ("icoFoam",)
    env = {"WM_PROJECT_DIR": "/usr/share/openfoam"}
    steps = 8000
    needs = tuple(env.values())

    def prepare(self, folder, size, is_endless):
        shutil.copytree(os.path.join(INPUTS, "cavity"), folder, dirs_exist_ok=True)
        path = os.path.join(folder, "system", "decomposeParDict")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.write(folder, "system/decomposeParDict", text.replace("SIZE", str(size)))
        if not is_endless:
            path = os.path.join(folder, "system", "controlDict")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            self.write(folder, "system/controlDict",
                       re.sub(r"endTime [\d.e]+;", f"endTime {self.steps * 0.005:g};", text))
        for tool in ("blockMesh", "decomposePar"):
            subprocess.run([tool], cwd=folder, env={**os.environ, **self.env}, check=True,
                           stdout=subprocess.DEVNULL)
        return ["-parallel"]


class Uneven(CampaignProgram):
    """Programs of our own (tests/watch/uneven.c) in which all wait for one rank nearly always, and nobody
    hangs: with short steps and long ones."""

    mpis = ("openmpi", "mpich")
    events = 8
    is_timed = False

    def __init__(self, kind, seconds):
        self.name = f"{kind} {seconds} s"
        self.arguments = [kind, str(seconds)]
        self.has_collectives = kind in ("imbalance", "alone")
        self.is_polling = kind == "master"

    def command_for(self, mpi):
        return (f"{_BUILD}/watch/uneven-{mpi.suffix}",)

    def prepare(self, folder, size, is_endless):
        return self.arguments


UNEVEN = tuple(Uneven(kind, seconds) for seconds in (0.3, 3)
               for kind in ("imbalance", "alone", "pipeline", "master"))
PROGRAMS = (LammpsPair(), CampaignHpl(), LammpsGranular(), LammpsLongRange(), Ptrans(), Scalapack(),
            Petsc(), Python(), Espresso(), Openfoam(), Mumps(), Nwchem(),
            *UNEVEN)
