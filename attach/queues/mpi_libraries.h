/* SPDX-License-Identifier: BSD-3-Clause
 * The MPI libraries whose message queues can be read from a rank's memory while it runs, without
 * debug information: where things are is known, and objects are believed only if they say
 * themselves what they are.
 *
 * ..._create(): what is known of the library of one process; NULL if it has no such library, or not
 * (yet) what that sends by. The memory is copied. The caller frees it.
 * ..._read(): as of now. NULL if the library is not (yet, any more) in use, sends otherwise, is of
 * another version, holds very much, or changes too fast to be read. The caller destroys. */
#ifndef PDB_ATTACH_MPI_LIBRARIES_H
#define PDB_ATTACH_MPI_LIBRARIES_H

struct maps;
struct memory;

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

#endif
