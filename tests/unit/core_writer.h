/* SPDX-License-Identifier: BSD-3-Clause
 * Small core files for tests, put together in memory; what is to be wrong with them is changed by
 * the test. Header, segment table, then the contents in the order of the segments. */
#ifndef PDB_TESTS_CORE_WRITER_H
#define PDB_TESTS_CORE_WRITER_H

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#if defined(__x86_64__)
#define CORE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define CORE_MACHINE EM_AARCH64
#endif

enum { CORE_MAX_SEGMENTS = 8, CORE_STACK_SIZE = 65536 };

#define CORE_STACK UINT64_C(0x7ffe00000000)

struct core_writer {
	Elf64_Ehdr header;
	Elf64_Phdr phdrs[CORE_MAX_SEGMENTS];
	const void *contents[CORE_MAX_SEGMENTS];
	char notes[16384];
	size_t num_notes; /* bytes */
	uint64_t auxv[12];
	uint8_t stack[CORE_STACK_SIZE];
	char path[64]; /* where it was written */
};

void core_add_note(struct core_writer *w, uint32_t type, const void *content, size_t size);

void core_set_regs(struct user_regs_struct *regs, uint64_t sp, uint64_t pc);

/* sp is an offset in the stack. */
void core_add_thread(struct core_writer *w, pid_t tid, int number, uint64_t sp, uint64_t pc);

void core_add_info(struct core_writer *w, int number, int code, pid_t pid, uint64_t address);

Elf64_Phdr *core_add_segment(struct core_writer *w, uint64_t address, const void *content,
			     uint64_t size);

/* The stack as a process starts with it, and the note of its auxiliary vector. variables: strings
 * with a zero byte behind each. */
void core_add_start(struct core_writer *w, const char *variables, size_t size);

/* Segment 0 is the notes, 1 the stack. */
struct core_writer *core_create(void);

/* Where the contents of the segments are. */
void core_lay_out(struct core_writer *w);

/* Into a file of its own. */
void core_write(struct core_writer *w);

void core_destroy(struct core_writer *w);

/* A whole one, with one thread, of a rank of a job. */
struct core_writer *core_of_rank(pid_t pid, const char *variables, size_t size);

#endif
