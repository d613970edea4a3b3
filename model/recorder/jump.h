/* SPDX-License-Identifier: BSD-3-Clause
 * Each exported MPI function is a jump. It first leads to wrap_resolve(), which sets its target:
 * the wrapper, or past it if the process has another MPI. So a recorder that is not needed costs
 * one jump and touches no argument: handles are integers in one MPI, pointers in another.
 *
 * JUMP(SYMBOL, IERROR) needs in the same file
 *	struct recorder_function jump_SYMBOL   begins with the target, at first jump_first_SYMBOL
 *	recorded_SYMBOL()                      the wrapper
 * and JUMP_RESOLVE() once in the library. */
#pragma once

/* clang-format off */ /* assembly is laid out by hand */

#include <stdint.h>

/* Of one function, as JUMP() writes it. */
struct jump_info {
	int32_t wrapper; /* its address less that of this field */
	int32_t ierror;  /* arguments before Fortran's IERROR; -1: none, it is of C */
	char symbol[];
};

#if defined(__x86_64__)

enum { JUMP_REGISTERS = 6 };

#if defined(__CET__) && (__CET__ & 1)
#define JUMP_TARGET "endbr64\n"
#else
#define JUMP_TARGET ""
#endif

#define JUMP_CODE(symbol_) "jmp *jump_" #symbol_ "(%rip)\n"

#define JUMP_FIRST(symbol_)                                                                        \
	"lea jump_" #symbol_ "(%rip), %r11\n"                                                      \
	"lea jump_info_" #symbol_ "(%rip), %r10\n"                                                 \
	"jmp jump_resolve\n"

/* All registers that may hold an argument are kept: struct jump_frame, then xmm0 to xmm7. */
#define JUMP_RESOLVE_CODE                                                                          \
	"sub $200, %rsp\n"                                                                         \
	".cfi_adjust_cfa_offset 200\n"                                                             \
	"mov %rdi, (%rsp)\n mov %rsi, 8(%rsp)\n mov %rdx, 16(%rsp)\n"                              \
	"mov %rcx, 24(%rsp)\n mov %r8, 32(%rsp)\n mov %r9, 40(%rsp)\n mov %rax, 48(%rsp)\n"        \
	"movups %xmm0, 64(%rsp)\n movups %xmm1, 80(%rsp)\n movups %xmm2, 96(%rsp)\n"               \
	"movups %xmm3, 112(%rsp)\n movups %xmm4, 128(%rsp)\n movups %xmm5, 144(%rsp)\n"            \
	"movups %xmm6, 160(%rsp)\n movups %xmm7, 176(%rsp)\n"                                      \
	"mov %r11, %rdi\n mov %r10, %rsi\n mov %rsp, %rdx\n lea 208(%rsp), %rcx\n"                 \
	"mov 200(%rsp), %r8\n"                                                                     \
	"call wrap_resolve\n"                                                                      \
	"mov %rax, %r11\n"                                                                         \
	"mov (%rsp), %rdi\n mov 8(%rsp), %rsi\n mov 16(%rsp), %rdx\n"                              \
	"mov 24(%rsp), %rcx\n mov 32(%rsp), %r8\n mov 40(%rsp), %r9\n mov 48(%rsp), %rax\n"        \
	"movups 64(%rsp), %xmm0\n movups 80(%rsp), %xmm1\n movups 96(%rsp), %xmm2\n"               \
	"movups 112(%rsp), %xmm3\n movups 128(%rsp), %xmm4\n movups 144(%rsp), %xmm5\n"            \
	"movups 160(%rsp), %xmm6\n movups 176(%rsp), %xmm7\n"                                      \
	"add $200, %rsp\n"                                                                         \
	".cfi_adjust_cfa_offset -200\n"                                                            \
	"test %r11, %r11\n"                                                                        \
	"je 1f\n"                                                                                  \
	"jmp *%r11\n"                                                                              \
	"1: ret\n"

#elif defined(__aarch64__)

enum { JUMP_REGISTERS = 8 };

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define JUMP_TARGET "bti c\n"
#else
#define JUMP_TARGET ""
#endif

/* The wrapper reads what was stored before the address was. */
#define JUMP_CODE(symbol_)                                                                         \
	"adrp x16, jump_" #symbol_ "\n"                                                            \
	"add x16, x16, :lo12:jump_" #symbol_ "\n"                                                  \
	"ldar x16, [x16]\n"                                                                        \
	"br x16\n"

#define JUMP_FIRST(symbol_)                                                                        \
	"adrp x16, jump_" #symbol_ "\n"                                                            \
	"add x16, x16, :lo12:jump_" #symbol_ "\n"                                                  \
	"adrp x17, jump_info_" #symbol_ "\n"                                                       \
	"add x17, x17, :lo12:jump_info_" #symbol_ "\n"                                             \
	"b jump_resolve\n"

/* x29 and x30, struct jump_frame, x8, q0 to q7. */
#define JUMP_RESOLVE_CODE                                                                          \
	"stp x29, x30, [sp, #-224]!\n"                                                             \
	".cfi_adjust_cfa_offset 224\n"                                                             \
	".cfi_rel_offset x29, 0\n .cfi_rel_offset x30, 8\n"                                        \
	"stp x0, x1, [sp, #16]\n stp x2, x3, [sp, #32]\n stp x4, x5, [sp, #48]\n"                  \
	"stp x6, x7, [sp, #64]\n str x8, [sp, #88]\n"                                              \
	"stp q0, q1, [sp, #96]\n stp q2, q3, [sp, #128]\n stp q4, q5, [sp, #160]\n"                \
	"stp q6, q7, [sp, #192]\n"                                                                 \
	"mov x0, x16\n mov x1, x17\n add x2, sp, #16\n add x3, sp, #224\n mov x4, x30\n"           \
	"bl wrap_resolve\n"                                                                        \
	"mov x16, x0\n"                                                                            \
	"ldp x0, x1, [sp, #16]\n ldp x2, x3, [sp, #32]\n ldp x4, x5, [sp, #48]\n"                  \
	"ldp x6, x7, [sp, #64]\n ldr x8, [sp, #88]\n ldr x17, [sp, #80]\n"                         \
	"ldp q0, q1, [sp, #96]\n ldp q2, q3, [sp, #128]\n ldp q4, q5, [sp, #160]\n"                \
	"ldp q6, q7, [sp, #192]\n"                                                                 \
	"ldp x29, x30, [sp], #224\n"                                                               \
	".cfi_adjust_cfa_offset -224\n"                                                            \
	".cfi_restore x29\n .cfi_restore x30\n"                                                    \
	"cbz x16, 1f\n"                                                                            \
	"br x16\n"                                                                                 \
	"1: mov x0, x17\n"                                                                         \
	"ret\n"

#else
#error "jump.h has no jump for this processor: write one"
#endif

/* A call that waits for wrap_resolve(). */
struct jump_frame {
	uint64_t registers[JUMP_REGISTERS]; /* with the first arguments */
	uint64_t result; /* of a call that leads nowhere; but for that not to be changed */
};

#define JUMP_FUNCTION(name_, code_)                                                                \
	".type " name_ ", %function\n" name_ ":\n"                                                 \
	".cfi_startproc\n" JUMP_TARGET code_ ".cfi_endproc\n"                                      \
	".size " name_ ", .-" name_ "\n"

#define JUMP(symbol_, ierror_)                                                                     \
	__asm__(".pushsection .text\n.p2align 3\n.globl " #symbol_ "\n"                            \
		JUMP_FUNCTION(#symbol_, JUMP_CODE(symbol_))                                        \
		".popsection\n.pushsection .text.unlikely\n"                                       \
		".globl jump_first_" #symbol_ "\n.hidden jump_first_" #symbol_ "\n"                \
		JUMP_FUNCTION("jump_first_" #symbol_, JUMP_FIRST(symbol_))                         \
		".popsection\n.pushsection .rodata\n.p2align 2\n"                                  \
		"jump_info_" #symbol_ ":\n.long recorded_" #symbol_ " - .\n.long " #ierror_ "\n"   \
		".asciz \"" #symbol_ "\"\n.popsection\n")

/* What jump_first_SYMBOL goes by. It calls, in the same file,
 *	void *wrap_resolve(struct recorder_function *, const struct jump_info *,
 *			   struct jump_frame *, void *arguments, uintptr_t caller)
 * with the arguments that are not in registers, and goes on where that says with the call as it
 * was. After NULL it returns the frame's result to the caller. */
#define JUMP_RESOLVE()                                                                             \
	__asm__(".pushsection .text.unlikely\n.globl jump_resolve\n.hidden "                       \
		"jump_resolve\n" JUMP_FUNCTION("jump_resolve", JUMP_RESOLVE_CODE) ".popsection\n")
