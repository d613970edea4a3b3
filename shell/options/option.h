/* SPDX-License-Identifier: BSD-3-Clause
 * Options of commands at the prompt: a table says what there is and where it is stored, and one
 * parser takes them off the words. Names may be shortened as long as they are unique. */
#ifndef PDB_SHELL_OPTION_H
#define PDB_SHELL_OPTION_H

#include <stddef.h>

struct args;
struct pdb_error;

enum option_kind {
	OPTION_FLAG,   /* a bool becomes true */
	OPTION_NUMBER, /* an unsigned int from 1 to `max` */
	OPTION_CHOICE, /* an unsigned int: which of `choices` */
	OPTION_SET,    /* an unsigned int: bits of `choices`, with commas between them */
	OPTION_OTHER,  /* `take` knows */
};

struct option {
	const char *name; /* without dashes */
	enum option_kind kind;
	size_t place;               /* offset in what is filled in */
	const char *const *choices; /* NULL at the end */
	unsigned int value;         /* OPTION_SET: the first choice's bit; OPTION_OTHER: its own */
	unsigned int max;
	unsigned int group; /* a bit of option_take_all()'s `groups`; 0: every command takes it */
	/* Take what follows the option off the words at *next. `typed`: the option as typed. */
	int (*take)(void *ret, const struct option *option, const char *typed,
		    const struct args *args, size_t *next, struct pdb_error *err);
};

/* Take the options of table[num] that `groups` has off the words and store them in *ret; *rest_ret
 * has the other words, borrowed. The caller frees their array, after failure, too. -1:
 * ERROR_USAGE. */
int option_take_all(const struct option *table, size_t num, unsigned int groups,
		    const struct args *args, void *ret, struct args *rest_ret,
		    struct pdb_error *err);

#endif
