/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/traces/concept_lattice.h"
#include "model/arena.h"
#include "model/error.h"
#include "model/sorted.h"
#include "model/xalloc.h"

struct building {
	struct arena *arena;
	const struct formal_context *context;
	struct concept *concepts;
	size_t num, capacity, most;
	bool is_full;
};

static bool is_subset(const struct building *b, const uint64_t *part, const uint64_t *whole)
{
	for (size_t w = 0; w < b->context->num_words; w++)
		if (part[w] & ~whole[w])
			return false;
	return true;
}

static uint64_t *intersect(const struct building *b, const uint64_t *x, const uint64_t *y)
{
	uint64_t *both = xcalloc(b->context->num_words, sizeof(*both));

	for (size_t w = 0; w < b->context->num_words; w++)
		both[w] = x[w] & y[w];
	return both;
}

static uint32_t add_concept(struct building *b, const uint64_t *intent)
{
	size_t size = b->context->num_words * sizeof(*intent);

	*ARENA_PUSH(b->arena, b->concepts, b->num, b->capacity) = (struct concept){
		.intent = memcpy(arena_alloc(b->arena, size), intent, size),
	};
	return (uint32_t)b->num - 1;
}

static void add_parent(const struct building *b, struct concept *c, uint32_t parent)
{
	*ARENA_PUSH(b->arena, c->parents, c->num_parents, c->parents_capacity) = parent;
}

static void remove_parent(struct concept *c, uint32_t parent)
{
	for (size_t i = 0; i < c->num_parents; i++)
		if (c->parents[i] == parent)
			c->parents[i--] = c->parents[--c->num_parents];
}

/* The highest concept from `at` up whose intent has all of this one. */
static uint32_t highest_with(const struct building *b, const uint64_t *intent, uint32_t at)
{
	for (size_t i = 0; i < b->concepts[at].num_parents; i++) {
		uint32_t parent = b->concepts[at].parents[i];

		if (!is_subset(b, intent, b->concepts[parent].intent))
			continue;
		at = parent;
		i = (size_t)-1;
	}
	return at;
}

/* Add to the new concept's parents, of which none is above another. */
static void offer_parent(struct building *b, struct concept *parents, uint32_t candidate)
{
	for (size_t i = 0; i < parents->num_parents; i++) {
		const uint64_t *other = b->concepts[parents->parents[i]].intent;

		if (is_subset(b, b->concepts[candidate].intent, other))
			return;
		if (is_subset(b, other, b->concepts[candidate].intent))
			parents->parents[i--] = parents->parents[--parents->num_parents];
	}
	add_parent(b, parents, candidate);
}

/* The concept with this intent, made if there is none. The generator's intent has all of it. */
static uint32_t add_intent(struct building *b, const uint64_t *intent, uint32_t generator)
{
	struct concept parents = {.num_parents = 0};
	uint32_t added;

	generator = highest_with(b, intent, generator);
	if (is_subset(b, b->concepts[generator].intent, intent))
		return generator;
	if (b->num >= b->most)
		b->is_full = true;
	/* What is made meanwhile does not change the generator's parents. */
	for (size_t i = 0; i < b->concepts[generator].num_parents && !b->is_full; i++) {
		uint32_t candidate = b->concepts[generator].parents[i];

		if (!is_subset(b, b->concepts[candidate].intent, intent)) {
			uint64_t *both SCOPED(free) =
				intersect(b, b->concepts[candidate].intent, intent);

			candidate = add_intent(b, both, candidate);
		}
		offer_parent(b, &parents, candidate);
	}
	added = add_concept(b, intent);
	for (size_t i = 0; i < parents.num_parents; i++)
		remove_parent(&b->concepts[generator], parents.parents[i]);
	add_parent(b, &b->concepts[generator], added);
	parents.intent = b->concepts[added].intent;
	b->concepts[added] = parents;
	return added;
}

struct place {
	const struct concept *concept;
	size_t num_attributes, num_words;
	uint32_t former;
};

/* Intents get larger from the top down. */
static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	for (size_t w = 0; w < x->num_words && x->num_attributes == y->num_attributes; w++) {
		uint64_t differ = x->concept->intent[w] ^ y->concept->intent[w];

		if (differ) /* with the lowest attribute that the other has not, first */
		return x->concept->intent[w] & differ & -differ ? -1 : 1;
	}
	return SORTED_ORDER(x->num_attributes, y->num_attributes);
}

/* The concepts in order; where[c] is where concept c has gone to. */
static void put_in_order(const struct building *b, struct concept_lattice *lattice, uint32_t *where)
{
	struct place *places = arena_array(b->arena, b->num, sizeof(*places));

	for (size_t c = 0; c < b->num; c++) {
		places[c] = (struct place){
			.concept = &b->concepts[c],
			.num_words = b->context->num_words,
			.former = (uint32_t)c,
		};
		for (size_t w = 0; w < b->context->num_words; w++)
			places[c].num_attributes +=
				(size_t)__builtin_popcountll(b->concepts[c].intent[w]);
	}
	qsort(places, b->num, sizeof(*places), compare_places);
	lattice->concepts = arena_array(b->arena, b->num, sizeof(*lattice->concepts));
	lattice->num_concepts = b->num;
	for (size_t c = 0; c < b->num; c++) {
		lattice->concepts[c] = *places[c].concept;
		where[places[c].former] = (uint32_t)c;
	}
	for (size_t c = 0; c < b->num; c++) {
		struct concept *concept = &lattice->concepts[c];

		for (size_t p = 0; p < concept->num_parents; p++)
		concept->parents[p] = where[concept->parents[p]];
		sorted_make(concept->parents, concept->num_parents, sizeof(*concept->parents),
			    sorted_compare_u32);
	}
}

/* Every row is in the extent of its concept and of all above. */
static void find_extents(struct arena *arena, struct concept_lattice *lattice)
{
	uint32_t *seen = arena_array(arena, lattice->num_concepts, sizeof(*seen));
	uint32_t *stack = arena_array(arena, lattice->num_concepts, sizeof(*stack));
	size_t *capacity = arena_array(arena, lattice->num_concepts, sizeof(*capacity));

	for (uint32_t row = 0; row < lattice->context->num_rows; row++) {
		size_t num = 0;

		stack[num++] = lattice->concept_of_row[row];
		seen[stack[0]] = row + 1;
		while (num > 0) {
			uint32_t at = stack[--num];
			struct concept *c = &lattice->concepts[at];

			*ARENA_PUSH(arena, c->extent, c->num_extent, capacity[at]) = row;
			for (size_t p = 0; p < c->num_parents; p++) {
				if (seen[c->parents[p]] == row + 1)
					continue;
				seen[c->parents[p]] = row + 1;
				stack[num++] = c->parents[p];
			}
		}
	}
}

/* From the top down the first one that has it is the highest: two have a common one above them. */
static void find_attributes(struct arena *arena, struct concept_lattice *lattice)
{
	uint32_t num = lattice->context->num_attributes;

	lattice->concept_of_attribute = arena_array(arena, num, sizeof(uint32_t));
	for (uint32_t a = 0; a < num; a++) {
		uint32_t c = 0;

		while (!(lattice->concepts[c].intent[a / 64] >> a % 64 & 1))
			c++;
		lattice->concept_of_attribute[a] = c;
	}
}

struct concept_lattice *concept_lattice_create(struct arena *arena,
					       const struct formal_context *context, size_t most,
					       struct pdb_error *err)
{
	struct concept_lattice *lattice = arena_alloc(arena, sizeof(*lattice));
	struct building b = {.arena = arena, .context = context, .most = most};
	uint64_t *all = arena_array(arena, context->num_words, sizeof(*all));
	uint32_t *where;

	lattice->context = context;
	lattice->concept_of_row = arena_array(arena, context->num_rows, sizeof(uint32_t));
	/* The bottom. */
	for (uint32_t a = 0; a < context->num_attributes; a++)
		all[a / 64] |= (uint64_t)1 << a % 64;
	add_concept(&b, all);
	for (uint32_t r = 0; r < context->num_rows && !b.is_full; r++)
		lattice->concept_of_row[r] =
			add_intent(&b, &context->rows[r * context->num_words], 0);
	if (b.is_full) {
		error_set(err, ERROR_UNSUPPORTED, "there are more than %zu concepts", most);
		return NULL;
	}
	where = arena_array(arena, b.num, sizeof(*where));
	put_in_order(&b, lattice, where);
	for (uint32_t r = 0; r < context->num_rows; r++)
		lattice->concept_of_row[r] = where[lattice->concept_of_row[r]];
	find_extents(arena, lattice);
	find_attributes(arena, lattice);
	return lattice;
}
