/* SPDX-License-Identifier: BSD-3-Clause
 * An option: what it is called, what it takes, where that is stored, and what it is for. Of the
 * program, of a command at the prompt, or a setting; all of them are lines of options.def. */
#ifndef PDB_SHELL_OPTION_H
#define PDB_SHELL_OPTION_H

#include <stdbool.h>
#include <stddef.h>

struct args;
struct pdb_error;

enum option_kind {
	OPTION_FLAG,    /* becomes true */
	OPTION_NUMBER,  /* from `min` to `max` */
	OPTION_CHOICE,  /* `value` and which of `choices` */
	OPTION_SET,     /* 1 << that; several with commas between them */
	OPTION_TEXT,    /* borrowed */
	OPTION_FILE,    /* the same, not empty */
	OPTION_PATTERN, /* the same, once: a regular expression */
	OPTION_TIME,    /* in seconds: "90", "90s", "5min", "1.5h" */
	OPTION_RATE,    /* from 1e-12 to 0.5 */
	OPTION_LIST,    /* may be repeated */
};

/* What the values of each kind are stored as. */
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
	size_t place;         /* offset in what is filled in */
	const char *argument; /* "FILE"; "[N]": may be left out; NULL: none, or `choices` */
	const char *help;
	const char *const *choices; /* NULL at the end; else NULL */
	const char *initial;        /* before it is given; NULL: nothing */
	const char *otherwise;      /* if its argument is left out */
	const char *hint;           /* for those who give it to somebody who does not take it */
	int letter;                 /* another name of one letter; 0: none */
	int part;                   /* of --help, from 1 on */
	unsigned int min, max, value;
	unsigned int users; /* bits of who takes it, by the table; 0: all */
};

/* Those of a command. */
struct option_table {
	const struct option_spec *options;
	size_t num;
	const char *dashes; /* before the names, as people write them; "": settings */
	const char *note;   /* behind them in help; NULL: nothing */
};

/* Fill in what is there before anything is given; lists are empty. */
void option_init(const struct option_table *table, void *ret);
/* `option` may be NULL. */
void option_list_add(struct option_list *list, const struct option_spec *option, const char *text);
void option_list_free(struct option_list *list);

/* Store what `text` says, borrowed; NULL: no argument. -1: ERROR_USAGE says what it must be. */
int option_set(const struct option_table *table, const struct option_spec *option, const char *text,
	       void *ret, struct pdb_error *err);

/* By word[length], a name or its unique beginning, of those that `users` has. NULL: ERROR_USAGE. */
const struct option_spec *option_find(const struct option_table *table, unsigned int users,
				      const char *word, size_t length, struct pdb_error *err);

/* Take the options of `users` off the words, as "-depth 4" or "--depth=4", into *ret. The other
 * words are in *rest_ret, whose array the caller frees in any case; NULL: none. -1: ERROR_USAGE. */
int option_take_all(const struct option_table *table, unsigned int users, const struct args *args,
		    void *ret, struct args *rest_ret, struct pdb_error *err);

/* "FILE", "[N]", "path|line"; NULL: it has no argument. The caller frees. */
char *option_argument(const struct option_spec *option);

/* A list for help, of lines of at most 80 columns. The caller frees. */
char *option_help(const struct option_table *table, unsigned int users);

static inline bool option_is_for(const struct option_spec *option, unsigned int users)
{
	return !option->users || option->users & users;
}

#endif
