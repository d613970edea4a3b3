/* SPDX-License-Identifier: BSD-3-Clause
 * Who may be meant to send what a receive waits for. With a wildcard it is one of those from whom
 * the rank has got such messages before; where programs number their messages by tags, as BLACS
 * does, one of those from whom it has got anything in this communicator. */
#include "analysis/waits/waitfor_private.h"

/* What a rank has got in the communicator of a need. */
struct sources {
	struct rankset *ranks; /* who has sent what may be meant */
	struct rankset *given; /* and this very tag, where tags are numbers */
	bool has_numbers;      /* tags are numbers for one of them */
	bool has_repeated;     /* and numbers have been used again */
};

static void add_row(const struct waitfor *w, const struct job_lane *lane,
		    const struct waitfor_need *need, const struct model_ledger *row,
		    struct sources *sources)
{
	int32_t peer = model_ledger_peer(lane->model, row);
	uint64_t got = row->receives_done + row->taken;
	bool are_numbers;
	int source;

	if (peer < 0 || (row->tag < 0 && row->tag != SEG_TAG_MANY) || got == 0 ||
	    job_comms_find(w->comms, lane->model, row->comm) != need->comm)
		return;
	source = job_comms_peer(w->comms, lane->model, row->comm, peer);
	are_numbers = ledgers_are_tags_numbers(w->private->ledgers, lane->rank, row->comm, peer);
	if (source < 0 || !(are_numbers || need->tag == SEG_TAG_ANY || row->tag == need->tag))
		return;
	rankset_add(sources->ranks, source);
	sources->has_numbers |= are_numbers;
	sources->has_repeated |= are_numbers && row->tag != SEG_TAG_MANY && got > 1;
	if (are_numbers && row->tag == need->tag)
		rankset_add(sources->given, source);
}

/* Does it wait for a message of the same tag there itself? Then it is no further. */
static bool waits_for_same(const struct waitfor *w, int rank, const struct waitfor_need *need)
{
	for (uint32_t l = waitfor_first_actor(w, rank); waitfor_is_actor_of(w, l, rank); l++)
		for (const struct waitfor_need *own = NULL; (own = waitfor_next_need(w, l, own));)
			if (own->comm == need->comm && own->tag == need->tag &&
			    own->kind != WAITFOR_MEMBERS)
				return true;
	return false;
}

/* How many messages with this tag has it sent there? *is_known_ret: all such rows are known. */
static uint64_t count_sent(const struct waitfor *w, int rank, const struct waitfor_need *need,
			   bool *is_known_ret)
{
	uint64_t num = 0;

	for (uint32_t l = waitfor_first_actor(w, rank); waitfor_is_actor_of(w, l, rank); l++) {
		const struct job_lane *lane = w->evidence->actors[l].lane;

		for (size_t i = 0; lane && i < lane->data->num_ledger; i++) {
			const struct model_ledger *row = &lane->data->ledger[i];

			if (row->sends == 0 ||
			    (row->tag != need->tag && row->tag != SEG_TAG_MANY) ||
			    job_comms_find(w->comms, lane->model, row->comm) != need->comm)
				continue;
			*is_known_ret &= row->tag != SEG_TAG_MANY && row->sends == 1;
			num += row->sends;
		}
	}
	return num;
}

/* Where each tag is used once, who has sent its part of this round has done what it had to. */
static void drop_who_sent(const struct waitfor *w, const struct waitfor_need *need,
			  struct rankset *givers, struct arena *arena)
{
	struct rankset *rest = rankset_in(arena, rankset_create());
	bool is_known = true;

	for (int rank = rankset_first(givers); rank >= 0; rank = rankset_next(givers, rank))
		if (count_sent(w, rank, need, &is_known) == 0)
			rankset_add(rest, rank);
	if (is_known && !rankset_is_empty(rest))
		rankset_keep_set(givers, rest);
}

/* Are messages with numbers on their way from the giver, by what one sent and the other got? */
static bool has_sent_more(const struct waitfor *w, int rank, uint32_t comm, int giver)
{
	const struct job_comm *jc = &w->comms->comms[comm];
	struct job_comm_view to = job_comm_view_of(jc, rank), from = job_comm_view_of(jc, giver);
	struct ledgers *ledgers = w->private->ledgers;
	int32_t giver_there, rank_there;

	if (!to.model || !from.model)
		return false;
	rank_there = model_comm_rank(to.model, to.local);
	giver_there = model_comm_rank(from.model, from.local);
	return ledgers_are_tags_numbers(ledgers, rank, to.local, giver_there) &&
	       ledgers_find_total(ledgers, giver, from.local, rank_there).sends >
		       ledgers_find_total(ledgers, rank, to.local, giver_there).got;
}

/* Who has sent what comes later has sent all that it is to send before. */
static bool keep_past(const struct waitfor *w, int rank, uint32_t comm, struct rankset *givers,
		      struct arena *arena)
{
	struct rankset *past = rankset_in(arena, rankset_create());

	for (int giver = rankset_first(givers); giver >= 0; giver = rankset_next(givers, giver))
		if (has_sent_more(w, rank, comm, giver))
			rankset_add(past, giver);
	if (rankset_is_empty(past))
		return false;
	rankset_keep_set(givers, past);
	return true;
}

struct rankset *waitfor_find_givers(const struct waitfor *w, const struct waitfor_need *need,
				    bool *are_past_ret, struct arena *arena)
{
	struct sources sources = {
		.ranks = rankset_in(arena, rankset_create()),
		.given = rankset_in(arena, rankset_create()),
	};
	struct rankset *givers = rankset_in(arena, rankset_create());
	int own = w->evidence->actors[need->actor].rank;

	*are_past_ret = false;
	if (need->is_read) {
		rankset_add(givers, waitfor_rank_of(w, need->node));
		return givers;
	}
	if (need->peer >= 0) {
		rankset_add(givers, need->peer);
		return givers;
	}
	if (need->kind != WAITFOR_MESSAGE)
		return givers;
	for (uint32_t l = waitfor_first_actor(w, own); waitfor_is_actor_of(w, l, own); l++) {
		const struct job_lane *lane = w->evidence->actors[l].lane;

		for (size_t i = 0; lane && i < lane->data->num_ledger; i++)
			add_row(w, lane, need, &lane->data->ledger[i], &sources);
	}
	if (!sources.has_repeated)
		rankset_remove_set(sources.ranks, sources.given);
	for (int rank = rankset_first(sources.ranks); rank >= 0;
	     rank = rankset_next(sources.ranks, rank))
		if (!waits_for_same(w, rank, need))
			rankset_add(givers, rank);
	*are_past_ret = keep_past(w, own, need->comm, givers, arena);
	if (sources.has_numbers && !sources.has_repeated && rankset_count(givers) > 1)
		drop_who_sent(w, need, givers, arena);
	return givers;
}
