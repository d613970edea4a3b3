/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

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

long system_call_in_code(const uint8_t *code)
{
	uint32_t number;

	/* mov $NUMBER, %eax; syscall */
	if (code[1] != 0xb8 || code[6] != 0x0f || code[7] != 0x05)
		return -1;
	memcpy(&number, code + 2, sizeof(number));
	return (long)number;
}

#elif defined(__aarch64__)

long system_call_in_code(const uint8_t *code)
{
	uint32_t words[2];

	/* mov x8, #NUMBER; svc #0 */
	memcpy(words, code, sizeof(words));
	if ((words[0] & 0xffe0001f) != 0xd2800008 || words[1] != 0xd4000001)
		return -1;
	return (long)(words[0] >> 5 & 0xffff);
}

#else

long system_call_in_code(const uint8_t *code)
{
	(void)code;
	return -1;
}

#endif
