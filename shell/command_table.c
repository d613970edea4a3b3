/* SPDX-License-Identifier: BSD-3-Clause
 * Every command, by name, and the topics they belong to. */
#include "shell/command.h"

const char *const command_topics[NUM_TOPICS] = {
	[TOPIC_ANSWERS] = "Who holds the job up",
	[TOPIC_STACKS] = "Stacks and variables",
	[TOPIC_COUNTS] = "Messages, collectives",
	[TOPIC_LOOKING] = "Loops, calls of a rank",
	[TOPIC_TRACES] = "Traces",
	[TOPIC_JOB] = "The job and looks at it",
	[TOPIC_SHELL] = "The shell",
};

const char *const command_topic_words[NUM_TOPICS] = {
	[TOPIC_ANSWERS] = "answers", [TOPIC_STACKS] = "stacks", [TOPIC_COUNTS] = "counts",
	[TOPIC_LOOKING] = "calls",   [TOPIC_TRACES] = "traces", [TOPIC_JOB] = "job",
	[TOPIC_SHELL] = "pdb",
};

const struct command *const command_table[] = {
	&cmd_apropos,  &cmd_bt,      &cmd_cause,    &cmd_classes, &cmd_collectives, &cmd_define,
	&cmd_diff,     &cmd_echo,    &cmd_focus,    &cmd_gdb,     &cmd_graph,       &cmd_groups,
	&cmd_help,     &cmd_history, &cmd_info,     &cmd_lattice, &cmd_list,        &cmd_locals,
	&cmd_loops,    &cmd_lp,      &cmd_messages, &cmd_model,   &cmd_order,       &cmd_print,
	&cmd_progress, &cmd_quit,    &cmd_refresh,  &cmd_report,  &cmd_requests,    &cmd_safe_path,
	&cmd_sample,   &cmd_save,    &cmd_set,      &cmd_shell,   &cmd_show,        &cmd_similar,
	&cmd_slow,     &cmd_source,  &cmd_suspects, &cmd_trace,   &cmd_tree,        &cmd_tutorial,
	&cmd_waits,    &cmd_watch,   &cmd_why,      NULL,
};
