/* SPDX-License-Identifier: BSD-3-Clause
 * Steps along the order. */
#include <stdlib.h>

#include "analysis/stacks/temporal.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

/* The longest chain of groups that are behind each, in *is_related whether it is in any chain. */
static uint32_t *find_levels_behind(const struct temporal_result *result, bool *is_related)
{
	uint32_t *levels = xcalloc(result->num_groups + 1, sizeof(*levels));

	/* Groups are by level: those behind a group come later. */
	for (size_t i = result->num_groups; i-- > 0;) {
		for (size_t j = i + 1; j < result->num_groups; j++) {
			if (temporal_order_of(result, i, j, NULL) != TEMPORAL_BEFORE)
				continue;
			is_related[i] = is_related[j] = true;
			if (levels[i] < levels[j] + 1)
				levels[i] = levels[j] + 1;
		}
	}
	return levels;
}

struct rankset *temporal_steps(const struct temporal_result *result, size_t num, bool from_last)
{
	struct rankset *ranks = rankset_create();
	bool *is_related = xcalloc(result->num_groups + 1, sizeof(*is_related));
	uint32_t *behind = find_levels_behind(result, is_related);

	for (size_t i = 0; i < result->num_groups; i++)
		if (is_related[i] && (from_last ? behind[i] : result->groups[i].level) < num)
			rankset_add_set(ranks, result->groups[i].ranks);
	free(behind);
	free(is_related);
	return ranks;
}
