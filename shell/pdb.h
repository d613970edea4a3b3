/* SPDX-License-Identifier: BSD-3-Clause
 * libpdb: what pdb finds out about a job, for other programs. docs/api.md has it with examples.
 *
 * A job is a snapshot that was saved, or one that runs on this host; what is told of it is that of
 * the last look. Functions that can fail take room for PDB_ERROR_SIZE bytes in `error` (or NULL),
 * and on failure leave there what pdb would say, a text without a newline at its end.
 *
 * Ranks are ranks in MPI_COMM_WORLD. Sets of them are text as pdb has it, "0-2,8", "" for none, in
 * full; pdb_next_rank() goes through them. Times are seconds.
 *
 * One thread at a time may use a job; different jobs may be used at once. Where there is no memory
 * left the program is ended. The library prints nothing and never starts, stops or ends a job.
 * While it reads names from program files it handles SIGBUS, which is how the kernel tells that
 * somebody cut such a file short; it passes all others on, and leaves no signal handlers. */
#ifndef PDB_H
#define PDB_H

#include <stddef.h>

#define PDB_VERSION_MAJOR 0
#define PDB_VERSION_MINOR 1
#define PDB_VERSION "0.1"

#define PDB_ERROR_SIZE 1024

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pdb_job;

/* Of the library that runs, which may be newer than this header: "0.1". */
const char *pdb_version(void);

/* ---- A job ---- */

/* Read a snapshot that `save` or `watch --save` has written. The result is for pdb_close();
 * NULL: it cannot be read. */
struct pdb_job *pdb_load(const char *path, char *error);

/* Look at the job of the launcher `pid` (mpirun, prterun, srun, mpiexec, or one of its ranks), as
 * `pdb --pid` does: for some 100 ms, and where ranks are on other hosts by daemons, which run until
 * pdb_close(). The job goes on all the time. The result is for pdb_close(); NULL: it cannot be
 * looked at. */
struct pdb_job *pdb_attach(int pid, char *error);

/* Look again. All that was told of the job is invalid then. -1: it could not be looked at, for
 * example as the job has ended; what is told stays that of the last look. */
int pdb_look(struct pdb_job *job, char *error);

/* Leave the job, which goes on; NULL is fine. */
void pdb_close(struct pdb_job *job);

/* Of MPI_COMM_WORLD. */
int pdb_num_ranks(const struct pdb_job *job);

/* 1: it runs, as far as is known; 0: it has ended, or is a snapshot. */
int pdb_is_live(struct pdb_job *job);

/* ---- Who holds it up ---- */

/* These structs are made by the library only; members are added at their ends. Their texts are
 * never NULL. All is valid until pdb_look() or pdb_close(). */

struct pdb_verdict {
	const char *kind;  /* "none", "computation", "deadlock", ...: docs/json.md has all */
	int is_hang;       /* a hang or a crash: exit status 1 of pdb */
	int is_likely;     /* some of it is a guess */
	const char *ranks; /* those that it names: docs/json.md */
	int num_ranks;
	const char *waiting; /* those that wait, for them in the end */
	/* the shortest time that any of `ranks` is where it is; 0: not known */
	double stay;
};

/* Never NULL. */
const struct pdb_verdict *pdb_verdict(struct pdb_job *job);

/* Ranks that are in one place, in one iteration of every loop around it; without a recorder those
 * with the same stack, as far as pdb can tell. */
struct pdb_group {
	const char *ranks;
	int num_ranks;
	const char *where; /* for people: "in MPI_Recv, halo() at halo.c:31" */
	/* "in MPI", "polling", "computing", "ended"; "" without a recorder */
	const char *activity;
	/* of the loops around it, outermost first: "412, 3"; "": not known */
	const char *iterations;
	const char *least; /* those of its ranks that the verdict names */
	double stay;       /* the shortest time that any of them is there; 0: not known */
};

/* Largest first; without a recorder in the order of their stacks in time, earliest first. */
size_t pdb_num_groups(struct pdb_job *job);
/* NULL: there is none of this number, which begins with 0. */
const struct pdb_group *pdb_group(struct pdb_job *job, size_t number);

/* The first rank in a set that is greater than `after`, which is -1 at first; -1: there is none, or
 * the text is no set. */
int pdb_next_rank(const char *ranks, int after);

/* ---- Answers ---- */

/* What commands of pdb answer: "lp", "groups", "graph", "loops", "progress", "why RANK",
 * "waits [RANKS]", "messages [RANKS]", "requests RANK", "collectives [COMM]", "history RANK",
 * "model RANK", "order". Whole names or their aliases. The result is for free(); NULL:
 * it cannot be told.
 *
 * As lines for people, 80 columns wide. */
char *pdb_text(struct pdb_job *job, const char *question, char *error);
/* As a document of JSON, one line: docs/json.md and its schema. */
char *pdb_json(struct pdb_job *job, const char *question, char *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
