/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "attach/daemons/pdbd_part.h"
#include "model/buffer.h"
#include "model/monotonic.h"

struct pdbd_part {
	void *node;
	bool is_begun;
	bool has_thread; /* if the system has none left, the part is made while the caller waits */
	pthread_t thread;
	atomic_bool is_made; /* before it the rest is the thread's */
	pdbd_part_fn *make;
	struct buffer payload, result;
};

static void *run(void *argument)
{
	struct pdbd_part *part = argument;

	part->make(part->node, part->payload.bytes, part->payload.num, &part->result);
	part->is_made = true;
	return NULL;
}

struct pdbd_part *pdbd_part_create(void *node)
{
	struct pdbd_part *part = xcalloc(1, sizeof(*part));

	part->node = node;
	return part;
}

int pdbd_part_destroy(struct pdbd_part *part, int timeout_ms)
{
	uint64_t until_ns = monotonic_ns() + (uint64_t)timeout_ms * 1000000;
	const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
				       .tv_nsec = (long)(until_ns % 1000000000)};

	if (part->is_begun && part->has_thread &&
	    pthread_clockjoin_np(part->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
		return -1;
	free(part->payload.bytes);
	free(part->result.bytes);
	free(part);
	return 0;
}

bool pdbd_part_is_idle(const struct pdbd_part *part)
{
	return !part->is_begun;
}

void pdbd_part_begin(struct pdbd_part *part, pdbd_part_fn *make, const uint8_t *payload,
		     size_t length)
{
	sigset_t all, before;

	part->make = make;
	part->payload.num = 0;
	buffer_put_bytes(&part->payload, payload, length);
	part->is_begun = true;
	part->is_made = false;
	/* Signals are for the thread that waits. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	part->has_thread = pthread_create(&part->thread, NULL, run, part) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!part->has_thread)
		run(part);
}

bool pdbd_part_take(struct pdbd_part *part, struct buffer *ret)
{
	if (!part->is_begun || !part->is_made)
		return false;
	if (part->has_thread)
		pthread_join(part->thread, NULL);
	part->is_begun = false;
	*ret = part->result;
	part->result = (struct buffer){.bytes = NULL};
	return true;
}
