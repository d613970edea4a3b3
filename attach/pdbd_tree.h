/* SPDX-License-Identifier: BSD-3-Clause
 * Questions to all of pdb's daemons and their merged answers, over MPI, along the tree of
 * overlay.h. Only point-to-point calls that return at once, so that no daemon can be kept waiting
 * by another; between them it sleeps, since the ranks need the processors. */
#ifndef PDB_ATTACH_PDBD_TREE_H
#define PDB_ATTACH_PDBD_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/overlay.h"

/* Bytes that grow; start from zeroes, free .bytes. */
struct pdbd_bytes {
	uint8_t *bytes;
	size_t length, capacity;
};

void pdbd_bytes_add(struct pdbd_bytes *to, const void *bytes, size_t length);

/* What a kind of question is answered with. */
struct pdbd_service {
	uint32_t kind;
	/* This node's own part, into *ret, which is empty. node: what pdbd_tree_create() was given.
	 */
	void (*answer)(void *node, const uint8_t *payload, size_t length, struct pdbd_bytes *ret);
	/* Add a part that has come from below to *into. -1: it is damaged, and *into as before; its
	 * sender and all below become holes. Parts come in any order. */
	int (*merge)(void *node, struct pdbd_bytes *into, const uint8_t *part, size_t length);
};

struct pdbd_tree;

/* After MPI_Init. services ends with a kind of 0. is_over is asked in every round of waiting; once
 * it says true, waiting ends. */
struct pdbd_tree *pdbd_tree_create(const struct pdbd_service *services, void *node,
				   bool (*is_over)(void *node));
void pdbd_tree_destroy(struct pdbd_tree *tree);

int pdbd_tree_rank(const struct pdbd_tree *tree);
int pdbd_tree_size(const struct pdbd_tree *tree);

struct pdbd_question {
	uint32_t kind;
	const void *payload;
	size_t length;
	int total_ms;     /* how long to wait */
	bool with_silent; /* ask those, too, that have been silent before */
};

/* At rank 0: ask all, itself included. *answer is what there is, its bytes freed by the caller; to
 * *missing are added the ranks whose parts are not in it. Those below a silent one are asked once
 * more without it, within total_ms again. Who was silent is left out of later questions until one
 * with_silent has been answered. */
void pdbd_tree_ask(struct pdbd_tree *tree, const struct pdbd_question *question,
		   struct pdbd_bytes *answer, struct overlay_ranges *missing);

/* At other ranks: wait for at most timeout_ms for a question, answer it, and return its kind; 0 if
 * there was none. */
uint32_t pdbd_tree_serve(struct pdbd_tree *tree, int timeout_ms);

/* Nothing of ours is on its way any more, within timeout_ms. */
bool pdbd_tree_is_flushed(struct pdbd_tree *tree, int timeout_ms);

#endif
