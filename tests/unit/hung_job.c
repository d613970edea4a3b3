/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/hung_job.h"

static const int hung_parents[NUM_FRAMES] = {-1,         FRAME_MAIN,   FRAME_STEP, FRAME_STEP,
					     FRAME_MAIN, FRAME_REDUCE, FRAME_STEP, FRAME_MAIN};

/* MPI_COMM_WORLD, MPI_COMM_SELF, and one split of the world into even and odd ranks. */
static void hung_comms(struct model *model, int rank, int size, uint64_t number)
{
	int parity = rank % 2, half = (size + 1 - parity) / 2;

	model->num_members = (size_t)half;
	model->members = xcalloc((size_t)half, sizeof(*model->members));
	for (int i = 0; i < half; i++)
		model->members[i] = 2 * i + parity;
	model->num_comms = 3;
	model->comms = xcalloc(3, sizeof(*model->comms));
	model->comms[0] = (struct model_comm){
		.id = 1,
		.rank = rank,
		.size = (uint32_t)size,
		.members = SEG_ALL_MEMBERS,
		.name = model->strings + 67,
		.collectives = number,
	};
	for (uint64_t i = 0; i < SEG_RECENT; i++)
		model->comms[0].recent[i] = (struct model_collective){
			.number = number - i,
			.bytes = 64,
			.site = SITE_ALLGATHER,
			.root = SEG_PEER_NONE,
		};
	model->comms[1] = (struct model_comm){
		.id = 0x1000 + (uint64_t)rank, .size = 1, .members = SEG_NO_MEMBERS};
	model->comms[2] = (struct model_comm){
		.id = 2 + (uint64_t)parity,
		.parent_id = 1,
		.site = SITE_SPLIT,
		.ordinal = 1,
		.rank = rank / 2,
		.size = (uint32_t)half,
		.members = 0,
	};
	for (int i = 0; i < 3; i++) {
		model->comms[i].remote_members = SEG_NO_MEMBERS;
		model->comms[i].sources = SEG_NO_MEMBERS;
	}
}

/* Messages with tag 7 to and from both neighbours: the culprit has begun and received one less than
 * all others, who are in the next MPI_Allgather or wait for the culprit's message. */
static void hung_evidence(struct model *model, struct model_lane *lane,
			  const struct hung_options *options, int rank)
{
	int distance = abs(rank - options->culprit);
	uint64_t own = distance == 0 ? 412 : 413;
	size_t number = 0;

	hung_comms(model, rank, options->size, distance <= 1 ? 1236 : 1237);
	lane->ledger = xcalloc(2, sizeof(*lane->ledger));
	for (int peer = rank - 1; peer <= rank + 1; peer += 2) {
		uint64_t lacks = peer == options->culprit;

		if (peer >= 0 && peer < options->size)
			lane->ledger[number++] = (struct model_ledger){
				.comm = 0,
				.peer = peer,
				.tag = 7,
				.sends = own,
				.sends_done = own,
				.receives = own,
				.receives_done = own - lacks,
			};
	}
	lane->num_ledger = number;
	if (distance == 0) {
		lane->operation.kind = SEG_OPERATION_OTHER;
	} else if (distance == 1) {
		model->num_requests = 1;
		model->requests = xcalloc(1, sizeof(*model->requests));
		model->requests[0] = (struct model_request){
			.kind = SEG_REQUEST_RECV,
			.flags = SEG_REQUEST_ACTIVE,
			.comm = 0,
			.peer = options->culprit,
			.tag = 7,
			.ordinal = 413,
			.bytes = 8192,
			.site = SITE_IRECV,
			.since_ns = 928 * SECOND - 7500000,
		};
		lane->operation = (struct model_operation){.kind = SEG_OPERATION_WAIT_ALL};
		lane->operation.waited = xcalloc(1, sizeof(uint32_t));
		lane->operation.num_waited = 1;
	} else {
		lane->operation =
			(struct model_operation){.kind = SEG_OPERATION_COLLECTIVE, .number = 1237};
	}
	lane->operation.transfers[0] = (struct model_transfer){
		.comm = distance > 1 ? 0 : SEG_NO_COMM, .peer = SEG_PEER_NONE, .bytes = 64};
	lane->operation.transfers[1].comm = SEG_NO_COMM;
}

static struct model *hung_model(const struct hung_options *options, int rank)
{
	static const char strings[] = "start\0MPI_Isend\0MPI_Waitall\0MPI_Allgather\0"
				      "MPI_Irecv\0MPI_Comm_split\0MPI_COMM_WORLD";
	static const uint16_t offsets[NUM_SITES] = {0, 6, 16, 28, 42, 52};
	static const uint16_t classes[NUM_SITES] = {SEG_CLASS_OTHER, SEG_CLASS_START,
						    SEG_CLASS_WAIT,  SEG_CLASS_COLLECTIVE,
						    SEG_CLASS_START, SEG_CLASS_COMM};
	static const uint32_t frames[NUM_SITES] = {SEG_NO_FRAME,    FRAME_ISEND, FRAME_WAITALL,
						   FRAME_ALLGATHER, FRAME_IRECV, FRAME_SPLIT};
	static const struct model_transition transitions[] = {
		{1, 2, 1},   {2, 3, 412}, {3, 4, 412}, {4, 5, 412},
		{5, 6, 411}, {6, 7, 411}, {7, 2, 411},
	};
	struct model *model = model_create();
	int distance = abs(rank - options->culprit);
	struct model_lane *lane;

	model->rank = rank;
	model->size = options->size;
	model->now_ns = 1000 * SECOND;
	strcpy(model->program->executable, "/home/me/solver");
	model->strings = xcalloc(1, sizeof(strings));
	memcpy(model->strings, strings, sizeof(strings));
	model->num_strings = sizeof(strings);
	model->num_modules = 1;
	model->modules = xcalloc(1, sizeof(*model->modules));
	model->modules[0].path = xstrdup("/home/me/solver");
	model->num_frames = NUM_FRAMES;
	model->frames = xcalloc(NUM_FRAMES, sizeof(*model->frames));
	for (uint32_t f = 0; f < NUM_FRAMES; f++)
		model->frames[f] = (struct seg_frame){
			hung_parents[f] < 0 ? SEG_NO_FRAME : (uint32_t)hung_parents[f], 0,
			0x100 * (f + 1)};
	model->num_sites = NUM_SITES;
	model->sites = xcalloc(NUM_SITES, sizeof(*model->sites));
	for (uint32_t s = 0; s < NUM_SITES; s++)
		model->sites[s] = (struct model_site){.frame = frames[s],
						      .name = model->strings + offsets[s],
						      .class_id = classes[s]};
	model->num_lanes = 1;
	model->lanes = lane = xcalloc(1, sizeof(*lane));
	lane->is_main = lane->is_consistent = true;
	lane->tid = 4000 + rank;
	lane->state = distance == 0   ? SEG_STATE_EXIT(SITE_WAITALL)
		      : distance == 1 ? SEG_STATE_ENTER(SITE_WAITALL)
				      : SEG_STATE_ENTER(SITE_ALLGATHER);
	lane->since_ns = 928 * SECOND;
	lane->events = lane->last_events = 2470;
	lane->num_transitions = sizeof(transitions) / sizeof(transitions[0]);
	lane->transitions = xcalloc(lane->num_transitions, sizeof(*lane->transitions));
	memcpy(lane->transitions, transitions, sizeof(transitions));
	lane->longest_ns = xcalloc(2 * NUM_SITES, sizeof(*lane->longest_ns));
	lane->state_polls = xcalloc(2 * NUM_SITES, sizeof(*lane->state_polls));
	lane->num_ring = 4;
	lane->ring = xcalloc(4, sizeof(*lane->ring));
	lane->ring[0] = (struct model_event){928 * SECOND - 8000000, SEG_STATE_ENTER(SITE_ISEND)};
	lane->ring[1] = (struct model_event){928 * SECOND - 7988000, SEG_STATE_EXIT(SITE_ISEND)};
	lane->ring[2] = (struct model_event){928 * SECOND - 7000000, SEG_STATE_ENTER(SITE_WAITALL)};
	lane->ring[3] = (struct model_event){928 * SECOND, lane->state};
	hung_evidence(model, lane, options, rank);
	return model;
}

uint32_t hung_frame(struct hung *hung, int frame)
{
	uint32_t parent =
		hung_parents[frame] < 0 ? CALLPATH_NONE : hung_frame(hung, hung_parents[frame]);

	return callpaths_intern(hung->job.callpaths, parent, 0, 0x100 * (uint64_t)(frame + 1),
				true);
}

static void hung_names(struct hung *hung, uint32_t in_force, uint32_t in_mpi)
{
	static const struct name plain[NUM_FRAMES] = {
		{"main", "main.c", NULL, 12, .is_symbol = true},
		{"run", "solver.c", NULL, 120, .is_symbol = true},
		{"halo", "solver.c", NULL, 125, .is_symbol = true},
		{"halo", "solver.c", NULL, 131, .is_symbol = true},
		{"run", "solver.c", NULL, 122, .is_symbol = true},
		{"exchange", "solver.c", NULL, 141, .is_symbol = true},
		{"halo", "solver.c", NULL, 128, .is_symbol = true},
		{"setup", "grid.c", NULL, 40, .is_symbol = true},
	};
	static const char *const cxx[NUM_FRAMES] = {
		"main",
		"Physics::Integrator<Physics::Particle<double, 3>, std::allocator<double> "
		">::run(int, "
		"Physics::Box<double> const&)",
		"void Physics::Comm::halo<double>(std::vector<double, std::allocator<double> >&)",
		"void Physics::Comm::halo<double>(std::vector<double, std::allocator<double> >&)",
		"Physics::Integrator<Physics::Particle<double, 3>, std::allocator<double> "
		">::run(int, "
		"Physics::Box<double> const&)",
		"Physics::Comm::exchange_all_the_particles_that_left(Physics::Box<double> const&)",
		"void Physics::Comm::halo<double>(std::vector<double, std::allocator<double> >&)",
		"Physics::Comm::Comm(Physics::Box<double> const&)",
	};
	static const struct name force = {"compute_forces", "force.c", NULL, 88, .is_symbol = true};
	static const struct name force_cxx = {"Physics::Pair::compute_forces(std::vector<double, "
					      "std::allocator<double> > const&)",
					      NULL, NULL, 0, .is_symbol = true};
	static const struct name mpi = {"PMPI_Allgather", NULL, NULL, 0, .is_symbol = true};

	for (int f = 0; f < NUM_FRAMES; f++) {
		struct name name = plain[f];

		if (hung->options.is_cxx)
			name = (struct name){.function = cxx[f], .is_symbol = true};
		names_set(hung->job.names, hung_frame(hung, f), &name);
	}
	names_set(hung->job.names, in_force, hung->options.is_cxx ? &force_cxx : &force);
	names_set(hung->job.names, in_mpi, &mpi);
}

void hung_job(struct hung *hung)
{
	const struct hung_options *options = &hung->options;
	struct job *job = &hung->job;
	uint32_t in_force, in_mpi, libmpi;
	struct pdb_error err;

	job->proctable = proctable_create();
	job->modules = modules_create();
	job->callpaths = callpaths_create();
	job->names = names_create(job->modules, job->callpaths, NULL, NULL);
	job->model = job_model_create(job->modules, job->callpaths);
	job->samples = samples_create();
	job->look_seconds = 0.1;
	modules_intern(job->modules, "/home/me/solver", NULL, 0);
	libmpi = modules_intern(job->modules, "/usr/lib/libmpi.so.40", NULL, 0);
	for (int r = 0; r < options->size; r++) {
		proctable_add(job->proctable, r, 4000 + r, "node", "solver");
		job_model_add(job->model, r, hung_model(options, r), 0);
	}
	proctable_finish(job->proctable, &err);
	job_model_finish(job->model);
	in_force = callpaths_intern(job->callpaths, hung_frame(hung, FRAME_STEP), 0, 0x900, false);
	in_mpi = callpaths_intern(job->callpaths, hung_frame(hung, FRAME_ALLGATHER), libmpi, 0x10,
				  false);
	hung_names(hung, in_force, in_mpi);
	for (int r = 0; r < options->size; r++) {
		struct sample sample = {
			.rank = r, .tid = 4000 + r, .is_main = true, .state = 'R', .path = in_mpi};

		if (r == options->culprit)
			sample.path = in_force;
		samples_add(job->samples, &sample);
	}
}

static void hung_progress(struct hung *hung)
{
	const struct hung_options *options = &hung->options;
	struct progress *progress = &hung->progress;
	struct job_model *jm = hung->job.model;

	progress->jm = jm;
	progress->num_loops = options->is_nested ? 2 : 1;
	progress->loops = xcalloc(2, sizeof(*progress->loops));
	progress->loops[0] = (struct job_loop){.header = SEG_STATE_ENTER(SITE_ISEND),
					       .parent = LOOP_NONE,
					       .is_comparable = true,
					       .path = hung_frame(hung, FRAME_MAIN),
					       .region = CALLPATH_NONE};
	progress->loops[1] = (struct job_loop){.header = SEG_STATE_ENTER(SITE_WAITALL),
					       .parent = 0,
					       .depth = 1,
					       .is_comparable = true,
					       .path = hung_frame(hung, FRAME_STEP),
					       .region = CALLPATH_NONE};
	progress->loop_of = xcalloc(job_model_num_states(jm), sizeof(uint32_t));
	for (uint32_t s = 0; s < job_model_num_states(jm); s++) {
		bool is_looping = SEG_STATE_SITE(s) && SEG_STATE_SITE(s) <= SITE_ALLGATHER;

		progress->loop_of[s] = is_looping ? 0 : LOOP_NONE;
		if (options->is_nested && SEG_STATE_SITE(s) == SITE_WAITALL)
			progress->loop_of[s] = 1;
	}
	progress->places = xcalloc(jm->num_lanes, sizeof(*progress->places));
	for (uint32_t a = 0; a < jm->num_lanes; a++) {
		struct place *place = &progress->places[a];
		size_t number =
			options->is_nested && SEG_STATE_SITE(jm->lanes[a].state) == SITE_WAITALL
				? 2
				: 1;
		struct iteration *iterations = xcalloc(2, sizeof(*iterations));

		iterations[0] = (struct iteration){.loop = 0, .count = 412, .total = 412};
		iterations[1] = (struct iteration){
			.loop = 1, .count = 1234, .total = 1234, .is_approximate = true};
		*place = (struct place){.state = jm->lanes[a].state};
		if (options->is_frontier && (int)a == options->culprit) {
			place->frontier = iterations;
			place->num_frontier = number;
		} else {
			place->iterations = iterations;
			place->num_iterations = number;
		}
	}
}

/* Groups by state: the many in MPI_Allgather, the neighbours, the culprit. */
static void hung_groups(struct hung *hung)
{
	static const uint32_t states[] = {SEG_STATE_ENTER(SITE_ALLGATHER),
					  SEG_STATE_ENTER(SITE_WAITALL),
					  SEG_STATE_EXIT(SITE_WAITALL)};
	struct job_model *jm = hung->job.model;
	struct eqgroups *groups = &hung->groups;

	groups->groups = xcalloc(3, sizeof(*groups->groups));
	groups->num_groups = 3;
	groups->group_of = xcalloc(jm->num_lanes, sizeof(uint32_t));
	for (uint32_t g = 0; g < 3; g++) {
		struct eqgroup *group = &groups->groups[g];

		group->ranks = rankset_create();
		group->state = states[g];
		group->activity =
			SEG_STATE_IS_EXIT(states[g]) ? ACTIVITY_COMPUTING : ACTIVITY_IN_MPI;
		group->actors = xcalloc(jm->num_lanes, sizeof(uint32_t));
		group->stay_min_ns = group->stay_max_ns = 72 * SECOND;
		for (uint32_t a = 0; a < jm->num_lanes; a++) {
			if (jm->lanes[a].state != states[g])
				continue;
			rankset_add(group->ranks, jm->lanes[a].rank);
			group->actors[group->num_actors++] = a;
			groups->group_of[a] = g;
		}
		group->place = &hung->progress.places[group->actors[0]];
	}
	if (hung->options.is_moving) {
		for (size_t i = 0; i < jm->num_lanes; i++)
			jm->lanes[i].has_second_look = true;
		jm->lanes[hung->options.culprit].moves = 200;
		jm->lanes[hung->options.culprit - 1].moves = 2;
		jm->lanes[hung->options.culprit].has_moved = true;
		jm->lanes[hung->options.culprit - 1].has_moved = true;
		groups->groups[1].has_moved = groups->groups[2].has_moved = true;
	}
}

/* All but the first of those in MPI_Allgather become groups of their own, all ahead of the
 * second. */
static void hung_scatter(struct hung *hung)
{
	struct eqgroups *groups = &hung->groups;
	struct progress_graph *graph = &hung->graph;
	uint32_t num = (uint32_t)groups->groups[0].num_actors, all = num + 2;

	groups->groups = xreallocarray(groups->groups, all, sizeof(*groups->groups));
	graph->edges = xreallocarray(graph->edges, all, sizeof(*graph->edges));
	graph->is_least = xreallocarray(graph->is_least, all, sizeof(bool));
	for (uint32_t i = 1; i < num; i++) {
		uint32_t actor = groups->groups[0].actors[i], g = i + 2;
		struct eqgroup *group = &groups->groups[g];

		*group = groups->groups[0];
		group->ranks = rankset_create();
		rankset_add(group->ranks, (int)actor);
		group->actors = xcalloc(1, sizeof(uint32_t));
		group->actors[0] = actor;
		group->num_actors = 1;
		group->place = &hung->progress.places[actor];
		hung->progress.places[actor].iterations[0].count = 1000 + i;
		groups->group_of[actor] = g;
		rankset_remove(groups->groups[0].ranks, (int)actor);
		graph->edges[graph->num_edges++] = (struct progress_edge){g, 1, 0};
		graph->is_least[g] = false;
	}
	groups->groups[0].num_actors = 1;
	groups->num_groups = all;
}

static void hung_verdict(struct hung *hung)
{
	struct verdict *verdict = &hung->verdict;

	hung->graph.groups = &hung->groups;
	hung->graph.num_edges = 2;
	hung->graph.edges = xcalloc(2, sizeof(*hung->graph.edges));
	hung->graph.edges[0] = (struct progress_edge){0, 1, LOOP_NONE};
	hung->graph.edges[1] = (struct progress_edge){1, 2, LOOP_NONE};
	hung->graph.is_least = xcalloc(3, sizeof(bool));
	hung->graph.is_least[2] = true;
	verdict->kind = VERDICT_COMPUTATION;
	verdict->basis = VERDICT_BY_MODELS;
	verdict->culprits = rankset_copy(hung->groups.groups[2].ranks);
	verdict->culprit_groups = xcalloc(1, sizeof(uint32_t));
	verdict->culprit_groups[0] = 2;
	verdict->num_culprit_groups = 1;
	verdict->waiting = rankset_copy(hung->groups.groups[0].ranks);
	rankset_add_set(verdict->waiting, hung->groups.groups[1].ranks);
	verdict->moving = rankset_create();
	verdict->awaited = rankset_create();
	verdict->apart = rankset_create();
	verdict->compared = rankset_create();
	verdict->is_hang = true;
	verdict->stay_ns = verdict->quiet_ns = 72 * SECOND;
	verdict->longest_before_ns = 210 * SECOND / 1000;
}

/* All groups are accused. */
static void hung_accuse(struct hung *hung)
{
	struct verdict *verdict = &hung->verdict;
	uint32_t num = (uint32_t)hung->groups.num_groups;

	verdict->culprit_groups =
		xreallocarray(verdict->culprit_groups, num, sizeof(*verdict->culprit_groups));
	for (uint32_t g = 0; g < num; g++) {
		verdict->culprit_groups[g] = g;
		rankset_add_set(verdict->culprits, hung->groups.groups[g].ranks);
	}
	verdict->num_culprit_groups = num;
	rankset_remove_set(verdict->waiting, verdict->culprits);
}

/* main() and below it compute_forces() for the culprit, MPI for all others. */
static void hung_tree(struct hung *hung)
{
	static const uint32_t parents[] = {UINT32_MAX, 0, 1, 0, 3, 4};
	static uint32_t root[] = {0}, children[] = {1, 3, 2, 4, 5};
	static const size_t first[] = {0, 2, 0, 3, 4, 0}, num[] = {2, 1, 0, 1, 1, 0};
	struct calltree *tree = &hung->tree;
	const struct samples *samples = hung->job.samples;
	int culprit = hung->options.culprit;
	struct rankset *all = rankset_copy(hung->job.model->ranks);
	const uint32_t paths[] = {
		hung_frame(hung, FRAME_MAIN),
		hung_frame(hung, FRAME_STEP),
		samples_find(samples, culprit, 0)->path,
		hung_frame(hung, FRAME_REDUCE),
		hung_frame(hung, FRAME_ALLGATHER),
		samples_find(samples, culprit ? 0 : 1, 0)->path,
	};

	tree->job = &hung->job;
	tree->frames = CALLTREE_LINE;
	tree->num_ranks = rankset_count(all);
	tree->num_nodes = 6;
	tree->roots = root;
	tree->num_roots = 1;
	tree->nodes = xcalloc(6, sizeof(*tree->nodes));
	for (int n = 0; n < 6; n++) {
		tree->nodes[n] = (struct calltree_node){.path = paths[n],
							.parent = parents[n],
							.children = children + first[n],
							.num_children = num[n],
							.ranks = rankset_copy(all)};
		if (n == 1 || n == 2)
			rankset_keep_set(tree->nodes[n].ranks, hung->verdict.culprits);
		else if (n > 2)
			rankset_remove(tree->nodes[n].ranks, culprit);
	}
	rankset_destroy(all);
}

struct hung *hung_create(struct hung_options options)
{
	struct hung *hung = xcalloc(1, sizeof(*hung));

	hung->options = options;
	hung_job(hung);
	hung_progress(hung);
	hung_groups(hung);
	hung_verdict(hung);
	if (options.is_scattered)
		hung_scatter(hung);
	if (options.is_everybody)
		hung_accuse(hung);
	hung_tree(hung);
	hung->comms = job_comms_create(hung->job.model);
	hung->evidence = evidence_create(&hung->job);
	hung->waitfor = waitfor_create(hung->evidence, hung->comms);
	hung->answer = (struct answer){.arena = arena_create(), .tree = &hung->tree};
	hung->view = (struct view){
		.arena = hung->answer.arena,
		.answer = &hung->answer,
		.width = 80,
		.job = &hung->job,
		.progress = &hung->progress,
		.groups = &hung->groups,
		.graph = &hung->graph,
		.verdict = &hung->verdict,
		.comms = hung->comms,
		.waitfor = hung->waitfor,
	};
	hung->view.out = open_memstream(&hung->text, &hung->length);
	return hung;
}

void hung_ask(struct hung *hung, int rank, void (*show)(const struct view *view))
{
	hung->answer.rank = rank;
	show(&hung->view);
}

const char *hung_text(struct hung *hung)
{
	static char *last;

	fclose(hung->view.out);
	free(last);
	last = hung->text;
	hung->view.out = open_memstream(&hung->text, &hung->length);
	return last;
}

void hung_destroy(struct hung *hung)
{
	arena_destroy(hung->answer.arena);
	for (size_t a = 0; a < hung->job.model->num_lanes; a++) {
		free(hung->progress.places[a].iterations);
		free(hung->progress.places[a].frontier);
	}
	for (size_t g = 0; g < hung->groups.num_groups; g++) {
		rankset_destroy(hung->groups.groups[g].ranks);
		free(hung->groups.groups[g].actors);
	}
	for (size_t n = 0; n < hung->tree.num_nodes; n++)
		rankset_destroy(hung->tree.nodes[n].ranks);
	free(hung->tree.nodes);
	free(hung->progress.loops);
	free(hung->progress.loop_of);
	free(hung->progress.places);
	free(hung->groups.groups);
	free(hung->groups.group_of);
	free(hung->graph.edges);
	free(hung->graph.is_least);
	free(hung->verdict.culprit_groups);
	rankset_destroy(hung->verdict.culprits);
	rankset_destroy(hung->verdict.waiting);
	rankset_destroy(hung->verdict.moving);
	rankset_destroy(hung->verdict.awaited);
	rankset_destroy(hung->verdict.apart);
	rankset_destroy(hung->verdict.compared);
	for (size_t i = 0; i < hung->job.num_holes; i++)
		free(hung->job.holes[i].why);
	free(hung->job.holes);
	waitfor_destroy(hung->waitfor);
	evidence_destroy(hung->evidence);
	job_comms_destroy(hung->comms);
	job_model_destroy(hung->job.model);
	names_destroy(hung->job.names);
	callpaths_destroy(hung->job.callpaths);
	modules_destroy(hung->job.modules);
	samples_destroy(hung->job.samples);
	proctable_destroy(hung->job.proctable);
	fclose(hung->view.out);
	free(hung->text);
	free(hung);
}
