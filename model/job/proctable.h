/* SPDX-License-Identifier: BSD-3-Clause
 * The process table of a job: rank -> host, pid, executable. Plain data, filled by pmix/ or
 * attach/, kept by the session, written to snapshots. */
#pragma once

#include "model/base.h"

/* How the ranks were found. */
enum proctable_source {
	PROCTABLE_NONE,
	PROCTABLE_PMIX,     /* asked from the launcher over a PMIx tool connection */
	PROCTABLE_MPIR,     /* read from the launcher's memory */
	PROCTABLE_PROCFS,   /* environment and process tree of this node */
	PROCTABLE_SNAPSHOT, /* read from a saved file */
	PROCTABLE_CORES,    /* the environments in core files */
};

struct proc {
	int rank;
	pid_t pid;        /* on its own host; 0 if not known */
	char *host;       /* as the launcher names it */
	char *executable; /* path or name as the launcher gives it; "" if not known */
	bool is_local;    /* runs on the host that pdb runs on */
	bool has_ended;   /* seen by who filled the table; its pid may be another process' by now */
};

struct proctable {
	struct proc *procs; /* sorted by rank, each rank once; may have holes */
	size_t num_procs;
	size_t capacity;
	int size; /* of MPI_COMM_WORLD: the highest rank + 1, or what the launcher says if more */
	int size_claimed; /* by somebody, and not believed; 0: nothing */
	char *job;        /* the launcher's name of the job, for example "prterun-login1-4019@1" */
	char *launcher_name; /* for people: "Open MPI 5.0.7 (PRRTE)", "srun", ... */
	pid_t launcher_pid;
	enum proctable_source source;
	char *source_note; /* why this source and no other, one sentence; may be NULL */
};

struct proctable *proctable_create(void);
void proctable_destroy(struct proctable *table); /* NULL is fine */

/* Add a rank; strings are copied. Call proctable_finish() after the last. */
void proctable_add(struct proctable *table, int rank, pid_t pid, const char *host,
		   const char *executable);

/* The same for a process that is known to have ended. */
void proctable_add_ended(struct proctable *table, int rank, pid_t pid, const char *host);

/* The same by another table's entry. */
void proctable_add_like(struct proctable *table, const struct proc *proc);

/* Sort, set size and is_local. Refuses negative, duplicate and far too high ranks and hosts that
 * are no names: tables come from other programs' memory. */
int proctable_finish(struct proctable *table, struct pdb_error *err);

/* Somebody says that a finished table's job has so many ranks. Believed up to 65,536 missing ranks
 * for each process; what is not goes to size_claimed. */
void proctable_claim(struct proctable *table, int size);

/* Is it a process of this host, as far as the table knows? */
static inline bool proc_is_here(const struct proc *proc)
{
	return proc->is_local && proc->pid > 0 && !proc->has_ended;
}

/* NULL if the table has no such rank. */
const struct proc *proctable_find(const struct proctable *table, int rank);

/* A new set of all ranks of the job, those without an entry too; the caller destroys it. */
struct rankset *proctable_ranks(const struct proctable *table);

/* Names of pdb's own daemons begin so. They run under a job's launcher and are no ranks. */
#define PROCTABLE_DAEMON "pdbd-"

/* Is it a table of daemons only? */
bool proctable_is_daemons(const struct proctable *table);

/* Is it a name, or an address with dots, fit for a command line and messages: letters, digits and
 * "._-", the first a letter or digit, at most 255? */
bool host_is_name(const char *host);

/* Does it name this machine? By gethostname() with and without domain; "localhost"; "". */
bool host_is_local(const char *host);

const char *proctable_source_text(enum proctable_source source); /* "PMIx", "MPIR table", ... */
