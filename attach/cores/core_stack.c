/* SPDX-License-Identifier: BSD-3-Clause
 * What is found on the stacks of a core: the environment, and what a signal handler was told. */
#include <elf.h>

#include "attach/cores/core_file.h"
#include "attach/stacks/tracee.h"

/* Linux allows three quarters of the stack's limit, mostly 8 MiB, for arguments and environment. */
#define MAX_STRINGS ((uint64_t)8 << 20)
/* A signal's frame: registers, and the vector registers at their largest. */
#define MAX_SIGNAL_FRAME ((uint64_t)32 << 10)

/* ---- The environment ----
 * A process starts with these above its stack pointer, addresses ascending:
 *
 *	argc, argv[0] ..., 0, environ[0] ..., 0, auxiliary vector, ...,
 *	strings of argv, strings of environ, AT_EXECFN's string
 *
 * The auxiliary vector is in a note, too, so it can be found. */

struct start {
	uint8_t *bytes;   /* of the stack */
	uint64_t address; /* of the first */
	uint64_t size;    /* up to the string of AT_EXECFN */
};

static bool copy_start(const struct core_file *core, struct start *start)
{
	uint64_t end = core_file_auxv(core, AT_EXECFN);
	const struct core_segment *segment = core_file_segment(core, end);

	if (!segment || end - segment->start > segment->dumped_size)
		return false;
	start->address = end - segment->start > MAX_STRINGS ? end - MAX_STRINGS : segment->start;
	start->address = (start->address + 7) & ~(uint64_t)7;
	if (start->address >= end)
		return false;
	start->size = end - start->address;
	start->bytes = xmalloc(start->size);
	return core_file_read(core, start->address, start->bytes, start->size) == 0;
}

static uint64_t word_at(const struct start *start, uint64_t offset)
{
	uint64_t word;

	memcpy(&word, start->bytes + offset, sizeof(word));
	return word;
}

/* Where the auxiliary vector is in there; start->size: nowhere. */
static uint64_t find_auxv(const struct core_file *core, const struct start *start)
{
	uint64_t size = core->num_auxv * 2 * sizeof(uint64_t), at;

	if (!size || size > start->size)
		return start->size;
	for (at = (start->size - size) & ~(uint64_t)7;; at -= 8) {
		if (!memcmp(start->bytes + at, core->auxv, size))
			return at;
		if (at == 0)
			return start->size;
	}
}

/* The first of the strings that environ[] points to, given where it ends. A program that has unset
 * variables leaves more than one zero at the end; those that it has set are elsewhere. */
static uint64_t find_first(const struct start *start, uint64_t end)
{
	uint64_t first = start->size, at = end;

	while (at >= 8 && word_at(start, at - 8) == 0)
		at -= 8;
	for (; at >= 8 && word_at(start, at - 8) != 0; at -= 8) {
		uint64_t offset = word_at(start, at - 8) - start->address;

		if (offset > end && offset < first)
			first = offset;
	}
	return first;
}

char *core_file_environ(const struct core_file *core, size_t *size_ret)
{
	struct start start = {0};
	char *text = NULL;

	if (copy_start(core, &start)) {
		uint64_t auxv = find_auxv(core, &start);
		uint64_t first = auxv < start.size ? find_first(&start, auxv) : start.size;

		if (first < start.size) {
			*size_ret = start.size - first;
			text = xcalloc(*size_ret + 1, 1);
			memcpy(text, start.bytes + first, *size_ret);
		}
	}
	free(start.bytes);
	return text;
}

/* In the frame that the kernel makes for a handler (struct rt_sigframe) stack pointer and program
 * counter of what was interrupted follow each other; the signal's information is this far off. */
#if defined(__x86_64__)
#define INFO_FROM_SP INT64_C(144)
#elif defined(__aarch64__)
#define INFO_FROM_SP INT64_C(-560)
#endif

/* A handler has returned to where the fault was, with the same signal sent again: what it was told
 * is still below the stack pointer. */
static bool find_handled(const struct core_file *core, const struct core_thread *thread,
			 siginfo_t *ret)
{
	uint64_t pair[2] = {tracee_sp(&thread->regs), tracee_pc(&thread->regs)}, at, here[2];
	uint64_t low = pair[0] > MAX_SIGNAL_FRAME ? pair[0] - MAX_SIGNAL_FRAME : 0;
	siginfo_t info;

	for (at = (pair[0] & ~(uint64_t)7) - 8; at > low && at < pair[0]; at -= 8) {
		if (core_file_read(core, at, here, sizeof(here)))
			return false;
		if (memcmp(here, pair, sizeof(pair)) != 0 ||
		    core_file_read(core, at + (uint64_t)INFO_FROM_SP, &info, sizeof(info)))
			continue;
		if (info.si_signo == thread->signal && info.si_code > 0) {
			*ret = info;
			return true;
		}
	}
	return false;
}

const struct core_thread *core_file_culprit(const struct core_file *core, siginfo_t *info_ret)
{
	const struct core_thread *thread = core->threads, *end = thread + core->num_threads;

	memset(info_ret, 0, sizeof(*info_ret));
	while (thread < end && !thread->signal)
		thread++;
	if (thread == end)
		return NULL;
	if (thread->has_info)
		*info_ret = thread->info;
	/* Sent by a process, and not for a fault. */
	if (info_ret->si_code <= 0)
		find_handled(core, thread, info_ret);
	return thread;
}
