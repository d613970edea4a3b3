/* SPDX-License-Identifier: BSD-3-Clause
 * The memory of a process from its core, completed by the files that it had mapped, since a core
 * holds neither code nor constants. A file is used only if it is the one that was mapped: by
 * build-id, or, if the core does not hold that, if the file has not been written since. */
#pragma once

#include "model/base.h"

struct core_file;

enum mapped_state {
	MAPPED_UNUSED, /* nothing of it was needed */
	MAPPED_SAME,
	MAPPED_UNCHECKED, /* the core does not have its build-id, but the file is old enough */
	MAPPED_DIFFERS,
	MAPPED_MISSING, /* there is no such file, or it cannot be read */
};

/* The core is borrowed. */
struct core_memory *core_memory_create(const struct core_file *core);
void core_memory_destroy(struct core_memory *memory); /* NULL is fine */

/* Was more asked for than the core's budget? */
bool core_memory_is_exhausted(const struct core_memory *memory);

/* The mappings; the caller takes them (maps_destroy), and reads as long as it has them. Devices and
 * inodes are our own. An object whose file differs and that has no build-id has its bare name as
 * path, so that no names are taken from the file. */
struct maps *core_memory_steal_maps(struct core_memory *memory);

/* The files that it had mapped, after everything was read that is needed. The path is borrowed. */
size_t core_memory_num_files(const struct core_memory *memory);
enum mapped_state core_memory_file(const struct core_memory *memory, size_t i,
				   const char **path_ret);

/* For struct memory: `context` is a struct core_memory. What is read in all is bounded by the
 * core's budget, and ends when somebody interrupts: then nothing can be read any more. */
int core_memory_read(void *context, uint64_t address, void *buffer, size_t size);
