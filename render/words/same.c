/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks of which the same is to be said. */
#include "render/words/same.h"

#include <stdlib.h>
#include <string.h>

#include "model/arena.h"
#include "model/job/rankset.h"
#include "render/text/text.h"
#include "render/words/parts.h"

static struct same_entry *entry_of(struct same *same, const char *text)
{
	for (size_t i = 0; i < same->num; i++)
		if (strcmp(same->entries[i].text, text) == 0)
			return &same->entries[i];
	same->entries = arena_grow(same->arena, same->entries, same->num, &same->capacity,
				   sizeof(*same->entries));
	same->entries[same->num] = (struct same_entry){
		.text = text, .ranks = rankset_in(same->arena, rankset_create())};
	return &same->entries[same->num++];
}

struct same_entry *same_add(struct same *same, const char *text, int rank)
{
	struct same_entry *entry = entry_of(same, text);

	rankset_add(entry->ranks, rank);
	return entry;
}

void same_add_set(struct same *same, const char *text, const struct rankset *ranks)
{
	rankset_add_set(entry_of(same, text)->ranks, ranks);
}

static int compare_entries(const void *a, const void *b)
{
	const struct same_entry *one = a, *two = b;
	int ranks_one = rankset_count(one->ranks), ranks_two = rankset_count(two->ranks);

	if (ranks_one != ranks_two)
		return ranks_one > ranks_two ? -1 : 1;
	return rankset_first(one->ranks) < rankset_first(two->ranks) ? -1 : 1;
}

void same_sort(struct same *same)
{
	if (same->num)
		qsort(same->entries, same->num, sizeof(*same->entries), compare_entries);
}

size_t same_print(const struct same *same, const struct view *view, const char *link, size_t max)
{
	for (size_t i = 0; i < same->num && i < max; i++)
		text_wrap(view, 2, "%s%s%s", parts_who(view, same->entries[i].ranks), link,
			  same->entries[i].text);
	return same->num > max ? same->num - max : 0;
}

size_t same_count_from(const struct same *same, size_t first)
{
	size_t number = 0;

	for (size_t i = first; i < same->num; i++)
		number += (size_t)rankset_count(same->entries[i].ranks);
	return number;
}
