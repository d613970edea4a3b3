/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "render/words/label.h"
#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/line/complete.h"
#include "shell/options/options.h"
#include "shell/session.h"
#include "shell/topics.h"

/* Most ranks per group, and most functions, that are offered. */
#define MAX_RANKS 20
#define MAX_FUNCTIONS 2000
#define RANKS_WIDTH 30

/* Offer `word` if it begins with the typed text and was not offered before. */
static void offer(struct completions *all, const char *word, const char *what)
{
	if (strncmp(word, all->typed, strlen(all->typed)) != 0)
		return;
	for (size_t i = 0; i < all->num; i++)
		if (strcmp(all->all[i].word, word) == 0)
			return;
	*ARENA_PUSH(all->arena, all->all, all->num, all->capacity) =
		(struct completion){arena_strdup(all->arena, word), arena_strdup(all->arena, what)};
}

static void offer_commands(struct completions *all, const struct command *const *table)
{
	for (size_t i = 0; table[i]; i++) {
		offer(all, table[i]->name, table[i]->summary);
		/* Users who type one letter need no help. */
		for (size_t j = 0; table[i]->aliases[j]; j++)
			if (table[i]->aliases[j][1])
				offer(all, table[i]->aliases[j], table[i]->summary);
	}
}

static void offer_macros(struct completions *all)
{
	for (const struct macro *macro = all->session->macros.first; macro; macro = macro->next)
		offer(all, macro->name, "user-defined");
}

/* The second words of a family. */
static void offer_family(struct completions *all, const struct args *before)
{
	const struct command *family;

	if (command_find(command_table, "", before->words[0], &family, NULL) == 0 && family->family)
		offer_commands(all, family->family);
}

/* Words that help explains. */
static void offer_help(struct completions *all, const struct args *before)
{
	if (before->num_words) {
		offer_family(all, before);
		return;
	}
	offer_commands(all, command_table);
	offer_macros(all);
	for (const struct topic *topic = topic_table; topic->name; topic++)
		offer(all, topic->name, topic->summary);
	for (int i = 0; i < NUM_TOPICS; i++)
		offer(all, command_topic_words[i], command_topics[i]);
	offer(all, "all", "all commands");
}

static void offer_hosts(struct completions *all)
{
	const struct proctable *table = all->session->job->proctable;

	for (size_t i = 0; i < table->num_procs; i++)
		if (i == 0 || strcmp(table->procs[i].host, table->procs[i - 1].host) != 0)
			offer(all, table->procs[i].host, "");
}

/* Rows of `groups`: by number, or one rank of each. */
static void offer_groups(struct completions *all, bool by_number)
{
	const struct eqgroups *groups = all->session->groups;
	const struct view view = session_view((struct session *)all->session, all->arena);

	for (size_t i = 0; groups && i < groups->num_groups && i < MAX_RANKS; i++) {
		const struct rankset *set = groups->groups[i].ranks;
		const char *where = label_where(&view, &groups->groups[i], LABEL_SHORT);

		if (by_number)
			offer(all, arena_printf(all->arena, "%zu", i + 1),
			      arena_printf(all->arena, "%s %s",
					   label_ranks(all->arena, set, RANKS_WIDTH), where));
		else
			offer(all, arena_printf(all->arena, "%d", rankset_first(set)),
			      arena_printf(all->arena, "%s%s", where,
					   rankset_count(set) > 1 ? ", as others" : ""));
	}
}

/* takes_many: also offer words for several ranks. before: the previous word, or NULL. */
static void offer_ranks(struct completions *all, bool takes_many, const char *before)
{
	const struct verdict *verdict = all->session->verdict;
	bool is_known = verdict && verdict->culprits && !rankset_is_empty(verdict->culprits);

	if (takes_many && before && strcmp(before, "host") == 0 && all->session->job) {
		offer_hosts(all);
		return;
	}
	if (takes_many && before && strcmp(before, "group") == 0) {
		offer_groups(all, true);
		return;
	}
	if (takes_many)
		offer(all, "all", "all ranks");
	offer(all, "lp",
	      is_known ? label_who(all->arena, verdict->culprits, RANKS_WIDTH)
		       : "the ranks that lp names");
	if (takes_many) {
		offer(all, "group", "the ranks of a row of groups");
		offer(all, "host", "the ranks of a host");
	}
	offer_groups(all, false);
}

static void offer_comms(struct completions *all)
{
	const struct job_comms *comms = all->session->comms;

	for (size_t i = 0; comms && i < comms->num_comms; i++)
		if (comms->comms[i].name)
			offer(all, comms->comms[i].name, "");
}

static void offer_choices(struct completions *all, const struct option_spec *option)
{
	for (size_t i = 0; option->choices && option->choices[i]; i++)
		offer(all, option->choices[i], "");
}

static void offer_settings(struct completions *all, const struct args *before)
{
	const struct option_table *table = &setting_option_table;
	const char *name = before->num_words ? before->words[0] : NULL;
	const struct option_spec *setting =
		name ? option_find(table, 0, name, strlen(name), NULL) : NULL;

	for (size_t i = 0; i < table->num && !name; i++)
		offer(all, table->options[i].name, table->options[i].help);
	if (setting)
		offer_choices(all, setting);
}

static void offer_options(struct completions *all, const struct command *command)
{
	const struct option_table *table = command->options;

	for (size_t i = 0; table && i < table->num; i++)
		if (option_is_for(&table->options[i], command->users))
			offer(all,
			      arena_printf(all->arena, "%s%s", table->dashes,
					   table->options[i].name),
			      table->options[i].help);
}

/* Functions in the job's stacks and call paths, except names that need quotes. */
static void offer_functions(struct completions *all)
{
	const struct job *job = all->session->job;
	size_t num = job ? callpaths_count(job->callpaths) : 0;

	for (size_t i = 0; i < num && all->num < MAX_FUNCTIONS; i++) {
		const struct name *name = names_innermost(job->names, (uint32_t)i);

		for (; name; name = name->caller) {
			const char *function =
				name->is_symbol ? label_function(all->arena, name->function) : NULL;

			if (function && !strpbrk(function, " |>"))
				offer(all, function, name->file ? name->file : "");
		}
	}
}

static void offer_frames(struct completions *all)
{
	offer(all, "frame", "a frame by its number");
	offer(all, "parted", "the frame where the ranks part");
	offer_functions(all);
}

/* Complete the argument of the option before. */
static bool offer_argument(struct completions *all, const struct command *command,
			   const char *before)
{
	const struct option_spec *option = NULL;
	const char *argument;

	if (before && before[0] == '-' && command->options)
		option =
			option_find(command->options, command->users, before, strlen(before), NULL);
	if (!option || option->kind == OPTION_FLAG || option->otherwise)
		return false;
	argument = option->argument ? option->argument : "";
	offer_choices(all, option);
	if (strcmp(argument, "RE") == 0)
		offer_functions(all);
	all->are_files = strcmp(argument, "FILE") == 0;
	return true;
}

/* "FILE:0" and so on, if they begin with the typed text. */
static void offer_ranks_of(struct completions *all, const char *file, const struct job *job)
{
	const struct proctable *table = job->proctable;

	for (size_t i = 0; i < table->num_procs && all->num < MAX_RANKS; i++)
		offer(all, arena_printf(all->arena, "%s:%d", file, table->procs[i].rank),
		      table->procs[i].host);
}

/* After "FILE:", the ranks of that snapshot or of the session's job. False: there is no colon. */
static bool offer_file_ranks(struct completions *all)
{
	const char *colon = strrchr(all->typed, ':'), *file;
	struct job *job;

	if (!colon)
		return false;
	file = arena_strndup(all->arena, all->typed, (size_t)(colon - all->typed));
	if (strcmp(file, ".") == 0 || !*file) {
		if (all->session->job)
			offer_ranks_of(all, file, all->session->job);
	} else if (snapshot_load(file, &job, NULL) == 0) {
		offer_ranks_of(all, file, job);
		job_destroy(job);
	}
	return true;
}

static void offer_words(struct completions *all, const struct command *command,
			const struct args *before)
{
	const char *last = before->num_words ? before->words[before->num_words - 1] : NULL;
	bool is_option = all->typed[0] == '-';

	if (offer_argument(all, command, last))
		return;
	switch (command->words) {
	case WORDS_FRAME_RANKS:
		if (!before->num_words && !is_option)
			offer_frames(all);
		__attribute__((fallthrough));
	case WORDS_RANKS:
	case WORDS_RANK:
		if (!is_option)
			offer_ranks(all, command->words != WORDS_RANK, last);
		break;
	case WORDS_COMMS:
		offer_comms(all);
		break;
	case WORDS_SETTINGS:
		offer_settings(all, before);
		break;
	case WORDS_COMMANDS:
		offer_help(all, before);
		break;
	case WORDS_FILE_RANKS:
		all->are_files = !is_option && !offer_file_ranks(all);
		break;
	case WORDS_FILES:
		all->are_files = !is_option;
		break;
	case WORDS_NONE:
		break;
	}
	if (!all->are_files)
		offer_options(all, command);
}

static bool is_blank(const char *text)
{
	return !text[strspn(text, " \t")];
}

struct completions complete_line(struct arena *arena, const struct session *session,
				 const char *line, size_t start)
{
	struct completions all = {.arena = arena, .session = session, .typed = line + start};
	const char *before = arena_strndup(arena, line, start), *rest = before;
	const char *mark = strrchr(before, '>');
	const struct command *command = NULL;
	struct args *args;

	if (mark && is_blank(mark + 1)) {
		all.are_files = true;
	} else if (is_blank(before)) {
		offer_commands(&all, command_table);
		offer_macros(&all);
	} else {
		/* Without a command, the word may be the first word of a family. */
		command_take(&rest, &command, NULL);
		if (args_parse(rest, &args, NULL) < 0)
			return all;
		if (command && rest != before)
			offer_words(&all, command, args);
		else if (args->num_words == 1)
			offer_family(&all, args);
		args_destroy(args);
	}
	return all;
}
