/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/node/watch_digest.h"
#include "attach/node/watch_stacks.h"
#include "attach/symbols/symbols.h"
#include "model/hash.h"
#include "model/job/callpath.h"
#include "model/job/message_queues.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/recent.h"
#include "model/job/sample.h"

/* Nodes of call paths after which the tables are made anew, some tens of megabytes. */
#define MAX_NODES 200000
/* A rank that was in MPI_Test is in a loop around it until it is outside so often, and for so
 * long. */
#define POLLING_LOOKS 5
#define POLLING_NS UINT64_C(5000000000)

/* So many looks in a row that see ranks in other calls, and their messages are not looked at. */
#define MOVING_LOOKS 2

enum node_is { NODE_UNKNOWN, NODE_OUTSIDE, NODE_INSIDE, NODE_POLLING };

/* What a rank did when it was sampled last. */
struct rank_state {
	bool is_known;
	uint32_t call; /* the frame that calls MPI, CALLPATH_NONE: outside */
	bool is_polling;
	int num_outside;      /* looks since it was in a poll, while is_polling */
	uint64_t outside_ns;  /* the first of them */
	struct recent stacks; /* outside, since it was in a call that is no poll */
	/* At the last look. */
	struct message_queues *queues; /* NULL: not read */
	struct sample_value *contents; /* [num_contents] of frames, by depth */
	size_t num_contents;
};

struct watch_stacks {
	struct modules *modules;
	struct callpaths *callpaths;
	struct symbols *symbols;
	struct names *names;
	struct sampler *sampler;
	uint8_t *known; /* [num_known] by node: enum node_is, of the path that ends there */
	size_t num_known;
	struct rank_state *ranks; /* [num_ranks] by rank */
	size_t num_ranks;
	unsigned num_moving; /* last looks that each found somebody in another call */
};

static void make_tables(struct watch_stacks *stacks)
{
	stacks->modules = modules_create();
	stacks->callpaths = callpaths_create();
	stacks->symbols = symbols_create(stacks->modules);
	stacks->names =
		names_create(stacks->modules, stacks->callpaths, symbols_resolve, stacks->symbols);
	stacks->sampler = sampler_create(stacks->modules, stacks->callpaths);
}

static void drop_tables(struct watch_stacks *stacks)
{
	sampler_destroy(stacks->sampler);
	names_destroy(stacks->names);
	symbols_destroy(stacks->symbols);
	callpaths_destroy(stacks->callpaths);
	modules_destroy(stacks->modules);
	free(stacks->known);
	stacks->known = NULL;
	stacks->num_known = 0;
}

struct watch_stacks *watch_stacks_create(void)
{
	struct watch_stacks *stacks = xcalloc(1, sizeof(*stacks));

	make_tables(stacks);
	return stacks;
}

static void forget_rank(struct rank_state *rank)
{
	recent_deinit(&rank->stacks);
	message_queues_destroy(rank->queues);
	free(rank->contents);
}

void watch_stacks_destroy(struct watch_stacks *stacks)
{
	if (!stacks)
		return;
	drop_tables(stacks);
	for (size_t i = 0; i < stacks->num_ranks; i++)
		forget_rank(&stacks->ranks[i]);
	free(stacks->ranks);
	free(stacks);
}

/* Nodes of the old tables mean nothing in the new ones. */
static void renew_tables(struct watch_stacks *stacks)
{
	drop_tables(stacks);
	make_tables(stacks);
	for (size_t i = 0; i < stacks->num_ranks; i++)
		stacks->ranks[i].is_known = false;
}

/* ---- What a stack tells ---- */

/* By the path's outermost frame of MPI, or that in a signal's handler; kept for all on the way. */
static enum node_is judge(struct watch_stacks *stacks, uint32_t path)
{
	uint32_t parent;

	if (path == CALLPATH_NONE)
		return NODE_OUTSIDE;
	if (stacks->known[path])
		return stacks->known[path];
	parent = callpaths_get(stacks->callpaths, path)->parent;
	enum node_is above = judge(stacks, parent);
	if (names_is_signal(stacks->names, path))
		above = NODE_OUTSIDE;
	else if (above == NODE_OUTSIDE && names_is_mpi(stacks->names, path))
		above = names_is_poll(stacks->names, path) ? NODE_POLLING : NODE_INSIDE;
	stacks->known[path] = above;
	return above;
}

/* The frame that calls MPI. */
static uint32_t find_call(struct watch_stacks *stacks, uint32_t path)
{
	while (path != CALLPATH_NONE && judge(stacks, path) != NODE_OUTSIDE)
		path = callpaths_get(stacks->callpaths, path)->parent;
	return path;
}

static struct rank_state *find_rank(struct watch_stacks *stacks, int rank)
{
	stacks->ranks = xgrow_to(stacks->ranks, &stacks->num_ranks, (size_t)rank + 1,
				 sizeof(*stacks->ranks));
	return &stacks->ranks[rank];
}

/* A number for the functions on it. */
static uint64_t number_of(struct watch_stacks *stacks, uint32_t path)
{
	uint64_t number = 0;

	for (; path != CALLPATH_NONE; path = callpaths_get(stacks->callpaths, path)->parent) {
		const char *function = names_get(stacks->names, path)->function;

		number = hash_word(number, hash_bytes(function, strlen(function)));
	}
	return number;
}

/* Of a rank that is outside, now and at the last look: has it come to a place that is new? */
static bool has_come_on(struct watch_stacks *stacks, struct rank_state *rank, uint32_t path)
{
	bool was_outside = rank->is_known && rank->call == CALLPATH_NONE && rank->stacks.num > 0;

	return recent_add(&rank->stacks, number_of(stacks, path)) && was_outside;
}

/* Is one that is outside in a loop around polls, as far as is known? */
static bool goes_on_polling(struct rank_state *rank, uint64_t now_ns)
{
	if (!rank->is_polling)
		return false;
	if (rank->num_outside++ == 0)
		rank->outside_ns = now_ns;
	rank->is_polling =
		rank->num_outside <= POLLING_LOOKS || now_ns - rank->outside_ns < POLLING_NS;
	return rank->is_polling;
}

/* ---- Has a rank that is where it was gone round meanwhile? ---- */

/* In the call it changes nothing in the frames around it, of which the contents are known of
 * some. */
static bool have_contents_changed(const struct rank_state *rank, const struct sample *sample,
				  size_t depth)
{
	size_t at = 0;

	for (size_t i = 0; i < sample->num_values && sample->values[i].depth <= depth; i++) {
		while (at < rank->num_contents &&
		       rank->contents[at].depth < sample->values[i].depth)
			at++;
		if (at < rank->num_contents &&
		    rank->contents[at].depth == sample->values[i].depth &&
		    rank->contents[at].value != sample->values[i].value)
			return true;
	}
	return false;
}

/* Of one that is in the same call as at the last look, or in none or polls. */
static bool has_gone_round(const struct watch_stacks *stacks, const struct rank_state *rank,
			   const struct sample *sample)
{
	if (rank->queues && sample->queues &&
	    message_queues_have_moved(rank->queues, sample->queues))
		return true;
	return rank->call != CALLPATH_NONE &&
	       have_contents_changed(rank, sample,
				     callpaths_get(stacks->callpaths, rank->call)->depth);
}

/* For the next look. What the sample has becomes the rank's. */
static void keep_sample(struct rank_state *rank, struct sample *sample)
{
	message_queues_destroy(rank->queues);
	rank->queues = sample->queues;
	sample->queues = NULL;
	free(rank->contents);
	rank->contents = sample->values;
	rank->num_contents = sample->num_values;
	sample->values = NULL;
	sample->num_values = 0;
}

/* Returns whether the rank is in another call than at the last look. */
static bool add_sample(struct watch_stacks *stacks, struct sample *sample,
		       struct watch_digest *digest)
{
	struct rank_state *rank = find_rank(stacks, sample->rank);
	enum node_is is = judge(stacks, sample->path);
	uint32_t call = is == NODE_OUTSIDE ? CALLPATH_NONE : find_call(stacks, sample->path);

	if (is == NODE_OUTSIDE && goes_on_polling(rank, sample->when_ns)) {
		is = NODE_POLLING;
	} else if (is == NODE_OUTSIDE) {
		digest->numbers.num_active += has_come_on(stacks, rank, sample->path);
	} else {
		rank->is_polling = is == NODE_POLLING;
		rank->num_outside = 0;
		recent_clear(&rank->stacks);
	}
	digest->numbers.num_sampled++;
	rankset_add(is == NODE_OUTSIDE ? digest->outside : digest->inside, sample->rank);
	/* To and fro between a poll and what is around it is no move. */
	if (is == NODE_POLLING)
		call = CALLPATH_NONE;
	bool is_elsewhere = rank->is_known && call != rank->call;
	if (is_elsewhere || (rank->is_known && has_gone_round(stacks, rank, sample)))
		digest->numbers.num_changed++;
	else
		digest->numbers.num_unsure += !rank->queues || !sample->queues;
	rank->is_known = true;
	rank->call = call;
	keep_sample(rank, sample);
	return is_elsewhere;
}

void watch_stacks_take(struct watch_stacks *stacks, const struct sampler_target *targets,
		       size_t num, struct watch_digest *digest)
{
	/* Reading what a library holds is a waste while ranks are seen to move without it. */
	unsigned flags =
		SAMPLER_CONTENTS | (stacks->num_moving < MOVING_LOOKS ? SAMPLER_QUEUES : 0);
	bool is_moving = false;
	uint32_t seen = 0;
	struct samples *samples = samples_create();

	if (callpaths_count(stacks->callpaths) > MAX_NODES)
		renew_tables(stacks);
	if (sampler_take(stacks->sampler, targets, num, flags, samples, NULL) < 0) {
		samples_destroy(samples);
		digest->numbers.num_refused += num;
		return;
	}
	stacks->known = xgrow_to(stacks->known, &stacks->num_known,
				 callpaths_count(stacks->callpaths), sizeof(*stacks->known));
	for (size_t i = 0; i < samples->num_samples; i++) {
		struct sample *sample = &samples->samples[i];

		if (!sample->is_main)
			continue;
		if (sample->path != CALLPATH_NONE)
			is_moving |= add_sample(stacks, sample, digest);
		seen += sample->path != CALLPATH_NONE;
	}
	digest->numbers.num_refused += num > seen ? num - seen : 0;
	stacks->num_moving = is_moving ? stacks->num_moving + 1 : 0;
	samples_destroy(samples);
}

uint64_t watch_stacks_number(struct watch_stacks *stacks, const struct sampler_target *target)
{
	struct samples *samples = samples_create();
	uint64_t number = 0;

	if (callpaths_count(stacks->callpaths) > MAX_NODES)
		renew_tables(stacks);
	if (sampler_take(stacks->sampler, target, 1, 0, samples, NULL) == 0 &&
	    samples->num_samples > 0 && samples->samples[0].path != CALLPATH_NONE)
		number = number_of(stacks, samples->samples[0].path);
	samples_destroy(samples);
	return number;
}
