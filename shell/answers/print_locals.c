/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/printed.h"
#include "shell/answers/print_values.h"
#include "shell/session.h"

struct names {
	const char **list;
	size_t num, capacity;
};

struct locals {
	struct arena *arena;
	struct printed_locals *result;
	struct names *names; /* of each function */
	size_t capacity, names_capacity;
};

static size_t get_function(struct locals *locals, const char *name)
{
	struct printed_locals *result = locals->result;
	size_t num_names = result->num, i = 0;

	while (i < result->num &&
	       (name ? !result->functions[i].name || strcmp(result->functions[i].name, name) != 0
		     : result->functions[i].name != NULL))
		i++;
	if (i < result->num)
		return i;
	*ARENA_PUSH(locals->arena, result->functions, result->num, locals->capacity) =
		(struct printed_function){
			.name = name,
			.ranks = rankset_in(locals->arena, rankset_create()),
		};
	*ARENA_PUSH(locals->arena, locals->names, num_names, locals->names_capacity) =
		(struct names){.num = 0};
	return i;
}

static void add_names(struct locals *locals, struct names *to, const char *const *list, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		size_t k = 0;

		while (k < to->num && strcmp(to->list[k], list[i]) != 0)
			k++;
		if (k == to->num)
			*ARENA_PUSH(locals->arena, to->list, to->num, to->capacity) = list[i];
	}
}

/* The innermost frame of the program's own code; CALLPATH_NONE: there is none. */
static uint32_t own_frame(const struct job *job, uint32_t path)
{
	const struct callpath_node *node;

	for (; path != CALLPATH_NONE; path = node->parent) {
		node = callpaths_get(job->callpaths, path);
		if (modules_is_own_code(job->modules, node->module, node->offset))
			break;
	}
	return path;
}

static void add_sample(struct locals *locals, struct values *values, const struct job *job,
		       const struct sample *sample)
{
	uint32_t node = own_frame(job, sample->path);
	const char **list = NULL, *name = NULL;
	size_t num = 0, function;

	if (node != CALLPATH_NONE) {
		struct values_frame frame = print_frame(callpaths_get(job->callpaths, node));

		num = values_names(values, locals->arena, &frame, &list, &name);
	}
	function = get_function(locals, name);
	rankset_add(locals->result->functions[function].ranks, sample->rank);
	add_names(locals, &locals->names[function], list, num);
}

static int read_function(struct session *session, struct locals *locals, size_t number,
			 struct pdb_error *err)
{
	struct printed_function *function = &locals->result->functions[number];
	const struct names *names = &locals->names[number];

	function->num = names->num;
	function->list = arena_array(locals->arena, names->num + 1, sizeof(*function->list));
	return names->num ? print_values(session, locals->arena, names->list, names->num,
					 function->name, function->ranks, function->list, err)
			  : 0;
}

static int by_ranks(const void *a, const void *b)
{
	const struct printed_function *x = a, *y = b;

	return !x->name - !y->name
		       ?: SORTED_ORDER(rankset_count(y->ranks), rankset_count(x->ranks))
		       ?: SORTED_ORDER(rankset_first(x->ranks), rankset_first(y->ranks));
}

int print_locals(struct session *session, struct arena *arena, const struct rankset *ranks,
		 struct printed_locals *ret, struct pdb_error *err)
{
	struct locals locals = {.arena = arena, .result = ret};
	struct values *values;
	struct samples *samples;
	int result = 0;

	*ret = (struct printed_locals){.num = 0};
	if (session_check_memory(session, err) < 0 ||
	    session_read_probes(session, ranks, NULL, 0, &samples, err) < 0)
		return -1;
	values = values_create(session->job->modules, 0);
	for (size_t i = 0; i < samples->num_samples; i++)
		if (samples->samples[i].is_main)
			add_sample(&locals, values, session->job, &samples->samples[i]);
	values_destroy(values);
	samples_destroy(samples);
	for (size_t i = 0; i < ret->num && result == 0; i++)
		result = read_function(session, &locals, i, err);
	sorted_make(ret->functions, ret->num, sizeof(*ret->functions), by_ranks);
	return result;
}
