/* SPDX-License-Identifier: BSD-3-Clause
 * What `set` and `show` know. */
#ifndef PDB_SHELL_SETTINGS_H
#define PDB_SHELL_SETTINGS_H

#include <stddef.h>

#include "shell/options/option.h"

struct pdb_error;

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

#endif
