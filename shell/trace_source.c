/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/trace_source.h"

#include "model/error.h"
#include "model/job.h"
#include "model/traces.h"
#include "shell/session.h"

static struct traces *get(const struct job *job, struct pdb_error *err)
{
	struct traces *traces = traces_create(job);

	if (traces->num_lanes > 0)
		return traces;
	traces_destroy(traces);
	error_set(err, ERROR_NOT_FOUND,
		  "no rank has a trace: traces are recorded where the job was started with "
		  "\"pdb run --trace\" or PDB_TRACE");
	return NULL;
}

struct traces *trace_source_get(struct session *session, const struct rankset *ranks,
				struct pdb_error *err)
{
	(void)ranks;
	return get(session->job, err);
}

struct traces *trace_source_load(const char *path, struct job **job_ret, struct pdb_error *err)
{
	struct traces *traces;
	struct job *job;

	if (snapshot_load(path, &job, err) < 0)
		return NULL;
	traces = get(job, err);
	if (traces) {
		*job_ret = job;
		return traces;
	}
	error_prefix(err, "%s", path);
	job_destroy(job);
	return NULL;
}
