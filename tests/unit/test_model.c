/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "model/job/model.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

enum { SEND = 1, RECV };

static struct model *make_model(void)
{
	struct segment_writer *w = segment_writer_create(0, 1);
	uint32_t app = segment_writer_module(w, "/bin/app");
	uint32_t start = segment_writer_frame(w, SEG_NO_FRAME, app, 0x1000);
	struct model *model;

	segment_writer_site(w, segment_writer_frame(w, start, app, 1), "MPI_Send", SEG_CLASS_SEND);
	segment_writer_site(w, segment_writer_frame(w, start, app, 2), "MPI_Recv", SEG_CLASS_RECV);
	segment_writer_lane(w, true, 1);
	segment_writer_call(w, 0, SEND, 3, 10);
	segment_writer_call(w, 0, RECV, 3, 20);
	model = segment_writer_model(w);
	segment_writer_destroy(w);
	return model;
}

/* Each case is a statement that spoils the model, and what the message has to hold. */
#define CASES(X)                                                                                   \
	X(no_site, m->num_sites = 0, "site 0")                                                     \
	X(site_0, m->sites[0].frame = 0, "site 0")                                                 \
	X(many_sites, m->num_sites = SEG_MAX_SITES + 1, "too long")                                \
	X(many_frames, m->num_frames = SEG_MAX_FRAMES + 1, "too long")                             \
	X(site_frame, m->sites[1].frame = 3, "site 1 ")                                            \
	X(site_class, m->sites[1].class_id = SEG_CLASS_ABORT + 1, "site 1 ")                       \
	X(site_language, m->sites[2].language = 2, "site 2 ")                                      \
	X(site_no_name, m->sites[2].name = NULL, "site 2 ")                                        \
	X(site_other_name, m->sites[2].name = "elsewhere", "site 2 ")                              \
	X(site_open_name, memset(m->strings, 'x', m->num_strings), "site 0 ")                      \
	X(build_id, m->modules[0].build_id_size = 33, "module 0 ")                                 \
	X(frame_parent, m->frames[1].parent = 1, "frame 1 ")                                       \
	X(frame_module, m->frames[2].module = 1, "frame 2 ")                                       \
	X(state, m->lanes[0].state = 6, "lane 0: a state")                                         \
	X(poll_site, m->lanes[0].poll_site = 3, "lane 0: a state")                                 \
	X(since, m->lanes[0].since_ns = m->now_ns + 1, "future")                                   \
	X(first, m->lanes[0].first_ns = m->now_ns + 1, "future")                                   \
	X(poll_time, m->lanes[0].last_poll_ns = m->now_ns + 1, "future")                           \
	X(from, m->lanes[0].transitions[0].from = 6, "transition 0 ")                              \
	X(to, m->lanes[0].transitions[1].to = UINT32_MAX, "transition 1 ")                         \
	X(count, m->lanes[0].transitions[2].count = 0, "transition 2 ")                            \
	X(ring_state, m->lanes[0].ring[4].state = 6, "ring entry 4 ")                              \
	X(ring_time, m->lanes[0].ring[4].ns = 1, "ring entry 4 ")                                  \
	X(ring_future, m->lanes[0].ring[11].ns = m->now_ns + 1, "ring entry 11 ")                  \
	X(ring_end, m->lanes[0].state = 0, "does not end")

#define SPOIL(name, statement, part)                                                               \
	static void spoil_##name(struct model *m)                                                  \
	{                                                                                          \
		statement;                                                                         \
	}
CASES(SPOIL)

static void test_validate(void **state)
{
#define ENTRY(name, statement, part) {#name, spoil_##name, part},
	static const struct {
		const char *name;
		void (*spoil)(struct model *m);
		const char *part;
	} table[] = {CASES(ENTRY)};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct model *model = make_model();
		size_t num_sites = model->num_sites, num_frames = model->num_frames;
		struct pdb_error err = {0};

		assert_int_equal(model_validate(model, &err), 0);
		table[i].spoil(model);
		if (model_validate(model, &err) == 0)
			fail_msg("%s was taken", table[i].name);
		assert_error(&err, ERROR_FORMAT, table[i].part);
		model->num_sites = num_sites;
		model->num_frames = num_frames;
		model_destroy(model);
	}
	model_destroy(NULL);
	model_destroy(model_create());
}

/* A call of which is not recorded what it needs, as MPI_Comm_spawn, is told by where the rank is. */
static void test_in_collective(void **state)
{
	static const struct {
		uint32_t state;
		enum seg_operation_kind kind;
		uint64_t number, operation;
		bool is_in;
	} cases[] = {
		{SEG_STATE_ENTER(SEND), SEG_OPERATION_OTHER, 5, 0, true},
		{SEG_STATE_ENTER(SEND), SEG_OPERATION_OTHER, 4, 0, false},
		{SEG_STATE_ENTER(SEND), SEG_OPERATION_OTHER, 0, 0, false},
		{SEG_STATE_ENTER(RECV), SEG_OPERATION_OTHER, 5, 0, false},
		{SEG_STATE_EXIT(SEND), SEG_OPERATION_OTHER, 5, 0, false},
		{SEG_STATE_ENTER(SEND), SEG_OPERATION_COLLECTIVE, 5, 5, true},
		{SEG_STATE_ENTER(SEND), SEG_OPERATION_COLLECTIVE, 5, 6, false},
	};
	struct model_comm comm = {
		.recent = {{.number = 5, .site = SEND}, {.number = 4, .site = SEND}}};
	struct model_lane lane = {0};
	const struct model model = {.comms = &comm, .num_comms = 1, .lanes = &lane, .num_lanes = 1};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		lane.state = cases[i].state;
		lane.operation.kind = cases[i].kind;
		lane.operation.number = cases[i].operation;
		assert_int_equal(model_is_in_collective(&model, 0, cases[i].number),
				 cases[i].is_in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_validate),
					   cmocka_unit_test(test_in_collective)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
