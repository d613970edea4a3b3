/* SPDX-License-Identifier: BSD-3-Clause
 * Where a PMIx server waits for tools: it writes a small file that says so. PMIx itself finds it by
 * a prefix of its name (123 matches 1234) anywhere below the temporary directory, and gives up on
 * stale ones. So the exact file is found and checked here. */
#pragma once

#include <limits.h>

#include "model/base.h"

/* A file looks like this:
 *	prterun-login1-4019@0.0;tcp4://192.0.2.2:45961
 *	5.0.7
 *	4019
 *	1000:1000
 *	Fri Nov 20 22:12:57 2026 */
struct rendezvous {
	char path[PATH_MAX];
	char version[64]; /* of the server's PMIx, as it writes it: "5.0.7" */
	pid_t pid;
	uid_t euid;
	gid_t egid;
};

/* Find the rendezvous file of process `pid`: in the temporary directories that its own environment
 * and that of its children name, then /tmp. User and group are those of the process, whatever the
 * file says. Errors: ERROR_NOT_FOUND, ERROR_PERMISSION, ERROR_GONE. */
int rendezvous_find(pid_t pid, struct rendezvous *ret, struct pdb_error *err);

/* Look below one directory, three levels deep, no symbolic links, for a well formed
 * "pmix.HOST.tool.PID" that belongs to `euid`. 0 if found, 1 if not. */
int rendezvous_search(const char *directory, pid_t pid, uid_t euid, struct rendezvous *ret);

/* Parse the text of such a file. -1 with ERROR_FORMAT if it is not one. Sets all but the path. */
int rendezvous_parse(const char *text, struct rendezvous *ret, struct pdb_error *err);
