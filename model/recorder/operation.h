/* SPDX-License-Identifier: BSD-3-Clause
 * The operation in progress of a lane. A hook writes it before its call's event:
 *
 *	struct operation op = operation_begin(lane, SEG_OPERATION_SEND, 0, OPERATION_CALL);
 *	operation_transfer(&op, 0, comm, peer, tag, ordinal, bytes);
 *	operation_end(&op);
 */
#ifndef PDB_RECORDER_OPERATION_H
#define PDB_RECORDER_OPERATION_H

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
	uint64_t events = atomic_load_explicit(&l->current->events, memory_order_relaxed);
	/* A section that the thread was thrown out of is closed by the next one. */
	uint32_t seq = atomic_load_explicit(&seg->seq, memory_order_relaxed) | 1;

	atomic_store_explicit(&seg->seq, seq, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&seg->kind, kind, memory_order_relaxed);
	atomic_store_explicit(&seg->event, events + of, memory_order_relaxed);
	atomic_store_explicit(&seg->flags, flags, memory_order_relaxed);
	atomic_store_explicit(&seg->num_waited, 0, memory_order_relaxed);
	return (struct operation){seg, seq};
}

static inline void operation_transfer(struct operation *op, int i, uint32_t comm, int32_t peer,
				      int32_t tag, uint64_t ordinal, uint64_t bytes)
{
	struct seg_transfer *t = &op->seg->transfers[i];

	atomic_store_explicit(&t->comm, comm, memory_order_relaxed);
	atomic_store_explicit(&t->peer, peer, memory_order_relaxed);
	atomic_store_explicit(&t->tag, tag, memory_order_relaxed);
	atomic_store_explicit(&t->ordinal, ordinal, memory_order_relaxed);
	atomic_store_explicit(&t->bytes, bytes, memory_order_relaxed);
}

static inline void operation_flags(struct operation *op, uint32_t flags)
{
	atomic_store_explicit(&op->seg->flags, flags, memory_order_relaxed);
}

static inline void operation_waited(struct operation *op, uint32_t num)
{
	atomic_store_explicit(&op->seg->num_waited, num, memory_order_relaxed);
}

static inline void operation_number(struct operation *op, uint64_t number)
{
	atomic_store_explicit(&op->seg->number, number, memory_order_relaxed);
}

static inline void operation_end(struct operation *op)
{
	atomic_store_explicit(&op->seg->seq, op->seq + 1, memory_order_release);
}

/* Is the lane's last operation such a one, of the same stay? */
static inline bool operation_is(const struct lane *l, enum seg_operation_kind kind, uint32_t flags,
				enum operation_of of)
{
	const struct seg_operation *seg = &l->seg->operation;
	uint64_t events = atomic_load_explicit(&l->current->events, memory_order_relaxed);

	return atomic_load_explicit(&seg->event, memory_order_relaxed) == events + of &&
	       atomic_load_explicit(&seg->kind, memory_order_relaxed) == kind &&
	       atomic_load_explicit(&seg->flags, memory_order_relaxed) == flags &&
	       !(atomic_load_explicit(&seg->seq, memory_order_relaxed) & 1);
}

/* One of which there is no more to say than its kind. */
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
	uint64_t events = atomic_load_explicit(&l->current->events, memory_order_relaxed);

	if (atomic_load_explicit(&seg->kind, memory_order_relaxed) == SEG_OPERATION_LOCAL &&
	    !(atomic_load_explicit(&seg->seq, memory_order_relaxed) & 1))
		atomic_store_explicit(&seg->event, events + OPERATION_CALL, memory_order_release);
	else
		operation_plain(l, SEG_OPERATION_LOCAL, OPERATION_CALL);
}

#endif
