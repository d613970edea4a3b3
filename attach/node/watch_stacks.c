/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/node/watch_digest.h"
#include "attach/node/watch_stacks.h"
#include "attach/symbols/symbols.h"
#include "model/callpath.h"
#include "model/error.h"
#include "model/modules.h"
#include "model/names.h"
#include "model/rankset.h"
#include "model/recent.h"
#include "model/sample.h"
#include "model/xalloc.h"

/* Nodes of call paths after which the tables are made anew, some tens of megabytes. */
#define MAX_NODES 200000
/* A rank that was in MPI_Test may still be in a loop around it, unless it is seen outside so often
 * one after the other, and for so long. */
#define POLLING_LOOKS 5
#define POLLING_NS UINT64_C(5000000000)

enum node_is { NODE_UNKNOWN, NODE_OUTSIDE, NODE_INSIDE, NODE_POLLING };

/* What a rank did when it was sampled last. */
struct rank_state {
	bool is_known;
	uint32_t call; /* the frame that calls MPI, CALLPATH_NONE: outside */
	bool is_polling;
	int num_outside;      /* looks since it was in a poll, while is_polling */
	uint64_t outside_ns;  /* the first of them */
	struct recent stacks; /* outside, since it was in a call that is no poll */
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

void watch_stacks_destroy(struct watch_stacks *stacks)
{
	if (!stacks)
		return;
	drop_tables(stacks);
	for (size_t i = 0; i < stacks->num_ranks; i++)
		recent_deinit(&stacks->ranks[i].stacks);
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

/* ---- What a stack tells ---------------------------------------------------------------------- */

/* Of the outermost frame of MPI on the path, kept for all nodes on the way. */
static enum node_is judge(struct watch_stacks *stacks, uint32_t path)
{
	enum node_is above;
	uint32_t parent;

	if (path == CALLPATH_NONE)
		return NODE_OUTSIDE;
	if (stacks->known[path])
		return stacks->known[path];
	parent = callpaths_get(stacks->callpaths, path)->parent;
	above = judge(stacks, parent);
	if (above == NODE_OUTSIDE && names_is_mpi(stacks->names, path))
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

static void grow(struct watch_stacks *stacks)
{
	size_t num = callpaths_count(stacks->callpaths);

	if (num <= stacks->num_known)
		return;
	stacks->known = xreallocarray(stacks->known, num, 1);
	memset(stacks->known + stacks->num_known, NODE_UNKNOWN, num - stacks->num_known);
	stacks->num_known = num;
}

static struct rank_state *find_rank(struct watch_stacks *stacks, int rank)
{
	size_t num = (size_t)rank + 1;

	if (num > stacks->num_ranks) {
		stacks->ranks = xreallocarray(stacks->ranks, num, sizeof(*stacks->ranks));
		memset(stacks->ranks + stacks->num_ranks, 0,
		       (num - stacks->num_ranks) * sizeof(*stacks->ranks));
		stacks->num_ranks = num;
	}
	return &stacks->ranks[rank];
}

/* FNV-1a, 64 bits. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* A number for the functions on it. */
static uint64_t number_of(struct watch_stacks *stacks, uint32_t path)
{
	uint64_t number = UINT64_C(0xcbf29ce484222325);

	for (; path != CALLPATH_NONE; path = callpaths_get(stacks->callpaths, path)->parent)
		number = hash_text(number, names_get(stacks->names, path)->function);
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

static void add_sample(struct watch_stacks *stacks, const struct sample *sample,
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
	digest->numbers.num_changed += rank->is_known && call != rank->call;
	rank->is_known = true;
	rank->call = call;
}

void watch_stacks_take(struct watch_stacks *stacks, const struct sampler_target *targets,
		       size_t num, struct watch_digest *digest)
{
	struct samples *samples = samples_create();
	uint32_t seen = 0;

	if (callpaths_count(stacks->callpaths) > MAX_NODES)
		renew_tables(stacks);
	if (sampler_take(stacks->sampler, targets, num, 0, samples, NULL) < 0) {
		samples_destroy(samples);
		digest->numbers.num_refused += num;
		return;
	}
	grow(stacks);
	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (!sample->is_main)
			continue;
		if (sample->path != CALLPATH_NONE)
			add_sample(stacks, sample, digest);
		seen += sample->path != CALLPATH_NONE;
	}
	digest->numbers.num_refused += num > seen ? num - seen : 0;
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
