/* SPDX-License-Identifier: BSD-3-Clause
 * What `set` and `show` know: a typed table and its values. */
#ifndef PDB_SHELL_SETTINGS_H
#define PDB_SHELL_SETTINGS_H

#include <stddef.h>

struct pdb_error;

enum setting_id {
	SETTING_COLOR,
	SETTING_CONFIRM,
	SETTING_EVIDENCE,
	SETTING_FOLD,
	SETTING_FRAMES,
	SETTING_LOOK,
	SETTING_PAGER,
	SETTING_SAMPLES,
	SETTING_STALE,
	SETTING_THREADS,
	SETTING_UNICODE,
	SETTING_WIDTH,
	NUM_SETTINGS
};

enum setting_type { SETTING_CHOICE, SETTING_NUMBER };

/* Values of settings that are on, off or decided by what the output is. */
enum setting_switch { SWITCH_OFF, SWITCH_ON, SWITCH_AUTO };

/* What a look sees of a job with the recorder. */
enum setting_evidence { EVIDENCE_AUTO, EVIDENCE_ALL };

struct setting {
	const char *name;
	enum setting_type type;
	const char *choices[5]; /* SETTING_CHOICE: value i is choices[i]; NULL at the end */
	int minimum, maximum, initial;
	const char *text; /* one sentence with a period */
};

extern const struct setting setting_table[NUM_SETTINGS]; /* by name */

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
