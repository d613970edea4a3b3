/* SPDX-License-Identifier: BSD-3-Clause
 * What a command gets of pdb's environment, and how its end is told. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/daemons/daemon_launch.h"
#include "attach/launchers/daemon_plan.h"
#include "attach/launchers/launcher_kind.h"
#include "tests/unit/unit.h"

/* Of pdb: which of them does a command keep? */
static const struct {
	const char *name;
	bool is_kept, is_kept_in_slurm;
} variables[] = {
	{"PDB_TEST_MINE", true, true},
	{"SLURM_CONF", true, true},
	{"SLURM_JWT", true, true},
	{"SLURM_NTASKS_PER_NODE", true, false},
	{"SLURM_MEM_PER_CPU", true, false},
	{"SLURM_JOB_ID", true, false},
	{"SRUN_CPUS_PER_TASK", true, false},
	{"PMIX_MCA_psec", true, true},
	{"PMIX_RANK", false, false},
	{"PMI_FD", false, false},
	{"OMPI_COMM_WORLD_RANK", false, false},
	{"OMPI_MCA_ess_base_vpid", false, false},
};

static void run(char *const *argv, bool is_in_slurm, struct pdb_error *err)
{
	char *environment[] = {(char *)"PDB_TEST_ADDED=secret", (char *)"LD_PRELOAD=", NULL};
	const struct daemon_plan plan = {.way = DAEMONS_COMMAND,
					 .argv = (char **)argv,
					 .environment = environment,
					 .kind = &launcher_openmpi4,
					 .allocation =
						 is_in_slurm ? launcher_slurm.allocation : NULL};
	struct daemon_launch launch;

	assert_int_equal(daemon_launch_start(&plan, &launch, err), 0);
	while (daemon_launch_check(&launch, err) == 0)
		poll(NULL, 0, 10);
	assert_int_equal(launch.pid, 0);
}

/* Does a shell that was started as a launcher have the variable? */
static bool is_in_environment(const char *name, bool is_in_slurm)
{
	char script[128];
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", script, NULL};
	struct pdb_error err;

	snprintf(script, sizeof(script), "echo \"<${%s-none}>\"", name);
	run(argv, is_in_slurm, &err);
	assert_error(&err, ERROR_GONE, "the launcher of the daemons has ended: <");
	return strstr(err.text, "<secret>");
}

static void test_environment(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(variables); i++)
		setenv(variables[i].name, "secret", 1);
	for (size_t i = 0; i < NUM_OF(variables); i++) {
		if (is_in_environment(variables[i].name, false) != variables[i].is_kept)
			fail_msg("%s", variables[i].name);
		if (is_in_environment(variables[i].name, true) != variables[i].is_kept_in_slurm)
			fail_msg("%s in Slurm", variables[i].name);
		unsetenv(variables[i].name);
	}
	assert_true(is_in_environment("PDB_TEST_ADDED", true));
	assert_false(is_in_environment("LD_PRELOAD", true));
}

/* What is there twice is read as the first by one program and as the last by another. */
static void test_instead(void **state)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c",
			(char *)"tr '\\0' '\\n' </proc/$$/environ | grep ^PDB_TEST_ADDED", NULL};
	struct pdb_error err;

	(void)state;
	setenv("PDB_TEST_ADDED", "pdb's own", 1);
	setenv("PDB_TEST_ADDED_TOO", "too", 1);
	run(argv, false, &err);
	assert_error(&err, ERROR_GONE, "PDB_TEST_ADDED_TOO=too");
	assert_error(&err, ERROR_GONE, "PDB_TEST_ADDED=secret");
	assert_null(strstr(err.text, "pdb's own"));
	unsetenv("PDB_TEST_ADDED");
	unsetenv("PDB_TEST_ADDED_TOO");
}

static void test_no_program(void **state)
{
	char *argv[] = {(char *)"/nowhere/mpirun", NULL};
	struct pdb_error err;

	(void)state;
	run(argv, false, &err);
	assert_error(&err, ERROR_GONE, "/nowhere/mpirun: No such file");
}

/* A launcher that leaves its files behind, as an mpirun does that was made to end. */
static void test_files(void **state)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c",
			(char *)"cd $TMPDIR/ompi.`hostname`.`id -u` && mkdir -p pid.$$/0/1 &&"
				" touch pid.$$/contact.txt && echo made pid.$$",
			NULL};
	char directory[] = "/tmp/test_daemon_launch.XXXXXX", host[256], parent[512], other[600];
	struct pdb_error err;

	(void)state;
	assert_non_null(mkdtemp(directory));
	setenv("TMPDIR", directory, 1);
	assert_int_equal(gethostname(host, sizeof(host)), 0);
	snprintf(parent, sizeof(parent), "%s/ompi.%s.%u", directory, host, geteuid());
	snprintf(other, sizeof(other), "%s/pid.1", parent);
	assert_int_equal(mkdir(parent, 0700), 0);
	assert_int_equal(mkdir(other, 0700), 0);
	run(argv, false, &err);
	assert_error(&err, ERROR_GONE, "ended: made pid.");
	/* That of another mpirun is left alone, and nothing else is there any more. */
	assert_int_equal(rmdir(other), 0);
	assert_int_equal(rmdir(parent), 0);

	assert_int_equal(mkdir(parent, 0700), 0);
	run(argv, false, &err);
	assert_error(&err, ERROR_GONE, "ended: made pid.");
	assert_int_equal(rmdir(directory), 0);
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_instead),
		cmocka_unit_test(test_no_program),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
