# SPDX-License-Identifier: BSD-3-Clause
# crash.c in Python: DIRECTORY RANK HOW; HOW is only fault.
import ctypes
import os
import sys
import time

from mpi4py import MPI


class Solver:
    def __init__(self, comm, culprit):
        self.comm = comm
        self.culprit = culprit

    def step(self):
        if self.comm.rank == self.culprit:
            while not os.path.exists("../go"):
                time.sleep(0.01)
            break_down()
        self.comm.Barrier()


def break_down():
    ctypes.string_at(0x4128, 16)


def main():
    comm = MPI.COMM_WORLD
    os.chdir(sys.argv[1])
    os.mkdir(str(comm.rank))
    os.chdir(str(comm.rank))
    comm.Barrier()
    if comm.rank == 0:
        open("../ready", "w").close()
    Solver(comm, int(sys.argv[2])).step()


main()
