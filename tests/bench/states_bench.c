/* SPDX-License-Identifier: BSD-3-Clause
 * How long it takes to merge the models of a job and to analyse it, by the number of states of a
 * rank and by how much the ranks differ.
 *
 *	states_bench RANKS STATES...
 *
 * The program has an outer loop over all its call sites, ten of which are an inner loop each.
 * Rank 7 hangs outside MPI after the first call of the outer loop's body, all others wait in the
 * call after it. "equal": all have made the same transitions, the same number of times;
 * "groups": there are 16 kinds of ranks, each of which leaves out other inner loops, and makes
 * others of them more often; "different": no two ranks have gone round the loops equally often.
 *
 * Processor time in ms, and MB: the peak of a process that does all of it, with the ranks'
 * models. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "tests/fixtures/still_ranks.h"
#include "tests/unit/answers.h"

enum { HANGING = 7, BODY = 10, KINDS = 16, ROUNDS = 20, TRIPS = 5, MS = 1000000 };
enum difference { EQUAL, GROUPS, DIFFERENT, NUM_DIFFERENCES };

static const char *const difference_names[] = {"equal", "groups", "different"};
static const char strings[] = "start\0MPI_Sendrecv\0MPI_Allreduce";
enum { NAME_START = 0, NAME_SENDRECV = 6, NAME_ALLREDUCE = 19 };

/* ---- Models ---- */

/* Site s is called in line s, by the function of its inner loop, which main calls. */
static void add_sites(struct model *model, uint32_t num)
{
	model->sites = xcalloc(num + 1, sizeof(*model->sites));
	model->frames = xcalloc(num + num / BODY + 1, sizeof(*model->frames));
	model->strings = xcalloc(1, sizeof(strings));
	memcpy(model->strings, strings, sizeof(strings));
	model->num_strings = sizeof(strings);
	model->sites[0] = (struct model_site){.frame = SEG_NO_FRAME, .name = model->strings};
	model->num_sites = num + 1;
	for (uint32_t s = 1, function = 0; s <= num; s++) {
		bool is_last = s == num;

		if ((s - 1) % BODY == 0) {
			function = (uint32_t)model->num_frames++;
			model->frames[function] =
				(struct seg_frame){.parent = SEG_NO_FRAME, .offset = s};
		}
		model->sites[s] = (struct model_site){
			.frame = (uint32_t)model->num_frames,
			.name = model->strings + (is_last ? NAME_ALLREDUCE : NAME_SENDRECV),
			.class_id = is_last ? SEG_CLASS_COLLECTIVE : SEG_CLASS_OTHER,
		};
		model->frames[model->num_frames++] =
			(struct seg_frame){.parent = function, .offset = (1u << 20) + s};
	}
}

static void go(struct model_lane *lane, uint32_t from, uint32_t to, uint64_t count)
{
	lane->transitions[lane->num_transitions++] =
		(struct model_transition){.from = from, .to = to, .count = count};
}

/* Calls first to last, so often in each of the rounds. */
static void go_round(struct model_lane *lane, uint32_t first, uint32_t last, uint64_t rounds,
		     uint64_t trips)
{
	for (uint32_t s = first; s <= last; s++) {
		go(lane, SEG_STATE_ENTER(s), SEG_STATE_EXIT(s), rounds * trips);
		if (s < last)
			go(lane, SEG_STATE_EXIT(s), SEG_STATE_ENTER(s + 1), rounds * trips);
	}
	if (trips > 1)
		go(lane, SEG_STATE_EXIT(last), SEG_STATE_ENTER(first), rounds * (trips - 1));
}

/* Rounds of 1, (2 to 11), (12 to 21), ..., num; then 1 once more, and, unless it hangs there, 2. */
static void add_transitions(struct model *model, uint32_t num, enum difference difference)
{
	struct model_lane *lane = &model->lanes[0];
	uint32_t kind = (uint32_t)model->rank % KINDS, before = 1;
	uint64_t more = difference == DIFFERENT ? (uint64_t)model->rank : 0;

	lane->transitions = xcalloc(2 * num + num / BODY + 8, sizeof(*lane->transitions));
	go(lane, SEG_STATE_EXIT(0), SEG_STATE_ENTER(1), 1);
	go(lane, SEG_STATE_ENTER(1), SEG_STATE_EXIT(1), ROUNDS + 1);
	for (uint32_t first = 2; first < num; first += BODY) {
		uint32_t last = first + BODY < num ? first + BODY - 1 : num - 1;
		uint32_t block = first / BODY;
		uint64_t trips = TRIPS + more;

		if (difference == GROUPS && first > 2 && block % KINDS == kind)
			continue;
		if (difference == GROUPS && block % 3 == kind % 3)
			trips++;
		go(lane, SEG_STATE_EXIT(before), SEG_STATE_ENTER(first),
		   ROUNDS + (before == 1 && model->rank != HANGING));
		go_round(lane, first, last, ROUNDS, trips);
		before = last;
	}
	go(lane, SEG_STATE_EXIT(before), SEG_STATE_ENTER(num), ROUNDS);
	go(lane, SEG_STATE_ENTER(num), SEG_STATE_EXIT(num), ROUNDS);
	go(lane, SEG_STATE_EXIT(num), SEG_STATE_ENTER(1), ROUNDS);
	for (size_t t = 0; t < lane->num_transitions; t++)
		lane->events += lane->transitions[t].count;
	lane->last_events = lane->events;
}

static struct model *make_model(int rank, int num_ranks, uint32_t num, enum difference difference)
{
	struct model *model = still_model_create(rank, num_ranks);
	struct model_lane *lane;

	add_sites(model, num);
	lane = still_model_lane(model, rank == HANGING ? SEG_STATE_EXIT(1) : SEG_STATE_ENTER(2));
	for (size_t s = 2; s < 2 * model->num_sites; s++)
		lane->longest_ns[s] = MS;
	add_transitions(model, num, difference);
	return model;
}

/* ---- The job ---- */

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void bench(int num_ranks, uint32_t num_states, enum difference difference)
{
	struct job *job = job_create();
	struct answers answers = {.job = job};
	struct model **models = xcalloc((size_t)num_ranks, sizeof(struct model *));
	double at, merge, place, all;

	for (int rank = 0; rank < num_ranks; rank++)
		models[rank] = make_model(rank, num_ranks, num_states / 2 - 1, difference);
	at = milliseconds();
	job->model = job_model_create(job->modules, job->callpaths);
	for (int rank = 0; rank < num_ranks; rank++)
		job_model_add(job->model, rank, models[rank], 0);
	still_job_finish(job);
	merge = milliseconds() - at;
	at = milliseconds();
	answers.progress = progress_create(job->model);
	place = milliseconds() - at;
	answers.groups = eqgroups_create(answers.progress);
	answers.graph = progress_graph_create(answers.progress, answers.groups);
	answers.comms = job_comms_create(job->model);
	answers.evidence = evidence_create(job);
	answers.waitfor = waitfor_create(answers.evidence, answers.comms);
	answers.verdict = answers_judge(&answers, NULL);
	all = milliseconds() - at;
	if (rankset_count(answers.verdict->culprits) != 1 ||
	    rankset_first(answers.verdict->culprits) != HANGING) {
		char *text = rankset_encode(answers.verdict->culprits, 5);

		fprintf(stderr, "states_bench: the wrong ranks hang: %s\n", text);
		exit(1);
	}
	printf("%6d %7u %-9s %9.1f %9.1f %9.1f", num_ranks, num_states,
	       difference_names[difference], merge, place, all - place);
	fflush(stdout);
	_exit(0); /* nothing is freed: what that takes is not asked */
}

int main(int argc, char **argv)
{
	int num_ranks = argc > 1 ? atoi(argv[1]) : 0;

	if (num_ranks <= HANGING || argc < 3) {
		fprintf(stderr, "usage: states_bench RANKS STATES..., at least 8 and 10\n");
		return 2;
	}
	printf("%6s %7s %-9s %9s %9s %9s %9s\n", "ranks", "states", "ranks are", "merge ms",
	       "place ms", "judge ms", "MB");
	fflush(stdout);
	for (int i = 2; i < argc; i++)
		for (int difference = 0; difference < NUM_DIFFERENCES; difference++) {
			pid_t pid = fork();
			struct rusage usage;
			int status;

			if (pid == 0)
				bench(num_ranks, (uint32_t)atoi(argv[i]), difference);
			if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status != 0)
				return 1;
			printf(" %9.1f\n", (double)usage.ru_maxrss / 1024);
			fflush(stdout);
		}
	return 0;
}
