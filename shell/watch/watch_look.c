/* SPDX-License-Identifier: BSD-3-Clause
 * Looks at a watched job, and which ranks moved. */
#include "analysis/hang/hang_test.h"
#include "analysis/hang/pace.h"
#include "attach/node/watch_digest.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/monotonic.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "shell/session.h"
#include "shell/watch/watch_state.h"
#include "shell/watch/watch_tell.h"

#define STEP_NS (5 * SECOND_NS) /* longest time between two looks, full looks included */

static void feed_pace(struct watch *watch)
{
	int size = watch->session->job->proctable->size;

	for (int i = 0; i < size; i++)
		watch->looks[i] = (struct pace_look){.look = HANG_UNKNOWN};
	for (size_t i = 0; i < watch->digest.num_ranks; i++) {
		const struct watch_rank *rank = &watch->digest.ranks[i];

		if (rank->rank >= (uint32_t)size)
			continue;
		watch->looks[rank->rank] = (struct pace_look){
			.look = rank->flags & WATCH_RANK_OUTSIDE ? HANG_OUTSIDE : HANG_INSIDE,
			.may_last = rank->flags & WATCH_RANK_MAY_LAST,
			.place = rank->place,
			.moves = rank->moves,
			.stay_ns = rank->stay_ns,
			.longest_ns = rank->longest_ns,
			.num_stays = rank->num_stays,
			.stack = rank->stack,
			.work = rank->work,
		};
	}
	pace_add(watch->pace, monotonic_ns(), watch->looks);
	pace_report(watch->pace, &watch->report);
	/* No rank is slow while none moves. */
	if (watch->report.kind == PACE_MOVING)
		watch->wants_why |= watch_rates_add(watch->rates, watch->looks, &watch->teller);
}

/* The whole job is stopped, as batch systems do; it will continue later. */
static void note_suspension(struct watch *watch)
{
	const struct watch_numbers *numbers = &watch->digest.numbers;
	bool is_suspended = numbers->num_suspended > 0 && !numbers->num_moved &&
			    numbers->num_suspended + numbers->num_ended == numbers->num_ranks;

	if (!numbers->num_suspended || is_suspended)
		watch->partly_ns = 0;
	else if (!watch->partly_ns)
		watch->partly_ns = monotonic_ns();
	if (is_suspended == watch->is_suspended)
		return;
	watch->is_suspended = is_suspended;
	if (is_suspended)
		watch_tell_note(&watch->teller, "suspended",
				"all ranks have been stopped by a signal: the job is suspended, "
				"and watching waits");
	else
		watch_tell_note(&watch->teller, "resumed", "the job goes on, and so does watching");
}

static void note_movement(struct watch *watch)
{
	const struct watch_numbers *numbers = &watch->digest.numbers;
	uint64_t now_ns = monotonic_ns();
	uint64_t most_ns = watch->is_suspended ? 0 : STEP_NS;

	/* If pdb itself was stopped, it did not see whether ranks moved. */
	if (watch->looked_ns && now_ns - watch->looked_ns > most_ns)
		watch->moved_ns += now_ns - watch->looked_ns - most_ns;
	watch->looked_ns = now_ns;
	if (numbers->num_active) {
		watch->active_ns = now_ns;
		rankset_destroy(watch->active);
		watch->active = rankset_copy(watch->digest.outside);
	}
	watch->num_looks += numbers->num_sampled > 0;
	if (numbers->num_sampled)
		watch->is_unsure = numbers->num_unsure > 0;
	if (!numbers->num_moved && !numbers->num_changed)
		return;
	watch->moved_ns = now_ns;
	watch->num_looks = 0;
	watch->before_ns = 0;
	watch->has_moved = true;
	watch->next_still_ns = 0;
	watch->has_told_active = watch->has_told_spared = false;
	watch->tell_still_ns = TELL_STILL_NS;
}

int watch_look(struct watch *watch, const struct rankset *sampled, struct pdb_error *err)
{
	if (watch_source_look(watch->source, sampled, &watch->digest, err) < 0)
		return -1;
	note_suspension(watch);
	note_movement(watch);
	if (watch->has_recorder && !watch->is_suspended)
		feed_pace(watch);
	return 0;
}
