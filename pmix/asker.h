/* SPDX-License-Identifier: BSD-3-Clause
 * The process of its own that speaks PMIx, and what keeps a launcher safe from it. See asker.c. */
#ifndef PDB_PMIX_ASKER_H
#define PDB_PMIX_ASKER_H

#include <stdint.h>
#include <sys/types.h>

struct reply;
struct pdb_error;
struct rendezvous;

/* Is the launcher one that can be spoken to, and where? Errors: those of rendezvous_find(),
 * ERROR_UNSUPPORTED (no PRRTE launcher, or in a container), ERROR_TIMEOUT (it is stopped). */
int asker_find_server(pid_t pid, struct rendezvous *ret, struct pdb_error *err);

/* What the asker does once it is on its own, as the user whose launcher it is: connect, ask, write
 * an answer to fd (asker_write()), and take its leave of the server. Then it ends. */
typedef void (*asker_work)(const struct rendezvous *server, void *argument, int fd);

/* Start an asker as nobody's child. The caller closes its own copy of fd. */
int asker_start(const struct rendezvous *server, asker_work work, void *argument, int fd,
		struct pdb_error *err);

/* In the asker. Nobody may be there to read it any more. */
void asker_write(int fd, const struct reply *reply);

/* In pdb: read one reply, until `deadline_ms` of monotonic_ms(). An asker that ends without a word
 * leaves an empty one. */
int asker_read(int fd, int64_t deadline_ms, struct reply *reply, struct pdb_error *err);

#endif
