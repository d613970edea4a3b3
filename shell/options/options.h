/* SPDX-License-Identifier: BSD-3-Clause
 * pdb's own command line. */
#ifndef PDB_SHELL_OPTIONS_H
#define PDB_SHELL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "shell/options/watch_options.h"

enum program_action {
	ACTION_DEBUG, /* --pid, --load, --core, or the user's only job */
	ACTION_RUN,   /* run: start a job */
	ACTION_ENV,   /* env: print lines for a shell */
	ACTION_CLEAN, /* clean: remove left-over segments */
	ACTION_WATCH, /* watch: --pid, or the user's only job */
};

/* A command given on the command line: -ex CMD, or -x FILE. */
struct start_command {
	const char *text;
	bool is_file;
};

struct options {
	enum program_action action;
	pid_t pid;          /* 0: not given */
	const char *nspace; /* --job; NULL: not given */
	const char *load;   /* NULL: not given */
	bool has_cores;     /* --core: the files and directories in cores */
	char **cores;       /* borrowed from argv */
	size_t num_cores, cores_capacity;
	bool wants_unset;   /* env: undo it */
	const char *mpi;    /* "openmpi", "mpich"; NULL: find out */
	const char *output; /* of the job that is run; NULL: the terminal */
	const char *trace;  /* of the job that is run: what PDB_TRACE is to say; NULL: not given */
	const char *trace_filter; /* the same for PDB_TRACE_FILTER */
	bool is_batch;
	bool no_init;               /* do not read ~/.pdbrc */
	bool is_watched;            /* run: --watch */
	bool has_watch_options;     /* any of these was given: */
	struct watch_options watch; /* for ACTION_WATCH and is_watched */
	struct start_command *commands;
	size_t num_commands, capacity;
	char **run_argv; /* what to run, NULL-terminated; borrowed from argv */
};

/* Parse; prints help, version and usage errors itself and ends the program then, with status 2 for
 * errors. */
void options_parse(int argc, char **argv, struct options *ret);
void options_free(struct options *options);

#endif
