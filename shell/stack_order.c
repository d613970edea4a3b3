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
	struct session *session;
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

struct stack_order *stack_order_create(struct session *session)
{
	struct stack_order *order = xcalloc(1, sizeof(*order));
	struct temporal_source source = {get_function, get_variables, NULL};

	if (!session->code)
		session->code = code_reader_create(session->job->modules);
	source.context = session->code;
	order->session = session;
	order->temporal = temporal_create(session->job->callpaths, session->job->modules, &source);
	return order;
}

void stack_order_destroy(struct stack_order *order)
{
	if (!order)
		return;
	if (order->session->sampler)
		sampler_set_probes(order->session->sampler, NULL, 0);
	temporal_destroy(order->temporal);
	free(order);
}

static bool add_stacks(struct stack_order *order, const struct samples *samples)
{
	bool is_new = false;

	for (size_t i = 0; i < samples->num_samples; i++)
		if (samples->samples[i].is_main && samples->samples[i].status != SAMPLE_FAILED)
			is_new |= temporal_add(order->temporal, samples->samples[i].path);
	return is_new;
}

static void choose(struct stack_order *order)
{
	size_t num;
	const struct code_probe *probes = temporal_choose(order->temporal, &num);

	if (order->session->sampler)
		sampler_set_probes(order->session->sampler, probes, num);
}

void stack_order_prepare(struct stack_order *order, const struct samples *samples)
{
	if (add_stacks(order, samples))
		choose(order);
}

int stack_order_sample(struct stack_order *order, const struct rankset *ranks,
		       struct pdb_error *err)
{
	struct session *session = order->session;

	for (int round = 0; round < MAX_ROUNDS; round++) {
		if (session_sample(session, ranks, 1, 0, err) < 0)
			return -1;
		if (!add_stacks(order, session->job->samples))
			break;
		choose(order);
	}
	return 0;
}

struct temporal_result *stack_order_compare(struct stack_order *order, const struct rankset *ranks,
					    struct pdb_error *err)
{
	const struct samples *samples = order->session->job->samples;
	size_t num;

	if (!samples || !samples->num_samples) {
		error_set(err, ERROR_NOT_FOUND, "there is no stack of these ranks");
		return NULL;
	}
	/* Of stacks that are there already the code is known only now. */
	if (add_stacks(order, samples))
		temporal_choose(order->temporal, &num);
	return temporal_compare(order->temporal, samples, ranks, err);
}
