/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom: small programs, carried out until nobody can go on. */
#include "tests/unit/unit.h"

#include <limits.h>

#include "analysis/eqgroup.h"
#include "analysis/progress.h"
#include "analysis/verdict.h"
#include "analysis/waitfor.h"
#include "model/job_comms.h"
#include "model/rankset.h"
#include "tests/unit/small_models.h"

struct answer {
	struct job *job;
	struct job_comms *comms;
	struct waitfor *waitfor;
	struct progress *progress;
	struct eqgroups *groups;
	struct progress_graph *graph;
	struct verdict *verdict;
};

static struct answer judge(const char *const *programs, uint64_t stay_ms)
{
	struct answer a;
	struct sm_job *small;
	int size = 0;

	while (programs[size])
		size++;
	small = sm_create(programs, size, 0);
	sm_run(small, INT_MAX);
	a.job = sm_finish(small, stay_ms);
	a.comms = job_comms_create(a.job->model);
	a.waitfor = waitfor_create(a.job, a.comms);
	a.progress = progress_create(a.job->model);
	a.groups = eqgroups_create(a.progress);
	a.graph = progress_graph_create(a.progress, a.groups);
	a.verdict = verdict_create(a.job, a.groups, a.graph, a.waitfor);
	return a;
}

static void forget(struct answer *a)
{
	verdict_destroy(a->verdict);
	progress_graph_destroy(a->graph);
	eqgroups_destroy(a->groups);
	progress_destroy(a->progress);
	waitfor_destroy(a->waitfor);
	job_comms_destroy(a->comms);
	job_destroy(a->job);
}

static char *stuck_ranks(const struct waitfor *w, bool is_likely)
{
	struct rankset *set = rankset_create();
	char *text;

	for (size_t l = 0; l < w->num_lanes; l++)
		if (is_likely ? w->lanes[l].is_likely_stuck : w->lanes[l].is_stuck)
			rankset_add(set, w->job->model->lanes[l].rank);
	text = rankset_encode(set, 0);
	rankset_destroy(set);
	return text;
}

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
	{"waitany, none comes", {"ir1 ir2 v", "r0", "r0"}, "0-2", "deadlock", "0-2"},
	{"waitany, one may come", {"ir1 ir2 v", "r0", "x"}, "", "computation", "2"},
	{"polling for each other", {"ir1 t", "ir0 t"}, "", "undecided", "0-1"},
	{"polling for one who computes", {"ir1 t", "x"}, "", "computation", "1"},
	{"barrier against bcast", {"{9 a} b", "{9 a} b", "{9 a} c0"}, "", "mismatch", "2"},
	{"different roots", {"{9 a} d0 a", "{9 a} d1 a"}, "", "mismatch", "0-1"},
	{"one root that differs", {"d0 a", "d0 a", "d2 a"}, "", "mismatch", "2"},
	{"different sizes", {"a:8", "a:8", "a:4 b"}, "", "mismatch", "2"},
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

static void test_situations(void **state)
{
	size_t num_wrong = 0;

	(void)state;
	for (size_t i = 0; i < NUM_OF(situations); i++) {
		const struct situation *s = &situations[i];
		struct answer a = judge(s->programs, 5000);
		char *stuck = stuck_ranks(a.waitfor, false);
		char *culprits = rankset_encode(a.verdict->culprits, 0);
		const char *kind = kind_name(a.verdict->kind);

		if ((s->stuck && strcmp(stuck, s->stuck) != 0) ||
		    (s->kind && strcmp(kind, s->kind) != 0) ||
		    (s->culprits && strcmp(culprits, s->culprits) != 0)) {
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_situations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
