/* SPDX-License-Identifier: BSD-3-Clause */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/cores/core_file.h"
#include "attach/cores/core_notes.h"
#include "model/error.h"
#include "model/interrupt.h"
#include "model/regular_file.h"
#include "model/xalloc.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#endif

/* The kernel's own limit of mappings is 65530 unless somebody has raised it. */
#define MAX_SEGMENTS ((uint64_t)4 << 20)
/* Some file systems compress, or tell only later what they have stored. */
#define LEAST_BUDGET ((uint64_t)1 << 20)

static bool is_core(const ElfW(Ehdr) * header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) && header->e_type == ET_CORE;
}

bool core_file_is_core(const char *path)
{
	ElfW(Ehdr) header;
	int fd = regular_file_open(AT_FDCWD, path, 0, NULL);
	bool result;

	if (fd < 0)
		return false;
	/* Type and magic are at the same place in all kinds of ELF files. */
	result = pread(fd, &header, sizeof(header), 0) == sizeof(header) && is_core(&header);
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
		if (header->e_shoff > INT64_MAX || pread(core->fd, &section, sizeof(section),
							 (off_t)header->e_shoff) != sizeof(section))
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
	struct core_segment *segment;

	if (!phdr->p_memsz || phdr->p_vaddr > UINT64_MAX - phdr->p_memsz)
		return;
	core->segments = xgrow(core->segments, core->num_segments, &core->segments_capacity,
			       sizeof(*core->segments));
	segment = &core->segments[core->num_segments++];
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

static int by_start(const void *a, const void *b)
{
	const struct core_segment *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Into order, without those that overlap one before. */
static void sort_segments(struct core_file *core)
{
	size_t num = 0;

	if (core->num_segments)
		qsort(core->segments, core->num_segments, sizeof(*core->segments), by_start);
	for (size_t i = 0; i < core->num_segments; i++)
		if (!num || core->segments[i].start >= core->segments[num - 1].end)
			core->segments[num++] = core->segments[i];
	core->num_segments = num;
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
		if (pread(core->fd, &phdr, sizeof(phdr),
			  (off_t)(header->e_phoff + i * sizeof(phdr))) != sizeof(phdr))
			return error_set(err, ERROR_FORMAT, "the core ends while it is read");
		if (phdr.p_type == PT_LOAD)
			add_segment(core, &phdr);
		else if (phdr.p_type == PT_NOTE &&
			 core_notes_read(core, phdr.p_offset,
					 clip(core, phdr.p_offset, phdr.p_filesz), phdr.p_align,
					 err) < 0)
			return -1;
	}
	sort_segments(core);
	return 0;
}

/* Without NT_PRPSINFO: the main thread is the oldest, and has mostly the lowest number. */
static void guess_pid(struct core_file *core)
{
	for (size_t i = 0; i < core->num_threads; i++)
		if (!core->pid || core->threads[i].tid < core->pid)
			core->pid = core->threads[i].tid;
}

static int load(struct core_file *core, struct pdb_error *err)
{
	ElfW(Ehdr) header;

	if (pread(core->fd, &header, sizeof(header), 0) != sizeof(header))
		return error_set(err, ERROR_FORMAT, "not a core file");
	if (check_header(&header, err) < 0 || read_segments(core, &header, err) < 0)
		return -1;
	if (!core->num_threads)
		return error_set(err, ERROR_FORMAT, "a %s core: it has no thread",
				 core->missing ? "truncated" : "corrupt");
	if (core->pid <= 0)
		guess_pid(core);
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
	core = xcalloc(1, sizeof(*core));
	core->fd = fd;
	core->path = xstrdup(path);
	core->size = (uint64_t)status.st_size;
	core->budget = (uint64_t)status.st_blocks * 512;
	if (core->budget > core->size)
		core->budget = core->size;
	core->budget += LEAST_BUDGET;
	core->notes_left = core->budget;
	core->written = status.st_mtim;
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
	free(core->path);
	free(core->segments);
	free(core->mappings);
	free(core->threads);
	free(core->auxv);
	free(core->file_note);
	free(core);
}

const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address)
{
	size_t low = 0, high = core->num_segments;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (core->segments[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == core->num_segments || address < core->segments[low].start)
		return NULL;
	return &core->segments[low];
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
		if (pread(core->fd, to, part, (off_t)(segment->at + offset)) != (ssize_t)part)
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
