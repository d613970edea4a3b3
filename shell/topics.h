/* SPDX-License-Identifier: BSD-3-Clause
 * What help says besides the commands, for `help`, docs/commands.md and docs/man/pdb.1. */
#ifndef PDB_SHELL_TOPICS_H
#define PDB_SHELL_TOPICS_H

struct topic {
	const char *name;
	const char *summary; /* one sentence with a period */
	const char *text;    /* lines of at most 80 columns; what is to be typed is indented */
};

/* The lines of the topic "hang" that name the commands to begin with. */
extern const char topics_first_steps[];

/* By name; one with a NULL name at the end. */
extern const struct topic topic_table[];

/* By exact name or unique prefix; NULL if there is none, or several. */
const struct topic *topics_find(const char *word);

#endif
