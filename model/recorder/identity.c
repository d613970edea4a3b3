/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/recorder/writer.h"

/* First of the variables that holds a number from 0 up, else `otherwise`. The job step's own
 * launcher comes before the batch system around it. */
static int number_of(const char *const *names, int otherwise)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		char *end;
		if (!text || *text < '0' || *text > '9')
			continue;
		long n = strtol(text, &end, 10);
		if (*end == '\0' && n >= 0 && n <= INT_MAX)
			return n;
	}
	return otherwise;
}

static void name_job(char *job, size_t size)
{
	static const char *const names[] = {"PMIX_NAMESPACE", "PMI_JOBID", "PALS_APID",
					    "MPIEXEC_JOBID", NULL};
	const char *slurm_job = getenv("SLURM_JOB_ID"), *slurm_step = getenv("SLURM_STEP_ID");

	for (const char *const *name = names; *name; name++) {
		const char *text = getenv(*name);
		if (text && *text) {
			snprintf(job, size, "%s", text);
			return;
		}
	}
	if (slurm_job && slurm_step)
		snprintf(job, size, "slurm-%s-%s", slurm_job, slurm_step);
	else
		snprintf(job, size, "job");
}

/* "PID@HOST" of this host; 0: nobody here. */
static int find_keeper(const char *text)
{
	char host[64] = "", *end;

	if (!text)
		return 0;
	long pid = strtol(text, &end, 10);
	gethostname(host, sizeof(host) - 1);
	return *end == '@' && strcmp(end + 1, host) == 0 && pid > 0 && pid <= INT_MAX ? (int)pid
										      : 0;
}

bool identity_is_first_here(void)
{
	static const char *const names[] = {
		"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
		"PALS_LOCAL_RANKID",          "SLURM_LOCALID",   NULL};

	return number_of(names, 0) == 0;
}

void identity_from_environment(struct writer_identity *ret)
{
	static const char *const ranks[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK", "MV2_COMM_WORLD_RANK",
		"PALS_RANKID",          "SLURM_PROCID", NULL};
	static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					    "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS", NULL};

	ret->rank = number_of(ranks, -1);
	ret->size = number_of(sizes, 0);
	ret->keeper = find_keeper(getenv(PDB_ENV_KEEPER));
	name_job(ret->job, sizeof(ret->job));
}
