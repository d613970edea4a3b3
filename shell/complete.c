/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/words/label.h"
#include "shell/args.h"
#include "shell/command.h"
#include "shell/complete.h"
#include "shell/option_text.h"
#include "shell/session.h"
#include "shell/topics.h"

/* So many ranks of groups are offered, and so many functions. */
#define MAX_RANKS 20
#define MAX_FUNCTIONS 2000
#define RANKS_WIDTH 30

/* Offer `word` if it begins with what was typed and was not offered before. */
static void offer(struct completions *all, const char *word, const char *what, const char *typed)
{
	if (strncmp(word, typed, strlen(typed)) != 0)
		return;
	for (size_t i = 0; i < all->num; i++)
		if (strcmp(all->all[i].word, word) == 0)
			return;
	all->all = xgrow(all->all, all->num, &all->capacity, sizeof(*all->all));
	all->all[all->num++] = (struct completion){xstrdup(word), xstrdup(what)};
}

/* ---- Commands ---- */

static void offer_commands(struct completions *all, const struct command *const *table,
			   const char *typed)
{
	for (size_t i = 0; table[i]; i++)
		offer(all, table[i]->name, table[i]->summary, typed);
}

static void offer_macros(struct completions *all, const struct session *session, const char *typed)
{
	for (const struct macro *macro = session->macros.first; macro; macro = macro->next)
		offer(all, macro->name, "user-defined", typed);
}

/* What help explains. */
static void offer_help(struct completions *all, const struct session *session,
		       const struct args *before, const char *typed)
{
	const struct command *command;

	if (before->num_words) {
		if (command_find(command_table, "", before->words[0], &command, NULL) == 0 &&
		    command->family)
			offer_commands(all, command->family, typed);
		return;
	}
	offer_commands(all, command_table, typed);
	offer_macros(all, session, typed);
	for (const struct topic *topic = topic_table; topic->name; topic++)
		offer(all, topic->name, topic->summary, typed);
	for (int i = 0; i < NUM_TOPICS; i++)
		offer(all, command_topic_words[i], command_topics[i], typed);
	offer(all, "all", "all commands", typed);
}

/* ---- Ranks ---- */

static void offer_hosts(struct completions *all, const struct session *session, const char *typed)
{
	const struct proctable *table = session->job->proctable;

	for (size_t i = 0; i < table->num_procs; i++)
		if (i == 0 || strcmp(table->procs[i].host, table->procs[i - 1].host) != 0)
			offer(all, table->procs[i].host, "", typed);
}

/* Rows of `groups`: by their numbers, or one rank of each. */
static void offer_groups(struct completions *all, const struct session *session, bool by_number,
			 const char *typed)
{
	const struct eqgroups *groups = session->groups;
	struct arena *arena = arena_create();
	struct view view = session_view((struct session *)session, arena);

	for (size_t i = 0; groups && i < groups->num_groups && i < MAX_RANKS; i++) {
		const struct rankset *set = groups->groups[i].ranks;
		const char *where = label_where(&view, &groups->groups[i], LABEL_SHORT);

		if (by_number)
			offer(all, arena_printf(arena, "%zu", i + 1),
			      arena_printf(arena, "%s %s", label_ranks(arena, set, RANKS_WIDTH),
					   where),
			      typed);
		else
			offer(all, arena_printf(arena, "%d", rankset_first(set)),
			      arena_printf(arena, "%s%s", where,
					   rankset_count(set) > 1 ? ", as others" : ""),
			      typed);
	}
	arena_destroy(arena);
}

/* takes_many: also words that stand for several. */
static void offer_ranks(struct completions *all, const struct session *session, bool takes_many,
			const char *before, const char *typed)
{
	const struct rankset *least = session->verdict ? session->verdict->culprits : NULL;
	struct arena *arena = arena_create();

	if (takes_many && before && strcmp(before, "host") == 0 && session->job) {
		offer_hosts(all, session, typed);
	} else if (takes_many && before && strcmp(before, "group") == 0) {
		offer_groups(all, session, true, typed);
	} else {
		if (takes_many)
			offer(all, "all", "all ranks", typed);
		offer(all, "lp",
		      least && !rankset_is_empty(least) ? label_who(arena, least, RANKS_WIDTH)
							: "the least-progressed ranks",
		      typed);
		if (takes_many) {
			offer(all, "group", "the ranks of a row of groups", typed);
			offer(all, "host", "the ranks of a host", typed);
		}
		offer_groups(all, session, false, typed);
	}
	arena_destroy(arena);
}

static void offer_comms(struct completions *all, const struct session *session, const char *typed)
{
	for (size_t i = 0; session->comms && i < session->comms->num_comms; i++)
		if (session->comms->comms[i].name)
			offer(all, session->comms->comms[i].name, "", typed);
}

/* ---- Settings and options ---- */

static void offer_settings(struct completions *all, const struct args *before, const char *typed)
{
	enum setting_id id;

	if (before->num_words == 0) {
		for (int i = 0; i < NUM_SETTINGS; i++)
			offer(all, setting_table[i].name, setting_table[i].text, typed);
		return;
	}
	if (settings_find(before->words[0], &id, NULL) < 0 ||
	    setting_table[id].type != SETTING_CHOICE)
		return;
	for (int i = 0; setting_table[id].choices[i]; i++)
		offer(all, setting_table[id].choices[i], "", typed);
}

static const char *options_of(const struct command *command)
{
	return command->options ? command->options : command->text;
}

static void offer_options(struct completions *all, const struct command *command, const char *typed)
{
	const char *text = options_of(command);
	struct option_cursor cursor = {text, text};
	struct option_text option;

	while (option_text_next(&cursor, &option))
		offer(all, option.name, option.what, typed);
}

/* Functions in the stacks and call paths of the job. Those that would have to be quoted are left
 * out. */
static void offer_functions(struct completions *all, const struct session *session,
			    const char *typed)
{
	size_t num = session->job ? callpaths_count(session->job->callpaths) : 0;
	struct arena *arena = arena_create();

	for (size_t i = 0; i < num && all->num < MAX_FUNCTIONS; i++) {
		const struct name *name = names_innermost(session->job->names, (uint32_t)i);

		for (; name; name = name->caller) {
			const char *function =
				name->is_symbol ? label_function(arena, name->function) : NULL;

			if (function && !strpbrk(function, " |>"))
				offer(all, function, name->file ? name->file : "", typed);
		}
	}
	arena_destroy(arena);
}

/* The words of "a|b|c"; of several with commas the last is completed. */
static void offer_choices(struct completions *all, const char *choices, const char *typed)
{
	while (*choices) {
		size_t length = strcspn(choices, "|");
		char *word = xstrndup(choices, length);

		offer(all, word, "", typed);
		free(word);
		choices += length + (choices[length] == '|');
	}
}

/* Behind an option that takes an argument: that. */
static bool offer_argument(struct completions *all, const struct session *session,
			   const struct command *command, const char *before, const char *typed)
{
	struct option_text option;

	if (!before || before[0] != '-' ||
	    !option_text_find(options_of(command), before, &option) || !option.argument[0])
		return false;
	if (strcmp(option.argument, "RE") == 0)
		offer_functions(all, session, typed);
	else if (strcmp(option.argument, "FILE") == 0)
		all->are_files = true;
	else if (strchr(option.argument, '|'))
		offer_choices(all, option.argument, typed);
	return true;
}

/* ---- Ranks of files ---- */

/* "FILE:0" and so on, as far as they begin with what was typed. */
static void offer_ranks_of(struct completions *all, const char *file, const struct job *job,
			   const char *typed)
{
	const struct proctable *table = job->proctable;

	for (size_t i = 0; i < table->num_procs && all->num < MAX_RANKS; i++) {
		char *word = xasprintf("%s:%d", file, table->procs[i].rank);

		offer(all, word, table->procs[i].host, typed);
		free(word);
	}
}

/* Behind "FILE:" the ranks of that snapshot, or of the job here; false: there is no colon. */
static bool offer_file_ranks(struct completions *all, const struct session *session,
			     const char *typed)
{
	const char *colon = strrchr(typed, ':');
	char *file = colon ? xstrndup(typed, (size_t)(colon - typed)) : NULL;
	struct job *job;

	if (!file)
		return false;
	if (strcmp(file, ".") == 0 || !*file) {
		if (session->job)
			offer_ranks_of(all, file, session->job, typed);
	} else if (snapshot_load(file, &job, NULL) == 0) {
		offer_ranks_of(all, file, job, typed);
		job_destroy(job);
	}
	free(file);
	return true;
}

/* ---- Lines ---- */

static void offer_words(struct completions *all, const struct session *session,
			const struct command *command, const char *before, const char *typed)
{
	struct args *args;
	const char *last;

	if (args_parse(before, &args, NULL) < 0)
		return;
	last = args->num_words ? args->words[args->num_words - 1] : NULL;
	if (offer_argument(all, session, command, last, typed)) {
		args_destroy(args);
		return;
	}
	switch (command->words) {
	case WORDS_RANKS:
	case WORDS_RANK:
		if (typed[0] != '-')
			offer_ranks(all, session, command->words == WORDS_RANKS, last, typed);
		break;
	case WORDS_COMMS:
		offer_comms(all, session, typed);
		break;
	case WORDS_SETTINGS:
		offer_settings(all, args, typed);
		break;
	case WORDS_COMMANDS:
		offer_help(all, session, args, typed);
		break;
	case WORDS_FILE_RANKS:
		all->are_files = typed[0] != '-' && !offer_file_ranks(all, session, typed);
		break;
	case WORDS_FILES:
		all->are_files = typed[0] != '-';
		break;
	case WORDS_NONE:
		break;
	}
	if (!all->are_files)
		offer_options(all, command, typed);
	args_destroy(args);
}

static bool is_blank(const char *text)
{
	while (isblank((unsigned char)*text))
		text++;
	return !*text;
}

void complete_line(const struct session *session, const char *line, size_t start,
		   struct completions *ret)
{
	char *before = xstrndup(line, start);
	const char *typed = line + start, *rest = before;
	const struct command *command;
	char *mark = strrchr(before, '>');

	*ret = (struct completions){0};
	if (mark && is_blank(mark + 1)) {
		ret->are_files = true;
	} else if (is_blank(before)) {
		offer_commands(ret, command_table, typed);
		offer_macros(ret, session, typed);
	} else if (command_take(&rest, &command, NULL) == 0) {
		offer_words(ret, session, command, rest, typed);
	} else {
		/* The first word of a family, the second still to come? */
		struct args *args;
		const struct command *family;

		if (args_parse(before, &args, NULL) == 0) {
			if (args->num_words == 1 &&
			    command_find(command_table, "", args->words[0], &family, NULL) == 0 &&
			    family->family)
				offer_commands(ret, family->family, typed);
			args_destroy(args);
		}
	}
	free(before);
}

void completions_free(struct completions *completions)
{
	for (size_t i = 0; i < completions->num; i++) {
		free(completions->all[i].word);
		free(completions->all[i].what);
	}
	free(completions->all);
}
