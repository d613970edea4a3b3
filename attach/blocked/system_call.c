/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/user.h>

#include "attach/blocked/system_call.h"

bool system_call_parse(const char *text, struct system_call *ret)
{
	unsigned long long args[SYSTEM_CALL_ARGS], sp, pc;

	if (sscanf(text, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &ret->number, &args[0],
		   &args[1], &args[2], &args[3], &args[4], &args[5], &sp, &pc) != 9 ||
	    ret->number < 0 || !pc)
		return false;
	for (int i = 0; i < SYSTEM_CALL_ARGS; i++)
		ret->args[i] = args[i];
	ret->sp = sp;
	ret->pc = pc;
	return true;
}

#if defined(__x86_64__)

/* What a call returns inside the kernel when it is to begin again (include/linux/errno.h). */
static bool is_interrupted(long result)
{
	return (result <= -512 && result >= -514) || result == -516;
}

bool system_call_of_registers(const struct user_regs_struct *regs, struct system_call *ret)
{
	if ((long)regs->orig_rax < 0 || !is_interrupted((long)regs->rax) || !regs->rip)
		return false;
	*ret = (struct system_call){
		.number = (long)regs->orig_rax,
		.args = {regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9},
		.sp = regs->rsp,
		.pc = regs->rip,
	};
	return true;
}

long system_call_in_code(const uint8_t *code)
{
	uint32_t number;

	/* mov $NUMBER, %eax; syscall */
	if (code[1] != 0xb8 || code[6] != 0x0f || code[7] != 0x05)
		return -1;
	memcpy(&number, code + 2, sizeof(number));
	return (long)number;
}

#else

/* arm64 has the first argument and the result in one register. */
bool system_call_of_registers(const struct user_regs_struct *regs, struct system_call *ret)
{
	(void)regs, (void)ret;
	return false;
}

#endif

#if defined(__aarch64__)

long system_call_in_code(const uint8_t *code)
{
	uint32_t words[2];

	/* mov x8, #NUMBER; svc #0 */
	memcpy(words, code, sizeof(words));
	if ((words[0] & 0xffe0001f) != 0xd2800008 || words[1] != 0xd4000001)
		return -1;
	return (long)(words[0] >> 5 & 0xffff);
}

#elif !defined(__x86_64__)

long system_call_in_code(const uint8_t *code)
{
	(void)code;
	return -1;
}

#endif
