/* SPDX-License-Identifier: BSD-3-Clause
 * Programs and libraries as they lie in memory, for the unwinder. Headers and unwind tables are
 * read from a process (or core) that has the object mapped. Its file may have been replaced or be
 * in another mount namespace. Pages that are never written to are equal in all processes and read
 * once. */
#pragma once

#include "model/base.h"
#include "model/job/modules.h"

struct maps_object;
struct memory;

struct image {
	uint32_t module;        /* id in the modules */
	uint64_t first_address; /* ELF virtual address at which the object begins */
	uint64_t size;          /* bytes of address space */
	/* The sorted table in .eh_frame_hdr; num_entries is 0 where there is none. */
	uint64_t eh_frame_hdr; /* ELF virtual addresses */
	uint64_t eh_table;
	uint64_t num_entries;
	struct arena *arena; /* that it is in */
};

/* The build-id of the object at `start`: its length, 0: it has none, -1: no headers in memory. */
ssize_t image_build_id(const struct memory *memory, uint64_t start, uint8_t build_id[BUILD_ID_MAX]);

/* The same of a file: `file` reads it by offsets. */
ssize_t image_file_build_id(const struct memory *file, uint8_t build_id[BUILD_ID_MAX]);

/* The modules are borrowed. */
struct images *images_create(struct modules *modules);
void images_destroy(struct images *images); /* NULL is fine */
struct modules *images_modules(const struct images *images);

/* NULL: no ELF file, or not to be read. Borrowed, valid as long as `images`. */
struct image *images_get(struct images *images, const struct memory *memory,
			 const struct maps_object *object);

/* One word at ELF virtual address `address`, aligned to 8 bytes, of a page that is not writable;
 * from the cache, or from memory that has the image at load bias `bias`. -1: no such memory. */
int image_read_word(struct image *image, const struct memory *memory, uint64_t bias,
		    uint64_t address, uint64_t *ret);
