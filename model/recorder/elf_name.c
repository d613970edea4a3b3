/* SPDX-License-Identifier: BSD-3-Clause
 * By pread, not by a mapping: a file that somebody shortens meanwhile must not be a SIGBUS. */
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "model/recorder/objects.h"

enum { AT_ONCE = 128 }; /* symbols */

static bool read_whole(int fd, void *to, size_t size, uint64_t offset)
{
	return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* A string of the section, cut off at its end and at `size`. */
static bool read_text(int fd, const ElfW(Shdr) * strings, uint64_t offset, char *to, size_t size)
{
	uint64_t most = offset < strings->sh_size ? strings->sh_size - offset : 0;
	ssize_t n = pread(fd, to, most < size - 1 ? most : size - 1,
			  (off_t)(strings->sh_offset + offset));

	to[n > 0 ? n : 0] = '\0';
	return to[0] != '\0';
}

static bool find_in(int fd, const ElfW(Shdr) * table, const ElfW(Shdr) * strings, uint64_t address,
		    char *name, size_t size)
{
	const uint64_t num = table->sh_size / sizeof(ElfW(Sym));
	ElfW(Sym) symbols[AT_ONCE];

	for (uint64_t at = 0; at < num; at += AT_ONCE) {
		size_t n = num - at < AT_ONCE ? num - at : AT_ONCE;

		if (!read_whole(fd, symbols, n * sizeof(*symbols),
				table->sh_offset + at * sizeof(*symbols)))
			return false;
		for (size_t i = 0; i < n; i++)
			if ((symbols[i].st_info & 0xf) == STT_FUNC &&
			    symbols[i].st_value == address && symbols[i].st_shndx != SHN_UNDEF)
				return read_text(fd, strings, symbols[i].st_name, name, size);
	}
	return false;
}

static bool find(int fd, uint64_t address, char *name, size_t size)
{
	ElfW(Ehdr) h;
	ElfW(Shdr) table, strings;

	if (!read_whole(fd, &h, sizeof(h), 0) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_shentsize != sizeof(table))
		return false;
	for (int i = 0; i < h.e_shnum; i++) {
		if (!read_whole(fd, &table, sizeof(table), h.e_shoff + i * sizeof(table)))
			return false;
		if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) &&
		    read_whole(fd, &strings, sizeof(strings),
			       h.e_shoff + table.sh_link * sizeof(strings)) &&
		    find_in(fd, &table, &strings, address, name, size))
			return true;
	}
	return false;
}

bool elf_name_find(const char *path, uint64_t address, char *name, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	bool found = find(fd, address, name, size);
	close(fd);
	return found;
}
