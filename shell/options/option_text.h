/* SPDX-License-Identifier: BSD-3-Clause
 * The options of a command as its help lists them, in indented lines:
 *
 *	  -depth N     the N outermost frames
 *	  -least [N]   the stacks of fewest ranks; -most of most ranks;
 *	  -only RE, -without RE   events with or without ...
 *	  -by path|line|function|call   what makes two calls different ...
 *
 * Completion goes by the same text that people read. */
#ifndef PDB_SHELL_OPTION_TEXT_H
#define PDB_SHELL_OPTION_TEXT_H

#include <stdbool.h>

struct option_text {
	char name[32];     /* "-depth", with its dashes */
	char argument[96]; /* "N", "RE", "path|line|function|call"; "": none, or it may be left out
			    */
	char what[160];
};

/* Where in a text the next option is looked for; at first both at its beginning. */
struct option_cursor {
	const char *line, *next;
};

/* The next option; false: there is none. */
bool option_text_next(struct option_cursor *cursor, struct option_text *ret);

/* By its whole name. */
bool option_text_find(const char *text, const char *name, struct option_text *ret);

#endif
