/* SPDX-License-Identifier: BSD-3-Clause
 * The message queues of a rank of Open MPI that sends with its own protocol (the PML "ob1"), read
 * from its memory while it runs. No debug information is needed: where things are in Open MPI 4.1
 * and 5.0 is known here, and each object is believed only if it says itself what it is. */
#ifndef PDB_ATTACH_OPENMPI_QUEUES_H
#define PDB_ATTACH_OPENMPI_QUEUES_H

struct maps;
struct memory;
struct message_queues;

/* What is known of the library of one process. */
struct openmpi_queues;

/* NULL if the process has no such library. The memory is copied. */
struct openmpi_queues *openmpi_queues_create(const struct memory *memory, const struct maps *maps);
void openmpi_queues_destroy(struct openmpi_queues *queues); /* NULL is fine */

/* As of now. NULL if the library is not (yet, any more) in use, sends otherwise, is of another
 * version, holds very much, or changes too fast to be read. The caller destroys. */
struct message_queues *openmpi_queues_read(struct openmpi_queues *queues);

#endif
