# SPDX-License-Identifier: BSD-3-Clause
"""MPIs that Debian does not have, from wheels: each in a virtual environment of its own, kept from
run to run."""

import glob
import os
import shlex
import shutil
import subprocess
import sys

from jobs.mpi import Mpi

_INSTALL_S = 240


class Missing(Exception):
    """Why packages cannot be had."""


class Family:
    """Wheels, by the names of their packages, and how tests know an MPI in them."""

    def __init__(self, label, packages, suffix, name, launcher, launch=(), library="mpi", flags=()):
        self.label, self.packages = label, packages
        self.library, self.flags = library, flags  # what programs are linked to, and compiled with
        self.launcher = launcher  # what pdb calls it
        self.suffix = suffix  # of the recorder
        self.name = name  # by which programs say what is expected
        self.launch = launch


_INTEL = (("impi-rt", "impi-devel"), "Intel MPI mpiexec (hydra)")
_MPICH = (("mpich>=5",), "MPICH mpiexec (hydra)")
# MPI's own ABI.
_ABI = {"library": "mpi_abi", "flags": ("-DMPI_ABI",)}
FAMILIES = (
    Family("intel", _INTEL[0], "mpich", "mpich", _INTEL[1]),
    Family("intel-abi", _INTEL[0], "abi", "mpich", _INTEL[1], **_ABI),
    Family("mpich", _MPICH[0], "mpich", "mpich", _MPICH[1]),
    Family("mpich-abi", _MPICH[0], "abi", "mpich", _MPICH[1], **_ABI),
    Family("openmpi", ("openmpi>=5",), "openmpi", "openmpi5", "Open MPI 5.0",
           ("--oversubscribe", "--bind-to", "none", "--mca", "btl", "^tcp")),
)


def install(build, packages):
    """The environment with these packages, made if it is not there, or was made elsewhere or by
    another Python: its commands name both. Raises Missing."""
    root = os.path.abspath(os.path.join(build, "mpis", packages[0].split(">")[0]))
    mark, wanted = os.path.join(root, "packages"), "\n".join((root, sys.version, *packages))
    try:
        with open(mark, encoding="utf-8") as file:
            if file.read() == wanted:
                return root
    except FileNotFoundError:
        pass
    shutil.rmtree(root, ignore_errors=True)
    _run([sys.executable, "-m", "venv", root])
    _pip(root, "install", *packages)
    with open(mark, "w", encoding="utf-8") as file:
        file.write(wanted)
    return root


def install_mpi4py(root):
    """mpi4py in an environment, and the folder with its own tests, which only its source package
    has. Raises Missing."""
    tests = os.path.join(root, "mpi4py", "test")
    if not os.path.isdir(tests):
        source = os.path.join(root, "mpi4py")
        shutil.rmtree(source, ignore_errors=True)
        _pip(root, "install", "mpi4py")
        _pip(root, "download", "--no-deps", "--no-binary", "mpi4py", "--dest", source, "mpi4py")
        archive, = glob.glob(os.path.join(source, "*.tar.gz"))
        shutil.unpack_archive(archive, source)
        os.rename(*glob.glob(os.path.join(source, "mpi4py-*", "test")), tests)
    return tests


def _pip(root, command, *arguments):
    _run([os.path.join(root, "bin", "pip"), command, "--quiet", "--retries", "1",
          "--disable-pip-version-check", *arguments])


def _run(command):
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=_INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        raise Missing(f"{command[0]} did not end in {_INSTALL_S} s") from None
    if result.returncode != 0:
        lines = (result.stdout + result.stderr).strip().split("\n")
        raise Missing(lines[-1] or f"{command[0]} has failed")


class WheelMpi(Mpi):
    """The MPI of a wheel, started by its own launcher."""

    def __init__(self, family, root, build):
        super().__init__(family.suffix, build, name=family.name)
        self.family, self.root = family, root
        self.label = family.label
        self.folder = os.path.join(root, "programs", self.label)
        os.makedirs(self.folder, exist_ok=True)

    def version(self):
        package = self.family.packages[0].split(">")[0]
        result = subprocess.run([os.path.join(self.root, "bin", "pip"), "list", "--format=freeze"],
                                capture_output=True, text=True, check=True)
        return next(line.split("==")[1] for line in result.stdout.split("\n")
                    if line.startswith(package + "=="))

    def environment(self):
        path = os.path.join(self.root, "bin") + os.pathsep + os.environ["PATH"]
        return {**super().environment(), "PATH": path, "I_MPI_ROOT": self.root}

    def compiler(self, source):
        """Without the wheel's own compiler commands, which want more than they need."""
        command = {".c": "gcc", ".cpp": "g++"}[os.path.splitext(source)[1]]
        libraries = os.path.join(self.root, "lib")
        return [command, "-O2", "-g", *self.family.flags, "-I" + os.path.join(self.root, "include"),
                "-L" + libraries, "-Wl,--no-as-needed,-rpath," + libraries,
                "-l" + self.family.library]

    def launcher(self, size=None, preload=None, env=None, options=()):
        variables = {**(env or {}), **({"LD_PRELOAD": preload} if preload else {})}
        command = [os.path.join(self.root, "bin", "mpirun"), *self.family.launch, *options,
                   *(["-n", str(size)] if size else [])]
        for name, value in variables.items():
            command += (["-x", f"{name}={value}"] if self.suffix == "openmpi"
                        else ["-genv", name, value])
        return command

    def make_commands(self):
        """A folder for PATH, in which this MPI is the one that tests know by its suffix."""
        folder = os.path.join(self.folder, "commands")
        os.makedirs(folder, exist_ok=True)
        for name, source in (("mpicc", "x.c"), ("mpicxx", "x.cpp")):
            command, *flags = self.compiler(source)
            _write_script(os.path.join(folder, f"{name}.{self.suffix}"), [command, "-w"], flags)
        _write_script(os.path.join(folder, "mpiexec.hydra"),
                      [os.path.join(self.root, "bin", "mpiexec.hydra")])
        return folder


def _write_script(path, before, behind=()):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec {shlex.join(before)} \"$@\" {shlex.join(behind)}\n")
    os.chmod(path, 0o755)
