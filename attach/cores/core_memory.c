/* SPDX-License-Identifier: BSD-3-Clause */
#include <elf.h>
#include <fcntl.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uthash.h>

#include "attach/cores/core_file.h"
#include "attach/cores/core_memory.h"
#include "attach/process/image.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "model/interrupt.h"
#include "model/regular_file.h"

#define PAGE ((uint64_t)4096)
/* Bytes that may be read in all: what any core needs of headers and tables, and the core itself. */
#define BUDGET(core) (((uint64_t)8 << 20) + 2 * (core)->budget)
/* What a look costs beside its bytes, and to open a file. */
enum { COST_READ = 64, COST_OPEN = 2048 };

/* Names for files, as a core has neither devices nor inodes. */
enum { DEVICE_FILES = 1, DEVICE_KERNEL = 2 };

struct file {
	char *path;
	size_t number;
	enum mapped_state state;
	int fd;         /* -1: not used */
	uint64_t size;  /* in bytes, where it is used */
	bool is_needed; /* something was to be read from it */
	UT_hash_handle hh;
};

struct core_memory {
	const struct core_file *core;
	uint64_t left; /* of the budget */
	struct maps *maps;
	bool maps_are_stolen;
	struct arena *arena;
	struct file **files; /* by number */
	size_t num_files, files_capacity;
	struct file *by_path;
};

static struct file *get_file(struct core_memory *memory, const char *path)
{
	struct file *file;

	HASH_FIND_STR(memory->by_path, path, file);
	if (file)
		return file;
	file = arena_alloc(memory->arena, sizeof(*file));
	file->path = arena_strdup(memory->arena, path);
	file->number = memory->num_files;
	file->fd = -1;
	HASH_ADD_KEYPTR(hh, memory->by_path, file->path, strlen(file->path), file);
	*ARENA_PUSH(memory->arena, memory->files, memory->num_files, memory->files_capacity) = file;
	return file;
}

static void add_range(struct core_memory *memory, uint64_t start, uint64_t end,
		      const struct core_segment *segment, const struct core_mapping *mapping)
{
	struct maps_range range = {
		.start = start,
		.end = end,
		.is_readable = !segment || segment->is_readable,
		.is_writable = segment && segment->is_writable,
		.is_executable = !segment || segment->is_executable,
	};

	if (!mapping) {
		bool is_vdso = start == core_file_auxv(memory->core, AT_SYSINFO_EHDR);

		range.device = is_vdso ? DEVICE_KERNEL : 0;
		range.inode = is_vdso;
		maps_add(memory->maps, &range, is_vdso ? "[vdso]" : NULL);
		return;
	}
	range.device = DEVICE_FILES;
	range.inode = get_file(memory, mapping->path)->number + 1;
	range.file_offset = mapping->file_offset + (start - mapping->start);
	maps_add(memory->maps, &range, mapping->path);
}

/* Segments and mappings are two lists of the same address space; some writers leave segments out of
 * which they dump nothing. Cut it wherever one of either begins or ends. */
static void make_maps(struct core_memory *memory)
{
	const struct core_file *core = memory->core;
	const struct core_segment *segment = core->segments;
	const struct core_segment *segments_end = segment + core->num_segments;
	const struct core_mapping *mapping = core->mappings;
	const struct core_mapping *mappings_end = mapping + core->num_mappings;
	uint64_t at = 0;

	for (;;) {
		uint64_t next_segment, next_mapping, start, end;
		bool in_segment, in_mapping;

		while (segment < segments_end && segment->end <= at)
			segment++;
		while (mapping < mappings_end && mapping->end <= at)
			mapping++;
		if (segment == segments_end && mapping == mappings_end)
			return;
		next_segment = segment < segments_end ? segment->start : UINT64_MAX;
		next_mapping = mapping < mappings_end ? mapping->start : UINT64_MAX;
		start = MIN(next_segment, next_mapping);
		if (start < at)
			start = at;
		in_segment = next_segment <= start && segment < segments_end;
		in_mapping = next_mapping <= start && mapping < mappings_end;
		end = MIN(in_segment ? segment->end : next_segment,
			  in_mapping ? mapping->end : next_mapping);
		add_range(memory, start, end, in_segment ? segment : NULL,
			  in_mapping ? mapping : NULL);
		at = end;
	}
}

static bool take(struct core_memory *memory, size_t cost)
{
	if (memory->left < cost || interrupt_pending()) {
		memory->left = 0;
		return false;
	}
	memory->left -= cost;
	return true;
}

static int read_core(void *context, uint64_t address, void *buffer, size_t size)
{
	struct core_memory *memory = context;

	return take(memory, size + COST_READ) ? core_file_read(memory->core, address, buffer, size)
					      : -1;
}

static int read_mapped_file(void *context, uint64_t address, void *buffer, size_t size)
{
	int fd = *(const int *)context;

	return address > INT64_MAX || pread(fd, buffer, size, (off_t)address) != (ssize_t)size ? -1
											       : 0;
}

static bool has_build_id(int fd, const uint8_t *build_id, ssize_t size)
{
	struct memory file = {.read = read_mapped_file, .context = &fd};
	uint8_t found[BUILD_ID_MAX];

	return image_file_build_id(&file, found) == size && !memcmp(found, build_id, (size_t)size);
}

static enum mapped_state check_file(struct core_memory *memory, uint64_t start, int fd,
				    const struct stat *status, ssize_t *build_id_size_ret)
{
	struct memory dumped = {.read = read_core, .context = memory};
	uint8_t build_id[BUILD_ID_MAX];

	*build_id_size_ret = image_build_id(&dumped, start, build_id);
	if (*build_id_size_ret > 0)
		return has_build_id(fd, build_id, *build_id_size_ret) ? MAPPED_SAME
								      : MAPPED_DIFFERS;
	return core_file_written_ns(status) > memory->core->written_ns ? MAPPED_DIFFERS
								       : MAPPED_UNCHECKED;
}

static void open_object(struct core_memory *memory, struct maps_object *object)
{
	struct file *file = memory->files[object->inode - 1];
	ssize_t build_id_size = 0;
	struct stat status;

	if (file->state != MAPPED_UNUSED || !take(memory, COST_OPEN))
		return;
	int fd = regular_file_open(AT_FDCWD, object->path, 0, &status);
	file->state = fd < 0 ? MAPPED_MISSING
			     : check_file(memory, object->start, fd, &status, &build_id_size);
	if (file->state == MAPPED_SAME || file->state == MAPPED_UNCHECKED) {
		file->fd = fd;
		file->size = (uint64_t)status.st_size;
		return;
	}
	if (fd >= 0)
		close(fd);
	if (build_id_size <= 0) {
		char *bare = xstrdup(maps_base(object->path));

		free(object->path);
		object->path = bare;
	}
}

struct core_memory *core_memory_create(const struct core_file *core)
{
	struct core_memory *memory = xcalloc(1, sizeof(*memory));

	memory->core = core;
	memory->arena = arena_create();
	memory->left = BUDGET(core);
	memory->maps = maps_create();
	make_maps(memory);
	for (size_t i = 0; i < memory->maps->num_objects; i++) {
		struct maps_object *object = &memory->maps->objects[i];

		if (object->has_code && object->device == DEVICE_FILES)
			open_object(memory, object);
	}
	return memory;
}

void core_memory_destroy(struct core_memory *memory)
{
	if (!memory)
		return;
	HASH_CLEAR(hh, memory->by_path);
	for (size_t i = 0; i < memory->num_files; i++)
		if (memory->files[i]->fd >= 0)
			close(memory->files[i]->fd);
	if (!memory->maps_are_stolen)
		maps_destroy(memory->maps);
	arena_destroy(memory->arena);
	free(memory);
}

bool core_memory_is_exhausted(const struct core_memory *memory)
{
	return !memory->left;
}

struct maps *core_memory_steal_maps(struct core_memory *memory)
{
	memory->maps_are_stolen = true;
	return memory->maps;
}

size_t core_memory_num_files(const struct core_memory *memory)
{
	return memory->num_files;
}

enum mapped_state core_memory_file(const struct core_memory *memory, size_t i,
				   const char **path_ret)
{
	*path_ret = memory->files[i]->path;
	return memory->files[i]->is_needed ? memory->files[i]->state : MAPPED_UNUSED;
}

/* What is behind the end of the file in its last page is zero, as the kernel maps it. */
static int read_file(const struct core_memory *memory, uint64_t address, void *buffer, size_t size)
{
	const struct maps_range *range = maps_find(memory->maps, address);

	if (!range || range->device != DEVICE_FILES || range->end - address < size)
		return -1;
	struct file *file = memory->files[range->inode - 1];
	file->is_needed = true;
	uint64_t at = range->file_offset + (address - range->start);
	if (file->fd < 0 || at > INT64_MAX - size ||
	    at + size > ((file->size + PAGE - 1) & ~(PAGE - 1)))
		return -1;
	ssize_t n = pread(file->fd, buffer, size, (off_t)at);
	if (n < 0)
		return -1;
	memset((char *)buffer + n, 0, size - (size_t)n);
	return 0;
}

int core_memory_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct core_memory *memory = context;

	if (!take(memory, size + COST_READ))
		return -1;
	return core_file_read(memory->core, address, buffer, size)
		       ? read_file(memory, address, buffer, size)
		       : 0;
}
