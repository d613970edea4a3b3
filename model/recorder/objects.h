/* SPDX-License-Identifier: BSD-3-Clause
 * The loaded objects of this process: from a return address to (module, offset), for callers with
 * the recorder's lock; which object has a function of a given name; the name of a function, from
 * its file. */
#pragma once

#include "model/recorder/writer.h"

struct object {
	uintptr_t low, high; /* of its executable segments */
	uintptr_t bias;
	uint8_t build_id[32];
	uint8_t build_id_size;
	uint32_t module; /* in the segment; SEG_NO_FRAME: not needed yet */
};

struct objects {
	struct object *list;
	uint32_t num, capacity;
	unsigned long long adds, subs; /* the dynamic linker's counts when the list was made */
	uint64_t generation;           /* raised when something was unloaded */
};

/* Compare with the dynamic linker's counts and read the list again if it has changed. False when
 * there is no memory. */
bool objects_refresh(struct objects *o);

/* Module of an address, published in the segment if it is not yet, and its offset there. Code in
 * no object: SEG_NO_FRAME and the address. False when the segment is full. */
bool objects_find(struct objects *o, struct writer *w, uintptr_t address, uint32_t *module_ret,
		  uint64_t *offset_ret);

/* How many loaded objects define a function of that name, whatever scope they were loaded into.
 * *first_ret: its address in the one that was loaded first, or NULL. */
unsigned loaded_count(const char *function, void **first_ret);

/* The function at this ELF virtual address of a file. False: it cannot be read, or has no symbol
 * there. */
bool elf_name_find(const char *path, uint64_t address, char *name, size_t size);
