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
#define SETTING(...)
#include "shell/options/options.def"
#undef OPTIONS
#undef OPTION
#undef OPTION_MORE
#undef END_OPTIONS
#undef SETTING

enum setting_id {
#define OPTIONS(...)
#define OPTION(...)
#define OPTION_MORE(...)
#define END_OPTIONS(...)
#define SETTING(kind, id, ...) SETTING_##id,
#include "shell/options/options.def"
#undef OPTIONS
#undef OPTION
#undef OPTION_MORE
#undef END_OPTIONS
#undef SETTING
	NUM_SETTINGS
};

extern const struct option_table watch_option_table, stacks_option_table, traces_option_table,
	trace_option_table, gdb_option_table, program_option_table;

/* ---- Settings: what `set` and `show` know ---- */

/* Values of settings that are on, off or decided by what the output is. */
enum setting_switch { SWITCH_OFF, SWITCH_ON, SWITCH_AUTO };

/* What a look sees of a job with the recorder. */
enum setting_evidence { EVIDENCE_AUTO, EVIDENCE_ALL };

extern const struct option_spec setting_table[NUM_SETTINGS]; /* by name */

struct settings {
	int values[NUM_SETTINGS];
};

void settings_init(struct settings *settings);

/* The setting by name or unique prefix; -1 with the candidates in *err. */
int settings_find(const char *name, enum setting_id *ret, struct pdb_error *err);

/* Set from text; choices by unique prefix. Unchanged on failure. */
int settings_set(struct settings *settings, enum setting_id id, const char *value,
		 struct pdb_error *err);

/* The value as text, into buffer; returns buffer. */
char *settings_text(const struct settings *settings, enum setting_id id, char *buffer, size_t size);

/* ---- The command line ---- */

/* pdb's own command line. */
struct options {
	enum program_action action;
	struct program_options program;
	struct watch_options watch; /* for ACTION_WATCH and program.is_watched */
	char **run_argv;            /* what to run, NULL-terminated; borrowed from argv */
};

/* Parse; prints help, version and usage errors itself and ends the program then, with status 2 for
 * errors. */
void options_parse(int argc, char **argv, struct options *ret);
void options_free(struct options *options);

#endif
