/* SPDX-License-Identifier: BSD-3-Clause
 * info: a family of commands, one file each. */
#include "shell/command.h"

static const struct command *const info_family[] = {
	&info_args,     &info_hosts, &info_job,      &info_locals,
	&info_overhead, &info_ranks, &info_recorder, NULL,
};

const struct command cmd_info = {
	.name = "info",
	.topic = TOPIC_JOB,
	.usage = "info args|hosts|job|locals|overhead|ranks|recorder",
	.summary = "Show facts about the job, its variables, and pdb itself.",
	.text = "The second word chooses which.",
	.example = "info job",
	.words = WORDS_RANKS,
	.family = info_family,
};
