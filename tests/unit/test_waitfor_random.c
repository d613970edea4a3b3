/* SPDX-License-Identifier: BSD-3-Clause
 * Programs made by chance, most of them with a fault, carried out by the rules of MPI to a stop or
 * to some moment. What the analysis calls stuck must be stuck by what the small MPI knows. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <stdio.h>

#include "analysis/waits/waitfor.h"
#include "model/arena.h"
#include "model/job/job_comms.h"
#include "model/job/rankset.h"
#include "tests/unit/small_models.h"

enum { MAX_SIZE = 6, MAX_TEXT = 1024, MAX_TOKENS = 128 };

/* ---- Programs ---- */

static unsigned random_state;

static int below(int n)
{
	random_state = random_state * 1103515245u + 12345u;
	return (int)(random_state >> 16) % n;
}

struct program {
	char tokens[MAX_TOKENS][12];
	int num_tokens;
	int num_open; /* requests */
};

static void add(struct program *program, const char *format, int number, int tag, int comm)
{
	char call[8], tag_text[16] = "", comm_text[16] = "", text[48];

	if (program->num_tokens == MAX_TOKENS)
		return;
	snprintf(call, sizeof(call), format, number);
	if (tag)
		snprintf(tag_text, sizeof(tag_text), ":%d", tag);
	if (comm)
		snprintf(comm_text, sizeof(comm_text), "@%d", comm);
	snprintf(text, sizeof(text), "%s%s%s", call, tag_text, comm_text);
	memcpy(program->tokens[program->num_tokens], text, sizeof(program->tokens[0]));
	program->tokens[program->num_tokens++][sizeof(program->tokens[0]) - 1] = '\0';
}

static void add_wait(struct program *program)
{
	add(program, below(8) ? "w" : "v", 0, 0, 0);
	program->num_open = 0;
}

static void add_message(struct program *programs, int size)
{
	static const char *const sends[] = {"s%d", "S%d", "is%d", "iS%d", "iz%d"};
	static const char *const recvs[] = {"r%d", "r%d", "ir%d", "r*", "ir*"};
	int from = below(size), to = (from + 1 + below(size - 1)) % size;
	int send = below(5), recv = below(5), tag = below(3), comm = below(4) ? 0 : 1;

	if (below(8) == 0)
		add(&programs[to], "p%d", from, tag, comm);
	if (recv == 2 || recv == 4) {
		add(&programs[to], recvs[recv], from, tag, comm);
		add(&programs[from], sends[send], to, tag, comm);
		programs[to].num_open++;
	} else {
		add(&programs[from], sends[send], to, tag, comm);
		add(&programs[to], recvs[recv], from, tag, comm);
	}
	programs[from].num_open += send >= 2;
}

static void add_collective(struct program *programs, int size)
{
	static const char *const names[] = {"b", "a", "c%d", "d%d", "ib", "n"};
	int what = below(6), root = below(size), comm = below(3) ? 0 : 1;

	for (int r = 0; r < size; r++) {
		add(&programs[r], names[what], root, 0, comm);
		programs[r].num_open += what == 4;
	}
}

static void add_window(struct program *programs, int size)
{
	int from = below(size), to = (from + 1 + below(size - 1)) % size;

	if (below(2)) {
		add(&programs[from], below(2) ? "L%d" : "l%d", to, 0, 0);
		add(&programs[from], "u%d", to, 0, 0);
		return;
	}
	add(&programs[to], "P%d", from, 0, 0);
	add(&programs[from], "T%d", to, 0, 0);
	add(&programs[from], "C%d", to, 0, 0);
	add(&programs[to], "W%d", from, 0, 0);
}

static void remove_token(struct program *program, int at)
{
	program->num_tokens--;
	memmove(program->tokens[at], program->tokens[at + 1],
		(size_t)(program->num_tokens - at) * sizeof(program->tokens[0]));
}

/* Leave a call out, exchange two, call with another rank or tag, or stop there. */
static void spoil(struct program *program, int size)
{
	static const char *const ends[] = {"x", "m", "x", "f", "e", "t"};
	int at, what = below(5);
	char *token;

	if (program->num_tokens < 2)
		return;
	at = below(program->num_tokens - 1);
	token = program->tokens[at];
	if (what <= 1) {
		remove_token(program, at);
	} else if (what == 2) {
		char copy[sizeof(program->tokens[0])];

		memcpy(copy, token, sizeof(copy));
		memcpy(token, program->tokens[at + 1], sizeof(copy));
		memcpy(program->tokens[at + 1], copy, sizeof(copy));
	} else if (what == 3) {
		for (; *token; token++)
			if (isdigit((unsigned char)*token) && below(2)) {
				*token = (char)('0' + below(size < 4 ? size : 4));
				break;
			}
	} else {
		snprintf(token, sizeof(program->tokens[0]), "%s", ends[below(6)]);
	}
}

static void write_program(const struct program *program, int self, char *text)
{
	size_t length = 0;

	*text = '\0';
	for (int i = 0; i < program->num_tokens; i++) {
		const char *token = program->tokens[i];

		/* Nobody talks to itself here: such a call is left out. */
		if (strchr("srpPTCW", token[token[0] == 'i']) &&
		    atoi(token + 1 + (token[0] == 'i')) == self && !strchr(token, '*'))
			continue;
		length += (size_t)snprintf(text + length, MAX_TEXT - length, "%s ", token);
	}
}

static int make_programs(unsigned seed, char (*texts)[MAX_TEXT])
{
	static struct program programs[MAX_SIZE];
	int size, num_events, num_faults;

	random_state = seed * 2654435761u + 1;
	size = 2 + below(MAX_SIZE - 1);
	memset(programs, 0, sizeof(programs));
	num_events = 3 + below(12);
	for (int e = 0; e < num_events; e++) {
		int what = below(10);

		if (what < 6)
			add_message(programs, size);
		else if (what < 9)
			add_collective(programs, size);
		else
			add_window(programs, size);
		for (int r = 0; r < size; r++)
			if (programs[r].num_open > 3 || (programs[r].num_open && below(3) == 0))
				add_wait(&programs[r]);
	}
	for (int r = 0; r < size; r++) {
		if (programs[r].num_open)
			add_wait(&programs[r]);
		add(&programs[r], below(3) ? "f" : "m", 0, 0, 0);
	}
	num_faults = below(4);
	for (int i = 0; i < num_faults; i++)
		spoil(&programs[below(size)], size);
	for (int r = 0; r < size; r++)
		write_program(&programs[r], r, texts[r]);
	return size;
}

/* ---- The truth ---- */

struct truth {
	const struct sm_job *job;
	bool can_go[SM_RANKS]; /* by itself, or once others do that can */
};

static bool may_transfer(const struct truth *t, const struct sm_transfer *transfer)
{
	if (sm_is_complete(t->job, transfer))
		return true;
	if (transfer->peer != SEG_PEER_ANY)
		return t->can_go[transfer->peer];
	for (int r = 0; r < t->job->size; r++)
		if (t->can_go[r])
			return true;
	return false;
}

static bool may_leave(const struct truth *t, int self, int comm, uint64_t number, char kind,
		      int root)
{
	for (int r = 0; r < t->job->size; r++) {
		if (r == self || !sm_needs_member(t->job, self, kind, root, r) ||
		    sm_has_come(t->job, r, self, comm, number))
			continue;
		/* Who has called something else will not come. */
		if (t->job->ranks[r].collectives[comm] >= number || !t->can_go[r])
			return false;
	}
	return true;
}

static bool may_lock(const struct truth *t, int self, const struct sm_call *call)
{
	for (int r = 0; r < t->job->size; r++) {
		const struct sm_lock *lock = &t->job->ranks[r].lock;

		if (r != self && lock->is_held && lock->target == call->peer &&
		    (lock->is_exclusive || call->kind == 'L') && !t->can_go[r])
			return false;
	}
	return true;
}

static bool may_wait(const struct truth *t, int self, bool any)
{
	const struct sm_rank *rank = &t->job->ranks[self];
	bool all = true, one = false;

	for (int i = 0; i < SM_SLOTS; i++) {
		const struct sm_slot *slot = &rank->slots[i];
		bool may;

		if (slot->kind == SM_FREE)
			continue;
		may = slot->kind == SM_COLLECTIVE
			      ? may_leave(t, self, slot->comm, slot->number, 'b', 0)
			      : may_transfer(t, &slot->transfer);
		all &= may;
		one |= may;
	}
	return any ? one : all;
}

static bool may_go(const struct truth *t, int self)
{
	const struct sm_rank *rank = &t->job->ranks[self];
	const struct sm_call *call = &rank->call;

	if (!rank->is_inside)
		return true;
	switch (call->kind) {
	case 't':
		return true;
	case 'w':
	case 'v':
		return may_wait(t, self, call->kind == 'v');
	case 'l':
	case 'L':
		return may_lock(t, self, call);
	case 'p': {
		const struct sm_transfer probe = {
			.is_posted = true, .peer = call->peer, .message = -1};

		return may_transfer(t, &probe);
	}
	}
	if (sm_is_collective(call->kind))
		return may_leave(t, self, call->comm, rank->collectives[call->comm], call->kind,
				 call->peer);
	return may_transfer(t, &rank->transfers[0]) && may_transfer(t, &rank->transfers[1]);
}

static bool has_left(const struct sm_rank *rank)
{
	return (rank->is_done && rank->call.kind == 'e') ||
	       (rank->call.kind == 'f' && (rank->is_done || !rank->is_inside)) ||
	       rank->sim->model->life == SEG_LIFE_FINALIZED;
}

static void find_truth(struct truth *t, const struct sm_job *job)
{
	bool has_changed = true;

	*t = (struct truth){.job = job};
	for (int r = 0; r < job->size; r++)
		t->can_go[r] = !has_left(&job->ranks[r]) && sm_can_step(job, r);
	while (has_changed) {
		has_changed = false;
		for (int r = 0; r < job->size; r++) {
			if (t->can_go[r] || has_left(&job->ranks[r]) || !may_go(t, r))
				continue;
			t->can_go[r] = has_changed = true;
		}
	}
}

/* ---- Against the analysis ---- */

struct tally {
	int jobs, stuck, found, mismatched, deadlocks;
};

/* Who is stuck by the analysis, and who in truth; false: somebody is accused who is not. */
static bool compare(struct job *job, const struct truth *truth, struct tally *tally)
{
	struct job_comms *comms = job_comms_create(job->model);
	struct evidence *evidence = evidence_create(job);
	struct waitfor *w = waitfor_create(evidence, comms);
	struct arena *arena = arena_create();
	bool is_right = true;

	tally->jobs++;
	for (size_t l = 0; l < w->num_actors; l++) {
		int rank = job->model->lanes[l].rank;
		bool is_stuck =
			!truth->can_go[rank] && w->evidence->actors[l].activity == ACTIVITY_IN_MPI;
		struct waitfor_chain *chain = waitfor_find_chain(w, rank, arena);

		tally->stuck += is_stuck;
		tally->found += is_stuck && w->actors[l].is_stuck;
		tally->mismatched += is_stuck && !w->actors[l].is_stuck &&
				     !rankset_is_empty(chain->ends[WAITFOR_END_MISMATCH]);
		is_right &= !w->actors[l].is_stuck || !truth->can_go[rank];
		/* The chain of a stuck rank ends where nothing more can come. */
		assert_non_null(chain);
		if (w->actors[l].is_stuck)
			assert_true(chain->end == WAITFOR_END_CYCLE ||
				    chain->end == WAITFOR_END_LEFT ||
				    chain->end == WAITFOR_END_MISMATCH);
		assert_int_equal(chain->steps[0].rank, rank);
	}
	for (size_t d = 0; d < w->num_deadlocks; d++) {
		tally->deadlocks++;
		assert_true(w->deadlocks[d].num_cycle > 0);
		for (size_t i = 0; i < w->deadlocks[d].num_cycle; i++)
			assert_true(w->deadlocks[d].cycle[i].need);
	}
	arena_destroy(arena);
	waitfor_destroy(w);
	evidence_destroy(evidence);
	job_comms_destroy(comms);
	return is_right;
}

static void report(const struct tally *tally)
{
	print_message("%d jobs: %d stuck ranks, %d found, %d wait for a mismatch; %d deadlocks\n",
		      tally->jobs, tally->stuck, tally->found, tally->mismatched, tally->deadlocks);
}

static void complain(unsigned seed, char (*texts)[MAX_TEXT], int size, const struct truth *truth)
{
	print_error("seed %u accuses who can go on:\n", seed);
	for (int r = 0; r < size; r++)
		print_error("  %d %s %s\n", r, truth->can_go[r] ? "free " : "stuck", texts[r]);
}

static void test_stopped(void **state)
{
	static char texts[MAX_SIZE][MAX_TEXT];
	struct tally tally = {0};
	int num_wrong = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 6000; seed++) {
		int size = make_programs(seed, texts);
		const char *programs[MAX_SIZE];
		struct sm_job *small;
		struct truth truth;
		struct job *job;

		for (int r = 0; r < size; r++)
			programs[r] = texts[r];
		small = sm_create(programs, size, seed);
		sm_run(small, INT_MAX);
		find_truth(&truth, small);
		job = sm_finish(small, 5000);
		if (job->model && !compare(job, &truth, &tally)) {
			complain(seed, texts, size, &truth);
			num_wrong++;
		}
		job_destroy(job);
	}
	report(&tally);
	assert_int_equal(num_wrong, 0);
	/* The others wait for processes that are gone, of which it is not known what they had done,
	 * or in collectives (MPI_Finalize above all) that are not known to need all members, one of
	 * which moves. */
	assert_true((tally.found + tally.mismatched) * 5 >= tally.stuck * 4);
}

/* Of these calls the counts alone tell that they cannot be over. All others may be over though not
 * all have come; a rank that has been in one of them for as long as the verdicts demand is not. */
static bool tells_by_counts(const struct sm_call *call)
{
	return !call->is_request && strchr("rpba", call->kind);
}

/* The first look at `begin` steps and the second at `end`: who has not made one between is static,
 * and who has is copied at either. */
static void test_moving(void **state)
{
	static char texts[MAX_SIZE][MAX_TEXT];
	struct tally tally = {0};
	int num_wrong = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 6000; seed++) {
		int size = make_programs(seed, texts);
		const char *programs[MAX_SIZE];
		struct sm_job *first, *second;
		struct truth truth;
		struct job *job = job_create();
		bool has_moved[SM_RANKS];
		int begin = below(60), end = begin + below(20);

		for (int r = 0; r < size; r++)
			programs[r] = texts[r];
		first = sm_create(programs, size, seed);
		second = sm_create(programs, size, seed);
		sm_run(first, begin);
		sm_run(second, end);
		find_truth(&truth, second);
		for (int r = 0; r < size; r++) {
			has_moved[r] =
				first->ranks[r].steps != second->ranks[r].steps ||
				(second->ranks[r].is_done && second->ranks[r].call.kind == 'm') ||
				(sm_can_step(second, r) &&
				 !tells_by_counts(&second->ranks[r].call));
			sm_put_rank(has_moved[r] && below(2) ? second : first, r, 1000, job);
		}
		if (job->model) {
			job_model_finish(job->model);
			for (size_t l = 0; l < job->model->num_lanes; l++) {
				job->model->lanes[l].has_second_look = true;
				job->model->lanes[l].has_moved =
					has_moved[job->model->lanes[l].rank];
			}
			if (!compare(job, &truth, &tally)) {
				complain(seed, texts, size, &truth);
				num_wrong++;
			}
		}
		job_destroy(job);
		sm_destroy(first);
		sm_destroy(second);
	}
	report(&tally);
	assert_int_equal(num_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_moving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
