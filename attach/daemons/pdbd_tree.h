/* SPDX-License-Identifier: BSD-3-Clause
 * Questions to all of pdb's daemons and their merged answers, over MPI, along the tree of
 * overlay.h. It uses only point-to-point calls that return at once, so that no daemon keeps another
 * waiting. Between them it sleeps, since the ranks need the processors. */
#pragma once

#include "attach/daemons/overlay.h"
#include "attach/daemons/pdbd_part.h"

/* When a daemon makes its own part of an answer. */
enum pdbd_when {
	PDBD_AT_ONCE,  /* it takes no time */
	PDBD_ALONE,    /* nor this, but not while another part is being made */
	PDBD_MEANWHILE /* in a thread of its own, one at a time, while the tree goes on */
};

typedef void pdbd_hear_fn(void *node, const uint8_t *payload, size_t length);
typedef int pdbd_merge_fn(void *node, struct buffer *into, const uint8_t *part, size_t length);

/* What a kind of question is answered with. `node`: what pdbd_tree_create() was given. */
struct pdbd_service {
	uint32_t kind;
	enum pdbd_when when;
	pdbd_hear_fn *hear;   /* a question has come, before anything else; NULL: nothing to do */
	pdbd_part_fn *answer; /* this node's own part */
	/* Add another part to *into. -1: it is damaged, and *into as before; its sender and all
	 * below become holes. Parts come in any order, the own one, too. */
	pdbd_merge_fn *merge;
};

struct pdbd_tree;

/* After MPI_Init. services ends with a kind of 0. is_over is called in every round of waiting,
 * which it ends; it may send and take notes. */
struct pdbd_tree *pdbd_tree_create(const struct pdbd_service *services, void *node,
				   bool (*is_over)(void *node));

/* -1: this node's part of an answer is still being made, so what it is made of cannot be freed. */
int pdbd_tree_destroy(struct pdbd_tree *tree);

int pdbd_tree_rank(const struct pdbd_tree *tree);
int pdbd_tree_size(const struct pdbd_tree *tree);

struct pdbd_question {
	uint32_t kind;
	const void *payload;
	size_t length;
	int total_ms; /* how long to wait for those that are at work */
	/* Called every OVERLAY_PULSE_MS while waiting; NULL: nothing is. */
	void (*pulse)(void *node);
};

/* At rank 0: ask all that are not silent, itself included. The caller frees the bytes of *answer.
 * Ranks whose parts are not in it are added to *missing. Those below one that falls silent are
 * asked once more without it, within total_ms again. */
void pdbd_tree_ask(struct pdbd_tree *tree, const struct pdbd_question *question,
		   struct buffer *answer, struct overlay_ranges *missing);

/* At rank 0: ask the silent ones, without waiting; one that answers is no longer silent.
 * PDBD_AT_ONCE. */
void pdbd_tree_knock(struct pdbd_tree *tree, uint32_t kind);

/* At other ranks: wait for a question, answer it, and return its kind; 0: there was none. */
uint32_t pdbd_tree_serve(struct pdbd_tree *tree, int timeout_ms);

/* How long the last question may take, 0 before the first. */
int pdbd_tree_asked_ms(const struct pdbd_tree *tree);

/* A note for one daemon, this one included; they arrive in the order in which they were sent. */
void pdbd_tree_send(struct pdbd_tree *tree, int to, const void *bytes, size_t length);

/* The next note that has come, NULL if there is none; the caller frees it. */
uint8_t *pdbd_tree_take(struct pdbd_tree *tree, int *from_ret, size_t *length_ret);

/* Nothing of ours is on its way any more, within timeout_ms. */
bool pdbd_tree_is_flushed(struct pdbd_tree *tree, int timeout_ms);
