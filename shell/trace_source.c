/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/trace_source.h"

#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/job/traces.h"
#include "shell/daemons.h"
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

/* Those of `ranks` (NULL: all) whose traces daemons may have. */
static struct rankset *find_missing(const struct job_model *jm, const struct rankset *ranks)
{
	struct rankset *missing = rankset_create();

	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];

		if (!lane->data->trace && !lane->data->trace_note &&
		    (!ranks || rankset_contains(ranks, lane->rank)))
			rankset_add(missing, lane->rank);
	}
	return missing;
}

static int fetch(struct session *session, const struct rankset *ranks, struct pdb_error *err)
{
	struct rankset *missing;
	int result = 0;

	if (!session->daemons || !session->job->model || session_has_ended(session))
		return 0;
	missing = find_missing(session->job->model, ranks);
	if (!rankset_is_empty(missing) && daemons_get_traces(session->daemons, missing, err) < 0)
		result = session_lose_daemons(session, err);
	rankset_destroy(missing);
	return result;
}

int trace_source_complete(struct session *session, struct pdb_error *err)
{
	return fetch(session, NULL, err);
}

struct traces *trace_source_get(struct session *session, const struct rankset *ranks,
				struct pdb_error *err)
{
	session->has_given_traces = true;
	return fetch(session, ranks, err) < 0 ? NULL : get(session->job, err);
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
