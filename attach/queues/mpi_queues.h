/* SPDX-License-Identifier: BSD-3-Clause
 * The message queues of a rank, for all supported MPI libraries. They are read from its memory
 * while it runs, without debug information. Locations are known for certain versions, and an object
 * is believed only if it identifies itself. openmpi_objects.c reads Open MPI's objects,
 * openmpi_queues.c its own protocol. ucx_tags.c reads what UCX holds; ucx_queues.c makes queues of
 * it, using what the library above says of tags (openmpi_ucx.c, mpich_queues.c). */
#pragma once

struct maps;
struct memory;

/* What is known of the library of one process. */
struct mpi_queues;

/* NULL if the process has no MPI library whose queues can be read. The memory is copied. */
struct mpi_queues *mpi_queues_create(const struct memory *memory, const struct maps *maps);
/* Its libraries are now these: what sends may have been loaded since. */
void mpi_queues_update(struct mpi_queues *queues, const struct memory *memory,
		       const struct maps *maps);
void mpi_queues_destroy(struct mpi_queues *queues); /* NULL is fine */

/* As of now; NULL if they cannot be read (now). The caller destroys. */
struct message_queues *mpi_queues_read(struct mpi_queues *queues);

/* ---- The libraries ----
 * ..._create(): what is known of the library of one process; NULL if it has no such library, or not
 * (yet) what that sends by. The memory is copied. The caller frees it.
 * ..._read(): as of now. NULL if the library is not (yet, any more) in use, sends otherwise, is of
 * another version, holds very much, or changes too fast to be read. The caller destroys. */

/* Open MPI 4.1 and 5.0 that sends with its own protocol (the PML "ob1"). */
struct openmpi_queues *openmpi_queues_create(const struct memory *memory, const struct maps *maps);
struct message_queues *openmpi_queues_read(struct openmpi_queues *queues);

/* The same that sends by UCX (the PML "ucx"): UCX has the messages (ucx_queues.h), Open MPI what
 * their tags mean (openmpi_objects.h). */
struct openmpi_ucx *openmpi_ucx_create(const struct memory *memory, const struct maps *maps);
struct message_queues *openmpi_ucx_read(struct openmpi_ucx *queues);

/* MPICH that sends by UCX (the device "ch4:ucx"). */
struct mpich_queues *mpich_queues_create(const struct memory *memory, const struct maps *maps);
struct message_queues *mpich_queues_read(struct mpich_queues *queues);
