/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/hang/rates.h"
#include "analysis/thresholds.h"
#include "model/job/rankset.h"
#include "model/monotonic.h"
#include "render/words/label.h"
#include "shell/watch/watch_state.h"
#include "shell/watch/watch_tell.h"

struct watch_rates {
	struct rates *rates;
	uint64_t num_windows; /* windows ended at the last report */
	/* What was reported and is not over: the ranks, and when these and the phase were last
	 * seen. */
	struct rankset *slow_ranks;
	uint64_t ranks_seen, ranks_since_ns;
	bool is_slow_phase;
	uint64_t phase_seen, phase_since_ns;
};

struct watch_rates *watch_rates_create(int num_ranks, double alpha, struct pdb_error *err)
{
	struct watch_rates *rates = xcalloc(1, sizeof(*rates));

	rates->rates = rates_create(num_ranks, alpha, err);
	if (!rates->rates) {
		free(rates);
		return NULL;
	}
	rates->slow_ranks = rankset_create();
	return rates;
}

void watch_rates_destroy(struct watch_rates *rates)
{
	if (!rates)
		return;
	rates_destroy(rates->rates);
	rankset_destroy(rates->slow_ranks);
	free(rates);
}

static void tell_over(struct watch_teller *teller, const char *event, const char *what,
		      uint64_t since_ns)
{
	watch_tell_note(teller, event, "%s, after %s", what,
			label_time(monotonic_ns() - since_ns).text);
}

static void tell_slow_ranks(struct watch_rates *rates, const struct rates_report *report,
			    const struct rankset *ranks, struct watch_teller *teller)
{
	const struct slow_rank *first = &report->slow_ranks[0];
	struct arena *arena SCOPED(arena) = arena_create();

	watch_tell_note(teller, "slow-rank",
			"slow: %s. For %s the others have waited for %s: rank %d was outside MPI "
			"for %.0f %% of the time, most others for %.0f %%; no hang",
			label_who(arena, ranks, 40),
			label_time((uint64_t)(first->seconds * 1e9)).text,
			report->num_slow_ranks > 1 ? "them" : "it", first->rank,
			100 * first->outside, 100 * first->usual);
	rates->ranks_since_ns = monotonic_ns() - (uint64_t)(first->seconds * 1e9);
}

/* True: some were not reported before. */
static bool note_slow_ranks(struct watch_rates *rates, const struct rates_report *report,
			    struct watch_teller *teller)
{
	struct rankset *ranks SCOPED(rankset) = rankset_create();
	bool is_news = false;

	for (size_t i = 0; i < report->num_slow_ranks; i++) {
		is_news |= !rankset_contains(rates->slow_ranks, report->slow_ranks[i].rank);
		rankset_add(ranks, report->slow_ranks[i].rank);
	}
	if (is_news)
		tell_slow_ranks(rates, report, ranks, teller);
	rankset_add_set(rates->slow_ranks, ranks);
	if (report->num_slow_ranks > 0 || !report->are_compared) {
		rates->ranks_seen = report->num_windows;
	} else if (!rankset_is_empty(rates->slow_ranks) &&
		   report->num_windows - rates->ranks_seen >= thresholds.over_windows) {
		tell_over(teller, "slow-rank-over", "no rank is slower than the others now",
			  rates->ranks_since_ns);
		rankset_remove_set(rates->slow_ranks, rates->slow_ranks);
	}
	return is_news;
}

static void note_slow_phase(struct watch_rates *rates, const struct rates_report *report,
			    struct watch_teller *teller)
{
	if (report->is_slow_phase) {
		rates->phase_seen = report->num_windows;
		if (rates->is_slow_phase)
			return;
		rates->is_slow_phase = true;
		rates->phase_since_ns = monotonic_ns() - (uint64_t)(report->slow_seconds * 1e9);
		watch_tell_note(
			teller, "slow-phase",
			"the job is slow: ranks went in or out of MPI %.3g times a second "
			"for the last %.0f s, and %.3g times before, in the same places; no "
			"hang",
			report->rate, report->slow_seconds, report->usual);
	} else if (rates->is_slow_phase &&
		   report->num_windows - rates->phase_seen >= thresholds.over_windows) {
		tell_over(teller, "slow-phase-over",
			  report->is_elsewhere ? "the job has left the place where it was slow"
					       : "the job is as fast as before",
			  rates->phase_since_ns);
		rates->is_slow_phase = false;
	}
}

bool watch_rates_add(struct watch_rates *rates, const struct pace_look *looks,
		     struct watch_teller *teller)
{
	struct rates_report report;
	bool is_news;

	rates_add(rates->rates, monotonic_ns(), looks);
	rates_report(rates->rates, &report);
	if (report.num_windows == rates->num_windows)
		return false;
	rates->num_windows = report.num_windows;
	is_news = note_slow_ranks(rates, &report, teller);
	note_slow_phase(rates, &report, teller);
	return is_news;
}
