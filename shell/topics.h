/* SPDX-License-Identifier: BSD-3-Clause
 * Help topics other than commands, for `help`, docs/commands.md and docs/man/pdb.1. */
#pragma once

struct topic {
	const char *name;
	const char *summary; /* one sentence with a period */
	const char *text;    /* lines of at most 80 columns; lines to type are indented */
};

/* The lines of topic "hang" that name the first commands to use. */
extern const char topics_first_steps[];

/* Sorted by name; ends with a NULL name. */
extern const struct topic topic_table[];

/* Find by exact name or unique prefix; NULL: none, or several. */
const struct topic *topics_find(const char *word);
