/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "tests/unit/unit.h"

enum { APP, LIBC, LIBMPI };

struct fixture {
	struct modules *modules;
	struct callpaths *paths;
	struct names *names;
	int num_asked;
	uint64_t last_address;
};

/* Knows what lies below 0x1000 of the program, in a buffer that the next call overwrites. */
static int resolve(void *resolver, uint32_t module, uint64_t address, struct name *ret)
{
	static char function[64], file[64];
	struct fixture *fix = resolver;

	fix->num_asked++;
	fix->last_address = address;
	if (module != APP || address >= 0x1000)
		return -1;
	snprintf(function, sizeof(function), address < 0x100 ? "solve" : "Box::fill(int)");
	snprintf(file, sizeof(file), "solve.c");
	*ret = (struct name){.function = function, .is_symbol = true};
	if (address < 0x200) {
		ret->file = file;
		ret->line = (int)address;
	}
	return 0;
}

static int setup(void **state)
{
	static struct fixture fix;

	fix = (struct fixture){.modules = modules_create(), .paths = callpaths_create()};
	modules_intern(fix.modules, "/home/me/app", NULL, 0);
	modules_intern(fix.modules, "/lib/libc.so.6", NULL, 0);
	modules_intern(fix.modules, "/lib/libmpi.so.40", NULL, 0);
	fix.names = names_create(fix.modules, fix.paths, resolve, &fix);
	*state = &fix;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fix = *state;

	names_destroy(fix->names);
	callpaths_destroy(fix->paths);
	modules_destroy(fix->modules);
	return 0;
}

static void test_place(void **state)
{
	static const struct {
		uint32_t module;
		uint64_t offset;
		bool is_return;
		const char *expected;
	} table[] = {
		{APP, 89, true, "solve() at solve.c:88"},
		{APP, 89, false, "solve() at solve.c:89"},
		{APP, 0x150, false, "Box::fill(int) at solve.c:336"},
		{APP, 0x300, true, "Box::fill(int) in app"},
		{APP, 0x2000, true, "app+0x2000"},
		{LIBC, 0x20, true, "libc.so.6+0x20"},
		{MODULE_NONE, 0x7f0010, false, "0x7f0010"},
	};
	struct fixture *fix = *state;
	char buffer[128];

	for (size_t i = 0; i < NUM_OF(table); i++) {
		uint32_t node = callpaths_intern(fix->paths, CALLPATH_NONE, table[i].module,
						 table[i].offset, table[i].is_return);

		assert_string_equal(names_place(fix->names, node, buffer, sizeof(buffer)),
				    table[i].expected);
	}
	assert_string_equal(names_place(fix->names, CALLPATH_NONE, buffer, sizeof(buffer)), "?");
	assert_string_equal(names_place(fix->names, 0, buffer, 6), "solve");
}

static void test_asked_once(void **state)
{
	struct fixture *fix = *state;
	uint32_t a = callpaths_intern(fix->paths, CALLPATH_NONE, APP, 0x11, true);
	uint32_t b = callpaths_intern(fix->paths, CALLPATH_NONE, APP, 0x21, true);
	uint32_t jit = callpaths_intern(fix->paths, CALLPATH_NONE, MODULE_NONE, 0x21, true);
	uint32_t unknown = callpaths_intern(fix->paths, CALLPATH_NONE, LIBC, 0x21, true);
	const struct name *name = names_get(fix->names, a);

	assert_int_equal(fix->last_address, 0x10);
	names_get(fix->names, a);
	assert_int_equal(fix->num_asked, 1);
	names_get(fix->names, b);
	names_get(fix->names, unknown);
	names_get(fix->names, unknown);
	names_get(fix->names, jit);
	assert_int_equal(fix->num_asked, 3);
	assert_false(names_get(fix->names, unknown)->is_symbol);
	/* Copied, and where it was. */
	assert_string_equal(name->file, "solve.c");
	assert_int_equal(name->line, 0x10);
	assert_ptr_equal(name, names_get(fix->names, a));
}

static void test_set(void **state)
{
	struct fixture *fix = *state;
	char function[] = "first", file[] = "f.f90", full[] = "/src/f.f90", place[64];
	uint32_t node = callpaths_intern(fix->paths, CALLPATH_NONE, LIBMPI, 1, true);
	struct name name = {function, file, full, 7, true, false, NULL};

	names_set(fix->names, node, &name);
	memset(function, 'x', 5);
	memset(file, 'x', 5);
	memset(full, 'x', 5);
	assert_string_equal(names_place(fix->names, node, place, sizeof(place)),
			    "first() at f.f90:7");
	assert_string_equal(names_get(fix->names, node)->full_file, "/src/f.f90");
	assert_int_equal(fix->num_asked, 0);
	names_set(fix->names, node, &(struct name){.function = "second", .is_symbol = true});
	assert_string_equal(names_place(fix->names, node, place, sizeof(place)),
			    "second() in libmpi.so.40");
}

static void test_user_frame(void **state)
{
	struct fixture *fix = *state;
	uint32_t start = callpaths_intern(fix->paths, CALLPATH_NONE, LIBC, 1, true);
	uint32_t main_frame = callpaths_intern(fix->paths, start, APP, 2, true);
	uint32_t solve = callpaths_intern(fix->paths, main_frame, APP, 3, true);
	uint32_t send = callpaths_intern(fix->paths, solve, LIBMPI, 4, true);
	uint32_t jit = callpaths_intern(fix->paths, send, MODULE_NONE, 5, false);

	assert_int_equal(names_user_frame(fix->names, jit), solve);
	assert_int_equal(names_user_frame(fix->names, solve), solve);
	assert_int_equal(names_user_frame(fix->names, main_frame), main_frame);
	assert_int_equal(names_user_frame(fix->names, start), CALLPATH_NONE);
	assert_int_equal(names_user_frame(fix->names, CALLPATH_NONE), CALLPATH_NONE);
}

/* A function of MPI has its own name, whatever its symbol is; the program's are not MPI's. */
static void test_mpi(void **state)
{
	static const char *const table[][3] = {
		{"MPI_Allreduce", "MPI_Allreduce"},
		{"PMPI_Allreduce", "MPI_Allreduce"},
		{"PMPI_Send_c", "MPI_Send_c", "PMPI_Send_c"},
		{"MPI_Allreduce_f", "MPI_Allreduce"},
		{"MPI_ALLREDUCE", "MPI_Allreduce"},
		{"mpi_allreduce_", "MPI_Allreduce"},
		{"pmpi_allreduce__", "MPI_Allreduce"},
		{"ompi_allreduce_f", "MPI_Allreduce"},
		{"mpi_recv_f08", "MPI_Recv"},
		{"mpi_recv_f08_", "MPI_Recv"},
		{"mpi_recv_f08ts", "MPI_Recv"},
		{"pmpir_recv_f08ts_", "MPI_Recv"},
		{"mpi_file_write_at_all_", "MPI_File_write_at_all"},
		{"mpi_type_create_f90_real_", "MPI_Type_create_f90_real",
		 "mpi_type_create_f90_real_"},
		{"mpi_setup", "MPI_Setup", "mpi_setup"},
		{"ompi_mpi_finalize", "MPI_Finalize"},
		{"ompi_request_default_wait_all", "ompi_request_default_wait_all"},
		{"MPIR_Barrier_impl", "MPIR_Barrier_impl"},
		{"mpi_", "mpi_"},
		{"opal_progress", "opal_progress"},
	};
	struct fixture *fix = *state;

	for (size_t i = 0; i < NUM_OF(table); i++) {
		uint32_t node = callpaths_intern(fix->paths, CALLPATH_NONE, LIBMPI, 7 + i, true);
		uint32_t own = callpaths_intern(fix->paths, CALLPATH_NONE, APP, 7 + i, true);
		const struct name name = {.function = table[i][0], .is_symbol = true};

		names_set(fix->names, node, &name);
		names_set(fix->names, own, &name);
		assert_string_equal(names_function(fix->names, node)->function, table[i][1]);
		assert_string_equal(names_function(fix->names, own)->function,
				    table[i][2] ?: table[i][1]);
	}
}

/* Names inlined into each other, the innermost first: "* std::sort; fill; main"; a star before
 * those of a library. */
static void set_chain(struct fixture *fix, uint32_t node, const char *text)
{
	struct name chain[8] = {{0}};
	char copy[64], *at = copy, *word;
	size_t num = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&at, ";"))) {
		word += strspn(word, " ");
		chain[num] = (struct name){.is_symbol = true, .is_library = word[0] == '*'};
		chain[num].function = word + strspn(word, "* ");
		if (num)
			chain[num - 1].caller = &chain[num];
		num++;
	}
	names_set(fix->names, node, chain);
}

static void test_inlined(void **state)
{
	static const struct {
		const char *outer, *inner;  /* two frames */
		const char *get, *function; /* of the inner one */
		int user;                   /* 0: the outer one, 1 */
		const char *behind;         /* NULL: nothing */
	} table[] = {
		{"main", "fill", "fill", "fill", 1, NULL},
		{"main", "step; fill", "step", "fill", 1, NULL},
		{"main", "* std::sort; step; fill", "step", "fill", 1, "std::sort"},
		{"main", "less; * std::sort; fill", "less", "fill", 1, NULL},
		{"main", "* std::swap; * std::sort", "std::sort", "std::sort", 0, "std::swap"},
		{"* std::invoke; step; main", "* std::sort", "std::sort", "std::sort", 0,
		 "std::sort"},
		{"* std::invoke", "* std::sort", "std::sort", "std::sort", 1, NULL},
	};
	struct fixture *fix = *state;
	uint32_t outer = callpaths_intern(fix->paths, CALLPATH_NONE, APP, 2, true);
	uint32_t inner = callpaths_intern(fix->paths, outer, APP, 3, true);
	uint32_t send = callpaths_intern(fix->paths, inner, LIBMPI, 4, false);

	for (size_t i = 0; i < NUM_OF(table); i++) {
		const struct name *behind;

		set_chain(fix, outer, table[i].outer);
		set_chain(fix, inner, table[i].inner);
		assert_string_equal(names_get(fix->names, inner)->function, table[i].get);
		assert_string_equal(names_function(fix->names, inner)->function, table[i].function);
		assert_int_equal(names_user_frame(fix->names, send), table[i].user ? inner : outer);
		behind = names_behind(fix->names, send);
		if (table[i].behind)
			assert_string_equal(behind ? behind->function : "none", table[i].behind);
		else
			assert_null(behind);
	}
	assert_null(names_behind(fix->names, CALLPATH_NONE));
}

static void test_library_files(void **state)
{
	static const struct {
		const char *path;
		bool is_library;
	} table[] = {
		{"/usr/include/c++/12/bits/stl_list.h", true},
		{"/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h", true},
		{"/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/list", true},
		{"/usr/lib/llvm-14/include/c++/v1/list", true},
		{"/opt/gcc/13.2/lib64/gcc/x86_64-pc-linux-gnu/13.2.0/include/emmintrin.h", true},
		{"/usr/lib/llvm-14/lib/clang/14.0.6/include/immintrin.h", true},
		{"/usr/include/stdlib.h", true},
		{"/usr/include/x86_64-linux-gnu/bits/string_fortified.h", true},
		{"/usr/include/x86_64-linux-gnu/mpich/mpicxx.h", true},
		{"/opt/ompi/include/openmpi/ompi/mpi/cxx/comm_inln.h", true},
		{"/usr/include/eigen3/Eigen/src/Core/Product.h", false},
		{"/home/me/c++/solver.cpp", false},
		{"/home/me/include/solver.h", false},
		{"solver.c", false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++)
		if (names_is_library_file(table[i].path) != table[i].is_library)
			fail_msg("%s", table[i].path);
}

static void test_signal(void **state)
{
	struct fixture *fix = *state;
	uint32_t module = modules_intern(fix->modules, MODULES_SIGNAL, NULL, 0);
	uint32_t outer = callpaths_intern(fix->paths, CALLPATH_NONE, APP, 2, false);
	uint32_t signal = callpaths_intern(fix->paths, outer, module, 14, false);
	uint32_t unknown = callpaths_intern(fix->paths, outer, module, 0, false);
	char place[64];

	assert_true(names_is_signal(fix->names, signal));
	assert_false(names_is_signal(fix->names, outer));
	assert_string_equal(names_place(fix->names, signal, place, sizeof(place)),
			    "<signal 14 handler called>");
	assert_string_equal(names_place(fix->names, unknown, place, sizeof(place)),
			    "<signal handler called>");
	assert_int_equal(names_user_frame(fix->names, signal), outer);
}

static void test_mpi_kind(void **state)
{
	static const struct {
		const char *function;
		uint32_t module;
		enum names_mpi_kind expected;
	} table[] = {
		{"MPI_Test", LIBMPI, NAMES_MPI_POLL},
		{"PMPI_Testall", LIBMPI, NAMES_MPI_POLL},
		{"MPI_Testsome", APP, NAMES_MPI_POLL}, /* linked into the program */
		{"pmpi_testany_", LIBMPI, NAMES_MPI_POLL},
		{"mpi_test_f08_", LIBMPI, NAMES_MPI_POLL},
		{"ompi_iprobe_f", LIBMPI, NAMES_MPI_POLL},
		{"MPI_Improbe", LIBMPI, NAMES_MPI_POLL},
		{"PMPI_Request_get_status", LIBMPI, NAMES_MPI_POLL},
		{"MPI_Win_test", LIBMPI, NAMES_MPI_POLL},
		{"MPI_Test_cancelled", LIBMPI, NAMES_MPI_OTHER},
		{"mpi_test_cancelled_", LIBMPI, NAMES_MPI_OTHER},
		{"MPI_Probe", LIBMPI, NAMES_MPI_OTHER},
		{"MPI_Wait", LIBMPI, NAMES_MPI_WAIT},
		{"PMPI_Waitsome", LIBMPI, NAMES_MPI_WAIT},
		{"mpi_waitall_", LIBMPI, NAMES_MPI_WAIT},
		{"MPI_Recv", LIBMPI, NAMES_MPI_RECEIVE},
		{"mpi_recv_f08_", LIBMPI, NAMES_MPI_RECEIVE},
		{"MPI_Recv_init", LIBMPI, NAMES_MPI_OTHER},
		{"MPI_Irecv", LIBMPI, NAMES_MPI_OTHER},
		{"MPI_Ssend", LIBMPI, NAMES_MPI_SEND},
		{"MPI_Send_init", LIBMPI, NAMES_MPI_OTHER},
		{"MPI_Sendrecv", LIBMPI, NAMES_MPI_SENDRECV},
		{"mpi_sendrecv_replace_", LIBMPI, NAMES_MPI_SENDRECV},
		{"MPI_Allreduce", LIBMPI, NAMES_MPI_OTHER},
		{"MPI_Reduce", LIBMPI, NAMES_MPI_ONE_WAY},
		{"mpi_scatterv_", LIBMPI, NAMES_MPI_ONE_WAY},
		{"MPI_Reduce_scatter", LIBMPI, NAMES_MPI_OTHER},
		{"PMPI_Win_flush", LIBMPI, NAMES_MPI_LOOK},
		{"mpi_fetch_and_op_", LIBMPI, NAMES_MPI_LOOK},
		{"MPI_Get", LIBMPI, NAMES_MPI_LOOK},
		{"MPI_Get_count", LIBMPI, NAMES_MPI_OTHER},
		{"MPI_Win_fence", LIBMPI, NAMES_MPI_OTHER},
		{"opal_progress_test", LIBMPI, NAMES_MPI_OTHER},
		{"my_mpi_test", APP, NAMES_MPI_OTHER},
		{"main", APP, NAMES_MPI_OTHER},
		{"", LIBMPI, NAMES_MPI_OTHER},
	};
	struct fixture *fix = *state;

	for (size_t i = 0; i < NUM_OF(table); i++) {
		uint32_t node = callpaths_intern(fix->paths, CALLPATH_NONE, table[i].module,
						 0x1000 + i, true);

		names_set(fix->names, node,
			  &(struct name){.function = table[i].function, .is_symbol = true});
		if (names_mpi_kind(fix->names, node) != table[i].expected)
			fail_msg("%s", table[i].function);
		assert_int_equal(names_is_poll(fix->names, node),
				 table[i].expected == NAMES_MPI_POLL);
	}
	assert_int_equal(names_mpi_kind(fix->names, CALLPATH_NONE), NAMES_MPI_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_asked_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_set, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mpi, setup, teardown),
		cmocka_unit_test_setup_teardown(test_user_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inlined, setup, teardown),
		cmocka_unit_test(test_library_files),
		cmocka_unit_test_setup_teardown(test_signal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mpi_kind, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
