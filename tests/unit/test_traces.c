/* SPDX-License-Identifier: BSD-3-Clause
 * Traces on their way from segments to whoever asks: read, checked, given numbers that hold for the
 * whole job; through snapshots and shares. */
#include "model/job/traces.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/buffer.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/wire/share.h"
#include "model/trace/trace_writer.h"
#include "model/xalloc.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

enum { ARENA = TRACE_ARENA_MIN, SEND = 1, RECV = 2 };

#define CALL(site) SEG_TRACE_SYMBOL(site, SEG_TRACE_CALL)

/* An arena with these events, so often in a row. The caller frees. */
static void *make_arena(const uint32_t *symbols, size_t num, int times)
{
	const struct trace_writer_settings settings = {.max_body = 0};
	void *arena = xcalloc(1, ARENA), *memory = xcalloc(1, trace_writer_private_size(ARENA));
	struct trace_writer writer;

	assert_true(trace_writer_init(&writer, arena, ARENA, memory, &settings));
	for (int i = 0; i < times; i++)
		for (size_t k = 0; k < num; k++)
			trace_writer_feed(&writer, symbols[k]);
	free(memory);
	return arena;
}

/* Sites in the order in which a rank met them; the function "work" is frame 3. */
static struct segment_writer *make_rank(int rank, bool recv_first)
{
	static const char *const names[] = {"MPI_Send", "MPI_Recv"};
	struct segment_writer *w = segment_writer_create(rank, 2);
	uint32_t app = segment_writer_module(w, "/bin/app");
	uint32_t start = segment_writer_frame(w, SEG_NO_FRAME, app, 0x1000);

	for (int i = 0; i < 2; i++) {
		int which = recv_first ? 1 - i : i;
		uint32_t frame = segment_writer_frame(w, start, app, 0x1010 + 16u * which);

		segment_writer_site(w, frame, names[which], SEG_CLASS_SEND + which);
	}
	assert_int_equal(segment_writer_frame(w, SEG_NO_FRAME, app, 0x2001), 3);
	segment_writer_lane(w, true, 100 + rank);
	w->header.features = SEG_FEATURE_TRACE;
	return w;
}

static struct model *make_model(int rank, bool recv_first, const uint32_t *symbols, size_t num,
				int times)
{
	struct segment_writer *w = make_rank(rank, recv_first);
	void *arena = make_arena(symbols, num, times);
	struct model *model;

	w->lanes[0].trace = arena;
	w->lanes[0].trace_size = ARENA;
	model = segment_writer_model(w);
	segment_writer_destroy(w);
	free(arena);
	return model;
}

/* Rank 0: work, 7 times send and receive, work returns. Rank 1, which has met the receive first,
 * does the same. */
static struct job *make_job(void)
{
	struct job *job = job_create();

	job->model = job_model_create(job->modules, job->callpaths);
	for (int rank = 0; rank < 2; rank++) {
		const uint32_t send = rank == 0 ? SEND : RECV, recv = rank == 0 ? RECV : SEND;
		const uint32_t events[] = {SEG_TRACE_SYMBOL(3, SEG_TRACE_ENTER), CALL(send),
					   CALL(recv), SEG_TRACE_SYMBOL(3, SEG_TRACE_LEAVE)};

		job_model_add(job->model, rank, make_model(rank, rank == 1, events, 4, 7), 0);
	}
	job_model_finish(job->model);
	return job;
}

static void assert_is_whole(const struct job *job)
{
	struct traces *traces = traces_create(job);
	static const char *const expected[] = {NULL, "MPI_Send", "MPI_Recv", NULL};

	assert_int_equal(traces->num_lanes, 2);
	assert_int_equal(traces->num_symbols, 4);
	for (int rank = 0; rank < 2; rank++) {
		const struct traces_lane *lane = traces_find(traces, rank);
		struct trace_walk walk;
		uint32_t symbol, count, events = 0;

		assert_true(lane->is_main);
		assert_ptr_equal(traces_find_lane(traces, rank, 0), lane);
		assert_int_equal(lane->trace->num_events, 28);
		assert_true(lane->trace->num < 28);
		trace_walk_init(&walk, lane->trace);
		while (trace_walk_next(&walk, &symbol, &count)) {
			const struct traces_symbol *s = &traces->symbols[lane->symbols[symbol]];
			char *text = traces_symbol_text(job, s);

			if (s->name)
				assert_string_equal(text, expected[events % 4]);
			else
				assert_string_equal(text, events % 4 ? "app+0x2001 returns"
								     : "app+0x2001");
			assert_int_equal(count, 1);
			free(text);
			events++;
		}
		assert_int_equal(events, 28);
	}
	assert_null(traces_find(traces, 2));
	assert_null(traces_find_lane(traces, 0, 1));
	traces_destroy(traces);
	traces_destroy(NULL);
}

/* At a function's entry may be code of what is inlined into it. */
static void test_inlined_at_entry(void **state)
{
	static const struct name function = {.function = "solve", .is_symbol = true};
	static const struct name inlined = {
		.function = "norm", .is_symbol = true, .caller = &function};
	struct job *job = make_job();
	struct traces *traces = traces_create(job);
	size_t num = 0;

	(void)state;
	for (uint32_t i = 0; i < traces->num_symbols; i++) {
		const struct traces_symbol *symbol = &traces->symbols[i];
		char *text;

		if (symbol->name)
			continue;
		names_set(job->names, symbol->path, &inlined);
		text = traces_symbol_text(job, symbol);
		assert_string_equal(text,
				    symbol->kind == SEG_TRACE_LEAVE ? "solve returns" : "solve");
		free(text);
		num++;
	}
	assert_int_equal(num, 2);
	traces_destroy(traces);
	job_destroy(job);
}

static void test_job(void **state)
{
	struct job *job = make_job();

	(void)state;
	assert_is_whole(job);
	job_destroy(job);
}

static void test_snapshot(void **state)
{
	char path[] = "/tmp/test_traces.XXXXXX";
	struct job *job = make_job(), *again;
	struct pdb_error err = {0};
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	job_model_set_trace(job->model, 1, NULL, "no room");
	assert_int_equal(snapshot_save(job, path, &err), 0);
	assert_int_equal(snapshot_load(path, &again, &err), 0);
	assert_null(again->model->lanes[1].data->trace);
	assert_string_equal(again->model->lanes[1].data->trace_note, "no room");
	job_destroy(again);
	job_destroy(job);

	job = make_job();
	assert_int_equal(snapshot_save(job, path, &err), 0);
	assert_int_equal(snapshot_load(path, &again, &err), 0);
	assert_is_whole(again);
	job_destroy(again);
	job_destroy(job);
	unlink(path);
}

/* As daemons send them: answers first, then what of traces is asked for. */
static void send_traces(const struct job *job, const struct rankset *ranks, struct job *to)
{
	struct share *share = share_create(), *received;
	struct buffer bytes = {0};
	struct pdb_error err = {0};

	share_fill(share, job, ranks, SHARE_TRACES);
	assert_int_equal(share_encode(share, &bytes, &err), 0);
	assert_int_equal(share_decode(bytes.bytes, bytes.num, 2, &received, &err), 0);
	assert_int_equal(share_add(received, to, &err), 0);
	share_destroy(received);
	share_destroy(share);
	free(bytes.bytes);
}

static void test_share(void **state)
{
	struct job *job = make_job(), *again = job_create();
	struct share *answers = share_create();
	struct rankset *one = rankset_create();
	struct pdb_error err = {0};

	(void)state;
	share_fill(answers, job, NULL, SHARE_ANSWERS);
	assert_int_equal(share_to_job(answers, again, &err), 0);
	rankset_add(one, 1);
	send_traces(job, one, again);
	assert_null(again->model->lanes[0].data->trace);
	assert_non_null(again->model->lanes[1].data->trace);
	send_traces(job, NULL, again);
	assert_is_whole(again);
	rankset_destroy(one);
	share_destroy(answers);
	job_destroy(again);
	job_destroy(job);
}

/* ---- What is not right ---- */

static void damage_magic(struct segment_writer *w, uint8_t *arena)
{
	(void)w;
	memset(arena, 0, 8);
}

static void damage_table(struct segment_writer *w, uint8_t *arena)
{
	(void)w;
	((struct trace_head *)arena)->tables[TRACE_SEQUENCE].offset = UINT64_MAX - 4;
}

static void damage_size(struct segment_writer *w, uint8_t *arena)
{
	(void)arena;
	w->lanes[0].trace_size = 100;
}

static void interrupt(struct segment_writer *w, uint8_t *arena)
{
	(void)w;
	((struct trace_head *)arena)->end = TRACE_IS_BROKEN;
}

static void test_damaged(void **state)
{
	static const struct {
		uint32_t symbol;
		void (*damage)(struct segment_writer *w, uint8_t *arena);
		const char *note;
	} cases[] = {
		{CALL(SEND), NULL, NULL},
		{CALL(0), NULL, NULL},
		{CALL(3), NULL, "not known"},
		{SEG_TRACE_SYMBOL(1, SEG_TRACE_ENTER), NULL, "not known"}, /* it has a parent */
		{SEG_TRACE_SYMBOL(4, SEG_TRACE_LEAVE), NULL, "not known"},
		{SEG_TRACE_SYMBOL(3, 3), NULL, "not known"},
		{CALL(SEND), damage_magic, "there is no trace"},
		{CALL(SEND), damage_table, "beyond"},
		{CALL(SEND), damage_size, "too short"},
		{CALL(SEND), interrupt, "interrupted"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct segment_writer *w = make_rank(0, false);
		uint8_t *arena = make_arena(&cases[i].symbol, 1, 3);
		const struct model_lane *lane;
		struct model *model;

		w->lanes[0].trace = arena;
		w->lanes[0].trace_size = ARENA;
		if (cases[i].damage)
			cases[i].damage(w, arena);
		model = segment_writer_model(w);
		lane = &model->lanes[0];
		if (cases[i].note) {
			assert_null(lane->trace);
			assert_non_null(strstr(lane->trace_note, cases[i].note));
		} else {
			assert_int_equal(lane->trace->num_events, 3);
			assert_null(lane->trace_note);
		}
		model_destroy(model);
		segment_writer_destroy(w);
		free(arena);
	}
}

/* A writer without the feature leaves its reserved bytes alone. */
static void test_without(void **state)
{
	const uint32_t symbol = CALL(SEND);
	struct segment_writer *w = make_rank(0, false);
	void *arena = make_arena(&symbol, 1, 3);
	struct model *model;

	(void)state;
	w->lanes[0].trace = arena;
	w->lanes[0].trace_size = ARENA;
	w->header.features = 0;
	model = segment_writer_model(w);
	assert_null(model->lanes[0].trace);
	assert_null(model->lanes[0].trace_note);
	model_destroy(model);
	segment_writer_destroy(w);
	free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job),     cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_share),   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_without), cmocka_unit_test(test_inlined_at_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
