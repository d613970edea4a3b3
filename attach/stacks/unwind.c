/* SPDX-License-Identifier: BSD-3-Clause */
#include <ucontext.h>

#include "attach/process/image.h"
#include "attach/stacks/python.h"
#include "attach/stacks/tracee.h"
#include "attach/stacks/unwind_private.h"
#include "model/hash.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/job/modules.h"
#include "model/job/sample.h"

#define MAX_FRAMES 4096

/* Unwind tables have loops and stacks of their own, and libunwind follows them. A look is that at a
 * word of memory; the largest functions of real programs take some 10,000 in a step. */
#define WALK_LOOKS ((uint64_t)4 << 20)
#define STEP_LOOKS ((uint64_t)128 << 10)

/* INFO_FROM_SP, MASK_FROM_SP: in the frame that the kernel makes for a handler (struct
 * rt_sigframe), from where the stack pointer is when the handler has returned, the signal's
 * information, and the signals that were blocked before. trampoline: the code that Linux has
 * handlers return to, which calls rt_sigreturn. KEPT_REGISTERS: those that a function leaves to
 * its caller as they were, a bit each. */
#if defined(__x86_64__)
#define INFO_FROM_SP 304
#define MASK_FROM_SP offsetof(ucontext_t, uc_sigmask)
static const uint8_t trampoline[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
#define KEPT_REGISTERS (1U << UNW_X86_64_RBX | 1U << UNW_X86_64_RBP | 0xfU << UNW_X86_64_R12)
#elif defined(__aarch64__)
#define INFO_FROM_SP 0
#define MASK_FROM_SP (sizeof(siginfo_t) + offsetof(ucontext_t, uc_sigmask))
static const uint8_t trampoline[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
#define KEPT_REGISTERS (0x7ffU << UNW_AARCH64_X19)
#endif

/* Does a handler return there? unw_is_signal_frame() is true here or, by version, a frame later. */
static bool is_trampoline(struct walk *walk, uint64_t ip)
{
	uint64_t first = ip & ~UINT64_C(7), missing = walk->missing;
	unw_word_t words[2];
	bool is_there = walk_read(walk, first, &words[0]) && walk_read(walk, first + 8, &words[1]);

	walk->missing = missing; /* code is not copied with the stack */
	return is_there &&
	       !memcmp((const uint8_t *)words + (ip - first), trampoline, sizeof(trampoline));
}

/* Which signal's handler is called from the frame; 0: that cannot be told. The kernel blocks the
 * signal while its handler runs, and writes its information only where the handler asks for it:
 * else something older may be in that place. */
static unsigned int signal_number(struct walk *walk, unw_cursor_t *cursor)
{
	unw_word_t sp, mask, info;

	if (unw_get_reg(cursor, UNW_REG_SP, &sp) || !walk_read(walk, sp + MASK_FROM_SP, &mask))
		return 0;
	uint64_t added = walk->blocked & ~mask;
	walk->blocked = mask;
	if (!(added & (added - 1)))
		return (unsigned int)ffsll((long long)added);
	if (!walk_read(walk, sp + INFO_FROM_SP, &info))
		return 0;
	info = (uint32_t)info;
	return info >= 1 && info <= 64 && added >> (info - 1) & 1 ? (unsigned int)info : 0;
}

/* What is between a handler and what it interrupted is no code of anybody's. */
static void locate_signal(struct walk *walk, unw_cursor_t *cursor, uint64_t ip,
			  struct unwind_frame *ret)
{
	*ret = (struct unwind_frame){
		.address = ip,
		.module = modules_intern(images_modules(walk->space->images), MODULES_SIGNAL, NULL,
					 0),
		.offset = signal_number(walk, cursor),
	};
}

static uint32_t intern(struct callpaths *callpaths, const struct unwind_frame *frames, size_t num)
{
	uint32_t path = CALLPATH_NONE;

	while (num-- > 0)
		path = callpaths_intern(callpaths, path, frames[num].module, frames[num].offset,
					frames[num].is_return);
	return path;
}

/* ---- Probes ---- */

static int compare_places(uint32_t module, uint64_t offset, bool is_return,
			  const struct code_probe *probe)
{
	return SORTED_ORDER(module, probe->module)
		       ?: SORTED_ORDER(offset, probe->offset) ?: is_return - probe->is_return;
}

static int compare_probes(const void *a, const void *b)
{
	const struct code_probe *x = &((const struct unwind_probe *)a)->probe;

	return compare_places(x->module, x->offset, x->is_return,
			      &((const struct unwind_probe *)b)->probe);
}

static int compare_frame(const void *key, const void *probe)
{
	const struct unwind_frame *frame = key;

	return compare_places(frame->module, frame->offset, frame->is_return,
			      &((const struct unwind_probe *)probe)->probe);
}

void unwind_probes_init(struct unwind_probes *probes, const struct code_probe *list, size_t num)
{
	*probes = (struct unwind_probes){.list = xcalloc(num, sizeof(*probes->list)), .num = num};
	for (size_t i = 0; i < num; i++) {
		probes->list[i] = (struct unwind_probe){list[i], (uint32_t)i};
		for (size_t k = 0; k < list[i].read.num_ops; k++)
			probes->wants_vectors |= list[i].read.ops[k].kind == CODE_OP_VECTOR;
	}
	sorted_make(probes->list, num, sizeof(*probes->list), compare_probes);
}

void unwind_probes_deinit(struct unwind_probes *probes)
{
	free(probes->list);
	*probes = (struct unwind_probes){.num = 0};
}

static bool read_place(struct walk *walk, unw_cursor_t *cursor, const struct code_place *place,
		       int64_t *ret)
{
	unw_word_t word;

	if (!walk_register(cursor, place->reg, &word))
		return false;
	if (place->kind == CODE_MEMORY) {
		uint64_t address = word + (uint64_t)place->displacement;
		/* A whole word, which is not to reach beyond the copy. */
		uint64_t aligned = address & ~UINT64_C(7), shift = address - aligned;

		if (shift + place->size > 8 || !walk_read(walk, aligned, &word))
			return false;
		word >>= 8 * shift;
	}
	*ret = code_extend((int64_t)word, place->size, place->is_signed);
	return true;
}

static void read_probe(struct walk *walk, unw_cursor_t *cursor, const struct code_probe *probe,
		       uint32_t number, size_t frame)
{
	int64_t places[CODE_MAX_TERMS] = {0}, value;

	if (probe->read.num_bytes) {
		walk_read_ops(walk, cursor, probe, number, frame);
		return;
	}
	for (unsigned int i = 0; i < probe->value.num_terms; i++)
		if (walk->is_guessed ||
		    !read_place(walk, cursor, &probe->value.terms[i].place, &places[i]) ||
		    walk->is_guessed)
			return;
	value = code_evaluate(&probe->value, places);
	walk_add_value(walk, frame, number, code_extend(value, probe->size, probe->is_signed));
}

static void read_probes(struct walk *walk, unw_cursor_t *cursor, const struct unwind_frame *frame,
			size_t number)
{
	const struct unwind_probes *probes = walk->probes;

	for (size_t i = sorted_first(frame, probes->list, probes->num, sizeof(*probes->list),
				     compare_frame);
	     i < probes->num && !compare_frame(frame, &probes->list[i]); i++)
		if (!probes->list[i].probe.read.is_global)
			read_probe(walk, cursor, &probes->list[i].probe, probes->list[i].number,
				   number);
	for (size_t i = 0; number == 0 && i < probes->num; i++)
		if (probes->list[i].probe.read.is_global)
			read_probe(walk, cursor, &probes->list[i].probe, probes->list[i].number,
				   number);
}

/* Number frames from the outermost one, and sort by that. */
static void finish_values(struct walk *walk, size_t num_frames)
{
	for (size_t i = 0; i < walk->num_values; i++)
		walk->values[i].depth = (uint32_t)(num_frames - 1 - walk->values[i].depth);
	for (size_t i = 0, j = walk->num_values; i + 1 < j--; i++) {
		struct sample_value value = walk->values[i];

		walk->values[i] = walk->values[j];
		walk->values[j] = value;
	}
}

/* ---- Contents ---- */

/* Of the frame that the cursor is at; 0: not known. */
static uint64_t hash_registers(const struct walk *walk, unw_cursor_t *cursor)
{
	uint64_t hash = 1;
	unw_word_t word;

	for (int i = 0; i < WALK_REGISTERS; i++) {
		if (!(KEPT_REGISTERS >> i & 1))
			continue;
		if (walk->is_guessed || unw_get_reg(cursor, i, &word))
			return 0;
		hash = hash_word(hash, word);
	}
	return hash;
}

/* Of the frame that the stack pointer was in before the last step. */
static void note_contents(struct walk *walk, unw_cursor_t *cursor, uint64_t hash, unw_word_t from,
			  size_t frame)
{
	unw_word_t to, word;

	if (!hash || walk->is_guessed || unw_get_reg(cursor, UNW_REG_SP, &to))
		return;
	for (unw_word_t at = from; at < to; at += sizeof(word)) {
		if (!walk_read_part(&walk->tracee->stack, at, &word))
			return;
		hash = hash_word(hash, word);
	}
	walk_add_value(walk, frame, SAMPLE_CONTENTS, (int64_t)hash);
}

/* ---- Walks ---- */

/* Collect the frames, innermost first. Returns how many. */
static size_t collect(struct walk *walk, struct unwind_frame frames[MAX_FRAMES],
		      struct unwind_result *result)
{
	unw_cursor_t cursor;
	bool wants_contents = walk->probes && walk->probes->wants_contents;
	bool is_return = false, is_signal;
	unw_word_t ip;
	size_t num = 0;
	int status = -1;

	walk->looks_left = STEP_LOOKS;
	if (unw_init_remote(&cursor, walk->space->as, walk)) {
		unwind_locate(walk->space, tracee_pc(&walk->tracee->regs), false, &frames[0]);
		return 1;
	}
	do {
		uint64_t registers = 0;
		unw_word_t from = 0;

		if (num == MAX_FRAMES) {
			result->is_too_deep = true;
			return num;
		}
		/* 0 is where the outermost frame would return to. */
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) || (num > 0 && !ip))
			break;
		is_signal = is_trampoline(walk, ip);
		if (is_signal)
			locate_signal(walk, &cursor, ip, &frames[num]);
		else
			unwind_locate(walk->space, ip, is_return, &frames[num]);
		if (walk->probes)
			read_probes(walk, &cursor, &frames[num], num);
		num++;
		/* What a signal interrupted called nothing: its address is no return address. */
		is_return = !is_signal;
		if (wants_contents && !unw_get_reg(&cursor, UNW_REG_SP, &from))
			registers = hash_registers(walk, &cursor);
		walk->looks_left = STEP_LOOKS;
		status = walk_look(walk, WALK_FRAME_LOOKS) ? unw_step(&cursor) : -1;
		if (registers && status > 0)
			note_contents(walk, &cursor, registers, from, num - 1);
	} while (status > 0);
	/* Without unwind information libunwind guesses by the frame pointer, and takes a 0 in there
	 * for the end of the stack. Code in no module has no such information. */
	result->is_complete = status == 0 && frames[num - 1].module != MODULE_NONE;
	return num;
}

void unwind_walk(struct unwind_space *space, const struct tracee *tracee,
		 const struct unwind_probes *probes, struct callpaths *callpaths,
		 struct unwind_result *ret)
{
	struct walk walk = {
		.space = space, .tracee = tracee, .probes = probes, .blocked = tracee->blocked};
	struct unwind_frame *frames = xcalloc(MAX_FRAMES, sizeof(*frames));
	size_t num, num_native;

	memset(ret, 0, sizeof(*ret));
	if (!space->is_limited)
		space->looks_left = WALK_LOOKS;
	num = num_native = collect(&walk, frames, ret);
	if (tracee->python && !python_merge(tracee->python, images_modules(space->images), frames,
					    &num, MAX_FRAMES)) {
		ret->is_complete = false;
		ret->is_late = tracee->python->is_late;
		ret->is_too_deep = !ret->is_late;
	}
	if (tracee->python && probes && probes->wants_variables)
		ret->variables =
			python_variables(tracee->python, images_modules(space->images), num);
	ret->path = intern(callpaths, frames, num);
	ret->missing = ret->is_complete ? 0 : walk.missing;
	/* Probes are for frames of machine code alone. */
	if (num != num_native)
		walk.num_values = 0;
	finish_values(&walk, num);
	ret->values = walk.values;
	ret->num_values = walk.num_values;
	free(frames);
}
