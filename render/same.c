/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks of which the same is to be said. */
#include "render/same.h"

#include <stdlib.h>
#include <string.h>

#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/label.h"

void same_deinit(struct same *same)
{
	for (size_t i = 0; i < same->num; i++) {
		free(same->entries[i].text);
		rankset_destroy(same->entries[i].ranks);
	}
	free(same->entries);
}

static struct rankset *ranks_of(struct same *same, const char *text)
{
	for (size_t i = 0; i < same->num; i++)
		if (strcmp(same->entries[i].text, text) == 0)
			return same->entries[i].ranks;
	same->entries = xgrow(same->entries, same->num, &same->capacity, sizeof(*same->entries));
	same->entries[same->num] = (struct same_entry){xstrdup(text), rankset_create()};
	return same->entries[same->num++].ranks;
}

void same_add(struct same *same, const char *text, int rank)
{
	rankset_add(ranks_of(same, text), rank);
}

void same_add_set(struct same *same, const char *text, const struct rankset *ranks)
{
	rankset_add_set(ranks_of(same, text), ranks);
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

char *same_who(const struct same_entry *entry)
{
	return label_who(entry->ranks, 30);
}

size_t same_count_from(const struct same *same, size_t first)
{
	size_t number = 0;

	for (size_t i = first; i < same->num; i++)
		number += (size_t)rankset_count(same->entries[i].ranks);
	return number;
}
