/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/code.h"
#include "model/job/code_store.h"

/* A part of a function. */
struct part {
	uint32_t module;
	struct code_range range;
	const struct code_body *body;
};

struct trouble {
	uint32_t module;
	const char *why;
};

struct code_store {
	struct arena *arena; /* of bodies and troubles */
	struct code_body **bodies;
	size_t num_bodies, bodies_capacity;
	struct part *parts; /* by module, then where they begin */
	size_t num_parts, parts_capacity;
	struct trouble *troubles;
	size_t num_troubles, troubles_capacity;
};

struct code_store *code_store_create(void)
{
	struct code_store *store = xcalloc(1, sizeof(*store));

	store->arena = arena_create();
	return store;
}

void code_store_destroy(struct code_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->num_bodies; i++) {
		code_function_destroy(store->bodies[i]->function);
		code_variables_destroy(store->bodies[i]->variables);
	}
	arena_destroy(store->arena);
	free(store->parts);
	free(store);
}

static int begins_before(const void *key, const void *element)
{
	const struct part *x = key, *part = element;

	return part->module != x->module ? part->module < x->module
					 : part->range.begin <= x->range.begin;
}

/* How many parts begin at or before the address. */
static size_t count_until(const struct code_store *store, uint32_t module, uint64_t address)
{
	const struct part key = {.module = module, .range.begin = address};

	return sorted_first(&key, store->parts, store->num_parts, sizeof(key), begins_before);
}

static void add_part(struct code_store *store, const struct code_body *body,
		     const struct code_range *range)
{
	size_t at = count_until(store, body->module, range->begin);

	store->parts = xgrow(store->parts, store->num_parts, &store->parts_capacity,
			     sizeof(*store->parts));
	memmove(store->parts + at + 1, store->parts + at,
		(store->num_parts - at) * sizeof(*store->parts));
	store->parts[at] = (struct part){body->module, *range, body};
	store->num_parts++;
}

const struct code_body *code_store_add(struct code_store *store, uint32_t module,
				       struct code_function *function,
				       struct code_variables *variables)
{
	const struct code_body *known = code_store_find(store, module, function->entry);
	struct code_body *body;

	if (known && known->function->entry == function->entry) {
		code_function_destroy(function);
		code_variables_destroy(variables);
		return known;
	}
	body = arena_alloc(store->arena, sizeof(*body));
	*body = (struct code_body){module, function, variables};
	*ARENA_PUSH(store->arena, store->bodies, store->num_bodies, store->bodies_capacity) = body;
	for (size_t i = 0; i < function->num_ranges; i++)
		add_part(store, body, &function->ranges[i]);
	return body;
}

const struct code_body *code_store_find(const struct code_store *store, uint32_t module,
					uint64_t address)
{
	size_t at = count_until(store, module, address);
	const struct part *part = at ? &store->parts[at - 1] : NULL;

	return part && part->module == module && address < part->range.end ? part->body : NULL;
}

size_t code_store_count(const struct code_store *store)
{
	return store->num_bodies;
}

const struct code_body *code_store_get(const struct code_store *store, size_t index)
{
	return store->bodies[index];
}

static struct trouble *find_trouble(const struct code_store *store, uint32_t module)
{
	for (size_t i = 0; i < store->num_troubles; i++)
		if (store->troubles[i].module == module)
			return &store->troubles[i];
	return NULL;
}

void code_store_set_trouble(struct code_store *store, uint32_t module, const char *why)
{
	struct trouble *trouble = find_trouble(store, module);

	if (!trouble) {
		trouble = ARENA_PUSH(store->arena, store->troubles, store->num_troubles,
				     store->troubles_capacity);
		*trouble = (struct trouble){.module = module};
	}
	if (!trouble->why || strcmp(trouble->why, why) != 0)
		trouble->why = arena_strdup(store->arena, why);
}

const char *code_store_trouble(const struct code_store *store, uint32_t module)
{
	const struct trouble *trouble = find_trouble(store, module);

	return trouble ? trouble->why : "";
}
