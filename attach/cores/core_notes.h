/* SPDX-License-Identifier: BSD-3-Clause
 * The notes of a core file: threads, mappings of files, auxiliary vector. */
#ifndef PDB_ATTACH_CORE_NOTES_H
#define PDB_ATTACH_CORE_NOTES_H

#include <stdint.h>

struct core_file;
struct pdb_error;

/* Read the `size` bytes of notes at `at` of the file, aligned to 4 or 8 bytes, into *core. What is
 * cut short or makes no sense is left out. -1 and *err: there are more notes than are stored, or
 * somebody has interrupted it. */
int core_notes_read(struct core_file *core, uint64_t at, uint64_t size, uint64_t align,
		    struct pdb_error *err);

#endif
