/* SPDX-License-Identifier: BSD-3-Clause
 * glibc numbers the modules that have thread-locals. A list tells the module of each number
 * (dtv_slotinfo_list), and a table of each thread its block of each number (dtv). Both have
 * generations: a block that is older than the entry of the list is one of a module that is gone. */
#include "attach/process/elf_symbol.h"
#include "attach/process/maps.h"
#include "attach/stacks/thread_locals.h"
#include "attach/stacks/tracee.h"
#include "attach/stacks/unwind_private.h"

enum { MAX_PARTS = 64, MAX_SLOTS = 1024 };

/* As glibc's nptl_db describes a field: bits of an element, elements, where it begins. */
struct field {
	uint32_t bits, num, offset;
};

struct slot {
	uint64_t generation, map;
};

struct part {
	uint64_t num, next;
};

/* An entry of a thread's table; the first one is the generation, the one before how many. */
struct block {
	uint64_t address, to_free;
};

#define NOT_YET UINT64_MAX

static bool get(const struct unwind_space *space, uint64_t address, void *ret, size_t size)
{
	return memory_get(&space->memory, address, ret, size) == 0;
}

static uint64_t pointer_of_thread(const struct tracee *tracee)
{
#if defined(__x86_64__)
	return tracee->regs.fs_base;
#else
	(void)tracee;
	return 0;
#endif
}

/* Where the list of modules begins. */
static bool find_list(const struct unwind_space *space, uint64_t *ret)
{
	static const char name[] = "_thread_db_rtld_global__dl_tls_dtv_slotinfo_list";
	const struct maps_object *linker = maps_find_object(space->maps, "ld-linux");
	const struct maps_object *library = maps_find_object(space->maps, "libc.so");
	const struct maps_object *threads = maps_find_object(space->maps, "libpthread");
	pid_t pid = space->memory.pid;
	uint64_t global, described;
	struct field field;

	return pid && linker && !elf_symbol_find(pid, linker, "_rtld_global", &global, NULL) &&
	       ((library && !elf_symbol_find(pid, library, name, &described, NULL)) ||
		(threads && !elf_symbol_find(pid, threads, name, &described, NULL))) &&
	       get(space, described, &field, sizeof(field)) && field.bits == 64 &&
	       get(space, global + field.offset, ret, sizeof(*ret));
}

/* The number of the module that is loaded at `bias`; 0: it has none. */
static uint64_t find_number(const struct unwind_space *space, uint64_t list, uint64_t bias,
			    uint64_t *generation_ret)
{
	struct slot slots[MAX_SLOTS];
	struct part part;
	uint64_t first = 0;

	for (int i = 0; list && i < MAX_PARTS; i++) {
		if (!get(space, list, &part, sizeof(part)) || part.num > MAX_SLOTS ||
		    !get(space, list + sizeof(part), slots, part.num * sizeof(*slots)))
			return 0;
		for (uint64_t k = 0; k < part.num; k++) {
			uint64_t loaded;

			/* Number 0 is no module's, whatever is there. */
			if (!(first + k) || !slots[k].map ||
			    !get(space, slots[k].map, &loaded, sizeof(loaded)) || loaded != bias)
				continue;
			*generation_ret = slots[k].generation;
			return first + k;
		}
		first += part.num;
		list = part.next;
	}
	return 0;
}

enum code_status thread_locals_find(struct unwind_space *space, const struct tracee *tracee,
				    uint32_t module, uint64_t offset, uint64_t *ret)
{
	uint64_t thread = pointer_of_thread(tracee), bias, list, number, generation, table;
	struct block most, first, block;

	if (!thread || !unwind_bias(space, module, &bias) || !find_list(space, &list))
		return CODE_NO_THREAD;
	number = find_number(space, list, bias, &generation);
	/* The thread's own data begins with its address, then there is its table. */
	if (!number || !get(space, thread + sizeof(thread), &table, sizeof(table)) ||
	    !get(space, table - sizeof(most), &most, sizeof(most)) ||
	    !get(space, table, &first, sizeof(first)))
		return CODE_NO_THREAD;
	if (number > most.address || generation > first.address)
		return CODE_NO_THREAD_YET;
	if (!get(space, table + number * sizeof(block), &block, sizeof(block)))
		return CODE_NO_THREAD;
	if (block.address == NOT_YET || !block.address)
		return CODE_NO_THREAD_YET;
	*ret = block.address + offset;
	return CODE_READ;
}
