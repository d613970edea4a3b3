/* SPDX-License-Identifier: BSD-3-Clause */
#include <linux/futex.h>

#include "attach/blocked/blocked_lock.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/process/procfs.h"
#include "attach/stacks/futex.h"
#include "attach/stacks/lock_look.h"
#include "attach/stacks/tracee.h"
#include "model/job/blocked.h"
#include "model/job/callpath.h"
#include "model/job/modules.h"
#include "model/monotonic.h"

/* It stays there as long as somebody waits for the thread's end. */
static bool is_of_thread(pid_t tid, uint64_t address)
{
	uint64_t before[FUTEX_BEFORE];

	return address > sizeof(before) + 64 &&
	       memory_read_all(tid, (address & ~UINT64_C(63)) - sizeof(before), before,
			       sizeof(before)) == 0 &&
	       futex_is_of_thread(address, before);
}

/* The number of the thread whose descriptor the lock names; 0: it names none. */
static pid_t find_by_descriptor(const struct tracee *tracee)
{
	uint64_t words[FUTEX_DESCRIPTOR],
		at = futex_holder(&tracee->futex, tracee->futex_words, tracee->num_futex_words);
	pid_t tid;

	if (!at || memory_read_all(tracee->tid, at, words, sizeof(words)) ||
	    !futex_is_descriptor(at, words) ||
	    memory_read_all(tracee->tid, at + FUTEX_DESCRIPTOR_TID, &tid, sizeof(tid)))
		return 0;
	return tid > 0 ? tid : 0;
}

/* *holder_ret is the number of who is said to hold it, in the pid namespace of the process; 0:
 * nobody is, or it is not known whether that thread lives. */
static struct sample_wait find_wait(pid_t pid, const struct tracee *tracee, pid_t *holder_ret)
{
	struct sample_wait wait = {.kind = SAMPLE_WAIT_NONE};
	struct procfs_status status;
	pid_t tid;

	*holder_ret = 0;
	if (tracee->num_futex_words == 0 || procfs_status(tracee->tid, &status))
		return wait;
	/* A descriptor proves itself, and so does a thread of its number. */
	tid = find_by_descriptor(tracee);
	if (tid && (tid = procfs_find_thread(pid, tid)) > 0)
		return (struct sample_wait){.kind = SAMPLE_WAIT_STREAM, .tid = tid};
	wait = futex_judge(&tracee->futex, tracee->futex_words, tracee->num_futex_words,
			   status.own);
	if (!wait.tid)
		return wait;
	if (wait.kind == SAMPLE_WAIT_JOIN && !is_of_thread(tracee->tid, tracee->futex.address))
		return futex_of_nobody(&tracee->futex, SAMPLE_WAIT_OTHER);
	/* What may have been anything is a thread's number only if there is that thread. */
	tid = procfs_find_thread(pid, wait.tid);
	*holder_ret = tid < 0 ? 0 : wait.tid;
	wait.tid = tid;
	if (tid > 0)
		return wait;
	return futex_of_nobody(&tracee->futex,
			       wait.kind == SAMPLE_WAIT_JOIN ? SAMPLE_WAIT_OTHER : wait.kind);
}

/* ---- Words ---- */

/* Does the process share the memory that the address is in? */
static bool is_shared_with(pid_t other, const struct maps *own, uint64_t address)
{
	const struct maps_range *range = own ? maps_find(own, address) : NULL;
	struct maps *maps = range && range->is_shared ? maps_read(other) : NULL;
	bool is_there = false;

	for (size_t i = 0; maps && i < maps->num_ranges && !is_there; i++)
		is_there = maps->ranges[i].is_shared && maps->ranges[i].device == range->device &&
			   maps->ranges[i].inode == range->inode;
	maps_destroy(maps);
	return is_there;
}

/* Does it say so still, now that the thread was not found? Else that one let go of it before its
 * end. `own`: the number by which the waiting thread knows itself. */
static bool is_still_held(const struct tracee *tracee, pid_t own, pid_t holder)
{
	const struct futex_call *call = &tracee->futex;
	uint32_t words[FUTEX_WORDS];
	size_t num = tracee->num_futex_words;

	return memory_read_all(tracee->tid, call->address, words, num * sizeof(*words)) == 0 &&
	       futex_judge(call, words, num, own).tid == holder;
}

/* Who holds it that is no living thread of the process. */
static char *describe_other(pid_t pid, const struct tracee *tracee, pid_t holder)
{
	const struct futex_call *call = &tracee->futex;
	struct procfs_status own, status;
	struct procfs_stat stat;

	if (procfs_status(pid, &own))
		return NULL;
	/* In another pid namespace the number may be anybody's. */
	if (!(call->operation & FUTEX_PRIVATE_FLAG) && own.own != pid)
		return NULL;
	if (call->operation & FUTEX_PRIVATE_FLAG || procfs_status(holder, &status))
		return is_still_held(tracee, own.own, holder)
			       ? xasprintf("thread %d held it and has ended", (int)holder)
			       : NULL;
	/* It may have come to life just now, or have the number after another. */
	if (status.tgid == pid || procfs_stat(status.tgid, 0, &stat) ||
	    !is_shared_with(status.tgid, tracee->maps, call->address))
		return NULL;
	return xasprintf("process %d (%s) holds it", (int)status.tgid, stat.comm);
}

static char *describe_holder(pid_t pid, const struct tracee *tracee, const struct sample_wait *wait,
			     pid_t holder)
{
	const struct futex_call *call = &tracee->futex;
	uint32_t all, num;

	switch (wait->kind) {
	case SAMPLE_WAIT_MUTEX:
	case SAMPLE_WAIT_OWNED:
	case SAMPLE_WAIT_RWLOCK:
		return wait->tid || !holder ? NULL : describe_other(pid, tracee, holder);
	case SAMPLE_WAIT_READERS:
		num = futex_readers(call);
		return num == 1 ? xstrdup("a reader holds it")
				: xasprintf("%u readers hold it", num);
	case SAMPLE_WAIT_BARRIER:
		num = futex_arrived(call, tracee->futex_words, &all);
		return blocked_lock_arrived(num, all);
	case SAMPLE_WAIT_OTHER:
		return futex_is_simple(call) ? blocked_lock_team(tracee->tid, call->address) : NULL;
	}
	return NULL;
}

static struct blocked *describe(const struct lock_look *look, struct lock_names *names,
				pid_t holder)
{
	struct blocked *found = xcalloc(1, sizeof(*found));
	const struct tracee *tracee = look->tracee;
	uint64_t address = tracee->futex.address, begin_ns = monotonic_ns();

	found->call = xstrdup("futex");
	found->object = look->wait.kind == SAMPLE_WAIT_STREAM
				? blocked_lock_stream(names, look->reader, tracee->maps, address)
				: blocked_lock_name(names, look->reader, tracee->maps, address);
	found->reason = describe_holder(look->pid, tracee, &look->wait, holder);
	*look->left_ns -= (int64_t)(monotonic_ns() - begin_ns);
	return found;
}

/* ---- All of it ---- */

static const struct module *module_of(const struct lock_look *look, uint32_t path)
{
	uint32_t module = callpaths_get(look->callpaths, path)->module;

	return module == MODULE_NONE ? NULL : modules_get(look->modules, module);
}

static bool is_spinning(const struct lock_look *look)
{
	uint32_t path = look->path;

	for (; path != CALLPATH_NONE; path = callpaths_get(look->callpaths, path)->parent) {
		const struct module *module = module_of(look, path);
		const char *name = module ? maps_base(module->path) : "";

		if (!strncmp(name, "libomp.so", strlen("libomp.so")) ||
		    !strncmp(name, "libiomp5.so", strlen("libiomp5.so")))
			return true;
		if (!module || module->kind != MODULE_SYSTEM)
			return false;
	}
	return false;
}

static bool is_in_mpi(const struct lock_look *look)
{
	uint32_t path = look->path;

	for (; path != CALLPATH_NONE; path = callpaths_get(look->callpaths, path)->parent) {
		const struct module *module = module_of(look, path);

		if (module && module->kind == MODULE_MPI)
			return true;
	}
	return false;
}

void lock_look_take(struct lock_look *look, struct lock_names *names)
{
	const struct tracee *tracee = look->tracee;
	pid_t holder;

	look->wait = find_wait(look->pid, tracee, &holder);
	look->is_outside_mpi = look->path != CALLPATH_NONE && !is_in_mpi(look);
	look->is_anybody = false;
	look->blocked = NULL;
	if (!names || (!look->is_outside_mpi && look->path != CALLPATH_NONE))
		return;
	if (look->wait.kind == SAMPLE_WAIT_NONE)
		look->is_anybody = tracee->num_futex_words == 0 && is_spinning(look);
	else
		look->is_anybody = look->wait.kind == SAMPLE_WAIT_GOMP ||
				   (look->wait.kind == SAMPLE_WAIT_OTHER &&
				    futex_is_plain(&tracee->futex, tracee->futex_words,
						   tracee->num_futex_words));
	/* Of a thread's end there is nothing more to say. */
	if (look->wait.kind != SAMPLE_WAIT_NONE && look->wait.kind != SAMPLE_WAIT_JOIN &&
	    *look->left_ns > 0)
		look->blocked = describe(look, names, holder);
}
