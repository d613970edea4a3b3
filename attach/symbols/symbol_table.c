/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <gelf.h>
#include <limits.h>

#include "attach/symbols/symbol_table.h"

#define NUM_SCANS 8          /* look-ups before an index pays */
#define MAX_INSIDE 256       /* functions in one, before an address in it */
#define MAX_JUMPED (1 << 16) /* bytes that have the name of a function that jumps there */

struct entry {
	uint64_t start, size;
	int index; /* in the section */
};

/* A function that only jumps to another, by where that begins. */
struct jump {
	uint64_t target;
	int index;
};

struct symbol_table {
	Elf *elf;
	Elf_Data *data;
	size_t num_symbols;
	size_t strings; /* section index of the names */
	bool is_full;
	unsigned num_lookups;
	/* The index: functions by start. highest_end[i] is the highest end of entries 0..i. */
	struct entry *entries;
	uint64_t *highest_end;
	size_t num_entries, capacity;
	struct jump *jumps; /* with the index */
	size_t num_jumps, jumps_capacity;
};

struct candidate {
	const char *name;
	uint64_t start, size;
	int binding;
};

struct symbol_table *symbol_table_create(Elf *elf)
{
	Elf_Scn *section = NULL, *best = NULL;
	GElf_Shdr header, best_header = {0};
	struct symbol_table *table;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || !header.sh_entsize)
			continue;
		/* In a file stripped of its code .symtab can be there without content. */
		if (header.sh_type == SHT_SYMTAB ||
		    (header.sh_type == SHT_DYNSYM && best_header.sh_type != SHT_SYMTAB)) {
			best = section;
			best_header = header;
		}
	}
	if (!best)
		return NULL;
	table = xcalloc(1, sizeof(*table));
	table->elf = elf;
	table->data = elf_getdata(best, NULL);
	table->num_symbols = table->data ? table->data->d_size / best_header.sh_entsize : 0;
	if (table->num_symbols > INT_MAX)
		table->num_symbols = INT_MAX;
	table->strings = best_header.sh_link;
	table->is_full = best_header.sh_type == SHT_SYMTAB;
	return table;
}

void symbol_table_destroy(struct symbol_table *table)
{
	if (!table)
		return;
	free(table->entries);
	free(table->highest_end);
	free(table->jumps);
	free(table);
}

bool symbol_table_is_full(const struct symbol_table *table)
{
	return table->is_full;
}

/* False if symbol `index` is no function of this file. */
static bool get_function(const struct symbol_table *table, int index, GElf_Sym *ret)
{
	return gelf_getsym(table->data, index, ret) && ret->st_shndx != SHN_UNDEF &&
	       ret->st_shndx != SHN_ABS &&
	       (GELF_ST_TYPE(ret->st_info) == STT_FUNC ||
		GELF_ST_TYPE(ret->st_info) == STT_GNU_IFUNC);
}

/* How good a name is for people who think in MPI's names; of Fortran's many spellings that with one
 * underscore (which is then cut off) is first. */
static int mpi_score(const char *name)
{
	bool has_lower = false;
	const char *at;

	for (at = name; *at; at++)
		has_lower |= islower((unsigned char)*at) != 0;
	if (!strncmp(name, "MPI_", 4))
		return has_lower ? 3 : 1;
	if (!strncmp(name, "mpi_", 4) && at[-1] == '_' && at[-2] != '_')
		return 2;
	if (!strncmp(name, "PMPI_", 5) || !strncmp(name, "pmpi_", 5))
		return -1;
	return 0;
}

static bool is_better(const struct candidate *new, const struct candidate *old)
{
	static const int binding_score[] = {[STB_LOCAL] = 0, [STB_GLOBAL] = 2, [STB_WEAK] = 1};
	size_t new_underscores, old_underscores;

	if (!old->name)
		return true;
	/* The innermost, if functions contain each other (parts written in assembler). */
	if (new->start != old->start)
		return new->start > old->start;
	if (mpi_score(new->name) != mpi_score(old->name))
		return mpi_score(new->name) > mpi_score(old->name);
	new_underscores = strspn(new->name, "_");
	old_underscores = strspn(old->name, "_");
	if (new_underscores != old_underscores)
		return new_underscores < old_underscores;
	if (new->binding <= STB_WEAK && old->binding <= STB_WEAK &&new->binding != old->binding)
		return binding_score[new->binding] > binding_score[old->binding];
	return strcmp(new->name, old->name) < 0;
}

static void consider(const struct symbol_table *table, const GElf_Sym *symbol, uint64_t address,
		     struct candidate *best)
{
	struct candidate new = {.start = symbol->st_value,
				.size = symbol->st_size,
				.binding = GELF_ST_BIND(symbol->st_info)};

	/* Without a size only its first byte is known to be its own. */
	if (address < new.start || address - new.start >= (new.size ? new.size : 1))
		return;
	new.name = elf_strptr(table->elf, table->strings, symbol->st_name);
	if (new.name &&new.name[0] && is_better(&new, best))
		*best = new;
}

SORTED_BY(compare_entry, struct entry, start)

SORTED_BY(compare_jump, struct jump, target)

/* The code of a function, or NULL. */
static const uint8_t *find_code(const struct symbol_table *table, const GElf_Sym *symbol)
{
	Elf_Scn *section = elf_getscn(table->elf, symbol->st_shndx);
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
	    symbol->st_value < header.sh_addr)
		return NULL;
	uint64_t at = symbol->st_value - header.sh_addr;
	Elf_Data *data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || at > data->d_size || symbol->st_size > data->d_size - at)
		return NULL;
	return (const uint8_t *)data->d_buf + at;
}

/* Of a function of x86-64 that is a jump, short or long: by how far. */
static bool read_jump(const uint8_t *code, uint64_t size, int32_t *distance)
{
	static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */

	if (size > sizeof(landing) && memcmp(code, landing, sizeof(landing)) == 0) {
		code += sizeof(landing);
		size -= sizeof(landing);
	}
	if (size == 2 && code[0] == 0xeb) {
		*distance = (int8_t)code[1];
		return true;
	}
	if (size != 5 || code[0] != 0xe9)
		return false;
	memcpy(distance, code + 1, sizeof(*distance));
	return true;
}

static bool find_jump(const struct symbol_table *table, const GElf_Sym *symbol, uint64_t *target)
{
	GElf_Ehdr header;
	int32_t distance;

	if (symbol->st_size < 2 || symbol->st_size > 9 || !gelf_getehdr(table->elf, &header) ||
	    header.e_machine != EM_X86_64)
		return false;
	const uint8_t *code = find_code(table, symbol);
	if (!code || !read_jump(code, symbol->st_size, &distance))
		return false;
	*target = symbol->st_value + symbol->st_size + (uint64_t)(int64_t)distance;
	return true;
}

static void make_index(struct symbol_table *table)
{
	uint64_t target;
	uint64_t highest = 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < table->num_symbols; i++) {
		if (!get_function(table, (int)i, &symbol))
			continue;
		*XPUSH(table->entries, table->num_entries, table->capacity) =
			(struct entry){symbol.st_value, symbol.st_size, (int)i};
		if (find_jump(table, &symbol, &target))
			*XPUSH(table->jumps, table->num_jumps, table->jumps_capacity) =
				(struct jump){target, (int)i};
	}
	sorted_make(table->jumps, table->num_jumps, sizeof(*table->jumps), compare_jump);
	sorted_make(table->entries, table->num_entries, sizeof(*table->entries), compare_entry);
	table->highest_end = xcalloc(table->num_entries, sizeof(*table->highest_end));
	for (size_t i = 0; i < table->num_entries; i++) {
		const struct entry *entry = &table->entries[i];
		uint64_t end = entry->start + (entry->size ? entry->size : 1);

		if (end > highest)
			highest = end;
		table->highest_end[i] = highest;
	}
}

static int starts_before(const void *address, const void *entry)
{
	return ((const struct entry *)entry)->start <= *(const uint64_t *)address;
}

static void find_by_index(const struct symbol_table *table, uint64_t address,
			  struct candidate *best)
{
	size_t at = sorted_first(&address, table->entries, table->num_entries,
				 sizeof(*table->entries), starts_before);
	size_t lowest = at > MAX_INSIDE ? at - MAX_INSIDE : 0;
	GElf_Sym symbol;

	/* Back from the last that begins at or before the address, while one may reach it. */
	while (at-- > lowest && table->highest_end[at] > address)
		if (get_function(table, table->entries[at].index, &symbol))
			consider(table, &symbol, address, best);
}

static int begins_before(const void *address, const void *jump)
{
	return ((const struct jump *)jump)->target <= *(const uint64_t *)address;
}

/* By the last place at or before the address that a function only jumps to, unless one begins
 * between. */
static void find_by_jump(struct symbol_table *table, uint64_t address, struct candidate *best)
{
	size_t at, entry;
	uint64_t target;

	if (!table->highest_end)
		make_index(table);
	at = sorted_first(&address, table->jumps, table->num_jumps, sizeof(*table->jumps),
			  begins_before);
	if (at == 0)
		return;
	target = table->jumps[at - 1].target;
	entry = sorted_first(&address, table->entries, table->num_entries, sizeof(*table->entries),
			     starts_before);
	if (address - target > MAX_JUMPED ||
	    (entry > 0 && table->entries[entry - 1].start > target))
		return;
	while (at-- > 0 && table->jumps[at].target == target) {
		struct candidate new = {.start = target};
		GElf_Sym symbol;

		if (!get_function(table, table->jumps[at].index, &symbol))
			continue;
		new.binding = GELF_ST_BIND(symbol.st_info);
		new.name = elf_strptr(table->elf, table->strings, symbol.st_name);
		if (new.name &&new.name[0] && is_better(&new, best))
			*best = new;
	}
}

const char *symbol_table_find(struct symbol_table *table, uint64_t address, uint64_t *start_ret,
			      uint64_t *size_ret)
{
	struct candidate best = {0};
	GElf_Sym symbol;

	if (table->num_lookups < NUM_SCANS) {
		table->num_lookups++;
		for (size_t i = 0; i < table->num_symbols; i++)
			if (get_function(table, (int)i, &symbol))
				consider(table, &symbol, address, &best);
	} else {
		if (!table->highest_end)
			make_index(table);
		find_by_index(table, address, &best);
	}
	if (!best.name)
		find_by_jump(table, address, &best);
	*start_ret = best.start;
	*size_ret = best.size;
	return best.name;
}
