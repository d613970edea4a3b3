/* SPDX-License-Identifier: BSD-3-Clause
 * Places in the source, by call paths and names. */
#include "analysis/stacks/calltree.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

/* The last component of the module's path; NULL: the code is in no module. */
static const char *module_name(const struct job *job, uint32_t node)
{
	uint32_t module =
		node == CALLPATH_NONE ? MODULE_NONE : callpaths_get(job->callpaths, node)->module;

	return module == MODULE_NONE ? NULL : basename(modules_get(job->modules, module)->path);
}

const char *label_called(const struct view *view, const struct name *name, enum label_detail detail)
{
	if (!name->is_symbol)
		return name->function;
	if (detail == LABEL_FULL)
		return text_of(view, "%s%s", name->function,
			       strchr(name->function, '(') ? "" : "()");
	return text_of(view, "%s()", label_function(view->arena, name->function));
}

const char *label_name(const struct view *view, uint32_t node, const struct name *name,
		       enum label_detail detail)
{
	const char *module = module_name(view->job, node);
	const char *function = label_called(view, name, detail);

	if (name->file && name->line > 0)
		return text_of(view, "%s %s%s:%d", function, detail == LABEL_FULL ? "at " : "",
			       name->file, name->line);
	if (detail == LABEL_FULL && name->is_symbol && module)
		return text_of(view, "%s in %s", function, module);
	return function;
}

const char *label_place(const struct view *view, uint32_t node, enum label_detail detail)
{
	return label_name(view, node, names_get(view->job->names, node), detail);
}

const char *label_frame(const struct view *view, const struct calltree *tree, uint32_t node)
{
	uint32_t path = tree->nodes[node].path;
	const struct name *name = calltree_name(tree, node);

	if (tree->frames == CALLTREE_LINE)
		return label_name(view, path, name, LABEL_SHORT);
	if (tree->frames == CALLTREE_ADDRESS)
		return text_of(view, "%s 0x%" PRIx64, label_name(view, path, name, LABEL_SHORT),
			       callpaths_get(view->job->callpaths, path)->offset);
	return text_of(view, "%s%s%s", label_called(view, name, LABEL_SHORT), name->file ? " " : "",
		       name->file ? name->file : "");
}

const char *label_mpi_call(const struct view *view, uint32_t path)
{
	const struct job *job = view->job;
	uint32_t found = CALLPATH_NONE;

	for (; path != CALLPATH_NONE && !names_is_signal(job->names, path);
	     path = callpaths_get(job->callpaths, path)->parent)
		if (names_is_mpi(job->names, path))
			found = path;
	return found == CALLPATH_NONE ? NULL : names_function(job->names, found)->function;
}

const char *label_stack(const struct view *view, uint32_t path)
{
	const char *call = label_mpi_call(view, path);
	const char *place = label_user_place(view, path, LABEL_FULL);

	return call ? text_of(view, "%s, %s", call, place) : place;
}

/* ", handling signal 14 that interrupted step() at solver.c:141", if a signal's frame is outside of
 * the user's frame; else "". */
static const char *handling_text(const struct view *view, uint32_t user)
{
	const struct job *job = view->job;
	const struct callpath_node *signal;
	const char *number = "a signal";

	while (user != CALLPATH_NONE && !names_is_signal(job->names, user))
		user = callpaths_get(job->callpaths, user)->parent;
	if (user == CALLPATH_NONE)
		return "";
	signal = callpaths_get(job->callpaths, user);
	if (signal->offset)
		number = text_of(view, "signal %" PRIu64, signal->offset);
	if (signal->parent == CALLPATH_NONE)
		return text_of(view, ", handling %s", number);
	return text_of(view, ", handling %s that interrupted %s", number,
		       label_stack(view, signal->parent));
}

const char *label_behind(const struct view *view, uint32_t path, uint32_t user)
{
	const struct name *name = names_behind(view->job->names, path);
	const char *handling = handling_text(view, user);

	return name ? text_of(view, " (%s)%s", label_name(view, path, name, LABEL_FULL), handling)
		    : handling;
}

const char *label_user_place(const struct view *view, uint32_t path, enum label_detail detail)
{
	uint32_t user = names_user_frame(view->job->names, path);

	if (user == CALLPATH_NONE)
		return label_place(view, path, detail);
	return text_of(view, "%s%s", label_place(view, user, detail),
		       detail == LABEL_FULL ? label_behind(view, path, user) : "");
}
