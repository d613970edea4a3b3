/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/error.h"
#include "tests/unit/code_file.h"
#include "tests/unit/unit.h"

struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[4]; /* nothing, .text, .symtab, .strtab */
	Elf64_Sym symbols[3];
	char strings[16];
	uint8_t text[CODE_FILE_SIZE];
};

static void write_file(const char *path, uint16_t machine, const void *text, size_t size,
		       size_t size_all, uint64_t whole)
{
	struct file file = {
		.header = {.e_type = ET_DYN,
			   .e_machine = machine,
			   .e_version = EV_CURRENT,
			   .e_phoff = offsetof(struct file, segment),
			   .e_shoff = offsetof(struct file, sections),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 1,
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 4},
		.segment = {.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_offset = offsetof(struct file, text),
			    .p_vaddr = CODE_FILE_BASE,
			    .p_filesz = size_all,
			    .p_memsz = size_all},
		.sections = {{0},
			     {.sh_type = SHT_PROGBITS,
			      .sh_addr = CODE_FILE_BASE,
			      .sh_offset = offsetof(struct file, text),
			      .sh_size = size_all},
			     {.sh_type = SHT_SYMTAB,
			      .sh_offset = offsetof(struct file, symbols),
			      .sh_size = sizeof(file.symbols),
			      .sh_link = 3,
			      .sh_info = 1,
			      .sh_entsize = sizeof(Elf64_Sym)},
			     {.sh_type = SHT_STRTAB,
			      .sh_offset = offsetof(struct file, strings),
			      .sh_size = sizeof(file.strings)}},
		.symbols = {{0},
			    {.st_name = 1,
			     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			     .st_shndx = 1,
			     .st_value = CODE_FILE_BASE,
			     .st_size = size}},
		.strings = "\0code\0code.cold",
	};
	int fd;

	assert_true(size_all <= sizeof(file.text));
	if (whole) {
		file.symbols[2] = file.symbols[1];
		file.symbols[2].st_value = whole;
		file.symbols[2].st_size = 8;
		file.symbols[1].st_name = 6;
	}
	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(file.text, text, size_all);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	close(fd);
}

void open_code(struct opened *opened, uint16_t machine, const void *text, size_t size,
	       size_t size_all, uint64_t whole)
{
	struct pdb_error err;

	snprintf(opened->path, sizeof(opened->path), "/tmp/pdb-test-code.%d", (int)getpid());
	write_file(opened->path, machine, text, size, size_all, whole);
	opened->modules = modules_create();
	opened->store = code_store_create();
	opened->reader = code_reader_create(opened->modules, opened->store);
	opened->module = modules_intern(opened->modules, opened->path, NULL, 0);
	opened->code = code_reader_get(opened->reader, opened->module, CODE_FILE_BASE, &err);
	if (!opened->code)
		fail_msg("%s", err.text);
	opened->flow = flow_create(opened->code);
}

void close_code(struct opened *opened)
{
	flow_destroy(opened->flow);
	code_reader_destroy(opened->reader);
	code_store_destroy(opened->store);
	modules_destroy(opened->modules);
	unlink(opened->path);
}
