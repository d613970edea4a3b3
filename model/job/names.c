/* SPDX-License-Identifier: BSD-3-Clause */
#include <fnmatch.h>

#include <uthash.h>

#include "model/job/callpath.h"
#include "model/job/modules.h"
#include "model/job/mpi_name.h"
#include "model/job/names.h"

/* A string that names share: a file's name is that of many nodes. */
struct text {
	UT_hash_handle hh;
	char bytes[];
};

struct names {
	const struct modules *modules;
	const struct callpaths *paths;
	names_resolve_fn resolve;
	void *resolver;
	struct name **names; /* [capacity] by node, innermost first; NULL: not asked for yet */
	size_t capacity;
	struct arena *arena; /* of the texts */
	struct text *texts;
};

struct names *names_create(const struct modules *modules, const struct callpaths *paths,
			   names_resolve_fn resolve, void *resolver)
{
	struct names *names = xcalloc(1, sizeof(*names));

	names->arena = arena_create();
	names->modules = modules;
	names->paths = paths;
	names->resolve = resolve;
	names->resolver = resolver;
	return names;
}

void names_destroy(struct names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->capacity; i++)
		free(names->names[i]);
	free(names->names);
	HASH_CLEAR(hh, names->texts);
	arena_destroy(names->arena);
	free(names);
}

static const char *share(struct names *names, const char *string)
{
	struct text *text;

	if (!string)
		return NULL;
	size_t length = strlen(string);
	HASH_FIND(hh, names->texts, string, length, text);
	if (!text) {
		text = arena_alloc(names->arena, sizeof(*text) + length + 1);
		memcpy(text->bytes, string, length + 1);
		HASH_ADD_KEYPTR(hh, names->texts, text->bytes, length, text);
	}
	return text->bytes;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* MPI's functions have the names of the standard, however a library, or a tool between it and the
 * program, spells them. What has a source file elsewhere is the program's own. */
static const char *share_function(struct names *names, uint32_t node, const struct name *name)
{
	uint32_t module = callpaths_get(names->paths, node)->module;
	enum module_kind kind =
		module == MODULE_NONE ? MODULE_PROGRAM : modules_get(names->modules, module)->kind;
	bool is_library = kind == MODULE_MPI || kind == MODULE_RECORDER;
	const char *function = name->function ?: "?";
	char buffer[MPI_NAME_SIZE];

	if (!is_library && name->file)
		return share(names, function);
	return share(names, mpi_name_of(function, is_library, buffer) ?: function);
}

void names_set(struct names *names, uint32_t node, const struct name *name)
{
	struct name *own;
	size_t num = 0;

	if (node >= names->capacity)
		names->names = xgrow_to(names->names, &names->capacity, node + 1 + node / 2,
					sizeof(*names->names));
	for (const struct name *at = name; at; at = at->caller)
		num++;
	for (; num > NAMES_MAX_CHAIN; num--)
		name = name->caller;
	own = xcalloc(num, sizeof(*own));
	for (size_t i = 0; i < num; i++, name = name->caller) {
		own[i] = *name;
		own[i].function = share_function(names, node, name);
		own[i].file = share(names, name->file);
		own[i].full_file = share(names, name->full_file);
		own[i].caller = i + 1 < num ? &own[i + 1] : NULL;
	}
	free(names->names[node]);
	names->names[node] = own;
}

/* "libfoo.so+0x1234", or "0x1234" for code in no module; of a signal what gdb says, and which. */
static void set_by_offset(struct names *names, uint32_t node)
{
	const struct callpath_node *frame = callpaths_get(names->paths, node);
	char *function;

	if (frame->module == MODULE_NONE)
		function = xasprintf("0x%" PRIx64, frame->offset);
	else if (!names_is_signal(names, node))
		function =
			xasprintf("%s+0x%" PRIx64,
				  last_component(modules_get(names->modules, frame->module)->path),
				  frame->offset);
	else if (frame->offset)
		function = xasprintf("<signal %" PRIu64 " handler called>", frame->offset);
	else
		function = xstrdup("<signal handler called>");
	names_set(names, node, &(struct name){.function = function});
	free(function);
}

/* What the modules were told of it. */
static bool set_by_place(struct names *names, uint32_t node)
{
	const struct callpath_node *frame = callpaths_get(names->paths, node);
	const struct module_place *place =
		modules_find_place(names->modules, frame->module, frame->offset);
	const char *path;

	if (!place)
		return false;
	path = modules_get(names->modules, frame->module)->path;
	names_set(names, node,
		  &(struct name){
			  .function = place->function,
			  .file = last_component(path),
			  .full_file = path,
			  .line = place->line,
			  .is_symbol = true,
		  });
	return true;
}

const struct name *names_innermost(struct names *names, uint32_t node)
{
	static const struct name nothing = {.function = "?"};
	struct name found = {0};

	if (node == CALLPATH_NONE)
		return &nothing;
	if (node < names->capacity && names->names[node])
		return names->names[node];
	const struct callpath_node *frame = callpaths_get(names->paths, node);
	if (frame->module != MODULE_NONE && set_by_place(names, node))
		return names->names[node];
	/* A return address may be the first one behind its function, after a call that never
	 * returns; the call itself is just before. */
	if (names->resolve && frame->module != MODULE_NONE && !names_is_signal(names, node) &&
	    names->resolve(names->resolver, frame->module, frame->offset - frame->is_return,
			   &found) == 0 &&
	    found.function)
		names_set(names, node, &found);
	else
		set_by_offset(names, node);
	return names->names[node];
}

const struct name *names_get(struct names *names, uint32_t node)
{
	const struct name *name = names_innermost(names, node);

	while (name->is_library && name->caller)
		name = name->caller;
	return name;
}

size_t name_level(const struct name *name)
{
	size_t level = 0;

	while ((name = name->caller))
		level++;
	return level;
}

const struct name *names_at(struct names *names, uint32_t node, size_t level)
{
	const struct name *name = names_innermost(names, node);

	for (size_t at = name_level(name); at > level; at--)
		name = name->caller;
	return name;
}

const struct name *names_function(struct names *names, uint32_t node)
{
	return names_at(names, node, 0);
}

bool names_is_library_file(const char *path)
{
	/* fnmatch(3) patterns, in which a star takes slashes. */
	static const char *const patterns[] = {
		"*/include/c++/*", /* libstdc++ and libc++, wherever they are */
		"*/libstdc++-v3/*",
		"*/lib/gcc/*",
		"*/lib64/gcc/*",
		"*/lib/clang/*",
		"/usr/include/bits/*",
		"/usr/include/sys/*",
		"/usr/include/*-linux-gnu/bits/*",
		"/usr/include/*-linux-gnu/sys/*",
		"/usr/include/*-linux-gnu/c++/*",
		"*/mpi.h",
		"*/mpicxx.h",
		"*/ompi/mpi/cxx/*",
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (fnmatch(patterns[i], path, 0) == 0)
			return true;
	/* The C library's own; other libraries have a folder there. */
	return fnmatch("/usr/include/*.h", path, FNM_PATHNAME) == 0;
}

/* The innermost frame that lies in a file of the program's. */
static uint32_t program_frame(const struct names *names, uint32_t path)
{
	for (; path != CALLPATH_NONE; path = callpaths_get(names->paths, path)->parent) {
		uint32_t module = callpaths_get(names->paths, path)->module;

		if (module != MODULE_NONE &&
		    modules_get(names->modules, module)->kind == MODULE_PROGRAM)
			break;
	}
	return path;
}

uint32_t names_user_frame(struct names *names, uint32_t path)
{
	uint32_t first = program_frame(names, path), frame = first;

	while (frame != CALLPATH_NONE && names_get(names, frame)->is_library)
		frame = program_frame(names, callpaths_get(names->paths, frame)->parent);
	return frame == CALLPATH_NONE ? first : frame;
}

const struct name *names_behind(struct names *names, uint32_t path)
{
	uint32_t frame = program_frame(names, path);
	const struct name *name = names_innermost(names, frame);

	return name->is_library && name != names_get(names, names_user_frame(names, path)) ? name
											   : NULL;
}

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool names_is_signal(const struct names *names, uint32_t node)
{
	uint32_t module = callpaths_get(names->paths, node)->module;

	return module != MODULE_NONE && modules_get(names->modules, module)->kind == MODULE_SIGNAL;
}

/* Is it that function of MPI, with whatever ending but those of other functions? */
static bool is_function(const char *text, const char *function)
{
	const char *rest = text + strlen(function);

	return strncasecmp(text, function, strlen(function)) == 0 && (!*rest || *rest == '_') &&
	       strncasecmp(rest, "_count", strlen("_count")) != 0 &&
	       strncasecmp(rest, "_cancelled", strlen("_cancelled")) != 0 &&
	       strncasecmp(rest, "_replace", strlen("_replace")) != 0 &&
	       strncasecmp(rest, "_scatter", strlen("_scatter")) != 0 &&
	       strncasecmp(rest, "_init", strlen("_init")) != 0;
}

enum names_mpi_kind names_mpi_kind(struct names *names, uint32_t node)
{
	static const struct {
		enum names_mpi_kind kind;
		const char *functions[16]; /* the last one NULL */
	} kinds[] = {
		{NAMES_MPI_POLL,
		 {"Test", "Testall", "Testany", "Testsome", "Iprobe", "Improbe",
		  "Request_get_status", "Win_test"}},
		{NAMES_MPI_LOOK,
		 {"Get", "Get_accumulate", "Fetch_and_op", "Compare_and_swap", "Win_lock",
		  "Win_lock_all", "Win_unlock", "Win_unlock_all", "Win_flush", "Win_flush_all",
		  "Win_flush_local", "Win_flush_local_all", "Win_sync"}},
		{NAMES_MPI_RECEIVE, {"Recv", "Mrecv"}},
		{NAMES_MPI_SEND, {"Send", "Ssend", "Rsend", "Bsend"}},
		{NAMES_MPI_SENDRECV, {"Sendrecv", "Sendrecv_replace"}},
		{NAMES_MPI_WAIT, {"Wait", "Waitall", "Waitany", "Waitsome"}},
		{NAMES_MPI_ONE_WAY,
		 {"Bcast", "Scatter", "Scatterv", "Gather", "Gatherv", "Reduce", "Scan", "Exscan",
		  "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall",
		  "Neighbor_alltoallv", "Neighbor_alltoallw", "Comm_create_group",
		  "Intercomm_create"}},
	};
	const char *function;

	if (node == CALLPATH_NONE || !names_is_mpi(names, node))
		return NAMES_MPI_OTHER;
	/* Linked into the program, or of another language: mpi_test, MPI_Test_Rust. */
	function = strcasestr(names_function(names, node)->function, "mpi_");
	if (!function)
		return NAMES_MPI_OTHER;
	function += strlen("mpi_");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (const char *const *at = kinds[i].functions; *at; at++)
			if (is_function(function, *at))
				return kinds[i].kind;
	return NAMES_MPI_OTHER;
}

bool names_is_poll(struct names *names, uint32_t node)
{
	return names_mpi_kind(names, node) == NAMES_MPI_POLL;
}

bool names_is_mpi(struct names *names, uint32_t node)
{
	uint32_t module = callpaths_get(names->paths, node)->module;
	enum module_kind kind =
		module == MODULE_NONE ? MODULE_PROGRAM : modules_get(names->modules, module)->kind;
	const char *function;

	if (kind != MODULE_PROGRAM)
		return kind == MODULE_MPI;
	function = names_function(names, node)->function;
	return has_prefix(function, "MPI_") || has_prefix(function, "PMPI_") ||
	       has_prefix(function, "mpi_") || has_prefix(function, "pmpi_");
}

char *names_place(struct names *names, uint32_t node, char *buffer, size_t size)
{
	const struct name *name = names_get(names, node);
	const char *call = "()";
	uint32_t module;

	/* Demangled C++ names end with their parameters. */
	if (!name->is_symbol || strchr(name->function, '('))
		call = "";
	if (name->file && name->line > 0) {
		snprintf(buffer, size, "%s%s at %s:%d", name->function, call, name->file,
			 name->line);
	} else if (name->file) {
		snprintf(buffer, size, "%s%s at %s", name->function, call, name->file);
	} else if (node != CALLPATH_NONE && name->is_symbol &&
		   (module = callpaths_get(names->paths, node)->module) != MODULE_NONE) {
		snprintf(buffer, size, "%s%s in %s", name->function, call,
			 last_component(modules_get(names->modules, module)->path));
	} else {
		snprintf(buffer, size, "%s%s", name->function, call);
	}
	return buffer;
}
