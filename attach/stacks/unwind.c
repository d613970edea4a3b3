/* SPDX-License-Identifier: BSD-3-Clause */
#include <libunwind.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "attach/process/image.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/stacks/python.h"
#include "attach/stacks/tracee.h"
#include "attach/stacks/unwind.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/interrupt.h"
#include "model/job/modules.h"
#include "model/job/sample.h"
#include "model/xalloc.h"

#define MAX_FRAMES 4096

/* Unwind tables have loops and stacks of their own, and libunwind follows them. A look is that at a
 * word of memory; the largest functions of real programs take some 10,000 in a step. */
#define WALK_LOOKS ((uint64_t)4 << 20)
#define STEP_LOOKS ((uint64_t)128 << 10)
#define FRAME_LOOKS 16 /* what a frame counts as, at least */

/* Exported by libunwind for accessors such as these (its own for ptrace and core files use it too),
 * but declared in none of its headers. Searches a binary search table by way of access_mem. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *table,
				       unw_proc_info_t *info, int need_unwind_info, void *arg);

struct unwind_space {
	struct memory memory;
	struct maps *maps;
	struct images *images;
	struct image **by_object; /* of each of the maps' objects, filled when asked for */
	unw_addr_space_t as;
	bool is_limited;
	uint64_t looks_left; /* of all walks if it is limited, else of this one */
};

/* What the accessors are given: one walk. */
struct walk {
	struct unwind_space *space;
	const struct tracee *tracee;
	const struct unwind_probes *probes;
	uint64_t missing;
	uint64_t looks_left; /* of this step */
	uint64_t blocked;    /* signals in the frame at hand; 0 where that is not known */
	bool is_guessed; /* a frame had no unwind information: registers of those outside are not
			  * known */
	struct sample_value *values; /* depth: from the innermost frame, until all are known */
	size_t num_values, values_capacity;
};

/* The image that an address lies in, and the image's load bias there; NULL if none. */
static struct image *find_image(struct unwind_space *space, const struct maps_range *range,
				uint64_t *bias_ret)
{
	const struct maps_object *object;
	struct image **image;

	if (!range || range->object == MAPS_NO_OBJECT)
		return NULL;
	object = &space->maps->objects[range->object];
	image = &space->by_object[range->object];
	if (!*image)
		*image = images_get(space->images, &space->memory, object);
	if (!*image)
		return NULL;
	*bias_ret = object->start - (*image)->first_address;
	return *image;
}

/* ---- Accessors ---- */

/* False: it has taken too much, or somebody does not want it any more. Of a process that lives it
 * is never long. */
static bool look(struct walk *walk, uint64_t num)
{
	struct unwind_space *space = walk->space;

	if (walk->looks_left < num || space->looks_left < num ||
	    (!space->memory.pid && interrupt_pending()))
		return false;
	walk->looks_left -= num;
	space->looks_left -= num;
	return true;
}

static bool read_part(const struct tracee_part *part, uint64_t address, unw_word_t *value)
{
	uint64_t offset = address - part->address;

	if (address < part->address || offset > part->size || part->size - offset < sizeof(*value))
		return false;
	memcpy(value, part->bytes + offset, sizeof(*value));
	return true;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write,
		      void *arg)
{
	struct walk *walk = arg;
	const struct maps_range *range;
	struct image *image;
	uint64_t bias, word;

	(void)as;
	if (write || !look(walk, 1))
		return -UNW_EINVAL;
	if (read_part(&walk->tracee->stack, address, value) ||
	    read_part(&walk->tracee->other, address, value))
		return 0;
	range = maps_find(walk->space->maps, address);
	if (!range || !range->is_readable)
		return -UNW_EINVAL;
	image = find_image(walk->space, range, &bias);
	if (image) {
		/* A writable page holds nothing that an unwinder needs, but the table entries of
		 * C++ code point through one to their personality routine: any value will do. */
		if (range->is_writable)
			word = 0;
		else if (image_read_word(image, &walk->space->memory, bias, address - bias, &word))
			return -UNW_EINVAL;
		*value = word;
		return 0;
	}
	/* Only what does not change is as good as a copy. */
	if (!walk->space->memory.pid &&
	    !memory_get(&walk->space->memory, address, value, sizeof(*value)))
		return 0;
	if (range->is_writable && !walk->missing)
		walk->missing = address;
	return -UNW_EINVAL;
}

#if defined(__x86_64__)
static int access_reg(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value, int write,
		      void *arg)
{
	const struct walk *walk = arg;
	const struct user_regs_struct *regs = &walk->tracee->regs.raw;
	const unsigned long long values[] = {
		[UNW_X86_64_RAX] = regs->rax, [UNW_X86_64_RDX] = regs->rdx,
		[UNW_X86_64_RCX] = regs->rcx, [UNW_X86_64_RBX] = regs->rbx,
		[UNW_X86_64_RSI] = regs->rsi, [UNW_X86_64_RDI] = regs->rdi,
		[UNW_X86_64_RBP] = regs->rbp, [UNW_X86_64_RSP] = regs->rsp,
		[UNW_X86_64_R8] = regs->r8,   [UNW_X86_64_R9] = regs->r9,
		[UNW_X86_64_R10] = regs->r10, [UNW_X86_64_R11] = regs->r11,
		[UNW_X86_64_R12] = regs->r12, [UNW_X86_64_R13] = regs->r13,
		[UNW_X86_64_R14] = regs->r14, [UNW_X86_64_R15] = regs->r15,
		[UNW_X86_64_RIP] = regs->rip,
	};

	(void)as;
	if (write || number < 0 || (size_t)number >= sizeof(values) / sizeof(values[0]))
		return -UNW_EBADREG;
	*value = values[number];
	return 0;
}
#elif defined(__aarch64__)
static int access_reg(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value, int write,
		      void *arg)
{
	const struct walk *walk = arg;
	const struct user_regs_struct *regs = &walk->tracee->regs.raw;

	(void)as;
	if (write)
		return -UNW_EBADREG;
	if (number >= UNW_AARCH64_X0 && number <= UNW_AARCH64_X30)
		*value = regs->regs[number - UNW_AARCH64_X0];
	else if (number == UNW_AARCH64_SP)
		*value = regs->sp;
	else if (number == UNW_AARCH64_PC)
		*value = regs->pc;
	else
		return -UNW_EBADREG;
	return 0;
}
#endif

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info,
			  int need_unwind_info, void *arg)
{
	struct walk *walk = arg;
	const struct maps_range *range = maps_find(walk->space->maps, ip);
	unw_dyn_info_t table = {0};
	struct image *image;
	uint64_t bias;
	int status;

	image = find_image(walk->space, range, &bias);
	if (!image || !image->num_entries || !range->is_executable) {
		walk->is_guessed = true;
		return -UNW_ENOINFO;
	}
	table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	table.start_ip = range->start;
	table.end_ip = range->end;
	table.u.rti.segbase = bias + image->eh_frame_hdr;
	table.u.rti.table_data = bias + image->eh_table;
	table.u.rti.table_len = image->num_entries * 8 / sizeof(unw_word_t);
	status = UNW_OBJ(dwarf_search_unwind_table)(as, ip, &table, info, need_unwind_info, arg);
	walk->is_guessed |= status < 0;
	return status;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
	(void)as;
	(void)info;
	(void)arg;
}

static int get_dyn_info_list_addr(unw_addr_space_t as, unw_word_t *address, void *arg)
{
	(void)as;
	(void)address;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t number, unw_fpreg_t *value, int write,
			void *arg)
{
	(void)as;
	(void)number;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t ip, char *buffer, size_t size,
			 unw_word_t *offset, void *arg)
{
	(void)as;
	(void)ip;
	(void)buffer;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = get_dyn_info_list_addr,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = access_fpreg,
	.resume = resume,
	.get_proc_name = get_proc_name,
};

/* ---- Spaces ---- */

struct unwind_space *unwind_space_create(const struct memory *memory, struct maps *maps,
					 struct images *images)
{
	struct unwind_space *space = xcalloc(1, sizeof(*space));

	space->memory = *memory;
	space->maps = maps;
	space->images = images;
	space->by_object = xcalloc(maps->num_objects, sizeof(*space->by_object));
	space->as = unw_create_addr_space(&accessors, 0);
	if (!space->as)
		abort(); /* out of memory, as xmalloc() */
	unw_set_caching_policy(space->as, UNW_CACHE_GLOBAL);
	return space;
}

void unwind_space_limit(struct unwind_space *space, uint64_t looks)
{
	space->is_limited = true;
	space->looks_left = looks;
}

bool unwind_space_is_exhausted(const struct unwind_space *space)
{
	return space->is_limited && space->looks_left < FRAME_LOOKS;
}

void unwind_space_destroy(struct unwind_space *space)
{
	if (!space)
		return;
	unw_destroy_addr_space(space->as);
	maps_destroy(space->maps);
	free(space->by_object);
	free(space);
}

const struct maps *unwind_space_maps(const struct unwind_space *space)
{
	return space->maps;
}

static void locate(struct unwind_space *space, uint64_t ip, bool is_return,
		   struct unwind_frame *ret)
{
	uint64_t bias;
	/* A call can be the last instruction of a mapping. */
	struct image *image = find_image(space, maps_find(space->maps, ip - is_return), &bias);

	ret->address = ip;
	ret->module = image ? image->module : MODULE_NONE;
	ret->offset = image ? ip - bias : ip;
	ret->is_return = is_return;
}

/* In the frame that the kernel makes for a handler (struct rt_sigframe), from where the stack
 * pointer is when the handler has returned: the signal's information, and the signals that were
 * blocked before. And the code there, that calls rt_sigreturn: Linux has handlers return to it. */
#if defined(__x86_64__)
#define INFO_FROM_SP 304
static const uint8_t trampoline[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
#define MASK_FROM_SP offsetof(ucontext_t, uc_sigmask)
#elif defined(__aarch64__)
#define INFO_FROM_SP 0
static const uint8_t trampoline[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
#define MASK_FROM_SP (sizeof(siginfo_t) + offsetof(ucontext_t, uc_sigmask))
#endif

/* Does a handler return to there? unw_is_signal_frame() tells it of this frame or, in other
 * versions of libunwind, of the next one. */
static bool is_trampoline(struct walk *walk, uint64_t ip)
{
	uint64_t first = ip & ~UINT64_C(7), missing = walk->missing;
	unw_word_t words[2];
	int status = access_mem(walk->space->as, first, &words[0], 0, walk) ||
		     access_mem(walk->space->as, first + 8, &words[1], 0, walk);

	walk->missing = missing; /* code is not copied with the stack */
	return !status &&
	       !memcmp((const uint8_t *)words + (ip - first), trampoline, sizeof(trampoline));
}

/* Which signal's handler is called from the frame; 0: that cannot be told. The kernel blocks the
 * signal while its handler runs, and writes its information only where the handler asks for it:
 * else something older may be in that place. */
static unsigned int signal_number(struct walk *walk, unw_cursor_t *cursor)
{
	uint64_t added;
	unw_word_t sp, mask, info;

	if (unw_get_reg(cursor, UNW_REG_SP, &sp) ||
	    access_mem(walk->space->as, sp + MASK_FROM_SP, &mask, 0, walk))
		return 0;
	added = walk->blocked & ~mask;
	walk->blocked = mask;
	if (!(added & (added - 1)))
		return (unsigned int)ffsll((long long)added);
	if (access_mem(walk->space->as, sp + INFO_FROM_SP, &info, 0, walk))
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

static int compare_numbers(const void *a, const void *b, void *argument)
{
	const struct code_probe *probes = argument;
	const struct code_probe *x = &probes[*(const uint32_t *)a];
	const struct code_probe *y = &probes[*(const uint32_t *)b];

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (int)x->is_return - (int)y->is_return;
}

void unwind_probes_init(struct unwind_probes *probes, const struct code_probe *list, size_t num)
{
	*probes = (struct unwind_probes){.num = num};
	if (!num)
		return;
	probes->numbers = xcalloc(num, sizeof(*probes->numbers));
	for (size_t i = 0; i < num; i++)
		probes->numbers[i] = (uint32_t)i;
	qsort_r(probes->numbers, num, sizeof(*probes->numbers), compare_numbers, (void *)list);
	probes->probes = xcalloc(num, sizeof(*probes->probes));
	for (size_t i = 0; i < num; i++)
		probes->probes[i] = list[probes->numbers[i]];
}

void unwind_probes_deinit(struct unwind_probes *probes)
{
	free(probes->probes);
	free(probes->numbers);
	*probes = (struct unwind_probes){.num = 0};
}

static int compare_probe(const struct code_probe *probe, const struct unwind_frame *frame)
{
	if (probe->module != frame->module)
		return probe->module < frame->module ? -1 : 1;
	if (probe->offset != frame->offset)
		return probe->offset < frame->offset ? -1 : 1;
	return (int)probe->is_return - (int)frame->is_return;
}

/* The first probe that is not before the frame. */
static size_t first_probe(const struct unwind_probes *probes, const struct unwind_frame *frame)
{
	size_t low = 0, high = probes->num;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_probe(&probes->probes[middle], frame) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const int unwind_registers[] = {
#if defined(__x86_64__)
	UNW_X86_64_RAX, UNW_X86_64_RDX, UNW_X86_64_RCX, UNW_X86_64_RBX,
	UNW_X86_64_RSI, UNW_X86_64_RDI, UNW_X86_64_RBP, UNW_X86_64_RSP,
	UNW_X86_64_R8,  UNW_X86_64_R9,  UNW_X86_64_R10, UNW_X86_64_R11,
	UNW_X86_64_R12, UNW_X86_64_R13, UNW_X86_64_R14, UNW_X86_64_R15,
#elif defined(__aarch64__)
	UNW_AARCH64_X0,  UNW_AARCH64_X1,  UNW_AARCH64_X2,  UNW_AARCH64_X3,  UNW_AARCH64_X4,
	UNW_AARCH64_X5,  UNW_AARCH64_X6,  UNW_AARCH64_X7,  UNW_AARCH64_X8,  UNW_AARCH64_X9,
	UNW_AARCH64_X10, UNW_AARCH64_X11, UNW_AARCH64_X12, UNW_AARCH64_X13, UNW_AARCH64_X14,
	UNW_AARCH64_X15, UNW_AARCH64_X16, UNW_AARCH64_X17, UNW_AARCH64_X18, UNW_AARCH64_X19,
	UNW_AARCH64_X20, UNW_AARCH64_X21, UNW_AARCH64_X22, UNW_AARCH64_X23, UNW_AARCH64_X24,
	UNW_AARCH64_X25, UNW_AARCH64_X26, UNW_AARCH64_X27, UNW_AARCH64_X28, UNW_AARCH64_X29,
	UNW_AARCH64_X30, UNW_AARCH64_SP,
#endif
};

static bool read_register(unw_cursor_t *cursor, unsigned int number, unw_word_t *ret)
{
	unw_cursor_t caller = *cursor;

	/* The frame's address is what the stack pointer is in its caller. */
	if (number == CODE_CFA)
		return unw_step(&caller) > 0 && !unw_get_reg(&caller, UNW_REG_SP, ret);
	return number < sizeof(unwind_registers) / sizeof(unwind_registers[0]) &&
	       !unw_get_reg(cursor, unwind_registers[number], ret);
}

static bool read_place(struct walk *walk, unw_cursor_t *cursor, const struct code_place *place,
		       int64_t *ret)
{
	unw_word_t word;

	if (!read_register(cursor, place->reg, &word))
		return false;
	if (place->kind == CODE_MEMORY) {
		uint64_t address = word + (uint64_t)place->displacement;
		/* A whole word, which is not to reach beyond the copy. */
		uint64_t aligned = address & ~UINT64_C(7), shift = address - aligned;

		if (shift + place->size > 8 || access_mem(walk->space->as, aligned, &word, 0, walk))
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

	for (unsigned int i = 0; i < probe->value.num_terms; i++)
		if (walk->is_guessed ||
		    !read_place(walk, cursor, &probe->value.terms[i].place, &places[i]) ||
		    walk->is_guessed)
			return;
	value = code_extend(code_evaluate(&probe->value, places), probe->size, probe->is_signed);
	walk->values = xgrow(walk->values, walk->num_values, &walk->values_capacity,
			     sizeof(*walk->values));
	walk->values[walk->num_values++] = (struct sample_value){(uint32_t)frame, number, value};
}

static void read_probes(struct walk *walk, unw_cursor_t *cursor, const struct unwind_frame *frame,
			size_t number)
{
	const struct unwind_probes *probes = walk->probes;

	for (size_t i = first_probe(probes, frame);
	     i < probes->num && !compare_probe(&probes->probes[i], frame); i++)
		read_probe(walk, cursor, &probes->probes[i], probes->numbers[i], number);
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

/* Those that a function leaves as they were to who called it. */
static const int kept_registers[] = {
#if defined(__x86_64__)
	UNW_X86_64_RBX, UNW_X86_64_RBP, UNW_X86_64_R12,
	UNW_X86_64_R13, UNW_X86_64_R14, UNW_X86_64_R15,
#elif defined(__aarch64__)
	UNW_AARCH64_X19, UNW_AARCH64_X20, UNW_AARCH64_X21, UNW_AARCH64_X22,
	UNW_AARCH64_X23, UNW_AARCH64_X24, UNW_AARCH64_X25, UNW_AARCH64_X26,
	UNW_AARCH64_X27, UNW_AARCH64_X28, UNW_AARCH64_X29,
#endif
};

/* FNV-1a of whole words. */
static uint64_t hash_word(uint64_t hash, uint64_t word)
{
	return (hash ^ word ^ word >> 32) * UINT64_C(0x100000001b3);
}

/* Of the frame that the cursor is at; 0: not known. */
static uint64_t hash_registers(const struct walk *walk, unw_cursor_t *cursor)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	unw_word_t word;

	for (size_t i = 0; i < sizeof(kept_registers) / sizeof(kept_registers[0]); i++) {
		if (walk->is_guessed || unw_get_reg(cursor, kept_registers[i], &word))
			return 0;
		hash = hash_word(hash, word);
	}
	return hash;
}

/* Of the frame that the stack pointer was in before the last step, to which the cursor belongs now.
 */
static void note_contents(struct walk *walk, unw_cursor_t *cursor, uint64_t hash, unw_word_t from,
			  size_t frame)
{
	unw_word_t to, word;

	if (!hash || walk->is_guessed || unw_get_reg(cursor, UNW_REG_SP, &to))
		return;
	for (unw_word_t at = from; at < to; at += sizeof(word)) {
		if (!read_part(&walk->tracee->stack, at, &word))
			return;
		hash = hash_word(hash, word);
	}
	walk->values = xgrow(walk->values, walk->num_values, &walk->values_capacity,
			     sizeof(*walk->values));
	walk->values[walk->num_values++] =
		(struct sample_value){(uint32_t)frame, SAMPLE_CONTENTS, (int64_t)hash};
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
		locate(walk->space, tracee_pc(&walk->tracee->regs), false, &frames[0]);
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
			locate(walk->space, ip, is_return, &frames[num]);
		if (walk->probes)
			read_probes(walk, &cursor, &frames[num], num);
		num++;
		/* What a signal interrupted did not call anything: its address is no return
		 * address. */
		is_return = !is_signal;
		if (wants_contents && !unw_get_reg(&cursor, UNW_REG_SP, &from))
			registers = hash_registers(walk, &cursor);
		walk->looks_left = STEP_LOOKS;
		status = look(walk, FRAME_LOOKS) ? unw_step(&cursor) : -1;
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
