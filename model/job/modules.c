/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <fnmatch.h>

#include <uthash.h>

#include "model/job/modules.h"

/* What a module is known by: its build-id, or its path where it has none. */
struct module_key {
	UT_hash_handle hh;
	uint32_t id;
	uint8_t bytes[];
};

/* A place with a name, by module and offset. */
struct place {
	UT_hash_handle hh;
	uint64_t key[2]; /* module and offset */
	struct module_place place;
	char function[];
};

struct modules {
	struct arena *arena; /* of keys and places */
	struct module *modules;
	size_t num, capacity;
	/* Apart, since the bytes of a build-id may be those of some path. */
	struct module_key *by_build_id, *by_path;
	struct place *places;
};

/* Last components of paths, as fnmatch(3) patterns; the first that matches decides. */
static const struct {
	enum module_kind kind;
	const char *patterns[48]; /* the last one NULL */
} kinds[] = {
	{MODULE_RECORDER, {"libpdbrec-*"}},
	{MODULE_SIGNAL, {"\\[signal\\]"}},
	/* libmpir has big numbers, nothing to do with MPI. */
	{MODULE_PROGRAM, {"libmpir.so*"}},
	/* MPI itself, the tools that wrap it, its launcher's and transport's libraries */
	{MODULE_MPI,
	 {
		 "libmpi*",       "libfmpich*",    "libopen-*",        "liboshmem.so*",
		 "mca_*.so*",     "libpmi.so*",    "libpmi[2x].so*",   "libpmi2-*",
		 "libpmix*",      "libprrte*",     "libuc[cmpst].so*", "libuc[cmpst]_*",
		 "libucs-*",      "libfabric.so*", "libfabric-*",      "libhcoll.so*",
		 "libsharp*.so*", "libpsm*.so*",   "libibverbs.so*",   "lib*-rdmav[0-9]*.so*",
		 "librdmacm.so*", "libefa.so*",    "libmlx[45].so*",   "libcxi.so*",
		 "libxpmem.so*",  "libhwloc.so*",  "libevent*.so*",
	 }},
	/* The C library and the run times of languages. Of Python also what stands between it and
	 * MPI (mpi4py: MPI.*.so) and behind its library (_*.cpython-*.so). */
	{MODULE_SYSTEM,
	 {
		 "libc.so*",        "libc-[0-9]*.so",  "libc.musl-*",
		 "ld-*.so*",        "ld64.so*",        "ld.so*",
		 "libpthread[.-]*", "libm[.-]*",       "libmvec[.-]*",
		 "libdl[.-]*",      "librt[.-]*",      "libutil[.-]*",
		 "libanl[.-]*",     "libresolv[.-]*",  "libnss_*",
		 "libgcc_s[.-]*",   "libstdc++.so*",   "libc++.so*",
		 "libc++abi.so*",   "libgfortran.so*", "libquadmath.so*",
		 "libgomp.so*",     "libomp.so*",      "libiomp5.so*",
		 "libatomic.so*",   "libunwind*.so*",  "lib[alt]san.so*",
		 "libubsan.so*",    "MPI.*.so",        "_*.cpython-*.so",
		 "libffi.so*",      "python[0-9]*",    "libpython[0-9]*.so*",
		 "\\[vdso\\]",      "linux-vdso*.so*", "\\[vsyscall\\]",
	 }},
};

/* A source file of Python's own library or interpreter, not of a package installed beside it. */
static bool is_python_library(const char *path)
{
	size_t length = strlen(path);

	if (strncmp(path, "<frozen ", 8) == 0)
		return true;
	return length > 3 && strcmp(path + length - 3, ".py") == 0 &&
	       strstr(path, "/lib/python3.") && !strstr(path, "-packages/");
}

enum module_kind module_kind_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (const char *const *at = kinds[i].patterns; *at; at++)
			if (fnmatch(*at, name, 0) == 0)
				return kinds[i].kind;
	return is_python_library(path) ? MODULE_SYSTEM : MODULE_PROGRAM;
}

struct modules *modules_create(void)
{
	struct modules *modules = xcalloc(1, sizeof(*modules));

	modules->arena = arena_create();
	return modules;
}

void modules_destroy(struct modules *modules)
{
	if (!modules)
		return;
	HASH_CLEAR(hh, modules->by_build_id);
	HASH_CLEAR(hh, modules->by_path);
	HASH_CLEAR(hh, modules->places);
	arena_destroy(modules->arena);
	for (size_t i = 0; i < modules->num; i++)
		free(modules->modules[i].path);
	free(modules->modules);
	free(modules);
}

const struct module_place *modules_find_place(const struct modules *modules, uint32_t id,
					      uint64_t offset)
{
	uint64_t key[2] = {id, offset};
	struct place *place;

	HASH_FIND(hh, modules->places, key, sizeof(key), place);
	return place ? &place->place : NULL;
}

void modules_set_place(struct modules *modules, uint32_t id, uint64_t offset, const char *function,
		       int line)
{
	size_t size = strlen(function) + 1;
	struct place *place;

	if (modules_find_place(modules, id, offset))
		return;
	place = arena_alloc(modules->arena, sizeof(*place) + size);
	memcpy(place->function, function, size);
	place->key[0] = id;
	place->key[1] = offset;
	place->place = (struct module_place){place->function, line};
	HASH_ADD(hh, modules->places, key, sizeof(place->key), place);
}

static uint32_t add_module(struct modules *modules, const char *path, const uint8_t *build_id,
			   size_t build_id_size)
{
	modules->modules = xgrow(modules->modules, modules->num, &modules->capacity,
				 sizeof(*modules->modules));
	struct module *module = &modules->modules[modules->num];
	*module = (struct module){
		.path = xstrdup(path),
		.build_id_size = (uint8_t)build_id_size,
		.kind = module_kind_of_path(path),
	};
	if (build_id_size)
		memcpy(module->build_id, build_id, build_id_size);
	return (uint32_t)modules->num++;
}

uint32_t modules_intern(struct modules *modules, const char *path, const uint8_t *build_id,
			size_t build_id_size)
{
	struct module_key **keys, *key;
	const void *bytes = path;
	size_t size = strlen(path);

	if (build_id_size > BUILD_ID_MAX)
		build_id_size = BUILD_ID_MAX;
	keys = build_id_size ? &modules->by_build_id : &modules->by_path;
	if (build_id_size) {
		bytes = build_id;
		size = build_id_size;
	}
	HASH_FIND(hh, *keys, bytes, size, key);
	if (!key) {
		key = arena_alloc(modules->arena, sizeof(*key) + size);
		memcpy(key->bytes, bytes, size);
		key->id = add_module(modules, path, build_id, build_id_size);
		HASH_ADD_KEYPTR(hh, *keys, key->bytes, size, key);
	}
	return key->id;
}

size_t modules_count(const struct modules *modules)
{
	return modules->num;
}

struct module *modules_get(const struct modules *modules, uint32_t id)
{
	assert(id < modules->num);
	return &modules->modules[id];
}

bool modules_is_own_code(const struct modules *modules, uint32_t id, uint64_t offset)
{
	return id != MODULE_NONE && modules_get(modules, id)->kind == MODULE_PROGRAM &&
	       !modules_find_place(modules, id, offset);
}
