/* SPDX-License-Identifier: BSD-3-Clause
 * Why ranks have become slow: one look that measures, as for `slow`. */
#include "analysis/evidence/evidence.h"
#include "analysis/slow/slow.h"
#include "model/job/job.h"
#include "render/view.h"
#include "shell/session.h"
#include "shell/watch/watch_state.h"
#include "shell/watch/watch_tell.h"

enum { MEASURE_MS = 1000 };

int watch_tell_why(struct watch *watch, struct pdb_error *err)
{
	struct session *session = watch->session;
	struct arena *arena SCOPED(arena) = arena_create();
	const struct slow *slow;
	struct view view;

	watch->wants_why = false;
	if (session_measure(session, MEASURE_MS, err) < 0) {
		watch->is_over |= err->code == ERROR_GONE;
		return err->code == ERROR_GONE || err->code == ERROR_INTERRUPTED ? 0 : -1;
	}
	view = session_view(session, arena);
	slow = slow_find(arena, session->job, session->progress,
			 session->evidence ? session->evidence->stacks : NULL);
	if (slow->num_slow && slow->ranks[0].num_reasons)
		watch_tell_note(&watch->teller, "slow-why", "rank %d is slow: %s",
				slow->ranks[0].rank, view_slow_reasons(&view, &slow->ranks[0]));
	return 0;
}
