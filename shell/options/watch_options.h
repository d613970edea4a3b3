/* SPDX-License-Identifier: BSD-3-Clause
 * How a job is to be watched, and what is to be done when it hangs: the options of the command
 * `watch`, of `pdb watch` and of `pdb run --watch`, from one table. */
#ifndef PDB_SHELL_WATCH_OPTIONS_H
#define PDB_SHELL_WATCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct args;
struct pdb_error;

struct watch_options {
	double alpha;      /* false alarms in an hour of a healthy job, at most */
	double max_wait_s; /* how long a job without a history may stand still */
	double on_hang_s;  /* how long the command may take */
	bool wants_kill;
	bool wants_json;
	/* NULL: not wanted. Borrowed. */
	const char *on_hang;
	const char *save;
	const char *report;
};

struct watch_option {
	const char *name;  /* without the dashes */
	const char *value; /* "FILE"; NULL: it takes none */
	const char *text;  /* one line of help, no period */
};

/* All of them; a name of NULL is at the end. */
extern const struct watch_option watch_option_table[];

void watch_options_init(struct watch_options *options);

/* Set the option of the table with this index; value: NULL where it takes none. The value is
 * borrowed. ERROR_USAGE says what it must be. */
int watch_options_set(struct watch_options *options, size_t index, const char *value,
		      struct pdb_error *err);

/* From words "--alpha 0.01", "--alpha=0.01", "--kill", names by unique prefix. Values are borrowed
 * from the words. */
int watch_options_take(struct watch_options *options, const struct args *args,
		       struct pdb_error *err);

#endif
