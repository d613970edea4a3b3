/* SPDX-License-Identifier: BSD-3-Clause
 * The name of a function, from the symbol table of its file: for filters by name. */
#ifndef PDB_RECORDER_ELF_NAME_H
#define PDB_RECORDER_ELF_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The function at this ELF virtual address. False: the file cannot be read, or has no symbol there.
 */
bool elf_name_find(const char *path, uint64_t address, char *name, size_t size);

#endif
