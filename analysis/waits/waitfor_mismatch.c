/* SPDX-License-Identifier: BSD-3-Clause
 * Members of a communicator that call different things as one collective of it. */
#include "analysis/waits/waitfor_private.h"

/* More parties than this are put into the last: then it is no slip of one of them. */
enum { MAX_PARTIES = 16 };

/* What one member does as the collective. */
struct claim {
	int rank;
	uint64_t number;
	const char *function;
	int32_t root;
	uint64_t bytes;
	uint32_t site;
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

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	return SORTED_ORDER(x->number, y->number) ?: SORTED_ORDER(x->rank, y->rank);
}

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
			p->is_static[view.rank] ? recent + SEG_RECENT : recent;

		for (; recent < end && recent->number >= claims->numbers[0]; recent++) {
			uint32_t site;

			if (!bsearch(&recent->number, claims->numbers, claims->num_numbers,
				     sizeof(*claims->numbers), compare_numbers))
				continue;
			site = p->jm->lanes[p->ranks[view.rank].first].site_map[recent->site];
			claims->claims[claims->num_claims++] = (struct claim){
				.rank = view.rank,
				.number = recent->number,
				.function = p->jm->sites[site].name,
				.root = recent->root,
				.bytes = recent->bytes,
				.site = site,
			};
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

static struct waitfor_party *find_party(struct waitfor_mismatch *mismatch,
					const struct claim *claim, struct arena *arena)
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
		.ranks = rankset_in(arena, rankset_create()),
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

	return SORTED_ORDER(rankset_count(x->ranks), rankset_count(y->ranks))
		       ?: SORTED_ORDER(rankset_first(x->ranks), rankset_first(y->ranks));
}

static void add_mismatch(struct waitfor *w, uint32_t comm, enum waitfor_difference what,
			 const struct claim *claims, size_t num, size_t *capacity)
{
	struct arena *arena = w->private->arena;
	struct waitfor_mismatch *mismatch =
		ARENA_PUSH(arena, w->mismatches, w->num_mismatches, *capacity);

	*mismatch = (struct waitfor_mismatch){
		.what = what,
		.has_all = true,
		.comm = comm,
		.number = claims[0].number,
		.parties = arena_array(arena, MAX_PARTIES, sizeof(*mismatch->parties)),
	};
	for (size_t i = 0; i < num; i++) {
		struct waitfor_party *party;

		/* Who says nothing of its size belongs to no party. */
		if (what == WAITFOR_OTHER_BYTES && claims[i].bytes == SEG_NO_BYTES)
			continue;
		party = find_party(mismatch, &claims[i], arena);
		rankset_add(party->ranks, claims[i].rank);
		party->is_waiting |= is_in(w, claims[i].rank, comm, claims[i].number);
	}
	qsort(mismatch->parties, mismatch->num_parties, sizeof(*mismatch->parties),
	      compare_parties);
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
			add_mismatch(w, comm, what, &claims.claims[i], next - i, capacity);
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
}
