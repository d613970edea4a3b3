/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom: small programs, carried out until nobody can go on. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <stdio.h>

#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "tests/unit/small_answers.h"

/* ---- Needs ---- */

static void print_need(FILE *out, const struct waitfor *w, const struct waitfor_need *need)
{
	static const char *const kinds[] = {"message", "receive", "members",
					    "lock",    "token",   "transfer"};
	struct rankset *peers = rankset_create();
	char *text;

	waitfor_add_peers(w, need, peers);
	text = rankset_encode(peers, 0);
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
	const struct waitfor_need *need = NULL;

	assert_int_equal(waitfor_num_actors(w, rank), 1);
	while ((need = waitfor_next_need(w, waitfor_first_actor(w, rank), need)))
		print_need(out, w, need);
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

/* ---- Chains ---- */

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
		{{"r*", "b", "b"}, 0, "0 1 cycle 0-2 from 0"},
		{{"r*", "b", "b"}, 2, "2 0 1 cycle 0-2 from 1"},
		{{"r*", "r*"}, 0, "0 cycle 0-1 from 0"},
		{{"r0", "x"}, 0, "0 cycle 0 from 0"},
		{{"a", "d0 a", "b"}, 1, "1 mismatch 0-2"},
		{{"x", "m"}, 0, "0 outside 0"},
		{{"ir1 ir2 v", "r0", "x"}, 0, "0 2 outside 2"},
		{{"ir1 ir2 w", "r0", "ir0 t"}, 0, "0 1 cycle 0-1 from 0"},
		{{"ir1 ir2 w", "r0", "ir0 t"}, 2, "2 0 1 cycle 0-1 from 1"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct answers a = judge(cases[i].programs, 5000);
		struct arena *arena = arena_create();
		struct waitfor_chain *chain = waitfor_find_chain(a.waitfor, cases[i].rank, arena);
		char *text, *ranks = rankset_encode(chain->ends[chain->end], 0);
		size_t length;
		FILE *out = open_memstream(&text, &length);

		for (size_t k = 0; k < chain->num_steps; k++) {
			bool is_end = k + 1 == chain->num_steps && chain->end != WAITFOR_END_CYCLE;

			fprintf(out, "%d ", chain->steps[k].rank);
			assert_true(is_end || chain->steps[k].need);
		}
		fprintf(out, "%s %s", ends[chain->end], ranks);
		if (chain->end == WAITFOR_END_CYCLE)
			fprintf(out, " from %zu", chain->cycle_from);
		fclose(out);
		assert_string_equal(text, cases[i].chain);
		free(text);
		free(ranks);
		assert_null(waitfor_find_chain(a.waitfor, 17, arena));
		arena_destroy(arena);
		forget(&a);
	}
	waitfor_destroy(NULL);
}

/* ---- Mismatches ---- */

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

/* ---- Threads ---- */

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
		assert_int_equal(a.waitfor->num_actors, 3);
		for (int l = 1; l < 3; l++)
			assert_int_equal(a.waitfor->actors[l].is_stuck, is_waiting);
		assert_int_equal(a.waitfor->num_deadlocks, is_waiting);
		assert_true((a.verdict->kind == VERDICT_DEADLOCK) == is_waiting);
		forget(&a);
	}
}

/* The main thread waits outside MPI for the second one, by what was read of it. */
static void test_thread_waits(void **state)
{
	static const char *const programs[] = {"r1", "r0"};
	static const struct {
		struct sample_wait wait;
		const char *function; /* that the sample is in */
		pid_t tid;            /* of the sample */
		bool has_ended, is_stuck;
	} cases[] = {
		{{SAMPLE_WAIT_JOIN, false, 101}, "pthread_join", 100, false, true},
		{{SAMPLE_WAIT_OWNED, false, 101}, "pthread_mutex_lock", 100, false, true},
		/* It ends after some time anyway. */
		{{SAMPLE_WAIT_OWNED, true, 101}, "pthread_mutex_lock", 100, false, false},
		/* Another thread, which does not call MPI; nobody; itself. */
		{{SAMPLE_WAIT_JOIN, false, 102}, "pthread_join", 100, false, false},
		{{SAMPLE_WAIT_OTHER, false, 0}, "pthread_mutex_lock", 100, false, false},
		{{SAMPLE_WAIT_OWNED, false, 100}, "pthread_mutex_lock", 100, false, false},
		{{SAMPLE_WAIT_NONE, false, 0}, "pthread_mutex_lock", 100, false, false},
		/* A descriptor needs no name; other words do. */
		{{SAMPLE_WAIT_JOIN, false, 101}, NULL, 100, false, true},
		{{SAMPLE_WAIT_OWNED, false, 101}, NULL, 100, false, false},
		{{SAMPLE_WAIT_MUTEX, false, 101}, NULL, 100, false, false},
		/* Another number space. */
		{{SAMPLE_WAIT_JOIN, false, 101}, "pthread_join", 2100, false, false},
		/* An older thread of that number. */
		{{SAMPLE_WAIT_JOIN, false, 101}, "pthread_join", 100, true, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct sm_job *small = sm_create(programs, 2, 0);
		struct sample sample = {
			.tid = cases[i].tid, .is_main = true, .state = 'S', .wait = cases[i].wait};
		struct answers a;
		struct job *job;

		sim_add_thread(small->ranks[0].sim);
		sm_run(small, INT_MAX);
		job = sm_finish(small, 5000);
		for (int l = 0; l < 2; l++)
			model_of(job, 0)->lanes[l].tid = 100 + l;
		model_of(job, 0)->lanes[1].has_ended = cases[i].has_ended;
		sample.path =
			callpaths_intern(job->callpaths, CALLPATH_NONE, MODULE_NONE, 1, false);
		if (cases[i].function)
			names_set(job->names, sample.path,
				  &(struct name){.function = cases[i].function});
		samples_add(job->samples, &sample);
		a = answers_of(job);
		for (int l = 0; l < 3; l++)
			if (a.waitfor->actors[l].is_stuck != cases[i].is_stuck)
				fail_msg("case %zu, lane %d", i, l);
		assert_int_equal(a.waitfor->num_deadlocks, cases[i].is_stuck);
		if (cases[i].is_stuck) {
			const struct waitfor_need *need = waitfor_next_need(a.waitfor, 0, NULL);

			assert_int_equal(need->kind, WAITFOR_THREAD);
			assert_int_equal(need->node, 1);
			assert_int_equal(need->tag, cases[i].wait.kind == SAMPLE_WAIT_OWNED);
		}
		forget(&a);
	}
}

/* It waits for a condition, which only the second thread can make true, or others, too. */
static void test_only_other_thread(void **state)
{
	static const char *const programs[] = {"r1", "r0"};
	static const struct {
		bool is_timed, is_condition;
		int num_threads; /* that were looked at */
		bool is_stuck;
	} cases[] = {
		{false, true, 2, true},  {true, true, 2, false},  {false, false, 2, false},
		{false, true, 1, false}, {false, true, 3, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct sm_job *small = sm_create(programs, 2, 0);
		struct answers a;
		struct job *job;
		uint32_t path;

		sim_add_thread(small->ranks[0].sim);
		sm_run(small, INT_MAX);
		job = sm_finish(small, 5000);
		path = callpaths_intern(job->callpaths, CALLPATH_NONE, MODULE_NONE, 1, false);
		if (cases[i].is_condition)
			names_set(job->names, path,
				  &(struct name){.function = "pthread_cond_wait"});
		for (int l = 0; l < 2; l++)
			model_of(job, 0)->lanes[l].tid = 100 + l;
		for (int t = 0; t < cases[i].num_threads; t++)
			samples_add(job->samples, &(struct sample){.tid = 100 + t,
								   .is_main = t == 0,
								   .path = path,
								   .state = 'S',
								   .wait = {t ? SAMPLE_WAIT_NONE
									      : SAMPLE_WAIT_OTHER,
									    cases[i].is_timed, 0}});
		a = answers_of(job);
		for (int l = 0; l < 3; l++)
			if (a.waitfor->actors[l].is_stuck != cases[i].is_stuck)
				fail_msg("case %zu, lane %d", i, l);
		forget(&a);
	}
}

/* It waits for a lock that does not say who holds it: one thread is where a holder may be. */
static void test_likely_holder(void **state)
{
	static const char *const programs[] = {"r1", "r0"};

	(void)state;
	for (int num_others = 1; num_others <= 2; num_others++) {
		struct sm_job *small = sm_create(programs, 2, 0);
		const struct waitfor_need *need;
		uint32_t team, region, library, path;
		struct answers a;
		struct job *job;

		sim_add_thread(small->ranks[0].sim);
		sm_run(small, INT_MAX);
		job = sm_finish(small, 5000);
		library = modules_intern(job->modules, "/lib/libgomp.so.1", NULL, 0);
		team = callpaths_intern(job->callpaths, CALLPATH_NONE, library, 1, true);
		region = callpaths_intern(job->callpaths, team, MODULE_NONE, 2, true);
		path = callpaths_intern(job->callpaths, region, library, 3, false);
		for (int l = 0; l < 2; l++)
			model_of(job, 0)->lanes[l].tid = 100 + l;
		samples_add(job->samples, &(struct sample){.tid = 100,
							   .is_main = true,
							   .path = path,
							   .state = 'S',
							   .wait = {.kind = SAMPLE_WAIT_GOMP}});
		/* The last one calls no MPI. */
		for (int t = 1; t <= num_others + 1; t++)
			samples_add(job->samples,
				    &(struct sample){.tid = 100 + t,
						     .path = t <= num_others ? region : path,
						     .state = 'S'});
		a = answers_of(job);
		need = waitfor_next_need(a.waitfor, 0, NULL);
		assert_int_equal(need != NULL, num_others == 1);
		if (need) {
			assert_int_equal(need->kind, WAITFOR_THREAD);
			assert_int_equal(need->node, 1);
			assert_int_equal(need->tag, 3);
			assert_false(need->is_certain);
			assert_true(need->is_weak);
		}
		assert_false(a.waitfor->actors[0].is_stuck);
		assert_int_equal(a.waitfor->num_deadlocks, 0);
		forget(&a);
	}
}

/* ---- Intercommunicators ---- */

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
	const struct waitfor_unreceived *found = a.waitfor->unreceived;

	(void)state;
	assert_int_equal(a.waitfor->num_unreceived, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(found[i].source, 0);
		assert_int_equal(found[i].destination, 1);
		assert_int_equal(found[i].tag, i == 0 ? 5 : 6);
		assert_int_equal(found[i].sent, i == 0 ? 2 : 1);
		assert_int_equal(found[i].received, i == 0 ? 1 : 0);
		assert_int_equal(found[i].is_new, i == 1);
	}
	assert_true(a.waitfor->num_losts > 0);
	assert_int_equal(a.waitfor->losts[0].slip, WAITFOR_OTHER_TAG);
	assert_int_equal(a.waitfor->unreceived[a.waitfor->losts[0].message].tag, 6);
	forget(&a);
}

/* Requests of rank 1 that are, or are not, the other end of what rank 0 waits for. */
static void test_unstarted(void **state)
{
	enum { MADE = SEG_REQUEST_PERSISTENT, STARTED = MADE | SEG_REQUEST_ACTIVE };
	static const struct {
		const char *program;
		struct model_request request;
		bool is_found;
	} cases[] = {
		{"r1:7", {.kind = SEG_REQUEST_SEND, .flags = MADE, .peer = 0, .tag = 7}, true},
		{"r*:*", {.kind = SEG_REQUEST_SEND, .flags = MADE, .peer = 0, .tag = 7}, true},
		{"r1:7", {.kind = SEG_REQUEST_SEND, .flags = STARTED, .peer = 0, .tag = 7}, false},
		{"r1:7", {.kind = SEG_REQUEST_SEND, .flags = MADE, .peer = 1, .tag = 7}, false},
		{"r1:7", {.kind = SEG_REQUEST_SEND, .flags = MADE, .peer = 0, .tag = 8}, false},
		{"r1:7", {.kind = SEG_REQUEST_SEND, .peer = 0, .tag = 7}, false},
		{"r1:7", {.kind = SEG_REQUEST_RECV, .flags = MADE, .peer = 0, .tag = 7}, false},
		{"S1:7", {.kind = SEG_REQUEST_RECV, .flags = MADE, .peer = 0, .tag = 7}, true},
		{"S1:7",
		 {.kind = SEG_REQUEST_RECV, .flags = MADE, .peer = SEG_PEER_ANY, .tag = -1},
		 true},
		{"S1:7", {.kind = SEG_REQUEST_SEND, .flags = MADE, .peer = 0, .tag = 7}, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *const programs[] = {cases[i].program, "b", NULL};
		struct job *job = run(programs, 5000);
		struct model *model = model_of(job, 1);
		struct waitfor_unstarted found = {.rank = -1};
		struct answers a;

		model->requests = xreallocarray(model->requests, 1, sizeof(*model->requests));
		model->requests[0] = cases[i].request;
		model->num_requests = 1;
		a = answers_of(job);
		print_message("case %zu\n", i);
		assert_int_equal(waitfor_find_unstarted(
					 a.waitfor, waitfor_next_need(a.waitfor, 0, NULL), &found),
				 cases[i].is_found);
		assert_int_equal(found.rank, cases[i].is_found ? 1 : -1);
		forget(&a);
	}
}

/* Has another request been through a round that this one was left out of? */
static void test_left_out(void **state)
{
	enum { MADE = SEG_REQUEST_PERSISTENT, STARTED = MADE | SEG_REQUEST_ACTIVE };
	static const struct {
		struct model_request other;
		bool is_left_out;
	} cases[] = {
		{{.kind = SEG_REQUEST_RECV, .flags = MADE, .peer = 0, .tag = 8, .ordinal = 13},
		 true},
		{{.kind = SEG_REQUEST_RECV, .flags = STARTED, .ordinal = 13}, false},
		{{.kind = SEG_REQUEST_RECV, .flags = MADE, .ordinal = 12}, false},
		{{.kind = SEG_REQUEST_RECV, .flags = MADE, .ordinal = 24}, false},
		{{.kind = SEG_REQUEST_RECV, .ordinal = 13}, false},
	};
	const char *const programs[] = {"r1:7", "b", NULL};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(programs, 5000);
		struct model *model = model_of(job, 1);
		struct waitfor_unstarted found;
		struct answers a;

		model->requests = xreallocarray(model->requests, 2, sizeof(*model->requests));
		model->requests[0] = (struct model_request){.kind = SEG_REQUEST_SEND,
							    .flags = MADE,
							    .peer = 0,
							    .tag = 7,
							    .ordinal = 12};
		model->requests[1] = cases[i].other;
		model->num_requests = 2;
		a = answers_of(job);
		print_message("case %zu\n", i);
		assert_true(waitfor_find_unstarted(a.waitfor, waitfor_next_need(a.waitfor, 0, NULL),
						   &found));
		assert_true(found.was_started);
		assert_int_equal(found.is_left_out, cases[i].is_left_out);
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
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_parties),
		cmocka_unit_test(test_thread_waits),
		cmocka_unit_test(test_only_other_thread),
		cmocka_unit_test(test_likely_holder),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_intercommunicator),
		cmocka_unit_test(test_unreceived),
		cmocka_unit_test(test_unstarted),
		cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
