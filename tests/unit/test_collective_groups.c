/* SPDX-License-Identifier: BSD-3-Clause
 * On the hung job of hung_job.h, whose ranks are given other pasts. */
#include <string.h>

#include "analysis/waits/collective_groups.h"
#include "model/job/job_comms.h"
#include "tests/unit/hung_job.h"
#include "tests/unit/unit.h"

enum { SIZE = 5 };

/* The last collective of a rank on the world; it has none at all with number 0. */
struct last {
	uint64_t number;
	uint32_t site;
	int root;
	uint64_t bytes;
	enum collective_stage stage;
};

static void set_last(struct hung *hung, int rank, const struct last *last)
{
	struct model *model = (struct model *)hung->job.model->lanes[rank].model;
	struct model_collective *recent = model->comms[0].recent;
	struct model_lane *lane = &model->lanes[0];

	memset(recent, 0, sizeof(model->comms[0].recent));
	model->comms[0].collectives = last->number;
	for (uint64_t i = 0; i < last->number && i < SEG_RECENT; i++)
		recent[i] = (struct model_collective){.number = last->number - i,
						      .site = SITE_ALLGATHER,
						      .root = SEG_PEER_NONE,
						      .bytes = 64};
	if (last->number)
		recent[0] = (struct model_collective){.number = last->number,
						      .site = last->site,
						      .root = last->root,
						      .bytes = last->bytes};
	lane->state = SEG_STATE_EXIT(SITE_ALLGATHER);
	lane->operation.kind = SEG_OPERATION_OTHER;
	model->num_requests = 0;
	if (last->stage == COLLECTIVE_IN) {
		lane->state = SEG_STATE_ENTER(last->site);
		lane->operation.kind = SEG_OPERATION_COLLECTIVE;
		lane->operation.number = last->number;
		lane->operation.transfers[0].comm = 0;
	} else if (last->stage == COLLECTIVE_BEGUN) {
		free(model->requests);
		model->requests = xcalloc(1, sizeof(*model->requests));
		model->num_requests = 1;
		model->requests[0] = (struct model_request){.kind = SEG_REQUEST_COLLECTIVE,
							    .flags = SEG_REQUEST_ACTIVE,
							    .ordinal = last->number};
	}
}

/* "8 in MPI_Allgather 0-3 | 7 after MPI_Allgather 4 awaited" */
static char *describe(const struct collective_groups *groups)
{
	static const char *const stages[] = {"in", "begun", "after"};
	char *text = xstrdup("");

	for (size_t g = 0; g < groups->num_groups; g++) {
		const struct collective_group *group = &groups->groups[g];
		char *ranks = rankset_encode(group->ranks, 0);
		char *more = xasprintf(
			"%s%s%d %s %s %s%s%s%s%s%s%s", text, g ? " | " : "", (int)group->number,
			stages[group->stage], group->function ? group->function : "-", ranks,
			group->is_last ? "" : " past", group->is_awaited ? " awaited" : "",
			group->differences & COLLECTIVE_OTHER_FUNCTION ? " function" : "",
			group->differences & COLLECTIVE_OTHER_ROOT ? " root" : "",
			group->differences & COLLECTIVE_OTHER_BYTES ? " bytes" : "",
			group->is_majority ? " most" : "");

		free(text);
		free(ranks);
		text = more;
	}
	return text;
}

#define GATHER(number_, stage_)                                                                    \
	{                                                                                          \
		number_, SITE_ALLGATHER, SEG_PEER_NONE, 64, stage_                                 \
	}
#define IN COLLECTIVE_IN
#define BEGUN COLLECTIVE_BEGUN
#define AFTER COLLECTIVE_AFTER

static void test_groups(void **state)
{
	static const struct {
		struct last last[SIZE];
		const char *groups;
	} cases[] = {
		{{{0}, {0}, {0}, {0}, {0}}, "0 after - 0-4"},
		{{GATHER(8, AFTER), GATHER(8, AFTER), GATHER(8, AFTER), GATHER(8, AFTER),
		  GATHER(8, AFTER)},
		 "8 after MPI_Allgather 0-4"},
		{{GATHER(8, IN), GATHER(8, IN), GATHER(7, AFTER), GATHER(8, IN), {0}},
		 "8 in MPI_Allgather 0-1,3 | 7 after MPI_Allgather 2 awaited | 0 after - 4 "
		 "awaited"},
		/* One that is further, with nobody inside, needs nobody. */
		{{GATHER(8, AFTER), GATHER(9, AFTER), GATHER(8, AFTER), GATHER(8, AFTER),
		  GATHER(8, AFTER)},
		 "9 after MPI_Allgather 1 | 8 after MPI_Allgather 0,2-4"},
		{{GATHER(8, BEGUN), GATHER(8, AFTER), GATHER(7, AFTER), GATHER(7, AFTER),
		  GATHER(7, AFTER)},
		 "8 begun MPI_Allgather 0 | 8 after MPI_Allgather 1 | "
		 "7 after MPI_Allgather 2-4 awaited"},
		/* Another function, then another size. */
		{{GATHER(8, IN),
		  GATHER(8, IN),
		  {8, SITE_SPLIT, SEG_PEER_NONE, 64, IN},
		  GATHER(8, IN),
		  {8, SITE_ALLGATHER, SEG_PEER_NONE, 32, IN}},
		 "8 in MPI_Allgather 0-1,3 most | 8 in MPI_Comm_split 2 function | "
		 "8 in MPI_Allgather 4 bytes"},
		{{{8, SITE_SPLIT, 0, 64, IN},
		  {8, SITE_SPLIT, 1, 64, IN},
		  {8, SITE_SPLIT, 0, SEG_NO_BYTES, IN},
		  {8, SITE_SPLIT, 0, 64, IN},
		  {8, SITE_SPLIT, 0, 64, AFTER}},
		 "8 in MPI_Comm_split 0,3 most | 8 in MPI_Comm_split 1 root | "
		 "8 in MPI_Comm_split 2 most | 8 after MPI_Comm_split 4 most"},
		/* Most have got through a number in which one differed. */
		{{GATHER(8, IN),
		  GATHER(8, IN),
		  {7, SITE_SPLIT, SEG_PEER_NONE, 0, AFTER},
		  GATHER(8, IN),
		  GATHER(8, IN)},
		 "8 in MPI_Allgather 0-1,3-4 | 7 after MPI_Allgather 0-1,3-4 past most | "
		 "7 after MPI_Comm_split 2 awaited function"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct hung *hung = hung_create((struct hung_options){.size = SIZE, .culprit = 2});
		struct collective_groups *groups;
		char *text;

		for (int r = 0; r < SIZE; r++)
			set_last(hung, r, &cases[i].last[r]);
		groups = collective_groups_create(hung->job.model, hung->comms, 0,
						  hung->answer.arena);
		text = describe(groups);
		assert_string_equal(text, cases[i].groups);
		assert_true(rankset_is_empty(groups->unknown));
		free(text);
		hung_destroy(hung);
	}
}

/* Two against two: neither is most. */
static void test_tie(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 2});
	struct collective_groups *groups;
	char *text;

	(void)state;
	for (int r = 0; r < 4; r++)
		set_last(hung, r,
			 &(struct last){3, r < 2 ? SITE_ALLGATHER : SITE_SPLIT, SEG_PEER_NONE, 0,
					IN});
	groups = collective_groups_create(hung->job.model, hung->comms, 0, hung->answer.arena);
	text = describe(groups);
	assert_string_equal(text, "3 in MPI_Allgather 0-1 function | "
				  "3 in MPI_Comm_split 2-3 function");
	assert_true(groups->is_active && groups->is_differing);
	assert_int_equal(groups->largest, 3);
	assert_int_equal(groups->least, 3);
	free(text);
	hung_destroy(hung);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_tie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
