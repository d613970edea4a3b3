/* SPDX-License-Identifier: BSD-3-Clause
 * The command table: what there is, how it is found, and how one line is carried out. Help, usage
 * errors, completion and docs/commands.md come from the same entries. */
#ifndef PDB_SHELL_COMMAND_H
#define PDB_SHELL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "render/view.h"

struct args;
struct pdb_error;

/* What must be there before a command runs (checked by the dispatcher), and how it runs. */
enum command_flags {
	CMD_NEEDS_JOB = 1 << 0,   /* a job, attached or loaded */
	CMD_NEEDS_LIVE = 1 << 1,  /* its processes: not a snapshot, not ended */
	CMD_NEEDS_MODEL = 1 << 2, /* a recorder in at least one rank */
	CMD_RAW = 1 << 3,         /* takes the line as typed: no quotes, `|` or `>` */
	CMD_NEEDS_WAITS = 1 << 4, /* a recorder, or stacks and what an MPI library holds */
	CMD_TERMINAL = 1 << 5,    /* writes to the terminal itself: not collected for the pager */
	CMD_NO_REPEAT = 1 << 6,   /* an empty line does not do it again */
	CMD_ANSWERS = 1 << 7,     /* about the snapshot, or its traces: tells its age when old */
	CMD_STACKS = 1 << 8, /* text ends with which ranks of the answer have no stack, and why */
	CMD_KEEPS = 1 << 9,  /* writes the snapshot down: tells its age to scripts, too */
};

/* What the words after the command are, for completion. */
enum command_words {
	WORDS_NONE,
	WORDS_RANKS,
	WORDS_RANK, /* one, then no more */
	WORDS_COMMS,
	WORDS_FILES,
	WORDS_FILE_RANKS, /* FILE:RANK */
	WORDS_SETTINGS,
	WORDS_COMMANDS,
};

/* How commands are grouped in `help`, by what they are for. */
enum command_topic {
	TOPIC_ANSWERS,
	TOPIC_STACKS,
	TOPIC_COUNTS,
	TOPIC_LOOKING,
	TOPIC_TRACES,
	TOPIC_JOB,
	TOPIC_SHELL,
	NUM_TOPICS,
};

struct command {
	const char *name;
	const char *aliases[3]; /* other exact names, NULL behind the last one */
	enum command_topic topic;
	const char *usage;   /* "history RANK [COUNT]" */
	const char *summary; /* one sentence with a period */
	const char *text;    /* the rest of help but options; lines of at most 80 columns */
	const char *example; /* a line that can be typed */
	const struct option_table *options; /* NULL: none */
	unsigned users;                     /* which of them: bits of the table's */
	unsigned flags;
	int min_words, max_words; /* after the command; max -1: any number */
	enum command_words words;

	/* One of three: second words, */
	const struct command *const *family;
	/* what is done, */
	int (*run)(struct session *session, const struct args *args, struct pdb_error *err);
	/* or what answers in the formats with a view, of which text is one: `> file.svg`. Before,
	 * `find` (or NULL) puts into *answer what the words ask and what was found for it. */
	int (*find)(struct session *session, const struct args *args, struct answer *answer,
		    struct pdb_error *err);
	void (*views[NUM_FORMATS])(const struct view *view);
};

/* Their titles, and the words that "help WORD" takes for them. */
extern const char *const command_topics[NUM_TOPICS];
extern const char *const command_topic_words[NUM_TOPICS];

/* Every command, by name; NULL at the end. */
extern const struct command *const command_table[];

/* Its entries, one or a few from each commands/cmd_*.c. */
extern const struct command cmd_apropos, cmd_bt, cmd_classes, cmd_collectives, cmd_define, cmd_diff,
	cmd_echo, cmd_focus, cmd_gdb, cmd_graph, cmd_groups, cmd_help, cmd_history, cmd_info,
	cmd_lattice, cmd_loops, cmd_lp, cmd_messages, cmd_model, cmd_order, cmd_progress, cmd_quit,
	cmd_refresh, cmd_report, cmd_requests, cmd_safe_path, cmd_sample, cmd_save, cmd_set,
	cmd_shell, cmd_show, cmd_similar, cmd_source, cmd_suspects, cmd_trace, cmd_tree,
	cmd_tutorial, cmd_waits, cmd_watch, cmd_why;

/* Of the family "info". */
extern const struct command info_hosts, info_job, info_overhead, info_ranks, info_recorder;

/* Is the word one of its names, be it an alias? length: of the word. */
bool command_is_called(const struct command *command, const char *word, size_t length);

/* The command with this name, alias or unique prefix. ERROR_USAGE: unknown, or ambiguous with all
 * candidates named. what: "command" or "info command", for the message. */
int command_find(const struct command *const *table, const char *what, const char *word,
		 const struct command **ret, struct pdb_error *err);

/* Find by the words of *text, moved behind them. ERROR_USAGE: unknown, or a family alone. */
int command_take(const char **text, const struct command **ret, struct pdb_error *err);

/* Its text with its options. The caller frees. */
char *command_text(const struct command *command);

/* May it run with these words, as the session is? -1 and why not. */
int command_check(struct session *session, const struct command *command, const struct args *args,
		  struct pdb_error *err);
/* The same of what must be there alone: flags of a command. */
int command_check_needs(struct session *session, unsigned flags, struct pdb_error *err);
/* "usage: ...", as ERROR_USAGE: -1. */
int command_refuse_words(const struct command *command, struct pdb_error *err);

/* Carry out one line: a command with its output, a user-defined command, a comment or nothing.
 * Returns -1 and *err when it could not do what was asked. */
int command_execute(struct session *session, const char *line, struct pdb_error *err);

/* Is it a line of a command that does without a job? What pdb does not know itself may need one. */
bool command_needs_no_job(const char *line);

/* Is this a line that an empty line at the prompt should do again? */
bool command_repeats(const char *line);

#endif
