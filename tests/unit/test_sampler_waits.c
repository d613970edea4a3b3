/* SPDX-License-Identifier: BSD-3-Clause
 * Children whose main thread waits for another of their threads: for which one, and how. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "analysis/evidence/thread_wait.h"
#include "model/job/blocked.h"
#include "model/job/job.h"
#include "tests/unit/sampler_fixture.h"

/* ---- Children ---- */

static pthread_barrier_t both;
static pthread_mutex_t mutex, second;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

KEEP_FRAME static void *hold(void *argument)
{
	if (argument == &rwlock)
		pthread_rwlock_wrlock(&rwlock);
	else if (argument == &mutex)
		pthread_mutex_lock(&mutex);
	else if (argument == stderr)
		flockfile(stderr);
	pthread_barrier_wait(&both);
	for (;;)
		pause();
	return argument;
}

static pthread_t start_holder(void *what)
{
	pthread_t thread;

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, hold, what);
	pthread_barrier_wait(&both);
	return thread;
}

static void body_join(const void *argument, int ready)
{
	pthread_t holder = start_holder(NULL);
	struct timespec until = {.tv_sec = time(NULL) + 3600};

	tell(ready);
	if (argument)
		pthread_timedjoin_np(holder, NULL, &until);
	else
		pthread_join(holder, NULL);
}

struct mutex_kind {
	int type, protocol, robust, shared;
};

static void init_mutex(const struct mutex_kind *kind)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, kind->type);
	pthread_mutexattr_setprotocol(&attributes, kind->protocol);
	pthread_mutexattr_setrobust(&attributes, kind->robust);
	pthread_mutexattr_setpshared(&attributes, kind->shared);
	pthread_mutex_init(&mutex, &attributes);
}

static void body_mutex(const void *argument, int ready)
{
	init_mutex(argument);
	start_holder(&mutex);
	tell(ready);
	pthread_mutex_lock(&mutex);
}

static void body_timed_mutex(const void *argument, int ready)
{
	struct timespec until = {.tv_sec = time(NULL) + 3600};

	init_mutex(argument);
	start_holder(&mutex);
	tell(ready);
	pthread_mutex_timedlock(&mutex, &until);
}

static void body_read_lock(const void *argument, int ready)
{
	(void)argument;
	start_holder(&rwlock);
	tell(ready);
	pthread_rwlock_rdlock(&rwlock);
}

static void body_write_lock(const void *argument, int ready)
{
	(void)argument;
	start_holder(&rwlock);
	tell(ready);
	pthread_rwlock_wrlock(&rwlock);
}

static void body_readers(const void *argument, int ready)
{
	(void)argument;
	pthread_rwlock_rdlock(&rwlock);
	start_holder(NULL);
	tell(ready);
	pthread_rwlock_wrlock(&rwlock);
}

static void body_stream(const void *argument, int ready)
{
	(void)argument;
	start_holder(stderr);
	tell(ready);
	fflush(stderr);
}

static void *hold_and_end(void *argument)
{
	pthread_mutex_lock(&mutex);
	return argument;
}

static void body_ended(const void *argument, int ready)
{
	pthread_t thread;

	start_holder(NULL);
	pthread_create(&thread, NULL, hold_and_end, (void *)argument);
	pthread_join(thread, NULL);
	tell(ready);
	pthread_mutex_lock(&mutex);
}

static void body_condition(const void *argument, int ready)
{
	(void)argument;
	start_holder(NULL);
	pthread_mutex_lock(&mutex);
	tell(ready);
	pthread_cond_wait(&condition, &mutex);
}

static void body_semaphore(const void *argument, int ready)
{
	(void)argument;
	start_holder(NULL);
	tell(ready);
	sem_wait(&semaphore);
}

static void body_barrier(const void *argument, int ready)
{
	(void)argument;
	start_holder(NULL);
	tell(ready);
	pthread_barrier_wait(&both);
}

KEEP_FRAME static void on_alarm(int number)
{
	(void)number;
	pthread_mutex_lock(&mutex);
	IS_USED_AFTER_CALL();
}

KEEP_FRAME static void update(int ready)
{
	pthread_mutex_lock(&mutex);
	tell(ready);
	raise(SIGALRM);
	IS_USED_AFTER_CALL();
}

static void body_own(const void *argument, int ready)
{
	(void)argument;
	signal(SIGALRM, on_alarm);
	update(ready);
}

/* Waits for the holder of the mutex. */
KEEP_FRAME static void *in_between(void *argument)
{
	pthread_mutex_lock(&second);
	pthread_barrier_wait(argument);
	pthread_mutex_lock(&mutex);
	return argument;
}

static void body_chain(const void *argument, int ready)
{
	pthread_barrier_t started;
	pthread_t thread;

	(void)argument;
	start_holder(&mutex);
	pthread_barrier_init(&started, NULL, 2);
	pthread_create(&thread, NULL, in_between, &started);
	pthread_barrier_wait(&started);
	tell(ready);
	pthread_mutex_lock(&second);
}

static void body_circle(const void *argument, int ready)
{
	pthread_barrier_t started;
	pthread_t thread;

	(void)argument;
	pthread_mutex_lock(&mutex);
	pthread_barrier_init(&started, NULL, 2);
	pthread_create(&thread, NULL, in_between, &started);
	pthread_barrier_wait(&started);
	tell(ready);
	pthread_mutex_lock(&second);
}

/* ---- Looking ---- */

static struct job job_of(const struct fixture *f)
{
	return (struct job){.modules = f->modules,
			    .callpaths = f->callpaths,
			    .names = f->names,
			    .samples = f->samples};
}

static size_t count_waiting(const struct fixture *f)
{
	size_t num = 0;

	for (size_t i = 0; i < f->samples->num_samples; i++)
		num += f->samples->samples[i].wait.kind != SAMPLE_WAIT_NONE;
	return num;
}

/* The main thread, once so many threads wait; others that were looked at are in f->samples, too. */
static const struct sample *take_waiting(struct fixture *f, pid_t pid, size_t num)
{
	for (int i = 0; i < 20000; i++) {
		samples_destroy(f->samples);
		f->samples = samples_create();
		take(f, pid, SAMPLER_AWAITED | SAMPLER_BLOCKED);
		if (count_waiting(f) == num)
			return samples_find(f->samples, 5, 0);
		usleep(100);
	}
	fail_msg("process %d: %zu threads wait", (int)pid, count_waiting(f));
	return NULL;
}

static bool is_in(const struct fixture *f, const struct sample *sample, const char *function)
{
	uint32_t path = sample->path;

	for (; path != CALLPATH_NONE; path = callpaths_get(f->callpaths, path)->parent)
		if (!strcmp(names_get(f->names, path)->function, function))
			return true;
	return false;
}

/* ---- Tests ---- */

static const struct mutex_kind kinds[] = {
	{.type = PTHREAD_MUTEX_NORMAL},
	{.type = PTHREAD_MUTEX_RECURSIVE},
	{.type = PTHREAD_MUTEX_ERRORCHECK},
	{.type = PTHREAD_MUTEX_ADAPTIVE_NP},
	{.protocol = PTHREAD_PRIO_INHERIT},
	{.type = PTHREAD_MUTEX_RECURSIVE, .protocol = PTHREAD_PRIO_INHERIT},
	{.robust = PTHREAD_MUTEX_ROBUST},
	{.shared = PTHREAD_PROCESS_SHARED},
};

/* Numbers of threads are not known before. */
static void check_lock(const struct blocked *of, const char *lock, const char *reason)
{
	char text[64];
	const char *number = of && of->reason ? strpbrk(of->reason, "0123456789") : NULL;

	assert_int_equal(of != NULL, lock != NULL);
	if (!of)
		return;
	assert_true(blocked_is_lock(of));
	assert_string_equal(of->object, lock);
	if (number && strstr(reason, "NUMBER")) {
		snprintf(text, sizeof(text), "%.*sNUMBER%s", (int)(number - of->reason), of->reason,
			 number + strspn(number, "0123456789"));
		assert_string_equal(text, reason);
	} else {
		assert_string_equal(of->reason ? of->reason : "", reason ? reason : "");
	}
}

static void test_thread(void **state)
{
	static const struct {
		void (*body)(const void *argument, int ready);
		const void *argument;
		enum thread_wait_kind kind;
		bool has_thread;
		const char *function;
		const char *lock, *reason; /* of struct blocked */
	} table[] = {
		{body_join, NULL, THREAD_WAIT_JOIN, true, "pthread_join", NULL, NULL},
		{body_join, kinds, THREAD_WAIT_JOIN, true, "pthread_join", NULL, NULL},
		{body_mutex, &kinds[0], THREAD_WAIT_LOCK, true, "pthread_mutex_lock", "'mutex'",
		 NULL},
		{body_mutex, &kinds[1], THREAD_WAIT_LOCK, true, "pthread_mutex_lock", "'mutex'",
		 NULL},
		{body_mutex, &kinds[2], THREAD_WAIT_LOCK, true, "pthread_mutex_lock", "'mutex'",
		 NULL},
		{body_mutex, &kinds[3], THREAD_WAIT_LOCK, true, "pthread_mutex_lock", "'mutex'",
		 NULL},
		{body_mutex, &kinds[4], THREAD_WAIT_LOCK, true, "pthread_mutex_lock", "'mutex'",
		 NULL},
		{body_mutex, &kinds[5], THREAD_WAIT_LOCK, true, "pthread_mutex_lock", "'mutex'",
		 NULL},
		{body_mutex, &kinds[6], THREAD_WAIT_LOCK, true, "pthread_mutex_lock", "'mutex'",
		 NULL},
		{body_mutex, &kinds[7], THREAD_WAIT_LOCK, true, "pthread_mutex_lock", "'mutex'",
		 NULL},
		{body_timed_mutex, &kinds[0], THREAD_WAIT_LOCK, true, "pthread_mutex_lock",
		 "'mutex'", NULL},
		{body_read_lock, NULL, THREAD_WAIT_LOCK, true, "pthread_rwlock_rdlock", "'rwlock'",
		 NULL},
		{body_write_lock, NULL, THREAD_WAIT_LOCK, true, "pthread_rwlock_wrlock", "'rwlock'",
		 NULL},
		{body_readers, NULL, THREAD_WAIT_LOCK, false, "pthread_rwlock_wrlock", "'rwlock'",
		 "a reader holds it"},
		{body_stream, NULL, THREAD_WAIT_LOCK, true, "fflush", "stderr", NULL},
		{body_ended, NULL, THREAD_WAIT_LOCK, false, "pthread_mutex_lock", "'mutex'",
		 "thread NUMBER held it and has ended"},
		{body_condition, NULL, THREAD_WAIT_CONDITION, false, "pthread_cond_wait",
		 "'condition'", NULL},
		{body_semaphore, NULL, THREAD_WAIT_CONDITION, false, "sem_wait", "'semaphore'",
		 NULL},
		{body_barrier, NULL, THREAD_WAIT_CONDITION, false, "pthread_barrier_wait", "'both'",
		 "1 of 2 threads is there"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < NUM_OF(table); i++) {
		pid_t pid = start(table[i].body, table[i].argument);

		/* A call with a time limit is another one from the second stop on. */
		for (int times = 0; times < 3; times++) {
			const struct sample *sample = take_waiting(f, pid, 1), *next;
			struct job job = job_of(f);
			struct thread_wait wait = thread_wait_of(&job, sample);

			if (wait.kind != table[i].kind || !wait.tid != !table[i].has_thread ||
			    !wait.function ||
			    (table[i].function && strcmp(wait.function, table[i].function) != 0))
				fail_msg("%s, entry %zu: kind %d, thread %d, %s", table[i].function,
					 i, wait.kind, (int)wait.tid,
					 wait.function ? wait.function : "-");
			assert_false(wait.is_own);
			check_lock(sample->blocked, table[i].lock, table[i].reason);
			assert_int_equal(wait.is_timed,
					 table[i].argument && (table[i].body == body_join ||
							       table[i].body == body_timed_mutex));
			assert_int_equal(wait.interrupted, CALLPATH_NONE);
			assert_int_equal(f->samples->num_samples, 1 + table[i].has_thread);
			next = thread_wait_next(&job, sample, &wait);
			assert_int_equal(next != NULL, table[i].has_thread);
			assert_true(!next || (!next->is_main && is_in(f, next, "hold")));
			assert_true(thread_wait_is_for_threads(&wait));
		}
		stop(pid);
	}
}

static void test_own_lock_in_handler(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_own, NULL);
	const struct sample *sample = take_waiting(f, pid, 1);
	struct job job = job_of(f);
	struct thread_wait wait = thread_wait_of(&job, sample);

	assert_int_equal(wait.kind, THREAD_WAIT_LOCK);
	assert_true(wait.is_own);
	assert_int_equal(wait.tid, pid);
	assert_null(thread_wait_next(&job, sample, &wait));
	assert_false(thread_wait_is_for_threads(&wait));
	assert_string_equal(names_get(f->names, wait.caller)->function, "on_alarm");
	assert_true(wait.interrupted != CALLPATH_NONE);
	assert_int_equal(f->samples->num_samples, 1);
	stop(pid);
}

/* Who is waited for may wait, too. */
static void test_chain(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_chain, NULL);
	const struct sample *sample = take_waiting(f, pid, 2);
	struct job job = job_of(f);
	struct thread_wait wait = thread_wait_of(&job, sample);

	assert_int_equal(f->samples->num_samples, 3);
	sample = thread_wait_next(&job, sample, &wait);
	assert_true(is_in(f, sample, "in_between"));
	wait = thread_wait_of(&job, sample);
	assert_int_equal(wait.kind, THREAD_WAIT_LOCK);
	assert_true(is_in(f, thread_wait_next(&job, sample, &wait), "hold"));
	/* All are there once when all are asked for. */
	samples_destroy(f->samples);
	f->samples = samples_create();
	take(f, pid, SAMPLER_AWAITED | SAMPLER_ALL_THREADS);
	assert_int_equal(f->samples->num_samples, 3);
	samples_destroy(f->samples);
	f->samples = samples_create();
	take(f, pid, 0);
	assert_int_equal(f->samples->num_samples, 1);
	stop(pid);
}

static void test_circle(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_circle, NULL);
	const struct sample *sample = take_waiting(f, pid, 2), *other;
	struct job job = job_of(f);
	struct thread_wait wait = thread_wait_of(&job, sample);

	assert_int_equal(f->samples->num_samples, 2);
	other = thread_wait_next(&job, sample, &wait);
	wait = thread_wait_of(&job, other);
	assert_ptr_equal(thread_wait_next(&job, other, &wait), sample);
	stop(pid);
}

/* What is read is only as good as what the stack says it is. */
static void test_names_decide(void **state)
{
	static const struct {
		enum sample_wait_kind read;
		enum thread_wait_kind by_name, kind;
	} table[] = {
		{SAMPLE_WAIT_NONE, THREAD_WAIT_LOCK, THREAD_WAIT_NONE},
		{SAMPLE_WAIT_JOIN, THREAD_WAIT_JOIN, THREAD_WAIT_JOIN},
		{SAMPLE_WAIT_JOIN, THREAD_WAIT_NONE, THREAD_WAIT_JOIN},
		{SAMPLE_WAIT_JOIN, THREAD_WAIT_REGION, THREAD_WAIT_REGION},
		{SAMPLE_WAIT_OWNED, THREAD_WAIT_NONE, THREAD_WAIT_FUTEX},
		{SAMPLE_WAIT_MUTEX, THREAD_WAIT_LOCK, THREAD_WAIT_LOCK},
		{SAMPLE_WAIT_MUTEX, THREAD_WAIT_NONE, THREAD_WAIT_FUTEX},
		{SAMPLE_WAIT_MUTEX, THREAD_WAIT_CONDITION, THREAD_WAIT_CONDITION},
		{SAMPLE_WAIT_RWLOCK, THREAD_WAIT_NONE, THREAD_WAIT_FUTEX},
		{SAMPLE_WAIT_STREAM, THREAD_WAIT_NONE, THREAD_WAIT_LOCK},
		{SAMPLE_WAIT_READERS, THREAD_WAIT_NONE, THREAD_WAIT_FUTEX},
		{SAMPLE_WAIT_GOMP, THREAD_WAIT_REGION, THREAD_WAIT_REGION},
		{SAMPLE_WAIT_OTHER, THREAD_WAIT_CONDITION, THREAD_WAIT_CONDITION},
		{SAMPLE_WAIT_OTHER, THREAD_WAIT_NONE, THREAD_WAIT_FUTEX},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++)
		assert_int_equal(thread_wait_judge(table[i].read, table[i].by_name), table[i].kind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_lock_in_handler, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_circle, setup, teardown),
		cmocka_unit_test(test_names_decide),
	};

	if (!share_memory())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
