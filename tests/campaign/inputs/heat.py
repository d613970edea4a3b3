# SPDX-License-Identifier: BSD-3-Clause
"""Heat in a plate, in rows over the ranks: rows are exchanged with both neighbours in each step, and
now and then all ranks agree on how far they are from rest. heat.py [STEPS]; without, for ever."""

import itertools
import sys

import numpy
from mpi4py import MPI

ROWS, COLUMNS = 64, 256
CHECK_STEPS = 10


def exchange(comm, plate):
    above, below = comm.rank - 1, comm.rank + 1
    above = MPI.PROC_NULL if above < 0 else above
    below = MPI.PROC_NULL if below == comm.size else below
    comm.Sendrecv(plate[1], above, 1, plate[-1], below, 1)
    comm.Sendrecv(plate[-2], below, 2, plate[0], above, 2)


def step(plate):
    new = plate.copy()
    new[1:-1, 1:-1] = (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]) / 4
    return new


def heat(rank, number):
    """Of the source, which moves."""
    return [1.0 + ((column * 7 + number + rank) % 13) / 13 for column in range(COLUMNS)]


def main():
    comm = MPI.COMM_WORLD
    plate = numpy.zeros((ROWS + 2, COLUMNS))
    steps = range(int(sys.argv[1])) if len(sys.argv) > 1 else itertools.count()
    for number in steps:
        plate[1] = heat(comm.rank, number)
        exchange(comm, plate)
        new = step(plate)
        if number % CHECK_STEPS == 0:
            change = comm.allreduce(float(abs(new - plate).max()), MPI.MAX)
            if comm.rank == 0 and number % 1000 == 0:
                print(f"step {number}: {change:g}", flush=True)
        plate = new


main()
