/* SPDX-License-Identifier: BSD-3-Clause
 * The loaded objects (program, libraries) of a job, each once: by build-id if it has one, else by
 * path. Frames of recorded call paths and of stack samples name modules by their id here. */
#pragma once

#include "model/base.h"

#define MODULE_NONE UINT32_MAX /* code in no module; offsets are absolute addresses */
#define BUILD_ID_MAX 32

enum module_kind {
	MODULE_PROGRAM,  /* the executable or any library that is not one of the next */
	MODULE_MPI,      /* MPI and what it stands on: libmpi*, libopen-*, libpmix, libucp, ... */
	MODULE_SYSTEM,   /* libc, libpthread, ld.so, libm, vdso, language run times */
	MODULE_RECORDER, /* our own libpdbrec-*.so */
	MODULE_SIGNAL,   /* no code: frames between a signal's handler and what it interrupted */
};

struct module {
	char *path; /* as the rank sees it, in its own mount namespace */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size; /* 0 where it has none */
	enum module_kind kind; /* derived from the path */
	/* A process in which the path can be opened (/proc/PID/root/path); 0: none known. */
	int32_t example_pid;
};

struct modules *modules_create(void);
void modules_destroy(struct modules *modules);

/* The id of the module, added if it is new. build_id may be NULL with size 0. */
uint32_t modules_intern(struct modules *modules, const char *path, const uint8_t *build_id,
			size_t build_id_size);

size_t modules_count(const struct modules *modules);
/* Borrowed, valid until the next intern; id < modules_count(). */
struct module *modules_get(const struct modules *modules, uint32_t id);

/* The path of the one module of kind MODULE_SIGNAL: an offset in it is the signal's number, or 0
 * where that is not known. */
#define MODULES_SIGNAL "[signal]"

/* A place in a module that was told its name, as code that is not machine code. */
struct module_place {
	const char *function;
	int line; /* in the file that the module is; 0: not known */
};

/* The function is copied; of two names for one place the first stays. */
void modules_set_place(struct modules *modules, uint32_t id, uint64_t offset, const char *function,
		       int line);
/* NULL if it was not told. Borrowed, valid as long as `modules`. */
const struct module_place *modules_find_place(const struct modules *modules, uint32_t id,
					      uint64_t offset);

/* Is it machine code of the program or one of its libraries, not of MPI or the system? */
bool modules_is_own_code(const struct modules *modules, uint32_t id, uint64_t offset);

/* What kind of module a path names, by its last component. */
enum module_kind module_kind_of_path(const char *path);
