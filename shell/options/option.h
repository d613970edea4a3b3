/* SPDX-License-Identifier: BSD-3-Clause
 * An option of the program, an option of a command at the prompt, or a setting. It has a name, an
 * argument, a place where its value is stored, and help. All are lines of options.def. */
#ifndef PDB_SHELL_OPTION_H
#define PDB_SHELL_OPTION_H

#include "model/std.h"

struct args;
struct pdb_error;

enum option_kind {
	OPTION_FLAG,    /* becomes true */
	OPTION_NUMBER,  /* from `min` to `max` */
	OPTION_CHOICE,  /* `value` plus the index in `choices` */
	OPTION_SET,     /* bits 1 << choice; several choices with commas */
	OPTION_TEXT,    /* borrowed */
	OPTION_FILE,    /* borrowed, not empty */
	OPTION_PATTERN, /* borrowed, not empty, given once: a regular expression */
	OPTION_TIME,    /* in seconds: "90", "90s", "5min", "1.5h" */
	OPTION_RATE,    /* from 1e-12 to 0.5 */
	OPTION_LIST,    /* may be repeated */
};

/* The C type of each kind's value. */
#define OPTION_IS_FLAG bool
#define OPTION_IS_NUMBER unsigned int
#define OPTION_IS_CHOICE unsigned int
#define OPTION_IS_SET unsigned int
#define OPTION_IS_TEXT const char *
#define OPTION_IS_FILE const char *
#define OPTION_IS_PATTERN const char *
#define OPTION_IS_TIME double
#define OPTION_IS_RATE double
#define OPTION_IS_LIST struct option_list

struct option_list {
	struct option_word {
		const struct option_spec *option;
		const char *text; /* borrowed */
	} * words;
	size_t num, capacity;
};

struct option_spec {
	const char *name; /* without dashes */
	enum option_kind kind;
	size_t place;         /* offset in the struct that is filled in */
	const char *argument; /* "FILE"; "[N]": may be left out; NULL: none, or `choices` */
	const char *help;
	const char *const *choices; /* NULL-terminated; NULL: no choices */
	const char *initial;        /* initial value as text; NULL: nothing */
	const char *otherwise;      /* value if the argument is left out */
	const char *hint;           /* error text for users that do not take the option */
	int letter;                 /* name of one letter; 0: none */
	int part;                   /* section of --help, from 1 */
	unsigned int min, max, value;
	unsigned int users; /* users that take it, as bits; 0: all */
};

/* The options of one command. */
struct option_table {
	const struct option_spec *options;
	size_t num;
	const char *dashes; /* written before the names; "": settings */
	const char *note;   /* text after the options in help; NULL: none */
};

/* Set all options to their initial values; lists are empty. */
void option_init(const struct option_table *table, void *ret);
/* `option` may be NULL. */
void option_list_add(struct option_list *list, const struct option_spec *option, const char *text);
void option_list_free(struct option_list *list);

/* Store the value `text` in *ret; the text is borrowed. NULL: no argument was given. -1:
 * ERROR_USAGE says which values are valid. */
int option_set(const struct option_table *table, const struct option_spec *option, const char *text,
	       void *ret, struct pdb_error *err);

/* Find an option of `users` by word[length]: its name or a unique beginning. NULL: ERROR_USAGE. */
const struct option_spec *option_find(const struct option_table *table, unsigned int users,
				      const char *word, size_t length, struct pdb_error *err);

/* Take the options of `users` ("-depth 4" or "--depth=4") off the words and store them in *ret.
 * *rest_ret has the other words; the caller frees its array `words` in any case (may be NULL). -1:
 * ERROR_USAGE. */
int option_take_all(const struct option_table *table, unsigned int users, const struct args *args,
		    void *ret, struct args *rest_ret, struct pdb_error *err);

/* The option's argument for help: "FILE", "[N]", "path|line"; NULL: none. The caller frees. */
char *option_argument(const struct option_spec *option);

/* The options of `users` as a list for help, in lines of at most 80 columns. The caller frees. */
char *option_help(const struct option_table *table, unsigned int users);

static inline bool option_is_for(const struct option_spec *option, unsigned int users)
{
	return !option->users || option->users & users;
}

#endif
