/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>

#include "attach/symbols/debug_file.h"
#include "attach/symbols/source.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/listed.h"
#include "shell/answers/frame.h"
#include "shell/answers/list_source.h"
#include "shell/answers/stack_order.h"
#include "shell/session.h"

enum {
	BEFORE = 5, /* of ten lines, those before the one in question, as gdb has them */
	AFTER = 4,
	MAX_PARTS = 6,
	MAX_LINE = INT_MAX / 2, /* a snapshot may claim any */
};

struct listing {
	struct session *session;
	struct arena *arena;
	struct listed *ret;
	struct listed_place *places; /* by file and line */
	size_t num_places, places_capacity;
	size_t missing_capacity, parts_capacity;
};

/* ---- Where ranks are ---- */

/* The place of a stack in the frame. *why_ret: there is none. */
static const struct name *find_place(struct listing *listing, const struct frame *frame,
				     uint32_t path, uint32_t *node_ret, const char **why_ret)
{
	const struct job *job = listing->session->job;
	const struct name *name = NULL;
	uint32_t id = frame->kind == FRAME_ANY        ? names_user_frame(job->names, path)
		      : frame->kind == FRAME_FUNCTION ? path
						      : frame_find(job, frame, path);

	if (frame->kind != FRAME_FUNCTION)
		name = id == CALLPATH_NONE ? NULL : names_get(job->names, id);
	while (frame->kind == FRAME_FUNCTION && !name && id != CALLPATH_NONE) {
		if (frame_is_own(job, id))
			name = names_innermost(job->names, id);
		while (name && !frame_is_called(listing->arena, name, frame->function))
			name = name->caller;
		if (!name)
			id = callpaths_get(job->callpaths, id)->parent;
	}
	*node_ret = id;
	*why_ret = !name ? frame_missing(listing->arena, frame)
		   : !name->full_file || name->line <= 0 || name->line > MAX_LINE
			   ? "pdb has no line information of what it runs: compile with -g"
			   : NULL;
	return *why_ret ? NULL : name;
}

static void add_missing(struct listing *listing, int rank, const char *why)
{
	struct listed *ret = listing->ret;
	size_t i = 0;

	while (i < ret->num_missing && strcmp(ret->missing[i].why, why) != 0)
		i++;
	if (i == ret->num_missing)
		*ARENA_PUSH(listing->arena, ret->missing, ret->num_missing,
			    listing->missing_capacity) =
			(struct listed_missing){arena_strdup(listing->arena, why),
						rankset_in(listing->arena, rankset_create())};
	rankset_add(ret->missing[i].ranks, rank);
}

static bool is_same_place(const struct listed_place *place, const struct name *name)
{
	return place->name->line == name->line &&
	       !strcmp(place->name->full_file, name->full_file) &&
	       !strcmp(place->name->function, name->function);
}

static void add_rank(struct listing *listing, int rank, uint32_t node, const struct name *name)
{
	size_t i = 0;

	while (i < listing->num_places && !is_same_place(&listing->places[i], name))
		i++;
	if (i == listing->num_places)
		*ARENA_PUSH(listing->arena, listing->places, listing->num_places,
			    listing->places_capacity) = (struct listed_place){
			node, name, rankset_in(listing->arena, rankset_create())};
	rankset_add(listing->places[i].ranks, rank);
}

static int by_line(const void *a, const void *b)
{
	const struct listed_place *x = a, *y = b;

	return strcmp(x->name->full_file, y->name->full_file)
		       ?: SORTED_ORDER(x->name->line, y->name->line)
		       ?: SORTED_ORDER(rankset_first(x->ranks), rankset_first(y->ranks));
}

static void find_places(struct listing *listing, const struct frame *frame,
			const struct rankset *ranks)
{
	const struct job *job = listing->session->job;

	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		const struct sample *sample =
			job->samples ? samples_find(job->samples, rank, 0) : NULL;
		const struct name *name;
		const char *why;
		uint32_t node;

		if (!sample || sample->path == CALLPATH_NONE) {
			add_missing(listing, rank,
				    sample && sample->note ? sample->note : "no stack");
			continue;
		}
		name = find_place(listing, frame, sample->path, &node, &why);
		if (name)
			add_rank(listing, rank, node, name);
		else
			add_missing(listing, rank, why);
	}
	sorted_make(listing->places, listing->num_places, sizeof(*listing->places), by_line);
}

/* ---- Sources ---- */

/* A process that has the module's program open; 0: none is known. *written_ret: when the program
 * was written; 0: not known. */
static pid_t process_of(const struct job *job, uint32_t id, int64_t *written_ret)
{
	const struct module *module;
	struct stat status;
	char path[PATH_MAX + 32];

	*written_ret = 0;
	if (id == MODULE_NONE)
		return 0;
	module = modules_get(job->modules, id);
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)module->example_pid, module->path);
	if (!stat(module->example_pid > 0 ? path : module->path, &status))
		*written_ret = status.st_mtim.tv_sec;
	return module->example_pid;
}

const struct source *list_open(struct session *session, struct arena *arena, uint32_t module,
			       const char *file, bool *is_newer_ret, struct pdb_error *err)
{
	int64_t written;
	pid_t pid = process_of(session->job, module, &written);
	const struct source *source = source_open(arena, file, pid, session->settings.sources, err);

	*is_newer_ret = source && written && source->written_s > written;
	return source;
}

static void open_source(struct listing *listing, struct listed_part *part,
			const struct listed_place *place)
{
	const struct callpaths *callpaths = listing->session->job->callpaths;
	uint32_t module = place ? callpaths_get(callpaths, place->node)->module : MODULE_NONE;
	const struct source *source;
	struct pdb_error err;
	bool is_newer;

	source = list_open(listing->session, listing->arena, module, part->file, &is_newer, &err);
	if (!source) {
		part->trouble = arena_strdup(listing->arena, err.text);
		return;
	}
	part->path = source->path;
	part->lines = source->lines;
	part->num_lines = source->num;
	if (is_newer)
		part->trouble = "This file is newer than the program. Its lines may have moved.";
}

/* The places in the part's lines. */
static void take_places(struct listing *listing, struct listed_part *part)
{
	const struct listed_place **places =
		arena_array(listing->arena, listing->num_places + 1, sizeof(struct listed_place *));

	for (size_t i = 0; i < listing->num_places; i++) {
		const struct name *name = listing->places[i].name;

		if (!strcmp(name->full_file, part->file) && name->line >= part->first &&
		    name->line <= part->last)
			places[part->num_places++] = &listing->places[i];
	}
	part->places = places;
}

/* Lines that there are. */
static void cut(struct listed_part *part)
{
	int num = part->path ? (int)part->num_lines : INT_MAX;

	part->first = part->first < 1 ? 1 : part->first;
	part->last = part->last > num ? num : part->last;
}

static size_t ranks_of(const struct listed_part *part)
{
	size_t num = 0;

	for (size_t i = 0; i < part->num_places; i++)
		num += (size_t)rankset_count(part->places[i]->ranks);
	return num;
}

static int by_ranks(const void *a, const void *b)
{
	const struct listed_part *x = a, *y = b;

	return SORTED_ORDER(ranks_of(y), ranks_of(x)) ?: strcmp(x->file, y->file)
		       ?: SORTED_ORDER(x->first, y->first);
}

/* Places near each other share a part. They are in the order of parts. */
static void make_parts(struct listing *listing)
{
	struct listed *ret = listing->ret;
	const struct listed_place **places =
		arena_array(listing->arena, listing->num_places, sizeof(*places));

	for (size_t i = 0; i < listing->num_places; i++) {
		const struct name *name = listing->places[i].name;
		struct listed_part *part = ret->num ? &ret->parts[ret->num - 1] : NULL;

		places[i] = &listing->places[i];
		if (!part || strcmp(part->file, name->full_file) != 0 ||
		    name->line - BEFORE > part->last + 1) {
			part = ARENA_PUSH(listing->arena, ret->parts, ret->num,
					  listing->parts_capacity);
			*part = (struct listed_part){
				.file = name->full_file,
				.first = name->line - BEFORE,
				.places = &places[i],
			};
		}
		part->last = name->line + AFTER;
		part->num_places++;
	}
	sorted_make(ret->parts, ret->num, sizeof(*ret->parts), by_ranks);
	if (ret->num > MAX_PARTS)
		ret->num_more = ret->num - MAX_PARTS;
	ret->num -= ret->num_more;
	for (size_t i = 0; i < ret->num; i++) {
		open_source(listing, &ret->parts[i], ret->parts[i].places[0]);
		cut(&ret->parts[i]);
	}
}

/* The last part with lines is what goes on. */
static void remember(struct listing *listing)
{
	struct listed_last *last = &listing->session->listed;
	const struct listed *ret = listing->ret;

	for (size_t i = ret->num; i-- > 0;) {
		const struct listed_part *part = &ret->parts[i];

		if (!part->path)
			continue;
		free(last->file);
		last->file = xstrdup(part->file);
		last->first = part->first;
		last->last = part->last;
		last->looked_ns = listing->session->looked_ns;
		return;
	}
}

static int add_part(struct listing *listing, const char *file, int first, int last,
		    struct pdb_error *err)
{
	struct listed_part *part = ARENA_PUSH(listing->arena, listing->ret->parts,
					      listing->ret->num, listing->parts_capacity);
	const struct listed_place *place = NULL;

	*part = (struct listed_part){.file = file, .first = first, .last = last};
	for (size_t i = 0; i < listing->num_places && !place; i++)
		if (!strcmp(listing->places[i].name->full_file, file))
			place = &listing->places[i];
	open_source(listing, part, place);
	if (!part->path)
		return error_set(err, ERROR_NOT_FOUND, "%s", part->trouble);
	if (first > (int)part->num_lines)
		return error_set(err, ERROR_NOT_FOUND, "%s has %zu lines, there is no line %d",
				 part->path, part->num_lines, first);
	cut(part);
	take_places(listing, part);
	remember(listing);
	return 0;
}

static struct listing begin(struct session *session, struct arena *arena, struct listed *ret)
{
	*ret = (struct listed){.num = 0};
	return (struct listing){.session = session, .arena = arena, .ret = ret};
}

/* Nobody is there: then the job's own programs say where the function begins. */
static int list_function(struct listing *listing, const char *function, struct pdb_error *err)
{
	const struct modules *modules = listing->session->job->modules;
	struct debug_modules files = {.modules = modules};
	const char *file = NULL;
	bool is_found = false;
	int line;

	for (uint32_t i = 0; i < modules_count(modules) && !is_found; i++)
		is_found = modules_get(modules, i)->kind == MODULE_PROGRAM &&
			   source_find_function(&files, listing->arena, i, function, &file, &line);
	debug_modules_close(&files);
	if (!is_found)
		return error_set(err, ERROR_NOT_FOUND,
				 "no rank is in %s(), and pdb finds no function of that name with "
				 "debug information",
				 function);
	*listing->ret = (struct listed){.num = 0};
	return add_part(listing, file, line > BEFORE ? line - BEFORE : 1, line + AFTER, err);
}

/* ---- Public ---- */

int list_frames(struct session *session, struct arena *arena, const struct frame *frame,
		const struct rankset *ranks, struct listed *ret, struct pdb_error *err)
{
	struct listing listing = begin(session, arena, ret);

	if (!session_has_ended(session) && stack_order_sample(session, ranks, err) < 0)
		return -1;
	find_places(&listing, frame, ranks);
	if (!listing.num_places && frame->kind == FRAME_FUNCTION)
		return list_function(&listing, frame->function, err);
	make_parts(&listing);
	remember(&listing);
	return 0;
}

/* Its whole path, if a stack or the debug information of a program has it. */
static const char *find_file(struct listing *listing, const char *file)
{
	const struct job *job = listing->session->job;
	struct debug_modules files = {.modules = job->modules};
	const char *found = NULL;

	for (uint32_t i = 0; i < callpaths_count(job->callpaths) && !found; i++) {
		const struct name *name =
			frame_is_own(job, i) ? names_innermost(job->names, i) : NULL;

		for (; name && !found; name = name->caller)
			if (name->full_file && source_is_called(name->full_file, file))
				found = name->full_file;
	}
	for (uint32_t i = 0; i < modules_count(job->modules) && !found; i++)
		if (modules_get(job->modules, i)->kind == MODULE_PROGRAM)
			found = source_find_file(&files, listing->arena, i, file);
	debug_modules_close(&files);
	return found ?: file;
}

int list_line(struct session *session, struct arena *arena, const char *file, int line,
	      const struct rankset *ranks, struct listed *ret, struct pdb_error *err)
{
	struct listing listing = begin(session, arena, ret);

	find_places(&listing, &(struct frame){.kind = FRAME_ANY}, ranks);
	ret->num_missing = 0;
	return add_part(&listing, find_file(&listing, file), line > BEFORE ? line - BEFORE : 1,
			line + AFTER, err);
}

bool list_can_go_on(const struct session *session)
{
	return session->listed.file && session->listed.looked_ns == session->looked_ns;
}

int list_next(struct session *session, struct arena *arena, bool is_before,
	      const struct rankset *ranks, struct listed *ret, struct pdb_error *err)
{
	struct listing listing = begin(session, arena, ret);
	const struct listed_last *last = &session->listed;
	const char *file = arena_strdup(arena, last->file);
	int end = is_before ? last->first - 1 : last->last + BEFORE + AFTER + 1;

	if (end < 1)
		return error_set(err, ERROR_NOT_FOUND, "%s begins there", file);
	find_places(&listing, &(struct frame){.kind = FRAME_ANY}, ranks);
	ret->num_missing = 0;
	return add_part(&listing, file, is_before ? end - BEFORE - AFTER : last->last + 1, end,
			err);
}
