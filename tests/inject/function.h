/* SPDX-License-Identifier: BSD-3-Clause
 * Where a running process has a function of its program or of one of its libraries. */
#ifndef PDB_TESTS_INJECT_FUNCTION_H
#define PDB_TESTS_INJECT_FUNCTION_H

#include <stdint.h>
#include <sys/types.h>

struct function {
	char name[256];   /* as it was found: a symbol, or module+0xoffset */
	uint64_t address; /* of its first instruction, in that process */
	uint64_t size;    /* in bytes; 0: not known */
};

/* Find `name`: a symbol as the file has it, a C++ name without arguments ("A::B::f"), a Fortran
 * name without its underscore, or "module+0xoffset", where the module is the last part of a mapped
 * file's path. The first match in the program counts, then in its libraries in the order they are
 * mapped. 0 if found, -1 with a message printed if not. */
int function_find(pid_t pid, const char *name, struct function *ret);

/* The function that has this place, named like `name` of function_find() if the file has a
 * symbol for it. Otherwise, as in a stripped program, its beginning and its end are those of its
 * unwinding information, and it is called module+0xoffset. 0 if found, -1 with a message printed
 * if not. */
int function_around(pid_t pid, uint64_t address, struct function *ret);

struct code_range {
	uint64_t start, end; /* end: of the first byte behind it */
};

/* Where the code of the module is whose file name begins so (NULL: of the program itself).
 * Returns how many ranges there are, `max` at most; 0: none, or the process is gone. */
int function_list_code(pid_t pid, const char *module, struct code_range *ranges, int max);

#endif
