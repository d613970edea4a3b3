/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/small_mpi.h"

static size_t sm_row(struct sm_rank *rank, int comm, int peer, int tag)
{
	uint32_t local = comm == 0 ? 0 : (uint32_t)comm + 1;

	for (size_t i = 0; i < rank->num_rows; i++)
		if (rank->rows[i].comm == local && rank->rows[i].peer == peer &&
		    rank->rows[i].tag == tag)
			return i;
	if (rank->num_rows >= rank->max_tags && tag >= 0)
		return sm_row(rank, comm, peer, SEG_TAG_MANY);
	if (rank->num_rows == SM_ROWS)
		abort();
	rank->rows[rank->num_rows] = (struct model_ledger){.comm = local, .peer = peer, .tag = tag};
	return rank->num_rows++;
}

static bool sm_fits(const struct sm_transfer *t, int self, const struct sm_message *message)
{
	return !message->is_matched && message->destination == self && message->comm == t->comm &&
	       (t->peer == SEG_PEER_ANY || t->peer == message->source) &&
	       (t->tag == SEG_TAG_ANY || t->tag == message->tag);
}

/* Is there an older receive of the rank that has not got its message and would take this one? */
static struct sm_transfer *sm_oldest(struct sm_job *job, int self, const struct sm_message *message)
{
	struct sm_rank *rank = &job->ranks[self];
	struct sm_transfer *best = NULL;

	for (int i = 0; i < SM_SLOTS + 2; i++) {
		struct sm_transfer *t =
			i < SM_SLOTS ? &rank->slots[i].transfer : &rank->transfers[i - SM_SLOTS];

		if (i < SM_SLOTS && rank->slots[i].kind != SM_TRANSFER)
			continue;
		if (t->is_posted && !t->is_send && t->message < 0 && sm_fits(t, self, message) &&
		    (!best || t->order < best->order))
			best = t;
	}
	return best;
}

static void sm_match(struct sm_job *job)
{
	for (int m = 0; m < job->num_messages; m++) {
		struct sm_message *message = &job->messages[m];
		struct sm_transfer *t;

		if (message->is_matched)
			continue;
		t = sm_oldest(job, message->destination, message);
		if (!t)
			continue;
		t->message = m;
		message->is_matched = true;
	}
}

static void sm_post(struct sm_job *job, int self, struct sm_transfer *t, bool is_send,
		    const struct sm_call *call, int peer, bool is_long)
{
	struct sm_rank *rank = &job->ranks[self];
	size_t row = sm_row(rank, call->comm, peer, call->tag);

	*t = (struct sm_transfer){
		.is_send = is_send,
		.comm = call->comm,
		.peer = peer,
		.tag = call->tag,
		.row = row,
		.message = -1,
		.is_posted = true,
		.order = ++job->order,
	};
	t->ordinal = is_send ? ++rank->rows[row].sends : ++rank->rows[row].receives;
	if (is_send) {
		t->message = job->num_messages;
		if (job->num_messages == 4096)
			abort();
		job->messages[job->num_messages++] = (struct sm_message){
			.source = self,
			.destination = peer,
			.comm = call->comm,
			.tag = call->tag,
			.is_long = is_long,
		};
	}
	sm_match(job);
}

bool sm_is_complete(const struct sm_job *job, const struct sm_transfer *t)
{
	if (!t->is_posted)
		return true;
	if (t->is_send)
		return !job->messages[t->message].is_long || job->messages[t->message].is_matched ||
		       t->tag <= SEG_TAG_POST;
	return t->message >= 0;
}

static void sm_complete(struct sm_job *job, int self, struct sm_transfer *t)
{
	struct sm_rank *rank = &job->ranks[self];

	if (!t->is_posted)
		return;
	if (t->is_send) {
		rank->rows[t->row].sends_done++;
	} else {
		const struct sm_message *message = &job->messages[t->message];

		rank->rows[t->row].receives_done++;
		if (t->peer == SEG_PEER_ANY || t->tag == SEG_TAG_ANY)
			rank->rows[sm_row(rank, t->comm, message->source, message->tag)].taken++;
	}
	t->is_posted = false;
}

static bool sm_can_probe(const struct sm_job *job, int self, const struct sm_call *call)
{
	const struct sm_transfer t = {.comm = call->comm, .peer = call->peer, .tag = call->tag};

	for (int m = 0; m < job->num_messages; m++)
		if (sm_fits(&t, self, &job->messages[m]))
			return true;
	return false;
}

static const char *sm_name(const struct sm_call *call)
{
	switch (call->kind) {
	case 's':
	case 'S':
		return call->is_request ? "MPI_Isend" : "MPI_Send";
	case 'z':
		return call->is_request ? "MPI_Issend" : "MPI_Ssend";
	case 'r':
		return call->is_request ? "MPI_Irecv" : "MPI_Recv";
	case 'p':
		return "MPI_Probe";
	case 'q':
		return "MPI_Sendrecv";
	case 'w':
		return "MPI_Waitall";
	case 'v':
		return "MPI_Waitany";
	case 't':
		return "MPI_Testall";
	case 'b':
		return call->is_request ? "MPI_Ibarrier" : "MPI_Barrier";
	case 'c':
		return "MPI_Bcast";
	case 'd':
		return "MPI_Reduce";
	case 'a':
		return "MPI_Allreduce";
	case 'n':
		return "MPI_Neighbor_allgather";
	case 'l':
	case 'L':
		return "MPI_Win_lock";
	case 'u':
		return "MPI_Win_unlock";
	case 'P':
		return "MPI_Win_post";
	case 'T':
		return "MPI_Win_start";
	case 'C':
		return "MPI_Win_complete";
	case 'W':
		return "MPI_Win_wait";
	case 'f':
		return "MPI_Finalize";
	}
	return "MPI_Get_count";
}

static void sm_start_collective(struct sm_rank *rank, const struct sm_call *call, uint32_t site)
{
	struct model_collective *recent = rank->recent[call->comm];
	int root = call->kind == 'c' || call->kind == 'd' ? call->peer : SEG_PEER_NONE;

	memmove(recent + 1, recent, (SEG_RECENT - 1) * sizeof(*recent));
	memmove(rank->calls[call->comm] + 1, rank->calls[call->comm],
		(SEG_RECENT - 1) * sizeof(*call));
	rank->calls[call->comm][0] = *call;
	recent[0] = (struct model_collective){
		.number = ++rank->collectives[call->comm],
		.bytes = call->tag > 0 ? (uint64_t)call->tag : 8,
		.site = site,
		.root = root,
	};
}

/* The call that a rank made as that collective; NULL: none yet, or forgotten long ago. */
static const struct sm_call *sm_call_of(const struct sm_job *job, int rank, int comm,
					uint64_t number)
{
	uint64_t ago = job->ranks[rank].collectives[comm] - number;

	return job->ranks[rank].collectives[comm] >= number && ago < SEG_RECENT
		       ? &job->ranks[rank].calls[comm][ago]
		       : NULL;
}

bool sm_has_come(const struct sm_job *job, int rank, int self, int comm, uint64_t number)
{
	const struct sm_call *call = sm_call_of(job, rank, comm, number);
	const struct sm_call *own = sm_call_of(job, self, comm, number);

	if (job->ranks[rank].collectives[comm] < number)
		return false;
	return !call || !own ||
	       (call->kind == own->kind && call->peer == own->peer && call->tag == own->tag);
}

bool sm_needs_member(const struct sm_job *job, int self, char kind, int root, int other)
{
	int me = (self - root + job->size) % job->size;
	int you = (other - root + job->size) % job->size;
	int size = job->size;

	switch (kind) {
	case 'c': /* its ancestors */
		for (int at = me; at > 0; at &= at - 1)
			if ((at & (at - 1)) == you)
				return true;
		return false;
	case 'd': /* its subtree */
		for (int at = you; at > 0; at &= at - 1)
			if ((at & (at - 1)) == me)
				return true;
		return false;
	case 'n':
		return other == (self + 1) % size || other == (self + size - 1) % size;
	}
	return true;
}

static bool sm_can_leave(const struct sm_job *job, int self, int comm, uint64_t number, char kind,
			 int root)
{
	for (int r = 0; r < job->size; r++)
		if (r != self && sm_needs_member(job, self, kind, root, r) &&
		    !sm_has_come(job, r, self, comm, number))
			return false;
	return true;
}

static int sm_number(const char **at)
{
	if (**at == '*') {
		(*at)++;
		return SEG_PEER_ANY;
	}
	return (int)strtol(*at, (char **)at, 10);
}

/* The next call; false at the end. */
static bool sm_next(struct sm_rank *rank, struct sm_call *call)
{
	for (;;) {
		while (*rank->at == ' ')
			rank->at++;
		if (*rank->at == '\0')
			return false;
		if (*rank->at == '{') {
			rank->at++;
			rank->loops[rank->depth].left = sm_number(&rank->at);
			rank->loops[rank->depth].begin = rank->at;
			rank->loops[rank->depth++].site = rank->site;
		} else if (*rank->at == '}') {
			int top = rank->depth - 1;

			if (--rank->loops[top].left > 0) {
				rank->at = rank->loops[top].begin;
				rank->site = rank->loops[top].site;
			} else {
				rank->at++;
				rank->depth--;
			}
		} else if (*rank->at == '-') {
			rank->at++;
			rank->site++;
		} else if (*rank->at == '=') {
			rank->at++;
			rank->site = (uint32_t)sm_number(&rank->at);
		} else {
			break;
		}
	}
	*call = (struct sm_call){.site = ++rank->site};
	call->is_request = *rank->at == 'i';
	rank->at += call->is_request;
	call->kind = *rank->at++;
	if (isdigit((unsigned char)*rank->at) || *rank->at == '*')
		call->peer = sm_number(&rank->at);
	if (*rank->at == ',') {
		rank->at++;
		call->peer2 = sm_number(&rank->at);
	}
	if (*rank->at == ':') {
		rank->at++;
		call->tag = *rank->at == '*' ? (rank->at++, SEG_TAG_ANY) : sm_number(&rank->at);
	}
	if (*rank->at == '@') {
		rank->at++;
		call->comm = sm_number(&rank->at);
	}
	return true;
}

static struct sm_slot *sm_new_slot(struct sm_rank *rank)
{
	for (int i = 0; i < SM_SLOTS; i++)
		if (rank->slots[i].kind == SM_FREE)
			return &rank->slots[i];
	abort();
}

bool sm_is_collective(char kind)
{
	return kind && strchr("bcdanf", kind);
}

/* Tags of the tokens of post-start-complete-wait. */
static int sm_token(char kind)
{
	return kind == 'P' || kind == 'T' ? SEG_TAG_POST : SEG_TAG_COMPLETE;
}

static void sm_begin(struct sm_job *job, int self)
{
	struct sm_rank *rank = &job->ranks[self];
	struct sm_call *call = &rank->call;
	uint32_t site = SEG_STATE_SITE(sim_lane(rank->sim)->state);
	struct sm_slot *slot;

	if (strchr("PTCW", call->kind))
		call->tag = sm_token(call->kind);
	if (call->is_request) {
		slot = sm_new_slot(rank);
		*slot = (struct sm_slot){.comm = call->comm, .site = site};
		if (sm_is_collective(call->kind)) {
			slot->kind = SM_COLLECTIVE;
			sm_start_collective(rank, call, site);
			slot->number = rank->collectives[call->comm];
		} else {
			slot->kind = SM_TRANSFER;
			sm_post(job, self, &slot->transfer, call->kind != 'r', call, call->peer,
				strchr("Sz", call->kind) != NULL);
			slot->transfer.is_synchronous = call->kind == 'z';
		}
	} else if (sm_is_collective(call->kind)) {
		sm_start_collective(rank, call, site);
	} else if (strchr("sSzPC", call->kind)) {
		sm_post(job, self, &rank->transfers[0], true, call, call->peer,
			strchr("Sz", call->kind) != NULL);
	} else if (strchr("rTW", call->kind)) {
		sm_post(job, self, &rank->transfers[0], false, call, call->peer, false);
	} else if (call->kind == 'q') {
		sm_post(job, self, &rank->transfers[0], true, call, call->peer, true);
		sm_post(job, self, &rank->transfers[1], false, call, call->peer2, false);
	}
}

static bool sm_slot_is_complete(const struct sm_job *job, int self, const struct sm_slot *slot)
{
	if (slot->kind == SM_COLLECTIVE)
		return sm_can_leave(job, self, slot->comm, slot->number, 'b', 0);
	return slot->kind == SM_FREE || sm_is_complete(job, &slot->transfer);
}

static bool sm_lock_is_free(const struct sm_job *job, int self, const struct sm_call *call)
{
	for (int r = 0; r < job->size; r++) {
		const struct sm_lock *lock = &job->ranks[r].lock;

		if (r != self && lock->is_held && lock->target == call->peer &&
		    (lock->is_exclusive || call->kind == 'L'))
			return false;
	}
	return true;
}

static bool sm_can_end(const struct sm_job *job, int self)
{
	const struct sm_rank *rank = &job->ranks[self];
	const struct sm_call *call = &rank->call;
	int num_complete = 0, num = 0;

	if (call->is_request)
		return true;
	switch (call->kind) {
	case 'w':
	case 'v':
	case 't':
		for (int i = 0; i < SM_SLOTS; i++) {
			num += rank->slots[i].kind != SM_FREE;
			num_complete += rank->slots[i].kind != SM_FREE &&
					sm_slot_is_complete(job, self, &rank->slots[i]);
		}
		return call->kind == 'v' ? num == 0 || num_complete > 0 : num_complete == num;
	case 'p':
		return sm_can_probe(job, self, call);
	case 'l':
	case 'L':
		return sm_lock_is_free(job, self, call);
	case 'x':
	case 'm':
		return false;
	}
	if (sm_is_collective(call->kind))
		return sm_can_leave(job, self, call->comm, rank->collectives[call->comm],
				    call->kind, call->peer);
	return sm_is_complete(job, &rank->transfers[0]) && sm_is_complete(job, &rank->transfers[1]);
}

static void sm_end(struct sm_job *job, int self)
{
	struct sm_rank *rank = &job->ranks[self];
	struct sm_call *call = &rank->call;
	bool is_wait = strchr("wvt", call->kind) && !call->is_request;

	for (int i = 0; is_wait && i < SM_SLOTS; i++) {
		struct sm_slot *slot = &rank->slots[i];

		if (slot->kind == SM_FREE || !sm_slot_is_complete(job, self, slot))
			continue;
		if (slot->kind == SM_TRANSFER)
			sm_complete(job, self, &slot->transfer);
		slot->kind = SM_FREE;
		if (call->kind == 'v')
			break;
	}
	if (!call->is_request && !is_wait) {
		sm_complete(job, self, &rank->transfers[0]);
		sm_complete(job, self, &rank->transfers[1]);
	}
	if (call->kind == 'l' || call->kind == 'L')
		rank->lock = (struct sm_lock){call->peer, true, call->kind == 'L'};
	if (call->kind == 'u')
		rank->lock.is_held = false;
	if (call->kind == 'f')
		rank->sim->model->life = SEG_LIFE_FINALIZED;
	if (call->kind == 't')
		sim_enter(rank->sim, sm_name(call), SIM_PATH(5, 100 + call->site));
	sim_leave(rank->sim);
	rank->is_inside = false;
}

static bool sm_try(struct sm_job *job, int self)
{
	struct sm_rank *rank = &job->ranks[self];

	if (rank->is_done)
		return false;
	if (rank->is_inside) {
		if (!sm_can_end(job, self))
			return false;
		sm_end(job, self);
		return true;
	}
	if (!sm_next(rank, &rank->call)) {
		rank->call.kind = 'x';
		rank->is_done = true;
		return true;
	}
	if (strchr("xme", rank->call.kind)) {
		rank->is_done = true;
		return true;
	}
	/* A poll that fails is no step. */
	if (rank->call.kind == 't')
		rank->poll_site = sim_site(rank->sim, sm_name(&rank->call),
					   SIM_PATH(5, 100 + rank->call.site));
	else
		sim_enter(rank->sim, sm_name(&rank->call), SIM_PATH(5, 100 + rank->call.site));
	rank->is_inside = true;
	sm_begin(job, self);
	return true;
}

/* One step of a rank; false: it cannot go on. */
static bool sm_step(struct sm_job *job, int self)
{
	bool has_gone = sm_try(job, self);

	job->ranks[self].steps += has_gone;
	return has_gone;
}

bool sm_can_step(const struct sm_job *job, int self)
{
	const struct sm_rank *rank = &job->ranks[self];

	return !rank->is_done && (!rank->is_inside || sm_can_end(job, self));
}

static int sm_random(struct sm_job *job, int below)
{
	job->random = job->random * 1103515245u + 12345u;
	return (int)(job->random >> 16) % below;
}

void sm_run(struct sm_job *job, int max_steps)
{
	int failed = 0, r = 0;

	while (max_steps > 0 && failed < job->size) {
		/* In turn, from a rank chosen by chance after each step. */
		if (failed == 0 && job->random)
			r = sm_random(job, job->size);
		if (sm_step(job, r)) {
			failed = 0;
			max_steps--;
			continue;
		}
		failed++;
		r = (r + 1) % job->size;
	}
}

struct sm_job *sm_create(const char *const *programs, int size, unsigned seed)
{
	struct sm_job *job = xcalloc(1, sizeof(*job));

	job->size = size;
	job->random = seed;
	for (int r = 0; r < size; r++) {
		job->ranks[r].at = programs[r];
		job->ranks[r].max_tags = SM_ROWS;
		job->ranks[r].sim = sim_rank_create(r);
		sim_call(job->ranks[r].sim, "MPI_Init", SIM_PATH(1));
	}
	return job;
}

void sm_destroy(struct sm_job *job)
{
	for (int r = 0; r < job->size; r++) {
		if (!job->ranks[r].sim)
			continue;
		sim_trim(job->ranks[r].sim);
		model_destroy(job->ranks[r].sim->model);
		free(job->ranks[r].sim);
	}
	free(job);
}
