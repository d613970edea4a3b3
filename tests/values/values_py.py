# SPDX-License-Identifier: BSD-3-Clause
# Values of all kinds in Python, which are known for each rank. It has MPI without mpi4py.
import ctypes
import os
import time

try:
    import numpy
except ImportError:
    numpy = None

LIMIT = 12
mpi = ctypes.CDLL("libmpi.so.40" if "OMPI_COMM_WORLD_RANK" in os.environ else "libmpich.so.12",
                  mode=ctypes.RTLD_GLOBAL)


class Solver:
    def __init__(self):
        self.n = 3

    def step(self, x, *more, tol=1e-8, **rest):
        rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK") or 0)
        big = 2**100
        ratio = 0.1
        missing = float("nan")
        done = rank == 2
        nothing = None
        text = "h\u00e9llo"
        items = [1, 2, 3]
        pair = (1, rank)
        table = {1: 2}
        grid = numpy.array([1.0, 2.0, float("nan")] * 2 + [3.0] * 6).reshape(3, 4) if numpy else 0

        def later():
            return rank + big

        wait(rank)
        return later(), ratio, missing, done, nothing, text, items, pair, table, grid


def wait(rank):
    print("ready", flush=True)
    if rank == 3:
        while True:
            time.sleep(0.01)
    time.sleep(100000)


def main():
    count = 7
    mpi.MPI_Init(None, None)
    Solver().step(count, 5, 6, more_tol=2)


main()
