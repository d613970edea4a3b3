/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/printed.h"
#include "shell/answers/frame.h"
#include "shell/answers/print_values.h"
#include "shell/session.h"

struct names {
	const char **list;
	size_t num, capacity;
};

struct locals {
	struct arena *arena;
	const struct frame *frame;
	bool are_arguments;
	struct printed_locals *result;
	struct names *names; /* of each function */
	size_t capacity, names_capacity;
};

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static size_t get_function(struct locals *locals, const char *name, const char *why)
{
	struct printed_locals *result = locals->result;
	size_t num_names = result->num, i = 0;

	while (i < result->num && (!is_same(result->functions[i].name, name) ||
				   !is_same(result->functions[i].why, why)))
		i++;
	if (i < result->num)
		return i;
	*ARENA_PUSH(locals->arena, result->functions, result->num, locals->capacity) =
		(struct printed_function){
			.name = name,
			.why = why,
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

/* Of one frame. NULL: it is not that function. */
static const char *names_of(struct locals *locals, struct values *values, const struct job *job,
			    uint32_t id, const char ***list_ret, size_t *num_ret)
{
	const struct callpath_node *node = callpaths_get(job->callpaths, id);
	const struct values_frame frame = print_frame(node);
	const char *name = NULL;

	*num_ret = 0;
	if (modules_is_own_code(job->modules, node->module, node->offset))
		*num_ret = values_names(values, locals->arena, &frame, locals->frame->function,
					locals->are_arguments ? VALUES_ARGUMENTS : VALUES_LOCALS,
					list_ret, &name);
	return name;
}

static void add_sample(struct locals *locals, struct values *values, const struct job *job,
		       const struct sample *sample)
{
	bool is_any = locals->frame->kind == FRAME_FUNCTION;
	uint32_t id = is_any ? sample->path : frame_find(job, locals->frame, sample->path);
	const char **list = NULL, *name = NULL, *why = NULL;
	size_t num = 0, function;

	if (id == CALLPATH_NONE)
		why = frame_missing(locals->arena, locals->frame);
	for (; id != CALLPATH_NONE && !name; id = callpaths_get(job->callpaths, id)->parent) {
		name = names_of(locals, values, job, id, &list, &num);
		if (!is_any)
			break;
	}
	if (!name && !why)
		why = is_any ? frame_missing(locals->arena, locals->frame)
			     : "no debug information of what runs there; compile with -g";
	function = get_function(locals, name, why);
	rankset_add(locals->result->functions[function].ranks, sample->rank);
	add_names(locals, &locals->names[function], list, num);
}

static int read_function(struct session *session, struct locals *locals, size_t number,
			 struct pdb_error *err)
{
	struct printed_function *function = &locals->result->functions[number];
	const struct names *names = &locals->names[number];
	struct frame frame = *locals->frame;

	function->num = names->num;
	function->list = arena_array(locals->arena, names->num + 1, sizeof(*function->list));
	if (!names->num)
		return 0;
	/* Where the function is known, ranks that move are followed to it. */
	if (frame.kind == FRAME_ANY)
		frame = (struct frame){.kind = FRAME_FUNCTION, .function = function->name};
	return print_values(session, locals->arena, names->list, names->num, &frame,
			    function->ranks, function->list, err);
}

static int by_ranks(const void *a, const void *b)
{
	const struct printed_function *x = a, *y = b;

	return !x->name - !y->name
		       ?: SORTED_ORDER(rankset_count(y->ranks), rankset_count(x->ranks))
		       ?: SORTED_ORDER(rankset_first(x->ranks), rankset_first(y->ranks));
}

int print_locals(struct session *session, struct arena *arena, const struct frame *frame,
		 bool are_arguments, const struct rankset *ranks, struct printed_locals *ret,
		 struct pdb_error *err)
{
	struct locals locals = {
		.arena = arena,
		.frame = frame,
		.are_arguments = are_arguments,
		.result = ret,
	};
	struct values *values;
	struct samples *samples;
	int result = 0;

	*ret = (struct printed_locals){.are_arguments = are_arguments};
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
