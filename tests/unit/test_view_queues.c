/* SPDX-License-Identifier: BSD-3-Clause
 * lp, waits and why of jobs without a recorder, in words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "analysis/verdict/verdict.h"
#include "model/arena.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "render/view.h"
#include "tests/fixtures/queue_ranks.h"

static const char lost[] = "Allreduce@30 <2:-12\n"
			   "Allreduce@30 <3:-12\n"
			   "Allreduce@30 <3:-12 !0:-12\n"
			   "Wait@20 <2:7 !1:-12";

struct shown {
	struct job *job;
	struct verdict *verdict;
	struct answer answer;
	struct view view;
	char *text;
	size_t size;
};

static void show(struct shown *shown, const char *job)
{
	shown->job = queue_ranks_create(job);
	shown->verdict = verdict_create(shown->job, NULL, NULL, NULL);
	verdict_choose_by_queues(shown->verdict, shown->job, NULL);
	shown->answer = (struct answer){.arena = arena_create()};
	shown->view = (struct view){
		.arena = shown->answer.arena,
		.answer = &shown->answer,
		.out = open_memstream(&shown->text, &shown->size),
		.width = 200,
		.job = shown->job,
		.verdict = shown->verdict,
	};
}

static void check_text(struct shown *shown, const char *expected)
{
	fclose(shown->view.out);
	assert_string_equal(shown->text, expected);
	free(shown->text);
	arena_destroy(shown->answer.arena);
	verdict_destroy(shown->verdict);
	job_destroy(shown->job);
}

/* Nobody is named, but that they wait for each other is told. */
static void test_open(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, "Recv@20 <1:7\nRecv@20 <2:7\nRecv@20 <3:7\nRecv@20 <0:7");
	view_lp(&shown.view);
	check_text(&shown, "Not known: who holds the others up\n"
			   "  4 of 4 ranks were inside MPI in all their stack samples, none "
			   "outside: stacks alone do not tell "
			   "which is behind\n"
			   "  a deadlock, likely: ranks 0-3 wait for each other, by the messages "
			   "that the MPI library holds; "
			   "who of them went wrong these do not tell\n"
			   "    rank 0, in MPI_Recv, app+0x14, waits for a message with tag 7 from "
			   "rank 1 on halo\n"
			   "    rank 1, in MPI_Recv, app+0x14, waits for a message with tag 7 from "
			   "rank 2 on halo\n"
			   "    rank 2, in MPI_Recv, app+0x14, waits for a message with tag 7 from "
			   "rank 3 on halo\n"
			   "    rank 3, in MPI_Recv, app+0x14, waits for a message with tag 7 from "
			   "rank 0 on halo\n"
			   "  ranks 0-3: in MPI_Recv, app+0x14\n"
			   "  not sure that this is a hang: nobody can be named; look again later\n"
			   "  next: \"waits\", \"bt 0\", \"classes\"\n"
			   "  start the job with \"pdb run -- mpirun ...\" next time, so that its "
			   "MPI calls are counted\n");
}

/* The lines of lp's answer from the second one to "evidence". */
static void test_causes(void **state)
{
	static const struct {
		const char *job, *said;
	} cases[] = {
		{lost, "Culprit: rank 2 of 4\n"
		       "  lost message: rank 3 waits for a message with tag 7 from rank 2 on halo, "
		       "which has not sent it\n"
		       "    rank 3: in MPI_Wait, app+0x14\n"
		       "    rank 2 waits elsewhere, in the end for rank 3: it went on without "
		       "sending that, or rank 3 "
		       "should not wait for it\n"
		       "  rank 2: in MPI_Allreduce, app+0x1e\n"},
		{"Allreduce@30 <2:-12\n"
		 "Allreduce@30 <3:-12\n"
		 "Allreduce@30 <3:-12 !0:-12 !3:7\n"
		 "Wait@20 <2:7 !1:-12",
		 "Culprit: rank 3 of 4\n"
		 "  deadlock: ranks 2-3 wait for each other\n"
		 "    rank 3, in MPI_Wait, app+0x14, waits for a message with tag 7 from rank 2 on "
		 "halo\n"
		 "    rank 2 waits in MPI_Allreduce and has not come that far: rank 3 seems to "
		 "have left out what "
		 "others wait for\n"
		 "  rank 3: in MPI_Wait, app+0x14\n"},
		{"Allreduce@30 <2:-12\n"
		 "Allreduce@30 <3:-12\n"
		 "Allreduce@30 <3:-12 !0:-12\n"
		 "Barrier@40 <2:-16 !1:-12 !2:-12",
		 "Culprit: rank 3 of 4\n"
		 "  deadlock: ranks 2-3 wait for each other\n"
		 "    rank 2, in MPI_Allreduce, app+0x1e, waits for the part of rank 3 in "
		 "MPI_Allreduce on halo\n"
		 "    rank 3 is in another call, MPI_Barrier: it seems to have left that out, or "
		 "not to have come to it\n"
		 "  rank 3: in MPI_Barrier, app+0x28\n"},
		{"Barrier@30 <1:-16\n"
		 "Recv@20 <2:7\n"
		 "Send@24 !1:5\n"
		 "Barrier@30 <2:-16",
		 "Not known: who holds the others up\n"},
		{"Barrier@30 <1:-16\n"
		 "Recv@20 <2:7 !2:5\n"
		 "Send@24\n"
		 "Barrier@30 <2:-16",
		 "Deadlock: ranks 1-2 of 4\n"
		 "  deadlock: ranks 1-2 wait for each other\n"
		 "    rank 1, in MPI_Recv, app+0x14, waits for a message with tag 7 from rank 2 on "
		 "halo\n"
		 "    rank 2, in MPI_Send, app+0x18, waits for rank 1 to receive its message with "
		 "tag 5 on halo\n"
		 "  rank 1: in MPI_Recv, app+0x14\n"
		 "  rank 2: in MPI_Send, app+0x18\n"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct shown shown;
		char *end;

		show(&shown, cases[i].job);
		view_lp(&shown.view);
		fflush(shown.view.out);
		end = strstr(shown.text, "  evidence: ");
		if (!end) {
			end = strchr(shown.text, '\n') + 1;
		} else {
			assert_non_null(strstr(end, "the messages that the MPI library holds"));
			assert_non_null(strstr(end, "  evidence: 4 of 4 ranks wait inside MPI\n"));
		}
		*end = '\0';
		check_text(&shown, cases[i].said);
	}
}

static void test_waits(void **state)
{
	struct rankset *ranks = rankset_create();
	struct shown shown;

	(void)state;
	for (int r = 0; r < 5; r++)
		rankset_add(ranks, r);
	show(&shown, "Allreduce@30 <2:-12\nAllreduce@30 <3:-12\nAllreduce@30 <3:-12\nWait@20 "
		     "<2:7\nIprobe@24");
	shown.answer.ranks = ranks;
	view_queue_waits(&shown.view);
	check_text(&shown, "rank 0, in MPI_Allreduce, app+0x1e\n"
			   "    waits for the part of rank 2 in MPI_Allreduce on halo\n"
			   "rank 1, in MPI_Allreduce, app+0x1e\n"
			   "    waits for the part of rank 3 in MPI_Allreduce on halo\n"
			   "rank 2, in MPI_Allreduce, app+0x1e <- culprit\n"
			   "    waits for the part of rank 3 in MPI_Allreduce on halo\n"
			   "rank 3, in MPI_Wait, app+0x14\n"
			   "    waits for a message with tag 7 from rank 2 on halo\n"
			   "rank 4, in MPI_Iprobe, app+0x18\n"
			   "    not known what for\n"
			   "By stacks, and by the messages that the MPI library holds: there is no "
			   "recorder in this "
			   "job.\n");
	show(&shown, "Waitall@20 <2:7 <3:7 <3:8\nWaitall@20 <3:7 <2:7 <3:8\nSend@30 !4:5\nSend@30 "
		     "!4:5\nBarrier@40");
	shown.answer.ranks = ranks;
	view_queue_waits(&shown.view);
	check_text(&shown,
		   "ranks 0-1, in MPI_Waitall, app+0x14\n"
		   "    wait for a message with tag 7 from ranks 2-3 on halo, and for something "
		   "else from rank 3\n"
		   "ranks 2-3, in MPI_Send, app+0x1e\n"
		   "    not known what for\n"
		   "rank 4, in MPI_Barrier, app+0x28\n"
		   "    not known what for\n"
		   "By stacks, and by the messages that the MPI library holds: there is no "
		   "recorder in this "
		   "job.\n");
	show(&shown, "Barrier@40 !1:5 !2:5\nSend@30\nSend@30");
	shown.answer.ranks = ranks;
	view_queue_waits(&shown.view);
	check_text(&shown, "ranks 1-2, in MPI_Send, app+0x1e\n"
			   "    wait for rank 0 to receive their message with tag 5 on halo\n"
			   "rank 0, in MPI_Barrier, app+0x28\n"
			   "    not known what for\n"
			   "By stacks, and by the messages that the MPI library holds: there is no "
			   "recorder in this "
			   "job.\n");
	show(&shown, "compute@20\ncompute@20");
	shown.answer.ranks = ranks;
	view_queue_waits(&shown.view);
	check_text(&shown, "No rank waits inside MPI.\n");
	rankset_destroy(ranks);
}

/* So many kinds that those of one kind are put together: what is said holds for each of them. */
static void test_many_waits(void **state)
{
	struct rankset *ranks = rankset_create();
	struct shown shown;
	char job[30 * 24] = "";

	(void)state;
	rankset_add_range(ranks, 0, 29);
	for (int r = 0; r < 30; r++)
		sprintf(job + strlen(job), "%sRecv@20 <%d:7", r ? "\n" : "", (r + 1) % 30);
	show(&shown, job);
	shown.answer.ranks = ranks;
	view_queue_waits(&shown.view);
	check_text(&shown, "ranks 0-29, in MPI_Recv, app+0x14\n"
			   "    wait for a message with tag 7 from some of ranks 0-29 on halo\n"
			   "By stacks, and by the messages that the MPI library holds: there is no "
			   "recorder in this "
			   "job.\n");
	rankset_destroy(ranks);
}

static void test_why(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, lost);
	shown.answer.rank = 1;
	view_queue_why(&shown.view);
	check_text(&shown,
		   "rank 1, in MPI_Allreduce, app+0x1e, waits for the part of rank 3 in "
		   "MPI_Allreduce on halo\n"
		   "  rank 3, in MPI_Wait, app+0x14, waits for a message with tag 7 from rank 2 on "
		   "halo\n"
		   "    rank 2, in MPI_Allreduce, app+0x1e, waits for the part of rank 3 in "
		   "MPI_Allreduce on halo\n"
		   "      rank 2 is a culprit: \"lp\" says what speaks for it\n");
	show(&shown, "Recv@20 <1:7\nIprobe@24\ncompute@20");
	shown.answer.rank = 0;
	view_queue_why(&shown.view);
	shown.answer.rank = 1;
	view_queue_why(&shown.view);
	shown.answer.rank = 2;
	view_queue_why(&shown.view);
	shown.answer.rank = 3;
	view_queue_why(&shown.view);
	check_text(&shown, "rank 0, in MPI_Recv, app+0x14, waits for a message with tag 7 from "
			   "rank 1 on halo\n"
			   "  rank 1, in MPI_Iprobe, app+0x18: not known what it waits for\n"
			   "rank 1, in MPI_Iprobe, app+0x18: not known what it waits for\n"
			   "rank 2 is outside MPI: it waits for nobody\n"
			   "There is no stack of rank 3.\n");
	show(&shown, "Recv@20 <1:7\ncompute@24");
	shown.answer.rank = 0;
	view_queue_why(&shown.view);
	check_text(&shown, "rank 0, in MPI_Recv, app+0x14, waits for a message with tag 7 from "
			   "rank 1 on halo\n"
			   "  rank 1, in app+0x1000, outside MPI\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes), cmocka_unit_test(test_open),
		cmocka_unit_test(test_waits),  cmocka_unit_test(test_many_waits),
		cmocka_unit_test(test_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
