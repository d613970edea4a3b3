/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "attach/symbols/demangle.h"
#include "tests/unit/unit.h"

static void test_names(void **state)
{
	static const struct {
		const char *symbol, *expected;
	} cases[] = {
		/* C stays as it is. */
		{"main", "main"},
		{"MPI_Send", "MPI_Send"},
		{"_start", "_start"},
		{"__clone3", "__clone3"},
		{"MAIN__", "MAIN__"},
		{"a", "a"},
		{"_", "_"},
		{"", ""},
		{"__", "__"},
		{"MPI_SEND_", "MPI_SEND_"},
		/* What compilers and linkers append. */
		{"step.constprop.0", "step"},
		{"step.constprop.0.isra.1", "step"},
		{"step.part.12.cold", "step"},
		{"inner.3542", "inner"},
		{"libfoo.so", "libfoo.so"},
		{".text", ".text"},
		{".0", ".0"},
		{"memcpy@@GLIBC_2.14", "memcpy"},
		{"memcpy@GLIBC_2.2.5", "memcpy"},
		{"@", "@"},
		/* Fortran. */
		{"solve_", "solve"},
		{"solve_it_", "solve_it"},
		{"solve_it__", "solve_it"},
		{"solve__", "solve_"},
		{"mpi_barrier_", "mpi_barrier"},
		{"__solver_MOD_step", "solver::step"},
		{"__solver_mod_MOD_time_step", "solver_mod::time_step"},
		{"__solver_MOD_step.constprop.0", "solver::step"},
		{"__solver_MOD_", "__solver_MOD_"},
		{"___MOD_step", "___MOD_step"},
		{"__MOD_step", "__MOD_step"},
		/* C++. */
		{"_ZN9LAMMPS_NS6Verlet3runEi", "LAMMPS_NS::Verlet::run"},
		{"_ZNK1A3getEv", "A::get"},
		{"_ZN12_GLOBAL__N_13fooEi", "(anonymous namespace)::foo"},
		{"_Z3mapIiEvT_", "map<int>"},
		{"_ZN1A1bIiEESt6vectorIT_SaIS2_EEv", "A::b<int>"},
		{"_ZN1AclEi", "A::operator()"},
		{"_ZN1AlsEi", "A::operator<<"},
		{"_ZN1AcvbEv", "A::operator bool"},
		{"_ZN1AnwEm", "A::operator new"},
		{"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"},
		{"_ZN1A3runEi.part.0", "A::run"},
		{"_Znonsense", "_Znonsense"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < NUM_OF(cases); i++) {
		char *name = demangle(cases[i].symbol);

		assert_string_equal(name, cases[i].expected);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
