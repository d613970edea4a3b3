/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/daemons/pdbd_part.h"
#include "model/buffer.h"
#include "model/xalloc.h"

enum part_state { PART_IDLE, PART_BEGUN, PART_MADE, PART_LAST };

struct pdbd_part {
	void *node;
	bool has_thread; /* if the system has none left, parts are made while the caller waits */
	pthread_t thread;
	pthread_mutex_t mutex;  /* for the state; the rest is the thread's while a part is begun */
	pthread_cond_t changed; /* the state has */
	enum part_state state;
	pdbd_part_fn *make;
	struct buffer payload, result;
};

static void *run(void *argument)
{
	struct pdbd_part *part = argument;

	pthread_mutex_lock(&part->mutex);
	while (part->state != PART_LAST) {
		if (part->state != PART_BEGUN) {
			pthread_cond_wait(&part->changed, &part->mutex);
			continue;
		}
		pthread_mutex_unlock(&part->mutex);
		part->make(part->node, part->payload.bytes, part->payload.num, &part->result);
		pthread_mutex_lock(&part->mutex);
		if (part->state == PART_BEGUN)
			part->state = PART_MADE;
	}
	pthread_mutex_unlock(&part->mutex);
	return NULL;
}

struct pdbd_part *pdbd_part_create(void *node)
{
	struct pdbd_part *part = xcalloc(1, sizeof(*part));
	sigset_t all, before;

	part->node = node;
	pthread_mutex_init(&part->mutex, NULL);
	pthread_cond_init(&part->changed, NULL);
	/* Signals are for the thread that waits. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	part->has_thread = pthread_create(&part->thread, NULL, run, part) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return part;
}

static void set_state(struct pdbd_part *part, enum part_state state)
{
	pthread_mutex_lock(&part->mutex);
	part->state = state;
	pthread_cond_signal(&part->changed);
	pthread_mutex_unlock(&part->mutex);
}

int pdbd_part_destroy(struct pdbd_part *part, int timeout_ms)
{
	struct timespec until;

	if (!part)
		return 0;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	set_state(part, PART_LAST);
	if (part->has_thread && pthread_timedjoin_np(part->thread, NULL, &until) != 0)
		return -1;
	pthread_cond_destroy(&part->changed);
	pthread_mutex_destroy(&part->mutex);
	free(part->payload.bytes);
	free(part->result.bytes);
	free(part);
	return 0;
}

static enum part_state get_state(struct pdbd_part *part)
{
	pthread_mutex_lock(&part->mutex);
	enum part_state state = part->state;
	pthread_mutex_unlock(&part->mutex);
	return state;
}

bool pdbd_part_is_idle(struct pdbd_part *part)
{
	return get_state(part) == PART_IDLE;
}

void pdbd_part_begin(struct pdbd_part *part, pdbd_part_fn *make, const uint8_t *payload,
		     size_t length)
{
	part->make = make;
	part->payload.num = 0;
	buffer_put_bytes(&part->payload, payload, length);
	if (part->has_thread) {
		set_state(part, PART_BEGUN);
	} else {
		make(part->node, payload, length, &part->result);
		part->state = PART_MADE;
	}
}

bool pdbd_part_take(struct pdbd_part *part, struct buffer *ret)
{
	if (get_state(part) != PART_MADE)
		return false;
	*ret = part->result;
	part->result = (struct buffer){.bytes = NULL};
	set_state(part, PART_IDLE);
	return true;
}
