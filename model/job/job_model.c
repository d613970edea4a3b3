/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/hash.h"
#include "model/job/callpath.h"
#include "model/job/job_model.h"
#include "model/job/job_model_private.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/rankset.h"
#include "model/trace/trace.h"

static const struct function_name *intern_name(struct job_model_private *p, const char *text)
{
	size_t length = strlen(text);
	struct function_name *name;

	HASH_FIND(hh, p->names, text, length, name);
	if (!name) {
		name = arena_alloc(p->arena, sizeof(*name) + length + 1);
		name->number = HASH_COUNT(p->names);
		memcpy(name->text, text, length + 1);
		HASH_ADD_KEYPTR(hh, p->names, name->text, length, name);
	}
	return name;
}

static uint32_t intern_site(struct job_model *jm, uint32_t path, const struct model_site *site)
{
	struct job_model_private *p = jm->private;
	const struct function_name *name = intern_name(p, site->name);
	uint32_t found = pair_map_get(&p->site_of, pair_key(path, name->number));

	if (found != PAIR_NONE)
		return found;
	jm->sites = xgrow(jm->sites, jm->num_sites, &jm->sites_capacity, sizeof(*jm->sites));
	jm->sites[jm->num_sites] = (struct job_site){
		.path = path,
		.name = name->text,
		.class_id = site->class_id,
		.language = site->language,
	};
	pair_map_add(&p->site_of, pair_key(path, name->number), (uint32_t)jm->num_sites);
	return (uint32_t)jm->num_sites++;
}

struct job_model *job_model_create(struct modules *modules, struct callpaths *callpaths)
{
	struct job_model *jm = xcalloc(1, sizeof(*jm));

	jm->modules = modules;
	jm->callpaths = callpaths;
	jm->private = xcalloc(1, sizeof(*jm->private));
	jm->private->arena = arena_create();
	jm->ranks = rankset_in(jm->private->arena, rankset_create());
	jm->private->first_rank = -1;
	intern_site(jm, CALLPATH_NONE, &(struct model_site){.name = "start"});
	return jm;
}

void job_model_destroy(struct job_model *jm)
{
	if (!jm)
		return;
	struct job_model_private *p = jm->private;
	for (size_t i = 0; i < p->num_ranks; i++)
		model_destroy(p->ranks[i].model);
	for (size_t i = 0; i < jm->num_transitions; i++)
		free(p->tallies[i].runs);
	HASH_CLEAR(hh, p->names);
	free(p->shape_of.slots);
	free(p->shape_of_lender.slots);
	free(p->site_of.slots);
	free(p->transition_of.slots);
	free(p->class_of.slots);
	free(p->ranks);
	free(p->tallies);
	free(p->keys);
	free(p->leaders);
	free(jm->sites);
	free(jm->transitions);
	free(jm->lanes);
	arena_destroy(p->arena);
	free(p);
	free(jm);
}

/* ---- Shapes: tables that ranks share ---- */

static size_t name_offset(const struct model *model, size_t site)
{
	return (size_t)(model->sites[site].name - model->strings);
}

static bool has_same_tables(const struct model *a, const struct model *b)
{
	if (a->lender && a->lender == b->lender)
		return true;
	if (a->num_strings != b->num_strings || a->num_modules != b->num_modules ||
	    a->num_frames != b->num_frames || a->num_sites != b->num_sites ||
	    memcmp(a->strings, b->strings, a->num_strings) != 0 ||
	    (a->num_frames &&
	     memcmp(a->frames, b->frames, a->num_frames * sizeof(*a->frames)) != 0))
		return false;
	for (size_t i = 0; i < a->num_sites; i++) {
		const struct model_site *x = &a->sites[i], *y = &b->sites[i];

		if (x->frame != y->frame || x->class_id != y->class_id ||
		    x->language != y->language || name_offset(a, i) != name_offset(b, i))
			return false;
	}
	for (size_t i = 0; i < a->num_modules; i++) {
		const struct model_module *x = &a->modules[i], *y = &b->modules[i];

		if (x->build_id_size != y->build_id_size ||
		    memcmp(x->build_id, y->build_id, x->build_id_size) != 0 ||
		    strcmp(x->path, y->path) != 0)
			return false;
	}
	return true;
}

static uint64_t hash_tables(const struct model *model)
{
	uint64_t hash =
		hash_word(hash_bytes(model->frames, model->num_frames * sizeof(*model->frames)),
			  hash_bytes(model->strings, model->num_strings));

	for (size_t i = 0; i < model->num_sites; i++)
		hash = hash_word(hash,
				 pair_key(model->sites[i].frame, (uint32_t)name_offset(model, i)));
	return hash;
}

/* The segment keeps the end of a long path. */
static bool is_executable(const struct model *model, const char *path)
{
	size_t length = strlen(model->program->executable), path_length = strlen(path);

	if (length == 0 || path_length < length ||
	    (length < sizeof(model->program->executable) - 1 && path_length != length))
		return false;
	return strcmp(path + path_length - length, model->program->executable) == 0;
}

static void map_modules(struct job_model *jm, struct shape *shape)
{
	const struct model *model = shape->model;

	shape->module_map =
		arena_array(jm->private->arena, model->num_modules, sizeof(*shape->module_map));
	shape->program = MODULE_NONE;
	for (size_t i = 0; i < model->num_modules; i++) {
		const struct model_module *module = &model->modules[i];

		shape->module_map[i] = modules_intern(jm->modules, module->path, module->build_id,
						      module->build_id_size);
		if (shape->program == MODULE_NONE && is_executable(model, module->path))
			shape->program = shape->module_map[i];
	}
}

static void map_sites(struct job_model *jm, struct shape *shape)
{
	const struct model *model = shape->model;
	struct arena *arena = jm->private->arena;
	uint32_t *paths = xcalloc(model->num_frames, sizeof(*paths));
	uint32_t *starts = xcalloc(model->num_frames, sizeof(*starts));
	/* Is starts[i] a frame of the program, not just the outermost one? */
	bool *is_program = xcalloc(model->num_frames, sizeof(*is_program));

	for (size_t i = 0; i < model->num_frames; i++) {
		const struct seg_frame *frame = &model->frames[i];
		uint32_t parent = frame->parent, module = MODULE_NONE;

		if (frame->module != SEG_NO_FRAME)
			module = shape->module_map[frame->module];
		paths[i] = callpaths_intern(jm->callpaths,
					    parent == SEG_NO_FRAME ? CALLPATH_NONE : paths[parent],
					    module, frame->offset, true);
		is_program[i] = module != MODULE_NONE &&
				modules_get(jm->modules, module)->kind == MODULE_PROGRAM;
		starts[i] = paths[i];
		if (parent != SEG_NO_FRAME && (is_program[parent] || !is_program[i])) {
			starts[i] = starts[parent];
			is_program[i] = is_program[parent];
		}
	}
	shape->site_map = arena_array(arena, model->num_sites, sizeof(*shape->site_map));
	shape->starts = arena_array(arena, model->num_sites, sizeof(*shape->starts));
	shape->starts[0] = CALLPATH_NONE;
	for (size_t i = 1; i < model->num_sites; i++) {
		uint32_t frame = model->sites[i].frame;
		bool has_path = frame != SEG_NO_FRAME;

		shape->site_map[i] =
			intern_site(jm, has_path ? paths[frame] : CALLPATH_NONE, &model->sites[i]);
		shape->starts[i] = has_path ? starts[frame] : CALLPATH_NONE;
	}
	free(paths);
	free(starts);
	free(is_program);
}

static struct shape *add_shape(struct job_model *jm, const struct model *model)
{
	struct job_model_private *p = jm->private;
	struct shape *shape = arena_alloc(p->arena, sizeof(*shape));

	shape->model = model;
	shape->next = PAIR_NONE;
	shape->number = (uint32_t)jm->num_shapes;
	map_modules(jm, shape);
	map_sites(jm, shape);
	*ARENA_PUSH(p->arena, p->shapes, jm->num_shapes, p->shapes_capacity) = shape;
	return shape;
}

static struct shape *find_equal_shape(struct job_model *jm, const struct model *model)
{
	struct job_model_private *p = jm->private;
	struct shape *shape = NULL;
	uint64_t hash = hash_tables(model);
	uint32_t index, first = pair_map_get(&p->shape_of, hash);

	for (index = first; index != PAIR_NONE; index = shape->next) {
		shape = p->shapes[index];
		if (has_same_tables(shape->model, model))
			return shape;
	}
	index = (uint32_t)jm->num_shapes;
	if (first == PAIR_NONE)
		pair_map_add(&p->shape_of, hash, index);
	else
		shape->next = index;
	return add_shape(jm, model);
}

static struct shape *find_shape(struct job_model *jm, const struct model *model)
{
	struct job_model_private *p = jm->private;
	uint32_t known = PAIR_NONE;

	/* Neighbours are mostly equal, and comparing is cheaper than hashing. */
	if (p->last_shape && has_same_tables(p->last_shape->model, model))
		return p->last_shape;
	if (model->lender)
		known = pair_map_get(&p->shape_of_lender, (uintptr_t)model->lender);
	if (known != PAIR_NONE)
		return p->shapes[known];
	struct shape *shape = find_equal_shape(jm, model);
	if (model->lender)
		pair_map_add(&p->shape_of_lender, (uintptr_t)model->lender, shape->number);
	return shape;
}

/* ---- Transitions ---- */

static uint32_t intern_transition(struct job_model *jm, uint32_t from, uint32_t to)
{
	struct job_model_private *p = jm->private;
	uint32_t index = pair_map_get(&p->transition_of, pair_key(from, to));

	if (index != PAIR_NONE)
		return index;
	index = (uint32_t)jm->num_transitions;
	jm->transitions =
		xgrow(jm->transitions, index, &jm->transitions_capacity, sizeof(*jm->transitions));
	p->tallies = xgrow(p->tallies, index, &p->tallies_capacity, sizeof(*p->tallies));
	jm->transitions[index] = (struct job_transition){.from = from, .to = to};
	p->tallies[index] = (struct tally){.rank = -1};
	pair_map_add(&p->transition_of, pair_key(from, to), index);
	jm->num_transitions++;
	return index;
}

/* Close the count of the rank that was being added. */
static void flush_tally(struct tally *tally)
{
	struct run *last = tally->num_runs ? &tally->runs[tally->num_runs - 1] : NULL;

	if (tally->rank == -1)
		return;
	if (last && last->first >= 0 && last->count == tally->count &&
	    last->last + 1 == tally->rank) {
		last->last = tally->rank;
	} else {
		*XPUSH(tally->runs, tally->num_runs, tally->runs_capacity) = (struct run){
			.count = tally->count,
			.first = tally->rank < 0 ? -1 : tally->rank,
			.last = tally->rank < 0 ? -2 - tally->rank : tally->rank,
		};
	}
	tally->rank = -1;
}

static void add_count(struct tally *tally, int rank, uint64_t count)
{
	if (tally->rank != rank) {
		flush_tally(tally);
		tally->rank = rank;
		tally->count = 0;
	}
	tally->count += count;
}

/* Where a lane's i-th transition is in the job's: mostly where the shape's last lane had its. */
static uint32_t map_transition(struct job_model *jm, struct shape *shape, size_t i,
			       const struct model_transition *made)
{
	struct known_transition *known;

	if (i < shape->num_known) {
		known = &shape->known[i];
		if (known->from == made->from && known->to == made->to)
			return known->index;
	} else {
		shape->known = arena_grow(jm->private->arena, shape->known, i,
					  &shape->known_capacity, sizeof(*shape->known));
		shape->num_known = i + 1;
		known = &shape->known[i];
	}
	known->from = made->from;
	known->to = made->to;
	known->index = intern_transition(
		jm, shape->site_map[SEG_STATE_SITE(made->from)] * 2 + (made->from & 1),
		shape->site_map[SEG_STATE_SITE(made->to)] * 2 + (made->to & 1));
	return known->index;
}

SORTED_BY(compare_runs, struct run, count, first)

/* Make the table of a transition from its runs. */
static void build_counts(const struct job_model_private *p, struct job_transition *transition,
			 struct tally *tally)
{
	flush_tally(tally);
	sorted_make(tally->runs, tally->num_runs, sizeof(*tally->runs), compare_runs);
	for (size_t i = 0; i < tally->num_runs; i++) {
		const struct run *run = &tally->runs[i];
		size_t last = transition->num_counts;
		struct rankset *ranks;

		if (last == 0 || transition->counts[last - 1].count != run->count) {
			*ARENA_PUSH(p->arena, transition->counts, transition->num_counts,
				    transition->counts_capacity) = (struct job_count){
				.count = run->count,
				.ranks = rankset_in(p->arena, rankset_create()),
			};
		}
		ranks = transition->counts[transition->num_counts - 1].ranks;
		if (run->first < 0)
			rankset_add_set(ranks, p->classes[run->last].ranks);
		else
			rankset_add_range(ranks, run->first, run->last);
	}
	free(tally->runs);
	*tally = (struct tally){.rank = -1};
}

size_t job_model_find_transition(const struct job_model *jm, uint32_t from, uint32_t to)
{
	uint32_t index = pair_map_get(&jm->private->transition_of, pair_key(from, to));

	return index == PAIR_NONE ? SIZE_MAX : index;
}

size_t job_model_lanes(const struct job_model *jm, int rank, size_t *num_ret)
{
	size_t first = sorted_first_rank(rank, jm->lanes, jm->num_lanes, sizeof(*jm->lanes));
	size_t number = 0;

	while (first + number < jm->num_lanes && jm->lanes[first + number].rank == rank)
		number++;
	*num_ret = number;
	return first;
}

/* ---- Ranks ---- */

enum {
	MAX_CLASSES = 64,    /* that may be made ... */
	RANKS_IN_CLASS = 16, /* ... unless there are so many ranks for each */
};

/* By a rank or a class, see struct tally. */
static void add_counts(struct job_model *jm, int by, struct shape *shape,
		       const struct model_transition *made, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		uint32_t index = map_transition(jm, shape, i, &made[i]);

		add_count(&jm->private->tallies[index], by, made[i].count);
	}
}

/* The transitions are counted here, when the first rank of the class is there, so that they are
 * numbered as they would be without classes. False: the rank is to be counted by itself. */
static bool join_class(struct job_model *jm, int rank, const struct model *model,
		       struct shape *shape)
{
	struct job_model_private *p = jm->private;
	const struct model_lane *data = &model->lanes[0];
	uint64_t key = hash_word(shape->number, (uintptr_t)data->transitions);

	if (!model->pool || model->num_lanes != 1 || data->num_transitions == 0)
		return false;
	uint32_t found = pair_map_get(&p->class_of, key);
	/* Where no two ranks are alike there is nothing to gain. */
	if (found == PAIR_NONE && p->num_classes > MAX_CLASSES &&
	    p->num_classes > p->num_ranks / RANKS_IN_CLASS)
		return false;
	if (found == PAIR_NONE) {
		found = (uint32_t)p->num_classes;
		*ARENA_PUSH(p->arena, p->classes, p->num_classes, p->classes_capacity) =
			(struct rank_class){
				.transitions = data->transitions,
				.shape = shape,
				.ranks = rankset_in(p->arena, rankset_create()),
			};
		pair_map_add(&p->class_of, key, found);
		add_counts(jm, -2 - (int)found, shape, data->transitions, data->num_transitions);
	}
	struct rank_class *class = &p->classes[found];
	if (class->transitions != data->transitions || class->shape != shape)
		return false;
	rankset_add(class->ranks, rank);
	return true;
}

static void add_lane(struct job_model *jm, int rank, int number, const struct model *model,
		     const struct shape *shape)
{
	const struct model_lane *data = &model->lanes[number];

	job_roles_add_lane(jm, shape, data);
	jm->lanes = xgrow(jm->lanes, jm->num_lanes, &jm->lanes_capacity, sizeof(*jm->lanes));
	struct job_lane *lane = &jm->lanes[jm->num_lanes];
	*lane = (struct job_lane){
		.rank = rank,
		.lane = number,
		.role = (uint32_t)jm->num_lanes,
		.model = model,
		.data = data,
		.site_map = shape->site_map,
		.stay_ns = model->now_ns - data->since_ns,
	};
	lane->state = job_lane_state(lane, data->state);
	jm->num_lanes++;
}

void job_model_add(struct job_model *jm, int rank, struct model *model, int example_pid)
{
	struct job_model_private *p = jm->private;
	struct shape *shape = find_shape(jm, model);

	if (p->first_rank < 0)
		p->first_rank = rank;
	p->last_shape = shape;
	model->number = (uint32_t)p->num_ranks;
	*XPUSH(p->ranks, p->num_ranks, p->ranks_capacity) = (struct job_rank){
		.rank = rank,
		.shape = shape->number,
		.model = model,
	};
	rankset_add(jm->ranks, rank);
	if (example_pid && !shape->example_pid) {
		shape->example_pid = example_pid;
		for (size_t i = 0; i < model->num_modules; i++) {
			struct module *module = modules_get(jm->modules, shape->module_map[i]);

			if (!module->example_pid)
				module->example_pid = example_pid;
		}
	}
	if (model->num_lanes > 0 && !join_class(jm, rank, model, shape))
		for (size_t i = 0; i < model->num_lanes; i++)
			add_counts(jm, rank, shape, model->lanes[i].transitions,
				   model->lanes[i].num_transitions);
	for (size_t i = 0; i < model->num_lanes; i++)
		add_lane(jm, rank, (int)i, model, shape);
}

void job_model_finish(struct job_model *jm)
{
	for (size_t i = 0; i < jm->num_transitions; i++)
		build_counts(jm->private, &jm->transitions[i], &jm->private->tallies[i]);
	job_roles_finish(jm);
}

void job_model_set_trace(struct job_model *jm, size_t lane, struct trace *trace, const char *note)
{
	/* The models are the job model's own; others see them as they are. */
	struct model_lane *data = (struct model_lane *)jm->lanes[lane].data;

	trace_destroy(data->trace);
	free(data->trace_note);
	data->trace = trace;
	data->trace_note = note ? xstrdup(note) : NULL;
}

void job_model_swap_details(struct job_model *jm, size_t lane, struct model_lane *details)
{
	struct model_lane *data = (struct model_lane *)jm->lanes[lane].data, before = *data;

	data->ring = details->ring;
	data->longest_ns = details->longest_ns;
	data->state_polls = details->state_polls;
	data->is_borrowing = details->is_borrowing;
	*details = before;
}

size_t job_model_num_ranks(const struct job_model *jm)
{
	return jm->private->num_ranks;
}

struct model *job_model_rank(const struct job_model *jm, size_t index, int *rank_ret)
{
	const struct job_rank *rank = &jm->private->ranks[index];

	*rank_ret = rank->rank;
	return rank->model;
}
