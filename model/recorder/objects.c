/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/objects.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 128 };

/* ELF notes are aligned to 4 bytes: name and contents are each padded. */
static uint32_t padded(uint32_t n)
{
	return (n + 3) & ~3u;
}

static void read_build_id(const char *note, size_t size, struct object *object)
{
	const char *end = note + size;

	while (note + sizeof(ElfW(Nhdr)) <= end) {
		const ElfW(Nhdr) *header = (const void *)note;
		const char *name = note + sizeof(*header);
		const char *desc = name + padded(header->n_namesz);
		if (desc < name || desc + header->n_descsz > end)
			return;
		if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
		    memcmp(name, "GNU", 4) == 0) {
			uint32_t n = header->n_descsz;
			if (n > sizeof(object->build_id))
				n = sizeof(object->build_id);
			memcpy(object->build_id, desc, n);
			object->build_id_size = n;
			return;
		}
		note = desc + padded(header->n_descsz);
	}
}

static bool make_room(struct objects *o)
{
	uint32_t capacity = o->capacity ? o->capacity * 2 : FIRST_CAPACITY;
	struct object *list;

	if (o->num < o->capacity)
		return true;
	list = pages_map(capacity * sizeof(*list));
	if (!list)
		return false;
	if (o->num)
		memcpy(list, o->list, o->num * sizeof(*list));
	pages_unmap(o->list, o->capacity * sizeof(*list));
	o->list = list;
	o->capacity = capacity;
	return true;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct objects *o = data;
	struct object object = {
		.low = UINTPTR_MAX, .bias = info->dlpi_addr, .module = SEG_NO_FRAME};

	(void)size;
	o->adds = info->dlpi_adds;
	o->subs = info->dlpi_subs;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
			object.low = at < object.low ? at : object.low;
			object.high = at + p->p_memsz > object.high ? at + p->p_memsz : object.high;
		} else if (p->p_type == PT_NOTE && object.build_id_size == 0) {
			read_build_id((const char *)at, p->p_memsz, &object);
		}
	}
	if (object.high == 0)
		return 0;
	if (!make_room(o))
		return 1;
	o->list[o->num++] = object;
	return 0;
}

static int read_counts(struct dl_phdr_info *info, size_t size, void *data)
{
	struct objects *o = data;

	(void)size;
	o->adds = info->dlpi_adds;
	o->subs = info->dlpi_subs;
	return 1;
}

bool objects_refresh(struct objects *o)
{
	struct objects now = {0};

	dl_iterate_phdr(read_counts, &now);
	if (o->num && now.adds == o->adds && now.subs == o->subs)
		return true;
	if (now.subs != o->subs)
		o->generation++;
	o->num = 0;
	return dl_iterate_phdr(add_object, o) == 0;
}

/* The module of that path and build-id, if it was loaded before. */
static uint32_t published(const struct writer *w, const struct object *object, const char *path)
{
	const char *strings = writer_entries(w, SEG_TABLE_STRINGS);
	const struct seg_module *modules = writer_entries(w, SEG_TABLE_MODULES);
	uint32_t num = relaxed_get(&w->header->tables[SEG_TABLE_MODULES].count);

	for (uint32_t i = 0; i < num; i++)
		if (modules[i].build_id_size == object->build_id_size &&
		    memcmp(modules[i].build_id, object->build_id, object->build_id_size) == 0 &&
		    strcmp(strings + modules[i].path, path) == 0)
			return i;
	return SEG_NO_FRAME;
}

struct path_query {
	uintptr_t bias;
	char path[PATH_MAX];
};

static int copy_path(struct dl_phdr_info *info, size_t size, void *data)
{
	struct path_query *query = data;

	(void)size;
	if (info->dlpi_addr != query->bias)
		return 0;
	strncpy(query->path, info->dlpi_name, sizeof(query->path) - 1);
	return 1;
}

/* The path is asked for only when it is needed and copied under the dynamic linker's lock, since
 * another thread may unload the object. */
static void read_path(const struct object *object, struct path_query *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->bias = object->bias;
	dl_iterate_phdr(copy_path, ret);
	/* The dynamic linker's name of the program itself is empty. */
	if (ret->path[0] == '\0')
		(void)!readlink("/proc/self/exe", ret->path, sizeof(ret->path) - 1);
}

static bool publish(struct writer *w, struct object *object)
{
	struct path_query query;

	read_path(object, &query);
	const char *path = query.path;
	object->module = published(w, object, path);
	if (object->module != SEG_NO_FRAME)
		return true;
	uint32_t index, name = writer_string(w, path);
	struct seg_module *m = name ? writer_next(w, SEG_TABLE_MODULES, 1, &index) : NULL;
	if (!m)
		return false;
	*m = (struct seg_module){.path = name, .build_id_size = object->build_id_size};
	memcpy(m->build_id, object->build_id, object->build_id_size);
	writer_publish(w, SEG_TABLE_MODULES, 1);
	object->module = index;
	return true;
}

bool objects_find(struct objects *o, struct writer *w, uintptr_t address, uint32_t *module_ret,
		  uint64_t *offset_ret)
{
	for (uint32_t i = 0; i < o->num; i++) {
		struct object *object = &o->list[i];
		/* A return address may be one past the end: after a call that never returns. */
		if (address - 1 < object->low || address - 1 >= object->high)
			continue;
		if (object->module == SEG_NO_FRAME && !publish(w, object))
			return false;
		*module_ret = object->module;
		*offset_ret = address - object->bias;
		return true;
	}
	*module_ret = SEG_NO_FRAME;
	*offset_ret = address;
	return true;
}
