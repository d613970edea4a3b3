/* SPDX-License-Identifier: BSD-3-Clause
 * How pdb's daemons are started on the nodes of a job: through the job's own launcher if it can
 * start more programs, else through a launcher of the same kind that pdb runs on the job's
 * hosts. */
#pragma once

#include "model/base.h"

struct launcher_hosts;

/* The invitation to pdb's connection: in the environment, as everybody sees command lines. */
#define PDBD_ENV_INVITATION "PDB_INVITATION"

enum daemon_way {
	DAEMONS_NONE,   /* not needed: all ranks are on pdb's own node */
	DAEMONS_SPAWN,  /* the job's launcher starts them (pmix/tool.h) */
	DAEMONS_COMMAND /* a command does (daemon_launch.h) */
};

/* What is known of the job and its launcher. */
struct daemon_site {
	const struct proctable *table;
	const struct launcher_kind *kind;
	const struct launcher_hosts *hosts;      /* NULL or none: those in the table are all */
	const char *launcher_path;               /* its executable, such as /usr/bin/orterun */
	const char *const *launcher_argv;        /* its command line; ends with NULL */
	const char *const *launcher_environment; /* its variables; the same. NULL: not known */
	const char *slurm_job;   /* what an srun says of its job, a number; "" or NULL: nothing */
	const char *mpi;         /* "openmpi" or "mpich" */
	const char *pdbd_folder; /* where pdbd-openmpi and pdbd-mpich are, on all nodes */
	const char *invitation;  /* see link.h */
	const char *const *avoided; /* hosts to go without; ends with NULL. NULL: none */
};

struct daemon_plan {
	enum daemon_way way;
	char *program;      /* the daemon's path */
	char **argv;        /* DAEMONS_COMMAND: ends with NULL */
	char **environment; /* "NAME=value" to be added; ends with NULL. Holds the invitation. */
	const struct launcher_kind *kind;
	/* the command is to have no variables of this one's own but these; NULL: there is none */
	const struct launcher_allocation *allocation;
	size_t num_hosts; /* so many daemons are to come */
};

/* The job's hosts, each once, sorted: those that are known (NULL or none: those in the table). The
 * caller frees the array, not the names. */
const char **daemon_plan_hosts(const struct proctable *table, const struct launcher_hosts *known,
			       size_t *num_ret);

/* On success daemon_plan_deinit() frees what is in *ret. Errors: ERROR_UNSUPPORTED (no way for this
 * launcher, or too many hosts for a command line), ERROR_NOT_FOUND (no number of a Slurm job). */
int daemon_plan_make(const struct daemon_site *site, struct daemon_plan *ret,
		     struct pdb_error *err);
void daemon_plan_deinit(struct daemon_plan *plan);
