/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "model/buffer.h"
#include "model/trace/trace.h"
#include "model/trace/trace_writer.h"
#include "model/xalloc.h"
#include "tests/fixtures/trace_program.h"
#include "tests/fixtures/trace_text.h"

enum { ARENA = 1 << 20 };

/* ---- Which loops are found ---- */

static const struct {
	const char *events, *trace;
} examples[] = {
	{"", ""},
	{"a", "a"},
	{"aaa", "a^3"},
	{"ab", "a b"},
	{"aba", "a b a"},
	/* The last symbol may go on; a loop is looked for when it does not. */
	{"abab", "a b a b"},
	{"ababa", "[ a b ]^2 a"},
	{"ababab", "[ a b ]^3"},
	{"ababz", "[ a b ]^2 z"},
	{"i[abc]^412z", "i [ a b c ]^412 z"},
	/* Whole runs: the loop is not taken for one of "a b". */
	{"ababb", "a b a b^2"},
	{"[ab]^5b", "[ a b ]^4 a b^2"},
	{"[abb]^5ab", "[ a b^2 ]^5 a b"},
	{"[[ab]^3c]^4", "[ [ a b ]^3 c ]^4"},
	{"x[c[ab]^3]^4y", "x [ c [ a b ]^3 ]^4 y"},
	/* An inner loop that goes on longer in the last iteration. */
	{"[c[ab]^3]^4ab", "[ c [ a b ]^3 ]^3 c [ a b ]^4"},
	{"[c[ab]^3]^4aq", "[ c [ a b ]^3 ]^4 a q"},
	/* ... shorter, and one that the iteration ends in the middle of. */
	{"[c[ab]^3d]^4cababd", "[ c [ a b ]^3 d ]^4 c [ a b ]^2 d"},
	{"[c[ab]^3d]^4cabaq", "[ c [ a b ]^3 d ]^4 c a b a q"},
	{"[c[ab]^3d]^4cababaq", "[ c [ a b ]^3 d ]^4 c [ a b ]^2 a q"},
	/* A loop found again after one iteration was different. */
	{"[abc]^5acb[abc]^4", "[ a b c ]^5 a c b [ a b c ]^4"},
	{"[a[b[c[de]^2]^3]^4f]^5", "[ a [ b [ c [ d e ]^2 ]^3 ]^4 f ]^5"},
	{"[a[b^7[cd]^3]^2]^3[ab]^2", "[ a [ b^7 [ c d ]^3 ]^2 ]^3 a b a b"},
	{"[ab^3]^2ab^4ab^5", "[ a b^3 ]^2 a b^4 a b^5"},
};

static void test_loops(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(examples); i++) {
		struct trace *trace = trace_from_text(examples[i].events);
		char *text = trace_to_text(trace);

		assert_string_equal(text, examples[i].trace);
		assert_false(trace->is_truncated);
		free(text);
		trace_destroy(trace);
	}
}

/* ---- The sequence comes back ---- */

/* The trace is the first num_events of the events. */
static void check_expansion(const struct trace *trace, const uint32_t *events)
{
	struct trace_walk walk;
	uint32_t symbol, count;
	uint64_t at = 0;

	trace_walk_init(&walk, trace);
	while (trace_walk_next(&walk, &symbol, &count)) {
		assert_true(count <= trace->num_events - at);
		for (; count > 0; count--)
			if (events[at++] != symbol)
				fail_msg("event %llu is %u, not %u", (unsigned long long)at - 1,
					 symbol, events[at - 1]);
	}
	assert_int_equal(at, trace->num_events);
}

static void check_copy(struct trace_maker *maker, const uint32_t *events, uint64_t num)
{
	struct trace *trace = trace_maker_copy(maker);

	assert_int_equal(trace->num_events + trace->num_lost, num);
	assert_true(trace->is_truncated || trace->num_lost == 0);
	check_expansion(trace, events);
	trace_destroy(trace);
}

/* Small ones, looked at after each event or now and then. */
static void test_small_programs(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct trace_program program = {
			.num_symbols = 2 + trace_program_random(&random, 12),
			.most_depth = 1 + trace_program_random(&random, 5),
			.most_trips = 2 + trace_program_random(&random, 9),
			.percent_varies = trace_program_random(&random, 3) * 20,
			.percent_branch = trace_program_random(&random, 3) * 10,
		};
		struct trace_writer_settings settings = {
			.max_body = 2 + trace_program_random(&random, 40),
			.max_count = seed % 3 == 0 ? 2 + trace_program_random(&random, 5) : 0,
		};
		size_t num = seed % 8 == 0 ? 20000 : 400;
		unsigned int every = seed % 8 == 0 ? 977 : 1;
		uint32_t *events = trace_program_run(&program, seed, num);
		struct trace_maker maker;

		trace_maker_init(&maker, seed % 5 == 0 ? TRACE_ARENA_MIN : ARENA, &settings);
		for (size_t i = 0; i < num; i++) {
			trace_writer_feed(&maker.writer, events[i]);
			if (i % every == 0)
				check_copy(&maker, events, i + 1);
		}
		check_copy(&maker, events, num);
		trace_maker_deinit(&maker);
		free(events);
	}
}

/* Ten million events. */
static void test_large_programs(void **state)
{
	static const struct trace_program programs[] = {
		{.num_symbols = 30, .most_depth = 6, .most_trips = 20},
		{.num_symbols = 30, .most_depth = 6, .most_trips = 20, .percent_varies = 10},
		{.num_symbols = 60, .most_depth = 4, .most_trips = 9, .percent_branch = 5},
		{.num_symbols = 3, .most_depth = 5, .most_trips = 5, .percent_varies = 50},
	};
	enum { EVENTS = 2500000 };

	(void)state;
	for (size_t p = 0; p < NUM_OF(programs); p++) {
		uint32_t *events = trace_program_run(&programs[p], 77 + p, EVENTS);
		struct trace_maker maker;

		trace_maker_init(&maker, 64 * ARENA,
				 &(struct trace_writer_settings){.max_body = 0});
		for (size_t i = 0; i < EVENTS; i++)
			trace_writer_feed(&maker.writer, events[i]);
		check_copy(&maker, events, EVENTS);
		trace_maker_deinit(&maker);
		free(events);
	}
}

/* ---- No room ---- */

struct pages {
	size_t most, given;
};

static bool give_pages(void *owner, size_t begin, size_t end)
{
	struct pages *pages = owner;

	assert_true(begin < end);
	if (pages->given + (end - begin) > pages->most)
		return false;
	pages->given += end - begin;
	return true;
}

/* The trace ends before the event that there is no room for, and counts what is lost. */
static void test_truncated(void **state)
{
	static const size_t rooms[] = {70000, 200000, 1 << 20};
	const struct trace_program program = {
		.num_symbols = 50, .most_depth = 3, .most_trips = 9, .percent_branch = 50};
	enum { EVENTS = 500000 };
	uint32_t *events = trace_program_run(&program, 3, EVENTS);
	uint64_t former = 0;

	(void)state;
	for (size_t i = 0; i < NUM_OF(rooms); i++) {
		struct pages pages = {.most = rooms[i]};
		struct trace_writer_settings settings = {.reserve = give_pages, .owner = &pages};
		struct trace_maker maker;
		struct trace *trace;

		trace_maker_init(&maker, ARENA, &settings);
		for (size_t e = 0; e < EVENTS; e++)
			trace_writer_feed(&maker.writer, events[e]);
		check_copy(&maker, events, EVENTS);
		trace = trace_maker_copy(&maker);
		assert_true(trace->is_truncated);
		assert_true(trace->num_events > former);
		former = trace->num_events;
		trace_destroy(trace);
		trace_maker_deinit(&maker);
	}
	free(events);
}

static void test_too_small(void **state)
{
	static uint64_t arena[TRACE_ARENA_MIN / 8 + 1];
	struct trace_writer w;
	struct pages none = {.most = 0};
	void *memory = xcalloc(1, trace_writer_private_size(TRACE_ARENA_MIN));

	(void)state;
	assert_false(trace_writer_init(&w, arena, TRACE_ARENA_MIN - 1, memory,
				       &(struct trace_writer_settings){.max_body = 0}));
	assert_false(trace_writer_init(
		&w, arena, TRACE_ARENA_MIN, memory,
		&(struct trace_writer_settings){.reserve = give_pages, .owner = &none}));
	free(memory);
}

/* ---- A reader beside the writer ---- */

struct beside {
	struct trace_maker maker;
	const uint32_t *events;
	size_t num;
	atomic_bool has_copy, is_done;
};

static void *write_beside(void *arg)
{
	struct beside *beside = arg;

	for (size_t i = 0; i < beside->num; i++) {
		trace_writer_feed(&beside->maker.writer, beside->events[i]);
		/* The reader may have had no processor up to here. */
		while (i == beside->num / 2 && !atomic_load(&beside->has_copy))
			sched_yield();
	}
	atomic_store(&beside->is_done, true);
	return NULL;
}

static int copy_memory(void *from, void *to, size_t size, uint64_t offset, struct pdb_error *err)
{
	(void)err;
	memcpy(to, (const char *)from + offset, size);
	return 0;
}

static void test_reader_beside(void **state)
{
	static const struct trace_program programs[] = {
		{.num_symbols = 20, .most_depth = 5, .most_trips = 9},
		{.num_symbols = 20, .most_depth = 5, .most_trips = 9, .percent_varies = 30},
		{.num_symbols = 4, .most_depth = 2, .most_trips = 3, .percent_branch = 40},
	};
	enum { EVENTS = 1000000 };

	(void)state;
	for (size_t p = 0; p < NUM_OF(programs); p++) {
		uint32_t *events = trace_program_run(&programs[p], 13, EVENTS);
		struct beside beside = {.events = events, .num = EVENTS};
		uint64_t former = 0;
		pthread_t thread;

		trace_maker_init(&beside.maker, 64 * ARENA,
				 &(struct trace_writer_settings){.max_body = 0});
		assert_int_equal(pthread_create(&thread, NULL, write_beside, &beside), 0);
		while (!atomic_load(&beside.is_done)) {
			struct pdb_error err;
			struct trace *trace = trace_copy(copy_memory, beside.maker.arena,
							 beside.maker.size, UINT64_MAX, 100, &err);

			if (!trace) {
				assert_int_equal(err.code, ERROR_TIMEOUT);
				continue;
			}
			assert_true(trace->num_events >= former);
			former = trace->num_events;
			check_expansion(trace, events);
			atomic_store(&beside.has_copy, true);
			trace_destroy(trace);
		}
		pthread_join(thread, NULL);
		check_copy(&beside.maker, events, EVENTS);
		trace_maker_deinit(&beside.maker);
		free(events);
	}
}

/* ---- What is not to be trusted ---- */

/* Any trace that is taken can be walked over. */
static void walk_some(const struct trace *trace)
{
	struct trace_walk walk;
	uint32_t symbol, count;
	uint64_t num = 0;

	trace_walk_init(&walk, trace);
	for (int i = 0; i < 10000 && trace_walk_next(&walk, &symbol, &count); i++) {
		assert_true(symbol < 100 && count > 0);
		num += count;
	}
	assert_true(num <= trace->num_events);
}

static const struct trace_program small_program = {
	.num_symbols = 20, .most_depth = 4, .most_trips = 5, .percent_varies = 30};

static void test_changed_arenas(void **state)
{
	uint32_t *events = trace_program_run(&small_program, 1, 3000);
	struct trace_maker maker;
	uint64_t random = 9;
	size_t num_refused = 0;
	uint8_t *arena;

	(void)state;
	trace_maker_init(&maker, TRACE_ARENA_MIN, &(struct trace_writer_settings){.max_body = 0});
	for (size_t i = 0; i < 3000; i++)
		trace_writer_feed(&maker.writer, events[i]);
	arena = xmalloc(TRACE_ARENA_MIN);
	for (int i = 0; i < 8000; i++) {
		size_t at = trace_program_random(&random, i % 2 ? TRACE_ARENA_MIN
								: sizeof(struct trace_head));
		struct pdb_error err;
		struct trace *trace;

		/* A lock that is held for ever is waited for. */
		if (at / 4 == offsetof(struct trace_head, seq) / 4)
			continue;
		memcpy(arena, maker.arena, TRACE_ARENA_MIN);
		arena[at] ^= 1u << trace_program_random(&random, 8);
		trace = trace_copy(copy_memory, arena, TRACE_ARENA_MIN, UINT64_MAX, 100, &err);
		if (trace) {
			walk_some(trace);
			trace_destroy(trace);
		} else {
			assert_true(err.code == ERROR_FORMAT || err.code == ERROR_VERSION);
			num_refused++;
		}
	}
	assert_true(num_refused > 1000);
	free(arena);
	trace_maker_deinit(&maker);
	free(events);
}

static void test_refused_arenas(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
		enum error_code code;
		const char *text;
	} changes[] = {
		{0, 'Q', ERROR_FORMAT, "there is no trace"},
		{offsetof(struct trace_head, version), 9, ERROR_VERSION, "version 9"},
		{offsetof(struct trace_head, seq), 1, ERROR_TIMEOUT, "changes all the time"},
		{offsetof(struct trace_head, end), TRACE_IS_BROKEN, ERROR_FORMAT, "interrupted"},
		{offsetof(struct trace_head, open), 200, ERROR_FORMAT, "the open symbol"},
		{offsetof(struct trace_head, closed_events), 77, ERROR_FORMAT, "not 77 events"},
		{offsetof(struct trace_head, stable), 99, ERROR_FORMAT, "fewer elements"},
		{offsetof(struct trace_head, tables) + 12, 3, ERROR_FORMAT, "not"},
		{offsetof(struct trace_head, tables) + 15, 1, ERROR_FORMAT, "beyond its end"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(changes); i++) {
		struct trace_maker maker;
		struct pdb_error err;

		trace_maker_init(&maker, TRACE_ARENA_MIN,
				 &(struct trace_writer_settings){.max_body = 0});
		for (const char *c = "abcabcabcq"; *c; c++)
			trace_writer_feed(&maker.writer, (uint32_t)(*c - 'a'));
		((uint8_t *)maker.arena)[changes[i].at] = changes[i].value;
		if (trace_copy(copy_memory, maker.arena, TRACE_ARENA_MIN, UINT64_MAX, 100, &err))
			fail_msg("change %zu is not refused", i);
		assert_error(&err, changes[i].code, changes[i].text);
		trace_maker_deinit(&maker);
	}
}

/* A writer that is entered while it is in the middle of something. */
static void test_entered_again(void **state)
{
	struct trace_maker maker;
	struct pdb_error err;

	(void)state;
	trace_maker_init(&maker, TRACE_ARENA_MIN, &(struct trace_writer_settings){.max_body = 0});
	trace_writer_feed(&maker.writer, 1);
	maker.writer.is_busy = true;
	trace_writer_feed(&maker.writer, 2);
	assert_null(trace_copy(copy_memory, maker.arena, TRACE_ARENA_MIN, UINT64_MAX, 100, &err));
	assert_error(&err, ERROR_FORMAT, "interrupted");
	trace_maker_deinit(&maker);
}

static void test_bytes(void **state)
{
	uint64_t random = 4;

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		uint32_t *events = trace_program_run(&small_program, seed, 500);
		struct trace_maker maker;
		struct trace *trace, *again;
		struct buffer buffer = {.num = 0};
		struct pdb_error err;

		trace_maker_init(&maker, TRACE_ARENA_MIN,
				 &(struct trace_writer_settings){.max_body = 0});
		for (size_t i = 0; i < 500; i++)
			trace_writer_feed(&maker.writer, events[i]);
		trace = trace_maker_copy(&maker);
		trace_encode(trace, &buffer);
		again = trace_decode(buffer.bytes, buffer.num, 20, &err);
		assert_non_null(again);
		assert_int_equal(again->num_events, trace->num_events);
		assert_int_equal(again->num_lost, trace->num_lost);
		check_expansion(again, events);
		trace_destroy(again);
		for (size_t num = 0; num < buffer.num; num++)
			assert_null(trace_decode(buffer.bytes, num, 20, &err));
		for (int i = 0; i < 100; i++) {
			uint8_t *byte =
				&buffer.bytes[trace_program_random(&random, (uint32_t)buffer.num)];
			uint8_t former = *byte;

			*byte ^= 1u << trace_program_random(&random, 8);
			again = trace_decode(buffer.bytes, buffer.num, 100, &err);
			*byte = former;
			if (!again)
				continue;
			walk_some(again);
			trace_destroy(again);
		}
		trace_destroy(trace);
		trace_maker_deinit(&maker);
		free(buffer.bytes);
		free(events);
	}
}

/* 64 loops in each other, twice as many events each: more than can be counted. */
static void test_bomb(void **state)
{
	struct buffer buffer = {.num = 0};
	struct pdb_error err;

	(void)state;
	buffer_put(&buffer, 65);
	for (uint64_t i = 0; i < 65; i++) {
		buffer_put(&buffer, 2);
		for (int e = 0; e < 2; e++) {
			buffer_put(&buffer, i == 0 ? 0 : (i - 1) << 1 | 1);
			buffer_put(&buffer, 2);
		}
	}
	for (int i = 0; i < 4; i++)
		buffer_put(&buffer, 0);
	assert_null(trace_decode(buffer.bytes, buffer.num, 100, &err));
	assert_error(&err, ERROR_FORMAT, "too long");
	free(buffer.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops),          cmocka_unit_test(test_small_programs),
		cmocka_unit_test(test_large_programs), cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_too_small),      cmocka_unit_test(test_reader_beside),
		cmocka_unit_test(test_changed_arenas), cmocka_unit_test(test_refused_arenas),
		cmocka_unit_test(test_entered_again),  cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
