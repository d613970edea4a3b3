/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/progress/eqgroup.h"
#include "analysis/values/value_groups.h"
#include "analysis/verdict/verdict.h"
#include "attach/values/values.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/variables.h"
#include "shell/answers/keep_variables.h"
#include "shell/answers/print_values.h"
#include "shell/session.h"

enum {
	MAX_CULPRITS = 8,
	MAX_RANKS = 24,
	MAX_FRAMES = 4, /* of a stack */
	MAX_ASKS = 400,
	MAX_VALUE = 4096,     /* bytes that are read of a value, at most */
	MAX_BYTES = 48 << 10, /* of all texts */
};

struct keeping {
	struct session *session;
	struct arena *arena;
	struct rankset *ranks;
	struct print_ask *asks;
	uint8_t *kinds; /* enum variable_kind, of each */
	size_t num_asks, asks_capacity, num_kinds, kinds_capacity;
	uint32_t *nodes; /* those that are asked about */
	size_t num_nodes, nodes_capacity;
};

/* Where a rank is in the program's own code; CALLPATH_NONE: nowhere. */
static uint32_t place_of(const struct job *job, int rank)
{
	const struct sample *sample = samples_find(job->samples, rank, 0);
	const struct frame any = {.kind = FRAME_ANY};

	return sample && sample->path != CALLPATH_NONE ? frame_find(job, &any, sample->path)
						       : CALLPATH_NONE;
}

static void choose_first(struct keeping *keeping, const struct rankset *from, int most)
{
	for (int rank = rankset_first(from); rank >= 0 && most > 0;
	     rank = rankset_next(from, rank)) {
		if (rankset_count(keeping->ranks) == MAX_RANKS)
			return;
		if (place_of(keeping->session->job, rank) == CALLPATH_NONE)
			continue;
		rankset_add(keeping->ranks, rank);
		most--;
	}
}

static void choose_ranks(struct keeping *keeping)
{
	const struct session *session = keeping->session;

	if (session->verdict && session->verdict->culprits)
		choose_first(keeping, session->verdict->culprits, MAX_CULPRITS);
	for (size_t i = 0; session->groups && i < session->groups->num_groups; i++)
		choose_first(keeping, session->groups->groups[i].ranks, 1);
}

/* One of each place where nobody has been chosen. */
static void choose_places(struct keeping *keeping)
{
	const struct job *job = keeping->session->job;
	uint32_t *seen = arena_array(keeping->arena, 2 * MAX_RANKS, sizeof(*seen));
	size_t num = 0;

	for (int rank = rankset_first(keeping->ranks); rank >= 0;
	     rank = rankset_next(keeping->ranks, rank))
		seen[num++] = place_of(job, rank);
	for (size_t i = 0; i < job->proctable->num_procs; i++) {
		int rank = job->proctable->procs[i].rank;
		uint32_t place = place_of(job, rank);
		size_t k = 0;

		while (k < num && seen[k] != place)
			k++;
		if (k < num || place == CALLPATH_NONE)
			continue;
		if (rankset_count(keeping->ranks) == MAX_RANKS)
			return;
		seen[num++] = place;
		rankset_add(keeping->ranks, rank);
	}
}

static bool is_new_node(struct keeping *keeping, uint32_t node)
{
	for (size_t i = 0; i < keeping->num_nodes; i++)
		if (keeping->nodes[i] == node)
			return false;
	*ARENA_PUSH(keeping->arena, keeping->nodes, keeping->num_nodes, keeping->nodes_capacity) =
		node;
	return true;
}

static void ask_about(struct keeping *keeping, struct values *values, uint32_t id)
{
	const struct job *job = keeping->session->job;
	const struct values_frame frame = print_frame(callpaths_get(job->callpaths, id));
	const struct frame of = {.kind = FRAME_NODE, .common = id};

	for (int kind = VALUES_LOCALS; kind <= VALUES_ARGUMENTS; kind++) {
		const char **names, *function;
		size_t num = values_names(values, keeping->arena, &frame, NULL,
					  (enum values_kind)kind, &names, &function);

		for (size_t i = 0; i < num && keeping->num_asks < MAX_ASKS; i++) {
			*ARENA_PUSH(keeping->arena, keeping->asks, keeping->num_asks,
				    keeping->asks_capacity) =
				(struct print_ask){.expression = names[i], .frame = of};
			*ARENA_PUSH(keeping->arena, keeping->kinds, keeping->num_kinds,
				    keeping->kinds_capacity) =
				kind == VALUES_ARGUMENTS ? VARIABLE_ARGUMENT : VARIABLE_LOCAL;
		}
	}
}

static void ask_about_stacks(struct keeping *keeping, struct values *values)
{
	const struct job *job = keeping->session->job;

	for (int rank = rankset_first(keeping->ranks); rank >= 0;
	     rank = rankset_next(keeping->ranks, rank)) {
		const struct sample *sample = samples_find(job->samples, rank, 0);
		uint32_t id = sample ? sample->path : CALLPATH_NONE;

		for (int frames = 0; id != CALLPATH_NONE && frames < MAX_FRAMES;) {
			const struct callpath_node *node = callpaths_get(job->callpaths, id);

			if (modules_is_own_code(job->modules, node->module, node->offset)) {
				if (is_new_node(keeping, id))
					ask_about(keeping, values, id);
				frames++;
			}
			id = node->parent;
		}
	}
}

/* Of a rank that was there when the job was looked at. Returns its bytes. */
static size_t keep_reading(struct keeping *keeping, size_t ask, const struct print_read *read,
			   const struct value_reading *reading)
{
	const struct job *job = keeping->session->job;
	struct sample *sample = (struct sample *)samples_find(job->samples, reading->rank, 0);
	uint32_t id = keeping->asks[ask].frame.common;
	const char *text = reading->text;
	struct variable variable = {
		.kind = keeping->kinds[ask],
		.has_value = reading->has_value,
		.is_number = reading->is_number,
		.number = reading->number,
		.name = (char *)keeping->asks[ask].expression,
		.type = (char *)read->type,
	};

	if (!sample || sample->path == CALLPATH_NONE ||
	    !callpaths_has_prefix(job->callpaths, sample->path, id))
		return 0;
	if (strlen(text) > PRINT_KEPT_TEXT)
		text = arena_printf(keeping->arena, "%.*s...", PRINT_KEPT_TEXT, text);
	variable.text = (char *)text;
	variable.depth = callpaths_get(job->callpaths, id)->depth;
	if (!sample->variables)
		sample->variables = variables_create();
	if (sample->variables->num == VARIABLES_MAX)
		return 0;
	variables_add(sample->variables, &variable);
	return strlen(variable.name) + strlen(text);
}

static void forget_kept(struct job *job)
{
	for (size_t i = 0; job->samples && i < job->samples->num_samples; i++) {
		variables_destroy(job->samples->samples[i].variables);
		job->samples->samples[i].variables = NULL;
	}
}

static void keep(struct keeping *keeping, struct values *values)
{
	struct print_read *read;
	struct pdb_error err;
	size_t bytes = 0;

	read = arena_array(keeping->arena, keeping->num_asks + 1, sizeof(*read));
	if (print_read(keeping->session, keeping->arena, keeping->asks, keeping->num_asks,
		       keeping->ranks, values, true, read, &err) < 0)
		return;
	for (size_t i = 0; i < keeping->num_asks; i++)
		for (size_t k = 0; k < read[i].num && bytes < MAX_BYTES; k++)
			bytes += keep_reading(keeping, i, &read[i], &read[i].readings[k]);
}

void keep_variables(struct session *session)
{
	struct keeping keeping = {.session = session};
	struct values *values;
	struct pdb_error err;

	if (session->snapshot || !session->job->samples || session_check_memory(session, &err) < 0)
		return;
	keeping.arena = arena_create();
	keeping.ranks = rankset_in(keeping.arena, rankset_create());
	forget_kept(session->job);
	choose_ranks(&keeping);
	choose_places(&keeping);
	values = values_create(session->job->modules, MAX_VALUE);
	ask_about_stacks(&keeping, values);
	if (!rankset_is_empty(keeping.ranks))
		keep(&keeping, values);
	values_destroy(values);
	arena_destroy(keeping.arena);
}
