/* SPDX-License-Identifier: BSD-3-Clause
 * /proc/PID/maps: the mappings of a process, and the objects (program, libraries) they belong
 * to. */
#pragma once

#include "model/base.h"

#define MAPS_NO_OBJECT UINT32_MAX

/* One line: 7f5f0ccd3000-7f5f0ce28000 r-xp 00026000 fe:00 8466      /usr/lib/libc.so.6 */
struct maps_range {
	uint64_t start, end; /* end is the first address behind it */
	uint64_t file_offset;
	uint64_t device, inode; /* both 0: memory without a file */
	bool is_readable, is_writable, is_executable;
	bool is_shared;  /* with whoever maps it: what is written is there, too */
	uint32_t object; /* index into objects, or MAPS_NO_OBJECT */
};

/* A mapped file that may hold code, or the vdso. Its ranges follow each other. */
struct maps_object {
	char *path; /* without " (deleted)"; "[vdso]" for the kernel's */
	bool is_deleted;
	uint64_t device, inode;
	uint64_t start; /* of the range with file offset 0, where the ELF header is */
	bool has_code;  /* some range is executable */
};

struct maps {
	struct maps_range *ranges; /* ascending, not overlapping */
	size_t num_ranges, ranges_capacity;
	struct maps_object *objects; /* by address */
	size_t num_objects, objects_capacity;
};

/* Read and parse. NULL with errno set: ESRCH also for a process that is just ending (no lines). */
struct maps *maps_read(pid_t pid);
/* The same from text; lines that do not parse are left out. Changes the text. */
struct maps *maps_parse(char *text);
/* Empty. */
struct maps *maps_create(void);
/* Add a range behind the others; its `object` is found. path: of the file that is mapped there,
 * NULL if it is none that may hold code. */
void maps_add(struct maps *maps, const struct maps_range *range, const char *path);
void maps_destroy(struct maps *maps); /* NULL is fine */

/* The range that holds the address, or NULL. */
const struct maps_range *maps_find(const struct maps *maps, uint64_t address);

/* The first object whose file name (last component) begins with `prefix`, or NULL. */
const struct maps_object *maps_find_object(const struct maps *maps, const char *prefix);

/* Where the object has its variables: from its first writable range to the end of the memory
 * without a file that follows the last one, which is what begins as 0. False if it has none. */
bool maps_find_variables(const struct maps *maps, const struct maps_object *object,
			 uint64_t *start_ret, uint64_t *end_ret);

/* Is a library of MPI itself mapped (libmpi.so, libmpich.so, ...; not what launchers also have)? */
bool maps_has_mpi(const struct maps *maps);

/* The last component of a path. */
const char *maps_base(const char *path);
