/* SPDX-License-Identifier: BSD-3-Clause */
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

#include "attach/image.h"
#include "attach/maps.h"
#include "attach/memory.h"
#include "attach/python.h"
#include "attach/tracee.h"
#include "attach/unwind.h"
#include "model/callpath.h"
#include "model/modules.h"
#include "model/xalloc.h"

#define MAX_FRAMES 4096

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
};

/* What the accessors are given: one walk. */
struct walk {
	struct unwind_space *space;
	const struct tracee *tracee;
	uint64_t missing;
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

/* ---- Accessors --------------------------------------------------------------------------------
 */

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
	if (write)
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

	image = find_image(walk->space, range, &bias);
	if (!image || !image->num_entries || !range->is_executable)
		return -UNW_ENOINFO;
	table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	table.start_ip = range->start;
	table.end_ip = range->end;
	table.u.rti.segbase = bias + image->eh_frame_hdr;
	table.u.rti.table_data = bias + image->eh_table;
	table.u.rti.table_len = image->num_entries * 8 / sizeof(unw_word_t);
	return UNW_OBJ(dwarf_search_unwind_table)(as, ip, &table, info, need_unwind_info, arg);
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

/* ---- Spaces and walks -------------------------------------------------------------------------
 */

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

static uint32_t intern(struct callpaths *callpaths, const struct unwind_frame *frames, size_t num)
{
	uint32_t path = CALLPATH_NONE;

	while (num-- > 0)
		path = callpaths_intern(callpaths, path, frames[num].module, frames[num].offset,
					frames[num].is_return);
	return path;
}

/* Collect the frames, innermost first. Returns how many. */
static size_t collect(struct walk *walk, struct unwind_frame frames[MAX_FRAMES],
		      struct unwind_result *result)
{
	unw_cursor_t cursor;
	bool is_return = false;
	unw_word_t ip;
	size_t num = 0;
	int status;

	if (unw_init_remote(&cursor, walk->space->as, walk)) {
		locate(walk->space, tracee_pc(&walk->tracee->regs), false, &frames[0]);
		return 1;
	}
	do {
		if (num == MAX_FRAMES) {
			result->is_too_deep = true;
			return num;
		}
		/* 0 is where the outermost frame would return to. */
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) || (num > 0 && !ip))
			break;
		locate(walk->space, ip, is_return, &frames[num++]);
		/* What a signal interrupted did not call anything: its address is no return
		 * address. */
		is_return = !unw_is_signal_frame(&cursor);
		status = unw_step(&cursor);
	} while (status > 0);
	/* Without unwind information libunwind guesses by the frame pointer, and takes a 0 in there
	 * for the end of the stack. Code in no module has no such information. */
	result->is_complete = status == 0 && frames[num - 1].module != MODULE_NONE;
	return num;
}

void unwind_walk(struct unwind_space *space, const struct tracee *tracee,
		 struct callpaths *callpaths, struct unwind_result *ret)
{
	struct walk walk = {.space = space, .tracee = tracee};
	struct unwind_frame *frames = xcalloc(MAX_FRAMES, sizeof(*frames));
	size_t num;

	memset(ret, 0, sizeof(*ret));
	num = collect(&walk, frames, ret);
	if (tracee->python && !python_merge(tracee->python, images_modules(space->images), frames,
					    &num, MAX_FRAMES)) {
		ret->is_complete = false;
		ret->is_too_deep = true;
	}
	ret->path = intern(callpaths, frames, num);
	ret->missing = ret->is_complete ? 0 : walk.missing;
	free(frames);
}
