/* SPDX-License-Identifier: BSD-3-Clause
 * What lp says of the hung job of hung_job.h, and of others made of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/job/blocked.h"
#include "model/job/proctable.h"
#include "model/job/sample.h"
#include "render/text/text.h"
#include "render/words/parts.h"
#include "tests/unit/hung_golden.h"

static void test_first_line(void **state)
{
	static const struct {
		enum verdict_kind kind;
		const char *culprits, *line;
	} cases[] = {
		{VERDICT_COMPUTATION, "100", "Culprit: rank 100 of 512\n"},
		{VERDICT_STOPPED, "3,7-9", "Culprit: ranks 3,7-9 of 512\n"},
		{VERDICT_LEAST, "3,7-9", "Least progressed: ranks 3,7-9 of 512\n"},
		{VERDICT_LEFT, "0", "Culprit: rank 0 of 512\n"},
		{VERDICT_UNDECIDED, "1,5", "Least progressed: undecided among ranks 1,5 of 512\n"},
		{VERDICT_UNKNOWN, NULL, "Not known: which rank holds up the others\n"},
		{VERDICT_NONE, NULL, "No certain hang: "},
		{VERDICT_COMPUTATION, "0-510:2",
		 "Culprit: ranks 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,..., 256 of "
		 "512\n"},
	};
	struct hung *hung = hung_create((struct hung_options){.size = 512, .culprit = 100});

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *text;

		hung->verdict.kind = cases[i].kind;
		set_ranks(&hung->verdict.culprits, cases[i].culprits);
		view_lp(&hung->view);
		text = hung_text(hung);
		assert_memory_equal(text, cases[i].line, strlen(cases[i].line));
		check_lines(text, &hung->view);
	}
	hung_destroy(hung);
}

/* Without a recorder, a look of a second does not tell a hang from a long step. */
static void test_brief(void **state)
{
	static const struct {
		uint64_t stay_ns;
		bool is_hang, is_known_hang;
		enum proctable_source source;
		const char *line;
	} cases[] = {
		{1000000000, false, false, PROCTABLE_SNAPSHOT, "Slow or hung: rank 3 of 8\n"},
		{1000000000, false, true, PROCTABLE_SNAPSHOT, "Culprit: rank 3 of 8\n"},
		{1000000000, true, false, PROCTABLE_SNAPSHOT, "Culprit: rank 3 of 8\n"},
		{5000000000, false, false, PROCTABLE_SNAPSHOT, "Culprit: rank 3 of 8\n"},
		{0, false, false, PROCTABLE_CORES, "Culprit: rank 3 of 8\n"},
	};
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});

	(void)state;
	hung->verdict.basis = VERDICT_BY_STACKS;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *text;

		hung->verdict.stay_ns = cases[i].stay_ns;
		hung->verdict.is_hang = cases[i].is_hang;
		hung->view.is_known_hang = cases[i].is_known_hang;
		hung->job.proctable->source = cases[i].source;
		view_lp(&hung->view);
		text = hung_text(hung);
		assert_memory_equal(text, cases[i].line, strlen(cases[i].line));
	}
	hung_destroy(hung);
}

/* What is said where nobody is accused. */
static void test_none(void **state)
{
	static const struct {
		const char *waiting, *moving, *text;
	} cases[] = {
		{NULL, "0-7",
		 "No hang: all 8 ranks are making progress.\n"
		 "  each entered or left an MPI call just now\n"},
		{"0-2,4-7", "3",
		 "No certain hang: 7 of 8 ranks wait inside MPI, rank 3 is making progress.\n"},
		{"0-1,4-7", "2-3",
		 "No certain hang: 6 of 8 ranks wait inside MPI, ranks 2-3 are making progress.\n"},
		{NULL, "0-3",
		 "No hang: 4 of 8 ranks are making progress, no rank waits inside MPI.\n"},
		{"0-6", NULL,
		 "No certain hang: 7 of 8 ranks wait inside MPI, no rank is known to hold them "
		 "up.\n"},
		{NULL, NULL, "No certain hang: no rank waits inside MPI.\n"},
	};
	static const char known[] = "7 of 8 ranks wait for rank 3, which is outside MPI.\n";
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	const char *text;

	(void)state;
	hung->verdict.kind = VERDICT_NONE;
	hung->verdict.num_culprit_groups = 0;
	set_ranks(&hung->verdict.culprits, NULL);
	hung->view.width = 250;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		set_ranks(&hung->verdict.waiting, cases[i].waiting);
		set_ranks(&hung->verdict.moving, cases[i].moving);
		view_lp(&hung->view);
		text = hung_text(hung);
		assert_contains(text, cases[i].text);
		assert_null(strstr(text, "next:"));
		view_groups(&hung->view);
		assert_null(strstr(hung_text(hung), "culprit"));
	}
	set_ranks(&hung->verdict.waiting, "0-2,4-7");
	set_ranks(&hung->verdict.awaited, "3");
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text,
			"No certain hang: 7 of 8 ranks wait for rank 3, which is outside MPI.\n"
			"  rank 3: here for ");
	assert_contains(text, "\n  next: \"bt 3\", \"why 0\"\n");
	/* Below "Hang: ..." */
	hung->view.is_known_hang = true;
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_memory_equal(text, known, strlen(known));
	assert_null(strstr(text, "ang:"));
	assert_null(strstr(text, "not sure"));
	set_ranks(&hung->verdict.waiting, NULL);
	set_ranks(&hung->verdict.awaited, NULL);
	view_lp(&hung->view);
	assert_contains(hung_text(hung), "No rank waits inside MPI.\n");
	hung_destroy(hung);
}

/* The system call that the culprit sleeps in; inside MPI it is the library's own. */
static void test_blocked(void **state)
{
	static const struct {
		const char *call, *object, *place, *reason, *kernel, *text;
	} cases[] = {
		{"read", "a pipe", NULL, "nobody has it open for writing", NULL,
		 "sleeps in read(), a pipe: nobody has it open for writing\n"},
		{"nanosleep", NULL, NULL, "for 30 s", NULL, "sleeps in nanosleep(): for 30 s\n"},
		{"fsync", "/s/x", "nfs, s:/", NULL, "rpc_wait",
		 "sleeps in fsync(), /s/x (nfs, s:/); in the kernel's rpc_wait\n"},
		{"pause", NULL, NULL, NULL, NULL, "sleeps in pause()\n"},
		{BLOCKED_PAGE_FAULT, NULL, NULL, NULL, "filemap_fault",
		 "waits in a page fault, as for a file or for swapped memory; in the kernel's "
		 "filemap_fault\n"},
		/* Ranks in place of their processes; rank 5 is process 4005. */
		{"fcntl", "/s/x", NULL, "process 4005 (lmp, stopped) holds the lock", NULL,
		 "sleeps in fcntl(), /s/x: rank 5 (process 4005, lmp, stopped) holds the lock\n"},
		{"read", "a pipe", NULL, "processes 4005 (a), 40 (b) and 7 more have it open", NULL,
		 "sleeps in read(), a pipe: rank 5 (process 4005, a), process 40 (b) and 7 more "
		 "have it open\n"},
		{"read", "a pipe", NULL, "processes 40 (b) and 4006 (a) have it open", NULL,
		 "sleeps in read(), a pipe: process 40 (b) and rank 6 (process 4006, a) have it "
		 "open\n"},
		{"wait4", "process 4005 (a)", NULL, NULL, NULL,
		 "sleeps in wait4(), rank 5 (process 4005, a)\n"},
		{"read", "/s/process 4005 (a)", NULL, "process 4005 has ended, 4005 (a)", NULL,
		 "sleeps in read(), /s/process 4005 (a): process 4005 has ended, 4005 (a)\n"},
	};
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct sample *sample = (struct sample *)samples_find(hung->view.job->samples, 3, 0);
	const char *text;

	(void)state;
	assert_non_null(sample);
	hung->view.width = 250;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		blocked_destroy(sample->blocked);
		sample->blocked = blocked_create(cases[i].call, cases[i].object, cases[i].place,
						 cases[i].reason, cases[i].kernel);
		view_lp(&hung->view);
		assert_contains(hung_text(hung), cases[i].text);
	}
	sample->blocked->limit = strdup("/dev/shm is full");
	sample->blocked->stack = strdup("a < b");
	sample->blocked->around = strdup("the mount answers statfs()");
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "  rank 3: /dev/shm is full\n");
	assert_contains(text, "; in the kernel's a < b; the mount answers statfs()\n");
	hung_destroy(hung);
}

/* What the culprit's main thread waits for in futex(), and who holds it. */
static void test_locks(void **state)
{
	static const struct {
		const char *function, *object, *reason;
		enum sample_wait_kind kind;
		pid_t tid; /* 1: another thread's; 2: its own */
		const char *text;
	} cases[] = {
		{"pthread_mutex_lock", "'table'", NULL, SAMPLE_WAIT_MUTEX, 1,
		 "waits for mutex 'table' that thread 99999 holds (pthread_mutex_lock), which is "
		 "in "
		 "update() at a.c:7\n"},
		{"pthread_mutex_lock", NULL, NULL, SAMPLE_WAIT_MUTEX, 1,
		 "waits for a mutex that thread 99999 holds (pthread_mutex_lock), which"},
		{"pthread_mutex_lock", "'table'", NULL, SAMPLE_WAIT_MUTEX, 2,
		 "waits for mutex 'table' that it holds itself (pthread_mutex_lock)\n"},
		{"pthread_mutex_lock", "'table'", "thread 7 held it and has ended",
		 SAMPLE_WAIT_MUTEX, 0,
		 "waits for mutex 'table' (pthread_mutex_lock): thread 7 held it and has ended\n"},
		{"pthread_mutex_lock", "'table'", "process 4005 (lmp) holds it", SAMPLE_WAIT_MUTEX,
		 0,
		 "waits for mutex 'table' (pthread_mutex_lock): rank 5 (process 4005, lmp) holds "
		 "it\n"},
		/* What was read is not what it is. */
		{"pthread_rwlock_rdlock", "'table'", "thread 7 held it and has ended",
		 SAMPLE_WAIT_MUTEX, 0, "waits for rwlock 'table' (pthread_rwlock_rdlock)\n"},
		{"pthread_rwlock_wrlock", "'tree'", "2 readers hold it", SAMPLE_WAIT_READERS, 0,
		 "waits for rwlock 'tree' (pthread_rwlock_wrlock): 2 readers hold it\n"},
		{"pthread_cond_wait", "'ready'", NULL, SAMPLE_WAIT_OTHER, 0,
		 "waits on condition variable 'ready' (pthread_cond_wait), which no thread "
		 "holds\n"},
		{"sem_wait", NULL, "1 of 4 threads is there", SAMPLE_WAIT_OTHER, 0,
		 "waits on a semaphore (sem_wait), which no thread holds\n"},
		{"pthread_barrier_wait", "'both'", "1 of 4 threads is there", SAMPLE_WAIT_BARRIER,
		 0, "waits at barrier 'both' (pthread_barrier_wait): 1 of 4 threads is there\n"},
		{"fputs", "stdout", NULL, SAMPLE_WAIT_STREAM, 1,
		 "waits for the lock of stdout that thread 99999 holds"},
		{"fputs", NULL, NULL, SAMPLE_WAIT_STREAM, 1,
		 "waits for a lock of the C library that thread 99999 holds"},
		{"GOMP_critical_start", "critical section 'sum'", NULL, SAMPLE_WAIT_GOMP, 0,
		 "waits for OpenMP critical section 'sum' (GOMP_critical_start)\n"},
		{"omp_set_lock", "'lock'", NULL, SAMPLE_WAIT_GOMP, 0,
		 "waits for OpenMP lock 'lock' (omp_set_lock)\n"},
		{"gomp_mutex", NULL, NULL, SAMPLE_WAIT_GOMP, 0,
		 "waits for an OpenMP lock or critical section (gomp_mutex)\n"},
		{"gomp_mutex", "critical section 'sum'", NULL, SAMPLE_WAIT_GOMP, 0,
		 "waits for OpenMP critical section 'sum' (gomp_mutex)\n"},
		{"GOMP_barrier", "'x'", "3 of 4 threads are there", SAMPLE_WAIT_OTHER, 0,
		 "waits for others of its OpenMP team (GOMP_barrier): 3 of 4 threads are there\n"},
		{"acquire", "'spin'", "3 of 4 threads are there", SAMPLE_WAIT_OTHER, 0,
		 "sleeps in futex(), 'spin'\n"},
	};
	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
		const struct job *job = hung->view.job;
		struct sample *sample = (struct sample *)samples_find(job->samples, 3, 0);
		pid_t own = sample->tid;
		uint32_t path =
			callpaths_intern(job->callpaths, CALLPATH_NONE, MODULE_NONE, 0x7777, false);
		struct sample other = {
			.rank = 3, .tid = 99999, .path = path, .when_ns = sample->when_ns};

		hung->view.width = 250;
		names_set(
			job->names, path,
			&(struct name){
				.function = "update", .file = "a.c", .line = 7, .is_symbol = true});
		sample->path =
			callpaths_intern(job->callpaths, sample->path, MODULE_NONE, 0x8888, false);
		names_set(job->names, sample->path,
			  &(struct name){.function = cases[i].function, .is_symbol = true});
		sample->wait = (struct sample_wait){.kind = (uint8_t)cases[i].kind,
						    .tid = cases[i].tid == 1   ? other.tid
							   : cases[i].tid == 2 ? own
									       : 0};
		sample->blocked =
			blocked_create("futex", cases[i].object, NULL, cases[i].reason, NULL);
		samples_add(job->samples, &other);
		samples_sort(job->samples);
		view_lp(&hung->view);
		assert_contains(hung_text(hung), cases[i].text);
		hung_destroy(hung);
	}
}

/* Of a lock only the latest look counts, and that has found no more than a limit. */
static void test_lock_before(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct samples *samples = hung->view.job->samples;
	struct sample *sample = (struct sample *)samples_find(samples, 3, 0);
	struct sample before = *sample;
	const char *text;

	(void)state;
	sample->when_ns++;
	before.note = NULL;
	before.values = NULL;
	before.num_values = 0;
	before.queues = NULL;
	before.blocked = blocked_create("futex", "'table'", NULL, NULL, NULL);
	sample->blocked = blocked_create("futex", NULL, NULL, NULL, NULL);
	free(sample->blocked->call);
	sample->blocked->call = NULL;
	sample->blocked->limit = strdup("/dev/shm is full");
	samples_add(samples, &before);
	samples_sort(samples);
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "  rank 3: /dev/shm is full\n");
	assert_null(strstr(text, "'table'"));
	hung_destroy(hung);
}

static void test_evidence(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct verdict *verdict = &hung->verdict;
	const char *text;

	(void)state;
	hung->view.width = 250;
	verdict->is_hang = false;
	verdict->is_new_state = true;
	verdict->is_approximate = true;
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "not sure that this is a hang");
	assert_contains(text, "here for 72 s, for the first time; the longest stay elsewhere was "
			      "210 ms");
	assert_contains(text, "approximate: ");
	hung->view.is_script = true;
	view_lp(&hung->view);
	assert_contains(hung_text(hung), "not sure that this is a hang (exit status 0): ");
	hung->view.is_known_hang = true;
	view_lp(&hung->view);
	assert_null(strstr(hung_text(hung), "not sure"));
	hung->view.is_known_hang = false;
	hung->view.is_script = false;
	verdict->longest_before_ns = 0;
	verdict->kind = VERDICT_LEAST;
	set_ranks(&verdict->moving, "1");
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "here for 72 s, for the first time\n");
	assert_contains(text, "which need not be the cause");
	assert_contains(text, "1 of 8 ranks are making progress");
	verdict->kind = VERDICT_UNDECIDED;
	view_lp(&hung->view);
	assert_contains(hung_text(hung), "none is known to be behind the others");
	view_groups(&hung->view);
	assert_contains(hung_text(hung), "<- least progressed?");
	hung_destroy(hung);
}

/* Of the two ranks of a group the verdict names one. */
static void test_group_in_part(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct rankset *focus = NULL;
	uint32_t pair = 0;

	(void)state;
	while (!rankset_contains(hung->groups.groups[pair].ranks, 4))
		pair++;
	assert_int_equal(rankset_count(hung->groups.groups[pair].ranks), 2);
	assert_int_equal(hung->verdict.num_culprit_groups, 1);
	hung->verdict.culprit_groups[0] = pair;
	set_ranks(&hung->verdict.culprits, "4");
	hung->view.width = 250;
	hung->view.waitfor = NULL; /* by the order alone */

	view_groups(&hung->view);
	assert_contains(hung_text(hung), "<- culprit: 4\n");
	view_progress(&hung->view);
	assert_contains(hung_text(hung), "<- culprit: 4\n");
	hung_ask(hung, 2, view_why);
	assert_contains(hung_text(hung), "<- culprit: 4\n");
	view_graph(&hung->view);
	assert_contains(hung_text(hung), "1:[4] of 2:[2,4] MPI_Waitall  *");
	view_graph_dot(&hung->view);
	assert_contains(hung_text(hung), "1:[4] of 2:[2,4] MPI_Waitall");

	/* As far as ranks are in focus. */
	set_ranks(&focus, "4");
	hung->view.focus = focus;
	view_groups(&hung->view);
	assert_contains(hung_text(hung), "<- culprit\n");
	set_ranks(&focus, "2-3");
	hung->view.focus = focus;
	view_groups(&hung->view);
	assert_null(strstr(hung_text(hung), "culprit"));
	rankset_destroy(focus);
	hung_destroy(hung);
}

static void test_process_states(void **state)
{
	static const struct {
		char state;
		const char *text;
	} cases[] = {
		{'T',
		 "rank 3: process stopped by a signal (state T); \"kill -CONT 4003\" continues "
		 "it\n"},
		{'t', "rank 3: process held by a debugger (state t)"},
		{'Z', "rank 3: process ended, its parent has not collected it (state Z)"},
		{'D', "rank 3: process waiting inside the kernel"},
	};
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});

	(void)state;
	hung->view.width = 250;
	hung->verdict.kind = VERDICT_STOPPED;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		hung->job.samples->samples[3].state = cases[i].state;
		view_lp(&hung->view);
		assert_contains(hung_text(hung), cases[i].text);
	}
	hung->job.samples->samples[3].state = 'R';
	view_lp(&hung->view);
	assert_null(strstr(hung_text(hung), "process"));
	hung_destroy(hung);
}

/* gdb would be refused, and so is not offered. */
static void test_held(void **state)
{
	static const struct {
		char state;
		const char *note, *next;
	} cases[] = {
		{'t', NULL,
		 "next: rank 3 is held by a debugger on node: look there, or detach that and "
		 "\"refresh\"; \"why "},
		{'t',
		 "process 9 (lmp) cannot be stopped: it is already traced by pid 71 (gdb); detach "
		 "that first",
		 "next: rank 3 is held by pid 71 (gdb) on node: look there, or detach that"},
		/* strace lets it run. */
		{'R',
		 "process 9 (lmp) cannot be stopped: it is already traced by pid 72 (strace); "
		 "detach that first",
		 "next: rank 3 is held by pid 72 (strace) on node: look there"},
		{'R', "process 9 (lmp) cannot be stopped: the kernel refuses", "next: \"gdb 3\""},
	};
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct sample *sample = &hung->job.samples->samples[3];

	(void)state;
	hung->view.width = 250;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *text;

		free(sample->note);
		sample->note = cases[i].note ? xstrdup(cases[i].note) : NULL;
		sample->state = cases[i].state;
		view_lp(&hung->view);
		text = hung_text(hung);
		assert_contains(text, cases[i].next);
		assert_int_equal(strstr(text, "\"gdb 3\"") != NULL,
				 strstr(cases[i].next, "gdb 3") != NULL);
	}
	hung_destroy(hung);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_line),     cmocka_unit_test(test_brief),
		cmocka_unit_test(test_none),           cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_locks),          cmocka_unit_test(test_lock_before),
		cmocka_unit_test(test_evidence),       cmocka_unit_test(test_group_in_part),
		cmocka_unit_test(test_process_states), cmocka_unit_test(test_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
