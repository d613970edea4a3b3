# SPDX-License-Identifier: BSD-3-Clause
"""Communicators of mpi4py, whose MPI is loaded by dlopen. Writes what is true as comms.c does."""
import os
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
check_dir = os.environ["CHECK_DIR"]
truth = open("%s/truth.%d" % (check_dir, rank), "w")


def note(comm, name):
    comm.Set_name(name)
    members = comm.allgather(rank)
    truth.write("comm %s intra %d %s - 1\n" % (name, comm.Get_rank(), ",".join(map(str, members))))


def checkpoint():
    open("%s/ready.%d" % (check_dir, os.getpid()), "w").close()
    for _ in range(60000):
        if os.path.exists("%s/go" % check_dir):
            return
        time.sleep(0.001)
    os._exit(3)


dup = world.Dup()
note(dup, "dup")
half = world.Split(rank % 2, -rank)
note(half, "half-%d" % (rank % 2))
for _ in range(10):
    half.Split(0, 0).Free()
note(half.Dup(), "half-dup-%d" % (rank % 2))
note(dup.Create_cart([2, 2], [True, False]), "grid")
inter = half.Create_intercomm(1, world, 1 - rank % 2, 4)
note(inter.Merge(rank % 2), "merged")
truth.close()
checkpoint()
