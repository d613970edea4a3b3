/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom: small programs, carried out until nobody can go on. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <stdio.h>

#include "model/rankset.h"
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

/* ---- Situations --------------------------------------------------------------------------------
 */

struct situation {
	const char *what;
	const char *programs[9];
	const char *stuck;    /* for certain */
	const char *kind;     /* of the verdict after 5 s */
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
	{NINE_TIMES(TREE_0) TREE_0(10), NINE_TIMES(TREE_1) TREE_1(10),                             \
	 NINE_TIMES(TREE_2) TREE_2(10), NINE_TIMES(TREE_3) "=3 a =3 a"}
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
	{"=0 r*:20 =3 a " NINE_TIMES(ON_0) ON_0(10),                                               \
	 "=1 s2:20 =3 a " NINE_TIMES(ON_1) "=1 s2:10 =0 r*:12",                                    \
	 "=0 r*:20 =1 s3:20 =3 a " NINE_TIMES(ON_2) ON_2(10),                                      \
	 "=0 r*:20 =1 s0:20 =3 a " NINE_TIMES(ON_3) "=0 r*:10 =1 s0:11 =3 a"}

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
	{"wrong tag", {"s1:7 a", "r0:8 a"}, "0-1", "lost", "0"},
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
	{"messages of anybody, numbered by rounds, one of which is lost",
	 LOST_IN_TREE,
	 "0-3",
	 "lost",
	 "3"},
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
	 "0"},
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
		struct answers a = judge(s->programs, 5000);
		char *stuck = stuck_ranks(a.waitfor, false);
		char *culprits = rankset_encode(a.verdict->culprits, 0);
		const char *kind = kind_name(a.verdict->kind);

		if ((s->stuck && strcmp(stuck, s->stuck) != 0) ||
		    (s->kind && strcmp(kind, s->kind) != 0) ||
		    (s->culprits && strcmp(culprits, s->culprits) != 0) ||
		    /* Without anybody who is stuck for certain it is one of polling. */
		    a.verdict->is_while_polling != (!stuck[0] && is_of_waits(a.verdict->kind)) ||
		    (is_of_waits(a.verdict->kind) &&
		     a.verdict->is_stuck == a.verdict->is_while_polling)) {
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

/* ---- Needs -------------------------------------------------------------------------------------
 */

static void print_need(FILE *out, const struct waitfor *w, uint32_t n)
{
	static const char *const kinds[] = {"message", "receive", "members",
					    "lock",    "token",   "transfer"};
	const struct waitfor_need *need = &w->needs[n];
	struct rankset *peers = waitfor_peers(w, n);
	char *text = rankset_encode(peers, 0);

	fprintf(out, "%s of %s", kinds[need->kind], text);
	if (need->tag)
		fprintf(out, " tag %d", need->tag);
	if (need->number != WAITFOR_NOT_KNOWN)
		fprintf(out, " %d/%d", (int)need->given, (int)need->number);
	fprintf(out, "%s", need->is_certain ? "; " : need->is_weak ? " weak; " : " perhaps; ");
	free(text);
	rankset_destroy(peers);
}

static char *needs_of(const struct waitfor *w, int rank)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	uint32_t first, n;

	assert_int_equal(waitfor_lanes_of(w, rank, &first), 1);
	for (n = 0; n < w->lanes[first].num_needs; n++)
		print_need(out, w, w->lanes[first].first_need + n);
	fclose(out);
	return text;
}

static void test_needs(void **state)
{
	static const struct {
		const char *programs[5];
		int rank;
		const char *needs;
	} cases[] = {
		{{"{20 r1:7}", "{9 s0:7} x"}, 0, "message of 1 tag 7 9/10; "},
		{{"{20 r1:7}", "{9 s0:7} m"}, 0, "message of 1 tag 7 9/10 perhaps; "},
		{{"S1 S1 S1", "{2 r0} x"}, 0, "receive of 1 2/3; "},
		{{"iS1 iS1 w", "r0 x"}, 0, "receive of 1 1/2 perhaps; "},
		{{"iz1 iz1 w", "r0 x"}, 0, "receive of 1 1/2; "},
		{{"q1,2", "r0 x", "x"}, 0, "message of 2 0/1; "},
		{{"b", "b", "x", "x"}, 0, "members of 2-3 2/1; "},
		{{"b", "b b", "x"}, 1, "members of 2 1/1; "},
		{{"r*:3", "x", "x"}, 0, "message of 1-2 tag 3 0/0; "},
		{{"p1", "x"}, 0, "message of 1 0/1; "},
		{{"s1 r1 r1", "r0 s0 x"}, 0, "message of 1 1/2; "},
		{{"r* r1", "s0 x", "x"}, 0, "message of 1 1/2; "},
		{{"L1", "x", "L1 b"}, 2, "lock of 0 tag 1 1/1 perhaps; "},
		{{"L1 b", "r0", "L1"}, 2, "lock of 0 tag 1 1/1; "},
		{{"T1", "x"}, 0, "token of 1 tag -3 0/1; "},
		{{"n", "n", "x", "n"}, 1, "members of 2 1/1; "},
		{{"n", "n", "x", "n"}, 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct answers a = judge(cases[i].programs, 5000);
		char *needs = needs_of(a.waitfor, cases[i].rank);

		assert_string_equal(needs, cases[i].needs);
		free(needs);
		forget(&a);
	}
}

/* ---- Chains ------------------------------------------------------------------------------------
 */

static void test_chains(void **state)
{
	static const char *const ends[WAITFOR_NUM_ENDS] = {"cycle",   "outside", "moves",   "left",
							   "library", "unknown", "mismatch"};
	static const struct {
		const char *programs[6];
		int rank;
		const char *chain;
	} cases[] = {
		{{"r1", "r2", "x"}, 0, "0 1 2 outside 2"},
		{{"r1", "r2", "m"}, 0, "0 1 2 moves 2"},
		{{"r1", "r2", "f"}, 0, "0 1 2 left 2"},
		{{"r1", "e"}, 0, "0 1 left 1"},
		{{"r1", "r2", "r1"}, 0, "0 1 2 cycle 1-2 from 1"},
		{{"r1", "r0"}, 1, "1 0 cycle 0-1 from 0"},
		{{"b", "b", "r3", "x"}, 0, "0 3 outside 3"},
		{{"b", "b", "r0", "b"}, 1, "1 2 0 cycle 0,2 from 1"},
		{{"b", "b", "e"}, 0, "0 2 left 2"},
		{{"b", "b", "e", "x"}, 0, "0 3 outside 3"},
		{{"a", "d0 a", "b"}, 1, "1 mismatch 0-2"},
		{{"x", "m"}, 0, "0 outside 0"},
		{{"ir1 ir2 v", "r0", "x"}, 0, "0 2 outside 2"},
		{{"ir1 ir2 w", "r0", "ir0 t"}, 0, "0 1 cycle 0-1 from 0"},
		{{"ir1 ir2 w", "r0", "ir0 t"}, 2, "2 0 1 cycle 0-1 from 1"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct answers a = judge(cases[i].programs, 5000);
		struct waitfor_chain *chain = waitfor_chain_create(a.waitfor, cases[i].rank);
		char *text, *ranks = rankset_encode(chain->ends[chain->end], 0);
		size_t length;
		FILE *out = open_memstream(&text, &length);

		for (size_t k = 0; k < chain->num_steps; k++) {
			bool is_end = k + 1 == chain->num_steps && chain->end != WAITFOR_END_CYCLE;

			fprintf(out, "%d ", chain->steps[k].rank);
			assert_true(is_end || chain->steps[k].need != WAITFOR_NONE);
		}
		fprintf(out, "%s %s", ends[chain->end], ranks);
		if (chain->end == WAITFOR_END_CYCLE)
			fprintf(out, " from %zu", chain->cycle_from);
		fclose(out);
		assert_string_equal(text, cases[i].chain);
		free(text);
		free(ranks);
		waitfor_chain_destroy(chain);
		assert_null(waitfor_chain_create(a.waitfor, 17));
		forget(&a);
	}
	waitfor_chain_destroy(NULL);
	waitfor_destroy(NULL);
}

/* ---- Mismatches --------------------------------------------------------------------------------
 */

static void know_no_size(struct job *job)
{
	model_of(job, 0)->comms[0].recent[0].bytes = SEG_NO_BYTES;
}

static void come_without_waiting(struct job *job)
{
	struct model *model = model_of(job, 2);

	model->comms[0].recent[0] = (struct model_collective){
		.number = 1, .bytes = 4, .site = model->lanes[0].state / 2, .root = SEG_PEER_NONE};
	model->comms[0].collectives = 1;
	free(model->requests);
	model->requests = xcalloc(1, sizeof(*model->requests));
	model->num_requests = 1;
	model->requests[0] = (struct model_request){.kind = SEG_REQUEST_COLLECTIVE,
						    .flags = SEG_REQUEST_ACTIVE,
						    .ordinal = 1,
						    .lane = 0};
}

/* Parties as "ranks", with "!" where nobody is in it any more. */
static void test_parties(void **state)
{
	static const struct {
		const char *programs[5];
		void (*damage)(struct job *job);
		const char *parties;
	} cases[] = {
		{{"a:8", "a:8", "a:4"}, change_nothing, "2 0-1 "},
		{{"a:8", "a:8", "a:4"}, know_no_size, "1 2 "},
		{{"a:8", "a:8", "x"}, come_without_waiting, "2 0-1 "},
		{{"{9 a} b m", "{9 a} d0 s0"}, change_nothing, "0 1! "},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(cases[i].programs, 5000);
		struct answers a;
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		cases[i].damage(job);
		a = answers_of(job);
		print_message("case %zu\n", i);
		assert_int_equal(a.waitfor->num_mismatches, 1);
		for (size_t k = 0; k < a.waitfor->mismatches[0].num_parties; k++) {
			const struct waitfor_party *party = &a.waitfor->mismatches[0].parties[k];
			char *ranks = rankset_encode(party->ranks, 0);

			fprintf(out, "%s%s ", ranks, party->is_waiting ? "" : "!");
			free(ranks);
		}
		fclose(out);
		assert_string_equal(text, cases[i].parties);
		free(text);
		forget(&a);
	}
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

/* Rank 0 has a second thread that waits for rank 1 as rank 1 waits for rank 0. The main thread does
 * something else, or waits for the same. */
static void test_threads(void **state)
{
	static const char *const programs[] = {"r1", "r0"};

	(void)state;
	for (int is_waiting = 0; is_waiting < 2; is_waiting++) {
		struct sm_job *small = sm_create(programs, 2, 0);
		struct model_lane *lanes;
		struct answers a;
		struct job *job;

		sim_add_thread(small->ranks[0].sim);
		sm_run(small, INT_MAX);
		job = sm_finish(small, 5000);
		lanes = model_of(job, 0)->lanes;
		if (is_waiting) {
			lanes[0].operation = lanes[1].operation;
			job->model->lanes[0].state = job->model->lanes[1].state;
			lanes[0].state = lanes[1].state;
		}
		a = answers_of(job);
		assert_int_equal(a.waitfor->num_lanes, 3);
		for (int l = 1; l < 3; l++)
			assert_int_equal(a.waitfor->lanes[l].is_stuck, is_waiting);
		assert_int_equal(a.waitfor->num_deadlocks, is_waiting);
		assert_true((a.verdict->kind == VERDICT_DEADLOCK) == is_waiting);
		forget(&a);
	}
}

/* ---- Intercommunicators ------------------------------------------------------------------------
 */

/* Communicator 1 becomes one between rank 0 and rank 1, each of which is rank 0 of its group. */
static void make_inter(struct job *job)
{
	for (int r = 0; r < 2; r++) {
		struct model *model = model_of(job, r);
		struct model_lane *lane = &model->lanes[0];
		struct model_comm *comm = &model->comms[2];

		comm->kind = SEG_COMM_INTER;
		comm->size = comm->remote_size = 1;
		comm->rank = 0;
		comm->members = 0;
		comm->remote_members = 1;
		comm->num_sources = 0;
		model->members[0] = r;
		model->members[1] = !r;
		for (size_t i = 0; i < lane->num_ledger; i++)
			lane->ledger[i].peer = 0;
		lane->operation.transfers[0].peer = 0;
	}
}

static void test_intercommunicator(void **state)
{
	static const struct {
		const char *programs[3];
		const char *stuck;
	} cases[] = {
		{{"r1@1", "r0@1"}, "0-1"},
		{{"r1@1", "s0@1 x"}, ""},
		{{"r1@1", "x"}, ""},
		{{"b@1", "r0@1"}, "0-1"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(cases[i].programs, 5000);
		struct answers a;
		char *stuck;

		make_inter(job);
		a = answers_of(job);
		stuck = stuck_ranks(a.waitfor, false);
		assert_string_equal(stuck, cases[i].stuck);
		free(stuck);
		forget(&a);
	}
}

/* ---- Messages that nobody receives
 * --------------------------------------------------------------- */

static void test_unreceived(void **state)
{
	static const char *const programs[] = {"s1:5 s1:5 s1:6 s2 a", "r0:5 ir0:7 r0:8", "r* a",
					       NULL};
	struct answers a = judge(programs, 5000);
	struct waitfor_unreceived *found;
	size_t num;

	(void)state;
	found = waitfor_find_unreceived(a.waitfor, 1, &num);
	assert_int_equal(num, 2);
	for (size_t i = 0; i < num; i++) {
		assert_int_equal(found[i].source, 0);
		assert_int_equal(found[i].destination, 1);
		assert_int_equal(found[i].tag, i == 0 ? 5 : 6);
		assert_int_equal(found[i].sent, i == 0 ? 2 : 1);
		assert_int_equal(found[i].received, i == 0 ? 1 : 0);
		assert_int_equal(found[i].is_new, i == 1);
	}
	free(found);
	found = waitfor_find_unreceived(a.waitfor, 2, &num);
	assert_int_equal(num, 0);
	free(found);
	assert_true(a.waitfor->num_losts > 0);
	assert_int_equal(a.waitfor->losts[0].slip, WAITFOR_OTHER_TAG);
	assert_int_equal(a.waitfor->unreceived[a.waitfor->losts[0].message].tag, 6);
	forget(&a);
}

/* The answer where ranks have room for few tags; the caller forgets it. */
static struct answers judge_with_tags(const char *const *programs, size_t max_tags)
{
	struct sm_job *small = sm_create(programs, 4, 0);

	for (int r = 0; r < 4; r++)
		small->ranks[r].max_tags = max_tags;
	sm_run(small, INT_MAX);
	return answers_of(sm_finish(small, 5000));
}

/* Where there was no room for a row of each tag, what was sent and got in all tells that nothing is on its way. */
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
		assert_true(a.verdict->is_likely);
		assert_false(a.verdict->is_stuck);
		free(culprits);
		forget(&a);
	}
}

/* Can those that wait do without some who are outside MPI? */
static void test_do_without(void **state)
{
	static const struct {
		const char *programs[4];
		bool is_held[3];
		bool can;
	} cases[] = {
		{{"r* a", "x", "x"}, {false, true, false}, true},
		{{"r* a", "x", "x"}, {false, true, true}, false},
		{{"r1 a", "x", "x"}, {false, true, false}, false},
		{{"r1 a", "x", "x"}, {false, false, true}, true},
		{{"ir1 t", "x", "x"}, {false, true, false}, false},
		{{"r* a", "a", "x"}, {false, false, true}, false},
		{{"m", "x", "x"}, {false, true, false}, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct answers a = judge(cases[i].programs, 5000);

		print_message("case %zu\n", i);
		assert_int_equal(waitfor_can_do_without(a.waitfor, cases[i].is_held), cases[i].can);
		forget(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_do_without),
		cmocka_unit_test(test_situations),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_parties),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_intercommunicator),
		cmocka_unit_test(test_unreceived),
		cmocka_unit_test(test_many_tags),
		cmocka_unit_test(test_unsettled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
