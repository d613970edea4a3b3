/* SPDX-License-Identifier: BSD-3-Clause
 * What a thread waits for by its stack, and who likely holds that. */

#include "analysis/evidence/thread_wait.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/sample.h"
#include "tests/unit/unit.h"

enum { OWN = 100 };

/* "libc.so.6:malloc" and so on, from the innermost on; "signal" is its border. */
static uint32_t path_of(struct job *job, const char *text)
{
	char copy[512], *frames[16], *save = NULL;
	uint32_t path = CALLPATH_NONE;
	size_t num = 0;

	assert_true(strlen(text) < sizeof(copy));
	strcpy(copy, text);
	for (char *at = strtok_r(copy, " ", &save); at; at = strtok_r(NULL, " ", &save))
		frames[num++] = at;
	while (num-- > 0) {
		char *colon = strchr(frames[num], ':'), library[64] = "/app";
		static uint64_t offset;
		uint32_t module;

		if (colon)
			snprintf(library, sizeof(library), "/lib/%.*s", (int)(colon - frames[num]),
				 frames[num]);
		if (!strcmp(frames[num], "signal"))
			strcpy(library, MODULES_SIGNAL);
		module = modules_intern(job->modules, library, NULL, 0);
		path = callpaths_intern(job->callpaths, path, module, ++offset, true);
		if (!colon || colon[1])
			names_set(job->names, path,
				  &(struct name){.function = colon ? colon + 1 : frames[num],
						 .is_symbol = true});
	}
	return path;
}

static void add(struct job *job, pid_t tid, const char *stack, enum sample_wait_kind kind,
		pid_t awaited)
{
	struct sample sample = {
		.tid = tid,
		.is_main = tid == OWN,
		.state = 'S',
		.path = path_of(job, stack),
		.wait = {.kind = (uint8_t)kind, .tid = awaited},
	};

	samples_add(job->samples, &sample);
}

static void test_what(void **state)
{
	static const struct {
		const char *stack;
		enum sample_wait_kind read;
		pid_t tid;
		enum thread_wait_kind kind;
		enum thread_wait_what what;
		bool has_tid;
		const char *function;
	} table[] = {
		{"libc.so.6:__lll_lock_wait libc.so.6:pthread_mutex_lock work", SAMPLE_WAIT_MUTEX,
		 101, THREAD_WAIT_LOCK, THREAD_WAIT_ON_MUTEX, true, "pthread_mutex_lock"},
		{"libc.so.6:__lll_lock_wait libc.so.6:pthread_mutex_lock work", SAMPLE_WAIT_MUTEX,
		 0, THREAD_WAIT_LOCK, THREAD_WAIT_ON_MUTEX, false, "pthread_mutex_lock"},
		/* A rwlock that looks like a mutex. */
		{"libc.so.6:pthread_rwlock_wrlock work", SAMPLE_WAIT_MUTEX, 101, THREAD_WAIT_LOCK,
		 THREAD_WAIT_ON_RWLOCK, false, "pthread_rwlock_wrlock"},
		{"libc.so.6:pthread_rwlock_wrlock work", SAMPLE_WAIT_READERS, 0, THREAD_WAIT_LOCK,
		 THREAD_WAIT_ON_RWLOCK, false, "pthread_rwlock_wrlock"},
		{"libc.so.6: libc.so.6:fputs work", SAMPLE_WAIT_STREAM, 101, THREAD_WAIT_LOCK,
		 THREAD_WAIT_ON_STREAM, true, "fputs"},
		{"libc.so.6: libc.so.6: work", SAMPLE_WAIT_STREAM, 101, THREAD_WAIT_LOCK,
		 THREAD_WAIT_ON_STREAM, true, NULL},
		{"libc.so.6: libc.so.6: libc.so.6:malloc work", SAMPLE_WAIT_OTHER, 0,
		 THREAD_WAIT_FUTEX, THREAD_WAIT_ON_HEAP, false, "malloc"},
		{"libc.so.6: libc.so.6:__libc_calloc work", SAMPLE_WAIT_OTHER, 0, THREAD_WAIT_FUTEX,
		 THREAD_WAIT_ON_HEAP, false, "__libc_calloc"},
		/* The program's own. */
		{"malloc work", SAMPLE_WAIT_OTHER, 0, THREAD_WAIT_FUTEX, THREAD_WAIT_ON_NOTHING,
		 false, NULL},
		{"libc.so.6:freehostent work", SAMPLE_WAIT_OTHER, 0, THREAD_WAIT_FUTEX,
		 THREAD_WAIT_ON_NOTHING, false, NULL},
		{"libc.so.6: libc.so.6:sem_wait work", SAMPLE_WAIT_OTHER, 0, THREAD_WAIT_CONDITION,
		 THREAD_WAIT_ON_SEMAPHORE, false, "sem_wait"},
		{"libgomp.so.1: libgomp.so.1:GOMP_critical_name_start work", SAMPLE_WAIT_GOMP, 0,
		 THREAD_WAIT_REGION, THREAD_WAIT_ON_CRITICAL, false, "GOMP_critical_name_start"},
		{"libgomp.so.1: work", SAMPLE_WAIT_GOMP, 0, THREAD_WAIT_REGION,
		 THREAD_WAIT_ON_GOMP_LOCK, false, NULL},
		{"libgomp.so.1: work", SAMPLE_WAIT_OTHER, 0, THREAD_WAIT_REGION,
		 THREAD_WAIT_ON_TEAM, false, NULL},
		/* LLVM's waits on a condition variable, and spins. */
		{"libc.so.6:pthread_cond_wait libomp.so.5: libomp.so.5:__kmpc_barrier work",
		 SAMPLE_WAIT_OTHER, 0, THREAD_WAIT_REGION, THREAD_WAIT_ON_TEAM, false,
		 "__kmpc_barrier"},
		{"libc.so.6:sched_yield libomp.so.5: libomp.so.5:__kmpc_critical work",
		 SAMPLE_WAIT_NONE, 0, THREAD_WAIT_NONE, THREAD_WAIT_ON_CRITICAL, false,
		 "__kmpc_critical"},
		{"libc.so.6:sched_yield libomp.so.5: libomp.so.5:__kmpc_barrier work",
		 SAMPLE_WAIT_NONE, 0, THREAD_WAIT_NONE, THREAD_WAIT_ON_NOTHING, false, NULL},
		{"libc.so.6:read work libomp.so.5:__kmpc_critical work", SAMPLE_WAIT_NONE, 0,
		 THREAD_WAIT_NONE, THREAD_WAIT_ON_NOTHING, false, NULL},
		/* The program's own, and what only looks so. */
		{"work", SAMPLE_WAIT_GOMP, 0, THREAD_WAIT_FUTEX, THREAD_WAIT_ON_NOTHING, false,
		 NULL},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct job *job = job_create();
		struct thread_wait wait;

		add(job, OWN, table[i].stack, table[i].read, table[i].tid);
		wait = thread_wait_of(job, &job->samples->samples[0]);
		if (wait.kind != table[i].kind || wait.what != table[i].what ||
		    !wait.tid != !table[i].has_tid || !wait.function != !table[i].function ||
		    (wait.function && strcmp(wait.function, table[i].function) != 0))
			fail_msg("case %zu: kind %d, what %d, thread %d, %s", i, wait.kind,
				 wait.what, (int)wait.tid, wait.function ? wait.function : "-");
		job_destroy(job);
	}
}

#define MALLOC "libc.so.6: libc.so.6:malloc work"
#define CRITICAL "libgomp.so.1: libgomp.so.1:GOMP_critical_start region"
#define IN_TEAM " libgomp.so.1: libc.so.6:clone"

static void test_likely(void **state)
{
	static const struct {
		const char *stack;
		enum sample_wait_kind kind;
		const char *others[3];
		enum sample_wait_kind kinds[3];
		pid_t likely; /* OWN + 1 + index; 0: none */
	} table[] = {
		{MALLOC, SAMPLE_WAIT_OTHER, {"libc.so.6:munmap libc.so.6:free tidy"}, {0}, 101},
		{MALLOC, SAMPLE_WAIT_OTHER, {MALLOC}, {SAMPLE_WAIT_OTHER}, 0},
		{MALLOC, SAMPLE_WAIT_OTHER, {MALLOC, MALLOC}, {SAMPLE_WAIT_OTHER, 0}, 102},
		{MALLOC, SAMPLE_WAIT_OTHER, {MALLOC, MALLOC}, {0, 0}, 0},
		{MALLOC, SAMPLE_WAIT_OTHER, {"libc.so.6:read tidy"}, {0}, 0},
		{MALLOC, SAMPLE_WAIT_OTHER, {"libc.so.6:read hook libc.so.6:free tidy"}, {0}, 0},
		/* The code that a signal's handler has interrupted. */
		{"libc.so.6: libc.so.6:malloc on_alarm signal libc.so.6: libc.so.6:free work",
		 SAMPLE_WAIT_OTHER,
		 {"libc.so.6:read tidy"},
		 {0},
		 OWN},
		{"libc.so.6: libc.so.6:malloc on_alarm signal work",
		 SAMPLE_WAIT_OTHER,
		 {"libc.so.6:read tidy"},
		 {0},
		 0},
		{CRITICAL,
		 SAMPLE_WAIT_GOMP,
		 {"libc.so.6:nanosleep region" IN_TEAM, "libgomp.so.1: region" IN_TEAM},
		 {0, SAMPLE_WAIT_OTHER},
		 101},
		{CRITICAL,
		 SAMPLE_WAIT_GOMP,
		 {"region" IN_TEAM, "libgomp.so.1:GOMP_critical_start region" IN_TEAM},
		 {0, 0},
		 101},
		{CRITICAL, SAMPLE_WAIT_GOMP, {"region" IN_TEAM, "region" IN_TEAM}, {0, 0}, 0},
		/* Of no team. */
		{CRITICAL, SAMPLE_WAIT_GOMP, {"libc.so.6:read helper"}, {0}, 0},
		/* One whose stack is not known may be it. */
		{CRITICAL, SAMPLE_WAIT_GOMP, {"region" IN_TEAM, ""}, {0}, 0},
		/* Who holds it is known. */
		{"libc.so.6:pthread_mutex_lock region",
		 SAMPLE_WAIT_MUTEX,
		 {"region" IN_TEAM},
		 {0},
		 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct job *job = job_create();
		const struct sample *own, *likely;
		struct thread_wait wait;

		add(job, OWN, table[i].stack, table[i].kind,
		    table[i].kind == SAMPLE_WAIT_MUTEX ? 101 : 0);
		for (int t = 0; t < 3 && table[i].others[t]; t++)
			add(job, OWN + 1 + t, table[i].others[t], table[i].kinds[t], 0);
		own = &job->samples->samples[0];
		wait = thread_wait_of(job, own);
		likely = thread_wait_likely(job, own, &wait);
		if ((likely ? likely->tid : 0) != table[i].likely)
			fail_msg("case %zu: %d", i, likely ? (int)likely->tid : 0);
		job_destroy(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what),
		cmocka_unit_test(test_likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
