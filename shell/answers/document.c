/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/proctable.h"
#include "render/text/json.h"
#include "shell/answers/document.h"
#include "shell/pdb.h"
#include "shell/session.h"

void document_write_version(struct json *json)
{
	json_object(json, "pdb");
	json_int(json, "schema", DOCUMENT_SCHEMA);
	json_text(json, "version", PDB_VERSION);
	json_end_object(json);
}

void document_write_time(struct json *json, const char *name, time_t seconds)
{
	char when[64] = "";
	struct tm parts;

	if (gmtime_r(&seconds, &parts))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &parts);
	json_text(json, name, seconds ? when : NULL);
}

static const char *state_text(struct session *session)
{
	if (session->snapshot)
		return "snapshot";
	if (session->has_cores)
		return "cores";
	return session_has_ended(session) ? "ended" : "live";
}

static void write_job(struct json *json, struct session *session)
{
	const struct job *job = session->job;
	const struct proctable *table = job->proctable;

	json_object(json, "job");
	json_text(json, "name", table->job ? table->job : "");
	json_int(json, "size", table->size);
	json_ranks(json, "recorded", job->model ? job->model->ranks : NULL);
	json_text(json, "state", state_text(session));
	document_write_time(json, "taken", (time_t)(job->taken_real_ns / 1000000000));
	json_end_object(json);
}

static const char *code_text(enum error_code code)
{
	static const char *const texts[] = {
		[ERROR_NONE] = "none",
		[ERROR_SYSTEM] = "system",
		[ERROR_NOT_FOUND] = "not found",
		[ERROR_PERMISSION] = "permission",
		[ERROR_GONE] = "gone",
		[ERROR_FORMAT] = "format",
		[ERROR_VERSION] = "version",
		[ERROR_USAGE] = "usage",
		[ERROR_TIMEOUT] = "timeout",
		[ERROR_UNSUPPORTED] = "unsupported",
		[ERROR_INTERRUPTED] = "interrupted",
	};

	return texts[code];
}

void document_write(struct session *session, FILE *out, const char *command, const char *line,
		    const char *result, const struct pdb_error *err)
{
	struct json json = {.out = out};

	json_object(&json, NULL);
	document_write_version(&json);
	json_text(&json, "command", command);
	json_text(&json, "line", line);
	if (session->job)
		write_job(&json, session);
	if (result) {
		json_raw(&json, "result", result);
	} else {
		json_object(&json, "error");
		json_text(&json, "kind", code_text(err->code));
		json_text(&json, "text", err->text);
		json_end_object(&json);
	}
	json_end_object(&json);
	fputc('\n', out);
}
