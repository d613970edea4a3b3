/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/values/value_groups.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/value_type.h"
#include "shell/answers/find_cause_private.h"
#include "shell/answers/print_values.h"
#include "shell/session.h"

int cause_want(struct finding *finding, struct pair *pair, const struct condition_term *term)
{
	for (size_t i = 0; term->name && i < pair->num_wanted; i++) {
		const struct wanted *wanted = &pair->wanted[i];

		if (wanted->variable == term->variable && !strcmp(wanted->name, term->name) &&
		    !strcmp(wanted->function ?: "", term->function ?: ""))
			return (int)i;
	}
	if (!term->name)
		return -1;
	*ARENA_PUSH(finding->arena, pair->wanted, pair->num_wanted, pair->wanted_capacity) =
		(struct wanted){.name = term->name,
				.function = term->function,
				.variable = term->variable,
				.type = term->type};
	return (int)pair->num_wanted - 1;
}

static void read_wanted(struct finding *finding, struct pair *pair)
{
	struct print_ask *asks = arena_array(finding->arena, pair->num_wanted + 1, sizeof(*asks));
	struct print_read *read = arena_array(finding->arena, pair->num_wanted + 1, sizeof(*read));
	struct pdb_error ignored;

	for (size_t i = 0; i < pair->num_wanted; i++) {
		const struct wanted *wanted = &pair->wanted[i];

		asks[i] = (struct print_ask){
			.expression = wanted->name,
			.frame = {.kind = wanted->function ? FRAME_FUNCTION : FRAME_ANY,
				  .function = wanted->function},
			.variable = wanted->variable,
		};
	}
	if (!pair->num_wanted ||
	    print_read(finding->session, finding->arena, asks, pair->num_wanted, pair->ranks, NULL,
		       false, read, &ignored) < 0)
		return;
	for (size_t i = 0; i < pair->num_wanted; i++)
		print_group(finding->arena, asks[i].expression, &read[i], &pair->wanted[i].printed);
}

void cause_want_there(const struct finding *finding, struct pair *pair,
		      const struct condition_term *term, int number, int side)
{
	const struct callpath_node *node;
	struct wanted *wanted;

	if (number < 0 || pair->nodes[side] == CALLPATH_NONE || !term->is_known ||
	    !term->has_place || term->place.size > 8 ||
	    (term->place.kind == CODE_MEMORY && term->place.reg != CODE_CFA))
		return;
	wanted = &pair->wanted[number];
	/* A variable of that name in another block may be larger. */
	if (!wanted->type || wanted->type->size > term->place.size)
		return;
	node = callpaths_get(finding->session->job->callpaths, pair->nodes[side]);
	wanted->has_probe[side] = true;
	wanted->probes[side] =
		(struct code_probe){.module = node->module,
				    .offset = node->offset,
				    .is_return = node->is_return,
				    .size = term->place.size,
				    .value = {.is_known = true,
					      .num_terms = 1,
					      .terms = {{.place = term->place, .factor = 1}}}};
}

static const struct sample_value *find_value(const struct sample *sample, uint32_t depth,
					     uint32_t probe)
{
	for (size_t i = 0; i < sample->num_values; i++)
		if (sample->values[i].depth == depth && sample->values[i].probe == probe)
			return &sample->values[i];
	return NULL;
}

static void add_reading(const struct finding *finding, struct wanted *wanted, int rank,
			const uint8_t *bytes, const struct value_type *type)
{
	struct value_reading *reading = &wanted->readings[wanted->num_readings++];

	*reading = (struct value_reading){
		.rank = rank, .has_value = true, .text = value_text(finding->arena, type, bytes)};
	reading->is_number = value_number(type, bytes, &reading->number);
}

/* What the ranks of a side have there. */
static void take_probes(const struct finding *finding, struct pair *pair,
			const struct samples *samples, int side, const uint32_t *numbers)
{
	const struct callpaths *callpaths = finding->session->job->callpaths;
	const struct rankset *ranks = pair->groups[side]->ranks;

	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (!sample->is_main || !rankset_contains(ranks, sample->rank) ||
		    pair->nodes[side] == CALLPATH_NONE ||
		    !callpaths_has_prefix(callpaths, sample->path, pair->nodes[side]))
			continue;
		for (size_t k = 0; k < pair->num_wanted; k++) {
			struct wanted *wanted = &pair->wanted[k];
			const struct sample_value *value =
				wanted->has_probe[side]
					? find_value(sample,
						     callpaths_get(callpaths, pair->nodes[side])
							     ->depth,
						     numbers[2 * k + (size_t)side])
					: NULL;

			if (value)
				add_reading(finding, wanted, sample->rank,
					    (const uint8_t *)&value->value, wanted->type);
		}
	}
}

static void read_probes(struct finding *finding, struct pair *pair)
{
	struct code_probe *probes =
		arena_array(finding->arena, 2 * pair->num_wanted + 1, sizeof(*probes));
	uint32_t *numbers = arena_array(finding->arena, 2 * pair->num_wanted + 1, sizeof(*numbers));
	struct samples *samples;
	struct pdb_error ignored;
	size_t num = 0;

	for (size_t i = 0; i < pair->num_wanted; i++)
		for (size_t side = 0; side < 2; side++)
			if (pair->wanted[i].has_probe[side]) {
				numbers[2 * i + side] = (uint32_t)num;
				probes[num++] = pair->wanted[i].probes[side];
			}
	if (!num ||
	    session_read_probes(finding->session, pair->ranks, probes, num, &samples, &ignored) < 0)
		return;
	take_probes(finding, pair, samples, 0, numbers);
	take_probes(finding, pair, samples, 1, numbers);
	samples_destroy(samples);
}

/* Of the ranks without a value from where the branch had it, those that debug information tells. */
static void join_values(const struct finding *finding, const struct pair *pair,
			struct wanted *wanted)
{
	const struct value_groups *groups = wanted->printed.groups;
	size_t num_there = wanted->num_readings;

	for (size_t i = 0; groups && i < groups->num_values; i++) {
		const struct value_group *group = &groups->groups[i];

		for (int rank = rankset_first(group->ranks); rank >= 0;
		     rank = rankset_next(group->ranks, rank)) {
			size_t k = 0;

			while (k < num_there && wanted->readings[k].rank != rank)
				k++;
			if (k == num_there && rankset_contains(pair->ranks, rank))
				wanted->readings[wanted->num_readings++] =
					(struct value_reading){.rank = rank,
							       .text = group->text,
							       .has_value = true,
							       .is_number = group->is_number,
							       .number = group->number};
		}
	}
	wanted->groups =
		value_groups_create(finding->arena, wanted->readings, wanted->num_readings);
}

void cause_read_values(struct finding *finding, struct pair *pair)
{
	for (size_t i = 0; i < pair->num_wanted; i++)
		pair->wanted[i].readings =
			arena_array(finding->arena, 2 * (size_t)rankset_count(pair->ranks) + 1,
				    sizeof(struct value_reading));
	read_wanted(finding, pair);
	read_probes(finding, pair);
	for (size_t i = 0; i < pair->num_wanted; i++)
		join_values(finding, pair, &pair->wanted[i]);
}

bool cause_value_of(const struct pair *pair, const struct condition_term *term, int wanted,
		    int rank, double *ret)
{
	const struct value_groups *groups = wanted < 0 ? NULL : pair->wanted[wanted].groups;

	*ret = term->number;
	if (term->is_constant)
		return true;
	for (size_t i = 0; groups && i < groups->num_values; i++)
		if (groups->groups[i].is_number &&
		    rankset_contains(groups->groups[i].ranks, rank)) {
			*ret = groups->groups[i].number;
			return true;
		}
	return false;
}
