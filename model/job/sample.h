/* SPDX-License-Identifier: BSD-3-Clause
 * Stack samples: what was seen of one thread at one moment. Plain data, filled by attach/. */
#pragma once

#include "model/base.h"

struct blocked;
struct variables;

enum sample_status {
	SAMPLE_COMPLETE,   /* unwound to the outermost frame */
	SAMPLE_INCOMPLETE, /* some frames, then the unwinder knew no further */
	SAMPLE_FAILED,     /* no frames; `note` says why */
};

/* Not a probe's: a hash of the frame's own part of the stack and the registers that calls preserve.
 * It stays while the thread is in a call that the frame has made. */
#define SAMPLE_CONTENTS UINT32_MAX

/* What a probe (model/job/code.h) has read in one of its frames. Bytes are values of 8 bytes each,
 * one behind the other, the rest of the last one 0. */
struct sample_value {
	uint32_t depth; /* of the frame in the path, 0 is the outermost one */
	uint32_t probe; /* index, or SAMPLE_CONTENTS */
	int64_t value;
};

/* What keeps a thread in a futex call, by the words there (attach/stacks/futex.h). */
enum sample_wait_kind {
	SAMPLE_WAIT_NONE,   /* it is in no such call, or that is not known */
	SAMPLE_WAIT_JOIN,   /* the thread tid, in whose descriptor the word is, has not ended */
	SAMPLE_WAIT_MUTEX,  /* tid is said beside what looks like a mutex to hold it */
	SAMPLE_WAIT_OWNED,  /* tid is said in the word itself to hold it */
	SAMPLE_WAIT_RWLOCK, /* tid is said beside what looks like a lock to write */
	SAMPLE_WAIT_OTHER,  /* nobody is said who would end it */
	/* Later than the others: numbers are in shares. */
	SAMPLE_WAIT_STREAM,  /* tid is said to hold a lock of glibc's own, by its descriptor */
	SAMPLE_WAIT_READERS, /* readers are said to hold what looks like a lock to read */
	SAMPLE_WAIT_BARRIER, /* what looks like a barrier at which others are missing */
	SAMPLE_WAIT_GOMP, /* what looks like a lock of libgomp, which does not say who holds it */
	SAMPLE_WAIT_LAST = SAMPLE_WAIT_GOMP,
};

struct sample_wait {
	uint8_t kind;  /* enum sample_wait_kind */
	bool is_timed; /* it ends after some time anyway, or another process may end it */
	/* A living thread of the process, maybe itself, as in struct sample; 0: none is known. */
	pid_t tid;
};

struct sample {
	int rank;
	pid_t tid;
	bool is_main;
	enum sample_status status;
	/* in the job's callpaths, innermost frame is a pc; CALLPATH_NONE if failed */
	uint32_t path;
	char state;       /* of /proc/PID/task/TID/stat when looked at: R S D T t Z; '?' unknown */
	uint64_t when_ns; /* CLOCK_MONOTONIC of the host */
	struct sample_wait wait;
	uint32_t stopped_ns;         /* for how long the thread was stopped */
	char *note;                  /* NULL, or why it failed or is incomplete */
	struct sample_value *values; /* by depth; NULL where nothing was asked for */
	size_t num_values;
	/* Of a main thread, read right after; NULL: not asked for, or the library is not known. */
	struct message_queues *queues;
	/* Of a main thread that slept, read right before, or that has reached a limit, and of any
	 * in a futex call outside MPI, read right after; NULL: not asked for, or not known. */
	struct blocked *blocked;
	/* Of a main thread's frames; NULL: not asked for, or none are known. */
	struct variables *variables;
};

struct samples {
	struct sample *samples; /* by rank, then tid with the main thread first, then time */
	size_t num_samples;
	size_t capacity;
	struct samples *replaced; /* job.keeps_replaced: what was in the place of these; or NULL */
};

struct samples *samples_create(void);
void samples_destroy(struct samples *samples); /* with those replaced; NULL is fine */
/* Append a copy of *sample; `note`, `values`, `queues`, `blocked` and `variables` become owned.
 * Returns the copy. */
struct sample *samples_add(struct samples *samples, const struct sample *sample);
/* Append one that says why there is none of the rank's main thread; the text is copied. */
struct sample *samples_add_failed(struct samples *samples, int rank, pid_t pid, const char *why);
/* Append those of `from` whose ranks are (or are not) in the set (NULL: all), which loses what they
 * own. */
void samples_move(struct samples *to, struct samples *from, const struct rankset *ranks,
		  bool are_in);
/* Into the order that they are to have. */
void samples_sort(struct samples *samples);
/* Give main threads' latest samples the values of `from`, where those tell more, in the frames that
 * both have, from the outermost on. Both sorted. */
void samples_adopt_values(struct samples *samples, const struct samples *from,
			  const struct callpaths *callpaths);
/* The latest sample of the rank's main thread (tid 0) or of a thread; NULL if there is none. */
const struct sample *samples_find(const struct samples *samples, int rank, pid_t tid);
/* What the sample's thread slept in, by the latest sample that shows it with the same callers.
 * NULL: not known. */
const struct blocked *samples_blocked(const struct samples *samples,
				      const struct callpaths *callpaths,
				      const struct sample *sample);
/* The limit that the rank's process had reached at the latest sample of its main thread, as in
 * struct blocked; NULL: none that is known. */
const char *samples_limit(const struct samples *samples, int rank);
/* Who traces the thread by its note: "pid 7 (gdb)"; NULL: nobody, or not said. The caller frees. */
char *sample_tracer(const struct sample *sample);
