/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/process/maps.h"
#include "attach/symbols/debug_file.h"
#include "model/budget.h"
#include "model/job/modules.h"
#include "model/regular_file.h"
#include "model/xalloc.h"

/* In each file, and more for each 512 bytes that are stored of it. A C++ unit with the whole
 * standard library in its headers takes some 20,000 for each address. */
enum { FEW_LOOKS = 8 << 20, LOOKS_PER_BLOCK = 2048 };

void debug_file_close(struct debug_file *file)
{
	dwarf_end(file->dwarf);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	if (file->shared)
		debug_file_close(file->shared);
	free(file->shared);
	free(file->path);
	*file = (struct debug_file){.fd = -1};
}

bool debug_file_is_same(const struct debug_file *file)
{
	const struct timespec *then = &file->status.st_mtim, *written;
	struct stat now;

	if (file->fd < 0)
		return true;
	if (file->shared && !debug_file_is_same(file->shared))
		return false;
	written = &now.st_mtim;
	return fstat(file->fd, &now) == 0 && now.st_size == file->status.st_size &&
	       written->tv_sec == then->tv_sec && written->tv_nsec == then->tv_nsec;
}

static bool has_build_id(Elf *elf, const struct module *module)
{
	const void *build_id;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &build_id);

	if (!module->build_id_size)
		return true;
	return size == module->build_id_size && !memcmp(build_id, module->build_id, (size_t)size);
}

static bool has_section(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		/* Stripped files of old keep the header, without content. */
		if (name && !strcmp(name, wanted))
			return header.sh_type != SHT_NOBITS;
	}
	return false;
}

/* Bytes that a section has once libdw has unpacked it, as it claims; 0 if it is not packed. */
static uint64_t unpacked_size(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	const Elf_Data *data;
	GElf_Chdr packed;
	uint64_t size = 0;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
	/* As it was done before: "ZLIB", and the size. */
	data = strncmp(name, ".zdebug", 7) == 0 ? elf_rawdata(section, NULL) : NULL;
	for (size_t i = 4; data && data->d_buf && data->d_size >= 12 && i < 12; i++)
		size = size << 8 | ((const uint8_t *)data->d_buf)[i];
	return size;
}

/* Is what is packed in the file in proportion to it? libdw unpacks whole sections. */
static bool unpacks_within_budget(const struct debug_file *file)
{
	uint64_t left = budget_stored((uint64_t)file->status.st_size);
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return true;
	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(file->elf, names, header.sh_name)
					   : NULL;
		uint64_t size = name ? unpacked_size(section, &header, name) : 0;

		if (size > left)
			return false;
		left -= size;
	}
	return true;
}

static int open_path(const char *path, const struct module *module, struct debug_file *ret)
{
	struct debug_file file = {.fd = -1};

	file.fd = regular_file_open(AT_FDCWD, path, 0, &file.status);
	if (file.fd < 0)
		return -1;
	file.looks = FEW_LOOKS + LOOKS_PER_BLOCK * (uint64_t)file.status.st_blocks;
	elf_version(EV_CURRENT);
	file.elf = elf_begin(file.fd, ELF_C_READ_MMAP, NULL);
	if (!file.elf || elf_kind(file.elf) != ELF_K_ELF || !has_build_id(file.elf, module)) {
		debug_file_close(&file);
		return -1;
	}
	file.has_debug_information =
		(has_section(file.elf, ".debug_info") || has_section(file.elf, ".zdebug_info")) &&
		unpacks_within_budget(&file);
	file.path = xstrdup(path);
	file.pid = module->example_pid;
	*ret = file;
	return 0;
}

/* The kernel's vdso is the same for all processes, so ours will do. */
static int open_vdso(const struct module *module, struct debug_file *ret)
{
	struct debug_file file = {.fd = -1};
	struct maps *maps = maps_read(getpid());
	size_t i;

	elf_version(EV_CURRENT);
	for (i = 0; maps && i < maps->num_ranges && !file.elf; i++) {
		const struct maps_range *range = &maps->ranges[i];

		if (range->object != MAPS_NO_OBJECT &&
		    !strcmp(maps->objects[range->object].path, "[vdso]"))
			file.elf = elf_memory((char *)(uintptr_t)range->start,
					      range->end - range->start);
	}
	maps_destroy(maps);
	if (!file.elf || !has_build_id(file.elf, module)) {
		debug_file_close(&file);
		return -1;
	}
	*ret = file;
	return 0;
}

/* Try a path in the file system of the process that has the module mapped, then in ours. */
static int open_in_both(const char *path, const struct module *module, struct debug_file *ret)
{
	char there[PATH_MAX + 32];

	if (module->example_pid > 0) {
		snprintf(there, sizeof(there), "/proc/%d/root%s", (int)module->example_pid, path);
		if (!open_path(there, module, ret))
			return 0;
	}
	return open_path(path, module, ret);
}

int debug_file_open(const struct module *module, struct debug_file *ret)
{
	char exe[64];

	if (!strcmp(module->path, "[vdso]"))
		return open_vdso(module, ret);
	if (module->path[0] != '/')
		return -1;
	if (!open_in_both(module->path, module, ret))
		return 0;
	/* Compiled anew while it runs: the old file is still behind this link. Without a build-id
	 * there is no telling that it is the right one. */
	if (module->example_pid <= 0 || !module->build_id_size)
		return -1;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)module->example_pid);
	return open_path(exe, module, ret);
}

static int open_by_build_id(const struct module *module, struct debug_file *ret)
{
	char path[PATH_MAX];
	int at, i;

	at = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", module->build_id[0]);
	for (i = 1; i < module->build_id_size; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", module->build_id[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	return open_in_both(path, module, ret);
}

/* What dwz has found in several files is in another one, which this one names. libdw would open it
 * when it first needs it, whatever is there by then: nothing is left for it to open. */
static bool open_shared(struct debug_file *file)
{
	struct debug_file shared;
	struct module wanted = {.example_pid = file->pid};
	const char *name;
	const void *build_id;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &build_id);
	char path[PATH_MAX];

	if (size <= 0)
		return true;
	if (size < 2 || size > BUILD_ID_MAX)
		return false;
	memcpy(wanted.build_id, build_id, (size_t)size);
	wanted.build_id_size = (uint8_t)size;
	snprintf(path, sizeof(path), "%.*s%s", (int)(maps_base(file->path) - file->path),
		 file->path, name);
	if (open_by_build_id(&wanted, &shared) &&
	    (name[0] == '/' ? open_in_both(name, &wanted, &shared)
			    : open_path(path, &wanted, &shared)))
		return false;
	if (unpacks_within_budget(&shared))
		shared.dwarf = dwarf_begin_elf(shared.elf, DWARF_C_READ, NULL);
	if (!shared.dwarf || dwelf_dwarf_gnu_debugaltlink(shared.dwarf, &name, &build_id) > 0) {
		debug_file_close(&shared);
		return false;
	}
	file->shared = xmalloc(sizeof(*file->shared));
	*file->shared = shared;
	dwarf_setalt(file->dwarf, shared.dwarf);
	return true;
}

Dwarf *debug_file_dwarf(struct debug_file *file)
{
	if (file->has_debug_information && !file->dwarf) {
		file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
		if (file->dwarf && !open_shared(file)) {
			dwarf_end(file->dwarf);
			file->dwarf = NULL;
		}
		file->has_debug_information = file->dwarf != NULL;
	}
	return file->dwarf;
}

int debug_file_open_separate(const struct module *module, const struct debug_file *main,
			     struct debug_file *ret)
{
	const char *base = maps_base(module->path);
	int length = (int)(base - module->path);
	char path[PATH_MAX];
	const char *name;
	GElf_Word checksum;

	/* Without a build-id nothing would tell whether a file belongs to the module. */
	if (module->build_id_size < 2)
		return -1;
	if (!open_by_build_id(module, ret))
		return 0;
	name = dwelf_elf_gnu_debuglink(main->elf, &checksum);
	if (!name || strchr(name, '/') || !strcmp(name, base))
		return -1;
	snprintf(path, sizeof(path), "%.*s%s", length, module->path, name);
	if (!open_in_both(path, module, ret))
		return 0;
	snprintf(path, sizeof(path), "%.*s.debug/%s", length, module->path, name);
	if (!open_in_both(path, module, ret))
		return 0;
	snprintf(path, sizeof(path), "/usr/lib/debug%.*s%s", length, module->path, name);
	return open_in_both(path, module, ret);
}

bool debug_file_look(struct debug_file *file)
{
	return file->looks > 0 && file->looks--;
}

bool debug_file_holds(struct debug_file *file, Dwarf_Die *entry, Dwarf_Addr address)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while (debug_file_look(file) && (at = dwarf_ranges(entry, at, &base, &begin, &end)) > 0)
		if (address >= begin && address < end)
			return true;
	return false;
}

/* GCC lists the addresses in .debug_aranges; others do not, and then the units are asked one by
 * one, which reads only the head of each. */
bool debug_file_find_unit(struct debug_file *file, Dwarf_Addr address, Dwarf_Die *ret)
{
	Dwarf *dwarf = debug_file_dwarf(file);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	if (!dwarf || dwarf_addrdie(dwarf, address, ret))
		return dwarf != NULL;
	while (!dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL)) {
		if (type == DW_UT_compile && debug_file_holds(file, &die, address)) {
			*ret = die;
			return true;
		}
	}
	return false;
}
