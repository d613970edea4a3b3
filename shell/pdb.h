/* SPDX-License-Identifier: BSD-3-Clause
 * libpdb: pdb's results about a job, for other programs. docs/api.md has examples.
 *
 * A job is a saved snapshot, or a job that runs on this host. All results are those of the last
 * look. Functions that can fail take `error`: room for PDB_ERROR_SIZE bytes, or NULL. On failure
 * they write pdb's message there, without a newline at its end.
 *
 * Ranks are ranks in MPI_COMM_WORLD. Sets of ranks are text in pdb's form, "0-2,8", complete, ""
 * for none; pdb_next_rank() goes through them. Times are in seconds.
 *
 * One thread at a time may use a job; different jobs may be used at once. If memory runs out, the
 * program ends. The library prints nothing and never starts, stops or ends a job. While it reads
 * names from program files it handles SIGBUS, the kernel's signal that a file was cut short. It
 * passes on all other SIGBUS signals and leaves no signal handlers behind. */
#pragma once

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

/* Version of the loaded library, which may be newer than this header: "0.1". */
const char *pdb_version(void);

/* ---- A job ---- */

/* Read a snapshot written by `save` or `watch --save`. Give the result to pdb_close(). NULL: it
 * cannot be read. */
struct pdb_job *pdb_load(const char *path, char *error);

/* Look at the job of the launcher `pid` (mpirun, prterun, srun, mpiexec, or one of its ranks), as
 * `pdb --pid` does. This takes some 100 ms. For ranks on other hosts it starts daemons, which run
 * until pdb_close(). The job keeps running. Give the result to pdb_close(). NULL: the job cannot be
 * looked at. */
struct pdb_job *pdb_attach(int pid, char *error);

/* Look again. All earlier results become invalid. -1: the job could not be looked at, for example
 * because it has ended; results then stay those of the last look. */
int pdb_look(struct pdb_job *job, char *error);

/* Leave the job, which keeps running, and free it. NULL is fine. */
void pdb_close(struct pdb_job *job);

/* Size of MPI_COMM_WORLD. */
int pdb_num_ranks(const struct pdb_job *job);

/* 1: the job runs, as far as is known; 0: it has ended, or is a snapshot. */
int pdb_is_live(struct pdb_job *job);

/* ---- Who holds it up ---- */

/* Only the library makes these structs; new members are added at their ends. Their texts are never
 * NULL. All is valid until pdb_look() or pdb_close(). */

struct pdb_verdict {
	const char *kind;  /* "none", "computation", "deadlock", ...: docs/json.md has all */
	int is_hang;       /* a hang or a crash: exit status 1 of pdb */
	int is_likely;     /* 1: the verdict is partly a guess */
	const char *ranks; /* the ranks that it names: docs/json.md */
	int num_ranks;
	const char *waiting; /* ranks that wait, directly or not, for `ranks` */
	/* the shortest time that any of `ranks` has been where it is; 0: not known */
	double stay;
};

/* Never NULL. */
const struct pdb_verdict *pdb_verdict(struct pdb_job *job);

/* Ranks at one place, in one iteration of every loop around it. Without a recorder: ranks with the
 * same stack, as far as pdb can tell. */
struct pdb_group {
	const char *ranks;
	int num_ranks;
	const char *where; /* for people: "in MPI_Recv, halo() at halo.c:31" */
	/* "in MPI", "polling", "computing", "ended"; "" without a recorder */
	const char *activity;
	/* iterations of the loops around the place, outermost first: "412, 3"; "": not known */
	const char *iterations;
	const char *least; /* its ranks that the verdict names */
	double stay;       /* the shortest time that any of them has been there; 0: not known */
};

/* Number of groups. They are in order of size, largest first; without a recorder in temporal order,
 * earliest first. */
size_t pdb_num_groups(struct pdb_job *job);
/* Group `number`, from 0. NULL: there is no such group. */
const struct pdb_group *pdb_group(struct pdb_job *job, size_t number);

/* The lowest rank in the set that is greater than `after`; pass -1 first. -1: there is none, or the
 * text is not a set. */
int pdb_next_rank(const char *ranks, int after);

/* ---- Answers ---- */

/* The answer of a pdb command: "lp", "groups", "graph", "loops", "progress", "why RANK", "waits
 * [RANKS]", "messages [RANKS]", "requests RANK", "collectives [COMM]", "history RANK", "model
 * RANK", "order". Only whole names and aliases. The caller frees the result with free(). NULL: the
 * question failed.
 *
 * As lines for people, 80 columns wide. */
char *pdb_text(struct pdb_job *job, const char *question, char *error);
/* As a JSON document on one line: docs/json.md and its schema. */
char *pdb_json(struct pdb_job *job, const char *question, char *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
