/* SPDX-License-Identifier: BSD-3-Clause
 * A program file: its symbols, unwind tables and machine code, and what the recorder reads of it.
 * The first two bytes are where in it is looked. */
#include <stdlib.h>
#include <string.h>

#include "attach/code/code.h"
#include "model/job/code.h"
#include "model/job/code_store.h"
#include "model/error.h"
#include "model/job/modules.h"
#include "model/recorder/objects.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint64_t address = fuzz_take(&bytes, &size, 2);
	const char *path = fuzz_path(bytes, size);
	struct modules *modules = modules_create();
	struct code_store *store = code_store_create();
	struct code_reader *reader = code_reader_create(modules, store);
	uint32_t module = modules_intern(modules, path, NULL, 0);
	struct pdb_error err;
	char name[64];

	elf_name_find(path, address, name, sizeof(name));
	code_reader_get(reader, module, address, &err);
	code_reader_destroy(reader);
	code_store_destroy(store);
	modules_destroy(modules);
	return 0;
}
