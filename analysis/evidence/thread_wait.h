/* SPDX-License-Identifier: BSD-3-Clause
 * For which other thread of its process a thread waits outside MPI. The answer comes from the
 * kernel and from the words of locks (struct sample_wait), unless the functions on the stack
 * contradict it. */
#pragma once

#include "model/base.h"

enum thread_wait_kind {
	THREAD_WAIT_NONE,      /* it does not wait so, or that is not known */
	THREAD_WAIT_JOIN,      /* until a thread ends */
	THREAD_WAIT_LOCK,      /* of one that a thread holds */
	THREAD_WAIT_CONDITION, /* for a signal: condition variables, semaphores, barriers */
	THREAD_WAIT_REGION,    /* for others of its OpenMP team */
	THREAD_WAIT_FUTEX,     /* for something that has no name here */
};

/* What it waits for or at, by the functions on the stack. */
enum thread_wait_what {
	THREAD_WAIT_ON_NOTHING, /* nothing that is known here */
	THREAD_WAIT_ON_MUTEX,
	THREAD_WAIT_ON_RWLOCK,
	THREAD_WAIT_ON_CONDITION,
	THREAD_WAIT_ON_SEMAPHORE,
	THREAD_WAIT_ON_BARRIER,
	THREAD_WAIT_ON_STREAM,   /* a lock of glibc's own: of stdio */
	THREAD_WAIT_ON_HEAP,     /* a lock of the memory allocator */
	THREAD_WAIT_ON_CRITICAL, /* the next are OpenMP's */
	THREAD_WAIT_ON_OMP_LOCK,
	THREAD_WAIT_ON_GOMP_LOCK, /* a critical section or lock */
	THREAD_WAIT_ON_TEAM,
};

struct thread_wait {
	enum thread_wait_kind kind;
	/* Also of a thread whose kind is NONE, as it may spin. */
	enum thread_wait_what what;
	pid_t tid;            /* of a join or lock: the thread waited for; 0: not known */
	bool is_own;          /* of a lock: it holds it itself, so nobody will ever release it */
	bool is_timed;        /* it ends after some time anyway */
	const char *function; /* that it waits in ("pthread_join"), borrowed; NULL: not known */
	uint32_t caller;      /* the frame that has called that; CALLPATH_NONE: not known */
	uint32_t interrupted; /* where a signal's handler that it is in has interrupted, or none */
};

/* NULL: no sample. */
struct thread_wait thread_wait_of(const struct job *job, const struct sample *sample);

/* Does the thread wait for other threads of its process, as far as is known? */
bool thread_wait_is_for_threads(const struct thread_wait *wait);

/* The latest sample of the thread that it waits for; NULL: none, or it waits for itself. */
const struct sample *thread_wait_next(const struct job *job, const struct sample *sample,
				      const struct thread_wait *wait);

/* Of a lock that does not say who holds it: the latest sample of the thread that likely does, the
 * only one looked at that is where a holder may be; the sample itself if a signal's handler waits
 * for what the interrupted code likely holds. NULL: none, or several. */
const struct sample *thread_wait_likely(const struct job *job, const struct sample *sample,
					const struct thread_wait *wait);

/* The lane of the thread that it waits for; UINT32_MAX: it does not call MPI, its lane has ended,
 * or it is not known which it is. job->model must be there. */
uint32_t thread_wait_lane(const struct job *job, const struct sample *sample,
			  const struct thread_wait *wait);
/* The same of any thread of the sample's rank. */
uint32_t thread_wait_lane_of(const struct job *job, const struct sample *sample, pid_t tid);

/* Where it leads from thread to thread, as far as these are known. */
enum thread_wait_end {
	THREAD_WAIT_END_UNKNOWN, /* to one that is not known, or waits for nobody knows whom */
	THREAD_WAIT_END_IN_MPI,
	THREAD_WAIT_END_OUTSIDE, /* to one that is not inside MPI and waits for no other */
	THREAD_WAIT_END_CIRCLE,  /* they wait for each other, or one for itself */
};

/* The samples on the way, at most `max` of them, the first is `sample` itself. */
enum thread_wait_end thread_wait_follow(const struct job *job, const struct sample *sample,
					const struct sample **way, size_t max, size_t *num_ret);

/* What a thread outside MPI is, then. */
enum thread_wait_lead {
	THREAD_WAIT_NOT_READ, /* nothing tells that it waits for a thread, nor that it does not */
	THREAD_WAIT_LEADS_TO_MPI,  /* it waits for one that is inside MPI */
	THREAD_WAIT_LEADS_ON,      /* it waits for others, it is not known for which */
	THREAD_WAIT_LEADS_NOWHERE, /* nobody inside MPI is why it waits */
};
enum thread_wait_lead thread_wait_leads(const struct job *job, const struct sample *sample);

/* The decision as such: by what the sampler has read and the kind that the functions say, NONE:
 * they say nothing. */
enum thread_wait_kind thread_wait_judge(unsigned int sample_kind, enum thread_wait_kind by_name);
