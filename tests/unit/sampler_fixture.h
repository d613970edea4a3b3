/* SPDX-License-Identifier: BSD-3-Clause
 * Processes to take samples of, and what a test of the sampler needs. */
#ifndef PDB_TESTS_UNIT_SAMPLER_FIXTURE_H
#define PDB_TESTS_UNIT_SAMPLER_FIXTURE_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/stacks/sampler.h"
#include "attach/symbols/symbols.h"
#include "model/job/callpath.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/sample.h"
#include "tests/unit/child.h"

#define DEPTH 300
#define KEEP_FRAME __attribute__((noinline, noclone, unused))
/* Keeps the compiler from making a loop of a recursion. */
#define IS_USED_AFTER_CALL() __asm__ volatile("" ::: "memory")

/* Shared with the children. */
static struct {
	_Atomic uint64_t ticks; /* a running child counts here */
	_Atomic int num_signals;
	_Atomic int is_done;
	_Atomic int is_ended; /* never, but who compiles this cannot know */
} * shared;

struct fixture {
	struct modules *modules;
	struct callpaths *callpaths;
	struct symbols *symbols;
	struct names *names;
	struct sampler *sampler;
	struct samples *samples;
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->modules = modules_create();
	f->callpaths = callpaths_create();
	f->symbols = symbols_create(f->modules);
	f->names = names_create(f->modules, f->callpaths, symbols_resolve, f->symbols);
	f->sampler = sampler_create(f->modules, f->callpaths);
	f->samples = samples_create();
	memset((void *)shared, 0, sizeof(*shared));
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	samples_destroy(f->samples);
	sampler_destroy(f->sampler);
	names_destroy(f->names);
	symbols_destroy(f->symbols);
	callpaths_destroy(f->callpaths);
	modules_destroy(f->modules);
	free(f);
	return 0;
}

/* Before all tests; false: no memory. */
static inline bool share_memory(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared != MAP_FAILED;
}

/* ---- Children ---- */

/* Until killed, with the frames of all who called. */
KEEP_FRAME static void stay_here(int ready)
{
	tell(ready);
	while (!shared->is_ended)
		pause();
}

KEEP_FRAME static int recurse(int depth, int ready)
{
	if (!depth) {
		stay_here(ready);
		return 0;
	}
	depth += recurse(depth - 1, ready);
	IS_USED_AFTER_CALL();
	return depth;
}

KEEP_FRAME static void body_deep(const void *argument, int ready)
{
	(void)argument;
	recurse(DEPTH - 1, ready);
}

KEEP_FRAME static void count_ticks(const void *argument, int ready)
{
	(void)argument;
	tell(ready);
	for (;;)
		atomic_fetch_add(&shared->ticks, 1);
}

static inline pid_t tracer_of(pid_t pid)
{
	struct procfs_status status;

	assert_int_equal(procfs_status(pid, &status), 0);
	return status.tracer;
}

/* ---- Looking at samples ---- */

static inline const struct sample *take(struct fixture *f, pid_t pid, unsigned flags)
{
	struct sampler_target target = {.rank = 5, .pid = pid};
	struct pdb_error err;

	if (sampler_take(f->sampler, &target, 1, flags, f->samples, &err))
		fail_msg("%s", err.text);
	return &f->samples->samples[f->samples->num_samples - 1];
}

static inline void assert_whole(struct fixture *f, const struct sample *sample)
{
	const struct callpath_node *node;
	uint32_t path = sample->path, outermost = path;

	if (sample->status != SAMPLE_COMPLETE)
		fail_msg("status %d: %s", sample->status, sample->note ? sample->note : "");
	assert_null(sample->note);
	assert_false(callpaths_get(f->callpaths, path)->is_return);
	for (; path != CALLPATH_NONE; path = callpaths_get(f->callpaths, path)->parent)
		outermost = path;
	node = callpaths_get(f->callpaths, outermost);
	assert_true(node->is_return);
	assert_true(node->module != MODULE_NONE);
	if (sample->is_main)
		assert_string_equal(names_get(f->names, outermost)->function, "_start");
}

#endif
