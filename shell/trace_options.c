/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/trace_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/arena.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/traces.h"
#include "shell/args.h"
#include "shell/option.h"
#include "shell/session.h"
#include "shell/trace_source.h"

/* ---- Options ---- */

#define PLACE(member) offsetof(struct trace_options, member)

static const char *const details[] = {"path", "line", "function", "call", NULL};
static const char *const kinds[] = {"entries", "pairs", "bodies", "ends", NULL};
static const char *const frequencies[] = {"no", "actual", "log10", NULL};
static const char *const linkages[] = {"single", "complete", "average", "ward", NULL};

static int take_pattern(void *traces, const struct option *option, const char *typed,
			const struct args *args, size_t *next, struct pdb_error *err)
{
	struct trace_options *ret = traces;
	const regex_t **place = (const regex_t **)((char *)traces + option->place);
	regex_t *expression = &ret->expressions[ret->num_expressions];

	(void)typed;
	if (*next >= args->num_words)
		return error_set(err, ERROR_USAGE, "something is missing after \"-%s\"",
				 option->name);
	if (*place)
		return error_set(err, ERROR_USAGE, "-%s is there twice", option->name);
	if (args_compile(args->words[(*next)++], 0, expression, err) < 0)
		return -1;
	ret->num_expressions++;
	*place = expression;
	return 0;
}

#define TAKES(text, what, member) .name = text, .kind = what, .place = PLACE(member)

static const struct option options[] = {
	{TAKES("all", OPTION_FLAG, all)},
	{TAKES("attributes", OPTION_SET, kinds), .choices = kinds, .value = ATTRIBUTE_ENTRY,
	 .group = TRACE_TAKES_ATTRIBUTES},
	{TAKES("by", OPTION_CHOICE, runs.detail), .choices = details},
	{TAKES("communication", OPTION_FLAG, runs.filter.is_communication)},
	{TAKES("frequency", OPTION_SET, frequencies), .choices = frequencies, .value = 1,
	 .group = TRACE_TAKES_ATTRIBUTES},
	{TAKES("linkage", OPTION_CHOICE, linkage), .choices = linkages,
	 .group = TRACE_TAKES_LINKAGE},
	{TAKES("mpi", OPTION_FLAG, runs.filter.is_mpi)},
	{TAKES("only", OPTION_OTHER, runs.filter.only), .take = take_pattern},
	{TAKES("without", OPTION_OTHER, runs.filter.without), .take = take_pattern},
};

static void end_options(void *object)
{
	struct trace_options *o = object;

	for (unsigned int i = 0; i < o->num_expressions; i++)
		regfree(&o->expressions[i]);
}

struct trace_options *trace_options_take(struct session *session, const struct args *args,
					 unsigned int takes, struct answer *answer,
					 struct args *rest, struct pdb_error *err)
{
	struct trace_options *ret = arena_alloc(answer->arena, sizeof(*ret));
	bool failed;

	*ret = (struct trace_options){
		.linkage = LINKAGE_AVERAGE,
		.runs.all_threads = session->settings.values[SETTING_THREADS] == SWITCH_ON,
	};
	arena_keep(answer->arena, ret, end_options);
	failed = option_take_all(options, sizeof(options) / sizeof(options[0]), takes, args, ret,
				 rest, err) < 0;
	arena_keep(answer->arena, rest->words, free);
	answer->is_full = ret->all;
	return failed ? NULL : ret;
}

/* ---- A run ---- */

static void end_input(void *object)
{
	struct trace_input *input = object;

	traces_destroy(input->traces);
	if (input->is_own)
		job_destroy(input->job);
}

const struct trace_input *trace_input_open(struct session *session, const char *word,
					   const struct rankset *ranks, struct answer *answer,
					   struct pdb_error *err)
{
	struct trace_input *ret = arena_alloc(answer->arena, sizeof(*ret));

	ret->name = word;
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
	arena_keep(answer->arena, ret, end_input);
	return ret->traces ? ret : NULL;
}
