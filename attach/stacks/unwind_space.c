/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/process/image.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/stacks/tracee.h"
#include "attach/stacks/unwind_private.h"
#include "model/interrupt.h"
#include "model/job/modules.h"

/* Exported by libunwind for accessors such as these (its own for ptrace and core files use it too),
 * but declared in none of its headers. Searches a binary search table by way of access_mem. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *table,
				       unw_proc_info_t *info, int need_unwind_info, void *arg);

/* The image of an object of the maps, and its load bias; NULL if none. */
static struct image *get_image(struct unwind_space *space, size_t number, uint64_t *bias_ret)
{
	const struct maps_object *object = &space->maps->objects[number];
	struct image **image = &space->by_object[number];

	if (!*image)
		*image = images_get(space->images, &space->memory, object);
	if (*image)
		*bias_ret = object->start - (*image)->first_address;
	return *image;
}

static struct image *find_image(struct unwind_space *space, const struct maps_range *range,
				uint64_t *bias_ret)
{
	return range && range->object != MAPS_NO_OBJECT ? get_image(space, range->object, bias_ret)
							: NULL;
}

bool unwind_bias(struct unwind_space *space, uint32_t module, uint64_t *ret)
{
	for (size_t i = 0; i < space->maps->num_objects; i++) {
		const struct image *image = get_image(space, i, ret);

		if (image && image->module == module)
			return true;
	}
	return false;
}

void unwind_locate(struct unwind_space *space, uint64_t ip, bool is_return,
		   struct unwind_frame *ret)
{
	uint64_t bias;
	/* A call can be the last instruction of a mapping. */
	struct image *image = find_image(space, maps_find(space->maps, ip - is_return), &bias);

	*ret = (struct unwind_frame){ip, image ? image->module : MODULE_NONE,
				     image ? ip - bias : ip, is_return};
}

bool walk_look(struct walk *walk, uint64_t num)
{
	struct unwind_space *space = walk->space;

	/* Of a process that lives it is never long. */
	if (walk->looks_left < num || space->looks_left < num ||
	    (!space->memory.pid && interrupt_pending()))
		return false;
	walk->looks_left -= num;
	space->looks_left -= num;
	return true;
}

bool walk_read_part(const struct tracee_part *part, uint64_t address, unw_word_t *value)
{
	uint64_t offset = address - part->address;

	if (address < part->address || offset > part->size || part->size - offset < sizeof(*value))
		return false;
	memcpy(value, part->bytes + offset, sizeof(*value));
	return true;
}

bool walk_read(struct walk *walk, uint64_t address, unw_word_t *value)
{
	const struct memory *memory = &walk->space->memory;
	uint64_t bias;

	if (!walk_look(walk, 1))
		return false;
	if (walk_read_part(&walk->tracee->stack, address, value) ||
	    walk_read_part(&walk->tracee->other, address, value))
		return true;
	const struct maps_range *range = maps_find(walk->space->maps, address);
	if (!range || !range->is_readable)
		return false;
	struct image *image = find_image(walk->space, range, &bias);
	/* A writable page holds nothing that an unwinder needs, but the table entries of C++ code
	 * point through one to their personality routine: any value will do. */
	*value = 0;
	if (image)
		return range->is_writable ||
		       !image_read_word(image, memory, bias, address - bias, value);
	/* Only what does not change is as good as a copy. */
	if (!memory->pid && !memory_get(memory, address, value, sizeof(*value)))
		return true;
	if (range->is_writable && !walk->missing)
		walk->missing = address;
	return false;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write,
		      void *arg)
{
	(void)as;
	return !write && walk_read(arg, address, value) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value, int write,
		      void *arg)
{
	const struct walk *walk = arg;
	const struct user_regs_struct *regs = &walk->tracee->regs;
#if defined(__x86_64__)
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
#elif defined(__aarch64__)
	unsigned long long values[UNW_AARCH64_PC + 1] = {
		[UNW_AARCH64_SP] = regs->sp, [UNW_AARCH64_PC] = regs->pc};

	memcpy(values + UNW_AARCH64_X0, regs->regs, sizeof(regs->regs));
#endif
	(void)as;
	if (write || number < 0 || (size_t)number >= sizeof(values) / sizeof(values[0]))
		return -UNW_EBADREG;
	*value = values[number];
	return 0;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info,
			  int need_unwind_info, void *arg)
{
	struct walk *walk = arg;
	const struct maps_range *range = maps_find(walk->space->maps, ip);
	unw_dyn_info_t table = {0};
	uint64_t bias;
	struct image *image = find_image(walk->space, range, &bias);
	int status;

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

/* What is never called need not be there: registers of floating point, going on, names. */
static unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = get_dyn_info_list_addr,
	.access_mem = access_mem,
	.access_reg = access_reg,
};

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
	return space->is_limited && space->looks_left < WALK_FRAME_LOOKS;
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
