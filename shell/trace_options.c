/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/trace_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/job/job.h"
#include "model/trace/traces.h"
#include "model/xalloc.h"
#include "shell/args.h"
#include "shell/session.h"
#include "shell/trace_source.h"

/* ---- Options ---- */

enum option_kind { OPTION_FLAG, OPTION_CHOICE, OPTION_SET, OPTION_PATTERN };

struct option {
	const char *name;
	enum option_kind kind;
	size_t place; /* in struct trace_options: a bool, an enum, a set of bits, a regex_t pointer
		       */
	const char *const *choices; /* NULL at the end */
	unsigned int first;         /* bit of a set's first choice */
	unsigned int group;         /* enum trace_option_group; 0: every command takes it */
};

#define PLACE(member) offsetof(struct trace_options, member)

static const char *const details[] = {"path", "line", "function", "call", NULL};
static const char *const kinds[] = {"entries", "pairs", "bodies", "ends", NULL};
static const char *const frequencies[] = {"no", "actual", "log10", NULL};
static const char *const linkages[] = {"single", "complete", "average", "ward", NULL};

static const struct option options[] = {
	{"all", OPTION_FLAG, PLACE(all), NULL, 0, 0},
	{"attributes", OPTION_SET, PLACE(kinds), kinds, ATTRIBUTE_ENTRY, TRACE_TAKES_ATTRIBUTES},
	{"by", OPTION_CHOICE, PLACE(runs.detail), details, 0, 0},
	{"communication", OPTION_FLAG, PLACE(runs.filter.is_communication), NULL, 0, 0},
	{"frequency", OPTION_SET, PLACE(frequencies), frequencies, 1, TRACE_TAKES_ATTRIBUTES},
	{"linkage", OPTION_CHOICE, PLACE(linkage), linkages, 0, TRACE_TAKES_LINKAGE},
	{"mpi", OPTION_FLAG, PLACE(runs.filter.is_mpi), NULL, 0, 0},
	{"only", OPTION_PATTERN, PLACE(runs.filter.only), NULL, 0, 0},
	{"without", OPTION_PATTERN, PLACE(runs.filter.without), NULL, 0, 0},
};

enum { NUM_OPTIONS = sizeof(options) / sizeof(options[0]) };

/* Of those that the command takes. */
static const struct option *find_option(const char *word, unsigned int takes, struct pdb_error *err)
{
	const char *names[NUM_OPTIONS];
	int found;

	for (size_t i = 0; i < NUM_OPTIONS; i++)
		names[i] = !options[i].group || options[i].group & takes ? options[i].name : NULL;
	found = args_find_option(word, names, NUM_OPTIONS, err);
	return found < 0 ? NULL : &options[found];
}

/* The number of the choice that begins so; -1: none, or several. */
static int find_choice(const struct option *option, const char *text, size_t length,
		       struct pdb_error *err)
{
	int found = -1;

	for (int i = 0; option->choices[i] && length > 0; i++) {
		if (strncmp(option->choices[i], text, length) != 0)
			continue;
		if (found >= 0)
			return error_set(err, ERROR_USAGE, "-%s: \"%.*s\" is ambiguous: %s, %s",
					 option->name, (int)length, text, option->choices[found],
					 option->choices[i]);
		found = i;
	}
	if (found < 0) {
		char known[128] = "";

		for (int i = 0; option->choices[i]; i++)
			snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
				 i > 0 ? ", " : "", option->choices[i]);
		return error_set(err, ERROR_USAGE, "-%s: no \"%.*s\": %s", option->name,
				 (int)length, text, known);
	}
	return found;
}

static int take_set(const struct option *option, const char *word, unsigned int *set,
		    struct pdb_error *err)
{
	for (;;) {
		size_t length = strcspn(word, ",");
		int choice = find_choice(option, word, length, err);

		if (choice < 0)
			return -1;
		*set |= option->first << choice;
		if (!word[length])
			return 0;
		word += length + 1;
	}
}

static int take_pattern(struct trace_options *ret, const struct option *option, const char *word,
			struct pdb_error *err)
{
	const regex_t **place = (const regex_t **)((char *)ret + option->place);
	regex_t *expression = &ret->expressions[ret->num_expressions];

	if (*place)
		return error_set(err, ERROR_USAGE, "-%s is there twice", option->name);
	if (args_compile(word, 0, expression, err) < 0)
		return -1;
	ret->num_expressions++;
	*place = expression;
	return 0;
}

static int take_option(struct trace_options *ret, unsigned int takes, const struct args *args,
		       size_t *next, struct pdb_error *err)
{
	const struct option *option = find_option(args->words[*next], takes, err);
	const char *word;
	char *place;
	int choice;

	if (!option)
		return -1;
	place = (char *)ret + option->place;
	(*next)++;
	if (option->kind == OPTION_FLAG) {
		*(bool *)place = true;
		return 0;
	}
	if (*next >= args->num_words)
		return error_set(err, ERROR_USAGE, "something is missing after \"-%s\"",
				 option->name);
	word = args->words[(*next)++];
	switch (option->kind) {
	case OPTION_CHOICE:
		choice = find_choice(option, word, strlen(word), err);
		if (choice < 0)
			return -1;
		*(unsigned int *)place = (unsigned int)choice;
		return 0;
	case OPTION_SET:
		return take_set(option, word, (unsigned int *)place, err);
	default:
		return take_pattern(ret, option, word, err);
	}
}

int trace_options_take(struct session *session, const struct args *args, unsigned int takes,
		       struct trace_options *ret, struct args *rest, struct pdb_error *err)
{
	*ret = (struct trace_options){
		.linkage = LINKAGE_AVERAGE,
		.runs.all_threads = session->settings.values[SETTING_THREADS] == SWITCH_ON,
	};
	*rest = (struct args){.words = xcalloc(args->num_words + 1, sizeof(*rest->words))};
	for (size_t next = 0; next < args->num_words;) {
		if (args->words[next][0] != '-' || !args->words[next][1]) {
			rest->words[rest->num_words++] = args->words[next++];
		} else if (take_option(ret, takes, args, &next, err) < 0) {
			trace_options_deinit(ret, rest);
			return -1;
		}
	}
	return 0;
}

void trace_options_deinit(struct trace_options *o, struct args *rest)
{
	for (unsigned int i = 0; i < o->num_expressions; i++)
		regfree(&o->expressions[i]);
	free(rest->words);
}

/* ---- A run ---- */

int trace_input_open(struct session *session, const char *word, const struct rankset *ranks,
		     struct trace_input *ret, struct pdb_error *err)
{
	*ret = (struct trace_input){.name = word};
	if (strcmp(word, ".") != 0) {
		ret->is_own = true;
		ret->traces = trace_source_load(word, &ret->job, err);
	} else if (session->job) {
		ret->job = session->job;
		ret->traces = trace_source_get(session, ranks, err);
	} else {
		error_set(err, ERROR_USAGE,
			  "there is no job for \".\": attach to one, load a "
			  "snapshot, or name two files");
	}
	return ret->traces ? 0 : -1;
}

void trace_input_close(struct trace_input *input)
{
	traces_destroy(input->traces);
	if (input->is_own)
		job_destroy(input->job);
	*input = (struct trace_input){.name = NULL};
}
