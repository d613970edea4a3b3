/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <gelf.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/process/elf_needed.h"
#include "model/regular_file.h"
#include "model/xalloc.h"

#define NONE SIZE_MAX
/* More than any program has; for files that are made to keep us busy. */
#define MAX_OBJECTS 4096

/* A library, or the program, which is the first. */
struct object {
	char *name; /* as it is needed */
	char *path; /* NULL: not found */
	char *rpath, *runpath;
	size_t parent; /* who needs it; NONE: nobody, it is the program */
};

struct walk {
	struct object *objects; /* in the order in which the loader loads them */
	size_t num, capacity;
	int machine; /* of the program; libraries of others are passed over */
	int class;
	const char *cache; /* /etc/ld.so.cache; NULL: none */
	size_t cache_size;
	elf_needed_fn visit;
	void *context;
};

/* ---- /etc/ld.so.cache ---- */

/* Behind these are the entries, then texts, at offsets from the beginning of the header. An older
 * format may be in front of it. */
#define CACHE_MAGIC "glibc-ld.so.cache1.1"

struct cache_header {
	char magic[sizeof(CACHE_MAGIC) - 1];
	uint32_t num;
	uint32_t size_of_texts;
	uint32_t unused[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t name, path;
	uint32_t os_version;
	uint64_t hardware;
};

static void open_cache(struct walk *walk)
{
	int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *map;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		map = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			walk->cache = map;
			walk->cache_size = status.st_size;
		}
	}
	close(fd);
}

static void close_cache(struct walk *walk)
{
	if (walk->cache)
		munmap((void *)walk->cache, walk->cache_size);
}

/* A text that ends within `size` bytes; NULL: none. */
static const char *text_at(const char *base, size_t size, uint32_t offset)
{
	return offset < size && memchr(base + offset, '\0', size - offset) ? base + offset : NULL;
}

/* ---- One file ---- */

static Elf *open_elf(const char *path, int *fd_ret)
{
	int fd = regular_file_open(AT_FDCWD, path, 0, NULL);
	Elf *elf;

	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		close(fd);
		return NULL;
	}
	*fd_ret = fd;
	return elf;
}

/* Is there a library for the same kind of program? */
static bool fits(const struct walk *walk, const char *path)
{
	GElf_Ehdr header;
	int fd;
	Elf *elf = open_elf(path, &fd);
	bool result;

	if (!elf)
		return false;
	result = gelf_getehdr(elf, &header) && header.e_machine == walk->machine &&
		 gelf_getclass(elf) == walk->class;
	elf_end(elf);
	close(fd);
	return result;
}

/* ---- Where a library is ---- */

/* "$ORIGIN/../lib" for the object at `path`. The caller frees. */
static char *expand(const char *folder, size_t length, const char *path)
{
	static const char *const words[] = {"${ORIGIN}", "$ORIGIN"};
	char *text = xstrndup(folder, length);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char *at = strstr(text, words[i]), *copy, *longer;

		if (!at)
			continue;
		copy = xstrdup(path);
		longer = xasprintf("%.*s%s%s", (int)(at - text), text, dirname(copy),
				   at + strlen(words[i]));
		free(copy);
		free(text);
		text = longer;
	}
	return text;
}

/* In one of the folders of a list with colons. An empty one is the current folder. */
static char *find_in(const struct walk *walk, const char *folders, const char *origin,
		     const char *name)
{
	while (folders) {
		size_t length = strcspn(folders, ":;");
		char *folder = expand(folders, length, origin);
		char *path = xasprintf("%s/%s", *folder ? folder : ".", name);

		free(folder);
		if (fits(walk, path))
			return path;
		free(path);
		folders = folders[length] ? folders + length + 1 : NULL;
	}
	return NULL;
}

static char *find_in_cache(const struct walk *walk, const char *name)
{
	const char *base = walk->cache ? memmem(walk->cache, walk->cache_size, CACHE_MAGIC,
						sizeof(CACHE_MAGIC) - 1)
				       : NULL;
	size_t size = base ? walk->cache_size - (base - walk->cache) : 0;
	struct cache_header header;

	if (size < sizeof(header))
		return NULL;
	memcpy(&header, base, sizeof(header));
	for (uint32_t i = 0; i < header.num; i++) {
		size_t at = sizeof(header) + (size_t)i * sizeof(struct cache_entry);
		struct cache_entry entry;
		const char *key, *path;

		if (at + sizeof(entry) > size)
			return NULL;
		memcpy(&entry, base + at, sizeof(entry));
		key = text_at(base, size, entry.name);
		path = text_at(base, size, entry.path);
		if (key && path && strcmp(key, name) == 0 && fits(walk, path))
			return xstrdup(path);
	}
	return NULL;
}

/* What `parent` needs by this name. NULL: not found. The caller frees. */
static char *find_library(const struct walk *walk, size_t parent, const char *name)
{
	const struct object *object = &walk->objects[parent];
	const char *preferred = getenv("LD_LIBRARY_PATH");
	char *path = NULL;

	if (strchr(name, '/'))
		return fits(walk, name) ? xstrdup(name) : NULL;
	for (size_t i = parent; !object->runpath && !path && i != NONE; i = walk->objects[i].parent)
		if (!walk->objects[i].runpath)
			path = find_in(walk, walk->objects[i].rpath, walk->objects[i].path, name);
	if (!path && preferred && *preferred)
		path = find_in(walk, preferred, object->path, name);
	if (!path)
		path = find_in(walk, object->runpath, object->path, name);
	if (!path)
		path = find_in_cache(walk, name);
	if (!path)
		path = find_in(walk, "/lib64:/usr/lib64:/lib:/usr/lib", object->path, name);
	return path;
}

/* ---- All of them ---- */

static bool is_known(const struct walk *walk, const char *name)
{
	for (size_t i = 1; i < walk->num; i++)
		if (strcmp(walk->objects[i].name, name) == 0)
			return true;
	return false;
}

static void add(struct walk *walk, const char *name, char *path, size_t parent)
{
	walk->objects = xgrow(walk->objects, walk->num, &walk->capacity, sizeof(*walk->objects));
	walk->objects[walk->num++] =
		(struct object){.name = xstrdup(name), .path = path, .parent = parent};
}

/* The strings of a dynamic section that have this tag. Returns whether enough has been seen. */
static bool read_section(struct walk *walk, size_t object, Elf *elf, Elf_Scn *section,
			 const GElf_Shdr *header, bool wants_needed)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn entry;

	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *text;

		if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH &&
		    entry.d_tag != DT_RUNPATH)
			continue;
		text = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
		if (!text)
			continue;
		if (!wants_needed) {
			char **where = entry.d_tag == DT_RPATH     ? &walk->objects[object].rpath
				       : entry.d_tag == DT_RUNPATH ? &walk->objects[object].runpath
								   : NULL;

			if (where && !*where)
				*where = xstrdup(text);
		} else if (entry.d_tag == DT_NEEDED && !is_known(walk, text) &&
			   walk->num < MAX_OBJECTS) {
			char *path = find_library(walk, object, text);

			add(walk, text, path, object);
			if (walk->visit(text, path, walk->context))
				return true;
		}
	}
	return false;
}

/* What an object needs is put behind all others. Returns whether enough has been seen. */
static bool read_object(struct walk *walk, size_t object)
{
	bool is_enough = false;
	GElf_Shdr header;
	GElf_Ehdr ehdr;
	int fd;
	Elf *elf = walk->objects[object].path ? open_elf(walk->objects[object].path, &fd) : NULL;

	if (!elf)
		return false;
	if (object == 0 && gelf_getehdr(elf, &ehdr)) {
		walk->machine = ehdr.e_machine;
		walk->class = gelf_getclass(elf);
	}
	/* Where to look must be known before what is looked for. */
	for (int wants_needed = 0; wants_needed < 2 && !is_enough; wants_needed++) {
		Elf_Scn *section = NULL;

		while (!is_enough && (section = elf_nextscn(elf, section)))
			if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
				is_enough = read_section(walk, object, elf, section, &header,
							 wants_needed);
	}
	elf_end(elf);
	close(fd);
	return is_enough;
}

bool elf_needed_walk(const char *path, elf_needed_fn visit, void *context)
{
	struct walk walk = {.visit = visit, .context = context};
	bool is_enough = false;

	open_cache(&walk);
	/* $ORIGIN is where the file is behind all links. */
	add(&walk, "", realpath(path, NULL), NONE);
	for (size_t i = 0; i < walk.num && !is_enough; i++)
		is_enough = read_object(&walk, i);
	for (size_t i = 0; i < walk.num; i++) {
		free(walk.objects[i].name);
		free(walk.objects[i].path);
		free(walk.objects[i].rpath);
		free(walk.objects[i].runpath);
	}
	free(walk.objects);
	close_cache(&walk);
	return is_enough;
}

static bool defines(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *symbol)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym entry;

	for (int i = 0; data && gelf_getsym(data, i, &entry); i++) {
		const char *name = entry.st_shndx == SHN_UNDEF
					   ? NULL
					   : elf_strptr(elf, header->sh_link, entry.st_name);

		if (name && strcmp(name, symbol) == 0)
			return true;
	}
	return false;
}

bool elf_needed_exports(const char *path, const char *symbol)
{
	Elf_Scn *section = NULL;
	bool result = false;
	GElf_Shdr header;
	int fd;
	Elf *elf = open_elf(path, &fd);

	if (!elf)
		return false;
	while (!result && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			result = defines(elf, section, &header, symbol);
	elf_end(elf);
	close(fd);
	return result;
}
