/* SPDX-License-Identifier: BSD-3-Clause
 * What an event of a trace costs the traced program, how large traces get, and what they cost to
 * read.
 *
 *	trace_bench [EVENTS]
 *
 * EVENTS (100 million) are those of the program with six nested loops; the others have a tenth.
 *What an event costs is measured in an arena that has room for all of them; "truncated" is where
 *one of 1 MiB is full. The column "store" is what it costs to store events into memory, one after
 *the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/buffer.h"
#include "model/trace/trace.h"
#include "model/trace/trace_writer.h"
#include "model/xalloc.h"
#include "tests/fixtures/trace_program.h"
#include "tests/fixtures/trace_text.h"

enum { SMALL_ARENA = 1 << 20, LARGE_ARENA = 512 << 20, BLOCK = 1 << 20 };

/* Of processor time: other programs do not count. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct figures {
	double feed_ns, store_ns, copy_ms;
	struct trace *trace;
	size_t encoded;
	uint64_t truncated; /* events in a small arena */
};

/* ns for each event. */
static double feed(struct trace_maker *maker, size_t arena, const uint32_t *events, uint64_t num)
{
	double begin;

	trace_maker_init(maker, arena, &(struct trace_writer_settings){.max_body = 0});
	begin = seconds();
	for (uint64_t i = 0; i < num; i++)
		trace_writer_feed(&maker->writer, events[i % BLOCK]);
	return (seconds() - begin) / (double)num * 1e9;
}

/* Programs begin again after BLOCK events, so that those of a benchmark fit into memory. */
static struct figures run(const uint32_t *events, uint64_t num)
{
	struct figures f = {.encoded = 0};
	struct trace_maker maker;
	struct buffer buffer = {.num = 0};
	static uint32_t sink[256];
	double begin;

	begin = seconds();
	for (uint64_t i = 0; i < num; i++)
		((volatile uint32_t *)sink)[i % 256] = events[i % BLOCK];
	f.store_ns = (seconds() - begin) / (double)num * 1e9;
	feed(&maker, SMALL_ARENA, events, num);
	f.truncated = maker.writer.events;
	trace_maker_deinit(&maker);
	f.feed_ns = feed(&maker, LARGE_ARENA, events, num);
	begin = seconds();
	f.trace = trace_maker_copy(&maker);
	f.copy_ms = (seconds() - begin) * 1e3;
	trace_maker_deinit(&maker);
	trace_encode(f.trace, &buffer);
	f.encoded = buffer.num;
	free(buffer.bytes);
	return f;
}

static void print(const char *what, uint64_t num, const struct figures *f)
{
	const struct trace *t = f->trace;
	size_t used = sizeof(struct trace_head) +
		      (t->num + t->num_elements) * sizeof(struct trace_element) +
		      t->num_bodies * sizeof(struct trace_body);

	printf("%-34s %9.1f %7.1f %7.1f %8zu %8zu %9.1f %9.1f %8.2f  ", what, (double)num / 1e6,
	       f->feed_ns, f->store_ns, t->num, t->num_bodies, (double)used / 1024,
	       (double)f->encoded / 1024, f->copy_ms);
	if (f->truncated < num)
		printf("%.2f million\n", (double)f->truncated / 1e6);
	else
		printf("no\n");
}

/* Six nested loops, each with an event before the inner one and one after it. */
static size_t nested(uint32_t *events, size_t num, unsigned int level)
{
	static const unsigned int trips[] = {3, 5, 4, 10, 2, 100};

	for (unsigned int t = 0; t < trips[level]; t++) {
		events[num++] = 2 * level;
		if (level + 1 < sizeof(trips) / sizeof(*trips))
			num = nested(events, num, level + 1);
		events[num++] = 2 * level + 1;
	}
	return num;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *what;
		struct trace_program program;
	} programs[] = {
		{"random nests, fixed trips", {40, 6, 20, 0, 0}},
		{"a tenth of the trip counts vary", {40, 6, 20, 10, 0}},
		{"half of the trip counts vary", {40, 6, 20, 50, 0}},
		{"branches taken at random", {40, 4, 12, 0, 20}},
		{"no loops (40 symbols at random)", {40, 1, 1, 0, 0}},
	};
	uint64_t num = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000000;
	uint32_t *events;
	struct figures f;
	size_t whole;

	printf("%-34s %9s %7s %7s %8s %8s %9s %9s %8s  %s\n", "", "million", "feed ns", "store",
	       "elements", "bodies", "arena KiB", "saved KiB", "copy ms", "truncated after");
	events = xcalloc(BLOCK, sizeof(*events));
	whole = nested(events, 0, 0);
	for (size_t i = whole; i < BLOCK; i++)
		events[i] = events[i - whole];
	f = run(events, num);
	print("six nested loops", num, &f);
	trace_destroy(f.trace);
	free(events);
	for (size_t p = 0; p < sizeof(programs) / sizeof(*programs); p++) {
		uint64_t random = 5;

		events = trace_program_run(&programs[p].program, 5, BLOCK);
		for (size_t i = 0; programs[p].program.most_depth == 1 && i < BLOCK; i++)
			events[i] = trace_program_random(&random, 40);
		f = run(events, num / 10);
		print(programs[p].what, num / 10, &f);
		trace_destroy(f.trace);
		free(events);
	}
	return 0;
}
