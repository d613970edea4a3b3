/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <time.h>

#include "attach/daemons/pdbd_tree.h"
#include "model/buffer.h"
#include "model/monotonic.h"

#define PART_END_MS 1000 /* how long the end waits for a part that is being made */

enum { TAG_QUESTION = 1, TAG_ANSWER = 2, TAG_NOTE = 3 };

/* This node's own part of an answer. */
enum own_part {
	OWN_DONE,  /* in the answer, or not wanted */
	OWN_DUE,   /* to be begun */
	OWN_BEGUN, /* the thread is at it */
};

/* A message that MPI may still read from. */
struct sent {
	MPI_Request request;
	uint8_t *bytes;
	struct sent *next;
};

struct pdbd_tree {
	int rank, size;
	const struct pdbd_service *services;
	void *node;
	bool (*is_over)(void *node);
	uint32_t sequence; /* rank 0: of the last question */
	bool *is_silent;   /* rank 0: by rank */
	struct sent *sent;
	int64_t active_ms; /* when something last happened */
	struct pdbd_part *part;
	/* The question being answered. */
	const uint8_t *payload; /* borrowed */
	size_t length;
	struct reduction reduction;
	struct overlay_ranges members; /* ranks, by member */
	const struct pdbd_service *service;
	int total_ms; /* that it may take */
	int64_t pulsed_ms;
	enum own_part own;
	bool has_answer; /* a part at least is in `answer`, be it empty */
	struct buffer answer;
	struct overlay_ranges holes; /* members that the answer lacks */
};

struct pdbd_tree *pdbd_tree_create(const struct pdbd_service *services, void *node,
				   bool (*is_over)(void *node))
{
	struct pdbd_tree *tree = xcalloc(1, sizeof(*tree));

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &tree->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &tree->size);
	tree->services = services;
	tree->node = node;
	tree->is_over = is_over;
	tree->is_silent = xcalloc(tree->size, sizeof(*tree->is_silent));
	tree->active_ms = monotonic_ms();
	tree->part = pdbd_part_create(node);
	return tree;
}

int pdbd_tree_destroy(struct pdbd_tree *tree)
{
	int result = pdbd_part_destroy(tree->part, PART_END_MS);

	/* What is not sent by now stays as it is: MPI may still look at it. */
	free(tree->is_silent);
	free(tree->answer.bytes);
	overlay_ranges_deinit(&tree->members);
	overlay_ranges_deinit(&tree->holes);
	free(tree);
	return result;
}

int pdbd_tree_rank(const struct pdbd_tree *tree)
{
	return tree->rank;
}

int pdbd_tree_size(const struct pdbd_tree *tree)
{
	return tree->size;
}

/* The longer, the longer nothing has happened: questions come one after the other, and then not for
 * minutes, in which the ranks are not to notice that there is a daemon. */
static void rest(const struct pdbd_tree *tree)
{
	int64_t quiet_ms = monotonic_ms() - tree->active_ms;
	long us = quiet_ms < 100 ? 200 : quiet_ms < 3000 ? 2000 : 20000;
	struct timespec time = {.tv_nsec = us * 1000};

	nanosleep(&time, NULL);
}

static void forget_sent(struct pdbd_tree *tree)
{
	struct sent **link = &tree->sent;

	while (*link) {
		struct sent *sent = *link;
		int is_done = 1;

		if (MPI_Test(&sent->request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
		    !is_done) {
			link = &sent->next;
			continue;
		}
		*link = sent->next;
		free(sent->bytes);
		free(sent);
	}
}

/* The bytes are given away. */
static void post(struct pdbd_tree *tree, uint8_t *bytes, size_t length, int to, int tag)
{
	struct sent *sent = xcalloc(1, sizeof(*sent));

	sent->bytes = bytes;
	if (MPI_Isend(bytes, length, MPI_BYTE, to, tag, MPI_COMM_WORLD, &sent->request) !=
	    MPI_SUCCESS) {
		free(bytes);
		free(sent);
		return;
	}
	sent->next = tree->sent;
	tree->sent = sent;
}

static void send_message(struct pdbd_tree *tree, const struct overlay_message *message, int to,
			 int tag)
{
	struct buffer bytes = {.bytes = NULL};

	overlay_put(&bytes, message);
	post(tree, bytes.bytes, bytes.num, to, tag);
}

/* A message, if there is one: its bytes, which the caller frees; NULL if not. */
static uint8_t *receive(int tag, int *from_ret, size_t *length_ret)
{
	MPI_Message message;
	MPI_Status status;
	int is_there = 0, length = 0;

	if (MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &is_there, &message, &status) !=
		    MPI_SUCCESS ||
	    !is_there)
		return NULL;
	MPI_Get_count(&status, MPI_BYTE, &length);
	if (length < 0)
		length = 0;
	uint8_t *bytes = xmalloc(length + 1);
	if (MPI_Mrecv(bytes, length, MPI_BYTE, &message, &status) != MPI_SUCCESS) {
		free(bytes);
		return NULL;
	}
	*from_ret = status.MPI_SOURCE;
	*length_ret = length;
	return bytes;
}

static const struct pdbd_service *find_service(const struct pdbd_tree *tree, uint32_t kind)
{
	const struct pdbd_service *service = tree->services;

	while (service->kind != 0 && service->kind != kind)
		service++;
	return service->kind == kind ? service : NULL;
}

/* Send the question on to those below. Its payload is borrowed until gather() has returned. */
static void begin(struct pdbd_tree *tree, struct overlay_message *question)
{
	uint32_t self = overlay_ranges_index(&question->ranges, tree->rank);
	uint32_t num_members = overlay_ranges_total(&question->ranges);

	overlay_ranges_deinit(&tree->members);
	tree->members = question->ranges; /* ours from here */
	overlay_ranges_deinit(&tree->holes);
	tree->payload = question->payload;
	tree->length = question->length;
	tree->service = find_service(tree, question->kind);
	if (tree->service && tree->service->hear)
		tree->service->hear(tree->node, tree->payload, tree->length);
	reduction_begin(&tree->reduction, question->sequence, self, num_members,
			overlay_budget_ms(self, num_members, question->total_ms), monotonic_ms());
	tree->total_ms = (int)question->total_ms;
	tree->pulsed_ms = monotonic_ms();
	for (size_t i = 0; i < tree->reduction.num_children; i++)
		send_message(tree, question,
			     overlay_ranges_at(&tree->members, tree->reduction.children[i]),
			     TAG_QUESTION);
}

/* This node's own part is wanted, and no other has come yet. */
static void want_own_part(struct pdbd_tree *tree)
{
	tree->own = OWN_DUE;
	tree->has_answer = false;
	tree->answer.num = 0;
}

/* All below member `child`, and itself, are missing. */
static void lose(struct pdbd_tree *tree, uint32_t child)
{
	overlay_ranges_append(&tree->holes, child,
			      overlay_subtree(child, tree->reduction.num_members));
}

/* This node's part is believed rather than one from below that cannot be merged with it. */
static void take_own_part(struct pdbd_tree *tree, struct buffer *own)
{
	const struct reduction *reduction = &tree->reduction;

	tree->own = OWN_DONE;
	if (tree->has_answer &&
	    tree->service->merge(tree->node, own, tree->answer.bytes, tree->answer.num) != 0) {
		overlay_ranges_deinit(&tree->holes);
		for (size_t i = 0; i < reduction->num_children; i++)
			if (reduction->has_answered[i])
				lose(tree, reduction->children[i]);
	}
	tree->has_answer = true;
	free(tree->answer.bytes);
	tree->answer = *own;
}

/* Begin or end this node's own part if its time has come. */
static void advance_own_part(struct pdbd_tree *tree)
{
	const struct pdbd_service *service = tree->service;
	struct buffer made = {.bytes = NULL};

	if (!service)
		tree->own = OWN_DONE;
	if (tree->own == OWN_DONE)
		return;
	if (pdbd_part_take(tree->part, &made)) {
		if (tree->own == OWN_BEGUN) {
			take_own_part(tree, &made);
			return;
		}
		free(made.bytes); /* of a question that was given up */
		made = (struct buffer){.bytes = NULL};
	}
	if (tree->own == OWN_BEGUN ||
	    (service->when != PDBD_AT_ONCE && !pdbd_part_is_idle(tree->part)))
		return;
	if (service->when == PDBD_MEANWHILE) {
		pdbd_part_begin(tree->part, service->answer, tree->payload, tree->length);
		tree->own = OWN_BEGUN;
	} else {
		service->answer(tree->node, tree->payload, tree->length, &made);
		take_own_part(tree, &made);
	}
}

/* Add what member `child` has answered; false: it makes no sense. */
static bool merge_answer(struct pdbd_tree *tree, uint32_t child,
			 const struct overlay_message *answer)
{
	uint32_t end = child + overlay_subtree(child, tree->reduction.num_members);

	for (size_t i = 0; i < answer->ranges.num; i++) {
		const struct overlay_range *hole = &answer->ranges.ranges[i];

		if (hole->first < child || hole->first + hole->count > end)
			return false;
	}
	if (!tree->service ||
	    tree->service->merge(tree->node, &tree->answer, answer->payload, answer->length) != 0)
		return false;
	tree->has_answer = true;
	for (size_t i = 0; i < answer->ranges.num; i++)
		overlay_ranges_append(&tree->holes, answer->ranges.ranges[i].first,
				      answer->ranges.ranges[i].count);
	return true;
}

static void take_answer(struct pdbd_tree *tree, int from, const uint8_t *bytes, size_t length)
{
	struct overlay_message answer;
	int64_t child = overlay_ranges_index(&tree->members, from);

	tree->is_silent[from] = false;
	if (child < 0)
		return;
	if (!overlay_take(bytes, length, tree->reduction.num_members, &answer)) {
		if (reduction_take(&tree->reduction, tree->reduction.sequence, child))
			lose(tree, child);
		return;
	}
	if (answer.kind == OVERLAY_ALIVE)
		reduction_hear(&tree->reduction, answer.sequence, child, monotonic_ms());
	else if (reduction_take(&tree->reduction, answer.sequence, child) &&
		 !merge_answer(tree, child, &answer))
		lose(tree, child);
	overlay_ranges_deinit(&answer.ranges);
}

static int parent_of(const struct pdbd_tree *tree)
{
	return (int)overlay_ranges_at(&tree->members, overlay_parent(tree->reduction.self));
}

/* Tell who waits for us that we are at work. */
static void pulse(struct pdbd_tree *tree, const struct pdbd_question *asked)
{
	const struct overlay_message alive = {
		.sequence = tree->reduction.sequence,
		.kind = OVERLAY_ALIVE,
	};

	if (monotonic_ms() - tree->pulsed_ms < OVERLAY_PULSE_MS)
		return;
	tree->pulsed_ms = monotonic_ms();
	if (!asked)
		send_message(tree, &alive, parent_of(tree), TAG_ANSWER);
	else if (asked->pulse)
		asked->pulse(tree->node);
}

static bool is_done(const struct pdbd_tree *tree)
{
	return (tree->own == OWN_DONE || monotonic_ms() >= tree->reduction.deadline_ms) &&
	       reduction_is_done(&tree->reduction, monotonic_ms());
}

/* A question has come that is newer than the one being answered. */
static bool is_newer(void)
{
	int is_there = 0;

	MPI_Iprobe(MPI_ANY_SOURCE, TAG_QUESTION, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
	return is_there;
}

/* All answers that have come; false: there was none. */
static bool take_answers(struct pdbd_tree *tree)
{
	uint8_t *bytes;
	size_t length;
	int from;
	bool has = false;

	while ((bytes = receive(TAG_ANSWER, &from, &length))) {
		take_answer(tree, from, bytes, length);
		tree->active_ms = monotonic_ms();
		free(bytes);
		has = true;
	}
	forget_sent(tree);
	return has;
}

/* Until this node's own part is there and all below have answered, or the time is over, or a newer
 * question comes. Who is silent is found out only when all that has come is read: this process may
 * have been stopped itself. `asked`: at rank 0. */
static void gather(struct pdbd_tree *tree, const struct pdbd_question *asked)
{
	for (;;) {
		bool has_come = take_answers(tree);

		advance_own_part(tree);
		if (is_done(tree) || tree->is_over(tree->node) || is_newer())
			break;
		pulse(tree, asked);
		if (!has_come)
			rest(tree);
	}
	reduction_holes(&tree->reduction, &tree->holes);
	if (tree->own != OWN_DONE)
		overlay_ranges_append(&tree->holes, tree->reduction.self, 1);
}

int pdbd_tree_asked_ms(const struct pdbd_tree *tree)
{
	return tree->total_ms;
}

uint32_t pdbd_tree_serve(struct pdbd_tree *tree, int timeout_ms)
{
	int64_t deadline_ms = monotonic_ms() + timeout_ms;
	struct overlay_message question = {.sequence = 0};
	uint8_t *bytes;
	size_t length;
	int from;

	while (!(bytes = receive(TAG_QUESTION, &from, &length))) {
		free(receive(TAG_ANSWER, &from, &length)); /* too late */
		forget_sent(tree);
		if (monotonic_ms() >= deadline_ms || tree->is_over(tree->node))
			return 0;
		rest(tree);
	}
	tree->active_ms = monotonic_ms();
	if (!overlay_take(bytes, length, tree->size, &question) ||
	    overlay_ranges_index(&question.ranges, tree->rank) <= 0) {
		overlay_ranges_deinit(&question.ranges);
		free(bytes);
		return 0;
	}
	want_own_part(tree);
	begin(tree, &question);
	gather(tree, NULL);
	struct overlay_message answer = {
		.sequence = question.sequence,
		.ranges = tree->holes,
		.payload = tree->answer.bytes,
		.length = tree->answer.num <= OVERLAY_PAYLOAD_MAX ? tree->answer.num : 0,
	};
	send_message(tree, &answer, parent_of(tree), TAG_ANSWER);
	tree->active_ms = monotonic_ms();
	free(bytes);
	return question.kind;
}

/* Who is to be asked, rank 0 first: the ranks given (NULL: all) that are not silent. */
static struct overlay_ranges choose_members(const struct pdbd_tree *tree,
					    const struct overlay_ranges *among)
{
	uint32_t num = among ? overlay_ranges_total(among) : (uint32_t)tree->size - 1;
	struct overlay_ranges members = {.ranges = NULL};

	overlay_ranges_add(&members, 0, 1);
	for (uint32_t i = 0; i < num; i++) {
		uint32_t rank = among ? overlay_ranges_at(among, i) : i + 1;

		if (!tree->is_silent[rank])
			overlay_ranges_add(&members, rank, 1);
	}
	return members;
}

/* What a round has shown: who was silent, and who stood below them. */
static struct overlay_ranges note_silent(struct pdbd_tree *tree)
{
	struct overlay_ranges below = {.ranges = NULL};

	for (uint32_t i = 0; i < tree->reduction.num_members; i++)
		tree->is_silent[overlay_ranges_at(&tree->members, i)] = false;
	for (size_t i = 0; i < tree->holes.num; i++) {
		const struct overlay_range *hole = &tree->holes.ranges[i];

		tree->is_silent[overlay_ranges_at(&tree->members, hole->first)] = true;
		for (uint32_t k = 1; k < hole->count; k++)
			overlay_ranges_add(&below,
					   overlay_ranges_at(&tree->members, hole->first + k), 1);
	}
	return below;
}

void pdbd_tree_ask(struct pdbd_tree *tree, const struct pdbd_question *asked, struct buffer *answer,
		   struct overlay_ranges *missing)
{
	int64_t end_ms = monotonic_ms() + 2 * (int64_t)asked->total_ms;
	struct overlay_message question = {
		.kind = asked->kind,
		.total_ms = asked->total_ms,
		.payload = asked->payload,
		.length = asked->length,
	};
	bool *has_part = xcalloc(tree->size, sizeof(*has_part));

	take_answers(tree); /* somebody may be silent no more */
	question.ranges = choose_members(tree, NULL);
	want_own_part(tree);
	for (;;) {
		question.sequence = ++tree->sequence;
		begin(tree, &question);
		gather(tree, asked);
		for (uint32_t i = 0; i < tree->reduction.num_members; i++)
			if (overlay_ranges_index(&tree->holes, i) < 0)
				has_part[overlay_ranges_at(&tree->members, i)] = true;

		struct overlay_ranges below = note_silent(tree);
		int64_t left_ms = end_ms - monotonic_ms();

		if (below.num == 0 || left_ms <= 0 || tree->is_over(tree->node)) {
			overlay_ranges_deinit(&below);
			break;
		}
		question.ranges = choose_members(tree, &below);
		question.total_ms = left_ms < asked->total_ms ? left_ms : asked->total_ms;
		overlay_ranges_deinit(&below);
	}
	for (int rank = 0; rank < tree->size; rank++)
		if (!has_part[rank])
			overlay_ranges_add(missing, rank, 1);
	free(has_part);
	*answer = tree->answer; /* ours no more */
	tree->answer = (struct buffer){.bytes = NULL};
}

void pdbd_tree_knock(struct pdbd_tree *tree, uint32_t kind)
{
	for (int rank = 1; rank < tree->size; rank++) {
		struct overlay_message question = {.kind = kind, .total_ms = OVERLAY_SILENCE_MS};

		if (!tree->is_silent[rank])
			continue;
		question.sequence = ++tree->sequence;
		overlay_ranges_add(&question.ranges, 0, 1);
		overlay_ranges_add(&question.ranges, rank, 1);
		send_message(tree, &question, rank, TAG_QUESTION);
		overlay_ranges_deinit(&question.ranges);
	}
}

/* ---- Notes ---- */

void pdbd_tree_send(struct pdbd_tree *tree, int to, const void *bytes, size_t length)
{
	uint8_t *copy = xmalloc(length + 1);

	memcpy(copy, bytes, length);
	post(tree, copy, length, to, TAG_NOTE);
	tree->active_ms = monotonic_ms();
}

uint8_t *pdbd_tree_take(struct pdbd_tree *tree, int *from_ret, size_t *length_ret)
{
	uint8_t *bytes = receive(TAG_NOTE, from_ret, length_ret);

	if (bytes)
		tree->active_ms = monotonic_ms();
	forget_sent(tree);
	return bytes;
}

bool pdbd_tree_is_flushed(struct pdbd_tree *tree, int timeout_ms)
{
	int64_t deadline_ms = monotonic_ms() + timeout_ms;

	for (;;) {
		forget_sent(tree);
		if (!tree->sent || monotonic_ms() >= deadline_ms)
			return !tree->sent;
		rest(tree);
	}
}
