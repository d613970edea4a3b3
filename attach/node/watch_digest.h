/* SPDX-License-Identifier: BSD-3-Clause
 * What all ranks of a watched job do at one moment: who is inside MPI, who is outside, and numbers.
 * The daemons unite the digests of several nodes on the way (pdbd.h). */
#pragma once

#include "model/base.h"

#define WATCH_NEVER UINT64_MAX

struct watch_numbers {
	uint32_t num_ranks;    /* that were looked for */
	uint32_t num_ended;    /* of these: processes that have ended */
	uint32_t num_recorded; /* that have a recorder and are between MPI_Init and MPI_Finalize */
	uint32_t num_left;     /* that have a recorder and have left MPI_Finalize */
	uint32_t num_moved;    /* of num_recorded: that made a transition since the last look */
	uint32_t num_sampled;  /* whose stack was seen */
	uint32_t num_refused;  /* whose stack could not be taken */
	uint32_t num_changed;  /* of num_sampled: that are in another call of MPI than last time, or
				* have been out of it meanwhile by their messages or frames */
	uint32_t num_unsure;   /* of the others: whose messages cannot be counted */
	uint32_t num_active;   /* of those outside for a second, or at both last looks at their
				* stacks: that have read or written something meanwhile, or have
				* come to functions where they have not been lately */
	uint32_t num_suspended; /* those of hosts where all that live are stopped by a signal */
	uint64_t events;        /* transitions made by all ranks together since they began */
	uint64_t quiet_ns;   /* since the newest of them, by anybody; WATCH_NEVER: none was seen */
	uint64_t outside_ns; /* how long the one that is outside for longest is; 0: nobody */
};

enum watch_rank_flags {
	WATCH_RANK_OUTSIDE = 1 << 0,
	WATCH_RANK_MAY_LAST = 1 << 1, /* in a call that works by itself: of files, Init, Spawn */
};

/* A rank with a recorder, by the thread that made its last transition. */
struct watch_rank {
	uint32_t rank;
	uint32_t flags;
	uint64_t place;   /* the same number in all ranks that are there */
	uint64_t moves;   /* transitions ever made */
	uint64_t stay_ns; /* of one outside that has polled there: since its last poll */
	/* Of earlier stays there, and after a second outside those of all ranks of the node. */
	uint64_t longest_ns, num_stays;
	/* Of one that has stayed outside or in such a call for a second, else 0: */
	uint64_t stack; /* a number for its functions on the stack */
	uint64_t work;  /* bytes and system calls of I/O since it was looked at first there */
};

struct watch_digest {
	struct watch_numbers numbers;
	struct rankset *inside;   /* in an MPI call, or between two polls that found nothing */
	struct rankset *outside;  /* elsewhere. Ranks that are in neither could not be looked at */
	struct watch_rank *ranks; /* [num_ranks] those with a recorder, in any order */
	size_t num_ranks, capacity;
};

/* Nothing seen yet. */
void watch_digest_init(struct watch_digest *digest);
void watch_digest_deinit(struct watch_digest *digest);
void watch_digest_clear(struct watch_digest *digest);

void watch_digest_add_rank(struct watch_digest *digest, const struct watch_rank *rank);

void watch_digest_add(struct watch_digest *into, const struct watch_digest *part);

void watch_digest_encode(const struct watch_digest *digest, struct buffer *ret);
/* Into an initialised digest. num_ranks: of the job. -1: ERROR_FORMAT, *ret is empty. */
int watch_digest_decode(const uint8_t *bytes, size_t length, int num_ranks,
			struct watch_digest *ret, struct pdb_error *err);

/* Unite *into, which may be empty, with another part. -1: the part is damaged, and *into is as
 * before. */
int watch_digest_merge(struct buffer *into, const uint8_t *part, size_t length, int num_ranks);
