/* SPDX-License-Identifier: BSD-3-Clause
 * The integer variables and parameters of a function and of what is inlined into it, and where they
 * are at which addresses, from DWARF with libdw. */
#ifndef PDB_ATTACH_VARIABLES_H
#define PDB_ATTACH_VARIABLES_H

struct code_function;
struct debug_file;

/* The file may be one without debug information, or a closed one. Locations of other forms than
 * sums of registers and stack slots are left out, as are variables without any. Never fails; free
 * with code_variables_destroy(). */
struct code_variables *variables_read(struct debug_file *file,
				      const struct code_function *function);

#endif
