/* SPDX-License-Identifier: BSD-3-Clause
 * Where functions begin and end by their unwind information, for files without symbols. */
#ifndef PDB_ATTACH_FDE_TABLE_H
#define PDB_ATTACH_FDE_TABLE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct fde_table;

/* Of .eh_frame; entries with other addresses than 32 bits relative to their own place, as compilers
 * write them for 64-bit machines, are passed over. NULL if there are none. */
struct fde_table *fde_table_create(Elf *elf);
void fde_table_destroy(struct fde_table *table); /* NULL is fine */

/* The range that holds the address: a function, or a part that the compiler has put elsewhere. */
bool fde_table_find(const struct fde_table *table, uint64_t address, uint64_t *begin_ret,
		    uint64_t *end_ret);

#endif
