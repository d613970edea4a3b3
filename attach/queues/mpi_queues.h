/* SPDX-License-Identifier: BSD-3-Clause
 * The message queues of a rank, of whatever MPI library it has: mpi_libraries.h has those that are
 * known. Open MPI's objects are in openmpi_objects.c, its own protocol in openmpi_queues.c; what
 * UCX holds is in ucx_tags.c, and becomes queues in ucx_queues.c by what the library above says of
 * tags (openmpi_ucx.c, mpich_queues.c). */
#ifndef PDB_ATTACH_MPI_QUEUES_H
#define PDB_ATTACH_MPI_QUEUES_H

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

#endif
