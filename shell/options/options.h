/* SPDX-License-Identifier: BSD-3-Clause
 * The options of the program and of its commands, and the settings, as options.def has them. */
#ifndef PDB_SHELL_OPTIONS_H
#define PDB_SHELL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "shell/options/option.h"

enum program_action {
	ACTION_DEBUG, /* --pid, --load, --core, or the user's only job */
	ACTION_RUN,   /* run: start a job */
	ACTION_ENV,   /* env: print lines for a shell */
	ACTION_CLEAN, /* clean: remove left-over segments */
	ACTION_WATCH, /* watch: --pid, or the user's only job */
	NUM_ACTIONS,
};

/* Users of the options of traces, beside those that all of them have. */
enum traces_user { TRACES_ATTRIBUTES = 1, TRACES_LINKAGE = 2 };

/* struct watch_options, ...: members as options.def says. Texts are borrowed. */
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

/* Values of settings that are on, off or decided by what the output is. */
enum setting_switch { SWITCH_OFF, SWITCH_ON, SWITCH_AUTO };

/* What a look sees of a job with the recorder. */
enum setting_evidence { EVIDENCE_AUTO, EVIDENCE_ALL };

/* The value as text, into buffer; returns buffer. */
char *setting_text(const struct setting_options *settings, const struct option_spec *setting,
		   char *buffer, size_t size);

/* pdb's own command line. */
struct options {
	enum program_action action;
	struct program_options program;
	struct watch_options watch; /* for ACTION_WATCH and program.is_watched */
	char **run_argv;            /* what to run, NULL-terminated; borrowed from argv */
};

/* Parse, or print help, version or usage errors and end the program, with status 2 for errors. */
void options_parse(int argc, char **argv, struct options *ret);

#endif
