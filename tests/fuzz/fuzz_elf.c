/* SPDX-License-Identifier: BSD-3-Clause
 * A program file: its symbols, unwind tables and machine code, variables and their types, and what
 * the recorder reads of it.
 * The first two bytes are where in it is looked. */
#include <stdlib.h>
#include <string.h>

#include "attach/code/code.h"
#include "attach/values/expression.h"
#include "attach/values/values.h"
#include "model/arena.h"
#include "model/job/code.h"
#include "model/job/code_store.h"
#include "model/error.h"
#include "model/job/modules.h"
#include "model/recorder/objects.h"
#include "tests/fuzz/fuzz.h"

static void find_values(const struct modules *modules, uint32_t module, uint64_t address)
{
	static const struct expression_step steps[] = {
		{EXPRESSION_FOLLOW, NULL, 0, 0, false},  {EXPRESSION_MEMBER, "x", 0, 0, false},
		{EXPRESSION_ELEMENT, NULL, 1, 0, false}, {EXPRESSION_SLICE, NULL, 0, 3, false},
		{EXPRESSION_SLICE, NULL, 0, 0, true},
	};
	/* Its caller is at the same place. */
	const struct values_frame frames[] = {{module, address, false}, {module, address, true}};
	struct values *values = values_create(modules, 4096);
	struct arena *arena = arena_create();
	const char **names;
	size_t num = values_names(values, arena, frames, NULL, VALUES_LOCALS, &names,
				  &(const char *){NULL});

	for (size_t i = 0; i < num && i < 8; i++)
		for (size_t k = 0; k <= sizeof(steps) / sizeof(steps[0]); k++) {
			struct expression expression = {.name = names[i], .num_steps = k > 0};
			struct values_found found;
			struct pdb_error err;

			if (k > 0)
				expression.steps[0] = steps[k - 1];
			values_find(values, arena, frames, 2, NULL, &expression, &found, &err);
			values_find_global(values, arena, module, &expression, &found, &err);
		}
	arena_destroy(arena);
	values_destroy(values);
}

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
	find_values(modules, module, address);
	code_reader_destroy(reader);
	code_store_destroy(store);
	modules_destroy(modules);
	return 0;
}
