/* SPDX-License-Identifier: BSD-3-Clause
 * Who may have to change a window that somebody polls: who has changed any less often than most. */
#include "analysis/waits/waitfor_private.h"

struct updates {
	uint64_t *of_rank; /* [num_ranks] calls */
	size_t num_ranks;
	const char *function; /* NULL: several */
	bool has_some;
};

static bool is_update(const struct job_site *site)
{
	static const char *const functions[] = {"MPI_Put", "MPI_Accumulate", "MPI_Rput",
						"MPI_Raccumulate"};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(site->name, functions[i]) == 0)
			return true;
	return false;
}

static void count_transition(struct updates *u, const struct job_transition *made)
{
	for (size_t i = 0; i < made->num_counts; i++) {
		const struct rankset *ranks = made->counts[i].ranks;

		for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
			if ((size_t)r < u->num_ranks)
				u->of_rank[r] += made->counts[i].count;
	}
}

static void count_updates(struct updates *u, const struct job_model *jm)
{
	for (size_t t = 0; t < jm->num_transitions; t++) {
		const struct job_transition *made = &jm->transitions[t];
		const struct job_site *site = &jm->sites[SEG_STATE_SITE(made->to)];

		if (SEG_STATE_IS_EXIT(made->to) || site->class_id != SEG_CLASS_RMA ||
		    !is_update(site))
			continue;
		if (!u->has_some)
			u->function = site->name;
		else if (u->function && strcmp(u->function, site->name) != 0)
			u->function = NULL;
		u->has_some = true;
		count_transition(u, made);
	}
}

bool waitfor_find_updates(const struct waitfor *w, const struct waitfor_need *need,
			  struct arena *arena, struct waitfor_updates *ret)
{
	struct updates u = {.num_ranks = w->evidence->num_ranks};
	struct rankset *members = rankset_in(arena, rankset_create());
	uint64_t most = 0, least = UINT64_MAX;
	int num_most = 0;

	u.of_rank = arena_array(arena, u.num_ranks, sizeof(*u.of_rank));
	if (w->job->model)
		count_updates(&u, w->job->model);
	waitfor_add_peers(w, need, members);
	for (int r = rankset_first(members); u.has_some && r >= 0; r = rankset_next(members, r)) {
		uint64_t num = (size_t)r < u.num_ranks ? u.of_rank[r] : 0;

		num_most = num > most ? 1 : num_most + (num == most);
		most = num > most ? num : most;
		least = num < least ? num : least;
	}
	/* All do the same, or one as good as the other. */
	if (!u.has_some || least == most || 2 * num_most <= rankset_count(members))
		return false;
	*ret = (struct waitfor_updates){
		.fewer = rankset_in(arena, rankset_create()),
		.function = u.function,
		.least = least,
		.usual = most,
	};
	for (int r = rankset_first(members); r >= 0; r = rankset_next(members, r))
		if ((size_t)r >= u.num_ranks || u.of_rank[r] < most)
			rankset_add(ret->fewer, r);
	return true;
}
