/* SPDX-License-Identifier: BSD-3-Clause
 * ORTE, the launcher of Open MPI 4. A PMIx tool connection kills it and the job: its server answers
 * "not supported" and then follows a null pointer. Its MPIR table is always filled. */
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/launchers/daemon_plan.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/words.h"
#include "attach/process/maps.h"

/* ---- What it is ---- */

/* Ranks map the library, too, but with libmpi beside it. */
static bool is_one(const struct launcher_look *look)
{
	return maps_find_object(look->maps, "libopen-rte.so") && strcmp(look->base, "orted") != 0;
}

static void describe(const struct launcher_look *look, char *text, size_t size)
{
	char version[32];

	launcher_kind_version(look, "libopen-rte.so", "orte_version_string", version,
			      sizeof(version));
	snprintf(text, size, "Open MPI %s mpirun", version[0] ? version : "4");
}

/* ---- Daemons ---- */

/* What mpirun was told of how to reach the nodes, and over which networks: parameters, on its
 * command line or as variables with a prefix before the name. */
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

static void add_mca_parameters(struct words *words, const char *const *argv)
{
	for (; argv && argv[0] && argv[1] && argv[2]; argv++)
		if ((strcmp(argv[0], "--mca") == 0 || strcmp(argv[0], "-mca") == 0) &&
		    words_are_one(argv[1], strlen(argv[1]), parameters))
			words_add_all(words,
				      (const char *const[]){"--mca", argv[1], argv[2], NULL});
}

static int plan(const struct daemon_site *site, const char *hosts, size_t num, struct words *argv,
		struct pdb_error *err)
{
	static const char variables[] = PDBD_ENV_INVITATION ";PDB_RECORD";

	(void)err;
	words_add(argv, site->launcher_path);
	words_add_all(argv, (const char *const[]){"--host", hosts, "-n", NULL});
	words_add_owned(argv, xasprintf("%zu", num));
	/* No binding: the cores are the ranks'. The variables' values are not on the command line.
	 * -x is refused where the parameter is set, as by "pdb env"; this overrides it. */
	words_add_all(argv, (const char *const[]){"--map-by", "ppr:1:node", "--oversubscribe",
						  "--bind-to", "none", "--mca", "mca_base_env_list",
						  variables, NULL});
	add_mca_parameters(argv, site->launcher_argv);
	return 0;
}

void openmpi_preload(struct words *argv, const char *value, const char *const *others)
{
	words_add(argv, "-x");
	words_add_owned(argv, xasprintf("LD_PRELOAD=%s", value));
	for (; *others; others++)
		if (getenv(*others))
			words_add_all(argv, (const char *const[]){"-x", *others, NULL});
}

/* ---- What it leaves ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status, (void)kind, (void)where;
	remove(path);
	return 0;
}

static void remove_session_below(const char *parent, pid_t pid)
{
	char session[4096 + 32];
	struct stat status;

	/* Nobody else may have put it there. */
	if (lstat(parent, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid())
		return;
	snprintf(session, sizeof(session), "%s/pid.%d", parent, pid);
	nftw(session, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	rmdir(parent);
}

/* An mpirun removes its directory, ompi.HOST.USER/pid.PID, unless it was made to end. */
static void remove_session(pid_t pid)
{
	const char *temporary = getenv("TMPDIR");
	char host[256] = "", parent[4096];

	if (!temporary || !*temporary)
		temporary = "/tmp";
	if (gethostname(host, sizeof(host) - 1) != 0)
		return;
	/* It leaves out the domain, if it was not told to keep it. */
	for (int i = 0; i < 2; i++, host[strcspn(host, ".")] = '\0') {
		snprintf(parent, sizeof(parent), "%s/ompi.%s.%u", temporary, host, geteuid());
		remove_session_below(parent, pid);
	}
}

const struct launcher_kind launcher_openmpi4 = {
	.name = "Open MPI 4 mpirun (ORTE)",
	.is_one = is_one,
	.describe = describe,
	.has_mpir = true,
	.why = "a PMIx tool connection would crash an Open MPI 4 mpirun",
	.rank_variables = (const char *const[]){"OMPI_COMM_WORLD_RANK", NULL},
	.size_variables = (const char *const[]){"OMPI_COMM_WORLD_SIZE", NULL},
	.mpi = "openmpi",
	.plan = plan,
	.host_suffix = ":1",
	.variable_prefix = "OMPI_MCA_",
	.variables = parameters,
	.identity.prefixes = (const char *const[]){"OMPI_COMM_WORLD_", "OMPI_UNIVERSE_",
						   "OMPI_MCA_ess_", "OMPI_MCA_orte_", NULL},
	.clean_up = remove_session,
	.programs = (const char *const[]){"openmpi", "orterun", NULL},
	.library = "libopen-rte.",
	.preload = openmpi_preload,
};
