/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/blocked/blocked_lock.h"
#include "attach/blocked/fd_object.h"
#include "attach/process/elf_symbol.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/symbols/demangle.h"

/* Of glibc's FILE on 64-bit machines (bits/types/struct_FILE.h), which programs are compiled with
 * and so never changes. */
enum { FILE_CHAIN = 104, FILE_NUMBER = 112, FILE_LOCK = 136, FILE_BYTES = 144 };
enum { MAX_STREAMS = 256 }; /* the last that were opened */
enum { MAX_NAMES = 256 };   /* remembered */
enum { MOST_OF_LOCK = 56 }; /* bytes of glibc's largest, the rwlock */

/* Of libgomp's gomp_barrier_t (config/linux/bar.h), by bytes from its beginning. */
enum { TEAM_TOTAL = 0, TEAM_GENERATION = 4, TEAM_AWAITED = 64, TEAM_FINAL = 68, TEAM_BYTES = 72 };
enum { TEAM_ALIGNMENT = 64, MOST_IN_TEAM = 65536 };

/* ---- Variables ---- */

struct known_name {
	uint64_t device, inode, offset; /* of the address from the object's start */
	char *name;                     /* NULL: it has none */
};

struct lock_names {
	struct known_name known[MAX_NAMES];
	size_t num;
	struct known_name streams; /* where the last libc has its list of them */
};

struct lock_names *lock_names_create(void)
{
	return xcalloc(1, sizeof(struct lock_names));
}

void lock_names_destroy(struct lock_names *names)
{
	for (size_t i = 0; names && i < names->num; i++)
		free(names->known[i].name);
	free(names);
}

/* The object that has a variable at the address, NULL: none. What begins as 0 follows the rest of
 * its variables, without a file. */
static const struct maps_object *find_object(const struct maps *maps, uint64_t address)
{
	const struct maps_range *range = maps ? maps_find(maps, address) : NULL;

	if (!range || !range->is_writable)
		return NULL;
	while (range->object == MAPS_NO_OBJECT && !range->inode && range > maps->ranges &&
	       range[-1].end == range->start)
		range--;
	return range->object == MAPS_NO_OBJECT ? NULL : &maps->objects[range->object];
}

/* Named critical sections of OpenMP are variables, of LLVM with an ending. NULL: it is none. */
static char *name_critical(const char *symbol)
{
	static const char begin[] = ".gomp_critical_user_", end[] = ".var";
	size_t length = strlen(symbol);

	if (strncmp(symbol, begin, sizeof(begin) - 1) != 0)
		return NULL;
	symbol += sizeof(begin) - 1;
	length -= sizeof(begin) - 1;
	if (length >= sizeof(end) && !strcmp(symbol + length - sizeof(end) + 1, end))
		length -= sizeof(end) - 1;
	return xasprintf("critical section '%.*s'", (int)length, symbol);
}

static char *look_up(pid_t pid, const struct maps_object *object, uint64_t address)
{
	char *name, *text, offset[32] = "";
	struct elf_variable variable;
	bool is_program = elf_is_program(pid, object); /* which needs not be told */

	if (elf_symbol_at(pid, object, address, &variable))
		return NULL;
	if ((text = name_critical(variable.name)))
		return text;
	/* The word is not what a rwlock or condition variable begins with. */
	if (variable.size > MOST_OF_LOCK && variable.offset)
		snprintf(offset, sizeof(offset), "+%llu", (unsigned long long)variable.offset);
	name = demangle(variable.name);
	text = xasprintf("'%s'%s%s%s", name, offset, is_program ? "" : " in ",
			 is_program ? "" : maps_base(object->path));
	free(name);
	return text;
}

char *blocked_lock_name(struct lock_names *names, pid_t pid, const struct maps *maps,
			uint64_t address)
{
	const struct maps_object *object = find_object(maps, address);
	struct known_name key;

	if (!object)
		return NULL;
	key = (struct known_name){object->device, object->inode, address - object->start, NULL};
	for (size_t i = 0; i < names->num; i++) {
		const struct known_name *known = &names->known[i];

		if (known->device == key.device && known->inode == key.inode &&
		    known->offset == key.offset)
			return known->name ? xstrdup(known->name) : NULL;
	}
	if (names->num == MAX_NAMES)
		return NULL;
	key.name = look_up(pid, object, address);
	names->known[names->num++] = key;
	return key.name ? xstrdup(key.name) : NULL;
}

/* ---- Streams ---- */

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static char *name_stream(struct lock_names *names, pid_t pid, const struct maps *maps,
			 uint64_t stream, int number)
{
	static const char *const standard[][2] = {
		{"'_IO_2_1_stdin_'", "stdin"},
		{"'_IO_2_1_stdout_'", "stdout"},
		{"'_IO_2_1_stderr_'", "stderr"},
	};
	char *variable = blocked_lock_name(names, pid, maps, stream);
	const char *found = NULL;
	struct fd_object object;
	char *text;

	for (size_t i = 0; variable && i < sizeof(standard) / sizeof(standard[0]); i++)
		if (!strncmp(variable, standard[i][0], strlen(standard[i][0])))
			found = standard[i][1];
	free(variable);
	if (found)
		return xstrdup(found);
	if (!fd_object_read(pid, number, &object))
		return NULL;
	text = xasprintf("descriptor %d (%s)", number, object.words);
	fd_object_clear(&object);
	return text;
}

/* Not where its file alone is mapped, to be read. */
static const struct maps_object *find_libc(const struct maps *maps)
{
	for (size_t i = 0; i < maps->num_objects; i++)
		if (maps->objects[i].has_code &&
		    !strcmp(maps_base(maps->objects[i].path), "libc.so.6"))
			return &maps->objects[i];
	return NULL;
}

/* Where it has its list of streams. Ranks on a host mostly have the same. */
static bool find_streams(struct lock_names *names, pid_t pid, const struct maps_object *libc,
			 uint64_t *ret)
{
	struct known_name *known = &names->streams;

	if (!known->offset || known->device != libc->device || known->inode != libc->inode) {
		if (elf_symbol_find(pid, libc, "_IO_list_all", ret, NULL))
			return false;
		*known = (struct known_name){libc->device, libc->inode, *ret - libc->start, NULL};
	}
	*ret = libc->start + known->offset;
	return true;
}

char *blocked_lock_stream(struct lock_names *names, pid_t pid, const struct maps *maps,
			  uint64_t address)
{
	const struct maps_object *libc = maps ? find_libc(maps) : NULL;
	uint64_t at;
	uint8_t bytes[FILE_BYTES];

	if (!libc || !find_streams(names, pid, libc, &at) ||
	    memory_read_all(pid, at, &at, sizeof(at)))
		return NULL;
	for (int i = 0; i < MAX_STREAMS && at; i++) {
		int number;

		if (memory_read_all(pid, at, bytes, sizeof(bytes)))
			return NULL;
		memcpy(&number, bytes + FILE_NUMBER, sizeof(number));
		if (word_at(bytes, FILE_LOCK) == address)
			return name_stream(names, pid, maps, at, number);
		at = word_at(bytes, FILE_CHAIN);
	}
	return NULL;
}

/* ---- Teams ---- */

char *blocked_lock_arrived(uint32_t num, uint32_t all)
{
	return xasprintf("%u of %u threads %s there", num, all, num == 1 ? "is" : "are");
}

char *blocked_lock_team(pid_t pid, uint64_t address)
{
	uint32_t words[TEAM_BYTES / sizeof(uint32_t)], all, missing;

	if (address % TEAM_ALIGNMENT != TEAM_GENERATION ||
	    memory_read_all(pid, address - TEAM_GENERATION, words, sizeof(words)))
		return NULL;
	all = words[TEAM_TOTAL / sizeof(*words)];
	missing = words[TEAM_AWAITED / sizeof(*words)];
	/* At the end of a region it counts those. */
	if (words[TEAM_FINAL / sizeof(*words)] < missing)
		missing = words[TEAM_FINAL / sizeof(*words)];
	if (all < 2 || all > MOST_IN_TEAM || missing < 1 || missing >= all)
		return NULL;
	return blocked_lock_arrived(all - missing, all);
}
