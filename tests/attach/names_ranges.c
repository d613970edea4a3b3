/* SPDX-License-Identifier: BSD-3-Clause
 * Debug information of 50,000 functions in 200 KB, which share one list of 20,000 ranges, none
 * of which holds anything. Compiled without any other. */
int outer(int (*call)(void));

int outer(int (*call)(void))
{
	return call() + 1;
}

__asm__(".pushsection .debug_abbrev, \"\", %progbits\n"
	"abbreviations:\n"
	/* A unit with children: DW_AT_low_pc, DW_AT_high_pc; a function: DW_AT_ranges. */
	".byte 1, 0x11, 1, 0x11, 1, 0x12, 6, 0, 0\n"
	".byte 2, 0x2e, 0, 0x55, 0x17, 0, 0, 0\n"
	".popsection\n"
	".pushsection .debug_ranges, \"\", %progbits\n"
	".rept 20000\n .quad 0x10, 0x11\n .endr\n"
	".quad 0, 0\n"
	".popsection\n"
	".pushsection .debug_info, \"\", %progbits\n"
	"unit: .long unit_end - unit - 4\n"
	".value 4\n"
	".long abbreviations\n"
	".byte 8\n"
	".byte 1\n"
	".quad outer\n"
	".long 4096\n"
	".rept 50000\n .byte 2\n .long 0\n .endr\n"
	".byte 0\n"
	"unit_end:\n"
	".popsection\n");
