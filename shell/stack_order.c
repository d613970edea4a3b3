/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "analysis/temporal.h"
#include "attach/code.h"
#include "attach/sampler.h"
#include "model/code.h"
#include "model/error.h"
#include "model/job.h"
#include "model/rankset.h"
#include "model/sample.h"
#include "model/xalloc.h"
#include "shell/session.h"
#include "shell/stack_order.h"

/* Ranks that move are at new places when they are looked at with the variables of the old ones. */
#define MAX_ROUNDS 4

struct stack_order {
	struct code_reader *reader;
	struct temporal *temporal;
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

static struct stack_order *get(struct session *session)
{
	struct temporal_source source = {get_function, get_variables, NULL};
	struct job *job = session->job;

	if (!session->stack_order) {
		struct stack_order *order = xcalloc(1, sizeof(*order));

		order->reader = source.context = code_reader_create(job->modules);
		order->temporal = temporal_create(job->callpaths, job->modules, &source);
		session->stack_order = order;
	}
	return session->stack_order;
}

void stack_order_destroy(struct stack_order *order)
{
	if (!order)
		return;
	temporal_destroy(order->temporal);
	code_reader_destroy(order->reader);
	free(order);
}

/* Returns whether any of the stacks is at a new place. */
static bool add_stacks(struct stack_order *order, const struct samples *samples)
{
	bool is_new = false;

	for (size_t i = 0; i < samples->num_samples; i++)
		if (samples->samples[i].is_main && samples->samples[i].status != SAMPLE_FAILED)
			is_new |= temporal_add(order->temporal, samples->samples[i].path);
	return is_new;
}

static void choose(struct session *session)
{
	size_t num;
	const struct code_probe *probes = temporal_choose(session->stack_order->temporal, &num);

	if (session->sampler)
		sampler_set_probes(session->sampler, probes, num);
}

void stack_order_prepare(struct session *session, const struct samples *samples)
{
	if (add_stacks(get(session), samples))
		choose(session);
}

int stack_order_sample(struct session *session, const struct rankset *ranks, struct pdb_error *err)
{
	for (int round = 0; round < MAX_ROUNDS; round++) {
		if (session_sample(session, ranks, 1, 0, err) < 0)
			return -1;
		if (!add_stacks(get(session), session->job->samples))
			break;
		choose(session);
	}
	return 0;
}

struct temporal_result *stack_order_compare(struct session *session, const struct rankset *ranks,
					    struct pdb_error *err)
{
	const struct samples *samples = session->job->samples;

	if (!samples || !samples->num_samples) {
		error_set(err, ERROR_NOT_FOUND, "there is no stack of these ranks");
		return NULL;
	}
	stack_order_prepare(session, samples);
	return temporal_compare(session->stack_order->temporal, samples, ranks, err);
}
