/* SPDX-License-Identifier: BSD-3-Clause
 * What pdb knows of each kind of launcher: a table entry in a file of its own.
 *
 * To add one, write attach/launchers/NAME.c with a struct launcher_kind, and add it to the lists in
 * this header and in launcher_kind.c. Nothing else tells kinds apart. An entry's functions call
 * nothing that reads the lists. Fields left out have safe defaults: ranks are found by the process
 * tree of this node, no daemons are started, pdb's own environment preloads the recorder. New
 * variables for a rank's identity go into model/recorder/identity.c, too. Tests: cases in
 * tests/unit/test_launcher.c (recognized), test_launcher_kind.c (names), test_daemon_plan.c (the
 * command).
 *
 * Words from a launcher's command line or environment are used in commands that run as this user.
 * So take only whole names from a list, never prefixes, and none that names a program or file of
 * somebody else (docs/security.md). */
#pragma once

#include "model/base.h"

struct daemon_site;
struct launcher_hosts;
struct launcher_info;
struct launcher_step;
struct words;

/* A process that may be a launcher. No MPI is mapped there: it is no rank. */
struct launcher_look {
	pid_t pid;
	const char *base; /* name of its executable, without folders */
	const struct maps *maps;
	const struct procfs_stat *list; /* all processes */
	size_t num_list;
};

/* Variables by how they begin, but for some. Both lists end with NULL; NULL: none. */
struct launcher_variables {
	const char *const *prefixes, *const *but;
};

/* A batch system's allocation, in which other launchers start daemons by this one. */
struct launcher_allocation {
	const char *mark;             /* the variable that tells of one */
	const char *const *variables; /* what is taken over of it, by another launcher */
	const char *added;            /* "NAME=value", beside these */
	/* what a command of pdb's does not get from pdb's own environment */
	struct launcher_variables own;
};

/* The hosts in an srun's MPIR table, with commas between; NULL: unreadable. The caller frees. */
typedef char *launcher_table_hosts(pid_t srun);

/* Lists of names end with NULL; NULL: none. */
struct launcher_kind {
	const char *name; /* for people, "Slurm srun" */

	/* ---- How it is recognized: by what it has mapped, never by its name alone ---- */

	bool (*is_one)(const struct launcher_look *look);
	/* Its name for people in more detail, as with a version; NULL: `name`. */
	void (*describe)(const struct launcher_look *look, char *text, size_t size);
	bool forks;        /* a copy of itself, to watch it; the parent holds the job */
	const char *apart; /* name of its processes (comm), if its ranks are not below it */

	/* ---- How its ranks are found: the safe one of these, else the process tree ---- */

	/* A PMIx tool connection, by the shell, does it no harm. Never to be tried with others. */
	bool takes_pmix;
	bool has_mpir;   /* in its memory: launcher_read_mpir() */
	const char *why; /* this way, a sentence; NULL: there is none */
	/* The hosts of ranks that are in no table; leaves out the user. */
	void (*find_hosts)(pid_t pid, launcher_table_hosts *srun_hosts, struct launcher_hosts *ret);
	/* The batch system's numbers of what it has started; *ret is empty before. */
	void (*read_step)(const struct launcher_info *launcher, struct launcher_step *ret);

	/* ---- What it puts into the environment of a rank ---- */

	const char *const *rank_variables, *const *size_variables;
	bool is_rank_doubtful; /* others' ranks have them, too, not for their own numbers */
	/* The job's name: what all of these have, with dots between, behind the prefix. */
	const char *const *job_variables;
	const char *job_prefix;
	const char *host_variable; /* the name of its node; NULL: none */

	/* ---- How daemons are started on the nodes of its job ---- */

	const char *mpi; /* of its programs, "openmpi" or "mpich"; NULL: seen by the program */
	/* The words of the command, up to the daemon's program; NULL: no command does it. */
	int (*plan)(const struct daemon_site *site, const char *hosts, size_t num_hosts,
		    struct words *argv, struct pdb_error *err);
	const char *host_suffix; /* behind each of the hosts, which have commas between; NULL: "" */
	/* What such a command, of any kind, takes from its environment: names after the prefix. */
	const char *variable_prefix;
	const char *const *variables;
	/* Variables that give a process its rank and job: not for a command of pdb's. */
	struct launcher_variables identity;
	const struct launcher_allocation *allocation;
	/* Remove what one that pdb has started leaves behind when it is made to end. */
	void (*clean_up)(pid_t pid);

	/* ---- How it preloads the recorder into its ranks ---- */

	const char *const *programs; /* what is part of the names of its programs */
	const char *library;         /* how one that only such launchers load begins; or NULL */
	/* The words with which it gives its ranks LD_PRELOAD and the variables of `others` that are
	 * set; NULL: it hands on its own environment. */
	void (*preload)(struct words *argv, const char *value, const char *const *others);
};

/* In the order in which they are tried; the last is for all that are of no other kind. */
extern const struct launcher_kind *const launcher_kinds[]; /* ends with NULL */
extern const struct launcher_kind launcher_openmpi4, launcher_prrte, launcher_slurm, launcher_intel,
	launcher_hydra, launcher_other;

/* .preload of all versions of Open MPI. */
void openmpi_preload(struct words *argv, const char *value, const char *const *others);

/* NULL: no launcher. */
const struct launcher_kind *launcher_kind_of(const struct launcher_look *look);

/* By the name of a program, such as "mpiexec.hydra", or of a library. NULL: not known. */
const struct launcher_kind *launcher_kind_of_program(const char *name);
const struct launcher_kind *launcher_kind_of_library(const char *name);

/* Does it keep a table of all its ranks? */
bool launcher_kind_has_table(const struct launcher_kind *kind);

/* Is "NAME=value" one of these? */
bool launcher_variables_have(const struct launcher_variables *variables, const char *variable);

/* The version in a variable of the launcher's library, as text; "" if it cannot be read. */
void launcher_kind_version(const struct launcher_look *look, const char *library,
			   const char *symbol, char *buffer, size_t size);
