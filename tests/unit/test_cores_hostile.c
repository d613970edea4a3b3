/* SPDX-License-Identifier: BSD-3-Clause
 * Cores made to keep pdb busy, or to take its memory: each is below a MiB, but for what holes and
 * counts claim. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "attach/cores/cores.h"
#include "attach/launchers/words.h"
#include "model/interrupt.h"
#include "model/job/job.h"
#include "model/job/sample.h"
#include "tests/unit/core_writer.h"

#define MIB (UINT64_C(1) << 20)

enum { MOST_MIB = 64, MOST_SECONDS = 2, NUM_THREADS = 1000, NUM_OBJECTS = 4000 };
enum { FUNCTION = 0x10000, CODE_SIZE = 512 << 10 }; /* of the image */

/* As DWARF numbers registers. */
#if defined(__x86_64__)
enum { FRAME_POINTER = 6, RETURN_ADDRESS = 16 };
#elif defined(__aarch64__)
enum { FRAME_POINTER = 29, RETURN_ADDRESS = 30 };
#endif

#define IMAGE UINT64_C(0x10000000)
#define OBJECTS UINT64_C(0x20000000)

/* A core being written, beyond what a core_writer has room for: what is added goes to the end. */
struct hostile {
	struct core_writer *w;
	Elf64_Phdr phdrs[16384];
	size_t num_phdrs;
	char *notes;
	size_t num_notes; /* bytes */
	int fd;
	uint64_t end;
};

static uint64_t append(struct hostile *h, const void *bytes, size_t size)
{
	uint64_t at = (h->end + 7) & ~UINT64_C(7);

	assert_int_equal(pwrite(h->fd, bytes, size, (off_t)at), size);
	h->end = at + size;
	return at;
}

static void add_phdr(struct hostile *h, uint32_t type, uint64_t address, uint64_t at, uint64_t size)
{
	assert_true(h->num_phdrs < NUM_OF(h->phdrs));
	h->phdrs[h->num_phdrs++] = (Elf64_Phdr){
		.p_type = type,
		.p_flags = PF_R | PF_X,
		.p_vaddr = address,
		.p_offset = at,
		.p_filesz = size,
		.p_memsz = size,
	};
}

static void add_note(struct hostile *h, uint32_t type, const void *content, size_t size)
{
	Elf64_Nhdr note = {.n_namesz = 5, .n_descsz = (uint32_t)size, .n_type = type};
	size_t all = sizeof(note) + 8 + ((size + 3) & ~(size_t)3);
	char *at;

	h->notes = realloc(h->notes, h->num_notes + all);
	at = h->notes + h->num_notes;
	memset(at, 0, all);
	memcpy(at, &note, sizeof(note));
	memcpy(at + sizeof(note), "CORE", 4);
	memcpy(at + sizeof(note) + 8, content, size);
	h->num_notes += all;
}

static void add_thread(struct hostile *h, pid_t tid, uint64_t pc, uint64_t frame)
{
	struct elf_prstatus status = {.pr_pid = tid};
	struct user_regs_struct regs = {0};

	core_set_regs(&regs, CORE_STACK + 4096, pc);
#if defined(__x86_64__)
	regs.rbp = frame;
#elif defined(__aarch64__)
	regs.regs[29] = frame;
#endif
	memcpy(&status.pr_reg, &regs, sizeof(regs));
	add_note(h, NT_PRSTATUS, &status, sizeof(status));
}

/* NT_FILE of `num` mappings of a page each from `start` on; each has a path of its own to one file.
 */
static void add_files(struct hostile *h, uint64_t start, size_t num, uint64_t size,
		      const char *file)
{
	size_t length = strlen(file), each = 2 * 13 + length + 1;
	size_t all = 16 + num * (24 + each);
	char *note = calloc(1, all), *path = note + 16 + num * 24;
	uint64_t head[2] = {num, 4096};

	memcpy(note, head, sizeof(head));
	for (size_t i = 0; i < num; i++, path += each) {
		uint64_t words[3] = {start + i * size, start + (i + 1) * size, 0};

		memcpy(note + 16 + i * 24, words, sizeof(words));
		for (size_t bit = 0; bit < 13; bit++)
			memcpy(path + 2 * bit, i >> bit & 1 ? "/." : "//", 2);
		memcpy(path + 2 * 13, file, length);
	}
	add_note(h, NT_FILE, note, all);
	free(note);
}

/* An ELF header with segments, as it is at the beginning of a mapped file. */
static Elf64_Ehdr make_header(size_t num)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, 1},
		.e_type = ET_DYN,
		.e_machine = CORE_MACHINE,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)num,
	};

	return header;
}

/* ---- What is wrong with them ---- */

/* Notes that many segments have. */
static void shared_notes(struct hostile *h)
{
	uint64_t at;

	for (int i = 0; i < 700; i++)
		add_thread(h, 1000 + i, 0x1234, 0);
	at = append(h, h->notes, h->num_notes);
	for (int i = 0; i < 4000; i++)
		add_phdr(h, PT_NOTE, 0, at, h->num_notes);
}

/* A hole, which reads as notes without name and content. */
static void hole_of_notes(struct hostile *h)
{
	uint64_t size = UINT64_C(8) << 40;

	while (ftruncate(h->fd, (off_t)size) < 0)
		size /= 2;
	assert_true(size >= MIB << 10);
	for (int i = 0; i < 16; i++)
		add_phdr(h, PT_NOTE, 0, h->end, size - h->end);
}

/* A table of segments that is one. */
static void hole_of_segments(struct hostile *h)
{
	h->num_phdrs = 4 << 20;
}

/* Objects of one page each; their headers, which are all the same bytes, claim large notes. */
static void many_objects(struct hostile *h, const char *file)
{
	Elf64_Phdr phdrs[128] = {{.p_type = PT_LOAD, .p_filesz = 4096, .p_memsz = 65536 * 16}};
	Elf64_Ehdr header = make_header(NUM_OF(phdrs));
	char page[8192] = {0};
	uint64_t at;

	for (size_t i = 1; i < NUM_OF(phdrs); i++)
		phdrs[i] = (Elf64_Phdr){.p_type = PT_NOTE, .p_filesz = 65536, .p_memsz = 65536};
	memcpy(page, &header, sizeof(header));
	memcpy(page + sizeof(header), phdrs, sizeof(phdrs));
	at = append(h, page, sizeof(page));
	for (size_t i = 0; i < NUM_OBJECTS; i++) {
		add_phdr(h, PT_LOAD, OBJECTS + i * sizeof(page), at, sizeof(page));
		if (i % 8 == 0)
			add_thread(h, (pid_t)(1000 + i), OBJECTS + i * sizeof(page) + 8, 0);
	}
	add_files(h, OBJECTS, NUM_OBJECTS, sizeof(page), file);
}

static void many_programs(struct hostile *h)
{
	many_objects(h, "/bin/sh");
}

static void many_pythons(struct hostile *h)
{
	many_objects(h, "/usr/bin/python3");
}

/* An image with one function, whose unwind information is this: of the common entry, and of its
 * own. */
static void add_image(struct hostile *h, const void *common, size_t common_size, const void *own,
		      size_t own_size)
{
	enum { TABLE = 0x200, COMMON = 0x300 };
	Elf64_Phdr phdrs[2] = {
		{.p_type = PT_LOAD, .p_filesz = CODE_SIZE, .p_memsz = CODE_SIZE},
		{.p_type = PT_GNU_EH_FRAME, .p_vaddr = TABLE, .p_filesz = 20, .p_memsz = 20},
	};
	Elf64_Ehdr header = make_header(NUM_OF(phdrs));
	static const uint8_t encodings[4] = {1, 0x1b, 0x03, 0x3b};
	static const uint8_t head[] = {0, 0,   0, 0, 1, 'z', 'R', 0, 1, 0x78, RETURN_ADDRESS,
				       1, 0x1b};
	uint8_t *image = calloc(1, CODE_SIZE);
	uint32_t common_length = (uint32_t)((sizeof(head) + common_size + 3) & ~3U);
	uint32_t fde = COMMON + 4 + common_length;
	int32_t table[4] = {COMMON - TABLE - 4, 1, FUNCTION - TABLE, (int32_t)fde - TABLE};
	uint32_t fde_head[4] = {(uint32_t)(13 + own_size), fde + 4 - COMMON, FUNCTION - (fde + 8),
				CODE_SIZE - FUNCTION};

	memcpy(image, &header, sizeof(header));
	memcpy(image + sizeof(header), phdrs, sizeof(phdrs));
	memcpy(image + TABLE, encodings, sizeof(encodings));
	memcpy(image + TABLE + 4, table, sizeof(table));
	memcpy(image + COMMON, &common_length, 4);
	memcpy(image + COMMON + 4, head, sizeof(head));
	memcpy(image + COMMON + 4 + sizeof(head), common, common_size);
	memcpy(image + fde, fde_head, sizeof(fde_head));
	assert_true(fde + sizeof(fde_head) + 1 + own_size < CODE_SIZE);
	memcpy(image + fde + sizeof(fde_head) + 1, own, own_size);
	add_phdr(h, PT_LOAD, IMAGE, append(h, image, CODE_SIZE), CODE_SIZE);
	add_files(h, IMAGE, 1, CODE_SIZE, "/nowhere");
	free(image);
}

static void add_threads_in_image(struct hostile *h)
{
	for (int i = 0; i < 500; i++)
		add_thread(h, 1000 + i, IMAGE + CODE_SIZE - 1000 + (uint64_t)i, 0);
}

/* Each thread has two frames of its own, which are each other's callers. */
static void endless_stacks(struct hostile *h)
{
	static const uint8_t common[] = {
		0x0c, FRAME_POINTER, 0, 0x80 | FRAME_POINTER, 2, 0x80 | RETURN_ADDRESS, 1,
	};
	uint64_t words[4 * NUM_THREADS];

	for (uint64_t i = 0; i < NUM_THREADS; i++) {
		uint64_t frame = CORE_STACK + 32 * i + 16;

		words[4 * i] = frame + 16, words[4 * i + 1] = IMAGE + FUNCTION + 32 + 32 * i;
		words[4 * i + 2] = frame, words[4 * i + 3] = IMAGE + FUNCTION + 48 + 32 * i;
		add_thread(h, (pid_t)(1000 + i), IMAGE + FUNCTION + 16, frame);
	}
	assert_int_equal(pwrite(h->fd, words, sizeof(words), (off_t)h->w->phdrs[1].p_offset),
			 sizeof(words));
	add_image(h, common, sizeof(common), "", 1);
}

/* DW_CFA_def_cfa_expression: DW_OP_skip to itself. */
static void endless_expression(struct hostile *h)
{
	static const uint8_t common[] = {0x0f, 3, 0x2f, 0xfd, 0xff};

	add_image(h, common, sizeof(common), "", 1);
	add_threads_in_image(h);
}

/* DW_CFA_remember_state, all over. */
static void deep_states(struct hostile *h)
{
	static const uint8_t common[] = {0x0c, FRAME_POINTER, 8, 0x80 | RETURN_ADDRESS, 1};
	size_t size = CODE_SIZE - 0x1000;
	uint8_t *own = malloc(size);

	memset(own, 0x0a, size);
	add_image(h, common, sizeof(common), own, size);
	add_threads_in_image(h);
	free(own);
}

/* ---- Loading them ---- */

typedef void make_fn(struct hostile *h);

static void write_hostile(struct hostile *h, make_fn *make)
{
	static const char variables[] = "PMI_RANK=0\0PMI_SIZE=4";
	Elf64_Ehdr header;

	h->w = core_of_rank(700, variables, sizeof(variables));
	core_write(h->w);
	h->fd = open(h->w->path, O_RDWR);
	h->end = (uint64_t)lseek(h->fd, 0, SEEK_END);
	memcpy(h->phdrs, h->w->phdrs, 2 * sizeof(h->phdrs[0]));
	h->num_phdrs = 2;
	make(h);
	/* A second segment of notes, and the longer table. */
	if (h->num_phdrs < NUM_OF(h->phdrs) && h->notes)
		add_phdr(h, PT_NOTE, 0, append(h, h->notes, h->num_notes), h->num_notes);
	header = h->w->header;
	header.e_phoff = (h->end + 7) & ~UINT64_C(7);
	header.e_phnum = (Elf64_Half)h->num_phdrs;
	if (h->num_phdrs <= NUM_OF(h->phdrs)) {
		append(h, h->phdrs, h->num_phdrs * sizeof(h->phdrs[0]));
	} else {
		Elf64_Shdr section = {.sh_info = (uint32_t)h->num_phdrs};

		header.e_phnum = PN_XNUM;
		header.e_shoff = append(h, &section, sizeof(section));
		header.e_phoff = h->end;
		assert_int_equal(
			ftruncate(h->fd, (off_t)(h->end + h->num_phdrs * sizeof(h->phdrs[0]))), 0);
	}
	assert_int_equal(pwrite(h->fd, &header, sizeof(header), 0), sizeof(header));
}

static uint64_t most_kib(void)
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

/* In a process of its own, which is where it can be measured, and ended. */
static void load_and_measure(const char *name, const char *path)
{
	struct rlimit limit = {10 * MOST_SECONDS, 10 * MOST_SECONDS};
	char *paths[] = {(char *)(uintptr_t)path};
	struct words notes = {0};
	struct cores *cores = NULL;
	struct job *job = job_create();
	uint64_t before = most_kib();
	struct rusage used;
	struct pdb_error err;
	double seconds;

	setrlimit(RLIMIT_CPU, &limit);
	cores_load(paths, 1, job, &notes, &cores, &err);
	if (cores)
		cores_read_values(cores, job);
	getrusage(RUSAGE_SELF, &used);
	seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		  (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	printf("%-20s %5.2f s %5llu MiB, %zu stacks\n", name, seconds,
	       (unsigned long long)(most_kib() - before) / 1024, job->samples->num_samples);
	fflush(stdout);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	_exit(seconds > MOST_SECONDS || most_kib() - before > MOST_MIB * 1024);
#else
	_exit(0);
#endif
}

static void test_bounds(void **state)
{
	static const struct {
		const char *name;
		make_fn *make;
	} cases[] = {
		{"endless stacks", endless_stacks},
		{"shared notes", shared_notes},
		{"a hole of notes", hole_of_notes},
		{"a hole of segments", hole_of_segments},
		{"programs", many_programs},
		{"Python", many_pythons},
		{"an endless formula", endless_expression},
		{"deep states", deep_states},
	};
	bool is_good = true;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct hostile *h = calloc(1, sizeof(*h));
		struct stat st;
		pid_t pid;
		int status;

		write_hostile(h, cases[i].make);
		assert_int_equal(fstat(h->fd, &st), 0);
		assert_true((uint64_t)st.st_blocks * 512 < MIB);
		fflush(stdout);
		pid = fork();
		if (pid == 0)
			load_and_measure(cases[i].name, h->w->path);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status) {
			print_error("%s: %s %d\n", cases[i].name,
				    WIFSIGNALED(status) ? "signal" : "too much:",
				    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
			is_good = false;
		}
		close(h->fd);
		core_destroy(h->w);
		free(h->notes);
		free(h);
	}
	assert_true(is_good);
}

static void test_interrupted(void **state)
{
	struct hostile *h = calloc(1, sizeof(*h));
	struct words notes = {0};
	struct job *job = job_create();
	struct cores *cores = NULL;
	struct pdb_error err;

	(void)state;
	write_hostile(h, endless_stacks);
	interrupt_wanted = 1;
	assert_int_equal(cores_load((char *[]){h->w->path}, 1, job, &notes, &cores, &err), -1);
	interrupt_wanted = 0;
	assert_int_equal(err.code, ERROR_INTERRUPTED);
	assert_null(cores);
	words_free(notes.words);
	job_destroy(job);
	close(h->fd);
	core_destroy(h->w);
	free(h->notes);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
