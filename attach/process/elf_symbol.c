/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/process/elf_symbol.h"
#include "attach/process/maps.h"
#include "model/regular_file.h"

/* Some file systems compress, or tell only later what they have stored. */
#define LEAST_STORED ((uint64_t)16 << 20)
/* Symbols that are read to find the one at an address, and how many at once. */
#define MOST_SYMBOLS ((size_t)250000)
#define SYMBOLS_AT_ONCE 2048

/* The program's file if the object is that, or -1. The link leads to the file itself, even if its
 * name is another's by now. */
static int open_program(pid_t pid, const struct maps_object *object)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	int fd = regular_file_open(AT_FDCWD, path, 0, &status);
	/* Only the inode: on btrfs and overlayfs the two device numbers are not the same. */
	if (fd >= 0 && status.st_ino == object->inode)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool elf_is_program(pid_t pid, const struct maps_object *object)
{
	int fd = open_program(pid, object);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* An object's file as the process sees it: /proc/PID/root/PATH, /proc/PID/exe for its executable if
 * that has been replaced or deleted, or PATH. */
static int open_object(pid_t pid, const struct maps_object *object)
{
	char path[PATH_MAX + 32];

	int fd = open_program(pid, object);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, object->path);
	fd = regular_file_open(AT_FDCWD, path, 0, NULL);
	if (fd < 0)
		fd = regular_file_open(AT_FDCWD, object->path, 0, NULL);
	return fd;
}

/* Address minus ELF virtual address: the first segment begins where the object does. */
static int load_bias(Elf *elf, uint64_t start, uint64_t *bias_ret)
{
	size_t num;
	GElf_Phdr phdr;

	if (elf_getphdrnum(elf, &num))
		return -1;
	for (size_t i = 0; i < num; i++) {
		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD) {
			*bias_ret = start - (phdr.p_vaddr - phdr.p_offset);
			return 0;
		}
	}
	return -1;
}

/* Is it no larger than what is stored of the file? Holes are free, and would be read as a whole. */
static bool is_stored(Elf_Scn *section, uint64_t stored)
{
	GElf_Shdr header;

	return section && gelf_getshdr(section, &header) && header.sh_size <= stored;
}

static int find_in_section(Elf *elf, Elf_Scn *section, const char *name, GElf_Sym *ret)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;

	if (!data || !gelf_getshdr(section, &header) || !header.sh_entsize)
		return -1;
	size_t num = data->d_size / header.sh_entsize;
	for (size_t i = 0; i < num && i < INT_MAX; i++) {
		if (!gelf_getsym(data, (int)i, ret) || ret->st_shndx == SHN_UNDEF)
			continue;
		int type = GELF_ST_TYPE(ret->st_info);
		if (type != STT_OBJECT && type != STT_FUNC)
			continue;
		const char *text = elf_strptr(elf, header.sh_link, ret->st_name);
		if (text && !strcmp(text, name))
			return 0;
	}
	return -1;
}

static int find_in_file(int fd, Elf *elf, GElf_Word type, const char *name, GElf_Sym *ret)
{
	Elf_Scn *section = NULL;
	uint64_t stored = LEAST_STORED;
	struct stat status;
	GElf_Shdr header;

	if (fstat(fd, &status) == 0)
		stored += (uint64_t)status.st_blocks * 512;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == type &&
		    is_stored(section, stored) &&
		    is_stored(elf_getscn(elf, header.sh_link), stored) &&
		    !find_in_section(elf, section, name, ret))
			return 0;
	return -1;
}

/* NULL, and the file is closed, if it is none. */
static Elf *open_elf(int fd)
{
	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	close(fd);
	errno = ENOEXEC;
	return NULL;
}

bool elf_symbol_is_exported(const char *path, const char *name)
{
	int fd = regular_file_open(AT_FDCWD, path, 0, NULL);
	Elf *elf = open_elf(fd);
	GElf_Sym symbol;

	if (!elf)
		return false;
	bool is_exported = find_in_file(fd, elf, SHT_DYNSYM, name, &symbol) == 0;
	elf_end(elf);
	close(fd);
	return is_exported;
}

int elf_symbol_find(pid_t pid, const struct maps_object *object, const char *name,
		    uint64_t *address_ret, uint64_t *size_ret)
{
	int fd = open_object(pid, object), error = ENOENT;
	Elf *elf = open_elf(fd);
	GElf_Sym symbol;
	uint64_t bias;

	if (!elf)
		return -1;
	if (load_bias(elf, object->start, &bias)) {
		error = ENOEXEC;
	} else if (!find_in_file(fd, elf, SHT_DYNSYM, name, &symbol) ||
		   !find_in_file(fd, elf, SHT_SYMTAB, name, &symbol)) {
		*address_ret = bias + symbol.st_value;
		if (size_ret)
			*size_ret = symbol.st_size;
		error = 0;
	}
	elf_end(elf);
	close(fd);
	errno = error;
	return error ? -1 : 0;
}

/* ---- By address ---- */

static bool holds(const Elf64_Sym *symbol, uint64_t address)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF &&
	       address >= symbol->st_value && address - symbol->st_value < symbol->st_size;
}

/* True: there is no better name for it. */
static bool take_name(int fd, const GElf_Shdr *names, const Elf64_Sym *symbol, uint64_t address,
		      struct elf_variable *ret)
{
	char name[sizeof(ret->name)];
	ssize_t n =
		symbol->st_name < names->sh_size
			? pread(fd, name, sizeof(name), (off_t)(names->sh_offset + symbol->st_name))
			: 0;

	if (n <= 0 || !*name || !memchr(name, 0, (size_t)n) || (*ret->name && *name == '_'))
		return false;
	strcpy(ret->name, name);
	ret->offset = address - symbol->st_value;
	ret->size = symbol->st_size;
	return *name != '_';
}

/* Its entries one after the other: libelf would read them all, with all names. */
static void find_at(int fd, Elf *elf, const GElf_Shdr *table, uint64_t address,
		    struct elf_variable *ret)
{
	Elf64_Sym symbols[SYMBOLS_AT_ONCE];
	size_t num = table->sh_size / sizeof(*symbols);
	GElf_Shdr names;

	if (table->sh_entsize != sizeof(*symbols) || num > MOST_SYMBOLS ||
	    !gelf_getshdr(elf_getscn(elf, table->sh_link), &names))
		return;
	for (size_t begin = 0; begin < num; begin += SYMBOLS_AT_ONCE) {
		size_t left = num - begin,
		       bytes = (left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE) * sizeof(*symbols);
		ssize_t n = pread(fd, symbols, bytes,
				  (off_t)(table->sh_offset + begin * sizeof(*symbols)));

		for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*symbols); i++)
			if (holds(&symbols[i], address) &&
			    take_name(fd, &names, &symbols[i], address, ret))
				return;
		if (n < (ssize_t)bytes)
			return;
	}
}

static void find_in_tables(int fd, Elf *elf, uint64_t address, struct elf_variable *ret)
{
	static const GElf_Word types[] = {SHT_SYMTAB, SHT_DYNSYM};

	/* A file has at most one of each; of a broken one the first is enough. */
	for (size_t i = 0; i < 2 && !*ret->name; i++) {
		Elf_Scn *section = NULL;
		GElf_Shdr header = {0};

		while (header.sh_type != types[i] && (section = elf_nextscn(elf, section)))
			gelf_getshdr(section, &header);
		if (header.sh_type == types[i])
			find_at(fd, elf, &header, address, ret);
	}
}

int elf_symbol_at(pid_t pid, const struct maps_object *object, uint64_t address,
		  struct elf_variable *ret)
{
	int fd = open_object(pid, object);
	Elf *elf = open_elf(fd);
	struct stat status;
	uint64_t bias;

	*ret->name = '\0';
	if (!elf)
		return -1;
	/* Another file may have its name by now. */
	if (gelf_getclass(elf) == ELFCLASS64 && fstat(fd, &status) == 0 &&
	    status.st_ino == object->inode && load_bias(elf, object->start, &bias) == 0)
		find_in_tables(fd, elf, address - bias, ret);
	elf_end(elf);
	close(fd);
	return *ret->name ? 0 : -1;
}
