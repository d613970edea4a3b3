/* SPDX-License-Identifier: BSD-3-Clause
 * The table of launchers: what holds for every entry, and how they are told by names. */
#include <stdlib.h>
#include <string.h>

#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/words.h"
#include "tests/unit/unit.h"

static size_t count(const char *const *list)
{
	size_t num = 0;

	while (list && list[num])
		num++;
	return num;
}

static void test_entries(void **state)
{
	(void)state;
	for (size_t i = 0; launcher_kinds[i]; i++) {
		const struct launcher_kind *kind = launcher_kinds[i];

		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(kind->name, launcher_kinds[j]->name);
		/* One way to the ranks, and a reason for it. */
		assert_false(kind->takes_pmix && kind->has_mpir);
		assert_int_equal(launcher_kind_has_table(kind), kind->why != NULL);
		/* Those whose ranks are no descendants are told by their table. */
		assert_true(!kind->apart || kind->has_mpir);
		assert_true(!kind->variables == !kind->variable_prefix);
		assert_true(!kind->job_variables == !kind->job_prefix);
		assert_true(count(kind->rank_variables) > 0);
		/* What is none of the others is recognized by nothing. */
		assert_int_equal(kind->is_one == NULL, launcher_kinds[i + 1] == NULL);
	}
	/* A PMIx tool connection is tried with no other: it would crash Open MPI 4. */
	for (size_t i = 0; launcher_kinds[i]; i++)
		assert_int_equal(launcher_kinds[i]->takes_pmix,
				 launcher_kinds[i] == &launcher_prrte);
}

/* What is taken over is carried out as this user. */
static void assert_harmless(const char *const *names)
{
	static const char *const harmful[] = {"PATH",    "LD_",         "PROLOG",  "EPILOG",
					      "PRELOAD", "PREFIX",      "COMMAND", "EXPORT",
					      "HOME",    "launch_agent"};

	for (; names && *names; names++) {
		size_t length = strlen(*names);

		assert_true(length > 0);
		assert_null(strpbrk(*names, "=*?"));
		if ((*names)[length - 1] == '_')
			fail_msg("%s is no whole name", *names);
		for (size_t i = 0; i < NUM_OF(harmful); i++)
			if (strstr(*names, harmful[i]))
				fail_msg("%s: %s", *names, harmful[i]);
	}
}

static void test_taken_over(void **state)
{
	(void)state;
	for (size_t i = 0; launcher_kinds[i]; i++) {
		assert_harmless(launcher_kinds[i]->variables);
		if (launcher_kinds[i]->allocation)
			assert_harmless(launcher_kinds[i]->allocation->variables);
	}
}

static void test_programs(void **state)
{
	static const struct {
		const char *name;
		const struct launcher_kind *kind;
	} programs[] = {
		{"mpirun.openmpi", &launcher_openmpi4},
		{"orterun", &launcher_openmpi4},
		{"prterun", &launcher_prrte},
		{"prte", &launcher_prrte},
		{"prun", &launcher_prrte},
		{"mpiexec.hydra", &launcher_hydra},
		{"mpiexec.mpich", &launcher_hydra},
		{"srun", NULL},
		{"mpirun", NULL},
		{"app", NULL},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(programs); i++)
		assert_ptr_equal(launcher_kind_of_program(programs[i].name), programs[i].kind);
	assert_ptr_equal(launcher_kind_of_library("libopen-rte.so.40"), &launcher_openmpi4);
	assert_ptr_equal(launcher_kind_of_library("libprrte.so.3"), &launcher_prrte);
	assert_null(launcher_kind_of_library("libmpi.so.40"));
	assert_null(launcher_kind_of_library("libprrtex.so"));
}

static void test_variables(void **state)
{
	const struct {
		const struct launcher_variables *of;
		const char *variable;
		bool has;
	} cases[] = {
		{&launcher_prrte.identity, "PMIX_RANK=1", true},
		{&launcher_prrte.identity, "PMIX_MCA_psec=native", false},
		{&launcher_prrte.identity, "XPMIX_RANK=1", false},
		{&launcher_hydra.identity, "PMI_FD=3", true},
		{&launcher_hydra.identity, "PMIX_RANK=1", false},
		{&launcher_intel.identity, "HYDRA_BSTRAP_PGID=0", true},
		{&launcher_intel.identity, "I_MPI_ROOT=/opt", false},
		{&launcher_other.identity, "PMI_FD=3", false},
		{&launcher_slurm.allocation->own, "SLURM_NTASKS=3", true},
		{&launcher_slurm.allocation->own, "SRUN_DEBUG=3", true},
		{&launcher_slurm.allocation->own, "SLURM_CONF=/etc", false},
		{&launcher_slurm.allocation->own, "SLURM_CONF_SERVER=a", true},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		if (launcher_variables_have(cases[i].of, cases[i].variable) != cases[i].has)
			fail_msg("%s", cases[i].variable);
}

/* How ranks get the recorder, and what of pdb's variables is set. */
static void test_preload(void **state)
{
	static const char *const others[] = {"PDB_TEST_SET", "PDB_TEST_UNSET", NULL};
	static const struct {
		const struct launcher_kind *kind;
		const char *words[8];
	} cases[] = {
		{&launcher_openmpi4, {"-x", "LD_PRELOAD=/r", "-x", "PDB_TEST_SET"}},
		{&launcher_prrte, {"-x", "LD_PRELOAD=/r", "-x", "PDB_TEST_SET"}},
		{&launcher_hydra, {"-genv", "LD_PRELOAD", "/r"}},
		{&launcher_intel, {"-genv", "LD_PRELOAD", "/r"}},
	};

	(void)state;
	setenv("PDB_TEST_SET", "1", 1);
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct words words = {.words = NULL};

		cases[i].kind->preload(&words, "/r", others);
		assert_int_equal(words.num, count(cases[i].words));
		for (size_t j = 0; j < words.num; j++)
			assert_string_equal(words.words[j], cases[i].words[j]);
		words_free(words.words);
	}
	assert_null(launcher_slurm.preload);
	unsetenv("PDB_TEST_SET");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),  cmocka_unit_test(test_taken_over),
		cmocka_unit_test(test_programs), cmocka_unit_test(test_variables),
		cmocka_unit_test(test_preload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
