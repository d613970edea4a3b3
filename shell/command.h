/* SPDX-License-Identifier: BSD-3-Clause
 * The command table, and how a line is parsed, checked and run. Help, usage errors, completion and
 * docs/commands.md come from the same entries. */
#pragma once

#include "render/view.h"

struct args;

/* What a command needs (the dispatcher checks it), and how it runs. */
enum command_flags {
	CMD_NEEDS_JOB = 1 << 0,   /* a job, attached or loaded */
	CMD_NEEDS_LIVE = 1 << 1,  /* its processes: not a snapshot, not ended */
	CMD_NEEDS_MODEL = 1 << 2, /* a recorder in at least one rank */
	CMD_RAW = 1 << 3,         /* takes the line as typed: no quotes, `|` or `>` */
	CMD_NEEDS_WAITS = 1 << 4, /* a recorder, or stacks and what an MPI library holds */
	CMD_TERMINAL = 1 << 5,    /* writes to the terminal itself: not collected for the pager */
	CMD_NO_REPEAT = 1 << 6,   /* an empty line does not repeat it */
	CMD_ANSWERS = 1 << 7,     /* about the snapshot or its traces: an old one's age is shown */
	CMD_STACKS = 1 << 8,      /* text answers end with the ranks that have no stack, and why */
	CMD_KEEPS = 1 << 9,       /* writes the snapshot to a file: scripts, too, see its age */
};

/* What the words after the command are, for completion. */
enum command_words {
	WORDS_NONE,
	WORDS_RANKS,
	WORDS_FRAME_RANKS, /* a frame or function before them */
	WORDS_RANK,        /* exactly one */
	WORDS_COMMS,
	WORDS_FILES,
	WORDS_FILE_RANKS, /* FILE:RANK */
	WORDS_SETTINGS,
	WORDS_COMMANDS,
};

/* Groups of commands in `help`, by purpose. */
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
	const char *aliases[3]; /* other exact names, NULL after the last one */
	enum command_topic topic;
	const char *usage;   /* "history RANK [COUNT]" */
	const char *summary; /* one sentence with a period */
	const char *text;    /* the rest of its help, options apart; lines of at most 80 columns */
	const char *example; /* a line that a user can type */
	const struct option_table *options; /* NULL: none */
	unsigned users;                     /* which options: bits of the table's `users` */
	unsigned flags;
	int min_words, max_words; /* after the command; max -1: any number */
	enum command_words words;

	/* Exactly one of three is set. A family: the commands for the second word. */
	const struct command *const *family;
	/* An action. */
	int (*run)(struct session *session, const struct args *args, struct pdb_error *err);
	/* An answer: views by format, text always among them (`> file.svg` chooses SVG). Before the
	 * view runs, `find` (or NULL) parses the words and puts what it found into *answer. */
	int (*find)(struct session *session, const struct args *args, struct answer *answer,
		    struct pdb_error *err);
	void (*views[NUM_FORMATS])(const struct view *view);
};

/* Titles of the topics, and their words for "help WORD". */
extern const char *const command_topics[NUM_TOPICS];
extern const char *const command_topic_words[NUM_TOPICS];

/* Every command, by name; NULL at the end. */
extern const struct command *const command_table[];

/* The table's entries, one or a few in each commands/cmd_*.c. */
extern const struct command cmd_apropos, cmd_bt, cmd_cause, cmd_classes, cmd_collectives,
	cmd_define, cmd_diff, cmd_echo, cmd_focus, cmd_gdb, cmd_graph, cmd_groups, cmd_help,
	cmd_history, cmd_info, cmd_lattice, cmd_list, cmd_locals, cmd_loops, cmd_lp, cmd_messages,
	cmd_model, cmd_order, cmd_print, cmd_progress, cmd_quit, cmd_refresh, cmd_report,
	cmd_requests, cmd_safe_path, cmd_sample, cmd_save, cmd_set, cmd_shell, cmd_show,
	cmd_similar, cmd_slow, cmd_source, cmd_suspects, cmd_trace, cmd_tree, cmd_tutorial,
	cmd_waits, cmd_watch, cmd_why;

/* The family "info". */
extern const struct command info_args, info_hosts, info_job, info_locals, info_overhead, info_ranks,
	info_recorder;

/* Is word[length] a name or alias of the command? */
bool command_is_called(const struct command *command, const char *word, size_t length);

/* Find the command in `table` with this name, alias or unique prefix. what: "command" or "info
 * command", for the message. -1 and ERROR_USAGE: unknown, or ambiguous; the message lists all
 * candidates. */
int command_find(const struct command *const *table, const char *what, const char *word,
		 const struct command **ret, struct pdb_error *err);

/* Find the command at the beginning of *text and move *text past its words. -1 and ERROR_USAGE:
 * unknown, or a family without its second word. */
int command_take(const char **text, const struct command **ret, struct pdb_error *err);

/* The command's help text with its options. The caller frees. */
char *command_text(const struct command *command);

/* Check that the command can run with these words in this session. -1: *err says why not. */
int command_check(struct session *session, const struct command *command, const struct args *args,
		  struct pdb_error *err);
/* The same for a command's flags alone: what must be there. */
int command_check_needs(struct session *session, unsigned flags, struct pdb_error *err);
/* Set ERROR_USAGE with "usage: ..."; returns -1. */
int command_refuse_words(const struct command *command, struct pdb_error *err);

/* Run one line: a command with its output, a user-defined command, a comment or nothing. -1 and
 * *err: it failed. */
int command_execute(struct session *session, const char *line, struct pdb_error *err);

/* Does the line's command need no job? Commands that pdb does not know may need one: false. */
bool command_needs_no_job(const char *line);

/* Should an empty line at the prompt repeat this line? */
bool command_repeats(const char *line);
