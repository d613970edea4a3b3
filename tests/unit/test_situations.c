/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom, who can never go on and who is named for it: a table of small programs,
 * carried out until nobody can go on. */
#include "tests/unit/unit.h"

#include <limits.h>

#include "model/job/rankset.h"
#include "tests/unit/small_answers.h"

static const char *kind_name(enum verdict_kind kind)
{
	static const char *const names[] = {
		[VERDICT_NONE] = "none",         [VERDICT_COMPUTATION] = "computation",
		[VERDICT_STOPPED] = "stopped",   [VERDICT_LEFT] = "left",
		[VERDICT_LEAST] = "least",       [VERDICT_UNDECIDED] = "undecided",
		[VERDICT_UNKNOWN] = "unknown",   [VERDICT_DEADLOCK] = "deadlock",
		[VERDICT_MISMATCH] = "mismatch", [VERDICT_LOST] = "lost",
		[VERDICT_LIBRARY] = "library",
	};

	return names[kind];
}

/* ---- Situations ---- */

struct situation {
	const char *what;
	const char *programs[9];
	const char *stuck;    /* for certain */
	const char *kind;     /* of the verdict after 70 s, longer than starting takes */
	const char *culprits; /* and whom it names */
};

/* Rounds, each with a tag of its own. */
#define NINE_TIMES(f) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9)
/* A sum over a tree by messages of anybody, 3 to 2 to 0 and 1 to 0, and twice a sum of all. */
#define TREE_0(tag) "=0 r*:" #tag " r*:" #tag " =3 a =3 a "
#define TREE_1(tag) "=2 s0:" #tag " =3 a =3 a "
#define TREE_2(tag) "=0 r*:" #tag " =2 s0:" #tag " =3 a =3 a "
#define TREE_3(tag) "=2 s2:" #tag " =3 a =3 a "
/* The leaf's message of the last round is lost. */
#define LOST_IN_TREE                                                                               \
	{                                                                                          \
		NINE_TIMES(TREE_0)                                                                 \
		TREE_0(10), NINE_TIMES(TREE_1) TREE_1(10), NINE_TIMES(TREE_2) TREE_2(10),          \
			NINE_TIMES(TREE_3) "=3 a =3 a"                                             \
	}
/* A message of anybody, then one with the number of the round in another communicator. */
#define NUMBERED_0(tag) "=0 r* r1:" #tag "@1 =4 a =4 a "
#define NUMBERED_1(tag) "=2 s0:" #tag "@1 =4 a =4 a "
#define NUMBERED_2(tag) "=3 s0 =4 a =4 a "

/* A message goes on from 1 to 2, 3 and 0, by messages of anybody, then a sum of all. */
#define ON_0(tag) "=0 r*:" #tag " =3 a "
#define ON_1(tag) "=1 s2:" #tag " =3 a "
#define ON_2(tag) "=0 r*:" #tag " =1 s3:" #tag " =3 a "
#define ON_3(tag) "=0 r*:" #tag " =1 s0:" #tag " =3 a "

/* The last one from 3 to 0 is lost, which has sent the next. */
#define NEXT_IS_SENT                                                                               \
	{                                                                                          \
		"=0 r*:20 =3 a " NINE_TIMES(ON_0) ON_0(10),                                        \
			"=1 s2:20 =3 a " NINE_TIMES(ON_1) "=1 s2:10 =0 r*:12",                     \
			"=0 r*:20 =1 s3:20 =3 a " NINE_TIMES(ON_2) ON_2(10),                       \
			"=0 r*:20 =1 s0:20 =3 a " NINE_TIMES(ON_3) "=0 r*:10 =1 s0:11 =3 a"        \
	}

static const struct situation situations[] = {
	{"send against send, long", {"a S1 r1 a", "a S0 r0 a"}, "0-1", "deadlock", "0-1"},
	{"send against send, short", {"a s1 r1 a m", "a s0 r0 a m"}, "", "none", ""},
	{"send against send, one of them non-blocking",
	 {"iS1 w r1", "S0 r0"},
	 "0-1",
	 "deadlock",
	 "0-1"},
	{"receive against receive", {"r1 s1 a", "r0 s0 a"}, "0-1", "deadlock", "0-1"},
	{"receive after send", {"s1 r1 a m", "r0 s0 a m"}, "", "none", ""},
	{"receives of three in a ring, a fourth behind",
	 {"r2 s1 a", "r0 s2 a", "r1 s0 a", "a"},
	 "0-3",
	 "deadlock",
	 "0-2"},
	{"all in a ring", {"r3", "r0", "r1", "r2"}, "0-3", "deadlock", "0-3"},
	{"all in a ring, where one of them used to send first",
	 {"{9 s1 r2 -} =1 r2", "{9 - r0 s2} =1 r0", "{9 - r1 s0} =1 r1"},
	 "0-2",
	 "deadlock",
	 "0"},
	/* The compiler may have made it a loop of its own. */
	{"the same, from a place where it alone receives",
	 {"{14 s1 - - r2} =3 r2", "{14 - r0 s2} =1 r0", "{14 - r1 s0} =1 r1"},
	 "0-2",
	 "deadlock",
	 "0"},
	{"a pair, while others move", {"r1 s1", "r0 s0", "m", "m"}, "0-1", "deadlock", "0-1"},
	{"a message that is not sent, the sender waits in a collective",
	 {"{20 r1 a}", "{9 s0 a} =1 a"},
	 "0-1",
	 "lost",
	 "1"},
	{"the same with all messages", {"{20 r1 a} m", "{20 s0 a} m"}, "", "none", ""},
	{"the sender computes", {"{20 r1 a}", "{9 s0 a} x"}, "", "computation", "1"},
	{"the sender moves", {"{20 r1 a}", "{9 s0 a} m"}, "", "none", ""},
	{"wrong tag, of which it is not known who has it",
	 {"s1:7 a", "r0:8 a"},
	 "0-1",
	 "lost",
	 "0-1"},
	{"wrong communicator", {"s1@1 a", "r0 a"}, "0-1", "lost", "0"},
	{"wrong destination", {"s2 a", "r0 a", "a"}, "0-2", "lost", "0"},
	{"wrong source", {"s1 a", "r2 a", "a"}, "0-2", "lost", "0-1"},
	{"sums of pairs, then of pairs of pairs: a message of the first is lost",
	 {"q1,1 q2,2 c0", "q0,0 - c0", "q3,3 q0,0 c0", "r2 - c0"},
	 "0-3",
	 "lost",
	 "3"},
	{"an exchange with the wrong rank, which is done with its own",
	 {"q2,2 a", "q0,0 a", "q3,3 a", "q2,2 a"},
	 "0-3",
	 "lost",
	 "0"},
	{"one of the ranks alone goes another way to where a message is lost",
	 {"{20 c0} =3 b q1,1 - a", "- - {20 c0} b - r0 a", "- - {20 c0} b q3,3 - a",
	  "- - {20 c0} b q2,2 - a"},
	 "0-3",
	 "lost",
	 "1"},
	{"a sum left out, as it is in every other step, before an exchange",
	 {"{9 a q1,1 =1 q1,1} =1 q1,1", "{20 a q0,0 =1 q0,0}", "{20 a}"},
	 "0-2",
	 "deadlock",
	 "0"},
	{"the same, and nothing has been sent",
	 {"{12 a ir2 s1 w =1 ir2 s1 w} =1 ir2 s1 w", "{20 a ir0 s2 w =1 ir0 s2 w}",
	  "{20 a ir1 s0 w =1 ir1 s0 w}"},
	 "0-2",
	 "deadlock",
	 "0"},
	{"the same, where the others have been there once more",
	 {"{12 a ir2 s1 w =1 ir2 s1 w} =1 ir2 s1 w", "=1 ir2 s2 w =0 {20 a ir0 s2 w =1 ir0 s2 w}",
	  "=1 ir1 s1 w =0 {20 a ir1 s0 w =1 ir1 s0 w}"},
	 "0-2",
	 "deadlock",
	 "0"},
	{"a reduction left out, and in the broadcast after it with one that has called both",
	 {"{9 d1@1 r1 c0 =2 c0} =0 d1@1 =5 r1", "{20 d1@1 s0 c0 =2 c0}", "{20 d1@1 - c0 =2 c0}",
	  "{9 d1@1 - c0 =2 c0} =2 c0"},
	 "0-3",
	 "deadlock",
	 "3"},
	{"calls in two orders, one of them non-blocking: no order to tell who is wrong",
	 {"ib@1 w", "ib@1 b w", "b ib@1 w"},
	 "0-2",
	 "deadlock",
	 "0,2"},
	{"a barrier left out, beside one that is called in two orders",
	 {"{9 - - - b ib@1 - w} =4 ib@1 - w", "{20 ib@1 - - b - - w}", "{20 - - - b ib@1 - w}"},
	 "0-2",
	 "deadlock",
	 "0"},
	{"the same of four",
	 {"{20 - - - b ib@1 - w}", "{20 ib@1 - - b - - w}", "{9 - - - b ib@1 - w} =4 ib@1 - w",
	  "{20 ib@1 - - b - - w}"},
	 "0-3",
	 "deadlock",
	 "2"},
	{"a sum left out, as it is in every other step, before a send",
	 {"{9 a S1 =1 S1} =1 S1", "{20 a r0 =1 r0}", "{20 a}"},
	 "0-2",
	 "deadlock",
	 "0"},
	{"one of a ring leaves its exchange out and comes to the sum",
	 {"{20 a ir2 s1 w}", "{20 a ir0 s2 w}", "{12 a ir1 s0 w} a - - - =0 a"},
	 "0-2",
	 "lost",
	 "2"},
	{"the same, with messages on their way that are received after the sum",
	 {"{20 s1:1 a ir2 s1 w r2:1}", "{20 s2:1 a ir0 s2 w r0:1}",
	  "{12 s0:1 a ir1 s0 w r1:1} s0:1 a - - - r1:1 =0 s0:1 a"},
	 "0-2",
	 "lost",
	 "2"},
	{"an exchange left out, as it is in every other step, and others poll for it",
	 {"{20 a ir2 s1 t a =0 a - - - a}", "{20 a ir0 s2 t a =0 a - - - a}",
	  "{12 a ir1 s0 t a =0 a - - - a} =0 a - - - a"},
	 "",
	 "lost",
	 "2"},
	{"a sum left out, as it is in every other step, and polling for the others",
	 {"{12 a ir2 s1 t =1 ir2 s1 t} =1 ir2 s1 t", "{20 a ir0 s2 t =1 ir0 s2 t}",
	  "{20 a ir1 s0 t =1 ir1 s0 t}"},
	 "",
	 "deadlock",
	 "0"},
	{"the same before a sum of the same ranks",
	 {"{9 a a@1 =1 a@1} =1 a@1", "{20 a a@1 =1 a@1}", "{20 a a@1 =1 a@1}"},
	 "0-2",
	 "deadlock",
	 "0"},
	{"the same in a ring of messages of anybody",
	 {"{12 a s1:3 r*:3 =1 s1:3 r*:3} =1 s1:3 r*:3",
	  "=1 s1:3 r*:3 =0 {20 a s2:3 r*:3 =1 s2:3 r*:3}",
	  "=1 s2:3 r*:3 =0 {20 a s0:3 r*:3 =1 s0:3 r*:3}"},
	 "0-2",
	 "deadlock",
	 "0"},
	{"messages of anybody, numbered by rounds, one of which is lost", LOST_IN_TREE, "0-3",
	 "lost", "3"},
	{"the next of numbered messages is not received while another is lost",
	 {NINE_TIMES(NUMBERED_0) NUMBERED_0(10), NINE_TIMES(NUMBERED_1) NUMBERED_1(10),
	  NINE_TIMES(NUMBERED_2) "=4 a =4 a"},
	 "0-2",
	 "lost",
	 "2"},
	{"the next of numbered messages has been sent already", NEXT_IS_SENT, "0-3", "lost", "3"},
	{"messages gathered in order for the first time there, the first of which is lost",
	 {"{12 =2 s1 a} =3 a", "{12 =0 r0 r2 =3 a} =0 r0@1 r2@1 =3 a", "{12 =2 s1 a} =2 s1@1 a"},
	 "0-2",
	 "lost",
	 "0"},
	{"any source, nobody sends", {"r* a", "a", "a"}, "0-2", "deadlock", "0-2"},
	{"any source, one computes", {"r* a", "a", "x"}, "", "computation", "2"},
	{"any source, one moves", {"r* a", "a", "m"}, "", "none", ""},
	{"any source, satisfied", {"r* a m", "s0 a m", "a m"}, "", "none", ""},
	{"any source, one too many", {"r* r* a", "s0 a", "a"}, "0-2", "deadlock", "0-2"},
	{"any tag", {"r1:* a", "a"}, "0-1", "deadlock", "0-1"},
	{"any tag, satisfied", {"r1:* a m", "s0:5 a m"}, "", "none", ""},
	{"any source with a tag, sent with another", {"r*:3 a", "s0:4 a", "a"}, "0-2", "lost", "1"},
	{"probe for what is not sent", {"{20 p1 r1 a}", "{9 - s0 a} =1 - a"}, "0-1", "lost", "1"},
	{"probe for any that is not sent", {"p* r* a", "a", "a"}, "0-2", "deadlock", "0-2"},
	{"probe for what is sent", {"p1 r1 a m", "s0 a m"}, "", "none", ""},
	{"sendrecv in a ring", {"q1,1 m", "q0,0 m"}, "", "none", ""},
	{"sendrecv with tags crossed", {"q1,1:1", "q0,0:2"}, "0-1", "lost", "0-1"},
	{"waitall, one of many unmatched",
	 {"{20 ir1 ir1:1 ir1:2 is1 - w a}", "{9 s0 s0:1 s0:2 - r0 - a} =0 s0 - s0:2 - r0 - a"},
	 "0-1",
	 "lost",
	 "1"},
	{"waitall, all matched", {"ir1 ir1:1 is1 w a m", "s0 s0:1 r0 a m"}, "", "none", ""},
	{"waitall with a short send that nobody receives, and a slow sender",
	 {"is1 ir2 w s1", "r0:5 r0", "x"},
	 "",
	 "computation",
	 "2"},
	{"waitall with a synchronous send that nobody receives, and a slow sender",
	 {"iz1 ir2 w s1", "r0:5 r0", "x"},
	 "0-1",
	 "lost",
	 "0-1"},
	{"the same, and who should receive waits for the slow one",
	 {"{9 iz1 ir2 w s1}", "{8 r0 r0} r2 r0", "{8 s0} x"},
	 NULL,
	 "computation",
	 "2"},
	{"synchronous sends that are received", {"iz1 ir1 w a m", "z0 r0 a m"}, "", "none", ""},
	{"waitany, none comes", {"ir1 ir2 v", "r0", "r0"}, "0-2", "deadlock", "0-2"},
	{"waitany, one may come", {"ir1 ir2 v", "r0", "x"}, "", "computation", "2"},
	{"polling for each other", {"ir1 t", "ir0 t"}, "", "undecided", "0-1"},
	{"polling for one who computes", {"ir1 t", "x"}, "", "computation", "1"},
	{"barrier against bcast", {"{9 a} b", "{9 a} b", "{9 a} c0"}, "", "mismatch", "2"},
	{"different roots", {"{9 a} d0 a", "{9 a} d1 a"}, "", "mismatch", "0-1"},
	{"one root that differs", {"d0 a", "d0 a", "d2 a"}, "", "mismatch", "2"},
	{"two roots that differ", {"d0 a", "d0 a", "d0 a", "d2 a", "d3 a"}, "", "mismatch", "3-4"},
	{"different sizes", {"a:8", "a:8", "a:4 b"}, "", "mismatch", "2"},
	{"different sizes, but what is waited for is another",
	 {"a:8", "a:4", "x"},
	 "",
	 "computation",
	 "2"},
	{"communicators in other orders", {"b@1 b@2", "b@2 b@1"}, "0-1", "deadlock", "0-1"},
	{"communicators in one order", {"b@1 b@2 m", "b@1 b@2 m"}, "", "none", ""},
	{"a collective left out", {"{20 a b@1}", "{9 a b@1} =1 b@1"}, "0-1", "deadlock", "1"},
	{"a barrier for one who computes", {"b", "b", "x"}, "", "computation", "2"},
	{"a non-blocking barrier left out", {"ib w r1", "r0"}, "0-1", "deadlock", "0-1"},
	{"a bcast whose root computes", {"x", "c0", "c0", "c0"}, "", "computation", "0"},
	{"a collective that only one rank calls, and others have sent to it",
	 {"{20 s1 r1 s2 r2 b} a", "{21 s0 r0 =10 s3 =4 b}", "{21 =0 s0 =1 r0 =4 b}",
	  "{21 =11 r1 =4 b}"},
	 "0-3",
	 "lost",
	 "0"},
	{"a neighbour leaves it out", {"n a", "n a", "a", "n a"}, "", "mismatch", "2"},
	{"finalize against a collective", {"{9 a} f", "{9 a} a", "{9 a} a"}, "", "mismatch", "0"},
	{"finalize, another waits for its message", {"f", "r0 f"}, "0-1", "left", "0"},
	{"a process is gone", {"e", "r0"}, "", "left", "0"},
	{"finalize, another computes", {"f", "x"}, "", "computation", "1"},
	{"a lock that is not released", {"L2 r1", "L2 u2 s0", "b"}, "0-2", NULL, NULL},
	{"a lock of one who computes", {"L2 x", "L2", "b"}, "", "computation", "0"},
	{"a lock whose target computes", {"L2 r1", "L2 u2 s0", "x"}, "", "computation", "2"},
	{"no post", {"{20 T1 C1 - - b}", "{9 - - P0 W0 b} =4 b"}, "0-1", "lost", "1"},
	{"no complete", {"{9 T1 C1 - - b} =0 T1 - - - b", "{20 - - P0 W0 b}"}, "0-1", "lost", "0"},
	{"post, start, complete, wait", {"T1 C1 b m", "P0 W0 b m"}, "", "none", ""},
};

static bool is_of_waits(enum verdict_kind kind)
{
	return kind == VERDICT_DEADLOCK || kind == VERDICT_LOST;
}

static void test_situations(void **state)
{
	size_t num_wrong = 0;

	(void)state;
	for (size_t i = 0; i < NUM_OF(situations); i++) {
		const struct situation *s = &situations[i];
		struct answers a = judge(s->programs, 70000);
		char *stuck = stuck_ranks(a.waitfor, false);
		char *culprits = rankset_encode(a.verdict->culprits, 0);
		const char *kind = kind_name(a.verdict->kind);

		if ((s->stuck && strcmp(stuck, s->stuck) != 0) ||
		    (s->kind && strcmp(kind, s->kind) != 0) ||
		    (s->culprits && strcmp(culprits, s->culprits) != 0) ||
		    /* Without anybody who is stuck for certain it is one of polling. */
		    (is_of_waits(a.verdict->kind) && a.verdict->is_final != (stuck[0] != 0))) {
			print_error("%s: stuck %s, %s by %s; expected %s, %s by %s\n", s->what,
				    stuck, kind, culprits, s->stuck, s->kind, s->culprits);
			num_wrong++;
		}
		free(stuck);
		free(culprits);
		forget(&a);
	}
	assert_int_equal(num_wrong, 0);
}

/* ---- With few tags ---- */

/* The answer where ranks have room for few tags; the caller forgets it. */
static struct answers judge_with_tags(const char *const *programs, size_t max_tags)
{
	struct sm_job *small = sm_create(programs, 4, 0);

	for (int r = 0; r < 4; r++)
		small->ranks[r].max_tags = max_tags;
	sm_run(small, INT_MAX);
	return answers_of(sm_finish(small, 5000));
}

/* Where there was no room for a row of each tag, what was sent and got in all tells that nothing
 * is on its way. */
static void test_many_tags(void **state)
{
	static const char *const programs[] = LOST_IN_TREE;

	(void)state;
	for (size_t max_tags = 3; max_tags < 30; max_tags += 4) {
		struct answers a = judge_with_tags(programs, max_tags);
		char *culprits = rankset_encode(a.verdict->culprits, 0);

		assert_int_equal(a.waitfor->num_deadlocks, 1);
		/* Of rank 1 it may not be known any more that it has sent its part. */
		assert_true(strcmp(culprits, "3") == 0 || strcmp(culprits, "1,3") == 0);
		free(culprits);
		forget(&a);
	}
}

/* Nor is it known whether a message that is on its way is the one waited for. */
static void test_unsettled(void **state)
{
	static const char *const programs[] = NEXT_IS_SENT;

	(void)state;
	for (size_t max_tags = 3; max_tags < 15; max_tags += 4) {
		struct answers a = judge_with_tags(programs, max_tags);
		char *culprits = rankset_encode(a.verdict->culprits, 0);

		assert_int_equal(a.waitfor->num_deadlocks, 0);
		assert_int_equal(a.verdict->kind, VERDICT_LOST);
		assert_string_equal(culprits, "3");
		assert_int_equal(a.verdict->certainty, VERDICT_LIKELY);
		assert_false(a.verdict->is_final);
		free(culprits);
		forget(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_situations),
		cmocka_unit_test(test_many_tags),
		cmocka_unit_test(test_unsettled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
