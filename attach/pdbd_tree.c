/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/overlay_wire.h"
#include "attach/pdbd_tree.h"
#include "model/error.h"
#include "model/xalloc.h"

enum { TAG_QUESTION = 1, TAG_ANSWER = 2 };

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
	/* The question being answered. */
	struct reduction reduction;
	struct overlay_ranges members; /* ranks, by member */
	const struct pdbd_service *service;
	struct pdbd_bytes answer;
	struct overlay_ranges holes; /* members that parts from below lack */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void pdbd_bytes_add(struct pdbd_bytes *to, const void *bytes, size_t length)
{
	if (length == 0)
		return;
	if (to->length + length > to->capacity) {
		to->capacity = 2 * to->capacity + length;
		to->bytes = xreallocarray(to->bytes, to->capacity, 1);
	}
	memcpy(to->bytes + to->length, bytes, length);
	to->length += length;
}

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
	tree->active_ms = now_ms();
	return tree;
}

void pdbd_tree_destroy(struct pdbd_tree *tree)
{
	if (!tree)
		return;
	/* What is not sent by now stays as it is: MPI may still look at it. */
	free(tree->is_silent);
	free(tree->answer.bytes);
	overlay_ranges_deinit(&tree->members);
	overlay_ranges_deinit(&tree->holes);
	free(tree);
}

int pdbd_tree_rank(const struct pdbd_tree *tree)
{
	return tree->rank;
}

int pdbd_tree_size(const struct pdbd_tree *tree)
{
	return tree->size;
}

/* Sleep the longer, the longer nothing has happened: questions come one after the other, and then
 * not for minutes, in which the ranks are not to notice that there is a daemon. */
static void rest(const struct pdbd_tree *tree)
{
	int64_t quiet_ms = now_ms() - tree->active_ms;
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

static void send_message(struct pdbd_tree *tree, const struct overlay_message *message, int to,
			 int tag)
{
	struct sent *sent = xcalloc(1, sizeof(*sent));
	size_t length;

	sent->bytes = overlay_encode(message, &length);
	if (MPI_Isend(sent->bytes, length, MPI_BYTE, to, tag, MPI_COMM_WORLD, &sent->request) !=
	    MPI_SUCCESS) {
		free(sent->bytes);
		free(sent);
		return;
	}
	sent->next = tree->sent;
	tree->sent = sent;
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

/* Send the question on to those below, and meanwhile make this node's part. */
static void begin(struct pdbd_tree *tree, struct overlay_message *question, bool with_own_part)
{
	uint32_t self = overlay_ranges_index(&question->ranges, tree->rank);
	uint32_t num_members = overlay_ranges_total(&question->ranges);

	overlay_ranges_deinit(&tree->members);
	tree->members = question->ranges; /* ours from here */
	overlay_ranges_deinit(&tree->holes);
	reduction_begin(&tree->reduction, question->sequence, self, num_members,
			overlay_budget_ms(self, num_members, question->total_ms), now_ms());
	for (size_t i = 0; i < tree->reduction.num_children; i++)
		send_message(tree, question,
			     overlay_ranges_at(&tree->members, tree->reduction.children[i]),
			     TAG_QUESTION);
	tree->service = find_service(tree, question->kind);
	if (!with_own_part)
		return;
	tree->answer.length = 0;
	if (tree->service)
		tree->service->answer(tree->node, question->payload, question->length,
				      &tree->answer);
}

static bool is_missing(const struct pdbd_tree *tree, uint32_t member)
{
	return overlay_ranges_index(&tree->holes, member) >= 0;
}

/* All below member `child`, and itself, are missing. */
static void lose(struct pdbd_tree *tree, uint32_t child)
{
	overlay_ranges_append(&tree->holes, child,
			      overlay_subtree(child, tree->reduction.num_members));
}

static void take_answer(struct pdbd_tree *tree, int from, const uint8_t *bytes, size_t length)
{
	struct overlay_message answer;
	int64_t child = overlay_ranges_index(&tree->members, from);

	tree->is_silent[from] = false;
	if (child < 0)
		return;
	if (overlay_decode(bytes, length, tree->reduction.num_members, &answer, NULL) != 0) {
		if (reduction_take(&tree->reduction, tree->reduction.sequence, child) ==
		    REDUCTION_TAKEN)
			lose(tree, child);
		return;
	}
	if (reduction_take(&tree->reduction, answer.sequence, child) == REDUCTION_TAKEN) {
		if (!tree->service ||
		    tree->service->merge(tree->node, &tree->answer, answer.payload,
					 answer.length) != 0)
			lose(tree, child);
		else
			for (size_t i = 0; i < answer.ranges.num; i++)
				overlay_ranges_append(&tree->holes, answer.ranges.ranges[i].first,
						      answer.ranges.ranges[i].count);
	}
	overlay_ranges_deinit(&answer.ranges);
}

/* Until all below have answered, or the time is over, or a newer question comes. */
static void gather(struct pdbd_tree *tree)
{
	while (!reduction_is_done(&tree->reduction, now_ms()) && !tree->is_over(tree->node)) {
		size_t length;
		int from, is_newer = 0;
		uint8_t *bytes = receive(TAG_ANSWER, &from, &length);

		forget_sent(tree);
		if (bytes) {
			take_answer(tree, from, bytes, length);
			tree->active_ms = now_ms();
			free(bytes);
			continue;
		}
		MPI_Iprobe(MPI_ANY_SOURCE, TAG_QUESTION, MPI_COMM_WORLD, &is_newer,
			   MPI_STATUS_IGNORE);
		if (is_newer)
			break;
		rest(tree);
	}
	reduction_holes(&tree->reduction, &tree->holes);
}

uint32_t pdbd_tree_serve(struct pdbd_tree *tree, int timeout_ms)
{
	int64_t deadline_ms = now_ms() + timeout_ms;
	struct overlay_message question;
	uint8_t *bytes;
	size_t length;
	int from;

	while (!(bytes = receive(TAG_QUESTION, &from, &length))) {
		uint8_t *late = receive(TAG_ANSWER, &from, &length);

		free(late);
		forget_sent(tree);
		if (now_ms() >= deadline_ms || tree->is_over(tree->node))
			return 0;
		rest(tree);
	}
	tree->active_ms = now_ms();
	if (overlay_decode(bytes, length, tree->size, &question, NULL) != 0) {
		free(bytes);
		return 0;
	}
	if (overlay_ranges_index(&question.ranges, tree->rank) <= 0) {
		overlay_ranges_deinit(&question.ranges);
		free(bytes);
		return 0;
	}
	begin(tree, &question, true);
	gather(tree);
	struct overlay_message answer = {
		.sequence = question.sequence,
		.ranges = tree->holes,
		.payload = tree->answer.bytes,
		.length = tree->answer.length <= OVERLAY_PAYLOAD_MAX ? tree->answer.length : 0,
	};
	send_message(tree, &answer,
		     overlay_ranges_at(&tree->members, overlay_parent(tree->reduction.self)),
		     TAG_ANSWER);
	tree->active_ms = now_ms();
	free(bytes);
	return question.kind;
}

/* Who is to be asked, rank 0 first: the ranks given (NULL: all) that are not silent. with_silent:
 * the silent ones as well, but last, where nobody else is below them. */
static struct overlay_ranges choose_members(const struct pdbd_tree *tree,
					    const struct overlay_ranges *among, bool with_silent)
{
	uint32_t num = among ? overlay_ranges_total(among) : (uint32_t)tree->size - 1;
	struct overlay_ranges members = {.ranges = NULL};

	overlay_ranges_add(&members, 0, 1);
	for (int pass = 0; pass <= with_silent; pass++) {
		for (uint32_t i = 0; i < num; i++) {
			uint32_t rank = among ? overlay_ranges_at(among, i) : i + 1;

			if (tree->is_silent[rank] == (pass == 1))
				overlay_ranges_add(&members, rank, 1);
		}
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

void pdbd_tree_ask(struct pdbd_tree *tree, const struct pdbd_question *asked,
		   struct pdbd_bytes *answer, struct overlay_ranges *missing)
{
	int64_t end_ms = now_ms() + 2 * (int64_t)asked->total_ms;
	struct overlay_message question = {
		.kind = asked->kind,
		.total_ms = asked->total_ms,
		.ranges = choose_members(tree, NULL, asked->with_silent),
		.payload = asked->payload,
		.length = asked->length,
	};
	bool *has_part = xcalloc(tree->size, sizeof(*has_part));
	bool is_first = true;

	tree->answer.length = 0;
	for (;;) {
		question.sequence = ++tree->sequence;
		begin(tree, &question, is_first);
		gather(tree);
		for (uint32_t i = 0; i < tree->reduction.num_members; i++)
			if (!is_missing(tree, i))
				has_part[overlay_ranges_at(&tree->members, i)] = true;

		struct overlay_ranges below = note_silent(tree);
		int64_t left_ms = end_ms - now_ms();

		is_first = false;
		if (below.num == 0 || left_ms <= 0 || tree->is_over(tree->node)) {
			overlay_ranges_deinit(&below);
			break;
		}
		question.ranges = choose_members(tree, &below, false);
		question.total_ms = left_ms < asked->total_ms ? left_ms : asked->total_ms;
		overlay_ranges_deinit(&below);
	}
	for (int rank = 0; rank < tree->size; rank++)
		if (!has_part[rank])
			overlay_ranges_add(missing, rank, 1);
	free(has_part);
	*answer = tree->answer; /* ours no more */
	tree->answer = (struct pdbd_bytes){.bytes = NULL};
}

bool pdbd_tree_is_flushed(struct pdbd_tree *tree, int timeout_ms)
{
	int64_t deadline_ms = now_ms() + timeout_ms;

	for (;;) {
		forget_sent(tree);
		if (!tree->sent || now_ms() >= deadline_ms)
			return !tree->sent;
		rest(tree);
	}
}
