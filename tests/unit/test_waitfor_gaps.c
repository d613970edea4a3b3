/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom where some of the evidence cannot be used. */
#include "tests/unit/unit.h"

#include "model/arena.h"

#include "tests/unit/small_answers.h"

static void lose_comm(struct job *job)
{
	model_of(job, 0)->comms[0].id = 0;
}

static void add_row(struct job *job, int rank, struct model_ledger row)
{
	struct model_lane *lane = &model_of(job, rank)->lanes[0];

	lane->ledger[lane->num_ledger++] = row;
}

static void send_other_tags(struct job *job)
{
	add_row(job, 1, (struct model_ledger){.peer = 0, .tag = SEG_TAG_MANY, .sends = 1});
}

static void cancel(struct job *job)
{
	add_row(job, 0, (struct model_ledger){.peer = 1, .tag = 9});
	for (size_t i = 0; i < model_of(job, 0)->lanes[0].num_ledger; i++)
		model_of(job, 0)->lanes[0].ledger[i].cancelled = 1;
}

static void cover_nothing(struct job *job)
{
	model_of(job, 0)->lanes[0].operation.kind = SEG_OPERATION_OTHER;
}

static void write_meanwhile(struct job *job)
{
	model_of(job, 0)->lanes[0].is_consistent = false;
}

static void move_meanwhile(struct job *job)
{
	model_of(job, 0)->lanes[0].last_events++;
}

static void know_nothing_of_requests(struct job *job)
{
	model_of(job, 0)->lanes[0].operation.flags = SEG_OPERATION_INCOMPLETE;
}

static void buffer(struct job *job)
{
	model_of(job, 0)->lanes[0].operation.flags = SEG_OPERATION_BUFFERED;
}

/* The third member of communicator 1 is of another MPI_COMM_WORLD, and rank 2 is not in it. */
static void let_stranger_in(struct job *job)
{
	for (int r = 0; r < 2; r++) {
		struct model *model = model_of(job, r);
		struct model_comm *comm = &model->comms[2];

		model->members = xreallocarray(model->members, model->num_members + 3,
					       sizeof(*model->members));
		comm->members = (uint32_t)model->num_members;
		comm->size = 3;
		for (int i = 0; i < 3; i++)
			model->members[model->num_members++] = i < 2 ? i : -1;
	}
	model_of(job, 2)->comms[2].id = 0;
}

static void test_gaps(void **state)
{
	static const struct {
		const char *programs[4];
		void (*damage)(struct job *job);
		const char *stuck;
		enum waitfor_gap gap; /* of rank 0 */
	} cases[] = {
		{{"r1", "r0"}, change_nothing, "0-1", WAITFOR_COMPLETE},
		{{"r1", "r0"}, lose_comm, "", WAITFOR_NO_COMM},
		{{"r1", "r0"}, drop_rows, "", WAITFOR_OVERFLOW},
		{{"r1", "r0"}, send_other_tags, "", WAITFOR_UNSETTLED},
		{{"r0", "r0"}, change_nothing, "0-1", WAITFOR_COMPLETE},
		{{"r1", "r0"}, cancel, "0-1", WAITFOR_COMPLETE},
		{{"r1", "r0"}, cover_nothing, "", WAITFOR_NOT_COVERED},
		{{"r1", "r0"}, write_meanwhile, "", WAITFOR_UNREADABLE},
		{{"r1", "r0"}, move_meanwhile, "", WAITFOR_UNREADABLE},
		{{"r*", "r0"}, drop_rows, "", WAITFOR_UNSETTLED},
		{{"r*", "r0"}, send_other_tags, "", WAITFOR_UNSETTLED},
		{{"ir1 w", "r0"}, know_nothing_of_requests, "0-1", WAITFOR_OVERFLOW},
		{{"ir1 v", "r0"}, know_nothing_of_requests, "", WAITFOR_OVERFLOW},
		{{"iS1 w", "r0:1"}, know_nothing_of_requests, "", WAITFOR_OVERFLOW},
		{{"S1", "r0:1"}, change_nothing, "0-1", WAITFOR_COMPLETE},
		{{"S1", "r0:1"}, buffer, "", WAITFOR_COMPLETE},
		{{"S1", "r0:1"}, drop_rows, "", WAITFOR_OVERFLOW},
		{{"b@1", "b@1", "x"}, let_stranger_in, "", WAITFOR_NO_MODEL},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(cases[i].programs, 5000);
		struct arena *arena = arena_create();
		struct waitfor_chain *chain;
		struct answers a;
		char *stuck;

		cases[i].damage(job);
		a = answers_of(job);
		chain = waitfor_find_chain(a.waitfor, 0, arena);
		stuck = stuck_ranks(a.waitfor, false);
		print_message("case %zu\n", i);
		assert_string_equal(stuck, cases[i].stuck);
		assert_int_equal(a.waitfor->actors[0].gap, cases[i].gap);
		if (!*cases[i].stuck)
			assert_true(a.verdict->kind != VERDICT_DEADLOCK &&
				    a.verdict->kind != VERDICT_LOST);
		/* What is not known is not said to be there. */
		if (cases[i].gap != WAITFOR_COMPLETE)
			assert_int_not_equal(chain->end, WAITFOR_END_LIBRARY);
		arena_destroy(arena);
		free(stuck);
		forget(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
