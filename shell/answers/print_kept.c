/* SPDX-License-Identifier: BSD-3-Clause
 * What print and locals share: variables that a snapshot keeps, and why others are not known. */
#include "attach/process/maps.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/sample.h"
#include "model/job/variables.h"
#include "shell/answers/print_values.h"
#include "shell/session.h"

enum { MAX_KEPT = 64 }; /* of a sample, of Python: frames from the innermost on */

bool print_is_kept(const struct session *session)
{
	return session->snapshot != NULL;
}

int print_check(struct session *session, struct pdb_error *err)
{
	const struct samples *samples = session->job->samples;

	if (!print_is_kept(session))
		return session_check_memory(session, err);
	for (size_t i = 0; samples && i < samples->num_samples; i++)
		if (samples->samples[i].variables)
			return 0;
	return error_set(err, ERROR_UNSUPPORTED,
			 "this snapshot holds no variables: it was saved without the job's "
			 "processes, by an older pdb, or the program has no debug information.\n"
			 "\"order\" shows the loop variables that it holds.");
}

/* Do two stacks have the same frame at that depth? */
static bool is_same_frame(const struct callpaths *paths, uint32_t depth, uint32_t a, uint32_t b)
{
	return a != CALLPATH_NONE && b != CALLPATH_NONE &&
	       depth <= callpaths_get(paths, a)->depth && depth <= callpaths_get(paths, b)->depth &&
	       callpaths_at_depth(paths, a, depth) == callpaths_at_depth(paths, b, depth);
}

void print_keep_sample(struct job *job, const struct sample *sample)
{
	const struct variables *variables = sample->variables;
	struct sample *kept = (struct sample *)samples_find(job->samples, sample->rank, 0);

	for (size_t i = 0; kept && variables && i < variables->num; i++) {
		const struct variable *variable = &variables->list[i];
		struct variable copy = *variable;
		char text[PRINT_KEPT_TEXT + 4];

		if (!is_same_frame(job->callpaths, variable->depth, kept->path, sample->path))
			continue;
		if (!kept->variables)
			kept->variables = variables_create();
		snprintf(text, sizeof(text), "%.*s%s", PRINT_KEPT_TEXT, variable->text,
			 strlen(variable->text) > PRINT_KEPT_TEXT ? "..." : "");
		copy.text = text;
		if (kept->variables->num < MAX_KEPT)
			variables_add(kept->variables, &copy);
	}
}

struct values_frame print_frame(const struct callpath_node *node)
{
	struct values_frame frame;

	memset(&frame, 0, sizeof(frame));
	frame.module = node->module;
	frame.offset = node->offset;
	frame.is_return = node->is_return;
	return frame;
}

const char *print_no_sample(const struct job *job, int rank)
{
	const char *hole = job_find_hole(job, rank);

	/* That is no reason for having no stack. */
	return hole && strcmp(hole, "no recorder") != 0 ? hole : "no stack";
}

const char *print_unknown_python(struct arena *arena, const struct job *job, uint32_t path)
{
	for (uint32_t id = path; id != CALLPATH_NONE;) {
		const struct callpath_node *node = callpaths_get(job->callpaths, id);
		const char *name = "";

		id = node->parent;
		if (node->module != MODULE_NONE)
			name = maps_base(modules_get(job->modules, node->module)->path);
		if (!strncmp(name, "python", 6) || !strncmp(name, "libpython", 9))
			return arena_printf(
				arena, "pdb knows CPython 3.11 and 3.13, not what %s holds", name);
	}
	return NULL;
}

const char *print_no_information(struct arena *arena, const struct job *job, uint32_t path)
{
	return print_unknown_python(arena, job, path)
		       ?: "pdb has no debug information of what it runs: compile with -g";
}
