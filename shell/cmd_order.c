/* SPDX-License-Identifier: BSD-3-Clause
 * order: which stacks are of earlier moments than others. */
#include "analysis/temporal.h"
#include "attach/code.h"
#include "attach/sampler.h"
#include "model/code.h"
#include "model/error.h"
#include "model/job.h"
#include "model/rankset.h"
#include "model/sample.h"
#include "render/view.h"
#include "shell/banner.h"
#include "shell/cmd.h"
#include "shell/command.h"
#include "shell/session.h"

/* Ranks that move are at new places when they are looked at with the variables of the old ones. */
#define MAX_ROUNDS 4

static int run_order(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_order = {
	.name = "order",
	.topic = TOPIC_ANSWERS,
	.usage = "order [RANKS]",
	.summary = "Order ranks by their stacks, from the least to the most progressed.",
	.text = "Needs no recorder. Without RANKS: those in focus, else all. Where stacks part,\n"
		"the machine code of the function tells which place comes first. In a loop the\n"
		"iteration decides: by an integer variable that the loop changes in one\n"
		"direction, read in each rank's frame, where debug information says where it is.\n"
		"What is told neither by a variable nor by the ways in the code stays unordered,\n"
		"and it is said why. On ranks of other hosts, and in snapshots, no variables are\n"
		"read.",
	.example = "order 0-31",
	.flags = CMD_NEEDS_JOB,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_order,
};

static const struct code_function *get_function(void *reader, uint32_t module, uint64_t address,
						struct pdb_error *err)
{
	return code_reader_get(reader, module, address, err);
}

static const struct code_variables *get_variables(void *reader, uint32_t module,
						  const struct code_function *function)
{
	return code_reader_variables(reader, module, function);
}

/* Look at the stacks of the last samples. Returns whether any is at a new place. */
static bool add_stacks(const struct session *session, const struct rankset *ranks,
		       struct temporal *temporal)
{
	bool is_new = false;

	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		const struct sample *sample = samples_find(session->job->samples, rank, 0);

		if (sample && sample->status != SAMPLE_FAILED)
			is_new |= temporal_add(temporal, sample->path);
	}
	return is_new;
}

/* Sample until all ranks have been seen with the variables of the places where they are. */
static int sample(struct session *session, const struct rankset *ranks, struct temporal *temporal,
		  struct pdb_error *err)
{
	const struct code_probe *probes;
	size_t num;

	for (int round = 0; round < MAX_ROUNDS; round++) {
		if (session_sample(session, ranks, 1, 0, err) < 0)
			return -1;
		if (!add_stacks(session, ranks, temporal) && round)
			break;
		probes = temporal_choose(temporal, &num);
		sampler_set_probes(session->sampler, probes, num);
	}
	return 0;
}

static int show(struct session *session, const struct rankset *ranks, struct temporal *temporal,
		struct pdb_error *err)
{
	struct view view = session_view(session);
	struct temporal_result *result;
	size_t num;

	if (session_has_ended(session)) {
		add_stacks(session, ranks, temporal);
		temporal_choose(temporal, &num);
	}
	if (!session->job->samples)
		return error_set(err, ERROR_NOT_FOUND, "there is no stack of these ranks");
	result = temporal_compare(temporal, session->job->samples, ranks, err);
	if (!result)
		return -1;
	view_order(&view, result);
	temporal_result_destroy(result);
	banner_print_stack_holes(session, ranks, session->out);
	return 0;
}

static int run_order(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct code_reader *reader = code_reader_create(session->job->modules);
	const struct temporal_source source = {get_function, get_variables, reader};
	struct temporal *temporal =
		temporal_create(session->job->callpaths, session->job->modules, &source);
	struct rankset *ranks = NULL;
	size_t next = 0;
	int result = session_take_ranks(session, args, &next, &ranks, err);

	if (!result && !session_has_ended(session)) {
		result = sample(session, ranks, temporal, err);
		sampler_set_probes(session->sampler, NULL, 0);
	}
	if (!result)
		result = show(session, ranks, temporal, err);
	rankset_destroy(ranks);
	temporal_destroy(temporal);
	code_reader_destroy(reader);
	return result;
}
