/* SPDX-License-Identifier: BSD-3-Clause
 * Where variables are, by DWARF's location expressions: sums of registers and stack slots, of which
 * all that compilers write for variables in registers and memory consists. */
#ifndef PDB_ATTACH_VARIABLES_H
#define PDB_ATTACH_VARIABLES_H

#include <elfutils/libdw.h>

#include "model/job/code.h"

struct variables_location {
	struct code_value value;
	bool is_value;  /* of the variable itself; else its address */
	bool is_global; /* an ELF virtual address, without registers */
};

/* function: the one that the frame is of, not one inlined into it; NULL: of globals. The
 * expression's operations hold at the frame's address. False: it is of another form. */
bool variables_locate(Dwarf_Die *function, Dwarf_Attribute *location, const Dwarf_Op *ops,
		      size_t num, struct variables_location *ret);

#endif
