/* SPDX-License-Identifier: BSD-3-Clause
 * The system call that a thread is in, as /proc/PID/task/TID/syscall has it. */
#pragma once

#include "model/base.h"

#define SYSTEM_CALL_ARGS 6

struct system_call {
	long number;
	uint64_t args[SYSTEM_CALL_ARGS];
	uint64_t sp, pc; /* pc is behind the instruction of the call */
};

/* False: it runs ("running"), is in no system call ("-1 ..."), is the kernel's own (all numbers are
 * 0), or the text does not parse. */
bool system_call_parse(const char *text, struct system_call *ret);

/* By the registers of a stopped thread. The stop has interrupted its call, and the kernel begins
 * the call again when the thread goes on. False: the thread was in no call, or in one that ends in
 * another way; on arm64 always. */
struct user_regs_struct;
bool system_call_of_registers(const struct user_regs_struct *regs, struct system_call *ret);

/* Find the number in the bytes before the pc. Only code that loads the number just before the call
 * has it there. -1: these bytes do not. */
#define SYSTEM_CALL_CODE 8
long system_call_in_code(const uint8_t *code);
