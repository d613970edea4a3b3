/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/stacks/code_loops.h"
#include "analysis/stacks/temporal.h"
#include "attach/code/code.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/job/code_store.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/modules.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "shell/session.h"
#include "shell/answers/stack_order.h"

/* Ranks that move may be at new places in each round, whose variables are not known yet. */
#define MAX_ROUNDS 4
/* Samples of a rank without a recorder that are further apart say nothing of what is in between. */
#define MAX_LATER_NS UINT64_C(1000000000)

struct stack_order {
	struct session *session;
	struct code_reader *reader;
	struct temporal *temporal;
	struct code_loops *loops;
	struct code_question question; /* with the probes of the temporal order */
	struct code_address *names;
	bool *seen; /* [num_seen] by call path node: frames up to there are known */
	size_t num_seen;
};

/* A snapshot may be from another host; files here need not be those of its job. */
static const struct code_function *get_function(void *argument, uint32_t module, uint64_t address,
						struct pdb_error *err)
{
	struct session *session = argument;
	const struct code_body *body;

	if (!session->snapshot)
		return code_reader_get(session->stack_order->reader, module, address, err);
	body = code_store_find(session->job->code, module, address);
	if (!body)
		error_set(err, ERROR_NOT_FOUND, "the snapshot does not hold it");
	return body ? body->function : NULL;
}

/* Only program code counts: an interpreter's loops are not the loops of the script. */
static const struct code_function *get_program_function(void *argument, uint32_t module,
							uint64_t address, struct pdb_error *err)
{
	const struct session *session = argument;

	if (module == MODULE_NONE ||
	    modules_get(session->job->modules, module)->kind != MODULE_PROGRAM)
		return NULL;
	return get_function(argument, module, address, err);
}

static const struct code_variables *get_variables(void *argument, uint32_t module,
						  const struct code_function *function)
{
	const struct session *session = argument;

	return code_store_find(session->job->code, module, function->entry)->variables;
}

/* Functions that no file on this host has. */
struct unknown {
	struct code_address *list;
	size_t num, capacity;
};

static void add_unknown(struct unknown *unknown, uint32_t module, uint64_t address)
{
	for (size_t i = 0; i < unknown->num; i++)
		if (unknown->list[i].module == module && unknown->list[i].address == address)
			return;
	*XPUSH(unknown->list, unknown->num, unknown->capacity) =
		(struct code_address){module, address};
}

/* Read the functions of the program's frames, from the innermost frame up to known ones. */
static void read_functions(struct stack_order *order, uint32_t path, struct unknown *unknown)
{
	struct job *job = order->session->job;

	for (uint32_t id = path; id != CALLPATH_NONE && !order->seen[id];) {
		const struct callpath_node *node = callpaths_get(job->callpaths, id);
		uint64_t address = node->offset - node->is_return;
		struct pdb_error err;

		order->seen[id] = true;
		id = node->parent;
		if (!modules_is_own_code(job->modules, node->module, node->offset) ||
		    get_function(order->session, node->module, address, &err))
			continue;
		code_store_set_trouble(job->code, node->module, err.text);
		add_unknown(unknown, node->module, address);
	}
}

/* Functions without an answer stay unknown; answers that need them say why. */
static void ask_nodes(struct stack_order *order, const struct unknown *unknown)
{
	struct session *session = order->session;
	struct code_store *store = session->job->code;
	struct pdb_error err;

	if (!session->daemons)
		return;
	if (session_read_code(session, unknown->list, unknown->num, &err) < 0)
		session_complain(&err);
	for (size_t i = 0; i < unknown->num; i++)
		if (!code_store_find(store, unknown->list[i].module, unknown->list[i].address))
			code_store_set_trouble(store, unknown->list[i].module,
					       "neither this host nor a rank's host has its file, "
					       "or knows where the function begins");
}

/* If a path's node has been seen, so have the nodes above it. */
static void make_room(struct stack_order *order)
{
	size_t num = callpaths_count(order->session->job->callpaths);

	order->seen = xreallocarray(order->seen, num, sizeof(*order->seen));
	while (order->num_seen < num)
		order->seen[order->num_seen++] = false;
}

/* Add new stacks. Functions come from files of this host, else from the node of a rank that has the
 * file. */
static bool add_stacks(struct stack_order *order, const struct samples *samples)
{
	struct unknown unknown = {.num = 0};
	uint32_t *paths SCOPED(free) = xreallocarray(NULL, samples->num_samples, sizeof(*paths));
	bool is_new = false;
	size_t num = 0;

	make_room(order);
	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (!sample->is_main || sample->path == CALLPATH_NONE || order->seen[sample->path])
			continue;
		paths[num++] = sample->path;
		read_functions(order, sample->path, &unknown);
	}
	if (unknown.num)
		ask_nodes(order, &unknown);
	for (size_t i = 0; i < num; i++)
		is_new |= temporal_add(order->temporal, paths[i]);
	free(unknown.list);
	return is_new;
}

/* Returns whether there are values that no sample could have. The host that has the files resolves
 * names of loops. Snapshots save these names like those of frames. */
static bool choose(struct session *session)
{
	struct stack_order *order = session->stack_order;
	struct code_question *question = &order->question;
	size_t num_before = question->num_probes;

	question->probes = temporal_choose(order->temporal, &question->num_probes);
	free(order->names);
	question->num_names = temporal_loop_places(order->temporal, &order->names);
	question->names = order->names;
	for (size_t i = 0; i < question->num_names; i++)
		callpaths_intern(session->job->callpaths, CALLPATH_NONE, order->names[i].module,
				 order->names[i].address, false);
	session_ask_code(session, question);
	return question->num_probes > num_before;
}

static struct stack_order *get(struct session *session)
{
	const struct temporal_source source = {get_function, get_variables, session};
	struct job *job = session->job;

	if (!session->stack_order) {
		session->stack_order = xcalloc(1, sizeof(*session->stack_order));
		session->stack_order->session = session;
		session->stack_order->reader = code_reader_create(job->modules, job->code);
		session->stack_order->temporal =
			temporal_create(job->callpaths, job->modules, &source);
	}
	return session->stack_order;
}

const struct code_function *stack_order_function(struct session *session, uint32_t module,
						 uint64_t address, struct pdb_error *err)
{
	get(session);
	return get_function(session, module, address, err);
}

struct code_reader *stack_order_reader(struct session *session)
{
	return get(session)->reader;
}

struct progress_code stack_order_loops(struct session *session)
{
	const struct temporal_source source = {get_program_function, NULL, session};
	struct stack_order *order = get(session);

	code_loops_destroy(order->loops);
	order->loops = code_loops_create(session->job->callpaths, &source);
	return (struct progress_code){code_loops_ask, order->loops};
}

void stack_order_destroy(struct stack_order *order)
{
	if (!order)
		return;
	session_ask_code(order->session, NULL);
	temporal_destroy(order->temporal);
	code_loops_destroy(order->loops);
	code_reader_destroy(order->reader);
	free(order->names);
	free(order->seen);
	free(order);
}

bool stack_order_prepare(struct session *session, const struct samples *samples)
{
	return add_stacks(get(session), samples) && choose(session);
}

int stack_order_sample(struct session *session, const struct rankset *ranks, struct pdb_error *err)
{
	for (int round = 0; round < MAX_ROUNDS; round++) {
		if (session_sample(session, ranks, 1, 0, err) < 0)
			return -1;
		if (!stack_order_prepare(session, session->job->samples))
			break;
	}
	return 0;
}

static size_t num_read(const struct sample *sample)
{
	size_t num = 0;

	for (size_t i = 0; i < sample->num_values; i++)
		num += sample->values[i].probe != SAMPLE_CONTENTS;
	return num;
}

/* Has the rank gone on in its innermost frame, so that only the later sample has its values? */
static bool is_worth_adding(const struct job *job, const struct sample *later)
{
	const struct sample *latest = samples_find(job->samples, later->rank, 0);
	size_t num_lanes = 0;
	uint32_t common;

	if (!latest || latest->path == CALLPATH_NONE || later->path == CALLPATH_NONE)
		return false;
	if (job->model)
		job_model_lanes(job->model, later->rank, &num_lanes);
	common = callpaths_common(job->callpaths, latest->path, later->path);
	return common != CALLPATH_NONE && common != latest->path &&
	       callpaths_get(job->callpaths, common)->depth + 1 >=
		       callpaths_get(job->callpaths, latest->path)->depth &&
	       num_read(later) > num_read(latest) &&
	       (num_lanes || later->when_ns - latest->when_ns < MAX_LATER_NS);
}

static void add_later(struct job *job, struct samples *later)
{
	struct rankset *ranks = rankset_create();

	for (size_t i = 0; i < later->num_samples; i++)
		if (later->samples[i].is_main && is_worth_adding(job, &later->samples[i]))
			rankset_add(ranks, later->samples[i].rank);
	if (!rankset_is_empty(ranks))
		job_add_samples(job, ranks, later);
	rankset_destroy(ranks);
}

int stack_order_complete(struct session *session, struct pdb_error *err)
{
	struct samples *later = NULL;
	int result = 0;

	for (int round = 0; round < MAX_ROUNDS && result == 0; round++) {
		bool is_new = stack_order_prepare(session, later ? later : session->job->samples);

		if (!session->stack_order->question.num_probes || (later && !is_new))
			break;
		samples_destroy(later);
		result = session_read_values(session, &later, err);
		if (!later)
			break;
	}
	if (later)
		add_later(session->job, later);
	samples_destroy(later);
	return result;
}

static bool has_values(const struct samples *samples)
{
	for (size_t i = 0; i < samples->num_samples; i++)
		if (samples->samples[i].num_values)
			return true;
	return false;
}

struct temporal_result *stack_order_compare(struct session *session, const struct rankset *ranks,
					    size_t max, struct pdb_error *err)
{
	const struct samples *samples = session->job->samples;
	struct pdb_error trouble; /* dropped: the comparison reports what it could not read */
	bool is_new;

	if (!samples || !samples->num_samples) {
		error_set(err, ERROR_NOT_FOUND, "there is no stack of these ranks");
		return NULL;
	}
	is_new = stack_order_prepare(session, samples);
	/* The samples were taken before it was known which values to read. */
	if (is_new || !has_values(samples))
		stack_order_complete(session, &trouble);
	/* Those from then on: what was completed has replaced them. */
	return temporal_compare(session->stack_order->temporal, session->job->samples, ranks, max,
				err);
}

const struct temporal_result *stack_order_of_look(struct session *session, struct pdb_error *err)
{
	struct rankset *all SCOPED(rankset) = proctable_ranks(session->job->proctable);

	if (!session->order)
		session->order = stack_order_compare(session, all, STACK_ORDER_QUICK, err);
	return session->order;
}
