/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model/job.h"
#include "model/job_comms.h"
#include "model/proctable.h"
#include "model/xalloc.h"
#include "shell/args.h"
#include "shell/command.h"
#include "shell/complete.h"
#include "shell/session.h"

/* Offer `word` if it begins with what was typed and was not offered before. */
static void offer(struct completions *all, const char *word, const char *typed)
{
	if (strncmp(word, typed, strlen(typed)) != 0)
		return;
	for (size_t i = 0; i < all->num_words; i++)
		if (strcmp(all->words[i], word) == 0)
			return;
	all->words = xgrow(all->words, all->num_words, &all->capacity, sizeof(char *));
	all->words[all->num_words++] = xstrdup(word);
}

static void offer_commands(struct completions *all, const struct command *const *table,
			   const char *typed)
{
	for (size_t i = 0; table[i]; i++)
		offer(all, table[i]->name, typed);
}

static void offer_macros(struct completions *all, const struct session *session, const char *typed)
{
	for (const struct macro *macro = session->macros.first; macro; macro = macro->next)
		offer(all, macro->name, typed);
}

static void offer_ranks(struct completions *all, const struct session *session, const char *before,
			const char *typed)
{
	const struct proctable *table = session->job ? session->job->proctable : NULL;
	bool wants_host = before && strcmp(before, "host") == 0;

	if (!wants_host) {
		offer(all, "all", typed);
		offer(all, "lp", typed);
		offer(all, "group", typed);
		offer(all, "host", typed);
		return;
	}
	for (size_t i = 0; table && i < table->num_procs; i++)
		if (i == 0 || strcmp(table->procs[i].host, table->procs[i - 1].host) != 0)
			offer(all, table->procs[i].host, typed);
}

static void offer_comms(struct completions *all, const struct session *session, const char *typed)
{
	for (size_t i = 0; session->comms && i < session->comms->num_comms; i++)
		if (session->comms->comms[i].name)
			offer(all, session->comms->comms[i].name, typed);
}

static void offer_settings(struct completions *all, const struct args *before, const char *typed)
{
	enum setting_id id;

	if (before->num_words == 0) {
		for (int i = 0; i < NUM_SETTINGS; i++)
			offer(all, setting_table[i].name, typed);
		return;
	}
	if (settings_find(before->words[0], &id, NULL) < 0 ||
	    setting_table[id].type != SETTING_CHOICE)
		return;
	for (int i = 0; setting_table[id].choices[i]; i++)
		offer(all, setting_table[id].choices[i], typed);
}

static void offer_words(struct completions *all, const struct session *session,
			const struct command *command, const char *before, const char *typed)
{
	struct args *args;

	if (args_parse(before, &args, NULL) < 0)
		return;
	switch (command->words) {
	case WORDS_RANKS:
		offer_ranks(all, session, args->num_words ? args->words[args->num_words - 1] : NULL,
			    typed);
		break;
	case WORDS_COMMS:
		offer_comms(all, session, typed);
		break;
	case WORDS_SETTINGS:
		offer_settings(all, args, typed);
		break;
	case WORDS_COMMANDS:
		offer_commands(all, command_table, typed);
		offer_macros(all, session, typed);
		break;
	case WORDS_FILES:
		all->are_files = true;
		break;
	case WORDS_NONE:
		break;
	}
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
	for (size_t i = 0; i < completions->num_words; i++)
		free(completions->words[i]);
	free(completions->words);
}
