/* SPDX-License-Identifier: BSD-3-Clause
 * The options of the program and of its commands, and the settings. All are defined in
 * options.def. */
#ifndef PDB_SHELL_OPTIONS_H
#define PDB_SHELL_OPTIONS_H

#include "shell/options/option.h"

enum program_action {
	ACTION_DEBUG, /* --pid, --load, --core, or the user's only job */
	ACTION_RUN,   /* run: start a job */
	ACTION_ENV,   /* env: print lines for a shell */
	ACTION_CLEAN, /* clean: remove left-over segments */
	ACTION_WATCH, /* watch: --pid, or the user's only job */
	NUM_ACTIONS,
};

/* Bits for `users` of trace options. Options without users belong to all commands about traces. */
enum traces_user { TRACES_ATTRIBUTES = 1, TRACES_LINKAGE = 2 };

/* Defines struct watch_options and the like, with the members that options.def lists. Texts are
 * borrowed. */
#define OPTIONS(owner) struct owner##_options {
#define OPTION(owner, kind, member, ...) OPTION_IS_##kind member;
#define OPTION_MORE(...)
#define END_OPTIONS(...)                                                                           \
	}                                                                                          \
	;
#include "shell/options/options.def"

extern const struct option_table watch_option_table, stacks_option_table, traces_option_table,
	trace_option_table, model_option_table, gdb_option_table, program_option_table,
	setting_option_table;

/* Values of settings that are on, off, or "auto": pdb decides. */
enum setting_switch { SWITCH_OFF, SWITCH_ON, SWITCH_AUTO };

/* What a look reads from a job with the recorder. */
enum setting_evidence { EVIDENCE_AUTO, EVIDENCE_ALL };

/* Write the setting's value as text into `buffer` of `size` bytes. Returns buffer. */
char *setting_text(const struct setting_options *settings, const struct option_spec *setting,
		   char *buffer, size_t size);

/* pdb's own command line. */
struct options {
	enum program_action action;
	struct program_options program;
	struct watch_options watch; /* for ACTION_WATCH, or if program.is_watched */
	char **run_argv;            /* what to run, NULL-terminated; borrowed from argv */
};

/* Parse the command line into *ret. For help, version and usage errors it prints and ends the
 * program; the exit status of errors is 2. */
void options_parse(int argc, char **argv, struct options *ret);

#endif
