/* SPDX-License-Identifier: BSD-3-Clause
 * Machine code of functions, decoded with Capstone (x86-64 and AArch64) from the files of the
 * modules, and the functions' variables.
 *
 * code.c finds all parts of a function and decodes them. code_x86.c and code_arm64.c decode an
 * instruction; code_build.c has what both make: effects, sums, tables of switches. code_file.c
 * finds where functions begin and end in a file, variables.c where integer variables are, by DWARF.
 * Results are kept in a code store (model/job/code_store.h), where analyses find them. */
#pragma once

#include "model/base.h"

struct code_store;

/* Both are borrowed. Functions go into the store; those that are there are not looked for. */
struct code_reader *code_reader_create(const struct modules *modules, struct code_store *store);
void code_reader_destroy(struct code_reader *reader); /* NULL is fine */

/* The function that holds the ELF virtual address, with all its parts. Its bounds are those of its
 * symbol, or of its unwind information where there is none. Borrowed, valid as long as the store;
 * NULL: ERROR_NOT_FOUND no such file or function, ERROR_UNSUPPORTED another architecture. */
const struct code_function *code_reader_get(struct code_reader *reader, uint32_t module,
					    uint64_t address, struct pdb_error *err);

/* The name of the function at an address, or of the one that a stub there leads to. The caller
 * frees; NULL: not known. */
char *code_reader_name(struct code_reader *reader, uint32_t module, uint64_t address);

/* Where a module's file calls what is at the address, or jumps there: bytes that look so may be
 * something else. At most `max`, ascending. Returns how many; SIZE_MAX: there are more, or it is not
 * known. */
size_t code_reader_calls(struct code_reader *reader, uint32_t module, uint64_t target,
			 uint64_t *ret, size_t max);
/* May the module's file name the function? True also where the file is not there. */
bool code_reader_may_import(struct code_reader *reader, uint32_t module, const char *name);
