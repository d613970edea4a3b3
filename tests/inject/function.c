/* SPDX-License-Identifier: BSD-3-Clause */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/inject/function.h"

struct search {
	const char *name;
	char patterns[3][512]; /* a symbol begins with one of these */
	bool is_exact[3];      /* and has nothing after it */
	int num_patterns;
	struct function *ret;
};

static int no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)user, (void)name, (void)base;
	(void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo, /* the symbols that the file itself has are enough */
};

/* "A::B::f" is _ZN1A1B1fE and then the types of its arguments; _ZNK if it is const; "f" is _Z1f. */
static void mangle(const char *name, const char *prefix, char *mangled, size_t size)
{
	bool is_nested = strstr(name, "::") != NULL;
	size_t length = snprintf(mangled, size, "%s", is_nested ? prefix : "_Z");

	for (const char *part = name; part && length < size;) {
		const char *end = strstr(part, "::");
		int part_length = end ? (int)(end - part) : (int)strlen(part);

		length += snprintf(mangled + length, size - length, "%d%.*s", part_length,
				   part_length, part);
		part = end ? end + 2 : NULL;
	}
	if (is_nested && length < size)
		snprintf(mangled + length, size - length, "E");
}

static void prepare(struct search *search)
{
	snprintf(search->patterns[0], sizeof(search->patterns[0]), "%s", search->name);
	search->is_exact[0] = true;
	mangle(search->name, "_ZN", search->patterns[1], sizeof(search->patterns[1]));
	if (strstr(search->name, "::")) {
		mangle(search->name, "_ZNK", search->patterns[2], sizeof(search->patterns[2]));
	} else {
		snprintf(search->patterns[2], sizeof(search->patterns[2]), "%s_", search->name);
		search->is_exact[2] = true;
	}
	search->num_patterns = 3;
}

static bool matches(const struct search *search, const char *symbol)
{
	for (int i = 0; i < search->num_patterns; i++) {
		const char *pattern = search->patterns[i];

		if (search->is_exact[i] ? strcmp(symbol, pattern) == 0
					: strncmp(symbol, pattern, strlen(pattern)) == 0)
			return true;
	}
	return false;
}

static int look_in_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			  void *argument)
{
	struct search *search = argument;
	GElf_Addr bias;

	(void)user, (void)name, (void)base;
	if (!dwfl_module_getelf(module, &bias))
		return DWARF_CB_OK;
	int num_symbols = dwfl_module_getsymtab(module);
	for (int i = 1; i < num_symbols; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *text =
			dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);

		if (!text || symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !matches(search, text))
			continue;
		snprintf(search->ret->name, sizeof(search->ret->name), "%s", text);
		search->ret->address = address;
		search->ret->size = symbol.st_size;
		return DWARF_CB_ABORT;
	}
	return DWARF_CB_OK;
}

struct module_search {
	const char *base; /* last part of the path: its beginning, or all of it */
	size_t length;
	uint64_t start, end;
};

static int look_for_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			   void *argument)
{
	struct module_search *search = argument;
	const char *slash = strrchr(name, '/');

	(void)user;
	if (strncmp(slash ? slash + 1 : name, search->base, search->length) != 0)
		return DWARF_CB_OK;
	search->start = base;
	dwfl_module_info(module, NULL, NULL, &search->end, NULL, NULL, NULL, NULL);
	return DWARF_CB_ABORT;
}

static Dwfl *open_process(pid_t pid)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl || dwfl_linux_proc_report(dwfl, pid) != 0 ||
	    dwfl_report_end(dwfl, NULL, NULL) != 0) {
		fprintf(stderr, "inject: cannot read the modules of process %d\n", pid);
		dwfl_end(dwfl);
		return NULL;
	}
	return dwfl;
}

int function_find(pid_t pid, const char *name, struct function *ret)
{
	Dwfl *dwfl = open_process(pid);
	const char *plus = strstr(name, "+0x");
	bool is_found;

	if (!dwfl)
		return -1;
	if (plus) {
		struct module_search search = {.base = name, .length = plus - name};

		is_found = dwfl_getmodules(dwfl, look_for_module, &search, 0) > 0;
		*ret = (struct function){.address = search.start + strtoull(plus + 1, NULL, 16)};
		snprintf(ret->name, sizeof(ret->name), "%s", name);
		is_found = is_found && ret->address < search.end;
	} else {
		struct search search = {.name = name, .ret = ret};

		prepare(&search);
		is_found = dwfl_getmodules(dwfl, look_in_module, &search, 0) > 0;
	}
	dwfl_end(dwfl);
	if (!is_found)
		fprintf(stderr, "inject: process %d has no function %s\n", pid, name);
	return is_found ? 0 : -1;
}

/* By the unwinding information, which stripped files have, too. */
static bool find_unwound(Dwfl_Module *module, uint64_t address, struct function *ret)
{
	Dwarf_Addr bias, start, end, base;
	Dwarf_Frame *frame;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	const char *path = dwfl_module_info(module, NULL, &base, NULL, NULL, NULL, NULL, NULL);
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!cfi || !slash || dwarf_cfi_addrframe(cfi, address - bias, &frame) != 0)
		return false;
	dwarf_frame_info(frame, &start, &end, NULL);
	free(frame);
	*ret = (struct function){.address = start + bias, .size = end - start};
	snprintf(ret->name, sizeof(ret->name), "%s+0x%lx", slash + 1,
		 (unsigned long)(ret->address - base));
	return true;
}

int function_around(pid_t pid, uint64_t address, struct function *ret)
{
	Dwfl *dwfl = open_process(pid);
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, address) : NULL;
	bool is_found = false;
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name =
		module ? dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL)
		       : NULL;

	if (name && offset < symbol.st_size) {
		*ret = (struct function){.address = address - offset, .size = symbol.st_size};
		snprintf(ret->name, sizeof(ret->name), "%s", name);
		is_found = true;
	} else if (module) {
		is_found = find_unwound(module, address, ret);
	}
	dwfl_end(dwfl);
	if (!is_found)
		fprintf(stderr, "inject: process %d has no function at 0x%lx\n", pid,
			(unsigned long)address);
	return is_found ? 0 : -1;
}

int function_list_code(pid_t pid, const char *module, struct code_range *ranges, int max)
{
	char path[64], exe[PATH_MAX] = "", line[PATH_MAX + 256];
	int num = 0;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	ssize_t length = readlink(path, exe, sizeof(exe) - 1);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");

	while (maps && length > 0 && num < max && fgets(line, sizeof(line), maps)) {
		unsigned long start, end;
		char access[8];
		int name = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %n", &start, &end, access, &name) < 3 ||
		    name == 0 || !strchr(access, 'x'))
			continue;
		const char *slash = strrchr(line + name, '/');
		if (module ? slash && strncmp(slash + 1, module, strlen(module)) == 0
			   : strcmp(line + name, exe) == 0)
			ranges[num++] = (struct code_range){start, end};
	}
	if (maps)
		fclose(maps);
	return num;
}
