/* SPDX-License-Identifier: BSD-3-Clause
 * Stack samples of processes of our own, each in one awkward position. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/procfs.h"
#include "attach/sampler.h"
#include "attach/symbols.h"
#include "model/callpath.h"
#include "model/modules.h"
#include "model/names.h"
#include "model/sample.h"
#include "tests/unit/unit.h"

#define DEPTH 300
#define KEEP_FRAME __attribute__((noinline, noclone))
/* Keeps the compiler from making a loop of a recursion. */
#define IS_USED_AFTER_CALL() __asm__ volatile("" ::: "memory")

/* Shared with the children. */
static struct {
	_Atomic uint64_t ticks; /* a running child counts here */
	_Atomic int num_signals;
	_Atomic int is_done;
	_Atomic int is_ended; /* never, but who compiles this cannot know */
} * shared;

struct fixture {
	struct modules *modules;
	struct callpaths *callpaths;
	struct symbols *symbols;
	struct names *names;
	struct sampler *sampler;
	struct samples *samples;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->modules = modules_create();
	f->callpaths = callpaths_create();
	f->symbols = symbols_create(f->modules);
	f->names = names_create(f->modules, f->callpaths, symbols_resolve, f->symbols);
	f->sampler = sampler_create(f->modules, f->callpaths);
	f->samples = samples_create();
	memset((void *)shared, 0, sizeof(*shared));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	samples_destroy(f->samples);
	sampler_destroy(f->sampler);
	names_destroy(f->names);
	symbols_destroy(f->symbols);
	callpaths_destroy(f->callpaths);
	modules_destroy(f->modules);
	free(f);
	return 0;
}

/* ---- Children ---------------------------------------------------------------------------------
 */

/* Run `body` in a child and wait until it writes to the descriptor that it is given. */
static pid_t start(void (*body)(int ready))
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		body(fds[1]);
		_exit(0);
	}
	assert_true(pid > 0);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void tell(int ready)
{
	if (write(ready, "r", 1) != 1)
		_exit(1);
}

/* Until killed. */
KEEP_FRAME static void wait_here(int ready)
{
	tell(ready);
	while (!shared->is_ended)
		pause();
}

static void wait_for_state(pid_t pid, char state)
{
	struct procfs_stat stat;
	int i;

	for (i = 0; i < 20000; i++) {
		if (!procfs_stat(pid, 0, &stat) && stat.state == state)
			return;
		usleep(100);
	}
	fail_msg("process %d never got into state %c", (int)pid, state);
}

static pid_t tracer_of(pid_t pid)
{
	struct procfs_status status;

	assert_int_equal(procfs_status(pid, &status), 0);
	return status.tracer;
}

KEEP_FRAME static int recurse(int depth, int ready)
{
	if (!depth) {
		wait_here(ready);
		return 0;
	}
	depth += recurse(depth - 1, ready);
	IS_USED_AFTER_CALL();
	return depth;
}

KEEP_FRAME static int recurse_wide(int depth, int ready)
{
	volatile char wide[1024];
	int i;

	for (i = 0; i < 1024; i++)
		wide[i] = (char)depth;
	if (!depth) {
		wait_here(ready);
		return 0;
	}
	return recurse_wide(depth - 1, ready) + wide[depth];
}

static void body_deep(int ready)
{
	recurse(DEPTH - 1, ready);
}

static void body_wide(int ready)
{
	recurse_wide(DEPTH - 1, ready);
}

KEEP_FRAME static void count_ticks(int ready)
{
	tell(ready);
	for (;;)
		atomic_fetch_add(&shared->ticks, 1);
}

static pthread_barrier_t all_up;

KEEP_FRAME static void *wait_in_thread(void *argument)
{
	pthread_barrier_wait(&all_up);
	for (;;)
		pause();
	return argument;
}

static void body_threads(int ready)
{
	pthread_t threads[3];
	int i;

	pthread_barrier_init(&all_up, NULL, 4);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, wait_in_thread, NULL);
	pthread_barrier_wait(&all_up);
	wait_here(ready);
}

static int handler_ready;

KEEP_FRAME static void on_signal(int number)
{
	(void)number;
	wait_here(handler_ready);
	IS_USED_AFTER_CALL();
}

KEEP_FRAME static void raise_it(void)
{
	raise(SIGUSR1);
	atomic_fetch_add(&shared->ticks, 1);
}

static void body_handler(int ready)
{
	handler_ready = ready;
	signal(SIGUSR1, on_signal);
	raise_it();
}

static void body_other_stack(int ready)
{
	static char memory[65536];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	handler_ready = ready;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise_it();
}

static int vfork_gate[2];

static void body_vfork(int ready)
{
	pid_t pid = vfork();

	if (!pid) {
		char byte;

		tell(ready);
		if (read(vfork_gate[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	shared->is_done = 1;
	for (;;)
		pause();
}

static void count_signal(int number)
{
	(void)number;
	atomic_fetch_add(&shared->num_signals, 1);
}

static void body_signals(int ready)
{
	struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};

	sigaction(SIGRTMIN, &action, NULL);
	count_ticks(ready);
}

/* ---- Looking at samples -----------------------------------------------------------------------
 */

static const struct sample *take(struct fixture *f, pid_t pid, unsigned flags)
{
	struct sampler_target target = {.rank = 5, .pid = pid};
	struct pdb_error err;

	if (sampler_take(f->sampler, &target, 1, flags, f->samples, &err))
		fail_msg("%s", err.text);
	return &f->samples->samples[f->samples->num_samples - 1];
}

static int count_function(struct fixture *f, uint32_t path, const char *function)
{
	int num = 0;

	for (; path != CALLPATH_NONE; path = callpaths_get(f->callpaths, path)->parent)
		num += !strcmp(names_get(f->names, path)->function, function);
	return num;
}

static void assert_whole(struct fixture *f, const struct sample *sample)
{
	const struct callpath_node *node;
	uint32_t path = sample->path, outermost = path;

	if (sample->status != SAMPLE_COMPLETE)
		fail_msg("status %d: %s", sample->status, sample->note ? sample->note : "");
	assert_null(sample->note);
	assert_false(callpaths_get(f->callpaths, path)->is_return);
	for (; path != CALLPATH_NONE; path = callpaths_get(f->callpaths, path)->parent)
		outermost = path;
	node = callpaths_get(f->callpaths, outermost);
	assert_true(node->is_return);
	assert_true(node->module != MODULE_NONE);
	if (sample->is_main)
		assert_string_equal(names_get(f->names, outermost)->function, "_start");
}

/* ---- Tests ------------------------------------------------------------------------------------
 */

static void test_deep(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_deep);
	const struct sample *sample;

	wait_for_state(pid, 'S');
	sample = take(f, pid, 0);
	assert_whole(f, sample);
	assert_int_equal(sample->rank, 5);
	assert_int_equal(sample->tid, pid);
	assert_true(sample->is_main);
	assert_int_equal(sample->state, 'S');
	assert_true(sample->stopped_ns > 0 && sample->when_ns > 0);
	assert_int_equal(count_function(f, sample->path, "recurse"), DEPTH);
	assert_int_equal(count_function(f, sample->path, "main"), 1);
	/* Nothing has moved, so it is the same path, with or without what was learned. */
	assert_int_equal(take(f, pid, 0)->path, f->samples->samples[0].path);
	assert_int_equal(take(f, pid, SAMPLER_FRESH)->path, f->samples->samples[0].path);
	stop(pid);
}

static void test_larger_than_first_copy(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_wide);
	const struct sample *sample = take(f, pid, 0);

	assert_whole(f, sample);
	assert_int_equal(count_function(f, sample->path, "recurse_wide"), DEPTH);
	stop(pid);
}

static void test_two_processes_share_paths(void **state)
{
	struct fixture *f = *state;
	struct sampler_target targets[2];
	struct pdb_error err;
	size_t before;
	volatile int i; /* no unrolling: both are to be started from the same place */

	for (i = 0; i < 2; i++) {
		targets[i] = (struct sampler_target){i, start(body_deep), 0};
		wait_for_state(targets[i].pid, 'S');
	}
	assert_int_equal(sampler_take(f->sampler, &targets[0], 1, 0, f->samples, &err), 0);
	before = callpaths_count(f->callpaths);
	assert_int_equal(sampler_take(f->sampler, &targets[1], 1, 0, f->samples, &err), 0);
	assert_int_equal(callpaths_count(f->callpaths), before);
	assert_int_equal(f->samples->samples[0].path, f->samples->samples[1].path);
	stop(targets[0].pid);
	stop(targets[1].pid);
}

static void test_threads(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_threads);
	size_t i, num_in_thread = 0;

	take(f, pid, SAMPLER_ALL_THREADS);
	assert_int_equal(f->samples->num_samples, 4);
	for (i = 0; i < 4; i++) {
		const struct sample *sample = &f->samples->samples[i];

		assert_whole(f, sample);
		assert_int_equal(sample->is_main, i == 0);
		num_in_thread += count_function(f, sample->path, "wait_in_thread") == 1;
	}
	assert_int_equal(num_in_thread, 3);
	stop(pid);
}

static void test_in_signal_handler(void **state)
{
	struct fixture *f = *state;
	void (*bodies[])(int) = {body_handler, body_other_stack};
	size_t i;

	for (i = 0; i < 2; i++) {
		pid_t pid = start(bodies[i]);
		const struct sample *sample = take(f, pid, 0);
		uint32_t path = sample->path;
		int num_pcs = 0;

		assert_whole(f, sample);
		assert_int_equal(count_function(f, path, "on_signal"), 1);
		assert_int_equal(count_function(f, path, "raise_it"), 1);
		/* The frame of the system call, the one interrupted, and the trampoline's between,
		 * which is entered by no call but is where the handler returns to. */
		for (; path != CALLPATH_NONE; path = callpaths_get(f->callpaths, path)->parent)
			num_pcs += !callpaths_get(f->callpaths, path)->is_return;
		assert_int_equal(num_pcs, 2);
		stop(pid);
	}
}

static void test_stopped_stays_stopped(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(count_ticks);
	uint64_t ticks;

	kill(pid, SIGSTOP);
	wait_for_state(pid, 'T');
	assert_whole(f, take(f, pid, 0));
	assert_int_equal(f->samples->samples[0].state, 'T');
	wait_for_state(pid, 'T');
	assert_int_equal(tracer_of(pid), 0);
	ticks = shared->ticks;
	assert_whole(f, take(f, pid, 0));
	wait_for_state(pid, 'T');
	assert_int_equal(shared->ticks, ticks);
	kill(pid, SIGCONT);
	while (shared->ticks == ticks)
		usleep(100);
	stop(pid);
}

static void test_vfork_parent(void **state)
{
	struct fixture *f = *state;
	const struct sample *sample;
	pid_t pid;

	assert_int_equal(pipe(vfork_gate), 0);
	pid = start(body_vfork);
	wait_for_state(pid, 'D');
	sample = take(f, pid, 0);
	assert_int_equal(sample->status, SAMPLE_FAILED);
	assert_non_null(strstr(sample->note, "does not stop"));
	assert_int_equal(sample->state, 'D');
	/* Given up, it is not held any more, and is not stopped when it wakes up. */
	assert_int_equal(tracer_of(pid), 0);
	assert_int_equal(write(vfork_gate[1], "g", 1), 1);
	while (!shared->is_done)
		usleep(100);
	wait_for_state(pid, 'S');
	assert_whole(f, take(f, pid, 0));
	stop(pid);
	close(vfork_gate[0]);
	close(vfork_gate[1]);
}

static pid_t traced_pid;

static void body_other_tracer(int ready)
{
	if (ptrace(PTRACE_SEIZE, traced_pid, 0, 0))
		_exit(1);
	wait_here(ready);
}

static size_t count_threads(pid_t pid)
{
	size_t num = 0;

	free(procfs_threads(pid, &num));
	return num;
}

/* As another pdb would, but until the sampler has made its thread and that has had the time to be
 * refused. */
static void body_short_tracer(int ready)
{
	if (ptrace(PTRACE_SEIZE, traced_pid, 0, 0) || ptrace(PTRACE_INTERRUPT, traced_pid, 0, 0) ||
	    waitpid(traced_pid, NULL, __WALL) != traced_pid)
		_exit(1);
	tell(ready);
	while (count_threads(getppid()) < 2)
		usleep(100);
	usleep(5000);
	ptrace(PTRACE_DETACH, traced_pid, 0, 0);
	while (!shared->is_ended)
		pause();
}

static void test_traced_for_a_moment(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(count_ticks), tracer;

	traced_pid = pid;
	tracer = start(body_short_tracer);
	assert_whole(f, take(f, pid, 0));
	stop(tracer);
	stop(pid);
}

static void test_already_traced(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(count_ticks), tracer;
	struct sampler_target target = {.rank = 3, .pid = pid};
	struct pdb_error err;
	char expected[64];

	traced_pid = pid;
	tracer = start(body_other_tracer);
	assert_int_equal(sampler_take(f->sampler, &target, 1, 0, f->samples, &err), -1);
	snprintf(expected, sizeof(expected), "already traced by pid %d (test_sampler)",
		 (int)tracer);
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
static void body_protected(int ready)
{
	if (become_nobody() || prctl(PR_SET_DUMPABLE, 0))
		_exit(1);
	wait_here(ready);
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
		struct sampler_target target = {.rank = 3, .pid = start(body_protected)};
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
	pid_t dead = start(body_deep), alive = start(body_deep);
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

/* A process that is not the one that was meant, though it has its pid. */
static void test_reused_pid(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_deep);
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
		pid_t pid = start(count_ticks);
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

static void test_signals_are_delivered(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_signals);
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

	targets[0] = (struct sampler_target){0, start(count_ticks), 0};
	targets[1] = (struct sampler_target){1, start(body_deep), 0};
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
	struct sampler_target target = {.pid = start(body_deep)};
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

/* More that compute than there are processors: those that wait for one stop late, but do. */
static void test_crowded(void **state)
{
	struct fixture *f = *state;
	struct sampler_target targets[8];
	struct pdb_error err;
	size_t i;
	int round;

	for (i = 0; i < NUM_OF(targets); i++)
		targets[i] = (struct sampler_target){(int)i, start(count_ticks), 0};
	for (round = 0; round < 60; round++)
		assert_int_equal(
			sampler_take(f->sampler, targets, NUM_OF(targets), 0, f->samples, &err), 0);
	assert_int_equal(f->samples->num_samples, 60 * NUM_OF(targets));
	for (i = 0; i < f->samples->num_samples; i++)
		assert_whole(f, &f->samples->samples[i]);
	for (i = 0; i < NUM_OF(targets); i++)
		stop(targets[i].pid);
}

static void test_cost(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_deep);
	struct sampler_cost cost;
	int i;

	sampler_get_cost(f->sampler, &cost);
	assert_int_equal(cost.num_samples, 0);
	for (i = 0; i < 20; i++)
		take(f, pid, 0);
	sampler_get_cost(f->sampler, &cost);
	assert_int_equal(cost.num_samples, 20);
	assert_int_equal(cost.num_failed, 0);
	assert_true(cost.stopped_ns_median > 0);
	assert_true(cost.stopped_ns_median <= cost.stopped_ns_max);
	assert_true(cost.stopped_ns_max <= cost.stopped_ns_total);
	stop(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_larger_than_first_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_processes_share_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_in_signal_handler, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stopped_stays_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vfork_parent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_traced_for_a_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_already_traced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_by_yama, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vanished_among_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reused_pid, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_in_the_middle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signals_are_delivered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sampler_killed_at_any_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sampler_suspended_at_any_moment, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_crowded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cost, setup, teardown),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	srand(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
