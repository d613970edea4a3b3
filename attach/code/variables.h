/* SPDX-License-Identifier: BSD-3-Clause
 * Registers of this architecture, by DWARF's numbers, and variables at sums of them. */
#pragma once

#include <elfutils/libdw.h>

#include "model/job/code.h"

/* Is it one for integers and addresses? Those of vectors have other numbers. */
bool variables_is_integer_register(uint64_t reg);

/* Does a function that is called leave the register as it was? Of the others nobody knows whether
 * that call has changed them: compilers differ in whether a variable counts as being there until
 * that call has ended. */
bool variables_is_kept(uint64_t reg);

struct variables_location {
	struct code_value value;
	bool is_value;  /* of the variable itself; else its address */
	bool is_global; /* an ELF virtual address, without registers */
};

/* Where a variable is by its location expression, if that is a sum of registers and stack slots, as
 * most are. function: the one that the frame is of, not one inlined into it; NULL: of globals.
 * False: it is of another form. */
bool variables_locate(Dwarf_Die *function, Dwarf_Attribute *location, const Dwarf_Op *ops,
		      size_t num, struct variables_location *ret);
