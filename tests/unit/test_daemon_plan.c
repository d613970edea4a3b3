/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/launchers/daemon_plan.h"
#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "model/job/proctable.h"
#include "model/xalloc.h"
#include "tests/unit/unit.h"

#define MPIRUN_ENV                                                                                 \
	"PDB_INVITATION=secret PDB_RECORD=0 LD_PRELOAD= OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp "   \
	"OMPI_MCA_osc=^ucx OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_base_warn_peer_error=0"
#define SRUN                                                                                       \
	"/l/run --overlap --jobid 17 --nodelist n1,n2 --ntasks-per-node=1 --mem=0 --quiet "        \
	"--input=none --export=ALL --cpu-bind=none --kill-on-bad-exit=1 --wait=2 --nodes 2 "       \
	"--ntasks 2 --mpi=pmix_v4 "
#define MPICH_ENV "PDB_INVITATION=secret PDB_RECORD=0 LD_PRELOAD= UCX_TLS=self,tcp"

static const struct {
	const struct launcher_kind *launcher;
	const char *mpi, *hosts, *command, *slurm_job, *variables; /* the job's */
	enum daemon_way way;
	const char *argv, *environment; /* "": none */
} plans[] = {
	{&launcher_openmpi4, "openmpi", "HERE HERE", "mpirun p", NULL, "", DAEMONS_NONE, "", ""},
	{&launcher_prrte, "openmpi", "HERE HERE", "mpirun p", NULL, "", DAEMONS_NONE, "", ""},
	{&launcher_prrte, "openmpi", "HERE b b", "mpirun p", NULL, "", DAEMONS_SPAWN, "",
	 MPIRUN_ENV},
	{&launcher_openmpi4, "openmpi", "b a b a c",
	 "mpirun --mca plm_rsh_agent ssh:x --mca btl self,vader -mca btl_tcp_if_include eth0 p "
	 "--mca",
	 NULL, "", DAEMONS_COMMAND,
	 "/l/run --host a:1,b:1,c:1 -n 3 --map-by ppr:1:node --oversubscribe --bind-to none "
	 "--mca mca_base_env_list PDB_INVITATION;PDB_RECORD --mca plm_rsh_agent ssh:x "
	 "--mca btl_tcp_if_include eth0 /lib/pdbd-openmpi",
	 MPIRUN_ENV},
	{&launcher_hydra, "mpich", "b a", "mpiexec -launcher ssh -iface=eth0 -n 2 p", NULL, "",
	 DAEMONS_COMMAND, "/l/run -hosts a,b -ppn 1 -n 2 -launcher ssh -iface=eth0 /lib/pdbd-mpich",
	 MPICH_ENV},
	{&launcher_intel, "mpich", "b a", "mpiexec.hydra -bootstrap ssh -hosts a b -n 2 p", NULL,
	 "I_MPI_HYDRA_IFACE=eth0 I_MPI_HYDRA_GDB_REMOTE_SHELL=x I_MPI_HYDRA_UUID=1 I_MPI_PIN=1",
	 DAEMONS_COMMAND, "/l/run -hosts a,b -ppn 1 -n 2 -bootstrap ssh /lib/pdbd-mpich",
	 "I_MPI_HYDRA_IFACE=eth0 " MPICH_ENV},
	{&launcher_slurm, "openmpi", "n1 n2 n2", "srun -N2 --mpi=pmix_v4 p", "17", "",
	 DAEMONS_COMMAND, SRUN "/lib/pdbd-openmpi", MPIRUN_ENV},
	/* Launchers that start their own daemons by srun. */
	{&launcher_openmpi4, "openmpi", "a b", "mpirun p", NULL,
	 "PATH=/ SLURM_JOB_ID=17 SLURM_JOB_NODELIST=a,b SLURM_EXACT=1 OMPI_MCA_plm_rsh_delay=1",
	 DAEMONS_COMMAND,
	 "/l/run --host a:1,b:1 -n 2 --map-by ppr:1:node --oversubscribe --bind-to none "
	 "--mca mca_base_env_list PDB_INVITATION;PDB_RECORD /lib/pdbd-openmpi",
	 "OMPI_MCA_plm_rsh_delay=1 SLURM_JOB_ID=17 SLURM_JOB_NODELIST=a,b "
	 "SLURM_OVERLAP=1 " MPIRUN_ENV},
	/* Only what is known is taken over, whatever it begins with. */
	{&launcher_openmpi4, "openmpi", "a b",
	 "mpirun --mca plm_rsh_agent_x a --mca plm_rsh b -mca oob_base_x c --mca orte_launch_agent "
	 "d "
	 "--mca plm_rsh_agent=x e -mca oob_tcp_if_include eth0 p",
	 NULL,
	 "OMPI_MCA_plm_rsh_agent_x=1 OMPI_MCA_plm_rsh=1 OMPI_MCA_=1 OMPI_MCA_plm_rsh_agent "
	 "HYDRA_LAUNCHER_X=1 "
	 "XOMPI_MCA_plm_rsh_agent=1 LD_PRELOAD=x LD_LIBRARY_PATH=/x OPAL_PREFIX=/x PATH=/x "
	 "OMPI_MCA_plm_rsh_args=-4",
	 DAEMONS_COMMAND,
	 "/l/run --host a:1,b:1 -n 2 --map-by ppr:1:node --oversubscribe --bind-to none "
	 "--mca mca_base_env_list PDB_INVITATION;PDB_RECORD --mca oob_tcp_if_include eth0 "
	 "/lib/pdbd-openmpi",
	 "OMPI_MCA_plm_rsh_args=-4 " MPIRUN_ENV},
	{&launcher_hydra, "mpich", "a b",
	 "mpiexec -launcher-execs /x -iface2=x -launcher-exec=/y p", NULL,
	 "SLURM_JOB_ID=17 SLURM_TASK_PROLOG=/x SLURM_PROLOG=/x SLURM_EXPORT_ENV=NONE SLURM_X=1",
	 DAEMONS_COMMAND, "/l/run -hosts a,b -ppn 1 -n 2 -launcher-exec=/y /lib/pdbd-mpich",
	 "SLURM_JOB_ID=17 SLURM_OVERLAP=1 " MPICH_ENV},
	{&launcher_hydra, "mpich", "a b", "mpiexec p", NULL, "SLURM_JOB_ID=17", DAEMONS_COMMAND,
	 "/l/run -hosts a,b -ppn 1 -n 2 /lib/pdbd-mpich",
	 "SLURM_JOB_ID=17 SLURM_OVERLAP=1 " MPICH_ENV},
	{&launcher_prrte, "openmpi", "HERE b b", "mpirun p", NULL, "SLURM_JOB_ID=17", DAEMONS_SPAWN,
	 "", MPIRUN_ENV},
	{&launcher_slurm, "openmpi", "n1 n2 n2", "srun -N2 p", NULL,
	 "SLURM_JOB_ID=17 SLURM_MPI_TYPE=pmix_v4", DAEMONS_COMMAND, SRUN "/lib/pdbd-openmpi",
	 MPIRUN_ENV},
	{&launcher_slurm, "mpich", "n1 n2", "srun --mpi pmi2 p", "17",
	 "SLURM_JOB_ID=16 SLURM_MPI_TYPE=pmix_v4", DAEMONS_COMMAND,
	 SRUN "--mpi pmi2 /lib/pdbd-mpich", MPICH_ENV},
};

/* Words with a blank between two; ends with NULL. */
static char **split(const char *text)
{
	char *copy = xstrdup(text), *save;
	char **words = xcalloc(strlen(text) + 2, sizeof(*words));
	size_t num = 0;

	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		words[num++] = xstrdup(word);
	free(copy);
	return words;
}

static void free_split(char **words)
{
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	free(words);
}

static void assert_words(char *const *words, const char *expected)
{
	char text[4096] = "";

	for (; words && *words; words++) {
		if (*text)
			strcat(text, " ");
		strcat(text, *words);
	}
	assert_string_equal(text, expected);
}

static struct proctable *make_table(const char *hosts)
{
	struct proctable *table = proctable_create();
	char **names = split(hosts), here[256] = "";
	struct pdb_error err;

	gethostname(here, sizeof(here) - 1);
	for (int i = 0; names[i]; i++)
		proctable_add(table, i, 100 + i, strcmp(names[i], "HERE") ? names[i] : here, "p");
	assert_int_equal(proctable_finish(table, &err), 0);
	free_split(names);
	return table;
}

static void test_plans(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(plans); i++) {
		struct proctable *table = make_table(plans[i].hosts);
		char **command = split(plans[i].command);
		char **variables = split(plans[i].variables);
		const struct daemon_site site = {
			.table = table,
			.kind = plans[i].launcher,
			.launcher_path = "/l/run",
			.launcher_argv = (const char *const *)command,
			.slurm_job = plans[i].slurm_job,
			.launcher_environment = (const char *const *)variables,
			.mpi = plans[i].mpi,
			.pdbd_folder = "/lib",
			.invitation = "secret",
		};
		struct daemon_plan plan;
		struct pdb_error err;

		assert_int_equal(daemon_plan_make(&site, &plan, &err), 0);
		assert_int_equal(plan.way, plans[i].way);
		assert_words(plan.argv, plans[i].argv);
		assert_words(plan.environment, plans[i].environment);
		assert_ptr_equal(plan.allocation,
				 plans[i].way == DAEMONS_COMMAND &&
						 (plans[i].launcher == &launcher_slurm ||
						  strstr(plans[i].variables, "SLURM_"))
					 ? launcher_slurm.allocation
					 : NULL);
		daemon_plan_deinit(&plan);
		free_split(variables);
		free_split(command);
		proctable_destroy(table);
	}
}

static void test_no_plan(void **state)
{
	static const struct {
		const struct launcher_kind *launcher;
		enum error_code code;
		const char *part;
	} refusals[] = {
		{&launcher_other, ERROR_UNSUPPORTED, "cannot start programs"},
		{&launcher_slurm, ERROR_NOT_FOUND, "number of the Slurm job"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(refusals); i++) {
		struct proctable *table = make_table("a b");
		const struct daemon_site site = {
			.table = table,
			.kind = refusals[i].launcher,
			.launcher_path = "/l/run",
			.mpi = "openmpi",
			.pdbd_folder = "/lib",
			.invitation = "secret",
		};
		struct daemon_plan plan;
		struct pdb_error err;

		assert_int_equal(daemon_plan_make(&site, &plan, &err), -1);
		assert_error(&err, refusals[i].code, refusals[i].part);
		proctable_destroy(table);
	}
}

/* Hosts that the process table does not have, and what the launcher's environment says of how to
 * reach them. */
static void test_other_hosts(void **state)
{
	static const char *const argv[] = {"mpiexec", "-launcher", "x", "-launcher-exec",
					   "/reach",  "prog",      NULL};
	static const char *const environment[] = {"HOME=/",
						  "HYDRA_LAUNCHER_EXTRA_ARGS=-4",
						  "HYDRA_IFACE=eth1",
						  "HYDRA_ENV=all",
						  "HYDRA_HOST_FILE=/h",
						  "OMPI_MCA_plm_rsh_agent=ssh",
						  "OMPI_MCA_btl=tcp",
						  NULL};
	static const struct {
		const char *hosts, *launcher, *argv;
	} cases[] = {
		{"HERE", "ssh",
		 "/l/run -hosts a,b -ppn 1 -n 2 -launcher ssh -launcher-exec /reach "
		 "/lib/pdbd-mpich"},
		/* No rank is known yet. */
		{"", "",
		 "/l/run -hosts a,b -ppn 1 -n 2 -launcher x -launcher-exec /reach "
		 "/lib/pdbd-mpich"},
	};
	char *names[] = {(char *)"a", (char *)"b"};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const struct launcher_hosts hosts = {
			.names = names, .num = 2, .launcher = (char *)cases[i].launcher};
		struct proctable *table = make_table(cases[i].hosts);
		const struct daemon_site site = {
			.table = table,
			.kind = &launcher_hydra,
			.hosts = &hosts,
			.launcher_path = "/l/run",
			.launcher_argv = argv,
			.launcher_environment = environment,
			.mpi = "mpich",
			.pdbd_folder = "/lib",
			.invitation = "secret",
		};
		struct daemon_plan plan;
		struct pdb_error err;

		assert_int_equal(daemon_plan_make(&site, &plan, &err), 0);
		assert_int_equal(plan.way, DAEMONS_COMMAND);
		assert_int_equal(plan.num_hosts, 2);
		assert_words(plan.argv, cases[i].argv);
		assert_words(plan.environment,
			     "OMPI_MCA_plm_rsh_agent=ssh HYDRA_LAUNCHER_EXTRA_ARGS=-4 "
			     "HYDRA_IFACE=eth1 " MPICH_ENV);
		daemon_plan_deinit(&plan);
		proctable_destroy(table);
	}
}

/* More than the kernel takes in one word: refused before anything is started. */
static void test_too_many_hosts(void **state)
{
	struct proctable *table = proctable_create();
	struct daemon_plan plan;
	struct pdb_error err;

	(void)state;
	for (int i = 0; i < 12000; i++) {
		char host[32];

		snprintf(host, sizeof(host), "node-%07d", i);
		proctable_add(table, i, 100 + i, host, "p");
	}
	assert_int_equal(proctable_finish(table, &err), 0);
	const struct daemon_site site = {.table = table,
					 .kind = &launcher_openmpi4,
					 .launcher_path = "/l/run",
					 .mpi = "openmpi",
					 .pdbd_folder = "/lib",
					 .invitation = "secret"};
	assert_int_equal(daemon_plan_make(&site, &plan, &err), -1);
	assert_error(&err, ERROR_UNSUPPORTED, "12000 hosts");
	proctable_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plans),
		cmocka_unit_test(test_no_plan),
		cmocka_unit_test(test_other_hosts),
		cmocka_unit_test(test_too_many_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
