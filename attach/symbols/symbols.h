/* SPDX-License-Identifier: BSD-3-Clause
 * From addresses to names with libdw: function (demangled), file and line, cached by build-id.
 * Modules are opened through /proc/PID/root of a process that has them, and build-ids are compared.
 * Without DWARF, .symtab and .dynsym are used. Separate debug files are used if installed; pdb
 * never uses the network (debuginfod stays off).
 *
 * debug_file.c opens a module's files, debug_functions.c finds the functions at an address,
 * symbol_table.c those of the linker, demangle.c makes names of symbols. cut_guard.c protects
 * against files that get shorter while they are read. */
#pragma once

#include "model/job/names.h"

struct symbols *symbols_create(const struct modules *modules); /* borrowed */
void symbols_destroy(struct symbols *symbols);

/* A names_resolve_fn: `symbols` is a struct symbols. */
int symbols_resolve(void *symbols, uint32_t module, uint64_t address, struct name *ret);
