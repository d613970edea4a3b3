/* SPDX-License-Identifier: BSD-3-Clause
 * Where a running process has a global variable or function of a library or of its executable. */
#ifndef PDB_ATTACH_ELF_SYMBOL_H
#define PDB_ATTACH_ELF_SYMBOL_H

#include <stdint.h>
#include <sys/types.h>

struct maps_object;

/* Open an object's file as the process sees it: /proc/PID/root/PATH, /proc/PID/exe for its
 * executable if that has been replaced or deleted, or PATH. Returns an fd; -1 with errno set. */
int elf_symbol_open(pid_t pid, const struct maps_object *object);

/* The address of `name` in that process, looked up in .dynsym and .symtab of the object's file.
 * *size_ret (may be NULL) is its size in bytes. -1 with errno set: ENOENT if the object
 * does not define it, ENOEXEC if it is no ELF file. */
int elf_symbol_find(pid_t pid, const struct maps_object *object, const char *name,
		    uint64_t *address_ret, uint64_t *size_ret);

#endif
