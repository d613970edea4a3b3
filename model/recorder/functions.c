/* SPDX-License-Identifier: BSD-3-Clause
 * Functions of programs that were compiled with -finstrument-functions: the compiler has each of
 * them call __cyg_profile_func_enter() and __cyg_profile_func_exit(), which this library has. Who
 * else has them still gets the calls. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "model/recorder/process.h"
#include "model/recorder/slow.h"

/* ---- Which function ---- */

static const char *path_of(const struct writer *w, uint32_t module)
{
	const struct seg_module *modules = writer_entries(w, SEG_TABLE_MODULES);

	return (const char *)writer_entries(w, SEG_TABLE_STRINGS) + modules[module].path;
}

static bool is_traced(uint32_t module, uint64_t offset)
{
	const struct trace_filter *filter = &process.tracing.filter;
	const char *path = module == SEG_NO_FRAME ? "" : path_of(&process.writer, module);
	const char *known = NULL;
	char name[1024];

	if (filter->num_patterns == 0)
		return true;
	if (trace_filter_needs_names(filter) && elf_name_find(path, offset, name, sizeof(name)))
		known = name;
	return trace_filter_has_function(filter, known, path);
}

/* The frame in the segment, TRACER_SKIP, or SEG_NO_FRAME without room. In a slow section. */
static uint32_t intern(uintptr_t address)
{
	uint64_t offset;
	uint32_t module;

	if (!objects_find(&process.objects, &process.writer, address + 1, &module, &offset))
		return SEG_NO_FRAME;
	if (!is_traced(module, offset - 1))
		return TRACER_SKIP;
	return intern_function(&process.intern, &process.objects, &process.writer, address);
}

/* What the tracer does not know yet; SEG_NO_FRAME: cannot be found out. */
static uint32_t find_function(struct lane *lane, uintptr_t address)
{
	uint32_t frame = SEG_NO_FRAME;
	struct slow s;

	if (!slow_begin(&s))
		return SEG_NO_FRAME;
	if (objects_refresh(&process.objects)) {
		process_forget_unloaded(lane);
		frame = intern(address);
	}
	if (frame != SEG_NO_FRAME)
		tracer_add_function(lane->tracer, address, frame);
	slow_end(&s);
	return frame;
}

/* Entered or left, for the trace if there is one. depth: of such functions, with this one. */
static void user_function(uintptr_t address, enum seg_trace_kind kind, int depth)
{
	struct lane *lane = process_self.lane;
	const struct trace_filter *filter = &process.tracing.filter;

	/* In a slow section it is a signal's handler: nothing can be found out now. */
	if (!lane || !lane->tracer || filter->mpi_only || depth > filter->max_depth ||
	    relaxed_get(&process.stage) != PROCESS_ON || slow_is_inside())
		return;
	uint32_t frame = tracer_find_function(lane->tracer, address);
	if (unlikely(frame == TRACER_UNKNOWN))
		frame = find_function(lane, address);
	if (frame == SEG_NO_FRAME)
		tracer_end(lane->tracer);
	else if (frame != TRACER_SKIP)
		tracer_symbol(lane->tracer, SEG_TRACE_SYMBOL(frame, kind));
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
	user_function((uintptr_t)function, SEG_TRACE_ENTER, ++depth);
	pass_on("__cyg_profile_func_enter", &next_enter, function, call_site);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	user_function((uintptr_t)function, SEG_TRACE_LEAVE, depth--);
	pass_on("__cyg_profile_func_exit", &next_exit, function, call_site);
}
