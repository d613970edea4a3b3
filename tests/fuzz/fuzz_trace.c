/* SPDX-License-Identifier: BSD-3-Clause
 * A trace as it is in a snapshot, and one in the arena of a rank. The first byte says which, the
 * next two how many symbols there are. */
#include <string.h>

#include "model/error.h"
#include "model/trace/trace.h"
#include "tests/fuzz/fuzz.h"

struct arena {
	const uint8_t *bytes;
	size_t size;
};

static int read_arena(void *from, void *to, size_t size, uint64_t offset, struct pdb_error *err)
{
	const struct arena *arena = from;

	if (offset > arena->size || size > arena->size - offset)
		return error_set(err, ERROR_FORMAT, "the arena ends");
	memcpy(to, arena->bytes + offset, size);
	return 0;
}

/* Events that are told to come may be more than anybody can wait for. */
static void walk(const struct trace *trace)
{
	struct trace_walk at;
	uint32_t symbol, count;

	trace_walk_init(&at, trace);
	for (int i = 0; i < 10000 && trace_walk_next(&at, &symbol, &count); i++)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint32_t is_arena = fuzz_take(&bytes, &size, 1), symbols = fuzz_take(&bytes, &size, 2);
	struct arena arena = {bytes, size};
	struct pdb_error err;
	struct trace *trace = is_arena ? trace_copy(read_arena, &arena, size, size, symbols, &err)
				       : trace_decode(bytes, size, symbols, &err);

	if (trace)
		walk(trace);
	trace_destroy(trace);
	return 0;
}
