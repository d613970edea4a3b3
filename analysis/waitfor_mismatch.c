/* SPDX-License-Identifier: BSD-3-Clause
 * Members of a communicator that call different things as one collective of it. */
#include <stdlib.h>
#include <string.h>

#include "analysis/waitfor_private.h"
#include "model/rankset.h"
#include "model/xalloc.h"

/* More parties than this are put into the last: then it is no slip of one of them. */
enum { MAX_PARTIES = 16 };

/* What one member does as the collective. */
struct claim {
	int rank;
	const char *function;
	int32_t root;
	uint64_t bytes;
	uint32_t site;
	bool is_waiting;
};

/* MPI_Bcast_c takes part in MPI_Bcast. */
static bool is_same_function(const char *a, const char *b)
{
	size_t na, nb;

	if (a == b)
		return true;
	na = strlen(a);
	nb = strlen(b);
	na -= na > 2 && strcmp(a + na - 2, "_c") == 0 ? 2 : 0;
	nb -= nb > 2 && strcmp(b + nb - 2, "_c") == 0 ? 2 : 0;
	return na == nb && memcmp(a, b, na) == 0;
}

static bool differs(enum waitfor_difference what, const struct claim *a, const struct claim *b)
{
	switch (what) {
	case WAITFOR_OTHER_FUNCTION:
		return !is_same_function(a->function, b->function);
	case WAITFOR_OTHER_ROOT:
		return a->root != b->root;
	case WAITFOR_OTHER_BYTES:
		return a->bytes != b->bytes && a->bytes != SEG_NO_BYTES && b->bytes != SEG_NO_BYTES;
	}
	return false;
}

/* ---- Collecting what the members do ------------------------------------------------------------
 */

struct claims {
	struct claim *claims;
	size_t num, capacity;
};

/* Is the rank still in it, be it by the call itself or by a request that it waits for? */
static bool is_in(const struct waitfor *w, int rank, uint32_t node)
{
	const struct rank_lanes *lanes = &w->private->ranks[rank];

	for (uint32_t l = lanes->first; l < lanes->first + lanes->num; l++)
		for (uint32_t i = 0; i < w->lanes[l].num_needs; i++)
			if (w->needs[w->lanes[l].first_need + i].node == node)
				return true;
	return false;
}

static void collect(const struct waitfor *w, uint32_t c, struct claims *claims)
{
	const struct waitfor_private *p = w->private;
	const struct waitfor_collective *collective = &w->collectives[c];
	const struct job_comm *comm = &w->comms->comms[collective->comm];

	claims->num = 0;
	for (size_t i = 0; i < comm->num_views; i++) {
		const struct job_comm_view *view = &comm->views[i];
		const struct model_collective *recent = view->comm->recent;
		const struct job_lane *lane = &p->jm->lanes[p->ranks[view->rank].first];
		int k = 0;

		while (k < SEG_RECENT && recent[k].number > collective->number)
			k++;
		if (k == SEG_RECENT || recent[k].number != collective->number ||
		    !p->is_static[view->rank])
			continue;
		claims->claims = xgrow(claims->claims, claims->num, &claims->capacity,
				       sizeof(*claims->claims));
		claims->claims[claims->num++] = (struct claim){
			.rank = view->rank,
			.function = p->jm->sites[lane->site_map[recent[k].site]].name,
			.root = recent[k].root,
			.bytes = recent[k].bytes,
			.site = lane->site_map[recent[k].site],
		};
	}
}

static bool find_difference(const struct claims *claims, bool is_inter,
			    enum waitfor_difference *what_ret)
{
	static const enum waitfor_difference differences[] = {
		WAITFOR_OTHER_FUNCTION, WAITFOR_OTHER_ROOT, WAITFOR_OTHER_BYTES};
	/* The groups of an intercommunicator have different roots and counts. */
	size_t num = is_inter ? 1 : 3;

	for (size_t d = 0; d < num; d++) {
		const struct claim *first = NULL;

		for (size_t i = 0; i < claims->num; i++) {
			/* Compare with one that has something to compare. */
			if (!first ||
			    (differences[d] == WAITFOR_OTHER_BYTES && first->bytes == SEG_NO_BYTES))
				first = &claims->claims[i];
			else if (differs(differences[d], first, &claims->claims[i])) {
				*what_ret = differences[d];
				return true;
			}
		}
	}
	return false;
}

/* ---- Parties -----------------------------------------------------------------------------------
 */

static struct waitfor_party *find_party(struct waitfor_mismatch *mismatch,
					const struct claim *claim)
{
	struct waitfor_party *party;

	for (size_t i = 0; i < mismatch->num_parties; i++) {
		const struct waitfor_party *known = &mismatch->parties[i];
		const struct claim other = {
			.function = known->function, .root = known->root, .bytes = known->bytes};

		if (!differs(mismatch->what, claim, &other))
			return &mismatch->parties[i];
	}
	if (mismatch->num_parties == MAX_PARTIES)
		return &mismatch->parties[MAX_PARTIES - 1];
	party = &mismatch->parties[mismatch->num_parties++];
	*party = (struct waitfor_party){
		.ranks = rankset_create(),
		.function = claim->function,
		.root = claim->root,
		.bytes = claim->bytes,
		.site = claim->site,
	};
	return party;
}

static int compare_parties(const void *a, const void *b)
{
	const struct waitfor_party *x = a, *y = b;
	int num = rankset_count(x->ranks) - rankset_count(y->ranks);

	return num ? num : rankset_first(x->ranks) - rankset_first(y->ranks);
}

static void add_mismatch(struct waitfor *w, uint32_t c, enum waitfor_difference what,
			 const struct claims *claims, size_t *capacity)
{
	struct waitfor_mismatch *mismatch;
	uint32_t node = w->private->first_collective + c;

	w->mismatches = xgrow(w->mismatches, w->num_mismatches, capacity, sizeof(*w->mismatches));
	mismatch = &w->mismatches[w->num_mismatches];
	*mismatch = (struct waitfor_mismatch){
		.what = what,
		.comm = w->collectives[c].comm,
		.number = w->collectives[c].number,
		.parties = xcalloc(MAX_PARTIES, sizeof(*mismatch->parties)),
	};
	for (size_t i = 0; i < claims->num; i++) {
		struct waitfor_party *party = find_party(mismatch, &claims->claims[i]);

		rankset_add(party->ranks, claims->claims[i].rank);
		party->is_waiting = party->is_waiting || is_in(w, claims->claims[i].rank, node);
	}
	qsort(mismatch->parties, mismatch->num_parties, sizeof(*mismatch->parties),
	      compare_parties);
	w->collectives[c].mismatch = (uint32_t)w->num_mismatches++;
}

void waitfor_find_mismatches(struct waitfor *w)
{
	struct claims claims = {0};
	enum waitfor_difference what;
	size_t capacity = 0;

	for (uint32_t c = 0; c < w->num_collectives; c++) {
		const struct job_comm *comm = &w->comms->comms[w->collectives[c].comm];

		if (w->collectives[c].owner >= 0)
			continue;
		collect(w, c, &claims);
		if (find_difference(&claims, comm->kind == SEG_COMM_INTER, &what))
			add_mismatch(w, c, what, &claims, &capacity);
	}
	free(claims.claims);
}
