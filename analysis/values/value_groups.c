/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include <uthash.h>

#include "analysis/values/value_groups.h"
#include "model/job/rankset.h"

struct entry {
	struct value_group *group;
	UT_hash_handle hh;
};

static int by_ranks(const void *a, const void *b)
{
	const struct value_group *x = a, *y = b;

	return y->has_value - x->has_value
		       ?: SORTED_ORDER(rankset_count(y->ranks), rankset_count(x->ranks))
		       ?: SORTED_ORDER(rankset_first(x->ranks), rankset_first(y->ranks));
}

static int by_number(const void *a, const void *b)
{
	const struct value_group *x = *(const struct value_group *const *)a;
	const struct value_group *y = *(const struct value_group *const *)b;

	if (isnan(x->number) || isnan(y->number))
		return !!isnan(x->number) - !!isnan(y->number);
	return SORTED_ORDER(x->number, y->number);
}

/* Equal texts are one group. A value and a reason of the same words are two. */
static void collect(struct arena *arena, const struct value_reading *readings, size_t num,
		    struct value_groups *ret)
{
	struct entry *tables[2] = {NULL, NULL}, *entry;

	ret->groups = arena_array(arena, num, sizeof(*ret->groups));
	for (size_t i = 0; i < num; i++) {
		const struct value_reading *reading = &readings[i];
		struct entry **table = &tables[reading->has_value];

		HASH_FIND_STR(*table, reading->text, entry);
		if (!entry) {
			entry = arena_alloc(arena, sizeof(*entry));
			entry->group = &ret->groups[ret->num++];
			*entry->group = (struct value_group){reading->text, reading->has_value,
							     reading->is_number, reading->number,
							     rankset_in(arena, rankset_create())};
			HASH_ADD_KEYPTR(hh, *table, reading->text, strlen(reading->text), entry);
		}
		rankset_add(entry->group->ranks, reading->rank);
	}
	HASH_CLEAR(hh, tables[false]);
	HASH_CLEAR(hh, tables[true]);
}

static void find_median(struct value_groups *groups)
{
	size_t num = groups->num_values - groups->num_nan, total = 0, below = 0;

	for (size_t i = 0; i < num; i++)
		total += (size_t)rankset_count(groups->by_number[i]->ranks);
	for (size_t i = 0; i < num && !groups->median; i++) {
		below += (size_t)rankset_count(groups->by_number[i]->ranks);
		if (2 * below >= total)
			groups->median = groups->by_number[i];
	}
}

struct value_groups *value_groups_create(struct arena *arena, const struct value_reading *readings,
					 size_t num)
{
	struct value_groups *ret = arena_alloc(arena, sizeof(*ret));

	collect(arena, readings, num, ret);
	sorted_make(ret->groups, ret->num, sizeof(*ret->groups), by_ranks);
	while (ret->num_values < ret->num && ret->groups[ret->num_values].has_value)
		ret->num_values++;
	ret->are_numbers = ret->num_values > 0;
	ret->by_number = arena_array(arena, ret->num_values, sizeof(struct value_group *));
	for (size_t i = 0; i < ret->num_values; i++) {
		ret->are_numbers &= ret->groups[i].is_number;
		ret->num_nan += ret->groups[i].is_number && isnan(ret->groups[i].number);
		ret->by_number[i] = &ret->groups[i];
	}
	if (!ret->are_numbers)
		return ret;
	sorted_make(ret->by_number, ret->num_values, sizeof(struct value_group *), by_number);
	find_median(ret);
	return ret;
}
