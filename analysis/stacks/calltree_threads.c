/* SPDX-License-Identifier: BSD-3-Clause
 * Threads that are not what they look like: OpenMP workers, whose stack begins in libgomp although
 * their region was begun in a function of the program, and threads of the MPI library's own.
 *
 *	main thread:  main > f > GOMP_parallel > f._omp_fn.0 > ...
 *	worker:       clone > start_thread > (libgomp) > f._omp_fn.0 > ...
 *
 * GCC makes a function of each region, and names it for the function that the region is in. A
 * worker in it is put below the frame of libgomp that f has called in the main thread; when f has
 * been inlined, below the innermost such frame. The main thread may have left the region's code
 * already: then it waits for the workers in libgomp, which has no names beyond its interface. */
#include "analysis/stacks/calltree_private.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/names.h"
#include "model/job/sample.h"

#define REGION "._omp_fn"
#define CXX_REGION " [clone " REGION /* as demangled */

static const char *function_of(const struct job *job, uint32_t path)
{
	return names_function(job->names, path)->function;
}

static uint32_t caller_of(const struct job *job, uint32_t path)
{
	return callpaths_get(job->callpaths, path)->parent;
}

/* The length of the name that a region's function begins with; 0: it is none. */
static size_t region_base(const char *function)
{
	const char *mark = strstr(function, CXX_REGION);

	if (!mark)
		mark = strstr(function, REGION);
	return mark ? (size_t)(mark - function) : 0;
}

bool calltree_is_region(const struct calltree *tree, uint32_t node)
{
	const struct calltree_node *at = &tree->nodes[node];

	return region_base(names_at(tree->job->names, at->path, at->level)->function) > 0;
}

enum module_kind calltree_kind(const struct job *job, uint32_t path)
{
	uint32_t module = callpaths_get(job->callpaths, path)->module;

	return module == MODULE_NONE ? MODULE_SYSTEM : modules_get(job->modules, module)->kind;
}

static bool is_of_libgomp(const struct job *job, uint32_t path)
{
	uint32_t module = callpaths_get(job->callpaths, path)->module;
	const char *file, *slash;

	if (module == MODULE_NONE)
		return false;
	file = modules_get(job->modules, module)->path;
	slash = strrchr(file, '/');
	return strncmp(slash ? slash + 1 : file, "libgomp", strlen("libgomp")) == 0;
}

bool calltree_begins_region(const struct job *job, uint32_t path)
{
	static const char interface[] = "GOMP_parallel";

	return is_of_libgomp(job, path) &&
	       strncmp(function_of(job, path), interface, strlen(interface)) == 0;
}

/* The outermost frame that is none of the system's; CALLPATH_NONE: there is none. */
static uint32_t outermost_beyond_system(const struct job *job, uint32_t path)
{
	uint32_t outermost = CALLPATH_NONE;

	for (; path != CALLPATH_NONE; path = caller_of(job, path))
		if (calltree_kind(job, path) != MODULE_SYSTEM)
			outermost = path;
	return outermost;
}

/* The region that libgomp has called in a thread of its own; CALLPATH_NONE: it is none. */
static uint32_t find_worker(const struct job *job, uint32_t path)
{
	uint32_t outermost = outermost_beyond_system(job, path), caller;

	if (outermost == CALLPATH_NONE)
		return CALLPATH_NONE;
	caller = caller_of(job, outermost);
	return caller != CALLPATH_NONE && is_of_libgomp(job, caller) &&
			       region_base(function_of(job, outermost)) > 0
		       ? outermost
		       : CALLPATH_NONE;
}

/* The frame of a stack that began the region, as well as can be told. */
static uint32_t find_begun(const struct job *job, uint32_t path, const char *region)
{
	size_t base = region_base(region);
	uint32_t innermost = CALLPATH_NONE;

	for (; path != CALLPATH_NONE; path = caller_of(job, path)) {
		uint32_t caller = caller_of(job, path);
		const char *function;

		if (caller == CALLPATH_NONE || !is_of_libgomp(job, path) ||
		    calltree_kind(job, caller) == MODULE_SYSTEM)
			continue;
		if (innermost == CALLPATH_NONE)
			innermost = path;
		function = function_of(job, caller);
		if (strncmp(function, region, base) == 0 && function[base] == '\0')
			return path;
	}
	return innermost;
}

static uint64_t distance(const struct sample *a, const struct sample *b)
{
	return a->when_ns > b->when_ns ? a->when_ns - b->when_ns : b->when_ns - a->when_ns;
}

bool calltree_find_region(const struct job *job, const struct sample *first, size_t num,
			  const struct sample *worker, struct calltree_region *ret)
{
	const struct sample *nearest = NULL;

	ret->worker = find_worker(job, worker->path);
	if (ret->worker == CALLPATH_NONE)
		return false;
	for (size_t i = 0; i < num; i++)
		if (first[i].path != CALLPATH_NONE &&
		    (!nearest || distance(&first[i], worker) < distance(nearest, worker)))
			nearest = &first[i];
	if (!nearest)
		return false;
	ret->begun = find_begun(job, nearest->path, function_of(job, ret->worker));
	return ret->begun != CALLPATH_NONE;
}

bool calltree_is_helper(const struct job *job, uint32_t path)
{
	uint32_t outermost = outermost_beyond_system(job, path);

	return outermost != CALLPATH_NONE && calltree_kind(job, outermost) == MODULE_MPI;
}
