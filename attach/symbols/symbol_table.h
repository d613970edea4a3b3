/* SPDX-License-Identifier: BSD-3-Clause
 * The functions in an ELF file's symbol table, by address. */
#pragma once

#include <libelf.h>

#include "model/base.h"

/* Of .symtab, or if there is none of .dynsym. NULL if the file has neither. The file is borrowed
 * and must outlive the table. Costs nothing yet: the first look-ups go through the whole table
 * (milliseconds for hundreds of thousands of symbols), and then an index is made. */
struct symbol_table *symbol_table_create(Elf *elf);
void symbol_table_destroy(struct symbol_table *table);       /* NULL is fine */
bool symbol_table_is_full(const struct symbol_table *table); /* it is .symtab */

/* The name of the function that holds the address, borrowed from the file; NULL if none does. Of
 * several names for one place the best for people: MPI_Send, not PMPI_Send; without leading
 * underscores before with; global before weak before local. Also where it begins and its size in
 * bytes, which is 0 where the file does not say. What has no name, but that of a function that does
 * nothing but jump there (MPI_Testsome of MPICH), has that, up to where the next one begins. */
const char *symbol_table_find(struct symbol_table *table, uint64_t address, uint64_t *start_ret,
			      uint64_t *size_ret);
