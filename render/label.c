/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "analysis/stacks/calltree.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "render/label.h"
#include "render/stack_places.h"
#include "render/view.h"

/* ---- Ranks and times ---- */

char *label_rank_list(const struct rankset *set, int width)
{
	static const char rest[] = ",...";
	/* A range takes two columns with its comma, so no more than this many can fit. */
	char *text = rankset_encode(set, width > 2 ? width / 2 + 1 : 1);
	size_t room = width > 0 ? (size_t)width : 0;
	char *end = text + strlen(text);

	if ((size_t)(end - text) <= room)
		return text;
	while (end > text) {
		do
			end--;
		while (end > text && *end != ',');
		if (end > text && (size_t)(end - text) + strlen(rest) <= room) {
			char *list = xasprintf("%.*s%s", (int)(end - text), text, rest);

			free(text);
			return list;
		}
	}
	free(text);
	return xstrdup("...");
}

char *label_ranks(const struct rankset *set, int width)
{
	char *count = xasprintf("%d:[", rankset_count(set));
	char *list = label_rank_list(set, width - (int)strlen(count) - 1);
	char *label;

	if ((int)(strlen(count) + strlen(list)) + 1 <= width)
		label = xasprintf("%s%s]", count, list);
	else
		label = xasprintf("%d", rankset_count(set));
	free(count);
	free(list);
	return label;
}

char *label_who(const struct rankset *set, int width)
{
	const char *word = rankset_count(set) == 1 ? "rank" : "ranks";
	char *list = label_rank_list(set, width - (int)strlen(word) - 1);
	char *label = xasprintf("%s %s", word, list);

	free(list);
	return label;
}

char *label_time(uint64_t ns)
{
	uint64_t seconds = ns / 1000000000;

	if (ns < 1000)
		return xasprintf("%" PRIu64 " ns", ns);
	if (ns < 1000000)
		return xasprintf("%" PRIu64 " us", ns / 1000);
	if (ns < 10000000)
		return xasprintf("%" PRIu64 ".%" PRIu64 " ms", ns / 1000000, ns / 100000 % 10);
	if (ns < 1000000000)
		return xasprintf("%" PRIu64 " ms", ns / 1000000);
	if (seconds < 10)
		return xasprintf("%" PRIu64 ".%" PRIu64 " s", seconds, ns / 100000000 % 10);
	if (seconds < 120)
		return xasprintf("%" PRIu64 " s", seconds);
	if (seconds < 3600)
		return xasprintf("%" PRIu64 " min %" PRIu64 " s", seconds / 60, seconds % 60);
	if (seconds < 86400)
		return xasprintf("%" PRIu64 " h %" PRIu64 " min", seconds / 3600,
				 seconds / 60 % 60);
	return xasprintf("%" PRIu64 " d %" PRIu64 " h", seconds / 86400, seconds / 3600 % 24);
}

char *label_time_range(uint64_t min_ns, uint64_t max_ns)
{
	char *min = label_time(min_ns), *max = label_time(max_ns), *range;
	const char *min_unit = strchr(min, ' '), *max_unit = strchr(max, ' ');

	if (!strcmp(min, max))
		range = xstrdup(max);
	else if (!strcmp(min_unit, max_unit))
		range = xasprintf("%.*s to %s", (int)(min_unit - min), min, max);
	else
		range = xasprintf("%s to %s", min, max);
	free(min);
	free(max);
	return range;
}

char *label_tag(int32_t tag)
{
	switch (tag) {
	case SEG_TAG_ANY:
		return xstrdup("any");
	case SEG_TAG_MANY:
		return xstrdup("others");
	case SEG_TAG_POST:
		return xstrdup("post");
	case SEG_TAG_COMPLETE:
		return xstrdup("complete");
	case SEG_TAG_LEADER:
		return xstrdup("leader");
	case SEG_TAG_GROUP:
		return xstrdup("group");
	}
	return xasprintf("%" PRId32, tag);
}

/* ---- Functions ---- */

/* The character after the bracket that closes the one at `at`. */
static const char *skip_brackets(const char *at)
{
	char open = *at, close = open == '<' ? '>' : ')';
	int depth = 0;

	for (; *at; at++) {
		if (*at == open)
			depth++;
		else if (*at == close && !(close == '>' && at[-1] == '-') && --depth == 0)
			return at + 1;
	}
	return at;
}

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* What Python calls a function that has no name: "<module>", "solve.<lambda>". Its length, or 0. */
static size_t nameless(const char *function, const char *at)
{
	const char *end;

	if (*at != '<' || (at != function && at[-1] != '.'))
		return 0;
	end = skip_brackets(at);
	return end[-1] == '>' && (!*end || *end == '.') ? (size_t)(end - at) : 0;
}

/* Copy "operator" and its symbol, which may be made of brackets: operator(), operator<<. */
static const char *copy_operator(const char *at, char **end)
{
	const char *from = at;

	at += strlen("operator");
	if (starts_with(at, "()"))
		at += 2;
	else if (*at == ' ')
		at += strcspn(at, "("); /* a conversion: operator unsigned long */
	else
		at += strcspn(at, " (abcdefghijklmnopqrstuvwxyz_");
	memcpy(*end, from, (size_t)(at - from));
	*end += at - from;
	return at;
}

char *label_function(const char *function)
{
	static const char anonymous[] = "(anonymous namespace)";
	char *label = xmalloc(strlen(function) + 1), *end = label;
	const char *at = function;
	bool had_parameters = false;
	size_t length;

	while (*at) {
		if (starts_with(at, anonymous)) {
			end = stpcpy(end, anonymous);
			at += strlen(anonymous);
		} else if (starts_with(at, "operator") && !is_word(at[strlen("operator")]) &&
			   (at == function || !is_word(at[-1]))) {
			at = copy_operator(at, &end);
		} else if ((length = nameless(function, at))) {
			end = mempcpy(end, at, length);
			at += length;
		} else if (*at == '<' || *at == '(') {
			had_parameters |= *at == '(';
			at = skip_brackets(at);
		} else if (starts_with(at, " <")) {
			at++; /* operator< <int> */
		} else if (*at == ' ' && had_parameters) {
			break; /* " const", " [clone .cold]" */
		} else if (*at == ' ') {
			end = label; /* what came before was the return type */
			at++;
		} else {
			if (*at == ':')
				had_parameters = false; /* those of an enclosing function */
			*end++ = *at++;
		}
	}
	*end = '\0';
	if (end == label)
		strcpy(label, function);
	return label;
}

char *label_crash(const struct job_crash *crash)
{
	const char *name = sigabbrev_np(crash->signal);
	char *text = name ? xasprintf("SIG%s", name) : xasprintf("signal %d", crash->signal);
	char *longer;

	if (crash->has_address)
		longer = xasprintf("%s at address 0x%" PRIx64, text, crash->address);
	else if (crash->is_sent)
		longer = xasprintf("%s from another process", text);
	else
		return text;
	free(text);
	return longer;
}

/* ---- Places ---- */

/* The last component of the module's path, NULL where the code lies in no module. */
static const char *module_name(const struct job *job, uint32_t node)
{
	const struct callpath_node *frame;
	const char *path, *slash;

	if (node == CALLPATH_NONE)
		return NULL;
	frame = callpaths_get(job->callpaths, node);
	if (frame->module == MODULE_NONE)
		return NULL;
	path = modules_get(job->modules, frame->module)->path;
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* "halo()"; in full with the parameters that a C++ name brings along. */
static char *function_text(const struct name *name, enum label_detail detail)
{
	char *shorter, *text;

	if (!name->is_symbol)
		return xstrdup(name->function);
	if (detail == LABEL_FULL)
		return xasprintf("%s%s", name->function, strchr(name->function, '(') ? "" : "()");
	shorter = label_function(name->function);
	text = xasprintf("%s()", shorter);
	free(shorter);
	return text;
}

char *label_name(const struct job *job, uint32_t node, const struct name *name,
		 enum label_detail detail)
{
	const char *module = module_name(job, node);
	char *function = function_text(name, detail), *place;

	if (name->file && name->line > 0)
		place = xasprintf("%s %s%s:%d", function, detail == LABEL_FULL ? "at " : "",
				  name->file, name->line);
	else if (detail == LABEL_FULL && name->is_symbol && module)
		place = xasprintf("%s in %s", function, module);
	else
		place = xstrdup(function);
	free(function);
	return place;
}

char *label_place(const struct job *job, uint32_t node, enum label_detail detail)
{
	return label_name(job, node, names_get(job->names, node), detail);
}

char *label_frame(const struct job *job, const struct calltree *tree, uint32_t node)
{
	uint32_t path = tree->nodes[node].path;
	const struct name *name = calltree_name(tree, node);
	char *place, *text;

	if (tree->frames == CALLTREE_LINE)
		return label_name(job, path, name, LABEL_SHORT);
	if (tree->frames == CALLTREE_ADDRESS) {
		place = label_name(job, path, name, LABEL_SHORT);
		text = xasprintf("%s 0x%" PRIx64, place,
				 callpaths_get(job->callpaths, path)->offset);
	} else {
		place = function_text(name, LABEL_SHORT);
		text = xasprintf("%s%s%s", place, name->file ? " " : "",
				 name->file ? name->file : "");
	}
	free(place);
	return text;
}

/* Is there a signal's frame beyond `path`, and what does it interrupt? CALLPATH_NONE: none. */
static uint32_t find_signal(const struct job *job, uint32_t path)
{
	while (path != CALLPATH_NONE && !names_is_signal(job->names, path))
		path = callpaths_get(job->callpaths, path)->parent;
	return path;
}

/* ", handling signal 14 that interrupted step() at solver.c:141", behind the place of the user's
 * frame of a path; "" if it handles none. */
static char *handling_text(const struct job *job, uint32_t user)
{
	uint32_t signal = find_signal(job, user), inside;
	char number[24] = "a signal", *place, *text;

	if (signal == CALLPATH_NONE)
		return xstrdup("");
	if (callpaths_get(job->callpaths, signal)->offset)
		snprintf(number, sizeof(number), "signal %" PRIu64,
			 callpaths_get(job->callpaths, signal)->offset);
	inside = callpaths_get(job->callpaths, signal)->parent;
	if (inside == CALLPATH_NONE)
		return xasprintf(", handling %s", number);
	place = stack_path_place(job, inside);
	text = xasprintf(", handling %s that interrupted %s", number, place);
	free(place);
	return text;
}

/* What is to be told of a path behind the place of its user's frame. */
static char *behind_text(const struct job *job, uint32_t path, uint32_t user)
{
	const struct name *name = names_behind(job->names, path);
	char *handling = handling_text(job, user), *place, *text;

	if (!name)
		return handling;
	place = label_name(job, path, name, LABEL_FULL);
	text = xasprintf(" (%s)%s", place, handling);
	free(place);
	free(handling);
	return text;
}

char *label_user_place(const struct job *job, uint32_t path, enum label_detail detail)
{
	uint32_t user = names_user_frame(job->names, path);
	char *place, *behind, *text;

	if (user == CALLPATH_NONE)
		return label_place(job, path, detail);
	place = label_place(job, user, detail);
	if (detail != LABEL_FULL)
		return place;
	behind = behind_text(job, path, user);
	text = xasprintf("%s%s", place, behind);
	free(place);
	free(behind);
	return text;
}

char *label_state(const struct job *job, uint32_t state, enum label_detail detail)
{
	const struct job_site *site = &job->model->sites[SEG_STATE_SITE(state)];
	const char *doing = SEG_STATE_IS_EXIT(state) ? "computing after" : "in";
	char *place, *label;

	if (SEG_STATE_SITE(state) == 0)
		return xstrdup("before its first MPI call");
	place = label_user_place(job, site->path, detail);
	label = xasprintf("%s %s, %s", doing, site->name, place);
	free(place);
	return label;
}

/* Does the path go through the MPI library? Then the thread was not computing when sampled, but in
 * a signal's handler. */
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

/* Where the threads of a computing group are, by their samples. */
struct computing_place {
	/* CALLPATH_NONE if there is no sample of them or they are in different functions */
	uint32_t frame;
	bool is_same_line;
	char state;             /* of all (struct sample), 0 if they differ */
	uint32_t innermost;     /* frame of one of them */
	bool is_same_innermost; /* function of all */
	char *behind;           /* behind_text() of all, "" if they differ; to be freed */
};

static struct computing_place find_computing_place(const struct job *job,
						   const struct eqgroup *group)
{
	struct computing_place ret = {
		.frame = CALLPATH_NONE, .is_same_line = true, .is_same_innermost = true};
	char *behind;

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
			ret.state = sample->state;
			ret.behind = behind_text(job, sample->path, frame);
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
		behind = behind_text(job, sample->path, frame);
		if (strcmp(behind, ret.behind) != 0)
			ret.behind[0] = '\0';
		free(behind);
	}
	return ret;
}

/* "asleep in read()"; "computing" if it is not known to do anything else. The caller frees. */
static char *computing_doing(const struct job *job, const struct computing_place *place)
{
	const struct name *innermost = names_get(job->names, place->innermost);
	char *function, *text;

	if (place->state == 'T')
		return xstrdup("stopped");
	if (place->state != 'S' && place->state != 'D')
		return xstrdup("computing");
	if (place->innermost == place->frame || !place->is_same_innermost || !innermost->is_symbol)
		return xstrdup("asleep");
	function = function_text(innermost, LABEL_SHORT);
	text = xasprintf("asleep in %s", function);
	free(function);
	return text;
}

static char *computing_text(const struct job *job, const struct eqgroup *group,
			    enum label_detail detail)
{
	struct computing_place found = find_computing_place(job, group);
	char *place, *doing, *label;

	if (found.frame == CALLPATH_NONE) {
		free(found.behind);
		return label_state(job, group->state, detail);
	}
	if (found.is_same_line)
		place = label_place(job, found.frame, detail);
	else
		place = function_text(names_get(job->names, found.frame), detail);
	doing = computing_doing(job, &found);
	if (detail != LABEL_FULL)
		label = xasprintf("%s, %s", doing, place);
	else if (strcmp(doing, "computing") == 0)
		label = xasprintf("outside MPI, in %s%s", place, found.behind);
	else
		label = xasprintf("outside MPI, %s, in %s%s", doing, place, found.behind);
	free(place);
	free(doing);
	free(found.behind);
	return label;
}

static char *polling_text(const struct job *job, const struct eqgroup *group,
			  enum label_detail detail)
{
	const struct job_lane *lane = &job->model->lanes[group->actors[0]];
	const struct job_site *site;
	char *place, *label;

	if (lane->data->poll_site == 0)
		return label_state(job, group->state, detail);
	site = &job->model->sites[lane->site_map[lane->data->poll_site]];
	place = label_user_place(job, site->path, detail);
	label = xasprintf("polling %s, %s", site->name, place);
	free(place);
	return label;
}

/* After its last MPI call, which is MPI_Finalize as a rule. */
static char *ended_text(const struct job *job, const struct eqgroup *group,
			enum label_detail detail)
{
	const struct job_site *site = &job->model->sites[SEG_STATE_SITE(group->state)];
	char *place, *label;

	if (SEG_STATE_SITE(group->state) == 0)
		return xstrdup("ended without an MPI call");
	place = label_user_place(job, site->path, detail);
	label = xasprintf("ended after %s, %s", site->name, place);
	free(place);
	return label;
}

char *label_where(const struct job *job, const struct eqgroup *group, enum label_detail detail)
{
	switch (group->activity) {
	case ACTIVITY_COMPUTING:
		return computing_text(job, group, detail);
	case ACTIVITY_POLLING:
		return polling_text(job, group, detail);
	case ACTIVITY_ENDED:
		return ended_text(job, group, detail);
	case ACTIVITY_IN_MPI:
		break;
	}
	return label_state(job, group->state, detail);
}

char *label_doing(const struct job *job, const struct eqgroup *group)
{
	const char *function = job->model->sites[SEG_STATE_SITE(group->state)].name;
	struct computing_place found;
	uint32_t frame;

	if (group->activity == ACTIVITY_IN_MPI)
		return xstrdup(function);
	if (group->activity == ACTIVITY_POLLING || group->activity == ACTIVITY_ENDED) {
		char *where = label_where(job, group, LABEL_SHORT);

		where[strcspn(where, ",")] = '\0';
		return where;
	}
	found = find_computing_place(job, group);
	free(found.behind);
	frame = found.frame;
	if (frame != CALLPATH_NONE)
		return function_text(names_get(job->names, frame), LABEL_SHORT);
	if (SEG_STATE_SITE(group->state) == 0)
		return xstrdup("before first MPI call");
	return xasprintf("after %s", function);
}

/* ---- Loops ---- */

/* The frame whose function holds the loop: all states of the loop share loop->path; the next frame
 * inwards is where their paths part, in one function but at different calls. That of the header
 * stands for the loop. */
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

/* How far within the function of their frame two calls are in the same inlined functions. */
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

static bool holds_state(const struct progress *progress, uint32_t loop, uint32_t state)
{
	uint32_t at = progress->loop_of[state];

	while (at != LOOP_NONE && at != loop)
		at = progress->loops[at].parent;
	return at == loop;
}

/* The innermost function that all calls of the loop are inlined into, at the header's. What is
 * inlined is asked of the others only where something is. */
static const struct name *loop_name(const struct view *view, uint32_t loop)
{
	const struct job *job = view->job;
	const struct progress *progress = view->progress;
	uint32_t frame = loop_frame(job, &progress->loops[loop]);
	size_t level = name_level(names_innermost(job->names, frame));
	const struct name *name;

	for (uint32_t state = 0; level > 0 && state < job_model_num_states(job->model); state++) {
		uint32_t path = job->model->sites[SEG_STATE_SITE(state)].path;

		if (path == CALLPATH_NONE || !holds_state(progress, loop, state))
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

/* Would the loop around this one read the same, for want of line numbers? */
static bool has_namesake_around(const struct view *view, uint32_t loop)
{
	const struct job_loop *loops = view->progress->loops;
	uint32_t parent = loops[loop].parent;
	const struct name *own, *around;

	if (parent == LOOP_NONE)
		return false;
	own = loop_name(view, loop);
	around = loop_name(view, parent);
	return strcmp(own->function, around->function) == 0;
}

char *label_loop(const struct view *view, uint32_t loop, enum label_detail detail)
{
	uint32_t frame = loop_frame(view->job, &view->progress->loops[loop]);
	const struct name *name = loop_name(view, loop);
	char *place, *label;

	if (name->file && name->line > 0) {
		place = label_name(view->job, frame, name, detail);
		label = xasprintf("loop %s", place);
	} else {
		place = function_text(name, detail);
		label = xasprintf("%sloop in %s", has_namesake_around(view, loop) ? "inner " : "",
				  place);
	}
	free(place);
	return label;
}

char *label_iteration(const struct iteration *iteration)
{
	return xasprintf("%s%" PRIu64, iteration->is_approximate ? "about " : "", iteration->count);
}
