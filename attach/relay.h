/* SPDX-License-Identifier: BSD-3-Clause
 * For a command that stands between a pipe and a socket: `gdb -ex "target remote | COMMAND"`. */
#ifndef PDB_ATTACH_RELAY_H
#define PDB_ATTACH_RELAY_H

struct pdb_error;

/* Copy from `in` to `socket_fd`, and from there to `out`, until the socket gives no more; an end of
 * `in` is passed on. -1: ERROR_SYSTEM, or ERROR_GONE when `out` or the socket takes no more. Closes
 * nothing. */
int relay_run(int in, int out, int socket_fd, struct pdb_error *err);

#endif
