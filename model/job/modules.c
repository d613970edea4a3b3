/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "model/arena.h"
#include "model/job/modules.h"
#include "model/xalloc.h"

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
	const char *pattern;
	enum module_kind kind;
} kinds[] = {
	{"libpdbrec-*", MODULE_RECORDER},
	{"\\[signal\\]", MODULE_SIGNAL},

	/* MPI itself, the tools that wrap it, its launcher's and transport's libraries */
	{"libmpir.so*", MODULE_PROGRAM}, /* big numbers; nothing to do with MPI */
	{"libmpi*", MODULE_MPI},
	{"libfmpich*", MODULE_MPI},
	{"libopen-*", MODULE_MPI},
	{"liboshmem.so*", MODULE_MPI},
	{"mca_*.so*", MODULE_MPI},
	{"libpmi.so*", MODULE_MPI},
	{"libpmi[2x].so*", MODULE_MPI},
	{"libpmi2-*", MODULE_MPI},
	{"libpmix*", MODULE_MPI},
	{"libprrte*", MODULE_MPI},
	{"libuc[cmpst].so*", MODULE_MPI},
	{"libuc[cmpst]_*", MODULE_MPI},
	{"libucs-*", MODULE_MPI},
	{"libfabric.so*", MODULE_MPI},
	{"libfabric-*", MODULE_MPI},
	{"libhcoll.so*", MODULE_MPI},
	{"libsharp*.so*", MODULE_MPI},
	{"libpsm*.so*", MODULE_MPI},
	{"libibverbs.so*", MODULE_MPI},
	{"lib*-rdmav[0-9]*.so*", MODULE_MPI},
	{"librdmacm.so*", MODULE_MPI},
	{"libefa.so*", MODULE_MPI},
	{"libmlx[45].so*", MODULE_MPI},
	{"libcxi.so*", MODULE_MPI},
	{"libxpmem.so*", MODULE_MPI},
	{"libhwloc.so*", MODULE_MPI},
	{"libevent*.so*", MODULE_MPI},

	/* the C library and the run times of languages */
	{"libc.so*", MODULE_SYSTEM},
	{"libc-[0-9]*.so", MODULE_SYSTEM},
	{"libc.musl-*", MODULE_SYSTEM},
	{"ld-*.so*", MODULE_SYSTEM},
	{"ld64.so*", MODULE_SYSTEM},
	{"ld.so*", MODULE_SYSTEM},
	{"libpthread[.-]*", MODULE_SYSTEM},
	{"libm[.-]*", MODULE_SYSTEM},
	{"libmvec[.-]*", MODULE_SYSTEM},
	{"libdl[.-]*", MODULE_SYSTEM},
	{"librt[.-]*", MODULE_SYSTEM},
	{"libutil[.-]*", MODULE_SYSTEM},
	{"libanl[.-]*", MODULE_SYSTEM},
	{"libresolv[.-]*", MODULE_SYSTEM},
	{"libnss_*", MODULE_SYSTEM},
	{"libgcc_s[.-]*", MODULE_SYSTEM},
	{"libstdc++.so*", MODULE_SYSTEM},
	{"libc++.so*", MODULE_SYSTEM},
	{"libc++abi.so*", MODULE_SYSTEM},
	{"libgfortran.so*", MODULE_SYSTEM},
	{"libquadmath.so*", MODULE_SYSTEM},
	{"libgomp.so*", MODULE_SYSTEM},
	{"libomp.so*", MODULE_SYSTEM},
	{"libiomp5.so*", MODULE_SYSTEM},
	{"libatomic.so*", MODULE_SYSTEM},
	{"libunwind*.so*", MODULE_SYSTEM},
	{"lib[alt]san.so*", MODULE_SYSTEM},
	{"libubsan.so*", MODULE_SYSTEM},
	{"MPI.*.so", MODULE_SYSTEM},        /* mpi4py, between Python code and MPI */
	{"_*.cpython-*.so", MODULE_SYSTEM}, /* what stands behind its library */
	{"libffi.so*", MODULE_SYSTEM},
	{"python[0-9]*", MODULE_SYSTEM},
	{"libpython[0-9]*.so*", MODULE_SYSTEM},
	{"\\[vdso\\]", MODULE_SYSTEM},
	{"linux-vdso*.so*", MODULE_SYSTEM},
	{"\\[vsyscall\\]", MODULE_SYSTEM},
};

/* A source file of Python's own library, or one that is compiled into the interpreter; not of a
 * package that was installed beside it. */
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
		if (fnmatch(kinds[i].pattern, name, 0) == 0)
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
	struct module *module;

	modules->modules = xgrow(modules->modules, modules->num, &modules->capacity,
				 sizeof(*modules->modules));
	module = &modules->modules[modules->num];
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
