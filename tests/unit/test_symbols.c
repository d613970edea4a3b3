/* SPDX-License-Identifier: BSD-3-Clause
 * Names of functions in small libraries that tests/tests.mk builds in several forms. */
#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/process/elf_symbol.h"
#include "attach/process/image.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/symbols/symbols.h"
#include "model/job/modules.h"
#include "tests/unit/unit.h"

static uintptr_t probed; /* where the last probe returned to */

static int probe(void)
{
	probed = (uintptr_t)__builtin_return_address(0);
	return 1;
}

static void library_path(char *path, const char *library)
{
	char self[PATH_MAX] = "";

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(path, PATH_MAX, "%.2000s/../attach/%s", dirname(self), library);
}

struct where {
	uint32_t module;
	uint64_t address; /* of the call, ELF virtual address */
};

/* Call `function` of the library, and return where it called the probe; the module is taken from
 * memory, as of any other process. */
static struct where probe_library(struct modules *modules, const char *library,
				  const char *function)
{
	struct images *images = images_create(modules);
	const struct memory memory = {.pid = getpid()};
	const struct maps_range *range;
	int (*call)(int (*)(void));
	char path[PATH_MAX];
	struct where where;
	struct maps *maps;
	struct image *image;
	void *handle;

	library_path(path, library);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		fail_msg("%s", dlerror());
	*(void **)&call = dlsym(handle, function);
	assert_non_null(call);
	call(probe);
	maps = maps_read(getpid());
	range = maps_find(maps, probed);
	assert_non_null(range);
	image = images_get(images, &memory, &maps->objects[range->object]);
	assert_non_null(image);
	where.module = image->module;
	where.address = probed - 1 - (maps->objects[range->object].start - image->first_address);
	assert_int_equal(modules_get(modules, where.module)->example_pid, getpid());
	assert_true(modules_get(modules, where.module)->build_id_size > 0);
	maps_destroy(maps);
	images_destroy(images);
	dlclose(handle);
	return where;
}

static void test_functions(void **state)
{
	static const struct {
		const char *library, *call;
		const char *function; /* NULL: no name */
		const char *file;
		int line;
	} cases[] = {
		{"names_c.so", "outer", "inner", "names_c.c", 7},
		{"names_c.so", "calls_hidden", "hidden", "names_c.c", 18},
		{"names_c.so", "MPI_Probe_test", "MPI_Probe_test", "names_c.c", 31},
		{"names_c.so", "MPI_Probe_jump", "jumped_to", "names_c.c", 37},
		{"names_c-stripped.so", "MPI_Probe_jump", "MPI_Probe_jump", NULL, 0},
		{"names_c-stripped.so", "outer", "outer", NULL, 0},
		{"names_c-stripped.so", "calls_hidden", NULL, NULL, 0},
		{"names_c-stripped.so", "MPI_Probe_test", "MPI_Probe_test", NULL, 0},
		{"names_c-split.so", "outer", "inner", "names_c.c", 7},
		{"names_c-split.so", "MPI_Probe_test", "MPI_Probe_test", "names_c.c", 31},
		{"names_c-wrong.so", "outer", "outer", NULL, 0},
		{"names_c-shared.so", "outer", "inner", "names_c.c", 7},
		{"names_cxx.so", "call_relax", "solver::Grid<int>::relax", "names_cxx.cc", 12},
		{"names_cxx.so", "call_in_anonymous", "solver::(anonymous namespace)::in_anonymous",
		 "names_cxx.cc", 19},
		{"names_cxx-stripped.so", "call_relax", "solver::Grid<int>::relax", NULL, 0},
		{"names_f.so", "__grid_mod_MOD_relax", "grid_mod::relax", "names_f.f90", 8},
		{"names_f.so", "sweep_", "sweep", "names_f.f90", 27},
		{"names_f-stripped.so", "__grid_mod_MOD_relax", "grid_mod::relax", NULL, 0},
		{"names_f-stripped.so", "sweep_", "sweep", NULL, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < NUM_OF(cases); i++) {
		/* The forms of one library have one build-id, so tables of their own. */
		struct modules *modules = modules_create();
		struct symbols *symbols = symbols_create(modules);
		struct where where = probe_library(modules, cases[i].library, cases[i].call);
		struct name name = {0};
		int result = symbols_resolve(symbols, where.module, where.address, &name);

		if (result != (cases[i].function ? 0 : -1))
			fail_msg("%s, %s: %d", cases[i].library, cases[i].call, result);
		if (cases[i].function) {
			assert_string_equal(name.function, cases[i].function);
			assert_true(name.is_symbol);
			assert_int_equal(name.line, cases[i].line);
			if (cases[i].file)
				assert_string_equal(name.file, cases[i].file);
			else
				assert_null(name.file);
		}
		symbols_destroy(symbols);
		modules_destroy(modules);
	}
}

/* "* std::generate; fill:14; call_fill:22": the innermost first, a star before those of a
 * library, whose lines and template arguments are not ours. */
static char *chain_text(const struct name *name)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (const struct name *at = name; at; at = at->caller) {
		fprintf(out, "%s%s%.*s", at == name ? "" : "; ", at->is_library ? "* " : "",
			(int)strcspn(at->function, "<"), at->function);
		if (at->line && !at->is_library)
			fprintf(out, ":%d", at->line);
	}
	fclose(out);
	return text;
}

static void test_inlined(void **state)
{
	static const struct {
		const char *library, *call, *chain;
	} cases[] = {
		{"names_c.so", "outer", "inner:7; outer:13"},
		{"names_c-split.so", "outer", "inner:7; outer:13"},
		{"names_c-stripped.so", "outer", "outer"},
		{"names_inline.so", "call_fill",
		 "* std::generate; (anonymous namespace)::Table::fill:14; call_fill:22"},
		{"names_inline.so", "call_lambda",
		 "operator():30; * std::generate; call_lambda:32"},
		{"names_inline-stripped.so", "call_fill", "call_fill"},
		{"names_f.so", "__grid_mod_MOD_contain", "inner:18; grid_mod::contain:14"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct modules *modules = modules_create();
		struct symbols *symbols = symbols_create(modules);
		struct where where = probe_library(modules, cases[i].library, cases[i].call);
		struct name name = {0};
		char *text;

		assert_int_equal(symbols_resolve(symbols, where.module, where.address, &name), 0);
		text = chain_text(&name);
		assert_string_equal(text, cases[i].chain);
		free(text);
		symbols_destroy(symbols);
		modules_destroy(modules);
	}
}

static void copy_file(const char *from, const char *to)
{
	char command[2 * PATH_MAX + 16];

	snprintf(command, sizeof(command), "cp %s %s", from, to);
	assert_int_equal(system(command), 0);
}

/* A library that was installed anew while the job runs is another one: no names from it. */
static void test_replaced_file(void **state)
{
	struct modules *modules = modules_create();
	struct symbols *symbols = symbols_create(modules);
	struct where where = probe_library(modules, "names_c.so", "outer");
	struct module *module = modules_get(modules, where.module);
	char path[PATH_MAX], other[PATH_MAX], directory[] = "/tmp/pdb-test-XXXXXX";
	struct name name;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/lib.so", directory);
	library_path(other, "names_cxx.so");
	copy_file(other, path);
	free(module->path);
	module->path = strdup(path);
	assert_int_equal(symbols_resolve(symbols, where.module, where.address, &name), -1);
	symbols_destroy(symbols);
	/* The same file under another name is the same library. */
	library_path(other, "names_c.so");
	copy_file(other, path);
	symbols = symbols_create(modules);
	assert_int_equal(symbols_resolve(symbols, where.module, where.address, &name), 0);
	assert_string_equal(name.function, "inner");
	symbols_destroy(symbols);
	unlink(path);
	/* And if it is gone there is nothing. */
	symbols = symbols_create(modules);
	assert_int_equal(symbols_resolve(symbols, where.module, where.address, &name), -1);
	rmdir(directory);
	symbols_destroy(symbols);
	modules_destroy(modules);
}

/* A file that is written to in place, after some of its names were read: no names any more, neither
 * of what is gone nor of what is there now. */
static void test_written_file(void **state)
{
	char path[PATH_MAX], other[PATH_MAX], directory[] = "/tmp/pdb-test-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/lib.so", directory);
	library_path(other, "names_c.so");
	for (int round = 0; round < 3; round++) {
		struct modules *modules = modules_create();
		struct symbols *symbols = symbols_create(modules);
		struct where where = probe_library(modules, "names_c.so", "outer");
		struct module *module = modules_get(modules, where.module);
		struct name name;

		copy_file(other, path);
		free(module->path);
		module->path = strdup(path);
		assert_int_equal(symbols_resolve(symbols, where.module, where.address, &name), 0);
		assert_string_equal(name.function, "inner");
		if (round == 2) {
			library_path(other, "names_cxx.so");
			copy_file(other, path);
		} else {
			assert_int_equal(truncate(path, round ? 4096 : 0), 0);
		}
		for (int i = 0; i < 20; i++)
			assert_int_equal(
				symbols_resolve(symbols, where.module, where.address, &name), -1);
		symbols_destroy(symbols);
		modules_destroy(modules);
	}
	unlink(path);
	rmdir(directory);
}

static void test_many_lookups(void **state)
{
	struct modules *modules = modules_create();
	struct symbols *symbols = symbols_create(modules);
	struct where where = probe_library(modules, "names_c-stripped.so", "outer");
	struct name name;
	int i;

	(void)state;
	/* First without, then with an index. */
	for (i = 0; i < 40; i++) {
		assert_int_equal(symbols_resolve(symbols, where.module, where.address, &name), 0);
		assert_string_equal(name.function, "outer");
		assert_int_equal(symbols_resolve(symbols, where.module, 0, &name), -1);
		assert_int_equal(symbols_resolve(symbols, where.module, UINT64_MAX, &name), -1);
	}
	assert_int_equal(symbols_resolve(symbols, 99, where.address, &name), -1);
	symbols_destroy(symbols);
	symbols_destroy(NULL);
	modules_destroy(modules);
}

/* A fifo by the name of a library: there is nobody to wait for at its other end. */
static void test_fifo(void **state)
{
	static const uint8_t build_id[] = {1, 2, 3, 4};
	char path[] = "/tmp/test_symbols.XXXXXX";
	struct modules *modules = modules_create();
	struct symbols *symbols = symbols_create(modules);
	struct maps_object object = {.path = path, .inode = 1};
	struct name name;
	uint32_t module;

	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	module = modules_intern(modules, path, build_id, sizeof(build_id));
	assert_int_equal(symbols_resolve(symbols, module, 0x1000, &name), -1);
	assert_int_equal(elf_symbol_find(getpid(), &object, "main", &(uint64_t){0}, NULL), -1);
	assert_int_equal(errno, ENXIO);
	alarm(0);
	unlink(path);
	symbols_destroy(symbols);
	modules_destroy(modules);
}

/* A fifo by the name of the file that the library shares strings with: its symbols are what is
 * left. */
static void test_shared_fifo(void **state)
{
	struct modules *modules = modules_create();
	struct symbols *symbols = symbols_create(modules);
	struct where where = probe_library(modules, "names_c-shared.so", "outer");
	struct module *module = modules_get(modules, where.module);
	char path[PATH_MAX], other[PATH_MAX], directory[] = "/tmp/pdb-test-XXXXXX";
	struct name name;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/lib.so", directory);
	library_path(other, "names_c-shared.so");
	copy_file(other, path);
	free(module->path);
	module->path = strdup(path);
	snprintf(other, sizeof(other), "%s/names_c-shared.debug", directory);
	assert_int_equal(mkfifo(other, 0600), 0);
	alarm(20);
	assert_int_equal(symbols_resolve(symbols, where.module, where.address, &name), 0);
	alarm(0);
	assert_string_equal(name.function, "outer");
	assert_null(name.file);
	symbols_destroy(symbols);
	modules_destroy(modules);
	unlink(other);
	unlink(path);
	rmdir(directory);
}

/* What is packed in a file and far larger than it is not unpacked. */
static void test_packed(void **state)
{
	static const struct {
		const char *size;
		bool is_used;
	} cases[] = {{"16K", true}, {"64M", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct modules *modules = modules_create();
		struct symbols *symbols = symbols_create(modules);
		struct where where = probe_library(modules, "names_c.so", "outer");
		struct module *module = modules_get(modules, where.module);
		char path[PATH_MAX], other[PATH_MAX], directory[] = "/tmp/pdb-test-XXXXXX";
		char command[2 * PATH_MAX];
		struct name name;

		assert_non_null(mkdtemp(directory));
		snprintf(path, sizeof(path), "%s/lib.so", directory);
		library_path(other, "names_c.so");
		snprintf(
			command, sizeof(command),
			"cd %s && truncate -s %s zeros && "
			"objcopy --add-section .debug_more=zeros %s more.so && "
			"objcopy --compress-debug-sections=zlib more.so lib.so && rm zeros more.so",
			directory, cases[i].size, other);
		assert_int_equal(system(command), 0);
		free(module->path);
		module->path = strdup(path);
		assert_int_equal(symbols_resolve(symbols, where.module, where.address, &name), 0);
		assert_string_equal(name.function, cases[i].is_used ? "inner" : "outer");
		assert_int_equal(name.file != NULL, cases[i].is_used);
		symbols_destroy(symbols);
		modules_destroy(modules);
		unlink(path);
		rmdir(directory);
	}
}

/* Looking for a function takes what the size of its file explains; then it has its symbol's
 * name. */
static void test_ranges(void **state)
{
	struct modules *modules = modules_create();
	struct symbols *symbols = symbols_create(modules);
	struct where where = probe_library(modules, "names_ranges.so", "outer");
	clock_t began = clock();
	struct name name;

	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(symbols_resolve(symbols, where.module, where.address, &name), 0);
		assert_string_equal(name.function, "outer");
	}
	assert_in_range(clock() - began, 0, 2 * CLOCKS_PER_SEC);
	symbols_destroy(symbols);
	modules_destroy(modules);
}

static void test_vdso(void **state)
{
	struct modules *modules = modules_create();
	struct symbols *symbols = symbols_create(modules);
	uint32_t module = modules_intern(modules, "[vdso]", NULL, 0);
	void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	void *function = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
	struct name name;

	(void)state;
	if (!function)
		skip(); /* a libc that does not list the vdso */
	assert_int_equal(
		symbols_resolve(symbols, module, (uint64_t)(uintptr_t)function - base, &name), 0);
	assert_string_equal(name.function, "clock_gettime");
	symbols_destroy(symbols);
	modules_destroy(modules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),     cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_replaced_file), cmocka_unit_test(test_written_file),
		cmocka_unit_test(test_many_lookups),  cmocka_unit_test(test_fifo),
		cmocka_unit_test(test_shared_fifo),   cmocka_unit_test(test_packed),
		cmocka_unit_test(test_ranges),        cmocka_unit_test(test_vdso),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
