/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "model/job/modules.h"
#include "tests/unit/unit.h"

static void test_kinds(void **state)
{
	static const struct {
		const char *path;
		enum module_kind kind;
	} table[] = {
		{"/usr/local/bin/solver", MODULE_PROGRAM},
		{"solver", MODULE_PROGRAM},
		{"", MODULE_PROGRAM},
		{"/usr/lib/x86_64-linux-gnu/liblammps.so.0", MODULE_PROGRAM},
		{"/opt/libmpi/bin/app", MODULE_PROGRAM},
		{"/usr/lib/x86_64-linux-gnu/libmetis.so.5", MODULE_PROGRAM},
		{"/usr/lib/x86_64-linux-gnu/libmpir.so.23", MODULE_PROGRAM},
		{"/usr/lib/x86_64-linux-gnu/libmumps_common-5.5.so", MODULE_PROGRAM},
		{"/usr/lib/x86_64-linux-gnu/libcblas.so.3", MODULE_PROGRAM},
		{"/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4", MODULE_MPI},
		{"/usr/lib/x86_64-linux-gnu/libmpi_mpifh.so.40", MODULE_MPI},
		{"/usr/lib/x86_64-linux-gnu/libmpich.so.12.2.0", MODULE_MPI},
		{"/usr/lib/x86_64-linux-gnu/libmpichfort.so.12", MODULE_MPI},
		{"libmpifort.so.12", MODULE_MPI},
		{"/usr/lib/x86_64-linux-gnu/libopen-pal.so.40.30.2", MODULE_MPI},
		{"/usr/lib/x86_64-linux-gnu/libopen-rte.so.40", MODULE_MPI},
		{"/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_btl_vader.so", MODULE_MPI},
		{"/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so.2.9.1", MODULE_MPI},
		{"libprrte.so.3", MODULE_MPI},
		{"libucp.so.0", MODULE_MPI},
		{"libucs.so.0.0.0", MODULE_MPI},
		{"libuct_ib.so.0", MODULE_MPI},
		{"libfabric.so.1", MODULE_MPI},
		{"libhwloc.so.15.6.3", MODULE_MPI},
		{"libevent_core-2.1.so.7.0.1", MODULE_MPI},
		{"libevent_pthreads-2.1.so.7", MODULE_MPI},
		{"/usr/lib/x86_64-linux-gnu/libc.so.6", MODULE_SYSTEM},
		{"/usr/bin/python3.11", MODULE_SYSTEM},
		{"/usr/lib/libpython3.13.so.1.0", MODULE_SYSTEM},
		{"/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so",
		 MODULE_SYSTEM},
		{"/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so",
		 MODULE_SYSTEM},
		{"/usr/lib/python3.11/ctypes/__init__.py", MODULE_SYSTEM},
		{"<frozen importlib._bootstrap>", MODULE_SYSTEM},
		{"/usr/lib/python3.13/site-packages/solver/step.py", MODULE_PROGRAM},
		{"/usr/lib/python3.11/solver", MODULE_PROGRAM},
		{"<string>", MODULE_PROGRAM},
		{"/home/user/python", MODULE_PROGRAM},
		{"/home/user/solver.py", MODULE_PROGRAM},
		{"/lib/x86_64-linux-gnu/libc-2.31.so", MODULE_SYSTEM},
		{"/usr/lib/x86_64-linux-gnu/libc.so.6 (deleted)", MODULE_SYSTEM},
		{"/lib64/ld-linux-x86-64.so.2", MODULE_SYSTEM},
		{"libpthread.so.0", MODULE_SYSTEM},
		{"libm.so.6", MODULE_SYSTEM},
		{"libgcc_s.so.1", MODULE_SYSTEM},
		{"libstdc++.so.6.0.30", MODULE_SYSTEM},
		{"libgfortran.so.5.0.0", MODULE_SYSTEM},
		{"libgomp.so.1.0.0", MODULE_SYSTEM},
		{"[vdso]", MODULE_SYSTEM},
		{"linux-vdso.so.1", MODULE_SYSTEM},
		{"libunwind.so.8", MODULE_SYSTEM},
		{"/usr/local/lib/pdb/libpdbrec-openmpi.so", MODULE_RECORDER},
		{"libpdbrec-mpich.so", MODULE_RECORDER},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		if (module_kind_of_path(table[i].path) != table[i].kind)
			fail_msg("%s: kind %d", table[i].path, module_kind_of_path(table[i].path));
	}
}

static void test_intern(void **state)
{
	static const uint8_t id_a[20] = {1, 2, 3}, id_b[20] = {1, 2, 4};
	struct modules *modules = modules_create();

	(void)state;
	assert_int_equal(modules_intern(modules, "/a", id_a, 20), 0);
	assert_int_equal(modules_intern(modules, "/a", id_b, 20), 1);
	assert_int_equal(modules_intern(modules, "/a", NULL, 0), 2);
	assert_int_equal(modules_intern(modules, "/b", NULL, 0), 3);
	assert_int_equal(modules_intern(modules, "/a", id_a, 8), 4);
	/* The build-id decides where there is one, and the first path stays. */
	assert_int_equal(modules_intern(modules, "/elsewhere/a", id_a, 20), 0);
	assert_int_equal(modules_intern(modules, "/b", NULL, 0), 3);
	assert_int_equal(modules_count(modules), 5);
	assert_string_equal(modules_get(modules, 0)->path, "/a");
	assert_int_equal(modules_get(modules, 0)->build_id_size, 20);
	assert_memory_equal(modules_get(modules, 1)->build_id, id_b, 20);
	assert_int_equal(modules_get(modules, 0)->example_pid, 0);
	modules_destroy(modules);
	modules_destroy(NULL);
}

static void test_places(void **state)
{
	struct modules *modules = modules_create();
	uint32_t id = modules_intern(modules, "/home/user/solver.py", NULL, 0);
	char function[] = "step";

	(void)state;
	assert_null(modules_find_place(modules, id, 7));
	modules_set_place(modules, id, 7, function, 12);
	function[0] = 'x';
	modules_set_place(modules, id, UINT64_MAX, "halo", 0);
	modules_set_place(modules, MODULE_NONE, 7, "elsewhere", 1);
	modules_set_place(modules, id, 7, "again", 13);
	assert_string_equal(modules_find_place(modules, id, 7)->function, "step");
	assert_int_equal(modules_find_place(modules, id, 7)->line, 12);
	assert_string_equal(modules_find_place(modules, id, UINT64_MAX)->function, "halo");
	assert_null(modules_find_place(modules, id, 8));
	assert_null(modules_find_place(modules, id + 1, 7));
	modules_destroy(modules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_intern),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
