/* SPDX-License-Identifier: BSD-3-Clause
 * The communicators, windows and files of this process, and the numbers of their collectives.
 * Looking up takes no lock; adding and freeing need the recorder's lock. Handles are words: nothing
 * here knows MPI. */
#pragma once

#include "model/recorder/commid.h"
#include "model/recorder/handles.h"
#include "model/recorder/idhash.h"
#include "model/recorder/writer.h"

/* What a handle is of. C handles and Fortran's integers may have equal values. */
enum comms_space {
	COMMS_C = 1,
	COMMS_FORTRAN,
	COMMS_WINDOW_C,
	COMMS_WINDOW_FORTRAN,
	COMMS_FILE_C,
	COMMS_FILE_FORTRAN,
};

/* From so many entries on those freed long ago are used again: a program that makes and frees
 * communicators all the time does not fill the table. */
enum { COMMS_MANY = 128 };

static inline uint64_t comms_key(enum comms_space space, uint64_t handle)
{
	return handle << 3 | space;
}

/* Whom post-start-complete-wait on a window is about. */
enum comms_epoch { COMMS_ACCESS, COMMS_EXPOSURE };

struct comms_epochs {
	uint32_t num[2];   /* of the present epoch; 0: none */
	int32_t *peers[2]; /* room for all ranks of the window */
	/* The group (handle, 0: none) whose `num` ranks these are, and how many had been freed by
	 * then: the handle of a freed one comes again. */
	struct {
		uint64_t group, freed;
		uint32_t num;
	} known[2];
};

/* What a one-sided call leaves to do, as bits: until its memory may be used again and what it asked
 * for is there (flush_local); and until the target has got it. */
enum comms_pending { COMMS_LOCAL = 1, COMMS_REMOTE = 2, COMMS_ALL = COMMS_LOCAL | COMMS_REMOTE };

/* What the segment does not tell of an entry. */
struct comms_own {
	uint64_t members;          /* commid_of_members() of its group, plus the remote group's */
	uint64_t keys[2];          /* its handles in C and Fortran; 0: none */
	_Atomic uint32_t children; /* made from it so far by collective calls */
	uint32_t again; /* entries that differ from this first one in nothing but ordinal */
	uint32_t names; /* it was given */
	struct comms_epochs *epochs; /* NULL: none yet */
	bool is_counted;             /* `again` of it is asked for, so it is not used again */
	uint32_t next;               /* in its queue; SEG_NO_COMM: it is the last */
};

/* A new communicator, window or file, as MPI tells of it. */
struct comms_new {
	enum seg_comm_kind kind;
	enum commid_origin origin;
	uint64_t key;     /* its handle in the language of the call that made it */
	uint32_t parent;  /* index; SEG_NO_COMM: none, or not known */
	uint32_t ordinal; /* by comms_child(); those of other origins are counted here */
	uint64_t extra;   /* see commid() */
	uint32_t site;
	bool like_parent; /* a duplicate, window, file: takes the groups from its parent */
	bool has_topology_of_parent;
	/* If not like_parent. Members are world ranks, or -1; NULL: not known. */
	int32_t rank;
	uint32_t size, remote_size;
	const int32_t *members, *remote;
	uint32_t num_sources, num_destinations;
	const int32_t *sources; /* and, behind them, the destinations */
};

struct comms_queue {
	uint32_t first, last; /* SEG_NO_COMM: empty */
};

struct comms {
	/* What calls look at first is in one cache line. */
	struct handles handles;
	_Atomic uint32_t num_pending; /* windows of which something is pending */
	bool is_alone;        /* one thread at a time calls: only then does what is pending hold */
	_Atomic uint32_t num; /* entries; stored before an index becomes known */
	struct seg_comm *entries; /* of the segment; NULL: not yet */
	struct idhash lists;      /* hash of a list in MEMBERS -> its first index */
	struct idhash ids;        /* id -> index of the entry, where `again` may be asked for */
	uint32_t name_bytes;      /* of names given */
	/* Freed: what unfinished requests may be about, and what none is about. */
	struct comms_queue freed, idle;
	uint32_t again; /* of comms_recycle(); SEG_NO_COMM: none */
	struct comms_own own[SEG_MAX_COMMS];
	/* enum comms_pending of each entry; the last: of windows without room, for good */
	_Atomic uint8_t pending[SEG_MAX_COMMS + 1];
} __attribute__((aligned(64)));

extern struct comms comms_here __attribute__((visibility("hidden")));

/* Index; SEG_NO_COMM: a null handle or without room; HANDLES_UNKNOWN: never seen. */
static ALWAYS_INLINE uint32_t comms_find(const struct comms *c, uint64_t key)
{
	return handles_find(&c->handles, key);
}

static inline bool comms_has(const struct comms *c, uint32_t index)
{
	return index < relaxed_get(&c->num);
}

static inline enum seg_comm_kind comms_kind(const struct comms *c, uint32_t index)
{
	return comms_has(c, index) ? c->entries[index].kind : SEG_COMM_INTRA;
}

/* How many ranks can be a peer there; 0: not known. */
static inline uint32_t comms_num_peers(const struct comms *c, uint32_t index)
{
	if (!comms_has(c, index))
		return 0;
	const struct seg_comm *comm = &c->entries[index];
	return comm->kind == SEG_COMM_INTER ? comm->remote_size : comm->size;
}

/* The process's own rank there; -1: not known. */
static inline int comms_rank(const struct comms *c, uint32_t index)
{
	return comms_has(c, index) ? c->entries[index].rank : -1;
}

/* Number of its last collective; 0: none. */
static inline uint64_t comms_last(const struct comms *c, uint32_t index)
{
	return comms_has(c, index) ? relaxed_get(&c->entries[index].collectives) : 0;
}

/* From now on the handle means this entry (or SEG_NO_COMM, as do indexes of no entry). False when
 * there is no room. */
bool comms_map(struct comms *c, uint64_t key, uint32_t index);

/* The first two entries. size 0: not known. */
void comms_predefine(struct comms *c, struct writer *w, int world_rank, uint32_t world_size);

/* An entry that was made where the recorder did not see it: only its kind is known. */
uint32_t comms_adopt(struct comms *c, struct writer *w, uint64_t key, enum seg_comm_kind kind);

/* A call that makes something from `parent` starts: the ordinal of what it makes. Takes no lock. */
uint32_t comms_child(struct comms *c, uint32_t parent);

/* Where there are many entries: empties the first freed that no request is about for the next
 * comms_add(). Its index: the caller takes its counts out of the ledgers. SEG_NO_COMM: none. */
uint32_t comms_recycle(struct comms *c, struct writer *w);

/* The call has made it. Its index, or SEG_NO_COMM without room; the handle then means that. An
 * entry that had this handle before must have been freed. */
uint32_t comms_add(struct comms *c, struct writer *w, const struct comms_new *n);

/* Its handles mean nothing any more: before MPI frees it, where another thread may get one of them
 * for something new (if MPI refuses, it is mapped again by its key); and when MPI has freed it. */
void comms_unmap(struct comms *c, uint32_t index);
void comms_freed(struct comms *c, uint32_t index);

/* C handle of an entry; 0: none. */
static inline uint64_t comms_handle(const struct comms *c, uint32_t index)
{
	/* Of an int that became an address the sign goes on to the highest bit. */
	return comms_has(c, index) ? (uint64_t)((int64_t)c->own[index].keys[1] >> 3) : 0;
}

struct comms_epochs *comms_make_epochs(struct comms *c, uint32_t index);

/* The epochs of a window, kept until it is freed; NULL when its size is not known or there is no
 * memory. Only one thread at a time may be in these calls on one window. */
static inline struct comms_epochs *comms_get_epochs(struct comms *c, uint32_t index)
{
	if (likely(comms_has(c, index) && c->own[index].epochs))
		return c->own[index].epochs;
	return comms_make_epochs(c, index);
}

/* What is pending holds only where calls of the process follow each other. */
static inline void comms_set_pending(struct comms *c, uint32_t index, uint32_t pending)
{
	uint32_t before = relaxed_get(&c->pending[index]);

	if (before == pending)
		return;
	relaxed_set(&c->pending[index], pending);
	uint32_t num = relaxed_get(&c->num_pending);
	relaxed_set(&c->num_pending, num - !!before + !!pending);
}

static inline bool comms_has_pending(const struct comms *c)
{
	return relaxed_get(&c->num_pending) != 0;
}

static inline uint32_t comms_pending_of(const struct comms *c, uint32_t index)
{
	index = index < SEG_MAX_COMMS ? index : SEG_MAX_COMMS;
	return relaxed_get(&c->pending[index]);
}

/* A call on the window leaves this to a flush. */
static inline void comms_leave_pending(struct comms *c, uint32_t index, uint32_t pending)
{
	pending |= comms_pending_of(c, index);
	comms_set_pending(c, index < SEG_MAX_COMMS ? index : SEG_MAX_COMMS, pending);
}

/* The window is flushed, of all targets. */
static inline void comms_flush(struct comms *c, uint32_t index, uint32_t pending)
{
	if (index < SEG_MAX_COMMS)
		comms_set_pending(c, index, comms_pending_of(c, index) & ~pending);
}

/* The program gives it a name, of `length` bytes. Too many names are ignored. */
void comms_name(struct comms *c, struct writer *w, uint32_t index, const char *text,
		uint32_t length);

/* A collective starts: its number, from 1; 0 when index is SEG_NO_COMM. Takes no lock: the members'
 * threads may not start two on one communicator at the same time. */
uint64_t comms_start(struct comms *c, uint32_t index, uint32_t site, int32_t root, uint64_t bytes);
