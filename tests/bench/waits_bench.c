/* SPDX-License-Identifier: BSD-3-Clause
 * How long it takes to find out who waits for whom.
 *
 *	waits_bench RANKS...
 *
 * Each rank has exchanged messages with 26 neighbours, with two tags each, in a communicator of its
 * own making, and is stuck now: all in a barrier but one that computes, or in all kinds of waits.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "tests/fixtures/still_ranks.h"
#include "tests/unit/answers.h"

enum { NEIGHBOURS = 26, TAGS = 2, STEPS = 500, WORLD = 0, GRID = 2, NUM_COMMS = 3 };

/* Call sites, one for each kind of wait. */
enum wait {
	START,
	BARRIER,
	RECV,
	RECV_ANY,
	PROBE,
	SEND,
	SENDRECV,
	WAITALL,
	WAITANY,
	BCAST,
	LOCK,
	COMPUTE,
	NUM_WAITS
};

static const char names[] = "start\0MPI_Barrier\0MPI_Recv\0MPI_Probe\0MPI_Send\0MPI_Sendrecv\0"
			    "MPI_Waitall\0MPI_Waitany\0MPI_Bcast\0MPI_Win_lock\0MPI_Wtime";
static const uint16_t name_of[NUM_WAITS] = {0, 6, 18, 18, 27, 37, 46, 59, 71, 83, 93, 106};

struct setting {
	const char *what;
	int num_ranks;
	bool is_mixed;
};

static int neighbour(const struct setting *setting, int rank, int number)
{
	static const int steps[] = {1, 16, 256};
	int offset = 0;

	/* -1, 0 and 1 in each direction, but for itself. */
	number += number >= NEIGHBOURS / 2;
	for (int d = 0; d < 3; d++, number /= 3)
		offset += (number % 3 - 1) * steps[d];
	return (int)(((int64_t)rank + offset + setting->num_ranks) % setting->num_ranks);
}

static enum wait wait_of(const struct setting *setting, int rank)
{
	if (!setting->is_mixed)
		return rank == setting->num_ranks / 2 ? COMPUTE : BARRIER;
	return (enum wait)(1 + rank % (COMPUTE - 1));
}

static void put_sites(struct model *model)
{
	model->num_strings = sizeof(names);
	model->strings = xmalloc(sizeof(names));
	memcpy(model->strings, names, sizeof(names));
	model->num_frames = model->num_sites = NUM_WAITS;
	model->frames = xcalloc(NUM_WAITS, sizeof(*model->frames));
	model->sites = xcalloc(NUM_WAITS, sizeof(*model->sites));
	for (uint32_t s = 0; s < NUM_WAITS; s++) {
		model->frames[s] = (struct seg_frame){SEG_NO_FRAME, 0, 16 * s};
		model->sites[s] = (struct model_site){.frame = s == START ? SEG_NO_FRAME : s,
						      .name = model->strings + name_of[s]};
	}
}

static void put_comms(struct model *model, enum wait wait)
{
	uint64_t collectives = wait == BARRIER ? 101 : wait == BCAST ? 102 : 100;

	model->num_comms = NUM_COMMS;
	model->comms = xcalloc(NUM_COMMS, sizeof(*model->comms));
	for (uint32_t c = 0; c < NUM_COMMS; c++) {
		struct model_comm *comm = &model->comms[c];

		*comm = (struct model_comm){
			.id = c == 1 ? 1000000 + (uint64_t)model->rank : 10 + c,
			.parent_id = c == GRID ? 10 : 0,
			.ordinal = 1,
			.rank = c == 1 ? 0 : model->rank,
			.size = c == 1 ? 1 : (uint32_t)model->size,
			.members = c == 1 ? SEG_NO_MEMBERS : SEG_ALL_MEMBERS,
			.sources = SEG_NO_MEMBERS,
			.collectives = collectives,
		};
		for (int k = 0; k < SEG_RECENT; k++) {
			uint64_t number = collectives - (uint64_t)k;

			comm->recent[k] = (struct model_collective){
				.number = number,
				.site = number == 102 ? BCAST : BARRIER,
				.root = number == 102 ? 0 : SEG_PEER_NONE,
				.bytes = 8,
			};
		}
	}
}

static void put_ledger(const struct setting *setting, struct model *model, struct model_lane *lane)
{
	lane->num_ledger = NEIGHBOURS * TAGS;
	lane->ledger = xcalloc(lane->num_ledger, sizeof(*lane->ledger));
	for (int i = 0; i < NEIGHBOURS * TAGS; i++)
		lane->ledger[i] = (struct model_ledger){
			.comm = GRID,
			.peer = neighbour(setting, model->rank, i / TAGS),
			.tag = i % TAGS,
			.sends = STEPS,
			.sends_done = STEPS,
			.receives = STEPS,
			.receives_done = STEPS,
		};
}

/* Receives from all neighbours that nobody has sent for. */
static void put_requests(struct model *model, struct model_lane *lane)
{
	struct model_operation *op = &lane->operation;

	op->num_waited = model->num_requests = NEIGHBOURS;
	op->waited = xcalloc(NEIGHBOURS, sizeof(*op->waited));
	model->requests = xcalloc(NEIGHBOURS, sizeof(*model->requests));
	for (uint32_t i = 0; i < NEIGHBOURS; i++) {
		struct model_ledger *row = &lane->ledger[TAGS * i];

		op->waited[i] = i;
		model->requests[i] = (struct model_request){
			.kind = SEG_REQUEST_RECV,
			.flags = SEG_REQUEST_ACTIVE,
			.comm = GRID,
			.peer = row->peer,
			.tag = row->tag,
			.ordinal = ++row->receives,
			.site = WAITALL,
		};
	}
}

static void put_operation(const struct setting *setting, struct model *model,
			  struct model_lane *lane, enum wait wait)
{
	static const enum seg_operation_kind kinds[NUM_WAITS] = {
		[BARRIER] = SEG_OPERATION_COLLECTIVE, [RECV] = SEG_OPERATION_RECV,
		[RECV_ANY] = SEG_OPERATION_RECV,      [PROBE] = SEG_OPERATION_PROBE,
		[SEND] = SEG_OPERATION_SEND,          [SENDRECV] = SEG_OPERATION_SENDRECV,
		[WAITALL] = SEG_OPERATION_WAIT_ALL,   [WAITANY] = SEG_OPERATION_WAIT_ANY,
		[BCAST] = SEG_OPERATION_COLLECTIVE,   [LOCK] = SEG_OPERATION_LOCK,
	};
	struct model_operation *op = &lane->operation;
	int next = neighbour(setting, model->rank, NEIGHBOURS / 2);

	op->kind = kinds[wait];
	op->number = wait == BCAST ? 102 : 101;
	for (int i = 0; i < 2; i++)
		op->transfers[i] = (struct model_transfer){
			.comm = op->kind == SEG_OPERATION_COLLECTIVE ? WORLD : GRID,
			.peer = wait == RECV_ANY ? SEG_PEER_ANY
				: wait == BCAST  ? 0
						 : next,
			.tag = wait == LOCK,
			.ordinal = wait == PROBE ? 0 : STEPS + 1,
			.bytes = 8,
		};
	if (wait == WAITALL || wait == WAITANY)
		put_requests(model, lane);
	if (wait != COMPUTE && wait != WAITALL && wait != WAITANY)
		lane->ledger[NEIGHBOURS].receives++;
}

static struct model *make_model(const struct setting *setting, int rank)
{
	struct model *model = still_model_create(rank, setting->num_ranks);
	enum wait wait = wait_of(setting, rank);
	struct model_lane *lane;

	put_sites(model);
	put_comms(model, wait);
	lane = still_model_lane(model,
				wait == COMPUTE ? SEG_STATE_EXIT(BARRIER) : SEG_STATE_ENTER(wait));
	lane->events = lane->last_events = 1;
	lane->num_transitions = 1;
	lane->transitions = xcalloc(1, sizeof(*lane->transitions));
	lane->transitions[0] = (struct model_transition){1, lane->state, 1};
	put_ledger(setting, model, lane);
	put_operation(setting, model, lane, wait);
	return model;
}

/* Of processor time: other programs do not count. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double megabytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void bench(const struct setting *setting)
{
	struct job *job = job_create();
	struct answers answers = {.job = job};
	double at[5], before;
	size_t num_stuck = 0;

	job->model = job_model_create(job->modules, job->callpaths);
	for (int r = 0; r < setting->num_ranks; r++)
		job_model_add(job->model, r, make_model(setting, r), 0);
	still_job_finish(job);
	answers.progress = progress_create(job->model);
	answers.groups = eqgroups_create(answers.progress);
	answers.graph = progress_graph_create(answers.progress, answers.groups);
	before = megabytes();
	at[0] = seconds();
	answers.comms = job_comms_create(job->model);
	at[1] = seconds();
	answers.evidence = evidence_create(job);
	answers.waitfor = waitfor_create(answers.evidence, answers.comms);
	at[2] = seconds();
	answers.verdict = answers_judge(&answers, NULL);
	at[3] = seconds();
	for (size_t l = 0; l < answers.waitfor->num_actors; l++)
		num_stuck += answers.waitfor->actors[l].is_stuck;
	printf("%8d %-14s", setting->num_ranks, setting->what);
	for (int i = 1; i < 4; i++)
		printf(" %9.1f", (at[i] - at[i - 1]) * 1e3);
	printf(" %9.1f %9.1f %9zu %9zu %9d\n", (at[3] - at[0]) * 1e3, megabytes() - before,
	       num_stuck, answers.waitfor->num_deadlocks, rankset_count(answers.verdict->culprits));
	answers_deinit(&answers);
	job_destroy(job);
}

int main(int argc, char **argv)
{
	printf("%8s %-14s %9s %9s %9s %9s %9s %9s %9s %9s\n", "ranks", "waits", "comms ms",
	       "waits ms", "judge ms", "all ms", "MB", "stuck", "deadlocks", "culprits");
	for (int i = 1; i < argc; i++) {
		struct setting setting = {"in a barrier", atoi(argv[i]), false};

		if (setting.num_ranks < 1000) {
			fprintf(stderr, "usage: waits_bench RANKS..., at least 1000\n");
			return 2;
		}
		bench(&setting);
		setting.what = "of all kinds";
		setting.is_mixed = true;
		bench(&setting);
	}
	return 0;
}
