/* SPDX-License-Identifier: BSD-3-Clause */
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "attach/process/maps.h"
#include "attach/symbols/debug_file.h"
#include "attach/symbols/symbol_table.h"
#include "model/budget.h"
#include "model/job/modules.h"
#include "model/regular_file.h"

/* In each file, and more for each 512 bytes that are stored of it. A C++ unit with the whole
 * standard library in its headers takes some 20,000 for each address. */
enum { FEW_LOOKS = 8 << 20, LOOKS_PER_BLOCK = 2048 };

static void close_file(struct debug_file *file)
{
	dwarf_end(file->dwarf);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	if (file->shared)
		close_file(file->shared);
	free(file->shared);
	free(file->path);
	*file = (struct debug_file){.fd = -1};
}

static bool is_same(const struct debug_file *file)
{
	const struct timespec *then = &file->status.st_mtim, *written;
	struct stat now;

	if (file->fd < 0)
		return true;
	if (file->shared && !is_same(file->shared))
		return false;
	written = &now.st_mtim;
	return fstat(file->fd, &now) == 0 && now.st_size == file->status.st_size &&
	       written->tv_sec == then->tv_sec && written->tv_nsec == then->tv_nsec;
}

static bool has_build_id(Elf *elf, const struct module *module)
{
	const void *build_id;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &build_id);

	return !module->build_id_size ||
	       (size == module->build_id_size && !memcmp(build_id, module->build_id, (size_t)size));
}

/* The section behind this one (NULL: first), its header and name; NULL: one cannot be read. */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *section, GElf_Shdr *header, const char **name_ret)
{
	size_t names;

	section = elf_nextscn(elf, section);
	*name_ret = section && !elf_getshdrstrndx(elf, &names) && gelf_getshdr(section, header)
			    ? elf_strptr(elf, names, header->sh_name)
			    : NULL;
	return section;
}

Elf_Scn *debug_file_section(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;

	/* Stripped files of old keep the header, without content. */
	while ((section = next_section(elf, section, &header, &name)))
		if (name && !strcmp(name, wanted))
			return header.sh_type != SHT_NOBITS ? section : NULL;
	return NULL;
}

/* Bytes that a section has once libdw has unpacked it, as it claims; 0 if it is not packed. */
static uint64_t unpacked_size(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	GElf_Chdr packed;
	uint64_t size = 0;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
	/* As it was done before: "ZLIB", and the size. */
	const Elf_Data *data = strncmp(name, ".zdebug", 7) == 0 ? elf_rawdata(section, NULL) : NULL;
	for (size_t i = 4; data && data->d_buf && data->d_size >= 12 && i < 12; i++)
		size = size << 8 | ((const uint8_t *)data->d_buf)[i];
	return size;
}

/* Is what is packed in the file in proportion to it? libdw unpacks whole sections. */
static bool unpacks_within_budget(const struct debug_file *file)
{
	uint64_t left = budget_stored((uint64_t)file->status.st_size);
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;

	while ((section = next_section(file->elf, section, &header, &name))) {
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
		close_file(&file);
		return -1;
	}
	file.has_debug_information = (debug_file_section(file.elf, ".debug_info") ||
				      debug_file_section(file.elf, ".zdebug_info")) &&
				     unpacks_within_budget(&file);
	file.path = xstrdup(path);
	file.pid = module->example_pid;
	*ret = file;
	return 0;
}

/* The kernel's vdso is the same for all processes, so ours will do. Its section table ends it. */
static int open_vdso(const struct module *module, struct debug_file *ret)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	struct debug_file file = {.fd = -1};

	elf_version(EV_CURRENT);
	if (header)
		file.elf =
			elf_memory((char *)(uintptr_t)header,
				   header->e_shoff + (size_t)header->e_shnum * sizeof(Elf64_Shdr));
	if (!file.elf || !has_build_id(file.elf, module)) {
		close_file(&file);
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

static int open_main(const struct module *module, struct debug_file *ret)
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
	int at =
		snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", module->build_id[0]);
	for (int i = 1; i < module->build_id_size; i++)
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
		close_file(&shared);
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

static int open_separate(const struct module *module, const struct debug_file *main,
			 struct debug_file *ret)
{
	static const char *const places[] = {"%.*s%s", "%.*s.debug/%s", "/usr/lib/debug%.*s%s"};
	const char *base = maps_base(module->path);
	int length = (int)(base - module->path);
	char path[PATH_MAX];
	GElf_Word checksum;

	/* Without a build-id nothing would tell whether a file belongs to the module. */
	if (module->build_id_size < 2)
		return -1;
	if (!open_by_build_id(module, ret))
		return 0;
	const char *name = dwelf_elf_gnu_debuglink(main->elf, &checksum);
	if (!name || strchr(name, '/') || !strcmp(name, base))
		return -1;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), places[i], length, module->path, name);
		if (!open_in_both(path, module, ret))
			return 0;
	}
	return -1;
}

int debug_files_open(const struct module *module, struct debug_files *ret)
{
	struct symbol_table *table;

	*ret = (struct debug_files){.is_open = true, .main.fd = -1, .separate.fd = -1};
	if (open_main(module, &ret->main))
		return -1;
	ret->table = symbol_table_create(ret->main.elf);
	if (ret->main.has_debug_information || open_separate(module, &ret->main, &ret->separate) ||
	    (ret->table && symbol_table_is_full(ret->table)))
		return 0;
	table = symbol_table_create(ret->separate.elf);
	if (table) {
		symbol_table_destroy(ret->table);
		ret->table = table;
	}
	return 0;
}

void debug_files_close(struct debug_files *files)
{
	if (!files->is_open)
		return;
	symbol_table_destroy(files->table);
	files->table = NULL;
	close_file(&files->separate);
	close_file(&files->main);
}

bool debug_files_are_same(const struct debug_files *files)
{
	return is_same(&files->main) && is_same(&files->separate);
}

bool debug_file_look(struct debug_file *file)
{
	return file->looks > 0 && file->looks--;
}

struct debug_files *debug_modules_get(struct debug_modules *of, uint32_t module)
{
	size_t num = modules_count(of->modules);

	if (module >= num)
		return NULL;
	of->files = xgrow_to(of->files, &of->num, num, sizeof(*of->files));
	if (!of->files[module].is_open)
		debug_files_open(modules_get(of->modules, module), &of->files[module]);
	return &of->files[module];
}

void debug_modules_close(struct debug_modules *of)
{
	for (size_t i = 0; i < of->num; i++)
		debug_files_close(&of->files[i]);
	free(of->files);
}
