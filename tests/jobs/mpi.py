# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries that tests run with: how to build for them and how to start a job."""

import os
import shutil
import subprocess

from .place import Here, Hosts, spread

# What lets Open MPI 4 and 5 start as root, in containers and roots that have no other user.
AS_ROOT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


class Mpi:
    """One installed MPI, by Debian's suffix of its commands, and where jobs run."""

    takes_options = True  # for its launcher
    binding = "none"  # of Open MPI's ranks: most jobs of tests have more than there are processors
    starts = 1  # that may be needed for one job

    def __init__(self, suffix, build, place=Here(), name=None):
        self.suffix = suffix
        self.place = place
        self.recorder = os.path.abspath(os.path.join(build, f"libpdbrec-{suffix}.so"))
        self.name = name or suffix
        if suffix == "openmpi" and not name:
            version = subprocess.run(["mpirun.openmpi", "--version"], capture_output=True,
                                     text=True, env=self.environment()).stdout
            self.name += version.split(")")[1].split()[0].split(".")[0]

    @staticmethod
    def environment():
        return {**os.environ, **AS_ROOT}

    def compiler(self, source):
        """The command that builds a program from this source, without its name."""
        ending = os.path.splitext(source)[1]
        command = {".c": "mpicc", ".cpp": "mpicxx", ".f": "mpif90", ".f90": "mpif90"}[ending]
        # gfortran 12 has no attribute that keeps a function from being inlined.
        flags = ["-fno-inline"] if command == "mpif90" else []
        return [f"{command}.{self.suffix}", "-O2", "-g", *flags]

    def launcher(self, size, preload=None, env=None, options=()):
        """The command that starts `size` ranks, to be followed by program and arguments."""
        variables = dict(env or {})
        if preload:
            variables["LD_PRELOAD"] = preload
        if self.suffix == "openmpi":
            command = ["mpirun.openmpi", "--bind-to", self.binding, *self._place_openmpi(size),
                       *options, "-n", str(size)]
            for name, value in variables.items():
                command += ["-x", f"{name}={value}"]
        else:
            hosts = ["-hosts", self._spread(size)] if self.place.names else []
            command = [f"mpiexec.{self.suffix}", *hosts, *options, "-n", str(size)]
            for name, value in variables.items():
                command += ["-genv", name, value]
        return command

    def _place_openmpi(self, size):
        if not self.place.names:
            # All ranks are on this node; TCP would only complain of having no network.
            return ["--oversubscribe", "--mca", "btl", "^tcp"]
        # Each host says that it has as many cores as ranks, but they are all the same few. Of Open MPI
        # 4's ways to windows one takes no TCP, and then refuses them all.
        return ["--host", self._spread(size), "--mca", "mpi_yield_when_idle", "1",
                "--mca", "osc", "^ucx"]

    def _spread(self, size):
        return ",".join(f"{host}:{number}" for host, number in spread(self.place.names, size))


class Srun(Mpi):
    """The same MPI with Slurm's srun as launcher, on so many of the nodes of tests/slurm/slurm.sh -x, one
    rank after the other on another."""

    takes_options = False
    # Started by Slurm's PMIx, ranks of Open MPI 4 crash in MPI_Init in some of a hundred jobs on a
    # loaded machine, recorded or not.
    starts = 4

    def __init__(self, mpi, nodes):
        self.__dict__.update(mpi.__dict__)
        self.place = Hosts()
        self.nodes = nodes

    def launcher(self, size, preload=None, env=None, _options=()):
        plugin = "pmix_v4" if self.suffix == "openmpi" else "pmi2"
        # Of Open MPI 4's ways to windows one takes no TCP, and then refuses them all.
        variables = {"OMPI_MCA_osc": "^ucx", **(env or {}),
                     **({"LD_PRELOAD": preload} if preload else {})}
        # Commas separate variables. Srun itself is not to have them.
        exports = ",".join(["ALL", *(f"{name}={value}" for name, value in variables.items())])
        each = -(-size // self.nodes)
        return ["srun", f"--mpi={plugin}", f"--export={exports}", "--nodes", str(self.nodes),
                "--distribution=cyclic", "--ntasks-per-node", str(each), "--ntasks", str(size)]


def find_mpis(build, wanted=None, place=Here()):
    """Those that are installed here, of those wanted (None: all)."""
    mpis = [Mpi(suffix, build, place) for suffix in ("openmpi", "mpich")
            if shutil.which(f"mpicc.{suffix}") and shutil.which(f"mpiexec.{suffix}")]
    return [mpi for mpi in mpis if not wanted or mpi.suffix in wanted or mpi.name in wanted]


def find_pdb(build):
    """The program under test: $PDB, or the one in the build directory."""
    return os.path.abspath(os.environ.get("PDB") or os.path.join(build, "pdb"))
