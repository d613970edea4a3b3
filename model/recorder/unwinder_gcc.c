/* SPDX-License-Identifier: BSD-3-Clause */
#include <unwind.h>

#include "model/recorder/unwind.h"

static struct {
	__typeof__(&_Unwind_Backtrace) backtrace;
	__typeof__(&_Unwind_GetIPInfo) get_ip;
	__typeof__(&_Unwind_GetCFA) get_sp;
} lib;

struct walk {
	uintptr_t low, high;
	unwinder_take *take;
	void *arg;
};

static const struct unwinder_symbol symbols[] = {
	{&lib.backtrace, "_Unwind_Backtrace"},
	{&lib.get_ip, "_Unwind_GetIPInfo"},
	{&lib.get_sp, "_Unwind_GetCFA"},
};

/* A frame's "canonical frame address" is that of the frame inside it: its own stack pointer. */
static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *arg)
{
	const struct walk *w = arg;
	int is_interrupted = 0;
	uintptr_t ip = lib.get_ip(context, &is_interrupted), sp = lib.get_sp(context);
	const uintptr_t *at = NULL;

	if (!is_interrupted)
		at = unwinder_check(sp - sizeof(ip), ip, w->low, w->high);
	return ip && w->take(w->arg, ip, sp, at) ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

static void walk(uintptr_t low, uintptr_t high, unwinder_take *take_frame, void *arg)
{
	struct walk w = {low, high, take_frame, arg};

	lib.backtrace(take, &w);
}

const struct unwinder unwinder_gcc = {
	.library = "libgcc_s.so.1",
	.symbols = symbols,
	.num_symbols = sizeof(symbols) / sizeof(symbols[0]),
	.walk = walk,
};
