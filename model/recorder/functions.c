/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/functions.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "model/recorder/elf_name.h"
#include "model/recorder/next.h"
#include "model/recorder/tracer.h"

/* ---- Which function ---- */

static const char *path_of(const struct writer *w, uint32_t module)
{
	const struct seg_module *modules = writer_entries(w, SEG_TABLE_MODULES);

	return (const char *)writer_entries(w, SEG_TABLE_STRINGS) + modules[module].path;
}

static bool is_traced(const struct trace_filter *filter, const struct writer *w, uint32_t module,
		      uint64_t offset)
{
	const char *path = module == SEG_NO_FRAME ? "" : path_of(w, module), *known = NULL;
	char name[1024];

	if (filter->num_patterns == 0)
		return true;
	if (trace_filter_needs_names(filter) && elf_name_find(path, offset, name, sizeof(name)))
		known = name;
	return trace_filter_has_function(filter, known, path);
}

uint32_t functions_intern(const struct trace_filter *filter, struct intern *in,
			  struct objects *objects, struct writer *w, uintptr_t address)
{
	uint64_t offset;
	uint32_t module;

	if (!objects_find(objects, w, address + 1, &module, &offset))
		return SEG_NO_FRAME;
	if (!is_traced(filter, w, module, offset - 1))
		return TRACER_SKIP;
	return intern_function(in, objects, w, address);
}

/* ---- What the compiler calls ---- */

typedef void hook_fn(void *function, void *call_site);

static void nobody(void *function, void *call_site)
{
	(void)function;
	(void)call_site;
}

static _Atomic(hook_fn *) next_enter, next_exit;

/* Another tool behind this one; the C library has such functions, too, which do nothing. */
static hook_fn *find_next(const char *name, _Atomic(hook_fn *) *next)
{
	int saved_errno = errno;
	hook_fn *found = (hook_fn *)dlsym(RTLD_NEXT, name);
	const char *base;
	Dl_info info;

	if (found && dladdr((void *)found, &info) && info.dli_fname) {
		base = strrchr(info.dli_fname, '/');
		if (strncmp(base ? base + 1 : info.dli_fname, "libc.", 5) == 0)
			found = nobody;
	}
	if (!found)
		found = nobody;
	relaxed_set(next, found);
	errno = saved_errno;
	return found;
}

static void pass_on(const char *name, _Atomic(hook_fn *) *next, void *function, void *call_site)
{
	hook_fn *to = relaxed_get(next);

	if (unlikely(!to))
		to = find_next(name, next);
	if (to != nobody)
		to(function, call_site);
}

/* Of instrumented functions on the thread's stack. One that was left by longjmp() stays counted. */
static __thread int depth __attribute__((tls_model("initial-exec")));

/* The compiler calls them without a prototype that one could include. */
#pragma GCC visibility push(default)
void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);
#pragma GCC visibility pop

void __cyg_profile_func_enter(void *function, void *call_site)
{
	recorder_user_function((uintptr_t)function, SEG_TRACE_ENTER, ++depth);
	pass_on("__cyg_profile_func_enter", &next_enter, function, call_site);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	recorder_user_function((uintptr_t)function, SEG_TRACE_LEAVE, depth--);
	pass_on("__cyg_profile_func_exit", &next_exit, function, call_site);
}
