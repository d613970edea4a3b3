/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/trace_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/label.h"
#include "render/same.h"
#include "render/text.h"
#include "render/view.h"

/* A loop's text stops growing here. */
enum { MOST_LOOP_TEXT = 160 };

/* ---- Events ---- */

/* *job_ret: the job that the symbol is of. */
static const struct traces_symbol *find_symbol(const struct trace_runs *runs, uint32_t run,
					       uint32_t symbol, const struct job **job_ret)
{
	const struct trace_event *event = &runs->events[symbol];

	if (!event->symbols[run])
		run = 1 - run;
	*job_ret = runs->runs[run].job;
	return event->symbols[run];
}

static char *place_text(const struct trace_runs *runs, const struct job *job, uint32_t path)
{
	uint32_t frame = names_user_frame(job->names, path);
	const struct name *name;
	char *function, *text;

	if (frame == CALLPATH_NONE)
		frame = path;
	if (runs->detail != TRACE_BY_FUNCTION)
		return label_place(job, frame, LABEL_SHORT);
	name = names_get(job->names, frame);
	function = label_function(name->function);
	text = xasprintf("%s%s", function, name->is_symbol ? "()" : "");
	free(function);
	return text;
}

char *trace_text_event(const struct trace_runs *runs, uint32_t run, uint32_t symbol)
{
	const struct job *job;
	const struct traces_symbol *s = find_symbol(runs, run, symbol, &job);
	char *what = traces_symbol_text(job, s), *place, *text;

	if (s->kind != SEG_TRACE_CALL || s->path == CALLPATH_NONE || runs->detail == TRACE_BY_CALL)
		return what;
	place = place_text(runs, job, s->path);
	text = xasprintf("%s, %s", what, place);
	free(what);
	free(place);
	return text;
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

char *trace_text_symbol(const struct trace_runs *runs, uint32_t run, uint32_t symbol)
{
	char *text;
	size_t size;
	FILE *out;

	if (!TRACE_IS_LOOP(symbol))
		return trace_text_event(runs, run, symbol);
	out = open_memstream(&text, &size);
	fputc('[', out);
	write_row(out, runs, run, symbol);
	fputs(" ]", out);
	fclose(out);
	return text;
}

char *trace_text_attribute(const struct trace_runs *runs, uint32_t run,
			   const struct trace_attribute *attribute,
			   enum attribute_frequency frequency)
{
	char *what = trace_text_symbol(runs, run, attribute->symbol), *next, *text, *times;
	uint64_t least = 1;

	if (attribute->kind == ATTRIBUTE_PAIR) {
		next = trace_text_symbol(runs, run, attribute->next);
		text = xasprintf("%s then %s", what, next);
		free(what);
		free(next);
		what = text;
	}
	if (attribute->kind == ATTRIBUTE_END) {
		text = xasprintf("%s at the end", what);
		free(what);
		return text;
	}
	if (frequency == FREQUENCY_NONE)
		return what;
	for (uint64_t i = 0; frequency == FREQUENCY_LOG10 && i < attribute->frequency; i++)
		least *= 10;
	if (frequency == FREQUENCY_LOG10)
		times = xasprintf("%" PRIu64 " to %" PRIu64 " times", least, least * 10 - 1);
	else
		times = xasprintf("%" PRIu64 " time%s", attribute->frequency,
				  attribute->frequency == 1 ? "" : "s");
	text = xasprintf("%s, %s", what, times);
	free(times);
	free(what);
	return text;
}

/* ---- Threads ---- */

char *trace_text_thread(const struct trace_thread *thread)
{
	return thread->thread ? xasprintf("%d.%d", thread->lane->rank, thread->thread)
			      : xasprintf("%d", thread->lane->rank);
}

/* The ranks whose main threads have flags; and the other threads, with a comma before each. */
static struct rankset *part_threads(const struct trace_runs *runs, const uint8_t *flags,
				    char **others_ret, int *num_others_ret)
{
	struct rankset *ranks = rankset_create();
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
	return ranks;
}

char *trace_text_thread_list(const struct trace_runs *runs, const uint8_t *flags)
{
	char *others, *list, *text;
	int num_others;
	struct rankset *ranks = part_threads(runs, flags, &others, &num_others);

	list = rankset_encode(ranks, 0);
	if (rankset_is_empty(ranks))
		text = xstrdup(num_others > 0 ? others + 1 : "");
	else
		text = xasprintf("%s%s", list, others);
	free(list);
	free(others);
	rankset_destroy(ranks);
	return text;
}

char *trace_text_threads(const struct trace_runs *runs, const uint8_t *flags, int width)
{
	char *others, *list, *text;
	int num_others;
	struct rankset *ranks = part_threads(runs, flags, &others, &num_others);

	if (num_others == 0) {
		text = label_ranks(ranks, width);
	} else {
		list = trace_text_thread_list(runs, flags);
		text = xasprintf("%d:[%s]", rankset_count(ranks) + num_others, list);
		free(list);
		list = text;
		text = text_fit(list, (size_t)width, false);
		free(list);
	}
	free(others);
	rankset_destroy(ranks);
	return text;
}

/* ---- Names of choices ---- */

const char *trace_text_kind(enum attribute_kind kind)
{
	switch (kind) {
	case ATTRIBUTE_ENTRY:
		return "entries";
	case ATTRIBUTE_PAIR:
		return "pairs";
	case ATTRIBUTE_LOOP:
		return "bodies";
	default:
		return "ends";
	}
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
	char *text = NULL;

	if (!lane->trace)
		text = xasprintf("no trace: %s", lane->note ? lane->note : "not recorded");
	else if (lane->trace->is_truncated)
		text = xasprintf("the trace is truncated after %" PRIu64 " events",
				 lane->trace->num_events);
	if (text)
		same_add(same, text, lane->rank);
	free(text);
}

void trace_text_print_holes(const struct view *view, const struct trace_runs *runs,
			    const char *const *names)
{
	for (size_t r = 0; r < runs->num_runs; r++) {
		const struct traces *traces = runs->runs[r].traces;
		struct same same = {.num = 0};

		for (size_t i = 0; i < traces->num_lanes; i++)
			add_hole(&same, &traces->lanes[i]);
		same_sort(&same);
		for (size_t i = 0; i < same.num; i++) {
			char *who = same_who(&same.entries[i]);

			text_wrap(view, 2, "%s%s%s: %s", who, names ? " of " : "",
				  names ? names[r] : "", same.entries[i].text);
			free(who);
		}
		same_deinit(&same);
	}
}
