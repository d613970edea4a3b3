/* SPDX-License-Identifier: BSD-3-Clause
 * States, groups and loops. */
#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/sample.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

/* "polling MPI_Test, wait() at halo.c:12" */
static const char *at_site(const struct view *view, const char *doing, const struct job_site *site,
			   enum label_detail detail)
{
	return text_of(view, "%s %s, %s", doing, site->name,
		       label_user_place(view, site->path, detail));
}

const char *label_state(const struct view *view, uint32_t state, enum label_detail detail)
{
	if (SEG_STATE_SITE(state) == 0)
		return "before its first MPI call";
	return at_site(view, SEG_STATE_IS_EXIT(state) ? "computing after" : "in",
		       &view->job->model->sites[SEG_STATE_SITE(state)], detail);
}

/* Does the path go through the MPI library? Then the thread was not computing. */
static bool is_inside_mpi(const struct job *job, uint32_t path)
{
	while (path != CALLPATH_NONE && !names_is_signal(job->names, path)) {
		const struct callpath_node *frame = callpaths_get(job->callpaths, path);

		if (frame->module != MODULE_NONE &&
		    modules_get(job->modules, frame->module)->kind == MODULE_MPI)
			return true;
		path = frame->parent;
	}
	return false;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The places of the threads of a computing group, by their samples. */
struct computing_place {
	/* CALLPATH_NONE: no samples, or in different functions */
	uint32_t frame;
	bool is_same_line;
	char state;             /* of all (struct sample), 0 if they differ */
	uint32_t innermost;     /* frame of one of them */
	bool is_same_innermost; /* function of all */
	const char *function;   /* of one of them that waits for threads, or NULL */
	const char *behind;     /* label_behind() of all, "" if they differ */
};

static struct computing_place find_computing_place(const struct view *view,
						   const struct eqgroup *group)
{
	const struct job *job = view->job;
	struct computing_place ret = {
		.frame = CALLPATH_NONE, .is_same_line = true, .is_same_innermost = true};

	for (size_t i = 0; i < group->num_actors; i++) {
		const struct job_lane *lane = &job->model->lanes[group->actors[i]];
		const struct sample *sample = samples_find(
			job->samples, lane->rank, lane->data->is_main ? 0 : lane->data->tid);
		const struct name *name, *first;
		uint32_t frame;

		if (!sample || sample->status == SAMPLE_FAILED || sample->path == CALLPATH_NONE ||
		    is_inside_mpi(job, sample->path))
			continue;
		frame = names_user_frame(job->names, sample->path);
		if (frame == CALLPATH_NONE)
			frame = sample->path;
		if (ret.frame == CALLPATH_NONE) {
			ret.frame = frame;
			ret.innermost = sample->path;
			ret.function = label_thread_function(view, sample);
			ret.state = sample->state;
			ret.behind = label_behind(view, sample->path, frame);
			continue;
		}
		name = names_get(job->names, frame);
		first = names_get(job->names, ret.frame);
		if (!is_same_text(name->function, first->function)) {
			ret.frame = CALLPATH_NONE;
			break;
		}
		if (name->line != first->line || !is_same_text(name->file, first->file))
			ret.is_same_line = false;
		if (!is_same_text(names_get(job->names, sample->path)->function,
				  names_get(job->names, ret.innermost)->function))
			ret.is_same_innermost = false;
		if (sample->state != ret.state)
			ret.state = 0;
		if (strcmp(label_behind(view, sample->path, frame), ret.behind) != 0)
			ret.behind = "";
	}
	return ret;
}

/* "asleep in read()"; "computing" if nothing else is known. */
static const char *computing_doing(const struct view *view, const struct computing_place *place)
{
	const struct name *innermost = names_get(view->job->names, place->innermost);

	if (place->state == 'T')
		return "stopped";
	if (place->state != 'S' && place->state != 'D')
		return "computing";
	if (place->function && place->is_same_innermost)
		return text_of(view, "asleep in %s()", place->function);
	if (place->innermost == place->frame || !place->is_same_innermost || !innermost->is_symbol)
		return "asleep";
	return text_of(view, "asleep in %s", label_called(view, innermost, LABEL_SHORT));
}

static const char *computing_text(const struct view *view, const struct eqgroup *group,
				  enum label_detail detail)
{
	struct computing_place found = find_computing_place(view, group);
	const char *place, *doing;

	if (found.frame == CALLPATH_NONE)
		return label_state(view, group->state, detail);
	if (found.is_same_line)
		place = label_place(view, found.frame, detail);
	else
		place = label_called(view, names_get(view->job->names, found.frame), detail);
	doing = computing_doing(view, &found);
	if (detail != LABEL_FULL)
		return text_of(view, "%s, %s", doing, place);
	if (strcmp(doing, "computing") == 0)
		return text_of(view, "outside MPI, in %s%s", place, found.behind);
	return text_of(view, "outside MPI, %s, in %s%s", doing, place, found.behind);
}

static bool is_ended_inside(const struct job_lane *lane, const struct eqgroup *group)
{
	return lane->data->has_ended && !SEG_STATE_IS_EXIT(group->state);
}

const char *label_where(const struct view *view, const struct eqgroup *group,
			enum label_detail detail)
{
	const struct job_lane *lane = &view->job->model->lanes[group->actors[0]];
	const struct job_site *sites = view->job->model->sites;
	uint32_t site = SEG_STATE_SITE(group->state), polled = lane->data->poll_site;

	if (group->activity == ACTIVITY_COMPUTING)
		return computing_text(view, group, detail);
	if (group->activity == ACTIVITY_POLLING && polled)
		return at_site(view, "polling", &sites[lane->site_map[polled]], detail);
	/* After its last MPI call, usually MPI_Finalize; or in it, as by a signal. */
	if (group->activity == ACTIVITY_ENDED)
		return site ? at_site(view,
				      is_ended_inside(lane, group) ? "ended in" : "ended after",
				      &sites[site], detail)
			    : "ended without an MPI call";
	return label_state(view, group->state, detail);
}

const char *label_doing(const struct view *view, const struct eqgroup *group)
{
	const char *function = view->job->model->sites[SEG_STATE_SITE(group->state)].name;
	uint32_t frame;

	if (group->activity == ACTIVITY_IN_MPI)
		return function;
	if (group->activity == ACTIVITY_POLLING || group->activity == ACTIVITY_ENDED) {
		const char *where = label_where(view, group, LABEL_SHORT);

		return arena_strndup(view->arena, where, strcspn(where, ","));
	}
	frame = find_computing_place(view, group).frame;
	if (frame != CALLPATH_NONE)
		return label_called(view, names_get(view->job->names, frame), LABEL_SHORT);
	if (SEG_STATE_SITE(group->state) == 0)
		return "before first MPI call";
	return text_of(view, "after %s", function);
}

/* The frame whose function contains the loop. All states of the loop share loop->path. In the next
 * inner frame their paths part: it is one function, at different calls. The header's frame stands
 * for the loop. */
static uint32_t loop_frame(const struct job *job, const struct job_loop *loop)
{
	uint32_t path = job->model->sites[SEG_STATE_SITE(loop->header)].path;
	uint32_t depth = 0;

	if (path == CALLPATH_NONE)
		return CALLPATH_NONE;
	if (loop->path != CALLPATH_NONE)
		depth = callpaths_get(job->callpaths, loop->path)->depth + 1;
	return callpaths_at_depth(job->callpaths, path, depth);
}

/* How many levels of inlined functions two calls share, within the function of their frame. */
static size_t common_level(const struct job *job, uint32_t a, uint32_t b, size_t max)
{
	size_t level = 0;

	for (; level < max && level < name_level(names_innermost(job->names, b)); level++) {
		const struct name *x = names_at(job->names, a, level);
		const struct name *y = names_at(job->names, b, level);

		if (x->line != y->line || !is_same_text(x->file, y->file) ||
		    strcmp(names_at(job->names, a, level + 1)->function,
			   names_at(job->names, b, level + 1)->function) != 0)
			break;
	}
	return level;
}

bool label_is_in_loop(const struct progress *progress, uint32_t loop, uint32_t state)
{
	uint32_t at = progress->loop_of[state];

	while (at != LOOP_NONE && at != loop)
		at = progress->loops[at].parent;
	return at == loop;
}

/* The innermost inlined function, at the header, that contains all calls of the loop. The others
 * are only looked up if the header's frame has inlined functions. */
static const struct name *loop_name(const struct view *view, uint32_t loop)
{
	const struct job *job = view->job;
	const struct progress *progress = view->progress;
	uint32_t frame = loop_frame(job, &progress->loops[loop]);
	size_t level = name_level(names_innermost(job->names, frame));
	const struct name *name;

	for (uint32_t state = 0; level > 0 && state < job_model_num_states(job->model); state++) {
		uint32_t path = job->model->sites[SEG_STATE_SITE(state)].path;

		if (path == CALLPATH_NONE || !label_is_in_loop(progress, loop, state))
			continue;
		path = callpaths_at_depth(job->callpaths, path,
					  callpaths_get(job->callpaths, frame)->depth);
		level = common_level(job, frame, path, level);
	}
	name = names_at(job->names, frame, level);
	while (name->is_library && name->caller)
		name = name->caller;
	return name;
}

/* Would the loop around this one have the same text, for lack of line numbers? */
static bool has_namesake_around(const struct view *view, uint32_t loop)
{
	const struct job_loop *loops = view->progress->loops;
	uint32_t parent = loops[loop].parent;
	return parent != LOOP_NONE &&
	       !strcmp(loop_name(view, loop)->function, loop_name(view, parent)->function);
}

const char *label_loop(const struct view *view, uint32_t loop, enum label_detail detail)
{
	uint32_t frame = loop_frame(view->job, &view->progress->loops[loop]);
	const struct name *name = loop_name(view, loop);

	if (name->file && name->line > 0)
		return text_of(view, "loop %s", label_name(view, frame, name, detail));
	return text_of(view, "%sloop in %s", has_namesake_around(view, loop) ? "inner " : "",
		       label_called(view, name, detail));
}
