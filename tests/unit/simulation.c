/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/simulation.h"

struct model_lane *sim_lane(struct sim_rank *sim)
{
	return &sim->model->lanes[sim->model->num_lanes - 1];
}

void sim_add_thread(struct sim_rank *sim)
{
	struct model *model = sim->model;
	struct model_lane *lane;

	model->lanes = xreallocarray(model->lanes, model->num_lanes + 1, sizeof(*model->lanes));
	lane = &model->lanes[model->num_lanes++];
	memset(lane, 0, sizeof(*lane));
	lane->is_main = model->num_lanes == 1;
	lane->is_consistent = true;
	lane->tid = model->pid + (int)model->num_lanes - 1;
	lane->state = 1;
	lane->since_ns = model->now_ns;
	lane->first_ns = model->now_ns;
	lane->longest_ns = xcalloc(2 * SIM_MAX_SITES, sizeof(uint64_t));
	lane->state_polls = xcalloc(2 * SIM_MAX_SITES, sizeof(uint64_t));
	sim->transitions_capacity = 0;
	sim->ring_capacity = 0;
}

static uint32_t sim_add_name(struct sim_rank *sim, const char *name)
{
	size_t at = sim->names_used;

	sim->names_used += strlen(name) + 1;
	if (sim->names_used > SIM_STRINGS)
		abort();
	strcpy(sim->model->strings + at, name);
	return (uint32_t)at;
}

struct sim_rank *sim_rank_create(int rank)
{
	struct sim_rank *sim = xcalloc(1, sizeof(*sim));
	struct model *model = model_create();

	sim->rank = rank;
	sim->model = model;
	sim->step_ns = SIM_MS;
	sim->max_ring = SIZE_MAX;
	model->rank = rank;
	model->pid = 1000 + rank;
	model->life = SEG_LIFE_RUNNING;
	model->now_ns = 1000 * (uint64_t)SIM_MS;
	model->now_real_ns = model->now_ns;
	strcpy(model->program->executable, "/bin/app");
	model->strings = xcalloc(1, SIM_STRINGS);
	model->num_strings = SIM_STRINGS;
	model->modules = xcalloc(1, sizeof(*model->modules));
	model->modules[0].path = xstrdup("/bin/app");
	model->num_modules = 1;
	model->sites = xcalloc(SIM_MAX_SITES, sizeof(*model->sites));
	model->sites[0].frame = SEG_NO_FRAME;
	model->sites[0].name = model->strings + sim_add_name(sim, "start");
	model->num_sites = 1;
	sim_add_thread(sim);
	return sim;
}

static uint32_t sim_frame(struct sim_rank *sim, const uint32_t *path)
{
	struct model *model = sim->model;
	uint32_t parent = SEG_NO_FRAME;

	for (int i = 0; path[i]; i++) {
		uint32_t found = SEG_NO_FRAME;

		for (uint32_t f = 0; f < model->num_frames; f++)
			if (model->frames[f].parent == parent && model->frames[f].offset == path[i])
				found = f;
		if (found == SEG_NO_FRAME) {
			found = (uint32_t)model->num_frames;
			model->frames = xgrow(model->frames, found, &sim->frames_capacity,
					      sizeof(*model->frames));
			model->frames[model->num_frames++] = (struct seg_frame){
				.parent = parent,
				.offset = path[i],
			};
		}
		parent = found;
	}
	return parent;
}

static enum seg_class sim_class(const char *name)
{
	static const struct {
		const char *name;
		enum seg_class class_id;
	} classes[] = {
		{"MPI_Send", SEG_CLASS_SEND},          {"MPI_Recv", SEG_CLASS_RECV},
		{"MPI_Test", SEG_CLASS_POLL},          {"MPI_Allreduce", SEG_CLASS_COLLECTIVE},
		{"MPI_Barrier", SEG_CLASS_COLLECTIVE}, {"MPI_Waitall", SEG_CLASS_WAIT},
		{"MPI_Init", SEG_CLASS_INIT},          {"MPI_Finalize", SEG_CLASS_FINALIZE},
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(classes[i].name, name))
			return classes[i].class_id;
	return SEG_CLASS_OTHER;
}

uint32_t sim_site(struct sim_rank *sim, const char *name, const uint32_t *path)
{
	struct model *model = sim->model;
	uint32_t frame = sim_frame(sim, path);

	for (uint32_t s = 1; s < model->num_sites; s++)
		if (sim->site_frames[s] == frame && !strcmp(model->sites[s].name, name))
			return s;
	if (model->num_sites == SIM_MAX_SITES)
		abort();
	sim->site_frames[model->num_sites] = frame;
	model->sites[model->num_sites] = (struct model_site){
		.frame = frame,
		.name = model->strings + sim_add_name(sim, name),
		.class_id = sim_class(name),
	};
	return (uint32_t)model->num_sites++;
}

/* The lane's present state has lasted until now; make the transition. */
static void sim_go(struct sim_rank *sim, uint32_t state)
{
	struct model *model = sim->model;
	struct model_lane *lane = sim_lane(sim);
	uint64_t stay = model->now_ns - lane->since_ns;
	size_t t;

	if (stay > lane->longest_ns[lane->state])
		lane->longest_ns[lane->state] = stay;
	for (t = 0; t < lane->num_transitions; t++)
		if (lane->transitions[t].from == lane->state && lane->transitions[t].to == state)
			break;
	if (t == lane->num_transitions) {
		lane->transitions = xgrow(lane->transitions, t, &sim->transitions_capacity,
					  sizeof(*lane->transitions));
		lane->transitions[lane->num_transitions++] = (struct model_transition){
			.from = lane->state,
			.to = state,
		};
	}
	lane->transitions[t].count++;
	lane->ring = xgrow(lane->ring, lane->num_ring, &sim->ring_capacity, sizeof(*lane->ring));
	lane->ring[lane->num_ring++] = (struct model_event){.ns = model->now_ns, .state = state};
	lane->state = state;
	lane->since_ns = model->now_ns;
	lane->events++;
}

void sim_enter(struct sim_rank *sim, const char *name, const uint32_t *path)
{
	sim->model->now_ns += sim->step_ns;
	sim_go(sim, SEG_STATE_ENTER(sim_site(sim, name, path)));
}

void sim_leave(struct sim_rank *sim)
{
	sim->model->now_ns += sim->step_ns;
	sim_go(sim, sim_lane(sim)->state | 1);
}

void sim_call(struct sim_rank *sim, const char *name, const uint32_t *path)
{
	sim_enter(sim, name, path);
	sim_leave(sim);
}

void sim_stay(struct sim_rank *sim, uint64_t ms)
{
	sim->model->now_ns += ms * SIM_MS;
}

void sim_trim(struct sim_rank *sim)
{
	struct model *model = sim->model;

	for (size_t l = 0; l < model->num_lanes; l++) {
		struct model_lane *lane = &model->lanes[l];

		if (lane->num_ring > sim->max_ring) {
			memmove(lane->ring, lane->ring + (lane->num_ring - sim->max_ring),
				sim->max_ring * sizeof(*lane->ring));
			lane->num_ring = sim->max_ring;
		}
		lane->last_events = lane->events;
		lane->ring = xreallocarray(lane->ring, lane->num_ring, sizeof(*lane->ring));
		lane->longest_ns = xreallocarray(lane->longest_ns, 2 * model->num_sites,
						 sizeof(*lane->longest_ns));
		lane->state_polls = xreallocarray(lane->state_polls, 2 * model->num_sites,
						  sizeof(*lane->state_polls));
	}
	model->sites = xreallocarray(model->sites, model->num_sites, sizeof(*model->sites));
	model->num_strings = sim->names_used;
}

void sim_add(struct job *job, struct sim_rank *sim)
{
	sim_trim(sim);
	if (!job->model)
		job->model = job_model_create(job->modules, job->callpaths);
	job_model_add(job->model, sim->rank, sim->model, 0);
	free(sim);
}
