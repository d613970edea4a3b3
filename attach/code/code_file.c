/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "attach/code/code_private.h"
#include "attach/symbols/symbol_table.h"
#include "model/sorted.h"
#include "model/xalloc.h"

#define MAX_SIZE (UINT64_C(16) << 20) /* bytes of a function */
#define RELOCATIONS 16                /* of which a look takes as long as an instruction */
#define RELATIVE_4 0x1b               /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */

/* ---- Segments ---- */

const uint8_t *code_file_bytes(const struct code_file *file, uint64_t address, size_t size)
{
	for (size_t i = 0; i < file->num_segments; i++) {
		const struct code_segment *segment = &file->segments[i];
		uint64_t offset = address - segment->address;

		if (address >= segment->address && offset < segment->size &&
		    segment->size - offset >= size)
			return segment->bytes + offset;
	}
	return NULL;
}

static void find_segments(struct code_file *file)
{
	size_t num = 0;
	GElf_Phdr header;

	elf_getphdrnum(file->files.main.elf, &num);
	for (size_t i = 0; i < num; i++) {
		Elf_Data *data;

		if (!gelf_getphdr(file->files.main.elf, (int)i, &header) ||
		    header.p_type != PT_LOAD)
			continue;
		data = elf_getdata_rawchunk(file->files.main.elf, (int64_t)header.p_offset,
					    header.p_filesz, ELF_T_BYTE);
		if (!data)
			continue;
		file->segments = xgrow(file->segments, file->num_segments, &file->segments_capacity,
				       sizeof(*file->segments));
		file->segments[file->num_segments++] =
			(struct code_segment){header.p_vaddr, data->d_size, data->d_buf};
	}
}

bool code_file_spend(const struct code_file *file, uint64_t effort)
{
	if (*file->effort < effort) {
		*file->effort = 0;
		return false;
	}
	*file->effort -= effort;
	return true;
}

/* ---- Unwind information ---- */

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

static void add_frame(struct code_file *file, const Elf_Data *data, uint64_t section,
		      const Dwarf_FDE *fde)
{
	uint64_t place = section + (uint64_t)(fde->start - (const uint8_t *)data->d_buf);
	int32_t distance;
	uint32_t size;

	if (fde->end - fde->start < 8)
		return;
	memcpy(&distance, fde->start, sizeof(distance));
	memcpy(&size, fde->start + 4, sizeof(size));
	place += (uint64_t)(int64_t)distance;
	file->frames = xgrow(file->frames, file->num_frames, &file->frames_capacity,
			     sizeof(*file->frames));
	file->frames[file->num_frames++] = (struct code_range){place, place + size};
}

static int by_begin(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Of .eh_frame; entries with other addresses than 32 bits relative to their own place, as compilers
 * write them for 64-bit machines, are passed over. */
static void find_frames(struct code_file *file)
{
	Elf *elf = file->files.main.elf;
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	Elf_Scn *section = debug_file_section(elf, ".eh_frame");
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	Dwarf_Off offset = 0, next, cie = (Dwarf_Off)-1;
	Dwarf_CFI_Entry entry;
	bool is_usable = false;
	GElf_Shdr header;

	if (!data || !data->d_buf || !gelf_getshdr(section, &header))
		return;
	while (!dwarf_next_cfi(ident, data, true, offset, &next, &entry)) {
		if (!dwarf_cfi_cie_p(&entry)) {
			if (entry.fde.CIE_pointer != cie)
				is_usable = has_relative_cie(ident, data, entry.fde.CIE_pointer);
			cie = entry.fde.CIE_pointer;
			if (is_usable)
				add_frame(file, data, header.sh_addr, &entry.fde);
		}
		if (next == (Dwarf_Off)-1 || next <= offset)
			break;
		offset = next;
	}
	if (file->num_frames)
		qsort(file->frames, file->num_frames, sizeof(*file->frames), by_begin);
}

/* ---- Where functions begin and end ---- */

static int begins_before(const void *address, const void *range)
{
	return ((const struct code_range *)range)->begin <= *(const uint64_t *)address;
}

bool code_file_bounds(const struct code_file *file, uint64_t address, struct code_bounds *ret)
{
	uint64_t begin, size;
	size_t behind;

	*ret = (struct code_bounds){.name = NULL};
	if (file->files.table)
		ret->name = symbol_table_find(file->files.table, address, &begin, &size);
	if (ret->name && size && size <= MAX_SIZE) {
		ret->range = (struct code_range){begin, begin + size};
		return true;
	}
	ret->name = NULL;
	behind = sorted_first(&address, file->frames, file->num_frames, sizeof(*file->frames),
			      begins_before);
	if (!behind || address >= file->frames[behind - 1].end)
		return false;
	ret->range = file->frames[behind - 1];
	return ret->range.end - ret->range.begin <= MAX_SIZE;
}

/* The symbol that the dynamic linker puts into the pointer at `address`. */
const char *code_file_relocated_name(const struct code_file *file, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header, symbols;
	GElf_Rela relocation;
	GElf_Sym symbol;

	while ((section = elf_nextscn(file->files.main.elf, section))) {
		Elf_Data *data, *names;
		size_t num;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
		    !header.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		num = data ? data->d_size / header.sh_entsize : 0;
		if (!code_file_spend(file, num / RELOCATIONS))
			return NULL;
		for (size_t i = 0; i < num; i++) {
			Elf_Scn *table = elf_getscn(file->files.main.elf, header.sh_link);

			if (!gelf_getrela(data, (int)i, &relocation) ||
			    relocation.r_offset != address)
				continue;
			names = table ? elf_getdata(table, NULL) : NULL;
			if (!names || !gelf_getshdr(table, &symbols) ||
			    !gelf_getsym(names, (int)GELF_R_SYM(relocation.r_info), &symbol))
				return NULL;
			return elf_strptr(file->files.main.elf, symbols.sh_link, symbol.st_name);
		}
	}
	return NULL;
}

/* ---- Opening ---- */

void code_file_open(const struct module *module, struct code_file *file)
{
	const struct stat *status = &file->files.main.status;

	if (debug_files_open(module, &file->files))
		return;
	file->stored = (uint64_t)status->st_blocks * 512;
	if (file->stored > (uint64_t)status->st_size)
		file->stored = (uint64_t)status->st_size;
	find_segments(file);
	find_frames(file);
}

void code_file_close(struct code_file *file)
{
	if (file->handle)
		cs_close(&file->handle);
	debug_files_close(&file->files);
	free(file->frames);
	free(file->segments);
}
