/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>

#include "attach/cores/core_file.h"
#include "attach/stacks/tracee.h"
#include "tests/unit/core_writer.h"

static const char environment[] = "HOME=/root\0PMI_RANK=3\0PMI_SIZE=8";

static struct core_writer *whole(void)
{
	return core_of_rank(700, environment, sizeof(environment));
}

static struct core_file *open_written(struct core_writer *w)
{
	struct core_file *core;
	struct pdb_error err;

	core_write(w);
	core = core_file_open(w->path, &err);
	if (!core)
		fail_msg("%s", err.text);
	return core;
}

static void test_whole(void **state)
{
	struct core_writer *w = whole();
	const struct core_thread *thread;
	struct core_file *core;
	siginfo_t info;
	char *environ;
	size_t size;

	(void)state;
	core_add_thread(w, 701, 0, 8192, 0x5678);
	core_lay_out(w);
	core = open_written(w);
	assert_true(core_file_is_core(w->path));
	assert_int_equal(core->pid, 700);
	assert_string_equal(core->command, "./solver in");
	assert_int_equal(core->missing, 0);
	assert_int_equal(core->num_threads, 2);
	assert_int_equal(core->threads[1].tid, 701);
	assert_int_equal(core_file_auxv(core, AT_PAGESZ), 4096);
	assert_int_equal(core_file_auxv(core, AT_HWCAP), 0);
	environ = core_file_environ(core, &size);
	assert_int_equal(size, sizeof(environment));
	assert_memory_equal(environ, environment, size);
	free(environ);
	thread = core_file_culprit(core, &info);
	assert_int_equal(thread->tid, 700);
	assert_int_equal(info.si_code, SEGV_MAPERR);
	assert_ptr_equal(info.si_addr, (void *)0x10);
	core_file_close(core);
	core_destroy(w);
}

static void test_memory(void **state)
{
	static const uint8_t low[] = "0123456789abcdef", high[] = "ABCDEFGHIJKLMNOP";
	static const struct {
		uint64_t address;
		size_t size;
		const char *expected; /* NULL: not there */
	} cases[] = {
		{0x10000, 4, "0123"},
		{0x1000c, 4, "cdef"},
		{0x1000e, 4, "efAB"}, /* over the border of two segments */
		{0x1001e, 2, "OP"},
		{0x1001e, 3, NULL}, /* the rest of the segment was not dumped */
		{0x10030, 1, NULL},
		{0xffff, 2, NULL},
		{0, 1, NULL},
		{UINT64_MAX, 2, NULL},
	};
	struct core_writer *w = whole();
	struct core_file *core;
	char buffer[16];

	(void)state;
	core_add_segment(w, 0x10010, high, 16)->p_memsz = 32;
	core_add_segment(w, 0x10000, low, 16);
	core_lay_out(w);
	core = open_written(w);
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		int result = core_file_read(core, cases[i].address, buffer, cases[i].size);

		assert_int_equal(result, cases[i].expected ? 0 : -1);
		if (cases[i].expected)
			assert_memory_equal(buffer, cases[i].expected, cases[i].size);
	}
	assert_int_equal(core_file_segment(core, 0x1002f)->start, 0x10010);
	assert_null(core_file_segment(core, 0x10030));
	core_file_close(core);
	core_destroy(w);
}

/* ---- Headers that lie ---- */

static void make_program(struct core_writer *w)
{
	w->header.e_type = ET_DYN;
}

static void make_text(struct core_writer *w)
{
	w->header.e_ident[0] = '#';
}

static void make_32_bits(struct core_writer *w)
{
	w->header.e_ident[EI_CLASS] = ELFCLASS32;
}

static void make_big_endian(struct core_writer *w)
{
	w->header.e_ident[EI_DATA] = ELFDATA2MSB;
}

static void make_other_machine(struct core_writer *w)
{
	w->header.e_machine = EM_RISCV;
}

static void make_other_entries(struct core_writer *w)
{
	w->header.e_phentsize = 8;
}

static void make_no_segments(struct core_writer *w)
{
	w->header.e_phnum = 0;
}

static void make_table_outside(struct core_writer *w)
{
	w->header.e_phoff = UINT64_MAX - 8;
}

static void make_many_segments(struct core_writer *w)
{
	w->header.e_phnum = 60000;
}

static void make_numbers_outside(struct core_writer *w)
{
	w->header.e_phnum = PN_XNUM;
	w->header.e_shoff = UINT64_MAX - 8;
}

static void make_notes_outside(struct core_writer *w)
{
	w->phdrs[0].p_offset = UINT64_MAX - 100;
	w->contents[0] = NULL;
}

static void make_notes_late(struct core_writer *w)
{
	w->phdrs[0].p_offset = (uint64_t)1 << 40;
	w->contents[0] = NULL;
}

static void make_long_name(struct core_writer *w)
{
	memset(w->notes, 0xff, 4);
}

static void make_long_content(struct core_writer *w)
{
	memset(w->notes + 4, 0xff, 4);
}

static void make_short_status(struct core_writer *w)
{
	w->notes[4] = 16;
}

static void make_negative_thread(struct core_writer *w)
{
	memset(w->notes + 20 + offsetof(struct elf_prstatus, pr_pid), 0xff, 4);
}

static void test_refused(void **state)
{
	static const struct {
		void (*change)(struct core_writer *w);
		const char *part;
	} cases[] = {
		{make_program, "not a core file"},
		{make_text, "not a core file"},
		{make_32_bits, "another architecture (32 bits"},
		{make_big_endian, "another architecture"},
		{make_other_machine, "another architecture (64 bits, machine 243"},
		{make_other_entries, "corrupt core"},
		{make_no_segments, "corrupt core: 0 segments"},
		{make_table_outside, "truncated core: its segment table"},
		{make_many_segments, "truncated core: its segment table"},
		{make_numbers_outside, "truncated core: its number of segments"},
		{make_notes_outside, "truncated core: it has no thread"},
		{make_notes_late, "truncated core: it has no thread"},
		{make_long_name, "corrupt core: it has no thread"},
		{make_long_content, "corrupt core: it has no thread"},
		{make_short_status, "corrupt core: it has no thread"},
		{make_negative_thread, "corrupt core: it has no thread"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct core_writer *w = whole();
		struct pdb_error err;

		cases[i].change(w);
		core_write(w);
		assert_null(core_file_open(w->path, &err));
		assert_error(&err, ERROR_FORMAT, cases[i].part);
		assert_error(&err, ERROR_FORMAT, w->path);
		core_destroy(w);
	}
}

static void test_no_file(void **state)
{
	struct pdb_error err;

	(void)state;
	assert_null(core_file_open("/nowhere/core", &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_null(core_file_open("/dev/null", &err));
	assert_error(&err, ERROR_FORMAT, "not a regular file");
	assert_null(core_file_open("/tmp", &err));
	assert_false(core_file_is_core("/dev/null"));
	assert_false(core_file_is_core("/proc/self/exe"));
}

/* However short it is cut, it is refused or what is left of it can be read. */
static void test_cut_anywhere(void **state)
{
	struct core_writer *w = whole();
	struct stat status;
	siginfo_t info;
	size_t size;

	(void)state;
	core_write(w);
	assert_int_equal(stat(w->path, &status), 0);
	for (off_t length = status.st_size - 1; length >= 0; length -= length > 8192 ? 4001 : 13) {
		struct core_file *core;
		struct pdb_error err;

		assert_int_equal(truncate(w->path, length), 0);
		core = core_file_open(w->path, &err);
		if (!core) {
			assert_int_equal(err.code, ERROR_FORMAT);
			continue;
		}
		assert_true(core->missing > 0);
		free(core_file_environ(core, &size));
		core_file_culprit(core, &info);
		core_file_close(core);
	}
	core_destroy(w);
}

/* More than 65534 segments: their number is in the first section header. */
static void test_many_segments(void **state)
{
	struct core_writer *w = whole();
	Elf64_Shdr section = {.sh_info = w->header.e_phnum};
	struct core_file *core;

	(void)state;
	w->contents[CORE_MAX_SEGMENTS - 1] = &section;
	w->phdrs[CORE_MAX_SEGMENTS - 1].p_filesz = sizeof(section);
	w->phdrs[CORE_MAX_SEGMENTS - 1].p_offset = 1 << 20;
	w->header.e_shoff = 1 << 20;
	w->header.e_phnum = PN_XNUM;
	core = open_written(w);
	assert_int_equal(core->num_segments, 1);
	core_file_close(core);
	core_destroy(w);
}

static void test_segments_that_lie(void **state)
{
	static const uint8_t bytes[64] = {1, 2, 3};
	struct core_writer *w = whole();
	struct core_file *core;
	uint8_t buffer[64];

	(void)state;
	core_add_segment(w, 0x10000, bytes, 64)->p_memsz = 16; /* more in the file than in memory */
	core_add_segment(w, 0x10008, bytes, 64);               /* overlaps the one before */
	core_add_segment(w, UINT64_MAX - 8, bytes, 64);        /* beyond the end of all addresses */
	core_add_segment(w, 0x20000, NULL, 0);
	core_add_segment(w, 0x30000, bytes, 64);
	core_lay_out(w);
	w->phdrs[6].p_offset = UINT64_MAX - 16;
	w->contents[6] = NULL;
	core = open_written(w);
	assert_int_equal(core->num_segments, 3);
	assert_int_equal(core->segments[0].end, 0x10010);
	assert_int_equal(core->segments[0].dumped_size, 16);
	assert_int_equal(core->segments[1].dumped_size, 0);
	assert_int_equal(core->missing, 64);
	assert_int_equal(core_file_read(core, 0x30000, buffer, 1), -1);
	core_file_close(core);
	core_destroy(w);
}

/* ---- NT_FILE ---- */

struct files {
	uint64_t num, page;
	uint64_t words[6];
	char paths[32];
};

static void test_mappings(void **state)
{
	static const struct {
		struct files files;
		size_t expected;
	} cases[] = {
		{{2, 4096, {0x1000, 0x2000, 0, 0x2000, 0x3000, 1}, "/lib/a\0/lib/a"}, 2},
		{{2, 1, {0x1000, 0x2000, 0, 0x2000, 0x3000, 4096}, "/lib/a\0/lib/a"}, 2},
		{{1, 4096, {0x1000, 0x1000, 0}, "/lib/a"}, 0},
		{{1, 4096, {0x2000, 0x1000, 0}, "/lib/a"}, 0},
		{{2, 4096, {0x2000, 0x3000, 0, 0x1000, 0x2000, 0}, "/lib/a\0/lib/b"}, 1},
		{{2, 4096, {0x2000, 0x3000, 0, 0x2800, 0x4000, 0}, "/lib/a\0/lib/b"}, 1},
		{{1, 4096, {0x1000, 0x2000, UINT64_MAX}, "/lib/a"}, 0},
		{{1, 0, {0x1000, 0x2000, 0}, "/lib/a"}, 0},
		{{1, UINT64_MAX, {0x1000, 0x2000, 1}, "/lib/a"}, 0},
		{{UINT64_MAX, 4096, {0x1000, 0x2000, 0}, "/lib/a"}, 0},
		{{4, 4096, {0x1000, 0x2000, 0}, ""}, 0},
		{{UINT64_MAX / 24 + 2, 4096, {0x1000, 0x2000, 0}, "/lib/a"}, 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const struct files *files = &cases[i].files;
		struct core_writer *w = whole();
		struct core_file *core;
		char note[128];
		size_t words = files->num == 1 ? 3 : 6;

		memcpy(note, files, 16 + words * 8);
		memcpy(note + 16 + words * 8, files->paths, sizeof(files->paths));
		core_add_note(w, NT_FILE, note, 16 + words * 8 + 16);
		core_lay_out(w);
		core = open_written(w);
		assert_int_equal(core->num_mappings, cases[i].expected);
		if (cases[i].expected == 2) {
			assert_string_equal(core->mappings[1].path, "/lib/a");
			assert_int_equal(core->mappings[1].file_offset, 4096);
		}
		core_file_close(core);
		core_destroy(w);
	}
}

/* ---- The stack ---- */

static void test_no_environment(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct core_writer *w = core_create();
		struct core_file *core;
		size_t size;

		core_add_thread(w, 700, 0, 4096, 0);
		if (i > 0)
			core_add_start(w, environment, sizeof(environment));
		core_lay_out(w);
		if (i == 1) /* the vector is not on the stack */
			memset(w->stack, 0, CORE_STACK_SIZE - 512);
		if (i == 2) /* its pointers lead nowhere */
			memset(w->stack, 0xff, CORE_STACK_SIZE - 1104);
		if (i == 3) /* the program's name is where no stack is */
			w->phdrs[1].p_vaddr += 1 << 30;
		core = open_written(w);
		assert_null(core_file_environ(core, &size));
		assert_int_equal(core->pid, 700);
		core_file_close(core);
		core_destroy(w);
	}
}

/* A program that has unset its first variable and set another, which is elsewhere then. */
static void test_changed_environment(void **state)
{
	struct core_writer *w = whole();
	uint64_t words[4], heap = 0x5000, zero = 0;
	struct core_file *core;
	size_t at, size;
	char *environ;

	(void)state;
	memcpy(words, &w->auxv, 16);
	for (at = CORE_STACK_SIZE - 64; memcmp(w->stack + at, words, 16) != 0; at -= 8)
		;
	at -= 32; /* three pointers, zero */
	memcpy(w->stack + at, w->stack + at + 8, 8);
	memcpy(w->stack + at + 8, &heap, 8);
	memcpy(w->stack + at + 16, &zero, 8);
	core = open_written(w);
	environ = core_file_environ(core, &size);
	assert_non_null(environ);
	assert_string_equal(environ, "PMI_RANK=3");
	free(environ);
	core_file_close(core);
	core_destroy(w);
}

#if defined(__x86_64__)
/* A handler of the program caught the fault and sent the signal to itself: the kernel's frame for
 * the handler is still below the stack pointer. */
static void test_sent_again(void **state)
{
	static const struct {
		int number, code, frame_number;
		uint64_t frame_pc;
		bool is_found;
	} cases[] = {
		{SIGSEGV, SI_TKILL, SIGSEGV, 0x1234, true},
		{SIGSEGV, SI_USER, SIGSEGV, 0x1234, true},
		{SIGSEGV, SI_TKILL, SIGSEGV, 0x1235, false}, /* of another fault */
		{SIGSEGV, SI_TKILL, SIGUSR1, 0x1234, false},
		{SIGSEGV, SEGV_MAPERR, SIGSEGV, 0x1234, false}, /* the signal itself tells it */
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct core_writer *w = core_create();
		siginfo_t info = {.si_signo = cases[i].frame_number, .si_code = SEGV_ACCERR};
		uint64_t pair[2] = {CORE_STACK + 8192, cases[i].frame_pc};
		struct core_file *core;

		core_add_thread(w, 700, cases[i].number, 8192, 0x1234);
		core_add_info(w, cases[i].number, cases[i].code, 700, 0x99);
		core_lay_out(w);
		info.si_addr = (void *)0x4128;
		memcpy(w->stack + 4096, pair, sizeof(pair));
		memcpy(w->stack + 4096 + 144, &info, sizeof(info));
		core = open_written(w);
		assert_non_null(core_file_culprit(core, &info));
		assert_int_equal(info.si_code, cases[i].is_found ? SEGV_ACCERR : cases[i].code);
		if (cases[i].is_found)
			assert_ptr_equal(info.si_addr, (void *)0x4128);
		core_file_close(core);
		core_destroy(w);
	}
}

/* A stack pointer that points anywhere. */
static void test_wild_stack_pointer(void **state)
{
	static const uint64_t places[] = {0, 1, 8, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 63};

	(void)state;
	for (size_t i = 0; i < NUM_OF(places); i++) {
		struct core_writer *w = core_create();
		struct core_file *core;
		siginfo_t info;

		core_add_thread(w, 700, SIGSEGV, places[i] - CORE_STACK, 0x1234);
		core_add_info(w, SIGSEGV, SI_TKILL, 700, 0);
		core_lay_out(w);
		core = open_written(w);
		assert_int_equal(core_file_culprit(core, &info)->tid, 700);
		assert_int_equal(info.si_code, SI_TKILL);
		core_file_close(core);
		core_destroy(w);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_many_segments),
		cmocka_unit_test(test_segments_that_lie),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_no_environment),
		cmocka_unit_test(test_changed_environment),
#if defined(__x86_64__)
		cmocka_unit_test(test_sent_again),
		cmocka_unit_test(test_wild_stack_pointer),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
