/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/traces/trace_text.h"

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "render/words/parts.h"

/* A loop's text stops growing here. */
enum { MOST_LOOP_TEXT = 160 };

/* ---- Events ---- */

/* *job_ret: the symbol's job. */
static const struct traces_symbol *find_symbol(const struct trace_runs *runs, uint32_t run,
					       uint32_t symbol, const struct job **job_ret)
{
	const struct trace_event *event = &runs->events[symbol];

	if (!event->symbols[run])
		run = 1 - run;
	*job_ret = runs->runs[run].job;
	return event->symbols[run];
}

static const char *place_text(struct arena *arena, const struct trace_runs *runs,
			      const struct job *job, uint32_t path)
{
	const struct view of_job = {.arena = arena, .job = job};
	uint32_t frame = names_user_frame(job->names, path);

	if (frame == CALLPATH_NONE)
		frame = path;
	return runs->detail == TRACE_BY_FUNCTION
		       ? label_called(&of_job, names_get(job->names, frame), LABEL_SHORT)
		       : label_place(&of_job, frame, LABEL_SHORT);
}

const char *trace_text_event(struct arena *arena, const struct trace_runs *runs, uint32_t run,
			     uint32_t symbol)
{
	const struct job *job;
	const struct traces_symbol *s = find_symbol(runs, run, symbol, &job);
	const char *what = arena_keep(arena, traces_symbol_text(job, s), free);

	if (s->kind != SEG_TRACE_CALL || s->path == CALLPATH_NONE || runs->detail == TRACE_BY_CALL)
		return what;
	return arena_printf(arena, "%s, %s", what, place_text(arena, runs, job, s->path));
}

static void write_row(FILE *out, const struct trace_runs *runs, uint32_t run, uint32_t body)
{
	size_t num;
	const struct trace_element *row = trace_set_row(runs->set, body, &num);

	for (size_t i = 0; i < num; i++) {
		const struct traces_symbol *symbol;
		const struct job *job;
		char *what;

		if (ftell(out) > MOST_LOOP_TEXT) {
			fputs(" ...", out);
			return;
		}
		if (TRACE_IS_LOOP(row[i].symbol)) {
			fputs(" [", out);
			write_row(out, runs, run, row[i].symbol);
			fputs(" ]", out);
		} else {
			symbol = find_symbol(runs, run, row[i].symbol, &job);
			what = traces_symbol_text(job, symbol);
			fprintf(out, " %s", what);
			free(what);
		}
		if (row[i].count > 1)
			fprintf(out, "^%" PRIu32, row[i].count);
	}
}

const char *trace_text_symbol(struct arena *arena, const struct trace_runs *runs, uint32_t run,
			      uint32_t symbol)
{
	char *text;
	size_t size;
	FILE *out;

	if (!TRACE_IS_LOOP(symbol))
		return trace_text_event(arena, runs, run, symbol);
	out = open_memstream(&text, &size);
	fputc('[', out);
	write_row(out, runs, run, symbol);
	fputs(" ]", out);
	fclose(out);
	return arena_keep(arena, text, free);
}

const char *trace_text_attribute(struct arena *arena, const struct trace_runs *runs, uint32_t run,
				 const struct trace_attribute *attribute,
				 enum attribute_frequency frequency)
{
	const char *what = trace_text_symbol(arena, runs, run, attribute->symbol);
	uint64_t least = 1;

	if (attribute->kind == ATTRIBUTE_PAIR)
		what = arena_printf(arena, "%s then %s", what,
				    trace_text_symbol(arena, runs, run, attribute->next));
	if (attribute->kind == ATTRIBUTE_END)
		return arena_printf(arena, "%s at the end", what);
	if (frequency == FREQUENCY_NONE)
		return what;
	for (uint64_t i = 0; frequency == FREQUENCY_LOG10 && i < attribute->frequency; i++)
		least *= 10;
	if (frequency == FREQUENCY_LOG10)
		return arena_printf(arena, "%s, %" PRIu64 " to %" PRIu64 " times", what, least,
				    least * 10 - 1);
	return arena_printf(arena, "%s, %" PRIu64 " time%s", what, attribute->frequency,
			    attribute->frequency == 1 ? "" : "s");
}

/* ---- Threads ---- */

const char *trace_text_thread(struct arena *arena, const struct trace_thread *thread)
{
	return thread->thread ? arena_printf(arena, "%d.%d", thread->lane->rank, thread->thread)
			      : arena_printf(arena, "%d", thread->lane->rank);
}

/* The ranks whose main threads have flags, then other threads, each after a comma. */
static struct rankset *part_threads(struct arena *arena, const struct trace_runs *runs,
				    const uint8_t *flags, char **others_ret, int *num_others_ret)
{
	struct rankset *ranks = rankset_in(arena, rankset_create());
	size_t size;
	FILE *out = open_memstream(others_ret, &size);

	*num_others_ret = 0;
	for (size_t t = 0; t < runs->num_threads; t++) {
		const struct trace_thread *thread = &runs->threads[t];

		if (!flags[t])
			continue;
		if (thread->thread == 0) {
			rankset_add(ranks, thread->lane->rank);
		} else {
			fprintf(out, ",%d.%d", thread->lane->rank, thread->thread);
			++*num_others_ret;
		}
	}
	fclose(out);
	arena_keep(arena, *others_ret, free);
	return ranks;
}

const char *trace_text_thread_list(struct arena *arena, const struct trace_runs *runs,
				   const uint8_t *flags)
{
	char *others;
	int num_others;
	struct rankset *ranks = part_threads(arena, runs, flags, &others, &num_others);

	if (rankset_is_empty(ranks))
		return num_others > 0 ? others + 1 : "";
	return arena_printf(arena, "%s%s",
			    (char *)arena_keep(arena, rankset_encode(ranks, 0), free), others);
}

const char *trace_text_threads(struct arena *arena, const struct trace_runs *runs,
			       const uint8_t *flags, int width)
{
	char *others;
	int num_others;
	struct rankset *ranks = part_threads(arena, runs, flags, &others, &num_others);

	if (num_others == 0)
		return label_ranks(arena, ranks, width);
	return text_fit(arena,
			arena_printf(arena, "%d:[%s]", rankset_count(ranks) + num_others,
				     trace_text_thread_list(arena, runs, flags)),
			(size_t)width, false);
}

/* ---- Names of choices ---- */

const char *trace_text_kind(enum attribute_kind kind)
{
	static const char *const names[] = {
		[ATTRIBUTE_ENTRY] = "entries",
		[ATTRIBUTE_PAIR] = "pairs",
		[ATTRIBUTE_LOOP] = "bodies",
		[ATTRIBUTE_END] = "ends",
	};

	return names[kind];
}

const char *trace_text_frequency(enum attribute_frequency frequency)
{
	static const char *const names[] = {"no", "actual", "log10"};

	return names[frequency];
}

const char *trace_text_linkage(enum linkage linkage)
{
	static const char *const names[] = {"single", "complete", "average", "ward"};

	return names[linkage];
}

/* ---- What is missing ---- */

static void add_hole(struct same *same, const struct traces_lane *lane)
{
	if (!lane->trace)
		same_add(same,
			 arena_printf(same->arena, "no trace: %s",
				      lane->note ? lane->note : "not recorded"),
			 lane->rank);
	else if (lane->trace->is_truncated)
		same_add(same,
			 arena_printf(same->arena,
				      "the trace is truncated after %" PRIu64 " events",
				      lane->trace->num_events),
			 lane->rank);
}

void trace_text_print_holes(const struct view *view, const struct trace_runs *runs,
			    const char *const *names)
{
	for (size_t r = 0; r < runs->num_runs; r++) {
		const struct traces *traces = runs->runs[r].traces;
		struct same same = {.arena = view->arena};

		for (size_t i = 0; i < traces->num_lanes; i++)
			add_hole(&same, &traces->lanes[i]);
		same_sort(&same);
		same_print(&same, view, names ? text_of(view, " of %s: ", names[r]) : ": ",
			   SIZE_MAX);
	}
}
