/* SPDX-License-Identifier: BSD-3-Clause
 * What stands in the sampler's way, and that processes go on whatever happens to it. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "attach/process/procfs.h"
#include "tests/unit/sampler_fixture.h"

static void body_other_tracer(const void *argument, int ready)
{
	if (ptrace(PTRACE_SEIZE, *(const pid_t *)argument, 0, 0))
		_exit(1);
	stay_here(ready);
}

static size_t count_threads(pid_t pid)
{
	size_t num = 0;

	free(procfs_threads(pid, &num));
	return num;
}

/* As another pdb would, but until the sampler has made its thread and that has had the time to be
 * refused. */
static void body_short_tracer(const void *argument, int ready)
{
	pid_t pid = *(const pid_t *)argument;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0) || ptrace(PTRACE_INTERRUPT, pid, 0, 0) ||
	    waitpid(pid, NULL, __WALL) != pid)
		_exit(1);
	tell(ready);
	while (count_threads(getppid()) < 2)
		usleep(100);
	usleep(5000);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	while (!shared->is_ended)
		pause();
}

static void test_traced_for_a_moment(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(count_ticks, NULL), tracer;
	const struct sample *sample;

	tracer = start(body_short_tracer, &pid);
	sample = take(f, pid, 0);
	assert_whole(f, sample);
	/* No debugger holds it, or it could not have been sampled. */
	assert_int_not_equal(sample->state, 't');
	stop(tracer);
	stop(pid);
}

static void test_already_traced(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(count_ticks, NULL), tracer;
	struct sampler_target target = {.rank = 3, .pid = pid};
	struct pdb_error err;
	char expected[64];

	tracer = start(body_other_tracer, &pid);
	assert_int_equal(sampler_take(f->sampler, &target, 1, 0, f->samples, &err), -1);
	snprintf(expected, sizeof(expected), "already traced by pid %d (%.15s)", (int)tracer,
		 program_invocation_short_name);
	assert_error(&err, ERROR_PERMISSION, expected);
	assert_error(&err, ERROR_PERMISSION, "rank 3");
	assert_int_equal(f->samples->num_samples, 0);
	stop(tracer);
	assert_whole(f, take(f, pid, 0));
	stop(pid);
}

/* Have this process see a kernel with Yama. */
static int play_yama(char scope)
{
	static const char folder[] = "/proc/sys/kernel";
	FILE *file;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("yama", folder, "tmpfs", 0, NULL) || mkdir("/proc/sys/kernel/yama", 0755))
		return -1;
	file = fopen("/proc/sys/kernel/yama/ptrace_scope", "w");
	if (!file)
		return -1;
	fprintf(file, "%c\n", scope);
	return fclose(file);
}

static int become_nobody(void)
{
	return setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534);
}

/* Of the same user, and refused all the same. */
static void body_protected(const void *argument, int ready)
{
	(void)argument;
	if (become_nobody() || prctl(PR_SET_DUMPABLE, 0))
		_exit(1);
	stay_here(ready);
}

static void test_refused_by_yama(void **state)
{
	static const struct {
		char scope;
		const char *said, *advice;
	} cases[] = {
		{'1', "ptrace_scope is 1", "\"pdb run\""},
		{'2', "ptrace_scope is 2", "Run pdb as root"},
		{'3', "ptrace_scope is 3", "until the next boot"},
		{'0', "the kernel refuses", "not dumpable"},
	};
	struct fixture *f = *state;
	int status;
	size_t i;

	if (geteuid() != 0)
		skip(); /* takes a file system of its own and another user */
	for (i = 0; i < NUM_OF(cases); i++) {
		struct sampler_target target = {.rank = 3, .pid = start(body_protected, NULL)};
		struct pdb_error err;
		pid_t pid = fork();

		if (!pid) {
			if (play_yama(cases[i].scope) || become_nobody())
				_exit(77);
			if (!sampler_take(f->sampler, &target, 1, 0, f->samples, &err) ||
			    err.code != ERROR_PERMISSION)
				_exit(1);
			_exit(strstr(err.text, cases[i].said) && strstr(err.text, cases[i].advice)
				      ? 0
				      : 2);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		stop(target.pid);
		if (WEXITSTATUS(status) == 77)
			skip(); /* in a container that allows no mounts */
		assert_int_equal(status, 0);
	}
}

static void test_vanished_among_others(void **state)
{
	struct fixture *f = *state;
	pid_t dead = start(body_deep, NULL), alive = start(body_deep, NULL);
	struct sampler_target targets[3] = {{0, dead, 0}, {1, alive, 0}, {2, dead, 0}};
	struct pdb_error err;

	stop(dead);
	assert_int_equal(sampler_take(f->sampler, targets, 3, 0, f->samples, &err), 0);
	assert_int_equal(f->samples->num_samples, 3);
	assert_int_equal(samples_find(f->samples, 0, 0)->status, SAMPLE_FAILED);
	assert_non_null(strstr(samples_find(f->samples, 0, 0)->note, "has ended"));
	assert_int_equal(samples_find(f->samples, 2, 0)->path, CALLPATH_NONE);
	assert_whole(f, samples_find(f->samples, 1, 0));
	stop(alive);
}

static void *stay(void *argument)
{
	stay_here(*(const int *)argument);
	return NULL;
}

static void body_main_ends(const void *argument, int ready)
{
	pthread_t thread;

	(void)argument;
	pthread_create(&thread, NULL, stay, &ready);
	pthread_exit(NULL);
}

/* It is not said to have ended, and the other thread is looked at. */
static void test_main_thread_gone(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_main_ends, NULL);
	struct sampler_target target = {.pid = pid};
	const struct sample *main_thread, *other;
	struct procfs_stat stat;
	struct pdb_error err;

	wait_for_state(pid, 'Z');
	assert_false(procfs_has_ended(pid, 0));
	assert_int_equal(procfs_look(pid, 0, &stat, &err), -1);
	assert_error(&err, ERROR_UNSUPPORTED, "its main thread has ended, 1 other lives on");
	assert_int_equal(
		sampler_take(f->sampler, &target, 1, SAMPLER_ALL_THREADS, f->samples, &err), 0);
	assert_int_equal(f->samples->num_samples, 2);
	main_thread = &f->samples->samples[0];
	other = &f->samples->samples[1];
	assert_int_equal(main_thread->status, SAMPLE_FAILED);
	assert_non_null(strstr(main_thread->note, "its main thread has ended"));
	assert_int_not_equal(other->tid, pid);
	assert_int_not_equal(other->status, SAMPLE_FAILED);
	assert_true(other->path != CALLPATH_NONE);
	stop(pid);
	assert_true(procfs_has_ended(pid, 0));
}

/* pdb has no descriptor left: that is said, and not that others have ended. */
static void test_no_descriptors(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_deep, NULL);
	struct rlimit before, none;
	struct pdb_error err;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_false(procfs_has_ended(pid, 0));
	assert_int_equal(procfs_check_tracer(pid, "be debugged", &err), -1);
	assert_error(&err, ERROR_SYSTEM, "raise \"ulimit -n\", which is 0");
	assert_int_equal(procfs_explain(pid, EPERM, "be sampled", &err), -1);
	assert_error(&err, ERROR_SYSTEM, "raise \"ulimit -n\"");
	take(f, pid, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_non_null(strstr(f->samples->samples[0].note, "raise \"ulimit -n\""));
	stop(pid);
}

/* A process that is not the one that was meant, though it has its pid. */
static void test_reused_pid(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_deep, NULL);
	struct sampler_target target = {.rank = 3, .pid = pid};
	struct procfs_stat stat;
	struct pdb_error err;

	assert_int_equal(procfs_stat(pid, 0, &stat), 0);
	target.start_ticks = stat.start_ticks - 1;
	assert_int_equal(sampler_take(f->sampler, &target, 1, 0, f->samples, &err), 0);
	assert_int_equal(f->samples->num_samples, 1);
	assert_int_equal(samples_find(f->samples, 3, 0)->status, SAMPLE_FAILED);
	assert_non_null(strstr(samples_find(f->samples, 3, 0)->note, "has ended"));
	target.start_ticks++;
	assert_int_equal(sampler_take(f->sampler, &target, 1, 0, f->samples, &err), 0);
	assert_whole(f, &f->samples->samples[1]);
	stop(pid);
}

static void nap(long ns)
{
	struct timespec pause = {0, ns};

	nanosleep(&pause, NULL);
}

static void *kill_soon(void *argument)
{
	pid_t *pid = argument;

	nap(rand() % 200000);
	kill(*pid, SIGKILL);
	return NULL;
}

static void test_killed_in_the_middle(void **state)
{
	struct fixture *f = *state;
	int i;

	for (i = 0; i < 50; i++) {
		pid_t pid = start(count_ticks, NULL);
		const struct sample *sample;
		pthread_t killer;

		pthread_create(&killer, NULL, kill_soon, &pid);
		sample = take(f, pid, 0);
		if (sample->status == SAMPLE_FAILED)
			assert_non_null(strstr(sample->note, "has ended"));
		else
			assert_true(sample->path != CALLPATH_NONE);
		pthread_join(killer, NULL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
}

static void count_signal(int number)
{
	(void)number;
	atomic_fetch_add(&shared->num_signals, 1);
}

static void body_signals(const void *argument, int ready)
{
	struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};

	sigaction(SIGRTMIN, &action, NULL);
	count_ticks(argument, ready);
}

static void test_signals_are_delivered(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_signals, NULL);
	int i;

	for (i = 0; i < 200; i++) {
		union sigval value = {.sival_int = i};

		assert_int_equal(sigqueue(pid, SIGRTMIN, value), 0);
		if (i % 4 == 0)
			take(f, pid, 0);
	}
	for (i = 0; i < 50000 && shared->num_signals < 200; i++)
		nap(100000);
	assert_int_equal(shared->num_signals, 200);
	stop(pid);
}

static void sample_for_ever(struct fixture *f, const struct sampler_target *targets, size_t num)
{
	for (;;)
		sampler_take(f->sampler, targets, num, 0, f->samples, NULL);
}

static void test_sampler_killed_at_any_moment(void **state)
{
	struct fixture *f = *state;
	struct sampler_target targets[2];
	int i, k;

	targets[0] = (struct sampler_target){0, start(count_ticks, NULL), 0};
	targets[1] = (struct sampler_target){1, start(body_deep, NULL), 0};
	for (i = 0; i < 100; i++) {
		pid_t sampler = fork();
		uint64_t ticks;

		if (!sampler) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			sample_for_ever(f, targets, 2);
		}
		nap(rand() % 3000000);
		stop(sampler);
		for (k = 0; k < 2; k++)
			assert_int_equal(tracer_of(targets[k].pid), 0);
		wait_for_state(targets[1].pid, 'S');
		ticks = shared->ticks;
		for (k = 0; k < 50000 && shared->ticks == ticks; k++)
			nap(100000);
		assert_true(shared->ticks > ticks);
	}
	stop(targets[0].pid);
	stop(targets[1].pid);
}

/* Ctrl-Z while stacks are looked at: pdb stands still, and nobody else does. */
static void test_sampler_suspended_at_any_moment(void **state)
{
	struct fixture *f = *state;
	struct sampler_target target = {.pid = start(body_deep, NULL)};
	pid_t sampler = fork();
	int i, status;

	if (!sampler) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0); /* stop signals do nothing in a group that no shell cares for */
		sample_for_ever(f, &target, 1);
	}
	setpgid(sampler, sampler);
	for (i = 0; i < 200; i++) {
		nap(rand() % 1000000);
		assert_int_equal(kill(sampler, SIGTSTP), 0);
		assert_int_equal(waitpid(sampler, &status, WUNTRACED), sampler);
		assert_true(WIFSTOPPED(status));
		assert_int_equal(tracer_of(target.pid), 0);
		assert_int_equal(kill(sampler, SIGCONT), 0);
	}
	stop(sampler);
	stop(target.pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_traced_for_a_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_already_traced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_by_yama, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vanished_among_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_main_thread_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reused_pid, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_in_the_middle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signals_are_delivered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sampler_killed_at_any_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sampler_suspended_at_any_moment, setup,
						teardown),
	};

	if (!share_memory())
		return 1;
	srand(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
