/* SPDX-License-Identifier: BSD-3-Clause
 * An ELF file with the machine code of one function. */
#ifndef PDB_TESTS_CODE_FILE_H
#define PDB_TESTS_CODE_FILE_H

#include <elf.h>

#include "analysis/stacks/flow.h"
#include "attach/code/code.h"
#include "model/job/code.h"
#include "model/job/code_store.h"
#include "model/job/modules.h"

enum { CODE_FILE_BASE = 0x10000, CODE_FILE_SIZE = 128 };

struct opened {
	char path[64];
	struct modules *modules;
	struct code_store *store;
	struct code_reader *reader;
	uint32_t module;
	const struct code_function *code;
	struct flow *flow;
};

/* Write a file for that machine and open it: `size` bytes of the function at CODE_FILE_BASE, and
 * what follows it, up to `size_all`. whole: it is said to be a part of one there; or 0. */
void open_code(struct opened *opened, uint16_t machine, const void *text, size_t size,
	       size_t size_all, uint64_t whole);
void close_code(struct opened *opened);

#endif
