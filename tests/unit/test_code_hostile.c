/* SPDX-License-Identifier: BSD-3-Clause
 * Program files made to keep pdb busy, or to take its memory: each is below a MiB. x86-64, which
 * any host can decode. */
#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/code/code.h"
#include "attach/symbols/symbols.h"
#include "model/job/code.h"
#include "model/job/code_store.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "tests/unit/unit.h"

enum {
	MOST_MIB = 64,
	MOST_SECONDS = 2,
	MAX_SYMBOLS = 10000,
	MAX_RELOCATIONS = 10000,
	TEXT = 400 << 10,
	BASE = 0x10000,
	PART_NAME = 12,
	INFO_NAME = 32,
	ABBREVIATIONS_NAME = 48,
	MAX_SCOPES = 250,
};

/* Debug information of one unit, with nothing but scopes. */
struct __attribute__((packed)) unit {
	uint32_t size; /* of what follows */
	uint16_t version;
	uint32_t abbreviations;
	uint8_t address_size;
	uint8_t code;
	uint64_t low;
	uint32_t num;
	struct __attribute__((packed)) scope {
		uint8_t code;
		uint32_t sibling;
	} scopes[MAX_SCOPES];
};

struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[7]; /* nothing, .text, .symtab, .strtab, .rela.plt, .debug_info,
				   .debug_abbrev */
	char strings[64];
	struct unit unit;
	uint8_t abbreviations[24];
	uint8_t text[TEXT];
	Elf64_Sym symbols[MAX_SYMBOLS];
	Elf64_Rela relocations[MAX_RELOCATIONS];
	size_t num_symbols, num_relocations; /* not written */
};

static Elf64_Shdr section(uint32_t type, size_t at, size_t size, size_t each, uint32_t link)
{
	return (Elf64_Shdr){
		.sh_type = type,
		.sh_addr = type == SHT_PROGBITS ? BASE : 0,
		.sh_offset = at,
		.sh_size = size,
		.sh_entsize = each,
		.sh_link = link,
	};
}

static void add_function(struct file *file, uint64_t at, uint64_t size)
{
	file->symbols[file->num_symbols++] = (Elf64_Sym){
		.st_name = 1,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = BASE + at,
		.st_size = size,
	};
}

/* opcode is followed by where it leads, relative to what is behind it. */
static void put_way(struct file *file, size_t at, uint8_t opcode, size_t target)
{
	int32_t distance = (int32_t)target - (int32_t)(at + 5);

	file->text[at] = opcode;
	memcpy(file->text + at + 1, &distance, sizeof(distance));
}

/* ---- What is wrong with them ---- */

enum { CALL = 0xe8, JUMP = 0xe9, PUSH = 0x50, NOP = 0x90 };

/* Instructions of a byte, which each change two places. */
static void dense(struct file *file)
{
	memset(file->text, PUSH, TEXT);
	add_function(file, 0, TEXT);
}

/* Half of the text is ways to functions that are nearly all of the other half. */
static void ways(struct file *file, uint8_t opcode)
{
	size_t half = TEXT / 2;

	memset(file->text, NOP, TEXT);
	for (size_t i = 0; i < half / 5; i++)
		put_way(file, i * 5, opcode, half + i % (MAX_SYMBOLS - 1));
	add_function(file, 0, half);
	for (size_t i = 0; i + 1 < MAX_SYMBOLS; i++)
		add_function(file, half + i, 60000);
}

static void calls(struct file *file)
{
	ways(file, CALL);
}

static void jumps(struct file *file)
{
	ways(file, JUMP);
	/* Without names of their own, parts are told by their code. */
	for (size_t i = 1; i < file->num_symbols; i++)
		file->symbols[i].st_name = i % 2 ? 0 : 1;
}

/* Calls through a stub, whose name is looked for among all relocations. */
static void stubs(struct file *file)
{
	static const uint8_t stub[] = {0xff, 0x25, 0, 0, 0, 0};

	memset(file->text, NOP, TEXT);
	memcpy(file->text + TEXT - 32, stub, sizeof(stub));
	for (size_t i = 0; i < TEXT / 2 / 5; i++)
		put_way(file, i * 5, CALL, TEXT - 32);
	add_function(file, 0, TEXT / 2);
	file->num_relocations = MAX_RELOCATIONS;
}

/* The same of what may be a part of another function: looking for that leaves nothing for itself.
 */
static void part(struct file *file)
{
	stubs(file);
	file->symbols[0].st_name = PART_NAME;
}

/* Each scope is within the one before, and is the next one to it: two ways to each lead to twice as
 * many to the one after. */
static void scopes(struct file *file)
{
	static const uint8_t abbreviations[] = {
		1,
		DW_TAG_compile_unit,
		1,
		DW_AT_low_pc,
		DW_FORM_addr,
		DW_AT_high_pc,
		DW_FORM_data4,
		0,
		0, /* and of a scope: */
		2,
		DW_TAG_structure_type,
		1,
		DW_AT_sibling,
		DW_FORM_ref4,
		0,
		0,
	};
	struct unit *unit = &file->unit;

	memset(file->text, NOP, TEXT);
	add_function(file, 0, TEXT);
	memcpy(file->abbreviations, abbreviations, sizeof(abbreviations));
	*unit = (struct unit){
		.size = sizeof(*unit) - sizeof(unit->size),
		.version = 4,
		.address_size = sizeof(unit->low),
		.code = 1,
		.low = BASE,
		.num = TEXT,
	};
	for (uint32_t i = 0; i < MAX_SCOPES; i++)
		unit->scopes[i] = (struct scope){2, (uint32_t)offsetof(struct unit, scopes) +
							    (i + 1) * sizeof(struct scope)};
}

/* ---- Reading them ---- */

typedef void make_fn(struct file *file);

static void write_file(char *path, make_fn *make)
{
	struct file *file = calloc(1, sizeof(*file));
	int fd;

	make(file);
	file->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, 1},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct file, segment),
		.e_shoff = offsetof(struct file, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = NUM_OF(file->sections),
		.e_shstrndx = 3,
	};
	file->segment = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = offsetof(struct file, text),
		.p_vaddr = BASE,
		.p_filesz = TEXT,
		.p_memsz = TEXT,
	};
	file->sections[1] = section(SHT_PROGBITS, offsetof(struct file, text), TEXT, 0, 0);
	file->sections[2] = section(SHT_SYMTAB, offsetof(struct file, symbols),
				    file->num_symbols * sizeof(Elf64_Sym), sizeof(Elf64_Sym), 3);
	file->sections[3] =
		section(SHT_STRTAB, offsetof(struct file, strings), sizeof(file->strings), 0, 0);
	file->sections[4] =
		section(SHT_RELA, offsetof(struct file, relocations),
			file->num_relocations * sizeof(Elf64_Rela), sizeof(Elf64_Rela), 2);
	if (file->unit.size) {
		file->sections[5] = section(SHT_PROGBITS, offsetof(struct file, unit),
					    sizeof(file->unit), 0, 0);
		file->sections[5].sh_name = INFO_NAME;
		file->sections[6] = section(SHT_PROGBITS, offsetof(struct file, abbreviations),
					    sizeof(file->abbreviations), 0, 0);
		file->sections[6].sh_name = ABBREVIATIONS_NAME;
	}
	strcpy(file->strings + INFO_NAME, ".debug_info");
	strcpy(file->strings + ABBREVIATIONS_NAME, ".debug_abbrev");
	strcpy(file->strings + 1, "function");
	strcpy(file->strings + PART_NAME, "function.cold");
	strcpy(path, "/tmp/pdb-code.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file, offsetof(struct file, num_symbols)),
			 offsetof(struct file, num_symbols));
	close(fd);
	free(file);
}

static unsigned long long most_kib(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long kib = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %llu", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static void read_and_measure(const char *name, const char *path)
{
	struct rlimit limit = {10 * MOST_SECONDS, 10 * MOST_SECONDS};
	unsigned long long kib = most_kib();
	struct modules *modules = modules_create();
	struct symbols *symbols = symbols_create(modules);
	struct code_store *store = code_store_create();
	struct code_reader *reader = code_reader_create(modules, store);
	uint32_t module = modules_intern(modules, path, NULL, 0);
	const struct code_function *function;
	struct pdb_error err;
	struct rusage used;
	struct name symbol;
	double seconds;

	setrlimit(RLIMIT_CPU, &limit);
	function = code_reader_get(reader, module, BASE + 16, &err);
	for (int i = 0; i < 100; i++)
		symbols_resolve(symbols, module, (uint64_t)(BASE + i), &symbol);
	getrusage(RUSAGE_SELF, &used);
	seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		  (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	kib = most_kib() - kib;
	printf("%-8s %5.2f s %5llu MiB, %zu instructions\n", name, seconds, kib / 1024,
	       function ? function->num_insns : 0);
	fflush(stdout);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	_exit(!function || seconds > MOST_SECONDS || kib > MOST_MIB * 1024);
#else
	_exit(!function);
#endif
}

static void test_bounds(void **state)
{
	static const struct {
		const char *name;
		make_fn *make;
	} cases[] = {{"dense", dense}, {"calls", calls}, {"jumps", jumps},
		     {"part", part},   {"stubs", stubs}, {"scopes", scopes}};
	bool is_good = true;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char path[64];
		pid_t pid;
		int status;

		write_file(path, cases[i].make);
		fflush(stdout);
		pid = fork();
		if (pid == 0)
			read_and_measure(cases[i].name, path);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status) {
			print_error("%s: %s\n", cases[i].name,
				    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "too much");
			is_good = false;
		}
		unlink(path);
	}
	assert_true(is_good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
