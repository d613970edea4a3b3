/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/daemons/daemon_plan.h"
#include "attach/daemons/pdbd.h"
#include "attach/launchers/launcher.h"
#include "model/error.h"
#include "model/job/proctable.h"
#include "model/xalloc.h"

/* The kernel takes no longer word of a command line. */
#define WORD_MAX (128 * 1024 - 1)

/* Words that grow; the array ends with NULL. */
struct words {
	char **words;
	size_t num, capacity;
};

static void add_owned(struct words *words, char *word)
{
	words->words = xgrow(words->words, words->num + 1, &words->capacity, sizeof(char *));
	words->words[words->num++] = word;
	words->words[words->num] = NULL;
}

static void add(struct words *words, const char *word)
{
	add_owned(words, xstrdup(word));
}

static void add_all(struct words *words, const char *const *list)
{
	for (; *list; list++)
		add(words, *list);
}

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **daemon_plan_hosts(const struct proctable *table, const struct launcher_hosts *known,
			       size_t *num_ret)
{
	bool is_known = known && known->num > 0;
	size_t num_max = is_known ? known->num : table->num_procs, num = 0;
	const char **hosts = xcalloc(num_max + 1, sizeof(*hosts));

	if (is_known) {
		for (size_t i = 0; i < num_max; i++)
			hosts[i] = known->names[i];
		*num_ret = num_max;
		return hosts;
	}
	for (size_t i = 0; i < table->num_procs; i++)
		hosts[i] = table->procs[i].host;
	qsort(hosts, table->num_procs, sizeof(*hosts), compare_texts);
	for (size_t i = 0; i < table->num_procs; i++)
		if (num == 0 || strcmp(hosts[i], hosts[num - 1]) != 0)
			hosts[num++] = hosts[i];
	*num_ret = num;
	return hosts;
}

bool daemon_plan_can_avoid(const struct proctable *table)
{
	return table->launcher != LAUNCHER_PRRTE;
}

/* Take those out that are to be avoided; the number left. */
static size_t avoid(const char **hosts, size_t num, const char *const *avoided)
{
	size_t left = 0;

	for (size_t i = 0; i < num; i++) {
		const char *const *same = avoided;

		while (same && *same && strcmp(*same, hosts[i]) != 0)
			same++;
		if (!same || !*same)
			hosts[left++] = hosts[i];
	}
	return left;
}

/* "a:1,b:1" with a suffix of ":1". NULL: too long. */
static char *join_hosts(const char *const *hosts, size_t num, const char *suffix)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < num; i++)
		fprintf(out, "%s%s%s", i > 0 ? "," : "", hosts[i], suffix);
	fclose(out);
	if (size <= WORD_MAX)
		return text;
	free(text);
	return NULL;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- What is taken over from the launcher: nothing but these ---- */

/* What Open MPI's mpirun was told of how to reach the nodes, and over which networks: parameters,
 * on its command line or as variables with MCA_PREFIX before the name. */
static const char *const parameters[] = {
	"plm_alps_args",
	"plm_lsf_args",
	"plm_rsh_agent",
	"plm_rsh_args",
	"plm_rsh_assume_same_shell",
	"plm_rsh_chdir",
	"plm_rsh_daemonize_llspawn",
	"plm_rsh_daemonize_qrsh",
	"plm_rsh_delay",
	"plm_rsh_disable_llspawn",
	"plm_rsh_disable_qrsh",
	"plm_rsh_force_rsh",
	"plm_rsh_no_tree_spawn",
	"plm_rsh_num_concurrent",
	"plm_rsh_pass_environ_mca_params",
	"plm_rsh_pass_libpath",
	"plm_rsh_priority",
	"plm_slurm_args",
	"plm_slurm_warning",
	"plm_tm_want_path_check",
	"oob_tcp_disable_family",
	"oob_tcp_disable_ipv4_family",
	"oob_tcp_disable_ipv6_family",
	"oob_tcp_dynamic_ipv4_ports",
	"oob_tcp_dynamic_ipv6_ports",
	"oob_tcp_if_exclude",
	"oob_tcp_if_include",
	"oob_tcp_keepalive_intvl",
	"oob_tcp_keepalive_probes",
	"oob_tcp_keepalive_time",
	"oob_tcp_max_recon_attempts",
	"oob_tcp_peer_limit",
	"oob_tcp_peer_retries",
	"oob_tcp_retry_delay",
	"oob_tcp_static_ipv4_ports",
	"oob_tcp_static_ipv6_ports",
	"btl_tcp_disable_family",
	"btl_tcp_if_exclude",
	"btl_tcp_if_include",
	"btl_tcp_links",
	"btl_tcp_port_min_v4",
	"btl_tcp_port_min_v6",
	"btl_tcp_port_range_v4",
	"btl_tcp_port_range_v6",
	"orte_tmpdir_base",
	"routed_radix",
	NULL,
};
#define MCA_PREFIX "OMPI_MCA_"

/* The same of MPICH's mpiexec. */
static const char *const hydra_options[] = {"-launcher-exec", "--launcher-exec", "-bootstrap-exec",
					    "-iface",         "--iface",         NULL};
static const char *const hydra_launchers[] = {"-launcher", "--launcher", "-bootstrap", NULL};
static const char *const hydra_variables[] = {
	"HYDRA_LAUNCHER",
	"HYDRA_LAUNCHER_EXEC",
	"HYDRA_LAUNCHER_EXTRA_ARGS",
	"HYDRA_LAUNCHER_AUTOFORK",
	"HYDRA_LAUNCHER_SSH_LIMIT",
	"HYDRA_LAUNCHER_SSH_LIMIT_TIME",
	"HYDRA_LAUNCHER_SSH_ENABLE_WARNINGS",
	"HYDRA_BOOTSTRAP",
	"HYDRA_BOOTSTRAP_EXEC",
	"HYDRA_IFACE",
	NULL,
};

/* Of an srun which MPI it speaks. */
static const char *const srun_options[] = {"--mpi", NULL};

/* In an allocation of Slurm's: which one, its nodes, how Slurm is reached. */
static const char *const slurm_variables[] = {
	"SLURM_CLUSTERS",
	"SLURM_CLUSTER_NAME",
	"SLURM_CONF",
	"SLURM_CPUS_ON_NODE",
	"SLURM_CPUS_PER_TASK",
	"SLURM_JOBID",
	"SLURM_JOB_CPUS_PER_NODE",
	"SLURM_JOB_ID",
	"SLURM_JOB_NODELIST",
	"SLURM_JOB_NUM_NODES",
	"SLURM_JWT",
	"SLURM_MPI_TYPE",
	"SLURM_NETWORK",
	"SLURM_NNODES",
	"SLURM_NODELIST",
	"SLURM_NODEID",
	"SLURM_TASKS_PER_NODE",
	"SLURM_WORKING_CLUSTER",
	NULL,
};

/* Is the text one of the names, as far as the `length` of it goes? */
static bool is_one_of(const char *text, size_t length, const char *const *names)
{
	while (*names && (strncmp(text, *names, length) != 0 || (*names)[length]))
		names++;
	return *names;
}

static void add_mca_parameters(struct words *words, const char *const *argv)
{
	for (; argv && argv[0] && argv[1] && argv[2]; argv++)
		if ((strcmp(argv[0], "--mca") == 0 || strcmp(argv[0], "-mca") == 0) &&
		    is_one_of(argv[1], strlen(argv[1]), parameters))
			add_all(words, (const char *const[]){"--mca", argv[1], argv[2], NULL});
}

/* "NAME VALUE" or "NAME=VALUE". */
static void add_options(struct words *words, const char *const *argv, const char *const *names)
{
	for (; argv && argv[0]; argv++) {
		for (const char *const *name = names; *name; name++) {
			size_t length = strlen(*name);

			if (strcmp(argv[0], *name) == 0 && argv[1])
				add_all(words, (const char *const[]){argv[0], argv[1], NULL});
			else if (strncmp(argv[0], *name, length) == 0 && argv[0][length] == '=')
				add(words, argv[0]);
		}
	}
}

static void plan_orte(const struct daemon_site *site, char *hosts, size_t num, struct words *argv)
{
	static const char variables[] = PDBD_ENV_INVITATION ";PDB_RECORD";

	add(argv, site->launcher_path);
	add_all(argv, (const char *const[]){"--host", hosts, "-n", NULL});
	add_owned(argv, xasprintf("%zu", num));
	/* No binding: the cores are the ranks'. The variables' values are not on the command
	 * line. -x is refused where the parameter is set already, as by "pdb env"; this
	 * overrides it. */
	add_all(argv,
		(const char *const[]){"--map-by", "ppr:1:node", "--oversubscribe", "--bind-to",
				      "none", "--mca", "mca_base_env_list", variables, NULL});
	add_mca_parameters(argv, site->launcher_argv);
}

static void plan_hydra(const struct daemon_site *site, char *hosts, size_t num, struct words *argv)
{
	add(argv, site->launcher_path);
	add_all(argv, (const char *const[]){"-hosts", hosts, "-ppn", "1", "-n", NULL});
	add_owned(argv, xasprintf("%zu", num));
	/* Which one it has found by itself may depend on variables that pdb does not have. */
	if (site->hosts && site->hosts->launcher && *site->hosts->launcher)
		add_all(argv, (const char *const[]){"-launcher", site->hosts->launcher, NULL});
	else
		add_options(argv, site->launcher_argv, hydra_launchers);
	add_options(argv, site->launcher_argv, hydra_options);
}

/* NULL: it is not set, or it is not known what is. */
static const char *find_variable(const struct daemon_site *site, const char *name)
{
	const char *const *variable = site->launcher_environment;
	size_t length = strlen(name);

	for (; variable && *variable; variable++)
		if (begins_with(*variable, name) && (*variable)[length] == '=')
			return *variable + length + 1;
	return NULL;
}

/* A step of the job's that takes nothing of what the job has. When one of the daemons is killed all
 * end, as mpirun has it, and pdb can have them started again. */
static int plan_srun(const struct daemon_site *site, char *hosts, size_t num, struct words *argv,
		     struct pdb_error *err)
{
	const char *mpi = find_variable(site, "SLURM_MPI_TYPE"), *job = site->slurm_job;

	if (!job || !*job)
		job = find_variable(site, "SLURM_JOB_ID");
	if (!job)
		return error_set(err, ERROR_NOT_FOUND,
				 "the number of the Slurm job is not known, so no daemons can be "
				 "started in it");
	add(argv, site->launcher_path);
	add_all(argv, (const char *const[]){"--overlap", "--jobid", job, "--nodelist", hosts,
					    "--ntasks-per-node=1", "--mem=0", "--quiet",
					    "--input=none", "--export=ALL", "--cpu-bind=none",
					    "--kill-on-bad-exit=1", "--wait=2", "--nodes", NULL});
	add_owned(argv, xasprintf("%zu", num));
	add(argv, "--ntasks");
	add_owned(argv, xasprintf("%zu", num));
	if (mpi)
		add_owned(argv, xasprintf("--mpi=%s", mpi));
	/* After it: the last one counts, as srun's options do before the variable. */
	add_options(argv, site->launcher_argv, srun_options);
	return 0;
}

/* The variables whose names, behind the prefix, are of these. */
static void add_variables(struct words *words, const char *const *environment, const char *prefix,
			  const char *const *names)
{
	for (; environment && *environment; environment++) {
		const char *equals = strchr(*environment, '=');
		const char *name = *environment + strlen(prefix);

		if (equals && begins_with(*environment, prefix) &&
		    is_one_of(name, (size_t)(equals - name), names))
			add(words, *environment);
	}
}

/* A launcher in an allocation of Slurm's starts its own daemons by srun. So does the one that
 * starts pdb's, in the same allocation, wherever pdb runs. Its step must not wait for the end of
 * the job's. */
static void add_allocation(struct words *words, const char *const *environment)
{
	add_variables(words, environment, "", slurm_variables);
	add(words, "SLURM_OVERLAP=1");
}

/* What all daemons are to have, whatever the job's environment is. One daemon on a node needs no
 * shared memory, which would leave files behind when it is killed; and the network that the ranks
 * compute with is theirs. */
static char **make_environment(const struct daemon_site *site, bool is_in_slurm)
{
	struct words words = {.words = NULL};

	if (site->table->launcher != LAUNCHER_PRRTE) {
		add_variables(&words, site->launcher_environment, "", hydra_variables);
		add_variables(&words, site->launcher_environment, MCA_PREFIX, parameters);
	}
	if (is_in_slurm && site->table->launcher != LAUNCHER_SRUN)
		add_allocation(&words, site->launcher_environment);
	add_owned(&words, xasprintf(PDBD_ENV_INVITATION "=%s", site->invitation));
	add(&words, "PDB_RECORD=0");
	add(&words, "LD_PRELOAD=");
	if (strcmp(site->mpi, "openmpi") == 0) {
		add(&words, "OMPI_MCA_pml=ob1");
		add(&words, "OMPI_MCA_btl=self,tcp");
		add(&words, "OMPI_MCA_osc=^ucx");
		add(&words, "OMPI_MCA_mpi_yield_when_idle=1");
		/* Open MPI 5 has the launcher say on the job's terminal that a daemon was lost. */
		add(&words, "OMPI_MCA_btl_base_warn_peer_error=0");
	} else {
		add(&words, "UCX_TLS=self,tcp"); /* MPICH from 4.2 on; before, it is TCP anyway */
	}
	return words.words;
}

static int plan_command(const struct daemon_site *site, struct daemon_plan *plan,
			const char *const *hosts, struct pdb_error *err)
{
	bool is_orte = site->table->launcher == LAUNCHER_ORTE;
	char *names = join_hosts(hosts, plan->num_hosts, is_orte ? ":1" : "");
	struct words argv = {.words = NULL};
	int result = 0;

	if (!names)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the names of %zu hosts do not fit a command line",
				 plan->num_hosts);
	switch (site->table->launcher) {
	case LAUNCHER_ORTE:
		plan_orte(site, names, plan->num_hosts, &argv);
		break;
	case LAUNCHER_HYDRA:
		plan_hydra(site, names, plan->num_hosts, &argv);
		break;
	case LAUNCHER_SRUN:
		result = plan_srun(site, names, plan->num_hosts, &argv, err);
		break;
	default:
		result = error_set(err, ERROR_UNSUPPORTED,
				   "pdb knows no way to start programs on the nodes of a job of "
				   "\"%s\"; only the ranks of its own node are looked at",
				   launcher_text(site->table->launcher));
	}
	free(names);
	if (result != 0) {
		free_words(argv.words);
		return -1;
	}
	add(&argv, plan->program);
	plan->argv = argv.words;
	return 0;
}

int daemon_plan_make(const struct daemon_site *site, struct daemon_plan *ret, struct pdb_error *err)
{
	struct daemon_plan plan = {.way = DAEMONS_NONE};
	const char **hosts = daemon_plan_hosts(site->table, site->hosts, &plan.num_hosts);
	bool is_here = !site->hosts || site->hosts->num == 0;
	int result = 0;

	for (size_t i = 0; i < site->table->num_procs; i++)
		is_here &= site->table->procs[i].is_local;
	plan.num_hosts = avoid(hosts, plan.num_hosts, site->avoided);
	if (!is_here) {
		plan.program = xasprintf("%s/" PROCTABLE_DAEMON "%s", site->pdbd_folder, site->mpi);
		plan.way =
			site->table->launcher == LAUNCHER_PRRTE ? DAEMONS_SPAWN : DAEMONS_COMMAND;
		plan.is_in_slurm =
			plan.way == DAEMONS_COMMAND && (site->table->launcher == LAUNCHER_SRUN ||
							find_variable(site, "SLURM_JOB_ID"));
		plan.environment = make_environment(site, plan.is_in_slurm);
		if (plan.way == DAEMONS_COMMAND)
			result = plan_command(site, &plan, hosts, err);
	}
	free(hosts);
	if (result != 0)
		daemon_plan_deinit(&plan);
	else
		*ret = plan;
	return result;
}

void daemon_plan_deinit(struct daemon_plan *plan)
{
	free(plan->program);
	free_words(plan->argv);
	free_words(plan->environment);
	*plan = (struct daemon_plan){.way = DAEMONS_NONE};
}
