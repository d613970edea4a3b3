/* SPDX-License-Identifier: BSD-3-Clause
 * Slurm's srun. Its ranks are children of slurmstepd, on its own node, too. It has an MPIR table,
 * which is always filled, in the parent of two processes, and beside it the numbers of its job and
 * step, as TotalView wants them:
 *     char *totalview_jobid, *totalview_stepid; */

#include "attach/launchers/daemon_plan.h"
#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/words.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"

static bool is_one(const struct launcher_look *look)
{
	return strcmp(look->base, "srun") == 0 && maps_find_object(look->maps, "libslurm");
}

/* ---- The step ---- */

/* The text that a variable of type char * points to, if that is a number; else "". */
static void read_number(const struct launcher_info *launcher, const struct maps *maps,
			const char *name, char *buffer, size_t size)
{
	uint64_t variable, address;

	if (!launcher_find_variable(launcher, maps, name, &variable) ||
	    memory_read_all(launcher->pid, variable, &address, sizeof(address)) ||
	    memory_read_string(launcher->pid, address, buffer, size) < 0 ||
	    buffer[strspn(buffer, "0123456789")])
		buffer[0] = '\0';
}

/* Its environment need not have them: an srun that is no part of an allocation gets its own. */
static void read_step(const struct launcher_info *launcher, struct launcher_step *ret)
{
	struct maps *maps = maps_read(launcher->pid);

	if (!maps)
		return;
	read_number(launcher, maps, "totalview_jobid", ret->job, sizeof(ret->job));
	read_number(launcher, maps, "totalview_stepid", ret->step, sizeof(ret->step));
	maps_destroy(maps);
}

/* ---- Daemons ---- */

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

/* A step of the job's that takes nothing of what the job has. When one of the daemons is killed all
 * end, as mpirun has it, and pdb can have them started again. */
static int plan(const struct daemon_site *site, const char *hosts, size_t num, struct words *argv,
		struct pdb_error *err)
{
	const char *const *variables = site->launcher_environment;
	const char *mpi = words_variable(variables, "SLURM_MPI_TYPE"), *job = site->slurm_job;

	if (!job || !*job)
		job = words_variable(variables, "SLURM_JOB_ID");
	if (!job)
		return error_set(err, ERROR_NOT_FOUND,
				 "the number of the Slurm job is not known, so no daemons can be "
				 "started in it");
	words_add(argv, site->launcher_path);
	words_add_all(argv,
		      (const char *const[]){"--overlap", "--jobid", job, "--nodelist", hosts,
					    "--ntasks-per-node=1", "--mem=0", "--quiet",
					    "--input=none", "--export=ALL", "--cpu-bind=none",
					    "--kill-on-bad-exit=1", "--wait=2", "--nodes", NULL});
	words_add_owned(argv, xasprintf("%zu", num));
	words_add(argv, "--ntasks");
	words_add_owned(argv, xasprintf("%zu", num));
	if (mpi)
		words_add_owned(argv, xasprintf("--mpi=%s", mpi));
	/* Which MPI it speaks: the last one counts, as srun's options do before the variable. */
	words_add_options(argv, site->launcher_argv, (const char *const[]){"--mpi", NULL});
	return 0;
}

/* A launcher in an allocation starts its own daemons by srun. So does the one that starts pdb's, in
 * the same allocation, wherever pdb runs. Its step must not wait for the end of the job's.
 * What a batch script or a shell of salloc has, and users set for their own steps, srun takes for
 * options, and mpirun for the nodes that it may use. How to reach Slurm is something else. */
static const struct launcher_allocation allocation = {
	.mark = "SLURM_JOB_ID",
	.variables = slurm_variables,
	.added = "SLURM_OVERLAP=1",
	.own = {.prefixes = (const char *const[]){"SLURM_", "SRUN_", NULL},
		.but = (const char *const[]){"SLURM_CONF=", "SLURM_JWT=", "SLURM_CLUSTERS=", NULL}},
};

const struct launcher_kind launcher_slurm = {
	.name = "Slurm srun",
	.is_one = is_one,
	.forks = true,
	.apart = "srun",
	.has_mpir = true,
	.why = "srun takes no PMIx tools and keeps an MPIR table",
	.read_step = read_step,
	/* A batch script has them, too, and hands them to every mpirun in there. */
	.is_rank_doubtful = true,
	.rank_variables = (const char *const[]){"SLURM_PROCID", NULL},
	.size_variables = (const char *const[]){"SLURM_NTASKS", NULL},
	.job_variables = (const char *const[]){"SLURM_JOB_ID", "SLURM_STEP_ID", NULL},
	.job_prefix = "slurm-",
	.host_variable = "SLURMD_NODENAME",
	.plan = plan,
	.allocation = &allocation,
};
