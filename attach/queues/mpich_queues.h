/* SPDX-License-Identifier: BSD-3-Clause
 * The message queues of a rank of MPICH that sends by UCX (the device "ch4:ucx"), read from its
 * memory while it runs. No debug information is needed: UCX has the messages (ucx_tags.h), MPICH
 * what their tags mean, and its objects are believed only if they say themselves what they are. */
#ifndef PDB_ATTACH_MPICH_QUEUES_H
#define PDB_ATTACH_MPICH_QUEUES_H

struct maps;
struct memory;
struct message_queues;

/* What is known of the library of one process. */
struct mpich_queues;

/* NULL if the process has no such library. The memory is copied. */
struct mpich_queues *mpich_queues_create(const struct memory *memory, const struct maps *maps);
void mpich_queues_destroy(struct mpich_queues *queues); /* NULL is fine */

/* As of now. NULL if the library is not (yet, any more) in use, is of another version, holds
 * very much, or changes too fast to be read. The caller destroys. */
struct message_queues *mpich_queues_read(struct mpich_queues *queues);

#endif
