/* SPDX-License-Identifier: BSD-3-Clause
 * What daemons tell of the ranks that they have found on their hosts. A text that is merged by
 * putting one behind the other: a line for each program on each host,
 *
 *	HOST <tab> SIZE <tab> EXECUTABLE <tab> RANK:PID RANK:PID ...
 *
 * with the size of the job as its processes know it, and RANK:-PID for one that has ended. */
#ifndef PDB_ATTACH_DAEMON_SCAN_H
#define PDB_ATTACH_DAEMON_SCAN_H

#include <stddef.h>

struct pdb_error;
struct proctable;

/* Of a table of one host. The caller frees. */
char *daemon_scan_encode(const struct proctable *table);

/* Add the ranks that the table does not have yet, and finish it again. Nothing in the text is
 * trusted: what is no such line is passed over, and of several processes of one rank the first
 * stays. Returns how many ranks were added; -1 with an error when the table cannot be. */
int daemon_scan_add(struct proctable *table, const char *text, size_t length,
		    struct pdb_error *err);

#endif
