/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/traces/trace_runs.h"
#include "model/job/callpath.h"
#include "model/arena.h"
#include "model/interrupt.h"
#include "model/job/job.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

/* Of a name, for a regular expression. */
enum { MAX_TEXT = 2000 };

static bool is_communication(enum seg_class class_id)
{
	switch (class_id) {
	case SEG_CLASS_OTHER:
	case SEG_CLASS_INIT:
	case SEG_CLASS_FINALIZE:
	case SEG_CLASS_COMM:
	case SEG_CLASS_FILE:
	case SEG_CLASS_ABORT:
		return false;
	default:
		return true;
	}
}

static bool matches(const struct job *job, const struct traces_symbol *symbol,
		    const regex_t *expression)
{
	uint32_t user = names_user_frame(job->names, symbol->path);
	char place[512], *what = traces_symbol_text(job, symbol), *text;
	bool is_found;

	names_place(job->names, user == CALLPATH_NONE ? symbol->path : user, place, sizeof(place));
	text = xasprintf("%.*s, %s", MAX_TEXT, what, place);
	/* Once all is to end, whoever asked for the runs drops them. */
	is_found = !interrupt_pending() && regexec(expression, text, 0, NULL, 0) == 0;
	free(what);
	free(text);
	return is_found;
}

static bool passes(const struct job *job, const struct traces_symbol *symbol,
		   const struct trace_filter *filter)
{
	if ((filter->is_mpi || filter->is_communication) && symbol->kind != SEG_TRACE_CALL)
		return false;
	if (filter->is_communication && !is_communication(symbol->class_id))
		return false;
	return (!filter->only || matches(job, symbol, filter->only)) &&
	       (!filter->without || !matches(job, symbol, filter->without));
}

/* Leave out what does not pass, and note what the others are. */
static void take_events(struct trace_runs *runs, uint32_t run, const struct trace_filter *filter,
			uint32_t *numbers)
{
	const struct traces *traces = runs->runs[run].traces;

	for (size_t s = 0; s < traces->num_symbols; s++) {
		const struct traces_symbol *symbol = &traces->symbols[s];
		struct trace_event *event = &runs->events[numbers[s]];

		if (!passes(runs->runs[run].job, symbol, filter))
			numbers[s] = TRACE_NONE;
		else if (!event->symbols[run])
			event->symbols[run] = symbol;
	}
}

static void add_thread(struct arena *arena, struct trace_runs *runs, uint32_t run,
		       const struct traces_lane *lane, int thread, const uint32_t *numbers)
{
	uint32_t *symbols = arena_array(arena, lane->num_local, sizeof(*symbols));

	for (uint32_t s = 0; s < lane->num_local; s++)
		symbols[s] =
			lane->symbols[s] == TRACE_NONE ? TRACE_NONE : numbers[lane->symbols[s]];
	trace_set_add(runs->set, lane->trace, symbols);
	runs->threads[runs->num_threads++] = (struct trace_thread){run, lane, thread};
}

/* The main thread of each rank and then, if wanted, its others. */
static void add_threads(struct arena *arena, struct trace_runs *runs, uint32_t run,
			const struct trace_runs_options *options, const uint32_t *numbers)
{
	const struct traces *traces = runs->runs[run].traces;
	size_t end;

	for (size_t begin = 0; begin < traces->num_lanes; begin = end) {
		int rank = traces->lanes[begin].rank, thread = 0;
		const struct traces_lane *main = NULL;

		for (end = begin; end < traces->num_lanes && traces->lanes[end].rank == rank; end++)
			if (!main || (traces->lanes[end].is_main && !main->is_main))
				main = &traces->lanes[end];
		if (options->ranks && run == 0 && !rankset_contains(options->ranks, rank))
			continue;
		if (main->trace)
			add_thread(arena, runs, run, main, thread, numbers);
		for (size_t i = begin; i < end && options->all_threads; i++) {
			const struct traces_lane *lane = &traces->lanes[i];

			thread += lane != main;
			if (lane != main && lane->trace)
				add_thread(arena, runs, run, lane, thread, numbers);
		}
	}
}

struct trace_runs *trace_runs_create(struct arena *arena, const struct trace_run *runs,
				     size_t num_runs, const struct trace_runs_options *options)
{
	struct trace_runs *result = arena_alloc(arena, sizeof(*result));
	uint32_t *numbers[TRACE_MAX_RUNS] = {NULL};
	size_t num_lanes = 0;

	for (size_t r = 0; r < num_runs; r++) {
		result->runs[r] = runs[r];
		num_lanes += runs[r].traces->num_lanes;
	}
	result->num_runs = num_runs;
	result->detail = options->detail;
	result->set = trace_set_create(arena);
	result->threads = arena_array(arena, num_lanes, sizeof(*result->threads));
	result->num_events = trace_match(arena, runs, num_runs, options->detail, numbers);
	result->events = arena_array(arena, result->num_events, sizeof(*result->events));
	for (uint32_t r = 0; r < num_runs; r++) {
		take_events(result, r, &options->filter, numbers[r]);
		add_threads(arena, result, r, options, numbers[r]);
	}
	return result;
}

ptrdiff_t trace_runs_find(const struct trace_runs *runs, uint32_t run, int rank, int thread)
{
	for (size_t i = 0; i < runs->num_threads; i++)
		if (runs->threads[i].run == run && runs->threads[i].lane->rank == rank &&
		    runs->threads[i].thread == thread)
			return (ptrdiff_t)i;
	return -1;
}
