/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/unwind.h"

#include <assert.h>
#include <dlfcn.h>
#include <string.h>
#include <ucontext.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

/* libunwind.h renames its functions by the preprocessor; these give the names in the library. */
#define NAME_OF_(function) #function
#define NAME_OF(function) NAME_OF_(function)

/* More own frames than this are never between the wrapper and here. */
enum { MAX_OWN_FRAMES = 16 };

static struct {
	__typeof__(&unw_init_local) init_local;
	__typeof__(&unw_step) step;
	__typeof__(&unw_get_reg) get_reg;
	__typeof__(&unw_get_save_loc) get_save_loc;
	__typeof__(&unw_is_signal_frame) is_signal_frame;
	__typeof__(&unw_flush_cache) flush_cache;
	unw_addr_space_t *local_addr_space;
} lib;

bool unwind_init(const char **why)
{
	const struct {
		void *to;
		const char *name;
	} symbols[] = {
		{&lib.init_local, NAME_OF(unw_init_local)},
		{&lib.step, NAME_OF(unw_step)},
		{&lib.get_reg, NAME_OF(unw_get_reg)},
		{&lib.get_save_loc, NAME_OF(unw_get_save_loc)},
		{&lib.is_signal_frame, NAME_OF(unw_is_signal_frame)},
		{&lib.flush_cache, NAME_OF(unw_flush_cache)},
		{&lib.local_addr_space, NAME_OF(unw_local_addr_space)},
	};
	void *handle = dlopen(PDB_LIBUNWIND_SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		*why = PDB_LIBUNWIND_SONAME " is not installed";
		return false;
	}
	for (unsigned i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(handle, symbols[i].name);
		if (!address) {
			*why = PDB_LIBUNWIND_SONAME " lacks a function";
			return false;
		}
		memcpy(symbols[i].to, &address, sizeof(address));
	}
	return true;
}

void unwind_flush(void)
{
	lib.flush_cache(*lib.local_addr_space, 0, 0);
}

/* Move the cursor to the frame that called the wrapper. */
static bool skip_own_frames(unw_cursor_t *cursor, uintptr_t ra, uintptr_t cfa)
{
	for (int i = 0; i < MAX_OWN_FRAMES && lib.step(cursor) > 0; i++) {
		unw_word_t ip = 0, sp = 0;
		if (lib.get_reg(cursor, UNW_REG_IP, &ip) == 0 &&
		    lib.get_reg(cursor, UNW_REG_SP, &sp) == 0 && ip == ra && sp == cfa)
			return true;
	}
	return false;
}

/* Where the cursor's instruction pointer was read from, if that is a slot of this stack. */
static const uintptr_t *slot_of(unw_cursor_t *cursor, uintptr_t ip, uintptr_t low, uintptr_t high)
{
	unw_save_loc_t where;

	if (lib.is_signal_frame(cursor) > 0 ||
	    lib.get_save_loc(cursor, UNW_REG_IP, &where) != 0 || where.type != UNW_SLT_MEMORY)
		return NULL;
	uintptr_t at = where.u.addr;
	if (at < low || at + sizeof(ip) > high || at % sizeof(ip) || *(uintptr_t *)at != ip)
		return NULL;
	return (const uintptr_t *)at;
}

/* Place of frame number `n` (0: innermost) in slots[]: the outer half is a ring. */
static uint32_t place(uint32_t n)
{
	return n < PATH_HALF ? n : PATH_HALF + (n - PATH_HALF) % PATH_HALF;
}

static void reverse(struct path_slot *slots, uint32_t from, uint32_t to)
{
	for (; from + 1 < to; from++, to--) {
		struct path_slot slot = slots[from];
		slots[from] = slots[to - 1];
		slots[to - 1] = slot;
	}
}

/* Bring the ring of the outer half into order: rotate it left by `n`. */
static void unroll(struct path_slot *slots, uint32_t n)
{
	reverse(slots, 0, n);
	reverse(slots, n, PATH_HALF);
	reverse(slots, 0, PATH_HALF);
}

/* The cursor's frame and all outside it. */
static void walk(unw_cursor_t *cursor, const struct pathcache *cache, uintptr_t low, uintptr_t high,
		 struct call_path *ret)
{
	uint32_t n = 0, known = 0;

	do {
		unw_word_t ip = 0;
		if (lib.get_reg(cursor, UNW_REG_IP, &ip) != 0 || ip == 0)
			break;
		const uintptr_t *at = slot_of(cursor, ip, low, high);
		ret->cacheable &= at != NULL;
		struct path_slot *slot = &ret->slots[place(n++)];
		*slot = (struct path_slot){.at = at, .value = ip};
		if (at && n < PATH_MAX_FRAMES)
			known = pathcache_tail(cache, slot, slot + 1, PATH_MAX_FRAMES - n);
	} while (!known && n < PATH_MAX_STEPS && lib.step(cursor) > 0);
	ret->num_frames = n + known;
	ret->num_new = n;
	if (n <= PATH_MAX_FRAMES)
		return;
	ret->num_new = 0;
	ret->elided_at = PATH_HALF;
	ret->num_frames = n < PATH_MAX_STEPS ? PATH_MAX_FRAMES : PATH_HALF;
	unroll(ret->slots + PATH_HALF, (n - PATH_HALF) % PATH_HALF);
}

void unwind_call_path(const struct pathcache *cache, uintptr_t ra, uintptr_t cfa, uintptr_t low,
		      uintptr_t high, struct call_path *ret)
{
	unw_context_t context;
	unw_cursor_t cursor;

	ret->elided_at = 0;
	ret->cacheable = cfa >= low && cfa < high && high - cfa <= INT32_MAX;
#ifdef __x86_64__
	/* libunwind's own is a function of the library; the layout is ucontext_t's. */
	static_assert(sizeof(context) == sizeof(ucontext_t), "unw_context_t is ucontext_t");
	getcontext(&context);
#else
	unw_getcontext(&context);
#endif
	if (lib.init_local(&cursor, &context) == 0 && skip_own_frames(&cursor, ra, cfa)) {
		walk(&cursor, cache, low, high, ret);
		return;
	}
	ret->slots[0] = (struct path_slot){.value = ra};
	ret->num_frames = ret->num_new = 1;
	ret->cacheable = false;
}
