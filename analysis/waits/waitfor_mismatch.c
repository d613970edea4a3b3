/* SPDX-License-Identifier: BSD-3-Clause
 * Members of a communicator that call different things as one collective of it. */
#include "analysis/waits/waitfor_private.h"

/* More parties than this are put into the last: then it is no slip of one of them. */
enum { MAX_PARTIES = 16 };

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
	case WAITFOR_ERROR:
		return a->error != b->error;
	case WAITFOR_OTHER_GRAPH:
	case WAITFOR_OTHER_COUNTS:
	case WAITFOR_OTHER_LEADERS:
		break; /* not of one member, but of two */
	}
	return false;
}

struct claims {
	struct arena *scratch;
	uint64_t *numbers; /* of the collectives, ascending */
	size_t num_numbers;
	struct claim *claims; /* by number */
	size_t num_claims;
};

/* Is the rank still in it, be it by the call itself or by a request? */
static bool is_in(const struct waitfor *w, int rank, uint32_t comm, uint64_t number)
{
	struct job_comm_view view = job_comm_view_of(&w->comms->comms[comm], rank);

	return model_is_in_collective(view.model, view.local, number) ||
	       model_has_begun_collective(view.model, view.local, number);
}

static int compare_numbers(const void *a, const void *b)
{
	return SORTED_ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

SORTED_BY(compare_claims, struct claim, number, rank)

/* Of each member that stands still the collectives that it has started lately. */
static void collect(const struct waitfor *w, uint32_t comm, struct claims *claims)
{
	const struct waitfor_private *p = w->private;
	const struct job_comm *jc = &w->comms->comms[comm];

	claims->claims =
		arena_array(claims->scratch, jc->num_views * SEG_RECENT, sizeof(*claims->claims));
	for (size_t i = 0; i < jc->num_views; i++) {
		struct job_comm_view view = job_comm_view(jc, i);
		const struct model_collective *recent = job_comm_seen(&view)->recent;
		const struct model_collective *end =
			p->is_static[view.rank] && p->ranks[view.rank].num > 0 ? recent + SEG_RECENT
									       : recent;

		for (; recent < end && recent->number >= claims->numbers[0]; recent++) {
			uint32_t site;

			if (!bsearch(&recent->number, claims->numbers, claims->num_numbers,
				     sizeof(*claims->numbers), compare_numbers))
				continue;
			site = p->jm->lanes[p->ranks[view.rank].first].site_map[recent->site];
			claims->claims[claims->num_claims++] = (struct claim){
				.rank = view.rank,
				.view = view,
				.number = recent->number,
				.function = p->jm->sites[site].name,
				.root = recent->root,
				.bytes = recent->bytes,
				.site = site,
				.is_in = is_in(w, view.rank, comm, recent->number),
			};
			waitfor_read_notes(w, &claims->claims[claims->num_claims - 1]);
		}
	}
	sorted_make(claims->claims, claims->num_claims, sizeof(*claims->claims), compare_claims);
}

/* Do the claims differ, and in what? */
static bool find_difference(const struct claim *claims, size_t num, bool is_inter,
			    enum waitfor_difference *what_ret)
{
	static const enum waitfor_difference differences[] = {
		WAITFOR_OTHER_FUNCTION, WAITFOR_OTHER_ROOT, WAITFOR_OTHER_BYTES};
	/* The groups of an intercommunicator have different roots and counts. */
	size_t num_differences = is_inter ? 1 : 3;

	for (size_t d = 0; d < num_differences; d++) {
		const struct claim *first = NULL;

		for (size_t i = 0; i < num; i++) {
			/* Compare with one that has something to compare. */
			if (!first ||
			    (differences[d] == WAITFOR_OTHER_BYTES && first->bytes == SEG_NO_BYTES))
				first = &claims[i];
			else if (differs(differences[d], first, &claims[i])) {
				*what_ret = differences[d];
				return true;
			}
		}
	}
	return false;
}

static struct waitfor_party *add_party(struct waitfor_mismatch *mismatch, const struct claim *claim,
				       struct arena *arena)
{
	struct waitfor_party *party = &mismatch->parties[mismatch->num_parties++];

	*party = (struct waitfor_party){
		.ranks = rankset_in(arena, rankset_create()),
		.function = claim->function,
		.root = claim->root,
		.bytes = claim->bytes,
		.site = claim->site,
		.error = claim->error,
	};
	return party;
}

static struct waitfor_party *find_party(struct waitfor_mismatch *mismatch,
					const struct claim *claim, struct arena *arena)
{

	for (size_t i = 0; i < mismatch->num_parties; i++) {
		const struct waitfor_party *known = &mismatch->parties[i];
		const struct claim other = {.function = known->function,
					    .root = known->root,
					    .bytes = known->bytes,
					    .error = known->error};

		if (!differs(mismatch->what, claim, &other))
			return &mismatch->parties[i];
	}
	if (mismatch->num_parties == MAX_PARTIES)
		return &mismatch->parties[MAX_PARTIES - 1];
	return add_party(mismatch, claim, arena);
}

static void join_party(struct waitfor_party *party, const struct claim *claim)
{
	rankset_add(party->ranks, claim->rank);
	party->is_waiting |= claim->is_in;
	party->error = party->error ? party->error : claim->error;
}

static int compare_parties(const void *a, const void *b)
{
	const struct waitfor_party *x = a, *y = b;

	return SORTED_ORDER(rankset_count(x->ranks), rankset_count(y->ranks))
		       ?: SORTED_ORDER(rankset_first(x->ranks), rankset_first(y->ranks));
}

static struct waitfor_mismatch *add_mismatch(struct waitfor *w, enum waitfor_difference what,
					     uint32_t comm, uint64_t number, size_t *capacity)
{
	struct arena *arena = w->private->arena;
	struct waitfor_mismatch *mismatch =
		ARENA_PUSH(arena, w->mismatches, w->num_mismatches, *capacity);

	*mismatch = (struct waitfor_mismatch){
		.what = what,
		.has_all = true,
		.comm = comm,
		.number = number,
		.parties = arena_array(arena, MAX_PARTIES, sizeof(*mismatch->parties)),
	};
	return mismatch;
}

static void sort_parties(struct waitfor_mismatch *mismatch)
{
	qsort(mismatch->parties, mismatch->num_parties, sizeof(*mismatch->parties),
	      compare_parties);
}

static void add_different(struct waitfor *w, uint32_t comm, enum waitfor_difference what,
			  const struct claim *claims, size_t num, size_t *capacity)
{
	struct waitfor_mismatch *mismatch = add_mismatch(w, what, comm, claims[0].number, capacity);

	for (size_t i = 0; i < num; i++)
		/* Who says nothing of its size belongs to no party. */
		if (what != WAITFOR_OTHER_BYTES || claims[i].bytes != SEG_NO_BYTES)
			join_party(find_party(mismatch, &claims[i], w->private->arena), &claims[i]);
	sort_parties(mismatch);
}

/* ---- Two who do not fit ---- */

/* The only rank that is in all of several pairs, as giver or as taker; -1: there is none. */
static int find_common(const struct waitfor_pair *pairs, size_t num)
{
	bool is_giver = num > 1, is_taker = num > 1;

	for (size_t i = 1; i < num; i++) {
		is_giver &= pairs[i].giver == pairs[0].giver;
		is_taker &= pairs[i].taker == pairs[0].taker;
	}
	return is_giver ? pairs[0].giver : is_taker ? pairs[0].taker : -1;
}

static const struct claim *claim_of(const struct claim *claims, size_t num, int rank)
{
	for (size_t i = 0; i < num; i++)
		if (claims[i].rank == rank)
			return &claims[i];
	return NULL;
}

/* One of all, or givers and takers. */
static void add_pairs(struct waitfor *w, uint32_t comm, enum waitfor_difference what,
		      const struct claim *claims, size_t num, const struct waitfor_pair *pairs,
		      size_t num_pairs, size_t *capacity)
{
	struct arena *arena = w->private->arena;
	struct waitfor_mismatch *mismatch = add_mismatch(w, what, comm, claims[0].number, capacity);
	struct waitfor_party *parties[2] = {NULL, NULL};
	int common = find_common(pairs, num_pairs);

	mismatch->pairs = arena_array(arena, num_pairs, sizeof(*pairs));
	memcpy(mismatch->pairs, pairs, num_pairs * sizeof(*pairs));
	mismatch->num_pairs = num_pairs;
	for (size_t i = 0; i < 2 * num_pairs; i++) {
		const struct waitfor_pair *pair = &pairs[i / 2];
		int rank = i % 2 ? pair->taker : pair->giver;
		int which = common >= 0 ? rank != common : (int)(i % 2);
		const struct claim *claim = claim_of(claims, num, rank);

		if (parties[!which] && rankset_contains(parties[!which]->ranks, rank))
			continue;
		if (!parties[which])
			parties[which] = add_party(mismatch, claim, arena);
		join_party(parties[which], claim);
	}
	sort_parties(mismatch);
}

static bool have_failed(const struct claim *claims, size_t num)
{
	bool has_failed = false, has_stayed = false;

	for (size_t i = 0; i < num; i++) {
		has_failed |= claims[i].error != 0;
		has_stayed |= claims[i].error == 0 && claims[i].is_in;
	}
	return has_failed && has_stayed;
}

/* All call the same with the same root. */
static void compare_details(struct waitfor *w, uint32_t comm, const struct claim *claims,
			    size_t num, size_t *capacity)
{
	struct waitfor_pair pairs[WAITFOR_MAX_PAIRS];
	enum waitfor_difference what;
	size_t num_pairs = waitfor_find_pairs(w, claims, num, pairs, &what);

	if (num_pairs > 0)
		add_pairs(w, comm, what, claims, num, pairs, num_pairs, capacity);
	else if (have_failed(claims, num))
		add_different(w, comm, WAITFOR_ERROR, claims, num, capacity);
}

static void add_leaders(struct waitfor *w, size_t *capacity)
{
	struct leaders found[WAITFOR_MAX_PAIRS];
	size_t num = waitfor_find_leaders(w, found, WAITFOR_MAX_PAIRS);

	for (size_t i = 0; i < num; i++) {
		const struct waitfor_pair *pair = &found[i].pair;
		struct claim claims[2];

		for (int k = 0; k < 2; k++)
			claims[k] = (struct claim){
				.rank = k ? pair->taker : pair->giver,
				.number = found[i].number,
				.function = w->private->jm->sites[found[i].sites[k]].name,
				.root = SEG_PEER_NONE,
				.bytes = SEG_NO_BYTES,
				.site = found[i].sites[k],
				.is_in = true,
			};
		add_pairs(w, found[i].comm, WAITFOR_OTHER_LEADERS, claims, 2, pair, 1, capacity);
	}
}

/* Collectives [first, end) are of the communicator of mismatches from first_mismatch on. */
static void refer(struct waitfor *w, uint32_t first, uint32_t end, size_t first_mismatch)
{
	for (uint32_t c = first; c < end; c++)
		for (size_t m = first_mismatch; m < w->num_mismatches; m++)
			if (w->mismatches[m].number == w->collectives[c].number) {
				w->collectives[c].mismatch = (uint32_t)m;
				w->mismatches[m].has_all &= w->collectives[c].num_missing == 0 &&
							    w->collectives[c].num_unknown == 0;
			}
}

/* Collectives [first, end) are of one communicator. */
static void find_in_comm(struct waitfor *w, uint32_t first, uint32_t end, size_t *capacity)
{
	uint32_t comm = w->collectives[first].comm;
	bool is_inter = w->comms->comms[comm].kind == SEG_COMM_INTER;
	size_t first_mismatch = w->num_mismatches, next;
	struct claims claims = {.scratch = arena_create()};
	enum waitfor_difference what;

	claims.numbers = arena_array(claims.scratch, end - first, sizeof(*claims.numbers));
	for (uint32_t c = first; c < end; c++)
		claims.numbers[c - first] = w->collectives[c].number;
	claims.num_numbers = sorted_make_unique(claims.numbers, end - first,
						sizeof(*claims.numbers), compare_numbers);
	collect(w, comm, &claims);
	for (size_t i = 0; i < claims.num_claims; i = next) {
		next = i + 1;
		while (next < claims.num_claims &&
		       claims.claims[next].number == claims.claims[i].number)
			next++;
		if (find_difference(&claims.claims[i], next - i, is_inter, &what))
			add_different(w, comm, what, &claims.claims[i], next - i, capacity);
		else
			compare_details(w, comm, &claims.claims[i], next - i, capacity);
	}
	refer(w, first, end, first_mismatch);
	arena_destroy(claims.scratch);
}

void waitfor_find_mismatches(struct waitfor *w)
{
	size_t capacity = 0;
	uint32_t end;

	for (uint32_t first = 0; first < w->num_collectives; first = end) {
		end = first + 1;
		while (end < w->num_collectives &&
		       w->collectives[end].comm == w->collectives[first].comm)
			end++;
		find_in_comm(w, first, end, &capacity);
	}
	add_leaders(w, &capacity);
}

uint32_t waitfor_mismatch_of(const struct waitfor *w, uint32_t l)
{
	int rank = w->evidence->actors[l].rank;

	for (size_t m = 0; m < w->num_mismatches; m++) {
		const struct waitfor_mismatch *mismatch = &w->mismatches[m];
		bool is_part = false;

		for (size_t i = 0; i < mismatch->num_parties && !is_part; i++)
			is_part = rankset_contains(mismatch->parties[i].ranks, rank);
		if (is_part && (mismatch->what == WAITFOR_OTHER_LEADERS ||
				is_in(w, rank, mismatch->comm, mismatch->number)))
			return (uint32_t)m;
	}
	return WAITFOR_NONE;
}
