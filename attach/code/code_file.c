/* SPDX-License-Identifier: BSD-3-Clause */
#include <gelf.h>

#include "attach/code/code_private.h"
#include "attach/symbols/symbol_table.h"

#define MAX_SIZE (UINT64_C(16) << 20) /* bytes of a function */
#define MAX_SCANNED (UINT64_C(64) << 20)
#define RELOCATIONS 16 /* of which a look takes as long as an instruction */

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

bool code_file_is_constant(const struct code_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->num_segments; i++) {
		const struct code_segment *segment = &file->segments[i];

		if (address >= segment->address && address - segment->address < segment->size)
			return !segment->is_writable;
	}
	return false;
}

static void find_segments(struct code_file *file)
{
	Elf *elf = file->files.main.elf;
	size_t num = 0;
	GElf_Phdr header;

	elf_getphdrnum(elf, &num);
	for (size_t i = 0; i < num; i++) {
		Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &header))
			continue;
		if (header.p_type == PT_GNU_EH_FRAME)
			file->frames = header.p_vaddr;
		if (header.p_type != PT_LOAD)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
					    ELF_T_BYTE);
		if (!data)
			continue;
		*XPUSH(file->segments, file->num_segments, file->segments_capacity) =
			(struct code_segment){header.p_vaddr, data->d_size, data->d_buf,
					      (header.p_flags & PF_W) != 0};
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

/* An entry of the sorted table of .eh_frame_hdr: a function's beginning and its unwind information,
 * from where the header is. */
struct frame {
	int32_t begin, information;
};

struct frame_key {
	uint64_t header, address;
};

static int begins_before(const void *key, const void *frame)
{
	const struct frame_key *k = key;
	int32_t begin; /* which need not be aligned in a damaged file */

	memcpy(&begin, frame, sizeof(begin));
	return k->header + (uint64_t)begin <= k->address;
}

/* By .eh_frame_hdr (LSB, "Exception Frames"), as all linkers write it. The information begins with
 * two words, the beginning relative to its own place, and the size, as compilers write it for
 * 64-bit machines: else the beginning is not that of the table. */
static bool find_frame(const struct code_file *file, uint64_t address, struct code_range *ret)
{
	static const uint8_t expected[] = {1, 0x1b, 0x03, 0x3b};
	const struct frame_key key = {file->frames, address};
	const uint8_t *header = file->frames ? code_file_bytes(file, file->frames, 12) : NULL;
	const uint8_t *table, *information;
	uint64_t begin, place;
	struct frame frame;
	uint32_t num, words[4];

	if (!header || memcmp(header, expected, sizeof(expected)) != 0)
		return false;
	memcpy(&num, header + 8, sizeof(num));
	table = code_file_bytes(file, file->frames + 12, num * sizeof(frame));
	size_t behind = table ? sorted_first(&key, table, num, sizeof(frame), begins_before) : 0;
	if (!behind)
		return false;
	memcpy(&frame, table + (behind - 1) * sizeof(frame), sizeof(frame));
	begin = file->frames + (uint64_t)frame.begin;
	place = file->frames + (uint64_t)frame.information;
	information = code_file_bytes(file, place, sizeof(words));
	if (!information)
		return false;
	memcpy(words, information, sizeof(words));
	*ret = (struct code_range){begin, begin + words[3]};
	return place + 8 + (uint64_t)(int32_t)words[2] == begin && address < ret->end;
}

bool code_file_bounds(const struct code_file *file, uint64_t address, struct code_bounds *ret)
{
	uint64_t begin, size;

	*ret = (struct code_bounds){.name = NULL};
	if (file->files.table)
		ret->name = symbol_table_find(file->files.table, address, &begin, &size);
	if (ret->name && size && size <= MAX_SIZE) {
		ret->range = (struct code_range){begin, begin + size};
		return true;
	}
	ret->name = NULL;
	return find_frame(file, address, &ret->range) &&
	       ret->range.end - ret->range.begin <= MAX_SIZE;
}

const char *code_file_relocated_name(const struct code_file *file, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header, symbols;
	GElf_Rela relocation;
	GElf_Sym symbol;

	while ((section = elf_nextscn(file->files.main.elf, section))) {
		Elf_Data *data, *names;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
		    !header.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		size_t num = data ? data->d_size / header.sh_entsize : 0;
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

size_t code_file_calls(const struct code_file *file, uint64_t target, uint64_t *ret, size_t max)
{
	size_t num = 0;

	for (size_t s = 0; s < file->num_segments; s++) {
		const struct code_segment *segment = &file->segments[s];

		if (segment->size > MAX_SCANNED)
			return SIZE_MAX;
		for (uint64_t i = 0; !segment->is_writable && i + 5 <= segment->size; i++) {
			const uint8_t *at = segment->bytes + i;
			bool is_call = *at == 0xe8 || *at == 0xe9;
			int32_t distance;

			/* Conditional jumps have one byte more before. */
			if (!is_call && ((*at & 0xf0) != 0x80 || !i || at[-1] != 0x0f))
				continue;
			memcpy(&distance, at + 1, sizeof(distance));
			if (segment->address + i + 5 + (uint64_t)(int64_t)distance != target)
				continue;
			if (num == max)
				return SIZE_MAX;
			ret[num++] = segment->address + i - !is_call;
		}
	}
	return num;
}

bool code_file_has_text(const struct code_file *file, const char *text)
{
	for (size_t s = 0; s < file->num_segments; s++)
		if (memmem(file->segments[s].bytes, file->segments[s].size, text, strlen(text) + 1))
			return true;
	return false;
}

void code_file_open(const struct module *module, struct code_file *file)
{
	const struct stat *status = &file->files.main.status;

	if (debug_files_open(module, &file->files))
		return;
	file->stored = (uint64_t)status->st_blocks * 512;
	if (file->stored > (uint64_t)status->st_size)
		file->stored = (uint64_t)status->st_size;
	find_segments(file);
}

void code_file_close(struct code_file *file)
{
	if (file->handle)
		cs_close(&file->handle);
	debug_files_close(&file->files);
	free(file->segments);
}
