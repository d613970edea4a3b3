/* SPDX-License-Identifier: BSD-3-Clause
 * Which lanes may be compared with each other.
 *
 * Main threads are alike when they run the same executable. Other threads are alike when they run
 * the same start function. Without symbols a function is only known by the return addresses seen in
 * it, and a lane may have called from just some of them; so the start frames of one lane's sites
 * belong together, and lanes are alike that are linked by such frames, over all ranks. */

#include "model/hash.h"
#include "model/job/callpath.h"
#include "model/job/job_model_private.h"
#include "model/job/model.h"
#include "model/job/modules.h"

static uint32_t find_leader(struct job_model_private *p, uint32_t path)
{
	if (path == CALLPATH_NONE || path >= p->num_leaders)
		return path;
	while (p->leaders[path] != path) {
		p->leaders[path] = p->leaders[p->leaders[path]];
		path = p->leaders[path];
	}
	return path;
}

static void join(struct job_model *jm, uint32_t a, uint32_t b)
{
	struct job_model_private *p = jm->private;
	size_t num = callpaths_count(jm->callpaths);

	if (a == b || a == CALLPATH_NONE || b == CALLPATH_NONE)
		return;
	if (p->num_leaders < num) {
		p->leaders = xreallocarray(p->leaders, num, sizeof(*p->leaders));
		for (size_t i = p->num_leaders; i < num; i++)
			p->leaders[i] = (uint32_t)i;
		p->num_leaders = num;
	}
	a = find_leader(p, a);
	b = find_leader(p, b);
	if (a < b)
		p->leaders[b] = a;
	else
		p->leaders[a] = b;
}

/* The start frame of a state's site; `other` when it has none (site 0, no call path). */
static uint32_t start_of(const struct shape *shape, uint32_t state, uint32_t other)
{
	uint32_t start = shape->starts[SEG_STATE_SITE(state)];

	return start == CALLPATH_NONE ? other : start;
}

void job_roles_add_lane(struct job_model *jm, const struct shape *shape,
			const struct model_lane *lane)
{
	struct job_model_private *p = jm->private;
	uint32_t first = start_of(shape, lane->state, CALLPATH_NONE);
	struct lane_key key = {.is_main = lane->is_main, .id = shape->program};

	for (size_t i = 0; i < lane->num_transitions; i++) {
		uint32_t start = start_of(shape, lane->transitions[i].to, first);

		if (first == CALLPATH_NONE)
			first = start;
		if (lane->is_main && first != CALLPATH_NONE)
			break;
		join(jm, first, start);
	}
	if (!lane->is_main)
		key.id = first;
	else if (key.id == MODULE_NONE && first != CALLPATH_NONE)
		key.id = callpaths_get(jm->callpaths, first)->module;
	p->keys = xgrow(p->keys, jm->num_lanes, &p->keys_capacity, sizeof(*p->keys));
	p->keys[jm->num_lanes] = key;
}

/* Lanes that are alike. Several of one rank are told apart by their order. */
struct component {
	UT_hash_handle hh;
	uint64_t key;
	int rank;        /* of the last lane seen */
	size_t ordinal;  /* of the next lane of that rank */
	uint32_t *roles; /* by ordinal */
	size_t num_roles, capacity;
};

static struct component *find_component(struct job_model *jm, struct component **components,
					const struct job_lane *lane)
{
	/* Until roles are given a lane's `role` is its place in the order added. */
	const struct lane_key *key = &jm->private->keys[lane->role];
	uint64_t word =
		pair_key(key->is_main, key->is_main ? key->id : find_leader(jm->private, key->id));
	struct component *found;

	HASH_FIND(hh, *components, &word, sizeof(word), found);
	if (!found) {
		found = arena_alloc(jm->private->arena, sizeof(*found));
		found->key = word;
		found->rank = -1;
		HASH_ADD(hh, *components, key, sizeof(found->key), found);
	}
	return found;
}

static uint32_t next_role(struct job_model *jm, struct component *component, int rank)
{
	if (component->rank != rank) {
		component->rank = rank;
		component->ordinal = 0;
	}
	if (component->ordinal == component->num_roles) {
		*ARENA_PUSH(jm->private->arena, component->roles, component->num_roles,
			    component->capacity) = jm->num_roles++;
	}
	return component->roles[component->ordinal++];
}

SORTED_BY(compare_lanes, struct job_lane, rank, lane)

static void sort_lanes(struct job_model *jm)
{
	for (size_t i = 1; i < jm->num_lanes; i++) {
		if (compare_lanes(&jm->lanes[i - 1], &jm->lanes[i]) > 0) {
			qsort(jm->lanes, jm->num_lanes, sizeof(*jm->lanes), compare_lanes);
			return;
		}
	}
}

/* Role 0 is the main thread of the first rank added, whatever the order of ranks. */
static void reserve_role_0(struct job_model *jm, struct component **components)
{
	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];

		if (lane->rank == jm->private->first_rank && lane->data->is_main) {
			next_role(jm, find_component(jm, components, lane), -2);
			return;
		}
	}
}

/* After roles are given. What hashes alike and is not costs time, not truth. */
static void find_likes(struct job_model *jm)
{
	struct pair_map first_of = {0};

	for (size_t i = 0; i < jm->num_lanes; i++) {
		struct job_lane *lane = &jm->lanes[i];
		const struct model_lane *data = lane->data, *first;
		uint64_t key = hash_word(0, (uintptr_t)data->transitions);

		lane->like = (uint32_t)i;
		/* Rings of their own are never the same. */
		if (!lane->model->pool || !data->is_borrowing)
			continue;
		key = hash_word(key, (uintptr_t)data->ring);
		key = hash_word(key, (uintptr_t)lane->site_map);
		key = hash_word(key, pair_key(lane->role, lane->state));
		lane->like = pair_map_get(&first_of, key);
		if (lane->like == PAIR_NONE) {
			lane->like = (uint32_t)i;
			pair_map_add(&first_of, key, lane->like);
		}
		first = jm->lanes[lane->like].data;
		if (first->transitions != data->transitions || first->ring != data->ring ||
		    first->num_ring != data->num_ring || first->events != data->events ||
		    jm->lanes[lane->like].site_map != lane->site_map ||
		    jm->lanes[lane->like].role != lane->role ||
		    jm->lanes[lane->like].state != lane->state)
			lane->like = (uint32_t)i;
	}
	free(first_of.slots);
}

void job_roles_finish(struct job_model *jm)
{
	struct component *components = NULL;

	sort_lanes(jm);
	jm->num_roles = 0;
	reserve_role_0(jm, &components);
	for (size_t i = 0; i < jm->num_lanes; i++) {
		struct job_lane *lane = &jm->lanes[i];

		lane->role = next_role(jm, find_component(jm, &components, lane), lane->rank);
	}
	find_likes(jm);
	HASH_CLEAR(hh, components);
}
