/* SPDX-License-Identifier: BSD-3-Clause
 * The operation in progress of a lane. A hook writes it before its call's event:
 *	struct operation op = operation_begin(lane, SEG_OPERATION_SEND, 0, OPERATION_CALL);
 *	operation_transfer(&op, 0, comm, peer, tag, ordinal, bytes);
 *	operation_end(&op);
 */
#pragma once

#include "model/recorder/lane.h"

/* How many events ahead the stay is that the operation belongs to: a call's event comes next, a
 * poll is part of the present stay. */
enum operation_of { OPERATION_POLL = 0, OPERATION_CALL = 1 };

struct operation {
	struct seg_operation *seg;
	uint32_t seq;
};

static inline struct operation operation_begin(struct lane *l, enum seg_operation_kind kind,
					       uint32_t flags, enum operation_of of)
{
	struct seg_operation *seg = &l->seg->operation;
	uint64_t events = relaxed_get(&l->current->events);
	uint32_t seq = section_begin(&seg->seq);

	relaxed_set(&seg->kind, kind);
	relaxed_set(&seg->event, events + of);
	relaxed_set(&seg->flags, flags);
	relaxed_set(&seg->num_waited, 0);
	return (struct operation){seg, seq};
}

static inline void operation_transfer(struct operation *op, int i, uint32_t comm, int32_t peer,
				      int32_t tag, uint64_t ordinal, uint64_t bytes)
{
	struct seg_transfer *t = &op->seg->transfers[i];

	relaxed_set(&t->comm, comm);
	relaxed_set(&t->peer, peer);
	relaxed_set(&t->tag, tag);
	relaxed_set(&t->ordinal, ordinal);
	relaxed_set(&t->bytes, bytes);
}

static inline void operation_flags(struct operation *op, uint32_t flags)
{
	relaxed_set(&op->seg->flags, flags);
}

static inline void operation_waited(struct operation *op, uint32_t num)
{
	relaxed_set(&op->seg->num_waited, num);
}

static inline void operation_number(struct operation *op, uint64_t number)
{
	relaxed_set(&op->seg->number, number);
}

static inline void operation_end(struct operation *op)
{
	section_end(&op->seg->seq, op->seq);
}

/* Is the lane's last operation such a one, of the same stay? */
static inline bool operation_is(const struct lane *l, enum seg_operation_kind kind, uint32_t flags,
				enum operation_of of)
{
	const struct seg_operation *seg = &l->seg->operation;
	uint64_t events = relaxed_get(&l->current->events);

	return relaxed_get(&seg->event) == events + of && relaxed_get(&seg->kind) == kind &&
	       relaxed_get(&seg->flags) == flags && !(relaxed_get(&seg->seq) & 1);
}

/* One with nothing but its kind. */
static inline void operation_plain(struct lane *l, enum seg_operation_kind kind,
				   enum operation_of of)
{
	struct operation op = operation_begin(l, kind, 0, of);

	operation_end(&op);
}

/* A call that needs nobody. No other function writes this kind, so after such a call only the event
 * differs. */
static inline void operation_local(struct lane *l)
{
	struct seg_operation *seg = &l->seg->operation;
	uint64_t events = relaxed_get(&l->current->events);

	if (relaxed_get(&seg->kind) == SEG_OPERATION_LOCAL && !(relaxed_get(&seg->seq) & 1))
		atomic_store_explicit(&seg->event, events + OPERATION_CALL, memory_order_release);
	else
		operation_plain(l, SEG_OPERATION_LOCAL, OPERATION_CALL);
}
