/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "attach/launchers/rankenv.h"
#include "tests/unit/unit.h"

static void test_rankenv(void **state)
{
	static const struct {
		const char *environ; /* lines for zeros */
		int rank, size;
		const char *job;
	} cases[] = {
		{"", -1, 0, ""},
		{"HOME=/\n", -1, 0, ""},
		{"PMIX_RANK=7\nPMIX_NAMESPACE=job@1\n", 7, 0, "job@1"},
		{"OMPI_COMM_WORLD_RANK=3\nOMPI_COMM_WORLD_SIZE=8\n", 3, 8, ""},
		{"PMI_RANK=0\nPMI_SIZE=16\n", 0, 16, ""},
		{"SLURM_PROCID=5\nSLURM_JOB_ID=12\nSLURM_STEP_ID=0\nSLURM_NTASKS=9\n", 5, 9,
		 "slurm-12.0"},
		/* In a batch script SLURM_PROCID is 0 for all that is started there. */
		{"SLURM_PROCID=0\nPMI_RANK=4\n", 4, 0, ""},
		{"MPI_LOCALRANKID=1\nPMI_RANK=9\n", 9, 0, ""},
		{"XPMI_RANK=4\nPMI_RANKX=5\n", -1, 0, ""},
		{"PMI_RANK=\nPMIX_RANK=x\nOMPI_COMM_WORLD_RANK=-1\n", -1, 0, ""},
		{"PMI_RANK=99999999999999999999\n", -1, 0, ""},
		{"PMI_RANK=2147483647\n", -1, 0, ""},
		{"PMIX_RANK=4x\nPMI_RANK=2\n", 2, 0, ""},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < NUM_OF(cases); i++) {
		size_t size = strlen(cases[i].environ);
		char *text = strdup(cases[i].environ);
		struct rankenv env;

		for (k = 0; k < size; k++) {
			if (text[k] == '\n')
				text[k] = '\0';
		}
		rankenv_parse(text, size, &env);
		assert_int_equal(env.rank, cases[i].rank);
		assert_int_equal(env.size, cases[i].size);
		assert_string_equal(env.job, cases[i].job);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rankenv)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
