/* SPDX-License-Identifier: BSD-3-Clause */
#include <elf.h>
#include <link.h>

#include <uthash.h>

#include "attach/process/image.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "model/job/modules.h"

#define PAGE 4096
#define MAX_PHDRS 128
#define MAX_NOTES 65536 /* bytes, in all of its segments */
#define CHUNK 512       /* pages */
#define MAX_SIZE ((uint64_t)8 << 30)

struct key {
	uint64_t device, inode;
};

struct entry {
	struct image image; /* first: what callers have */
	struct key key;
	/* By page number from first_address on, in chunks; NULL: nothing of it was read yet. */
	uint8_t ***chunks;
	UT_hash_handle hh;
};

struct images {
	struct modules *modules;
	struct arena *arena;
	struct entry *table;
};

struct images *images_create(struct modules *modules)
{
	struct images *images = xcalloc(1, sizeof(*images));

	images->modules = modules;
	images->arena = arena_create();
	return images;
}

void images_destroy(struct images *images)
{
	if (!images)
		return;
	HASH_CLEAR(hh, images->table);
	arena_destroy(images->arena);
	free(images);
}

struct modules *images_modules(const struct images *images)
{
	return images->modules;
}

static int read_headers(const struct memory *memory, uint64_t start, ElfW(Phdr) phdrs[MAX_PHDRS],
			size_t *num_ret)
{
	ElfW(Ehdr) header;

	if (memory_get(memory, start, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(phdrs[0]) ||
	    header.e_phnum > MAX_PHDRS)
		return -1;
	*num_ret = header.e_phnum;
	return memory_get(memory, start + header.e_phoff, phdrs, header.e_phnum * sizeof(phdrs[0]));
}

/* From the loadable segments: where the image begins and how large it is. */
static int measure(struct image *image, const ElfW(Phdr) * phdrs, size_t num)
{
	uint64_t end = 0;
	bool is_first = true;

	for (size_t i = 0; i < num; i++) {
		if (phdrs[i].p_type != PT_LOAD)
			continue;
		if (is_first)
			image->first_address =
				(phdrs[i].p_vaddr - phdrs[i].p_offset) & ~(uint64_t)(PAGE - 1);
		is_first = false;
		if (phdrs[i].p_vaddr + phdrs[i].p_memsz > end)
			end = phdrs[i].p_vaddr + phdrs[i].p_memsz;
	}
	if (is_first || end <= image->first_address || end - image->first_address > MAX_SIZE)
		return -1;
	image->size = (end - image->first_address + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	return 0;
}

/* The build-id among the notes of one segment: name size, content size, type, name, content, the
 * latter two padded to 4 bytes. Returns its length, 0 if it is not there. */
static size_t find_build_id(const uint8_t *notes, size_t size, uint8_t build_id[BUILD_ID_MAX])
{
	size_t at = 0;

	while (at + sizeof(ElfW(Nhdr)) <= size) {
		ElfW(Nhdr) note;
		size_t name, content;

		memcpy(&note, notes + at, sizeof(note));
		if (note.n_namesz > size || note.n_descsz > size)
			break;
		name = at + sizeof(note);
		content = name + ((note.n_namesz + 3) & ~3U);
		at = content + ((note.n_descsz + 3) & ~3U);
		if (content + note.n_descsz > size)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && note.n_descsz <= BUILD_ID_MAX) {
			memcpy(build_id, notes + content, note.n_descsz);
			return note.n_descsz;
		}
	}
	return 0;
}

static size_t build_id_of(const struct memory *memory, uint64_t bias, const ElfW(Phdr) * phdrs,
			  size_t num, uint8_t build_id[BUILD_ID_MAX])
{
	size_t i, length = 0, left = MAX_NOTES;

	for (i = 0; i < num && !length; i++) {
		if (phdrs[i].p_type != PT_NOTE || phdrs[i].p_memsz > left)
			continue;
		left -= phdrs[i].p_memsz;
		uint8_t *notes = xmalloc(phdrs[i].p_memsz);
		if (!memory_get(memory, bias + phdrs[i].p_vaddr, notes, phdrs[i].p_memsz))
			length = find_build_id(notes, phdrs[i].p_memsz, build_id);
		free(notes);
	}
	return length;
}

/* .eh_frame_hdr (LSB, "Exception Frames"): version 1, three encodings, the address of .eh_frame,
 * the number of entries, and the table. All linkers write just these encodings. */
static void find_table(struct image *image, const struct memory *memory, uint64_t bias,
		       const ElfW(Phdr) * phdrs, size_t num)
{
	static const uint8_t expected[] = {1, 0x1b, 0x03, 0x3b};
	struct {
		uint8_t encodings[4];
		int32_t eh_frame;
		uint32_t num_entries;
	} header;

	for (size_t i = 0; i < num; i++) {
		if (phdrs[i].p_type != PT_GNU_EH_FRAME)
			continue;
		if (memory_get(memory, bias + phdrs[i].p_vaddr, &header, sizeof(header)) ||
		    memcmp(header.encodings, expected, sizeof(expected)) != 0 ||
		    header.num_entries > phdrs[i].p_memsz / 8)
			return;
		image->eh_frame_hdr = phdrs[i].p_vaddr;
		image->eh_table = phdrs[i].p_vaddr + sizeof(header);
		image->num_entries = header.num_entries;
	}
}

static int fill(struct images *images, struct image *image, const struct memory *memory,
		const struct maps_object *object)
{
	ElfW(Phdr) phdrs[MAX_PHDRS];
	uint8_t build_id[BUILD_ID_MAX];
	struct module *module;
	size_t num, length;

	if (read_headers(memory, object->start, phdrs, &num) || measure(image, phdrs, num))
		return -1;
	uint64_t bias = object->start - image->first_address;
	length = build_id_of(memory, bias, phdrs, num, build_id);
	find_table(image, memory, bias, phdrs, num);
	image->module =
		modules_intern(images->modules, object->path, length ? build_id : NULL, length);
	module = modules_get(images->modules, image->module);
	if (!module->example_pid)
		module->example_pid = memory->pid;
	return 0;
}

ssize_t image_build_id(const struct memory *memory, uint64_t start, uint8_t build_id[BUILD_ID_MAX])
{
	ElfW(Phdr) phdrs[MAX_PHDRS];
	struct image image = {0};
	size_t num;

	if (read_headers(memory, start, phdrs, &num) || measure(&image, phdrs, num))
		return -1;
	return (ssize_t)build_id_of(memory, start - image.first_address, phdrs, num, build_id);
}

ssize_t image_file_build_id(const struct memory *file, uint8_t build_id[BUILD_ID_MAX])
{
	ElfW(Phdr) phdrs[MAX_PHDRS];
	size_t num;

	if (read_headers(file, 0, phdrs, &num))
		return -1;
	/* Where it is in the file takes the place of where it is in memory. */
	for (size_t i = 0; i < num; i++) {
		phdrs[i].p_vaddr = phdrs[i].p_offset;
		phdrs[i].p_memsz = phdrs[i].p_filesz;
	}
	return (ssize_t)build_id_of(file, 0, phdrs, num, build_id);
}

struct image *images_get(struct images *images, const struct memory *memory,
			 const struct maps_object *object)
{
	struct entry *entry, new = {.key = {object->device, object->inode}};

	HASH_FIND(hh, images->table, &new.key, sizeof(new.key), entry);
	if (!entry) {
		/* It may fail because the process is ending, so the next one is asked again. */
		if (fill(images, &new.image, memory, object))
			return NULL;
		entry = arena_alloc(images->arena, sizeof(*entry));
		*entry = new;
		entry->image.arena = images->arena;
		HASH_ADD(hh, images->table, key, sizeof(entry->key), entry);
	}
	return &entry->image;
}

int image_read_word(struct image *image, const struct memory *memory, uint64_t bias,
		    uint64_t address, uint64_t *ret)
{
	uint64_t offset = address - image->first_address, number = offset / PAGE;
	struct entry *entry = (struct entry *)image;
	uint8_t ***chunk, **page, bytes[PAGE];

	if (address < image->first_address || offset >= image->size || offset % 8)
		return -1;
	if (!entry->chunks)
		entry->chunks = arena_array(image->arena, image->size / PAGE / CHUNK + 1,
					    sizeof(*entry->chunks));
	chunk = &entry->chunks[number / CHUNK];
	if (!*chunk)
		*chunk = arena_array(image->arena, CHUNK, sizeof(**chunk));
	page = &(*chunk)[number % CHUNK];
	if (!*page) {
		if (memory_get(memory, bias + (address & ~(uint64_t)(PAGE - 1)), bytes, PAGE))
			return -1;
		*page = arena_alloc(image->arena, PAGE);
		memcpy(*page, bytes, PAGE);
	}
	memcpy(ret, *page + offset % PAGE, sizeof(*ret));
	return 0;
}
