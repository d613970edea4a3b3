/* SPDX-License-Identifier: BSD-3-Clause
 * lp, waits and why of jobs without a recorder, in words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "analysis/values/value_groups.h"
#include "analysis/waits/wait_groups.h"
#include "model/arena.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/caused.h"
#include "render/view.h"
#include "tests/fixtures/queue_ranks.h"
#include "tests/unit/answers.h"

static const char lost[] = "Allreduce@30 <2:-12\n"
			   "Allreduce@30 <3:-12\n"
			   "Allreduce@30 <3:-12 !0:-12\n"
			   "Wait@20 <2:7 !1:-12";

struct shown {
	struct answers answers;
	struct answer answer;
	struct view view;
	char *text;
	size_t size;
};

static void show(struct shown *shown, const char *job)
{
	shown->answers = answers_of(queue_ranks_create(job));
	shown->answer = (struct answer){.arena = arena_create()};
	shown->view = (struct view){
		.arena = shown->answer.arena,
		.answer = &shown->answer,
		.out = open_memstream(&shown->text, &shown->size),
		.width = 200,
		.job = shown->answers.job,
		.waitfor = shown->answers.waitfor,
		.verdict = shown->answers.verdict,
	};
}

static void show_waits(struct shown *shown, const char *job, const struct rankset *ranks)
{
	show(shown, job);
	shown->answer.waits =
		wait_groups_create(shown->answers.waitfor, NULL, ranks,
				   shown->answers.verdict->culprits, 24, shown->answer.arena);
	view_waits(&shown->view);
}

static void show_why(struct shown *shown, int rank)
{
	shown->answer.rank = rank;
	view_why(&shown->view);
}

static void check_text(struct shown *shown, const char *expected)
{
	fclose(shown->view.out);
	assert_string_equal(shown->text, expected);
	free(shown->text);
	arena_destroy(shown->answer.arena);
	answers_deinit(&shown->answers);
	job_destroy(shown->answers.job);
}

/* All of a circle are told, and nobody of them before the others. */
static void test_open(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, "Recv@20 <1:7\nRecv@20 <2:7\nRecv@20 <3:7\nRecv@20 <0:7");
	view_lp(&shown.view);
	check_text(&shown, "Deadlock: ranks 0-3 of 4\n"
			   "  deadlock: ranks 0-3 wait for each other\n"
			   "    rank 0, in MPI_Recv, app+0x14, waits for a message with "
			   "tag 7 on halo from rank 1\n"
			   "    rank 1, in MPI_Recv, app+0x14, waits for a message with "
			   "tag 7 on halo from rank 2\n"
			   "    rank 2, in MPI_Recv, app+0x14, waits for a message with "
			   "tag 7 on halo from rank 3\n"
			   "    rank 3, in MPI_Recv, app+0x14, waits for a message with "
			   "tag 7 on halo from rank 0\n"
			   "  ranks 0-3: in MPI_Recv, app+0x14\n"
			   "  evidence: 4 of 4 ranks wait inside MPI\n"
			   "    by stack samples that agree for 4.0 s, and by the "
			   "messages that the MPI library holds: without the recorder, "
			   "MPI calls have no counts and no times\n"
			   "  next: \"waits\", \"gdb 0\", \"bt 0\"\n");
}

/* The lines of lp's answer from the second one to "evidence". */
static void test_causes(void **state)
{
	static const struct {
		const char *job, *said;
	} cases[] = {
		{lost, "Culprit: rank 2 of 4\n"
		       "  lost message: rank 3 waits for a message with tag 7 on halo "
		       "from rank 2\n"
		       "    rank 3: in MPI_Wait, app+0x14\n"
		       "  rank 2: in MPI_Allreduce, app+0x1e\n"},
		{"Allreduce@30 <2:-12\n"
		 "Allreduce@30 <3:-12\n"
		 "Allreduce@30 <3:-12 !0:-12 !3:7\n"
		 "Wait@20 <2:7 !1:-12",
		 "Culprit: rank 3 of 4\n"
		 "  deadlock: ranks 2-3 wait for each other\n"
		 "    rank 2, in MPI_Allreduce, app+0x1e, waits for the part of "
		 "rank 3 in MPI_Allreduce on halo\n"
		 "    rank 3, in MPI_Wait, app+0x14, waits for a message with "
		 "tag 7 on halo from rank 2\n"
		 "    rank 2, in MPI_Allreduce, app+0x1e, has not come that "
		 "far: rank 3 seems to have left out what others wait for\n"
		 "    ranks 0-1 wait for these\n"
		 "  rank 3: in MPI_Wait, app+0x14\n"},
		{"Allreduce@30 <2:-12\n"
		 "Allreduce@30 <3:-12\n"
		 "Allreduce@30 <3:-12 !0:-12\n"
		 "Barrier@40 <2:-16 !1:-12 !2:-12",
		 "Culprit: rank 3 of 4\n"
		 "  deadlock: ranks 2-3 wait for each other\n"
		 "    rank 2, in MPI_Allreduce, app+0x1e, waits for the part of "
		 "rank 3 in MPI_Allreduce on halo\n"
		 "    rank 3, in MPI_Barrier, app+0x28, waits for the part of "
		 "rank 2 in MPI_Barrier on halo\n"
		 "    rank 2 waits for the part of rank 3 in MPI_Allreduce on "
		 "halo, and that one is in another call, in MPI_Barrier, "
		 "app+0x28. It left that call out, made it with other arguments, "
		 "or has not come to it\n"
		 "    ranks 0-1 wait for these\n"
		 "  rank 3: in MPI_Barrier, app+0x28\n"},
		{"Barrier@30 <1:-16\n"
		 "Recv@20 <2:7\n"
		 "Send@24 !1:5\n"
		 "Barrier@30 <2:-16",
		 "Not known: which rank holds up the others\n"},
		{"Barrier@30 <1:-16\n"
		 "Recv@20 <2:7 !2:5\n"
		 "Send@24\n"
		 "Barrier@30 <2:-16",
		 "Deadlock: ranks 1-2 of 4\n"
		 "  deadlock: ranks 1-2 wait for each other\n"
		 "    rank 1, in MPI_Recv, app+0x14, waits for a message with "
		 "tag 7 on halo from rank 2\n"
		 "    rank 2, in MPI_Send, app+0x18, waits for rank 1 to "
		 "receive its message with tag 5 on halo\n"
		 "    ranks 0,3 wait for these\n"
		 "  rank 1: in MPI_Recv, app+0x14\n"
		 "  rank 2: in MPI_Send, app+0x18\n"},
		/* Roots differ: one is wrong, and nothing tells which. */
		{"Reduce@30 <1:-12\n"
		 "Reduce@30 <2:-12\n"
		 "Reduce@30 <0:-12\n"
		 "Reduce@30 <2:-12",
		 "Deadlock: ranks 0-2 of 4\n"
		 "  deadlock: ranks 0-2 wait for each other\n"
		 "    rank 0, in MPI_Reduce, app+0x1e, waits for the part of "
		 "rank 1 in MPI_Reduce on halo\n"
		 "    rank 1, in MPI_Reduce, app+0x1e, waits for the part of "
		 "rank 2 in MPI_Reduce on halo\n"
		 "    rank 2, in MPI_Reduce, app+0x1e, waits for the part of "
		 "rank 0 in MPI_Reduce on halo\n"
		 "    rank 3 waits for these\n"
		 "  ranks 0-2: in MPI_Reduce, app+0x1e\n"},
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
	show_waits(&shown,
		   "Allreduce@30 <2:-12\nAllreduce@30 <3:-12\nAllreduce@30 <3:-12\nWait@20 "
		   "<2:7\nIprobe@24",
		   ranks);
	check_text(&shown, "  ranks  where                       waits for\n"
			   "  1:[0]  in MPI_Allreduce, app+0x1e  rank 2: part in "
			   "MPI_Allreduce on halo\n"
			   "  1:[1]  in MPI_Allreduce, app+0x1e  rank 3: part in "
			   "MPI_Allreduce on halo\n"
			   "  1:[2]  in MPI_Allreduce, app+0x1e  rank 3: part in "
			   "MPI_Allreduce on halo              <=> culprit, wait "
			   "for each other\n"
			   "  1:[3]  in MPI_Wait, app+0x14       rank 2: message, tag 7 "
			   "on halo                     <-> wait for each other\n"
			   "  1:[4]  in MPI_Iprobe, app+0x18     no recorder, "
			   "and the MPI library does not show it\n"
			   "\n"
			   "  1:[0] MPI_Allreduce   1:[1] MPI_Allreduce\n"
			   "           |                     |\n"
			   "           +-------+ +-----------+\n"
			   "                   v v\n"
			   "    (wait for each other) 2:[2-3]  *   1:[4] MPI_Iprobe\n"
			   "  * culprit\n");
	show_waits(&shown,
		   "Waitall@20 <2:7 <3:7 <3:8\nWaitall@20 <3:7 <2:7 <3:8\nSend@30 !4:5\nSend@30 "
		   "!4:5\nBarrier@40",
		   ranks);
	check_text(&shown, "  ranks    where                     waits for\n"
			   "  2:[2-3]  in MPI_Send, app+0x1e     no recorder, "
			   "and the MPI library does not show it\n"
			   "  1:[0]    in MPI_Waitall, app+0x14  ranks 2-3: message, tag "
			   "7 on halo, and 2 more\n"
			   "  1:[1]    in MPI_Waitall, app+0x14  ranks 2-3: message, tag "
			   "7 on halo, and 2 more\n"
			   "  1:[4]    in MPI_Barrier, app+0x28  no recorder, "
			   "and the MPI library does not show it\n"
			   "\n"
			   "  1:[0] MPI_Waitall   1:[1] MPI_Waitall\n"
			   "          |                   |\n"
			   "          +-----+ +-----------+\n"
			   "                v v\n"
			   "         2:[2-3] MPI_Send   1:[4] MPI_Barrier\n");
	show_waits(&shown, "Barrier@40 !1:5 !2:5\nSend@30\nSend@30", ranks);
	check_text(&shown, "  ranks    where                     waits for\n"
			   "  2:[1-2]  in MPI_Send, app+0x1e     rank 0: receive, tag 5 "
			   "on halo\n"
			   "  1:[0]    in MPI_Barrier, app+0x28  no recorder, "
			   "and the MPI library does not show it\n"
			   "\n"
			   "  2:[1-2] MPI_Send\n"
			   "          |\n"
			   "          v\n"
			   "  1:[0] MPI_Barrier\n");
	show_waits(&shown, "compute@20\ncompute@20", ranks);
	check_text(&shown, "  ranks    where                    waits for\n"
			   "  2:[0-1]  outside MPI, app+0x1000  nobody: outside MPI\n");
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
	show_waits(&shown, job, ranks);
	check_text(&shown, "  ranks      where                  waits for\n"
			   "  30:[0-29]  in MPI_Recv, app+0x14  ranks 0-29: message, tag "
			   "7 on halo  <=> deadlock, wait for each other\n");
	rankset_destroy(ranks);
}

static void test_why(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, lost);
	show_why(&shown, 1);
	check_text(&shown, "rank 1: in MPI_Allreduce, app+0x1e, for 4.0 s\n"
			   "  waits for the part of rank 3 in MPI_Allreduce on halo\n"
			   "    rank 3: in MPI_Wait, app+0x14, for 4.0 s\n"
			   "      waits for a message with tag 7 on halo from rank 2\n"
			   "        rank 2: in MPI_Allreduce, app+0x1e, for 4.0 s\n"
			   "          <- culprit\n"
			   "          waits for the part of rank 3 in MPI_Allreduce on "
			   "halo\n"
			   "            rank 3 is the one above: these wait for each other\n");
	show(&shown, "Recv@20 <1:7\nIprobe@24\ncompute@20");
	show_why(&shown, 0);
	show_why(&shown, 1);
	show_why(&shown, 2);
	show_why(&shown, 3);
	check_text(&shown, "rank 0: in MPI_Recv, app+0x14, for 4.0 s\n"
			   "  waits for a message with tag 7 on halo from rank 1\n"
			   "    rank 1: in MPI_Iprobe, app+0x18, for 4.0 s\n"
			   "      what it waits for is not known: no recorder, "
			   "and the MPI library does not show it\n"
			   "rank 1: in MPI_Iprobe, app+0x18, for 4.0 s\n"
			   "  what it waits for is not known: no recorder, and "
			   "the MPI library does not show it\n"
			   "rank 2: outside MPI, app+0x1000, for 4.0 s\n"
			   "  <- culprit\n"
			   "There is no rank 3 in this job of 3 ranks.\n");
	show(&shown, "Recv@20 <1:7\ncompute@24");
	show_why(&shown, 0);
	check_text(&shown, "rank 0: in MPI_Recv, app+0x14, for 4.0 s\n"
			   "  waits for a message with tag 7 on halo from rank 1\n"
			   "    rank 1: outside MPI, app+0x1000, for 4.0 s\n");
}

/* Values are those of the ranks that have them, not of all that have parted there. */
static void test_parted(void **state)
{
	static const struct {
		double numbers[3]; /* of ranks 0 to 2 */
		const char *expected;
	} rows[] = {
		{{5, 5, 1}, "x is 1 in rank 2, 5 in ranks 0-1"},
		{{5, 5, 5}, "x is 5 in ranks 0-2"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(rows); i++) {
		struct value_reading readings[3];
		struct caused_value value = {.expression = "x"};
		struct caused caused = {.values = &value, .num_values = 1};
		struct rankset *apart SCOPED(rankset) = rankset_create();
		struct rankset *others SCOPED(rankset) = rankset_create();
		struct caused_list list = {&caused, 1, false};
		struct shown shown;
		char expected[200];

		show(&shown, lost);
		for (int rank = 0; rank < 3; rank++)
			readings[rank] =
				(struct value_reading){rank, rows[i].numbers[rank] == 5 ? "5" : "1",
						       true, true, rows[i].numbers[rank]};
		value.groups = value_groups_create(shown.answer.arena, readings, 3);
		for (int rank = 0; rank < 4; rank++)
			rankset_add(rank == 2 ? apart : others, rank);
		caused.ranks = apart;
		caused.others = others;
		caused.node = samples_find(shown.answers.job->samples, 2, 0)->path;
		shown.answer.own = &list;
		view_cause(&shown.view);
		snprintf(expected, sizeof(expected),
			 "rank 2 and ranks 0-1,3 parted at MPI_Allreduce() in libmpi.so.40: %s\n",
			 rows[i].expected);
		check_text(&shown, expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes), cmocka_unit_test(test_open),
		cmocka_unit_test(test_waits),  cmocka_unit_test(test_many_waits),
		cmocka_unit_test(test_why),    cmocka_unit_test(test_parted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
