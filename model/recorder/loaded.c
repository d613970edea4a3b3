/* SPDX-License-Identifier: BSD-3-Clause
 * By the objects' own tables in memory: dlsym() on each of them would search all that it needs
 * as well, and cannot be called while the list is locked. */
#include <link.h>
#include <string.h>

#include "model/recorder/objects.h"

struct library {
	ElfW(Addr) base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash, *sysv_hash; /* one of them may be NULL */
};

struct search {
	const char *name;
	unsigned num;
	void *first;
};

/* The loader has made addresses of what it has relocated; that of the kernel it has not. */
static const void *at(ElfW(Addr) base, const ElfW(Dyn) * entry)
{
	ElfW(Addr) value = entry->d_un.d_ptr;

	return (const void *)(value < base ? base + value : value);
}

static bool open_object(const struct dl_phdr_info *info, struct library *o)
{
	const ElfW(Dyn) *entry = NULL;

	*o = (struct library){.base = info->dlpi_addr};
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const void *)(o->base + info->dlpi_phdr[i].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			o->symbols = at(o->base, entry);
		else if (entry->d_tag == DT_STRTAB)
			o->strings = at(o->base, entry);
		else if (entry->d_tag == DT_GNU_HASH)
			o->gnu_hash = at(o->base, entry);
		else if (entry->d_tag == DT_HASH)
			o->sysv_hash = at(o->base, entry);
	}
	return o->symbols && o->strings && (o->gnu_hash || o->sysv_hash);
}

static bool is_it(const struct library *o, uint32_t i, const char *name)
{
	const ElfW(Sym) *symbol = &o->symbols[i];

	return (symbol->st_info & 0xf) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
	       strcmp(o->strings + symbol->st_name, name) == 0;
}

/* Index of the symbol; 0: none. The words: number of buckets, first symbol, words of the filter,
 * a shift; the filter, the buckets, then for each symbol its hash, with the lowest bit set in
 * the last of a bucket. */
static uint32_t find_by_gnu_hash(const struct library *o, const char *name)
{
	const uint32_t num = o->gnu_hash[0], first = o->gnu_hash[1];
	const uint32_t *buckets =
		o->gnu_hash + 4 + o->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *hashes = buckets + num;
	uint32_t hash = 5381, i;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	i = num ? buckets[hash % num] : 0;
	for (; i >= first && i; i++) {
		if ((hashes[i - first] | 1) == (hash | 1) && is_it(o, i, name))
			return i;
		if (hashes[i - first] & 1)
			break;
	}
	return 0;
}

/* The words: number of buckets, of symbols, ... Few such objects are left: all symbols are
 * tried. */
static uint32_t find_by_sysv_hash(const struct library *o, const char *name)
{
	for (uint32_t i = 1; i < o->sysv_hash[1]; i++)
		if (is_it(o, i, name))
			return i;
	return 0;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	struct library o;

	(void)size;
	if (!open_object(info, &o))
		return 0;
	uint32_t found = o.gnu_hash ? find_by_gnu_hash(&o, search->name)
				    : find_by_sysv_hash(&o, search->name);
	if (found && search->num++ == 0)
		search->first = (void *)(o.base + o.symbols[found].st_value);
	return 0;
}

unsigned loaded_count(const char *function, void **first_ret)
{
	struct search search = {.name = function};

	dl_iterate_phdr(look_into, &search);
	*first_ret = search.first;
	return search.num;
}
