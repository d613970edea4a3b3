/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/variables.h"
#include "render/printed.h"
#include "render/words/label.h"
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

/* What came with the sample of the frame `id`. NULL: it is not that function. */
static const char *names_of_sample(struct locals *locals, const struct job *job,
				   const struct sample *sample, uint32_t id, const char ***list_ret,
				   size_t *num_ret)
{
	const struct variables *variables = sample->variables;
	uint32_t depth = callpaths_get(job->callpaths, id)->depth;
	const struct name *name = names_innermost(job->names, id);
	enum variable_kind wanted = locals->are_arguments ? VARIABLE_ARGUMENT : VARIABLE_LOCAL;

	while (name && locals->frame->kind == FRAME_FUNCTION &&
	       !frame_is_called(locals->arena, name, locals->frame->function))
		name = name->caller;
	if (!name || !variables_has_frame(variables, depth))
		return NULL;
	*list_ret = arena_array(locals->arena, variables->num, sizeof(char *));
	for (size_t i = 0; i < variables->num; i++)
		if (variables->list[i].depth == depth && variables->list[i].kind == wanted)
			(*list_ret)[(*num_ret)++] =
				arena_strdup(locals->arena, variables->list[i].name);
	return label_function(locals->arena, names_function(job->names, id)->function);
}

/* Of one frame. NULL: it is not that function, or nothing is known of it. */
static const char *names_of(struct locals *locals, struct values *values, const struct job *job,
			    const struct sample *sample, uint32_t id, const char ***list_ret,
			    size_t *num_ret)
{
	const struct callpath_node *node = callpaths_get(job->callpaths, id);
	const struct values_frame frame = print_frame(node);
	const char *name;

	*num_ret = 0;
	name = names_of_sample(locals, job, sample, id, list_ret, num_ret);
	if (!name && values && modules_is_own_code(job->modules, node->module, node->offset))
		*num_ret = values_names(values, locals->arena, &frame, locals->frame->function,
					locals->are_arguments ? VALUES_ARGUMENTS : VALUES_LOCALS,
					list_ret, &name);
	return name;
}

/* values: NULL if there is no memory to read them from. */
static void add_sample(struct locals *locals, struct values *values, const struct job *job,
		       const struct sample *sample)
{
	bool is_any = locals->frame->kind == FRAME_FUNCTION;
	bool has_stack = sample->path != CALLPATH_NONE;
	uint32_t id =
		is_any || !has_stack ? sample->path : frame_find(job, locals->frame, sample->path);
	const char **list = NULL, *name = NULL, *why = NULL;
	size_t num = 0, function;

	if (!has_stack)
		why = arena_strdup(locals->arena, sample->note ?: "no stack");
	else if (!values && !sample->variables)
		why = PRINT_NOT_KEPT;
	else if (id == CALLPATH_NONE)
		why = print_unknown_python(locals->arena, job, sample->path)
			      ?: frame_missing(locals->arena, locals->frame);
	for (; id != CALLPATH_NONE && !name && !why;
	     id = callpaths_get(job->callpaths, id)->parent) {
		name = names_of(locals, values, job, sample, id, &list, &num);
		if (!is_any)
			break;
	}
	if (!name && !why)
		why = is_any    ? frame_missing(locals->arena, locals->frame)
		      : !values ? "not kept of that frame"
				: print_no_information(locals->arena, job, sample->path);
	function = get_function(locals, name, why);
	rankset_add(locals->result->functions[function].ranks, sample->rank);
	add_names(locals, &locals->names[function], list, num);
}

/* All that a snapshot has. */
static void add_kept(struct locals *locals, const struct job *job, const struct rankset *ranks)
{
	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		const struct sample none = {.rank = rank, .path = CALLPATH_NONE};

		add_sample(locals, NULL, job, samples_find(job->samples, rank, 0) ?: &none);
	}
}

static int add_sampled(struct session *session, struct locals *locals, const struct rankset *ranks,
		       struct pdb_error *err)
{
	struct values *values;
	struct samples *samples;

	if (session_read_probes(session, ranks, NULL, 0, &samples, err) < 0)
		return -1;
	values = values_create(session->job->modules, 0);
	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		const struct sample none = {
			.rank = rank,
			.path = CALLPATH_NONE,
			.note = (char *)print_no_sample(session->job, rank),
		};

		add_sample(locals, values, session->job, samples_find(samples, rank, 0) ?: &none);
	}
	values_destroy(values);
	samples_destroy(samples);
	return 0;
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
	int result = 0;

	*ret = (struct printed_locals){.are_arguments = are_arguments};
	if (print_check(session, err) < 0)
		return -1;
	if (print_is_kept(session))
		add_kept(&locals, session->job, ranks);
	else
		result = add_sampled(session, &locals, ranks, err);
	for (size_t i = 0; i < ret->num && result == 0; i++)
		result = read_function(session, &locals, i, err);
	sorted_make(ret->functions, ret->num, sizeof(*ret->functions), by_ranks);
	return result;
}
