/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <ucontext.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "model/recorder/unwind.h"

/* libunwind.h renames its functions by the preprocessor; these give the names in the library. */
#define NAME_OF_(function) #function
#define NAME_OF(function) NAME_OF_(function)

static struct {
	__typeof__(&unw_init_local) init_local;
	__typeof__(&unw_step) step;
	__typeof__(&unw_get_reg) get_reg;
	__typeof__(&unw_get_save_loc) get_save_loc;
	__typeof__(&unw_is_signal_frame) is_signal_frame;
	__typeof__(&unw_flush_cache) flush_cache;
	unw_addr_space_t *local_addr_space;
} lib;

static const struct unwinder_symbol symbols[] = {
	{&lib.init_local, NAME_OF(unw_init_local)},
	{&lib.step, NAME_OF(unw_step)},
	{&lib.get_reg, NAME_OF(unw_get_reg)},
	{&lib.get_save_loc, NAME_OF(unw_get_save_loc)},
	{&lib.is_signal_frame, NAME_OF(unw_is_signal_frame)},
	{&lib.flush_cache, NAME_OF(unw_flush_cache)},
	{&lib.local_addr_space, NAME_OF(unw_local_addr_space)},
};

static void flush(void)
{
	lib.flush_cache(*lib.local_addr_space, 0, 0);
}

/* Where the cursor's instruction pointer was read from, if that is a slot of this stack. */
static const uintptr_t *slot_of(unw_cursor_t *cursor, uintptr_t ip, uintptr_t low, uintptr_t high)
{
	unw_save_loc_t where;

	if (lib.is_signal_frame(cursor) > 0 || lib.get_save_loc(cursor, UNW_REG_IP, &where) != 0 ||
	    where.type != UNW_SLT_MEMORY)
		return NULL;
	return unwinder_check(where.u.addr, ip, low, high);
}

static void walk(uintptr_t low, uintptr_t high, unwinder_take *take, void *arg)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip = 0, sp = 0;

#ifdef __x86_64__
	/* libunwind's own is a function of the library; the layout is ucontext_t's. */
	static_assert(sizeof(context) == sizeof(ucontext_t), "unw_context_t is ucontext_t");
	getcontext(&context);
#else
	unw_getcontext(&context);
#endif
	if (lib.init_local(&cursor, &context) != 0)
		return;
	while (lib.step(&cursor) > 0 && lib.get_reg(&cursor, UNW_REG_IP, &ip) == 0 && ip != 0 &&
	       lib.get_reg(&cursor, UNW_REG_SP, &sp) == 0)
		if (!take(arg, ip, sp, slot_of(&cursor, ip, low, high)))
			return;
}

const struct unwinder unwinder_libunwind = {
	.library = PDB_LIBUNWIND_SONAME,
	.symbols = symbols,
	.num_symbols = sizeof(symbols) / sizeof(symbols[0]),
	.flush = flush,
	.walk = walk,
};
