/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/model.h"
#include "model/job/names.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

/* Functions with a shorter word: "MPI_Comm_split" is "split". */
static const char *origin_word(const char *function)
{
	static const struct {
		const char *function, *word;
	} words[] = {
		{"MPI_Cart_create", "Cartesian grid"},
		{"MPI_Cart_sub", "subgrid"},
		{"MPI_Graph_create", "graph"},
		{"MPI_Dist_graph_create", "graph"},
		{"MPI_Dist_graph_create_adjacent", "graph"},
		{"MPI_Comm_create", "part"},
		{"MPI_Comm_create_group", "part"},
		{"MPI_Intercomm_create", "bridge"},
		{"MPI_Intercomm_merge", "merge"},
		{"MPI_Win_create", "window"},
		{"MPI_Win_allocate", "window"},
		{"MPI_Win_allocate_shared", "shared window"},
		{"MPI_Win_create_dynamic", "dynamic window"},
		{"MPI_File_open", "file"},
	};
	static const char prefix[] = "MPI_Comm_";

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].function, function))
			return words[i].word;
	return strncmp(function, prefix, strlen(prefix)) ? function : function + strlen(prefix);
}

const char *label_comm_kind(const struct view *view, uint32_t comm)
{
	static const char *const kinds[] = {
		[SEG_COMM_INTRA] = "communicator",
		[SEG_COMM_INTER] = "intercommunicator",
		[SEG_COMM_WINDOW] = "window",
		[SEG_COMM_FILE] = "file",
	};

	return kinds[view->comms->comms[comm].kind];
}

/* "solver.c:141", or the function where there is no line. */
static const char *site_text(const struct view *view, uint32_t path)
{
	uint32_t user = names_user_frame(view->job->names, path);
	const struct name *name = names_get(view->job->names, user == CALLPATH_NONE ? path : user);

	if (name->file && name->line > 0)
		return text_of(view, "%s:%d", name->file, name->line);
	return label_user_place(view, path, LABEL_SHORT);
}

/* Would they read the same but for their numbers? */
static bool is_namesake(const struct job_comm *a, const struct job_comm *b)
{
	if (a->name || b->name)
		return a->name && b->name && !strcmp(a->name, b->name);
	if (!a->made_by || !b->made_by)
		return a->made_by == b->made_by && a->kind == b->kind && a->parent == b->parent;
	return a->kind == b->kind && a->parent == b->parent && a->path == b->path &&
	       !strcmp(a->made_by, b->made_by);
}

static int first_member(const struct job_comm *comm)
{
	for (size_t i = 0; i < comm->sizes[0]; i++)
		if (comm->groups[0][i] >= 0)
			return comm->groups[0][i];
	return -1;
}

/* Is `a` counted before `b`? */
static bool is_before(const struct job_comm *a, const struct job_comm *b)
{
	if (a->parent != b->parent)
		return a < b;
	if (a->ordinal != b->ordinal)
		return a->ordinal < b->ordinal;
	if (first_member(a) != first_member(b))
		return first_member(a) < first_member(b);
	return a < b;
}

/* " (2nd of 4)", or nothing for the only one of its name. */
static const char *number_text(const struct view *view, const struct job_comm *comm)
{
	static const char *const endings[] = {"th", "st", "nd", "rd"};
	size_t before = 0, all = 0, place;

	for (size_t i = 0; i < view->comms->num_comms; i++) {
		const struct job_comm *other = &view->comms->comms[i];

		if (!is_namesake(comm, other))
			continue;
		all++;
		before += other != comm && is_before(other, comm);
	}
	if (all < 2)
		return "";
	place = before + 1;
	return text_of(view, " (%zu%s of %zu)", place,
		       place % 10 < 4 && place / 10 % 10 != 1 ? endings[place % 10] : "th", all);
}

static const char *origin_text(const struct view *view, const struct job_comm *comm,
			       enum label_detail detail)
{
	const char *of = "", *at = "";

	if (!comm->made_by)
		return text_of(view, "unnamed %s",
			       label_comm_kind(view, (uint32_t)(comm - view->comms->comms)));
	/* Name a parent by its name or number: its origin would be too long. */
	if (detail == LABEL_FULL && comm->parent != SEG_NO_COMM) {
		const struct job_comm *parent = &view->comms->comms[comm->parent];

		of = parent->name
			     ? text_of(view, " of %s%s", parent->name, number_text(view, parent))
			     : text_of(view, " of number %u", comm->parent + 1);
	}
	if (comm->path != CALLPATH_NONE)
		at = text_of(view, " at %s", site_text(view, comm->path));
	return text_of(view, "%s%s%s", origin_word(comm->made_by), of, at);
}

const char *label_comm(const struct view *view, uint32_t comm, enum label_detail detail)
{
	const struct job_comm *of;

	if (comm == SEG_NO_COMM)
		return "unknown communicator";
	of = &view->comms->comms[comm];
	return text_of(view, "%s%s", of->name ? of->name : origin_text(view, of, detail),
		       number_text(view, of));
}

const char *label_comm_local(const struct view *view, const struct model *model, uint32_t local,
			     enum label_detail detail)
{
	uint32_t comm = SEG_NO_COMM;

	if (local != SEG_NO_COMM)
		comm = job_comms_find(view->comms, model, local);
	if (comm == SEG_NO_COMM && local < model->num_comms && model_comm(model, local)->name)
		return model_comm(model, local)->name;
	if (comm == SEG_NO_COMM && local == 1)
		return "MPI_COMM_SELF";
	return label_comm(view, comm, detail);
}
