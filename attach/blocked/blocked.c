/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/syscall.h>

#include "attach/blocked/blocked.h"
#include "attach/blocked/blocked_private.h"
#include "attach/blocked/kernel_place.h"
#include "attach/process/memory.h"
#include "attach/process/procfs.h"
#include "attach/blocked/system_call.h"
#include "model/job/blocked.h"

#define NUM_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- The table ---- */

static void on_signal(struct blocked_look *look)
{
	look->found->object = xstrdup("a signal");
}

static void on_queue(struct blocked_look *look)
{
	look->found->object = xasprintf("the System V message queue %d", (int)look->call->args[0]);
}

static void on_semaphores(struct blocked_look *look)
{
	look->found->object = xasprintf("the System V semaphore set %d", (int)look->call->args[0]);
}

struct entry {
	long number;
	const char *name;
	void (*describe)(struct blocked_look *look); /* NULL: the name is all */
	unsigned argument;
};

static const struct entry table[] = {
#define BLOCKED_CALL(name, describe, argument) {SYS_##name, #name, describe, argument},
#include "attach/blocked/blocked_calls.def"
#undef BLOCKED_CALL
};

static const struct entry *find_entry(long number)
{
	for (size_t i = 0; i < NUM_OF(table); i++)
		if (table[i].number == number)
			return &table[i];
	return NULL;
}

const char *blocked_call_name(long number)
{
	const struct entry *entry = find_entry(number);

	return entry ? entry->name : NULL;
}

/* ---- Which call ---- */

static bool is_futex(long number)
{
	/* futex_waitv and futex_wait of newer headers have the same numbers on all machines. */
	return number == SYS_futex || number == 449 || number == 455;
}

static bool read_call(pid_t pid, pid_t tid, struct system_call *ret)
{
	char name[64], *text;
	bool is_in;

	snprintf(name, sizeof(name), "task/%d/syscall", (int)tid);
	text = procfs_read(pid, name, NULL);
	is_in = text && system_call_parse(text, ret);
	free(text);
	return is_in;
}

/* The kernel leaves its sleeping functions out, so that a sleep shows as the entry to all system
 * calls: do_syscall_64, invoke_syscall. clock_nanosleep() has a clock's number in the first
 * argument, nanosleep() an address. */
static long number_by_wchan(const char *wchan, const struct system_call *call)
{
	if (strstr(wchan, "nanosleep") || strstr(wchan, "syscall"))
		return call->args[0] < 64 ? SYS_clock_nanosleep : SYS_nanosleep;
#ifdef SYS_poll
	if (strstr(wchan, "poll"))
		return SYS_poll;
#endif
	return SYS_futex;
}

/* A call with a time limit that a stop has interrupted goes on as restart_syscall, with the
 * arguments of the first (man 2 restart_syscall). The code before the pc has the first number. */
static long first_number(pid_t pid, pid_t tid, const struct system_call *call)
{
	uint8_t code[SYSTEM_CALL_CODE];
	long number = -1;
	char *wchan;

	if (call->number != SYS_restart_syscall)
		return call->number;
	if (call->pc >= sizeof(code) &&
	    !memory_read_all(pid, call->pc - sizeof(code), code, sizeof(code)))
		number = system_call_in_code(code);
	if (number >= 0)
		return number;
	wchan = kernel_place_function(pid, tid);
	number = wchan ? number_by_wchan(wchan, call) : SYS_futex;
	free(wchan);
	return number;
}

static struct blocked *describe(pid_t pid, pid_t tid, const struct system_call *call, int *searches)
{
	struct blocked *found = xcalloc(1, sizeof(*found));
	const struct entry *entry = find_entry(call->number);
	struct blocked_look look = {
		.pid = pid, .tid = tid, .call = call, .found = found, .searches = searches};

	found->call = entry ? xstrdup(entry->name) : xasprintf("system call %ld", call->number);
	if (entry && entry->describe) {
		look.argument = entry->argument;
		entry->describe(&look);
	}
	return found;
}

struct blocked *blocked_describe(pid_t pid, pid_t tid, struct system_call *call, int *searches)
{
	call->number = first_number(pid, tid, call);
	return is_futex(call->number) ? NULL : describe(pid, tid, call, searches);
}

/* Outside a system call, as it has touched memory that is not there. */
static struct blocked *describe_fault(pid_t pid, pid_t tid)
{
	char *function = kernel_place_function(pid, tid), *stack = kernel_place_stack(pid, tid);
	bool is_fault = kernel_place_is_fault(function, stack);

	free(function);
	free(stack);
	return blocked_create(is_fault ? BLOCKED_PAGE_FAULT : BLOCKED_NO_CALL, NULL, NULL, NULL,
			      NULL);
}

static void describe_kernel(struct blocked *found, pid_t pid, pid_t tid, int *searches)
{
	struct blocked_look look = {.searches = searches};
	size_t num;

	found->kernel = kernel_place_function(pid, tid);
	found->stack = kernel_place_stack(pid, tid);
	if (!found->kernel || !blocked_may_search(&look))
		return;
	num = kernel_place_count(pid, found->kernel);
	if (num)
		found->around = xasprintf("%zu other process%s there wait%s in the same function",
					  num, num == 1 ? "" : "es", num == 1 ? "s" : "");
}

/* Sleeps it outside any? Of one that runs the kernel says "running". */
static bool sleeps_in_none(pid_t pid, pid_t tid)
{
	struct procfs_stat stat;
	char name[64], *text;
	bool is_in;

	snprintf(name, sizeof(name), "task/%d/syscall", (int)tid);
	text = procfs_read(pid, name, NULL);
	is_in = text && !strncmp(text, "-1 ", 3);
	free(text);
	/* Not as it has been stopped just now. */
	return is_in && !procfs_stat(pid, tid, &stat) && strchr("SD", stat.state);
}

struct blocked *blocked_read(pid_t pid, pid_t tid, int *searches)
{
	struct system_call call;
	struct procfs_stat stat;
	struct blocked *found = NULL;

	tid = tid ? tid : pid;
	if (procfs_stat(pid, tid, &stat) || !strchr("SD", stat.state))
		return NULL;
	if (read_call(pid, tid, &call))
		found = blocked_describe(pid, tid, &call, searches);
	else if (sleeps_in_none(pid, tid))
		found = describe_fault(pid, tid);
	if (found && stat.state == 'D')
		describe_kernel(found, pid, tid, searches);
	return found;
}
