/* SPDX-License-Identifier: BSD-3-Clause
 * Where variables are, by DWARF's location expressions: sums of registers and stack slots, of which
 * all that compilers write for variables in registers and memory consists. */
#pragma once

#include <elfutils/libdw.h>

#include "model/job/code.h"

enum variables_doubt {
	VARIABLES_SURE,
	VARIABLES_VECTOR, /* in a vector register, which is not copied */
	/* In a register that the call which the frame is in may have changed: compilers differ in
	 * whether a variable counts as being there until that call has ended. */
	VARIABLES_CHANGED,
};

struct variables_location {
	struct code_value value;
	enum variables_doubt doubt;
	bool is_value;  /* of the variable itself; else its address */
	bool is_global; /* an ELF virtual address, without registers */
};

/* function: the one that the frame is of, not one inlined into it; NULL: of globals. The
 * expression's operations hold at the frame's address, to which a call returns if is_return. False:
 * it is of another form. */
bool variables_locate(Dwarf_Die *function, Dwarf_Attribute *location, const Dwarf_Op *ops,
		      size_t num, bool is_return, struct variables_location *ret);
