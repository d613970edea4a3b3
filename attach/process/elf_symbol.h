/* SPDX-License-Identifier: BSD-3-Clause
 * Symbols of libraries and executables: what they export, and where a running process has a global
 * variable or function. */
#pragma once

#include "model/base.h"

struct maps_object;

/* Does the library export a variable or function of that name itself? */
bool elf_symbol_is_exported(const char *path, const char *name);

/* Is the object the program that the process runs? */
bool elf_is_program(pid_t pid, const struct maps_object *object);

/* The address of `name` in that process, looked up in .dynsym and .symtab of the object's file.
 * *size_ret (may be NULL) is its size in bytes. -1 with errno set: ENOENT if the object does not
 * define it, ENOEXEC if it is no ELF file. */
int elf_symbol_find(pid_t pid, const struct maps_object *object, const char *name,
		    uint64_t *address_ret, uint64_t *size_ret);

/* A variable, by an address in it. */
struct elf_variable {
	char name[256];
	uint64_t offset; /* of the address in it */
	uint64_t size;   /* of all of it, in bytes */
};

/* The one that holds the address in that process, by .symtab or .dynsym of the object's file. Of
 * several names the first without leading underscore. -1: none, no name that fits, the file is not
 * the one that is mapped, or it has more than 250,000 symbols. */
int elf_symbol_at(pid_t pid, const struct maps_object *object, uint64_t address,
		  struct elf_variable *ret);
