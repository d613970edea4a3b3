/* SPDX-License-Identifier: BSD-3-Clause
 * Intel MPI's hydra. Unlike MPICH's, from which it was made, it always fills an MPIR table of all
 * hosts (seen with 2021.18). Its proxies have no --control-port. On other hosts a
 * hydra_bstrap_proxy starts them. */
#include "attach/launchers/hydra.h"
#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/words.h"
#include "attach/process/maps.h"
#include "attach/process/procfs.h"

/* A proxy of this host, or what starts one on another. */
static bool is_proxy(pid_t pid)
{
	size_t size;
	char *cmdline = procfs_read(pid, "cmdline", &size);
	bool is = false;

	if (!cmdline)
		return false;
	char **words = words_split(cmdline, size, true);
	if (words[0] && strcmp(maps_base(words[0]), HYDRA_PROXY) == 0)
		is = !words_value(words, "--control-port");
	for (char **word = words; *word && !is; word++)
		is = strcmp(maps_base(*word), HYDRA_FIRST_PROXY) == 0;
	free(words);
	free(cmdline);
	return is;
}

/* Without the table, as where it was stripped, it is as good as MPICH's. */
static bool is_one(const struct launcher_look *look)
{
	const struct launcher_info info = {.pid = look->pid};
	uint64_t address;

	return hydra_has_child(look, is_proxy) &&
	       launcher_find_variable(&info, look->maps, "MPIR_proctable", &address);
}

/* What mpiexec was told of how to reach the nodes, and over which network; its options are those of
 * MPICH's. */
static const char *const intel_variables[] = {
	"BOOTSTRAP", "BOOTSTRAP_AUTOFORK", "BOOTSTRAP_EXEC", "BOOTSTRAP_EXEC_EXTRA_ARGS", "IFACE",
	NULL,
};

const struct launcher_kind launcher_intel = {
	.name = "Intel MPI mpiexec (hydra)",
	.is_one = is_one,
	.has_mpir = true,
	.why = "it keeps a table of its ranks on all hosts",
	.rank_variables = (const char *const[]){"PMI_RANK", NULL},
	.size_variables = (const char *const[]){"PMI_SIZE", NULL},
	.mpi = "mpich",
	.plan = hydra_plan,
	.variable_prefix = "I_MPI_HYDRA_",
	.variables = intel_variables,
	.identity.prefixes = (const char *const[]){"PMI_", "HYDRA_BSTRAP_", "MPI_LOCAL", NULL},
	.preload = hydra_preload,
};
