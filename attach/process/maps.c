/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/sysmacros.h>

#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/process/procfs.h"

const char *maps_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The kernel writes newlines in paths as \012 and leaves all else alone. */
static void unescape(char *path)
{
	char *to = path;

	for (; *path; path++) {
		if (!strncmp(path, "\\012", 4)) {
			*to++ = '\n';
			path += 3;
		} else {
			*to++ = *path;
		}
	}
	*to = '\0';
}

/* The object of a range: the previous range's if it is the same file, else a new one. An object
 * begins at file offset 0; a file mapped twice is two objects. */
static uint32_t object_of_range(struct maps *maps, const struct maps_range *range, const char *path)
{
	static const char deleted[] = " (deleted)";
	struct maps_object *object;
	size_t length = strlen(path);

	if (maps->num_objects) {
		object = &maps->objects[maps->num_objects - 1];
		if (object->inode == range->inode && object->device == range->device &&
		    range->inode && range->file_offset > 0) {
			object->has_code |= range->is_executable;
			return (uint32_t)(maps->num_objects - 1);
		}
	}
	if (range->file_offset != 0)
		return MAPS_NO_OBJECT;
	object = XPUSH(maps->objects, maps->num_objects, maps->objects_capacity);
	object->is_deleted = length > sizeof(deleted) - 1 &&
			     !strcmp(path + length - (sizeof(deleted) - 1), deleted);
	if (object->is_deleted)
		length -= sizeof(deleted) - 1;
	object->path = xstrndup(path, length);
	object->device = range->device;
	object->inode = range->inode;
	object->start = range->start;
	object->has_code = range->is_executable;
	return (uint32_t)(maps->num_objects - 1);
}

void maps_add(struct maps *maps, const struct maps_range *range, const char *path)
{
	struct maps_range *copy = XPUSH(maps->ranges, maps->num_ranges, maps->ranges_capacity);
	*copy = *range;
	copy->object = path ? object_of_range(maps, range, path) : MAPS_NO_OBJECT;
}

static void parse_line(struct maps *maps, char *line)
{
	unsigned long long start, end, offset, inode;
	unsigned int major_number, minor_number;
	char flags[5];
	int used = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, flags, &offset,
		   &major_number, &minor_number, &inode, &used) < 7 ||
	    !used || start >= end || strlen(flags) != 4)
		return;
	if (maps->num_ranges && start < maps->ranges[maps->num_ranges - 1].end)
		return;
	struct maps_range range = {
		.start = start,
		.end = end,
		.file_offset = offset,
		.device = makedev(major_number, minor_number),
		.inode = inode,
		.is_readable = flags[0] == 'r',
		.is_writable = flags[1] == 'w',
		.is_executable = flags[2] == 'x',
		.is_shared = flags[3] == 's',
	};
	char *path = line + used;
	unescape(path);
	maps_add(maps, &range, path[0] == '/' || !strcmp(path, "[vdso]") ? path : NULL);
}

struct maps *maps_create(void)
{
	return xcalloc(1, sizeof(struct maps));
}

struct maps *maps_parse(char *text)
{
	struct maps *maps = maps_create();
	char *line;

	while ((line = strsep(&text, "\n")))
		parse_line(maps, line);
	return maps;
}

struct maps *maps_read(pid_t pid)
{
	char *text = procfs_read(pid, "maps", NULL);

	if (!text)
		return NULL;
	struct maps *maps = maps_parse(text);
	free(text);
	/* A process that is ending has no memory any more, and neither has a kernel thread. */
	if (!maps->num_ranges) {
		maps_destroy(maps);
		errno = ESRCH;
		return NULL;
	}
	return maps;
}

void maps_destroy(struct maps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < maps->num_objects; i++)
		free(maps->objects[i].path);
	free(maps->objects);
	free(maps->ranges);
	free(maps);
}

const struct maps_range *maps_find(const struct maps *maps, uint64_t address)
{
	return memory_find_range(maps->ranges, maps->num_ranges, sizeof(*maps->ranges), address);
}

const struct maps_object *maps_find_object(const struct maps *maps, const char *prefix)
{
	size_t i, length = strlen(prefix);

	for (i = 0; i < maps->num_objects; i++)
		if (!strncmp(maps_base(maps->objects[i].path), prefix, length))
			return &maps->objects[i];
	return NULL;
}

bool maps_find_variables(const struct maps *maps, const struct maps_object *object,
			 uint64_t *start_ret, uint64_t *end_ret)
{
	bool is_found = false;

	for (size_t i = 0; i < maps->num_ranges; i++) {
		const struct maps_range *range = &maps->ranges[i];
		bool is_own =
			range->object != MAPS_NO_OBJECT && &maps->objects[range->object] == object;
		bool follows = is_found && range->object == MAPS_NO_OBJECT && !range->inode &&
			       range->start == *end_ret;

		if (!range->is_writable || (!is_own && !follows))
			continue;
		if (!is_found)
			*start_ret = range->start;
		*end_ret = range->end;
		is_found = true;
	}
	return is_found;
}

bool maps_has_mpi(const struct maps *maps)
{
	/* libmpi.so.40, libmpich.so.12, libmpi_cxx.so.1, libmpifort.so.12, libmpi_gnu.so */
	return maps_find_object(maps, "libmpi") != NULL;
}
