/* SPDX-License-Identifier: BSD-3-Clause */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/cores/core_file.h"
#include "attach/process/memory.h"
#include "model/interrupt.h"
#include "model/regular_file.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#endif

/* The kernel's own limit of mappings is 65530 unless somebody has raised it. */
#define MAX_SEGMENTS ((uint64_t)4 << 20)
/* Some file systems compress, or tell only later what they have stored. */
#define LEAST_BUDGET ((uint64_t)1 << 20)
#define MAX_FILE_NOTE ((uint64_t)64 << 20)
#define MAX_AUXV 256

_Static_assert(sizeof(((struct elf_prstatus *)0)->pr_reg) == sizeof(struct user_regs_struct),
	       "NT_PRSTATUS has the registers that ptrace knows");

static bool read_at(const struct core_file *core, uint64_t at, void *buffer, size_t size)
{
	return at <= INT64_MAX && pread(core->fd, buffer, size, (off_t)at) == (ssize_t)size;
}

static bool is_core(const ElfW(Ehdr) * header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) && header->e_type == ET_CORE;
}

bool core_file_is_core(const char *path)
{
	ElfW(Ehdr) header;
	int fd = regular_file_open(AT_FDCWD, path, 0, NULL);

	if (fd < 0)
		return false;
	/* Type and magic are at the same place in all kinds of ELF files. */
	bool result = pread(fd, &header, sizeof(header), 0) == sizeof(header) && is_core(&header);
	close(fd);
	return result;
}

static int check_header(const ElfW(Ehdr) * header, struct pdb_error *err)
{
	if (!is_core(header))
		return error_set(err, ERROR_FORMAT, "not a core file");
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_machine != OWN_MACHINE)
		return error_set(err, ERROR_FORMAT,
				 "a core of another architecture (%d bits, machine %d; this pdb "
				 "reads 64 bits, machine %d): use a pdb that runs there",
				 header->e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32,
				 header->e_machine, OWN_MACHINE);
	if (header->e_phentsize != sizeof(ElfW(Phdr)))
		return error_set(err, ERROR_FORMAT, "a corrupt core: its segment table");
	return 0;
}

/* How many segments there are: with 65535 or more the number is in the first section header. */
static int count_segments(const struct core_file *core, const ElfW(Ehdr) * header,
			  uint64_t *num_ret, struct pdb_error *err)
{
	ElfW(Shdr) section;

	*num_ret = header->e_phnum;
	if (header->e_phnum == PN_XNUM) {
		if (!read_at(core, header->e_shoff, &section, sizeof(section)))
			return error_set(err, ERROR_FORMAT,
					 "a truncated core: its number of segments is missing");
		*num_ret = section.sh_info;
	}
	if (!*num_ret || *num_ret > MAX_SEGMENTS)
		return error_set(err, ERROR_FORMAT, "a corrupt core: %llu segments",
				 (unsigned long long)*num_ret);
	if (header->e_phoff > core->size ||
	    (core->size - header->e_phoff) / sizeof(ElfW(Phdr)) < *num_ret ||
	    core->budget / sizeof(ElfW(Phdr)) < *num_ret)
		return error_set(err, ERROR_FORMAT,
				 "a truncated core: its segment table is not all there");
	return 0;
}

/* How many of the `size` bytes at `at` the file has; those that are missing are noted. */
static uint64_t clip(struct core_file *core, uint64_t at, uint64_t size)
{
	uint64_t there = at < core->size ? core->size - at : 0;

	if (size <= there)
		return size;
	if (core->missing < size - there)
		core->missing = size - there;
	return there;
}

static void add_segment(struct core_file *core, const ElfW(Phdr) * phdr)
{
	if (!phdr->p_memsz || phdr->p_vaddr > UINT64_MAX - phdr->p_memsz)
		return;
	struct core_segment *segment = ARENA_PUSH(core->arena, core->segments, core->num_segments,
						  core->segments_capacity);
	*segment = (struct core_segment){
		.start = phdr->p_vaddr,
		.end = phdr->p_vaddr + phdr->p_memsz,
		.at = phdr->p_offset,
		.dumped_size = clip(core, phdr->p_offset, phdr->p_filesz),
		.is_readable = phdr->p_flags & PF_R,
		.is_writable = phdr->p_flags & PF_W,
		.is_executable = phdr->p_flags & PF_X,
	};
	if (segment->dumped_size > phdr->p_memsz)
		segment->dumped_size = phdr->p_memsz;
}

SORTED_BY(by_start, struct core_segment, start)

/* Into order, without those that overlap one before. */
static void sort_segments(struct core_file *core)
{
	size_t num = 0;

	sorted_make(core->segments, core->num_segments, sizeof(*core->segments), by_start);
	for (size_t i = 0; i < core->num_segments; i++)
		if (!num || core->segments[i].start >= core->segments[num - 1].end)
			core->segments[num++] = core->segments[i];
	core->num_segments = num;
}

/* ---- Notes ---- */

static void add_thread(struct core_file *core, uint64_t at, uint64_t size)
{
	struct elf_prstatus status;
	struct core_thread *thread;

	if (size != sizeof(status) || !read_at(core, at, &status, sizeof(status)) ||
	    status.pr_pid <= 0)
		return;
	thread = ARENA_PUSH(core->arena, core->threads, core->num_threads, core->threads_capacity);
	*thread = (struct core_thread){
		.tid = status.pr_pid,
		.signal = status.pr_cursig,
		.blocked = status.pr_sighold,
	};
	memcpy(&thread->regs, &status.pr_reg, sizeof(thread->regs));
}

/* It stands behind the status of the thread that it belongs to. */
static void add_info(struct core_file *core, uint64_t at, uint64_t size)
{
	struct core_thread *thread;

	if (!core->num_threads || size != sizeof(thread->info))
		return;
	thread = &core->threads[core->num_threads - 1];
	thread->has_info = read_at(core, at, &thread->info, size);
}

static void add_process(struct core_file *core, uint64_t at, uint64_t size)
{
	struct elf_prpsinfo info;

	if (size != sizeof(info) || !read_at(core, at, &info, sizeof(info)))
		return;
	core->pid = info.pr_pid;
	memcpy(core->command, info.pr_psargs, ELF_PRARGSZ);
	core->command[ELF_PRARGSZ] = '\0';
}

static void add_auxv(struct core_file *core, uint64_t at, uint64_t size)
{
	uint64_t pairs[2 * MAX_AUXV];
	size_t num = 0;

	if (size > sizeof(pairs))
		size = sizeof(pairs);
	size -= size % (2 * sizeof(pairs[0]));
	if (core->auxv || !size || !read_at(core, at, pairs, size))
		return;
	while (num < size / (2 * sizeof(pairs[0])) && pairs[2 * num] != AT_NULL)
		num++;
	core->auxv = arena_array(core->arena, num, 2 * sizeof(pairs[0]));
	memcpy(core->auxv, pairs, num * 2 * sizeof(pairs[0]));
	core->num_auxv = num;
}

static void add_mapping(struct core_file *core, const uint64_t words[3], uint64_t page,
			const char *path)
{
	const struct core_mapping *last =
		core->num_mappings ? &core->mappings[core->num_mappings - 1] : NULL;

	if (words[0] >= words[1] || words[2] > INT64_MAX / page || (last && words[0] < last->end))
		return;
	*ARENA_PUSH(core->arena, core->mappings, core->num_mappings, core->mappings_capacity) =
		(struct core_mapping){words[0], words[1], words[2] * page, path};
}

/* NT_FILE: number, page size, then for each mapping start, end and offset in pages, then all the
 * paths, each with a zero byte behind it. */
static void parse_files(struct core_file *core, const char *note, uint64_t size)
{
	uint64_t head[2], words[3], num;
	const char *path, *end = note + size;

	memcpy(head, note, sizeof(head));
	num = head[0];
	if (num > (size - sizeof(head)) / sizeof(words) || !head[1] || head[1] > (1 << 30))
		return;
	path = note + sizeof(head) + num * sizeof(words);
	for (uint64_t i = 0; i < num; i++) {
		const char *zero = memchr(path, '\0', (size_t)(end - path));

		if (!zero)
			return;
		memcpy(words, note + sizeof(head) + i * sizeof(words), sizeof(words));
		add_mapping(core, words, head[1], path);
		path = zero + 1;
	}
}

static void add_files(struct core_file *core, uint64_t at, uint64_t size)
{
	if (core->file_note || size < 2 * sizeof(uint64_t) || size > MAX_FILE_NOTE)
		return;
	core->file_note = arena_alloc(core->arena, size);
	if (read_at(core, at, core->file_note, size))
		parse_files(core, core->file_note, size);
}

static void add_note(struct core_file *core, uint32_t type, uint64_t at, uint64_t size)
{
	static const struct {
		uint32_t type;
		void (*add)(struct core_file *core, uint64_t at, uint64_t size);
	} kinds[] = {{NT_PRSTATUS, add_thread},
		     {NT_PRPSINFO, add_process},
		     {NT_SIGINFO, add_info},
		     {NT_AUXV, add_auxv},
		     {NT_FILE, add_files}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].type == type)
			kinds[i].add(core, at, size);
}

/* Notes of `size` bytes at `at` of the file, aligned to 4 or 8 bytes; what is cut short or makes no
 * sense is left out. -1: more than are stored, or interrupted. */
static int read_notes(struct core_file *core, uint64_t at, uint64_t size, uint64_t align,
		      struct pdb_error *err)
{
	uint64_t mask = align == 8 ? 7 : 3, end = at + size;
	Elf64_Nhdr note;
	char name[5];

	while (end - at >= sizeof(note)) {
		uint64_t content, next;

		if (interrupt_check(err) < 0)
			return -1;
		if (!read_at(core, at, &note, sizeof(note)))
			return 0;
		content = (at + sizeof(note) + note.n_namesz + mask) & ~mask;
		next = (content + note.n_descsz + mask) & ~mask;
		if (content > end || note.n_descsz > end - content)
			return 0;
		/* Segments that overlap, or a hole in the file, which is full of empty notes. */
		if (core->notes_left < next - at)
			return error_set(err, ERROR_FORMAT,
					 "a corrupt core: more notes than it has bytes");
		core->notes_left -= next - at;
		if (note.n_namesz == sizeof(name) &&
		    read_at(core, at + sizeof(note), name, sizeof(name)) &&
		    !memcmp(name, "CORE", sizeof(name)))
			add_note(core, note.n_type, content, note.n_descsz);
		if (next > end)
			return 0;
		at = next;
	}
	return 0;
}

static int read_segments(struct core_file *core, const ElfW(Ehdr) * header, struct pdb_error *err)
{
	ElfW(Phdr) phdr;
	uint64_t num;

	if (count_segments(core, header, &num, err) < 0)
		return -1;
	for (uint64_t i = 0; i < num; i++) {
		if (interrupt_check(err) < 0)
			return -1;
		if (!read_at(core, header->e_phoff + i * sizeof(phdr), &phdr, sizeof(phdr)))
			return error_set(err, ERROR_FORMAT, "the core ends while it is read");
		if (phdr.p_type == PT_LOAD)
			add_segment(core, &phdr);
		else if (phdr.p_type == PT_NOTE &&
			 read_notes(core, phdr.p_offset, clip(core, phdr.p_offset, phdr.p_filesz),
				    phdr.p_align, err) < 0)
			return -1;
	}
	sort_segments(core);
	return 0;
}

static int load(struct core_file *core, struct pdb_error *err)
{
	ElfW(Ehdr) header;

	if (!read_at(core, 0, &header, sizeof(header)))
		return error_set(err, ERROR_FORMAT, "not a core file");
	if (check_header(&header, err) < 0 || read_segments(core, &header, err) < 0)
		return -1;
	if (!core->num_threads)
		return error_set(err, ERROR_FORMAT, "a %s core: it has no thread",
				 core->missing ? "truncated" : "corrupt");
	/* Without NT_PRPSINFO: the main thread is the oldest, and has mostly the lowest number. */
	if (core->pid <= 0) {
		core->pid = core->threads[0].tid;
		for (size_t i = 1; i < core->num_threads; i++)
			if (core->threads[i].tid < core->pid)
				core->pid = core->threads[i].tid;
	}
	return 0;
}

struct core_file *core_file_open(const char *path, struct pdb_error *err)
{
	struct core_file *core;
	struct stat status;
	int fd = regular_file_open(AT_FDCWD, path, 0, &status);

	if (fd < 0) {
		if (errno == ENXIO)
			error_set(err, ERROR_FORMAT, "%s: not a regular file", path);
		else
			error_errno(err, "%s", path);
		return NULL;
	}
	struct arena *arena = arena_create();
	core = arena_alloc(arena, sizeof(*core));
	core->arena = arena;
	core->fd = fd;
	core->path = arena_strdup(arena, path);
	core->size = (uint64_t)status.st_size;
	core->budget = (uint64_t)status.st_blocks * 512;
	if (core->budget > core->size)
		core->budget = core->size;
	core->budget += LEAST_BUDGET;
	core->notes_left = core->budget;
	core->written_ns = core_file_written_ns(&status);
	if (load(core, err) < 0) {
		error_prefix(err, "%s", path);
		core_file_close(core);
		return NULL;
	}
	return core;
}

void core_file_close(struct core_file *core)
{
	if (!core)
		return;
	close(core->fd);
	arena_destroy(core->arena);
}

int64_t core_file_written_ns(const struct stat *status)
{
	return status->st_mtim.tv_sec * INT64_C(1000000000) + status->st_mtim.tv_nsec;
}

const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address)
{
	return memory_find_range(core->segments, core->num_segments, sizeof(*core->segments),
				 address);
}

int core_file_read(const struct core_file *core, uint64_t address, void *buffer, size_t size)
{
	uint8_t *to = buffer;

	while (size > 0) {
		const struct core_segment *segment = core_file_segment(core, address);
		uint64_t offset, part;

		if (!segment || address - segment->start >= segment->dumped_size)
			return -1;
		offset = address - segment->start;
		part = segment->dumped_size - offset;
		if (part > size)
			part = size;
		if (!read_at(core, segment->at + offset, to, part))
			return -1;
		to += part;
		address += part;
		size -= part;
	}
	return 0;
}

uint64_t core_file_auxv(const struct core_file *core, uint64_t type)
{
	for (size_t i = 0; i < core->num_auxv; i++)
		if (core->auxv[2 * i] == type)
			return core->auxv[2 * i + 1];
	return 0;
}
