/* SPDX-License-Identifier: BSD-3-Clause
 * Catch one rank of a running job in a function of its own program, for good, or make it take the
 * other way at a branch there, once: faults for tests.
 *
 * The function's first instruction is overwritten with a jump to itself, so whoever calls the
 * function next stays there, computing, with the stack that the call has made. Nothing is to be put
 * right afterwards, and if inject itself is killed half-way the rank is no worse off: there is
 * never a breakpoint that only a tracer could answer. When the function is not called in time, the
 * first bytes are written back, and a thread that may just be at them goes on as if nothing had
 * been.
 *
 * Bytes are changed while all threads of the process are stopped and none is in the middle of them.
 */
#include <argp.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/inject/function.h"

#define MAX_THREADS 256
#define MAX_CODE 32
#define MAX_STEPS 200000
#define LOOK_NS 2000000L /* between two looks at where the threads are */
#define HERE_S 2         /* a process that is not found in a module for so long waits elsewhere */
#define RETURN_S 2       /* for its return from there */
#define MAX_RANGES 16
#define STACK_WORDS 8192

#if defined(__x86_64__)
#define PC rip
#define SP rsp
static const unsigned char loop_code[] = {0xeb, 0xfe}; /* jmp . */
static const unsigned char sleep_code[] = {
	0xb8, 0x22, 0x00, 0x00, 0x00, /* mov $SYS_pause, %eax */
	0x0f, 0x05,                   /* syscall */
	0xeb, 0xf7,                   /* jmp to the first of these */
};
#elif defined(__aarch64__)
#define PC pc
#define SP sp
static const unsigned char loop_code[] = {0x00, 0x00, 0x00, 0x14}; /* b . */
static const unsigned char sleep_code[] = {
	0x28, 0x09, 0x80, 0xd2, /* mov x8, #SYS_ppoll */
	0x00, 0x00, 0x80, 0xd2, /* mov x0, #0 */
	0x01, 0x00, 0x80, 0xd2, /* mov x1, #0 */
	0x02, 0x00, 0x80, 0xd2, /* mov x2, #0 */
	0x03, 0x00, 0x80, 0xd2, /* mov x3, #0 */
	0x01, 0x00, 0x00, 0xd4, /* svc #0 */
	0xfa, 0xff, 0xff, 0x17, /* b to the first of these */
};
#else
#error "inject has no code for this architecture"
#endif

enum mode {
	MODE_LOOP,
	MODE_SLEEP,
	MODE_STOP,
	MODE_HERE,
	MODE_TURN,
};

struct options {
	enum mode mode;
	pid_t pid;
	int rank;             /* of the process; -1: none */
	const char *function; /* or, with MODE_HERE, a module */
	bool is_around;       /* the function is named by any place in it */
	long num_skip;
	long num_branches; /* with MODE_TURN: that are taken as they should be */
	double timeout_s;
};

/* The process while all of its threads are stopped. */
struct world {
	pid_t pid;
	pid_t threads[MAX_THREADS];
	int signals[MAX_THREADS]; /* that a thread was about to get */
	uint64_t pcs[MAX_THREADS];
	uint64_t sp; /* of the first thread */
	int num_threads;
};

static volatile sig_atomic_t is_ended;

static void on_signal(int signal_number)
{
	(void)signal_number;
	is_ended = 1;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* ---- Stopping all threads and letting them go ---- */

static uint64_t read_pc(pid_t thread, uint64_t *sp_ret)
{
	struct user_regs_struct regs;
	struct iovec iov = {.iov_base = &regs, .iov_len = sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &iov) != 0)
		return 0;
	if (sp_ret)
		*sp_ret = regs.SP;
	return regs.PC;
}

static bool has_thread(const struct world *world, pid_t thread)
{
	for (int i = 0; i < world->num_threads; i++)
		if (world->threads[i] == thread)
			return true;
	return false;
}

/* Seize, interrupt and wait for the stop. A signal that gets in first is kept for later. */
static void stop_thread(struct world *world, pid_t thread)
{
	int status, n = world->num_threads;

	if (n == MAX_THREADS || ptrace(PTRACE_SEIZE, thread, 0, 0) != 0)
		return;
	if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0 ||
	    waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status))
		return;
	world->threads[n] = thread;
	world->signals[n] = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	world->pcs[n] = read_pc(thread, n == 0 ? &world->sp : NULL);
	world->num_threads++;
}

/* Until a look at /proc shows no thread that is not stopped. -1: the process is gone, or not ours.
 */
static int stop_world(struct world *world, pid_t pid)
{
	char path[64];
	int before;

	*world = (struct world){.pid = pid};
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	do {
		DIR *tasks = opendir(path);
		struct dirent *entry;

		before = world->num_threads;
		while (tasks && (entry = readdir(tasks))) {
			pid_t thread = atoi(entry->d_name);

			if (thread > 0 && !has_thread(world, thread))
				stop_thread(world, thread);
		}
		if (tasks)
			closedir(tasks);
	} while (world->num_threads > before);
	return world->num_threads > 0 ? 0 : -1;
}

static void resume_world(struct world *world)
{
	for (int i = 0; i < world->num_threads; i++)
		ptrace(PTRACE_DETACH, world->threads[i], 0, (long)world->signals[i]);
	world->num_threads = 0;
}

/* Run one instruction; *sp_ret (NULL is fine) is the stack pointer after it. -1: the thread has
 * ended. */
static int step(struct world *world, int number, uint64_t *sp_ret)
{
	pid_t thread = world->threads[number];
	int status;

	if (ptrace(PTRACE_SINGLESTEP, thread, 0, 0) != 0 ||
	    waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status))
		return -1;
	if (WSTOPSIG(status) != SIGTRAP)
		world->signals[number] = WSTOPSIG(status);
	world->pcs[number] = read_pc(thread, sp_ret);
	return 0;
}

/* ---- Changing code ---- */

struct patch {
	pid_t pid;
	uint64_t address;
	size_t length;
	unsigned char code[MAX_CODE];
	unsigned char original[MAX_CODE];
};

/* Read-only code is written through /proc/PID/mem, as a debugger's breakpoint is. Returns how many
 * bytes there were; -1: none. */
static ssize_t access_memory(pid_t pid, uint64_t address, void *bytes, size_t length, bool is_write)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	int fd = open(path, (is_write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t done =
		is_write ? pwrite(fd, bytes, length, address) : pread(fd, bytes, length, address);
	close(fd);
	return done;
}

/* All of it, or -1. */
static int access_code(pid_t pid, uint64_t address, void *bytes, size_t length, bool is_write)
{
	return access_memory(pid, address, bytes, length, is_write) == (ssize_t)length ? 0 : -1;
}

static int patch_init(struct patch *patch, pid_t pid, uint64_t address, enum mode mode)
{
	bool is_sleep = mode == MODE_SLEEP;

	patch->pid = pid;
	patch->address = address;
	patch->length = is_sleep ? sizeof(sleep_code) : sizeof(loop_code);
	memcpy(patch->code, is_sleep ? sleep_code : loop_code, patch->length);
	return access_code(pid, address, patch->original, patch->length, false);
}

/* A thread behind the first byte would find half of another instruction there. */
static bool is_in_the_middle(const struct patch *patch, const struct world *world)
{
	for (int i = 0; i < world->num_threads; i++)
		if (world->pcs[i] > patch->address &&
		    world->pcs[i] < patch->address + patch->length)
			return true;
	return false;
}

static int thread_at(uint64_t address, const struct world *world)
{
	for (int i = 0; i < world->num_threads; i++)
		if (world->pcs[i] == address)
			return i;
	return -1;
}

static void pause_a_little(void)
{
	nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

/* Write the code in, at a moment when nobody is in the middle of it. */
static int patch_apply(struct patch *patch, double deadline_s)
{
	struct world world;

	while (!is_ended && now_s() < deadline_s) {
		if (stop_world(&world, patch->pid) != 0)
			return -1;
		bool is_safe = !is_in_the_middle(patch, &world);
		int result = is_safe ? access_code(patch->pid, patch->address, patch->code,
						   patch->length, true)
				     : 0;
		resume_world(&world);
		if (is_safe)
			return result;
		pause_a_little();
	}
	return -1;
}

/* Only threads at the very first byte can be there, which is where the original begins. */
static void patch_undo(struct patch *patch)
{
	struct world world;

	if (stop_world(&world, patch->pid) != 0)
		return;
	access_code(patch->pid, patch->address, patch->original, patch->length, true);
	resume_world(&world);
}

/* Let the thread that is caught run one instruction of the original, and catch the next. */
static void let_pass(struct patch *patch, struct world *world, int caught)
{
	access_code(patch->pid, patch->address, patch->original, patch->length, true);
	do {
		if (step(world, caught, NULL) != 0)
			return;
	} while (is_in_the_middle(patch, world));
	access_code(patch->pid, patch->address, patch->code, patch->length, true);
}

/* Look until a thread is caught, `num_skip` times. 0 if so; 1 when time is up; -1 if it is gone. */
static int wait_for_call(struct patch *patch, long num_skip, double deadline_s)
{
	struct world world;

	while (!is_ended && now_s() < deadline_s) {
		if (stop_world(&world, patch->pid) != 0)
			return -1;
		int caught = thread_at(patch->address, &world);
		bool is_last = caught >= 0 && num_skip-- == 0;

		if (caught >= 0 && !is_last)
			let_pass(patch, &world, caught);
		resume_world(&world);
		if (is_last)
			return 0;
		pause_a_little();
	}
	return 1;
}

/* ---- Turning a branch ---- */

/* Is this a conditional jump? Then where it may lead to. */
#if defined(__x86_64__)
static bool decode_branch(const unsigned char *code, uint64_t pc, uint64_t *taken, uint64_t *next)
{
	int at = 0;
	int32_t distance;

	while (code[at] == 0x2e || code[at] == 0x3e || code[at] == 0xf2) /* hints, MPX */
		at++;
	if ((code[at] & 0xf0) == 0x70) {
		distance = (signed char)code[at + 1];
		*next = pc + at + 2;
	} else if (code[at] == 0x0f && (code[at + 1] & 0xf0) == 0x80) {
		memcpy(&distance, code + at + 2, sizeof(distance));
		*next = pc + at + 6;
	} else {
		return false;
	}
	*taken = *next + distance;
	return true;
}
#else
static bool decode_branch(const unsigned char *code, uint64_t pc, uint64_t *taken, uint64_t *next)
{
	uint32_t word;
	int shift;

	memcpy(&word, code, sizeof(word));
	if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
		shift = 8; /* b.cond, cbz, cbnz: 19 bits from bit 5 on */
	else if ((word & 0x7e000000) == 0x36000000)
		shift = 13; /* tbz, tbnz: 14 bits */
	else
		return false;
	int32_t distance = (int32_t)(word << shift) >> (shift == 8 ? 13 : 18);

	*next = pc + 4;
	*taken = pc + (int64_t)distance * 4;
	return true;
}
#endif

static int write_pc(pid_t thread, uint64_t pc)
{
	struct user_regs_struct regs;
	struct iovec iov = {.iov_base = &regs, .iov_len = sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &iov) != 0)
		return -1;
	regs.PC = pc;
	return ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &iov) == 0 ? 0 : -1;
}

/* From the first instruction of the function on, all branches but one go where they should. The
 * address of that one; 0: there is none before the function has ended, or not soon. */
static uint64_t step_to_branch(struct world *world, int number, const struct function *function,
			       long num_branches)
{
	uint64_t first_sp = 0, sp;

	read_pc(world->threads[number], &first_sp);
	for (int i = 0; i < MAX_STEPS; i++) {
		uint64_t pc = world->pcs[number], taken, next;
		unsigned char code[16];
		bool is_inside = pc >= function->address && pc < function->address + function->size;
		bool is_branch = is_inside &&
				 access_code(world->pid, pc, code, sizeof(code), false) == 0 &&
				 decode_branch(code, pc, &taken, &next) && taken != next;

		if (step(world, number, &sp) != 0)
			return 0;
		/* Of its return address nothing is left: it has returned. (Where that is in a
		 * register it takes more steps to tell.) */
		if (sp > first_sp && !is_branch)
			return 0;
		if (is_branch && num_branches-- == 0)
			return write_pc(world->threads[number],
					world->pcs[number] == taken ? next : taken) == 0
				       ? pc
				       : 0;
	}
	return 0;
}

/* Let the thread that loops at the function's first instruction run it, but for one branch. */
static uint64_t turn_branch(struct patch *patch, const struct function *function, long num_branches)
{
	struct world world;
	uint64_t branch = 0;

	if (stop_world(&world, patch->pid) != 0)
		return 0;
	int caught = thread_at(patch->address, &world);

	access_code(patch->pid, patch->address, patch->original, patch->length, true);
	if (caught >= 0)
		branch = step_to_branch(&world, caught, function, num_branches);
	resume_world(&world);
	return branch;
}

/* ---- Modes ---- */

static void report(const struct options *options, const char *name, uint64_t address)
{
	printf("injected: rank %d pid %d %s 0x%lx\n", options->rank, options->pid, name,
	       (unsigned long)address);
}

static int catch_in_function(const struct options *options, double deadline_s)
{
	struct function function;
	struct patch patch, sleep_patch;

	if (function_find(options->pid, options->function, &function) != 0 ||
	    (options->is_around && function_around(options->pid, function.address, &function) != 0))
		return 1;
	if (options->mode == MODE_SLEEP && function.size < sizeof(sleep_code)) {
		fprintf(stderr, "inject: %s is too short to sleep in\n", function.name);
		return 1;
	}
	if (patch_init(&patch, options->pid, function.address, MODE_LOOP) != 0 ||
	    patch_apply(&patch, deadline_s) != 0) {
		fprintf(stderr, "inject: cannot change the code of process %d\n", options->pid);
		return 1;
	}
	int result = wait_for_call(&patch, options->num_skip, deadline_s);
	/* It loops at the first byte, from where it can just as well begin to sleep. */
	if (result == 0 && options->mode == MODE_SLEEP &&
	    (patch_init(&sleep_patch, options->pid, function.address, MODE_SLEEP) != 0 ||
	     patch_apply(&sleep_patch, deadline_s) != 0))
		result = 1;
	if (result == 0 && options->mode == MODE_TURN) {
		function.address = turn_branch(&patch, &function, options->num_branches);
		if (!function.address) {
			fprintf(stderr, "inject: %s has no such branch\n", function.name);
			return 1;
		}
	}
	if (result == 0) {
		report(options, function.name, function.address);
		return 0;
	}
	if (result > 0)
		patch_undo(&patch);
	fprintf(stderr,
		result > 0 ? "inject: process %d has not called %s in time\n"
			   : "inject: process %d ended before it called %s\n",
		options->pid, function.name);
	return 1;
}

/* ---- Anywhere in a module ---- */

static bool is_in_code(const struct code_range *ranges, int num, uint64_t address)
{
	for (int i = 0; i < num; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return true;
	return false;
}

/* Does a call end where these bytes do? */
static bool is_call(const unsigned char *end)
{
#if defined(__x86_64__)
	return end[-5] == 0xe8 || (end[-6] == 0xff && end[-5] == 0x15) ||
	       (end[-2] == 0xff && (end[-1] & 0xf8) == 0xd0) ||
	       (end[-3] == 0xff && (end[-2] & 0xf8) == 0x50);
#else
	uint32_t word;

	memcpy(&word, end - 4, sizeof(word));
	return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000;
#endif
}

/* The innermost word of the first thread's stack that a call in this code may have left: where the
 * thread comes back to, unless that call is over long since. 0: none. */
static uint64_t find_return(const struct world *world, const struct code_range *ranges, int num)
{
	static uint64_t stack[STACK_WORDS];
	unsigned char code[8];

	ssize_t size = access_memory(world->pid, world->sp, stack, sizeof(stack), false);

	for (ssize_t i = 0; i < size / 8; i++) {
		if (is_in_code(ranges, num, stack[i]) &&
		    access_code(world->pid, stack[i] - sizeof(code), code, sizeof(code), false) ==
			    0 &&
		    is_call(code + sizeof(code)))
			return stack[i];
	}
	return 0;
}

/* Loop there when a thread comes back. 0 if so. */
static int catch_return(pid_t pid, uint64_t address, double deadline_s)
{
	double until_s = now_s() + RETURN_S < deadline_s ? now_s() + RETURN_S : deadline_s;
	struct patch patch;

	if (patch_init(&patch, pid, address, MODE_LOOP) != 0 || patch_apply(&patch, until_s) != 0)
		return -1;
	int result = wait_for_call(&patch, 0, until_s);
	if (result > 0)
		patch_undo(&patch);
	return result;
}

/* Loop wherever the first thread is next found in the module; if it is not for a while, as it waits
 * somewhere else most of the time, where it comes back to the module. */
static int catch_here(const struct options *options, double deadline_s)
{
	double here_s = now_s() + HERE_S;
	struct code_range ranges[MAX_RANGES];
	struct world world;
	struct patch patch;

	while (!is_ended && now_s() < deadline_s) {
		uint64_t address = 0;
		bool is_in;

		if (stop_world(&world, options->pid) != 0)
			break;
		int num = function_list_code(options->pid, options->function, ranges, MAX_RANGES);
		is_in = is_in_code(ranges, num, world.pcs[0]);
		if (is_in) {
			is_in = patch_init(&patch, options->pid, world.pcs[0], MODE_LOOP) == 0 &&
				!is_in_the_middle(&patch, &world) &&
				access_code(options->pid, patch.address, patch.code, patch.length,
					    true) == 0;
		} else if (now_s() > here_s) {
			address = find_return(&world, ranges, num);
		}
		resume_world(&world);
		if (address && catch_return(options->pid, address, deadline_s) == 0) {
			is_in = true;
			patch.address = address;
		}
		if (is_in) {
			report(options, "here", patch.address);
			return 0;
		}
		pause_a_little();
	}
	fprintf(stderr, "inject: process %d was not found in %s in time\n", options->pid,
		options->function ? options->function : "its program");
	return 1;
}

static int stop_process(const struct options *options)
{
	if (kill(options->pid, SIGSTOP) != 0) {
		perror("inject: kill");
		return 1;
	}
	report(options, "stopped", 0);
	return 0;
}

/* By its environment, which is gone as soon as it ends. */
static int read_rank(pid_t pid)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID="};
	char path[64], *line = NULL;
	size_t size = 0;
	int rank = -1;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	FILE *file = fopen(path, "re");
	while (file && rank < 0 && getdelim(&line, &size, '\0', file) > 0)
		for (size_t i = 0; i < sizeof(variables) / sizeof(*variables) && rank < 0; i++)
			if (strncmp(line, variables[i], strlen(variables[i])) == 0)
				rank = atoi(line + strlen(variables[i]));
	if (file)
		fclose(file);
	free(line);
	return rank;
}

static const struct argp_option option_table[] = {
	{"skip", 'k', "N", 0, "Let N calls pass that it sees, and catch the next", 0},
	{"timeout", 't', "SECONDS", 0, "Give up when it is not called for so long (20)", 0},
	{"sleep", 's', 0, 0, "Sleep in the function for good, not loop", 0},
	{"stop", 'S', 0, 0, "Stop the process by a signal; no function is needed", 0},
	{"here", 'H', 0, 0,
	 "Loop where the process is next seen in its program, or in the library "
	 "that is given in place of a function",
	 0},
	{"turn", 'T', "N", 0,
	 "Take the other way at the branch in the function after N that are taken as they "
	 "should be, once, and go on",
	 0},
	{"around", 'a', 0, 0, "The function that has the place that is given", 0},
	{0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'k':
		options->num_skip = atol(argument);
		return 0;
	case 't':
		options->timeout_s = atof(argument);
		return 0;
	case 's':
		options->mode = MODE_SLEEP;
		return 0;
	case 'S':
		options->mode = MODE_STOP;
		return 0;
	case 'H':
		options->mode = MODE_HERE;
		return 0;
	case 'T':
		options->mode = MODE_TURN;
		options->num_branches = atol(argument);
		return 0;
	case 'a':
		options->is_around = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			argp_usage(state);
		if (state->arg_num == 0)
			options->pid = atoi(argument);
		else
			options->function = argument;
		return 0;
	case ARGP_KEY_END:
		if (options->pid <= 0 || (!options->function && (options->mode <= MODE_SLEEP ||
								 options->mode == MODE_TURN)))
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {option_table,
				 parse_option,
				 "PID [FUNCTION]",
				 "Catch one process of a job in a function of its own program.",
				 NULL,
				 NULL,
				 NULL};

int main(int argc, char **argv)
{
	struct options options = {.timeout_s = 20};
	struct sigaction action = {.sa_handler = on_signal};

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	double deadline_s = now_s() + options.timeout_s;

	options.rank = read_rank(options.pid);
	switch (options.mode) {
	case MODE_STOP:
		return stop_process(&options);
	case MODE_HERE:
		return catch_here(&options, deadline_s);
	default:
		return catch_in_function(&options, deadline_s);
	}
}
