/* SPDX-License-Identifier: BSD-3-Clause
 * What culprits look for in windows that they poll. */
#include <inttypes.h>

#include "analysis/evidence/evidence.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "model/job/rankset.h"
#include "render/lp/lp.h"
#include "render/words/parts.h"

enum { MAX_LOOKS = 3 };

/* A rank that has changed windows less often than others may have left the change out. */
static void print_fewer(const struct view *view, const struct waitfor_need *need, int indent)
{
	struct waitfor_updates updates;

	if (!waitfor_find_updates(view->waitfor, need, view->arena, &updates))
		return;
	text_wrap(view, indent,
		  "%s may have to change it, with %s%" PRIu64 " calls of %s; most others have "
		  "%" PRIu64,
		  parts_who(view, updates.fewer),
		  rankset_count(updates.fewer) > 1 ? "down to " : "", updates.least,
		  updates.function ? updates.function : "MPI_Put and the like", updates.usual);
}

void looks_print(const struct view *view, int indent)
{
	const struct waitfor *w = view->waitfor;
	const struct waitfor_need *need;
	size_t num = 0;

	for (uint32_t l = 0; w && l < w->num_actors && num < MAX_LOOKS; l++) {
		if (!rankset_contains(view->verdict->culprits, w->evidence->actors[l].rank))
			continue;
		need = waitfor_next_need(w, l, NULL);
		if (!need || need->kind != WAITFOR_LOOK)
			continue;
		text_wrap(view, indent, "%s waits for %s", label_wait_who(view, l),
			  label_wait_need(view, need));
		if (num++ == 0)
			print_fewer(view, need, indent);
	}
}
