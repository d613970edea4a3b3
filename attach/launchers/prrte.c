/* SPDX-License-Identifier: BSD-3-Clause
 * PRRTE, the launcher of Open MPI 5. It has no MPIR table, but answers PMIx tools. If a connection
 * breaks before it has answered the handshake, it crashes: pmix/ never ends the process that asks
 * it, and only pdb's own waiting for that is bounded. */

#include "attach/launchers/launcher_kind.h"
#include "attach/process/maps.h"
#include "attach/process/procfs.h"

static bool is_one(const struct launcher_look *look)
{
	return maps_find_object(look->maps, "libprrte.so") && strcmp(look->base, "prted") != 0;
}

/* Open MPI's mpirun becomes PRRTE's prterun, and leaves it word of who it was. */
static bool is_open_mpi(pid_t pid, char *version, size_t size)
{
	size_t variables_size;
	char *variables = procfs_read(pid, "environ", &variables_size);
	const char *text =
		variables ? procfs_getenv(variables, variables_size, "OMPI_VERSION") : NULL;

	if (text)
		snprintf(version, size, "%.*s", (int)strspn(text, "0123456789.abcr"), text);
	free(variables);
	return text != NULL;
}

static void describe(const struct launcher_look *look, char *text, size_t size)
{
	char version[32];

	if (is_open_mpi(look->pid, version, sizeof(version))) {
		snprintf(text, size, "Open MPI %s mpirun", version);
		return;
	}
	launcher_kind_version(look, "libprrte.so", "prte_version_string", version, sizeof(version));
	snprintf(text, size, "PRRTE %s%s%.64s", version, version[0] ? " " : "", look->base);
}

const struct launcher_kind launcher_prrte = {
	.name = "Open MPI 5 mpirun (PRRTE)",
	.is_one = is_one,
	.describe = describe,
	.takes_pmix = true,
	.why = "PRRTE takes PMIx tool connections",
	.rank_variables = (const char *const[]){"PMIX_RANK", NULL},
	.job_variables = (const char *const[]){"PMIX_NAMESPACE", NULL},
	.job_prefix = "",
	.host_variable = "PMIX_HOSTNAME",
	.mpi = "openmpi",
	.identity = {.prefixes = (const char *const[]){"PMIX_", "PRTE_MCA_ess_", NULL},
		     .but = (const char *const[]){"PMIX_MCA_", NULL}}, /* the site's parameters */
	.programs = (const char *const[]){"prterun", "prte", "prun", NULL},
	.library = "libprrte.",
	.preload = openmpi_preload,
};
