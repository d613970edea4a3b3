/* SPDX-License-Identifier: BSD-3-Clause
 * The message queues of a rank of Open MPI that sends by UCX (the PML "ucx"), read from its
 * memory while it runs. UCX has the messages (ucx_tags.h), Open MPI what their tags mean
 * (openmpi_objects.h). */
#ifndef PDB_ATTACH_OPENMPI_UCX_H
#define PDB_ATTACH_OPENMPI_UCX_H

struct maps;
struct memory;
struct message_queues;

/* What is known of the library of one process. */
struct openmpi_ucx;

/* NULL if the process has no such library, or not (yet) what sends by UCX. The memory is copied. */
struct openmpi_ucx *openmpi_ucx_create(const struct memory *memory, const struct maps *maps);
void openmpi_ucx_destroy(struct openmpi_ucx *queues); /* NULL is fine */

/* As of now. NULL if the library is not (yet, any more) in use, sends otherwise, is of another
 * version, holds very much, or changes too fast to be read. The caller destroys. */
struct message_queues *openmpi_ucx_read(struct openmpi_ucx *queues);

#endif
