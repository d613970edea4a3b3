/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "attach/code/fde_table.h"
#include "model/xalloc.h"

#define RELATIVE_4 0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */

struct entry {
	uint64_t begin, end;
};

struct fde_table {
	struct entry *entries; /* by begin */
	size_t num, capacity;
};

static Elf_Data *find_section(Elf *elf, GElf_Shdr *header_ret)
{
	Elf_Scn *section = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, header_ret))
			continue;
		name = elf_strptr(elf, strings, header_ret->sh_name);
		if (name && !strcmp(name, ".eh_frame") && header_ret->sh_type != SHT_NOBITS)
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

/* How addresses are written in the entries of a common one: after "z", data in the order of the
 * letters of its augmentation. */
static bool is_relative(const Dwarf_CIE *cie)
{
	const uint8_t *data = cie->augmentation_data;
	const char *letter = cie->augmentation;
	size_t left = cie->augmentation_data_size;

	if (*letter != 'z')
		return false;
	for (letter++; *letter && left; letter++) {
		if (*letter == 'R')
			return *data == RELATIVE_4;
		/* A personality routine: its encoding, then its address. */
		if (*letter == 'P') {
			size_t size = (*data & 7) == DW_EH_PE_sdata4 % 8 ? 5 : 9;

			if (left < size)
				return false;
			data += size;
			left -= size;
		} else if (*letter == 'L') {
			data++;
			left--;
		}
	}
	return false;
}

static bool has_relative_cie(const unsigned char *ident, Elf_Data *data, Dwarf_Off offset)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	return !dwarf_next_cfi(ident, data, true, offset, &next, &entry) &&
	       dwarf_cfi_cie_p(&entry) && is_relative(&entry.cie);
}

static void add_fde(struct fde_table *table, const Elf_Data *data, uint64_t section,
		    const Dwarf_FDE *fde)
{
	uint64_t place = section + (uint64_t)(fde->start - (const uint8_t *)data->d_buf);
	int32_t distance;
	uint32_t size;

	if (fde->end - fde->start < 8)
		return;
	memcpy(&distance, fde->start, sizeof(distance));
	memcpy(&size, fde->start + 4, sizeof(size));
	table->entries =
		xgrow(table->entries, table->num, &table->capacity, sizeof(*table->entries));
	table->entries[table->num].begin = place + (uint64_t)(int64_t)distance;
	table->entries[table->num].end = table->entries[table->num].begin + size;
	table->num++;
}

static int by_begin(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

struct fde_table *fde_table_create(Elf *elf)
{
	GElf_Shdr header;
	Elf_Data *data = find_section(elf, &header);
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	Dwarf_Off offset = 0, next, cie = (Dwarf_Off)-1;
	struct fde_table *table;
	Dwarf_CFI_Entry entry;
	bool is_usable = false;

	if (!data || !data->d_buf)
		return NULL;
	table = xcalloc(1, sizeof(*table));
	while (!dwarf_next_cfi(ident, data, true, offset, &next, &entry)) {
		if (!dwarf_cfi_cie_p(&entry)) {
			if (entry.fde.CIE_pointer != cie)
				is_usable = has_relative_cie(ident, data, entry.fde.CIE_pointer);
			cie = entry.fde.CIE_pointer;
			if (is_usable)
				add_fde(table, data, header.sh_addr, &entry.fde);
		}
		if (next == (Dwarf_Off)-1 || next <= offset)
			break;
		offset = next;
	}
	if (!table->num) {
		fde_table_destroy(table);
		return NULL;
	}
	qsort(table->entries, table->num, sizeof(*table->entries), by_begin);
	return table;
}

void fde_table_destroy(struct fde_table *table)
{
	if (!table)
		return;
	free(table->entries);
	free(table);
}

bool fde_table_find(const struct fde_table *table, uint64_t address, uint64_t *begin_ret,
		    uint64_t *end_ret)
{
	size_t low = 0, high = table->num;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->entries[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= table->entries[low - 1].end)
		return false;
	*begin_ret = table->entries[low - 1].begin;
	*end_ret = table->entries[low - 1].end;
	return true;
}
