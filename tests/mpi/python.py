# SPDX-License-Identifier: BSD-3-Clause
# mpi4py: MPI is loaded by dlopen, long after the recorder. The fault is in Python code.
# expect: lp=R kind=computation where=evaluate
# ranks: 4:2 8:6
# mpi: openmpi
import sys

from mpi4py import MPI

FAULTY_STEP = 10


def evaluate(rank, step, faulty):
    if rank == faulty and step == FAULTY_STEP:
        print(f"fault: rank {rank}", flush=True)
        while True:
            pass
    return rank + step % 7


def main():
    comm = MPI.COMM_WORLD
    rank = comm.Get_rank()
    faulty = int(sys.argv[1]) if len(sys.argv) > 1 else -1
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000000
    step = 0
    while step < steps:
        comm.allreduce(evaluate(rank, step, faulty))
        step += 1


main()
