/* SPDX-License-Identifier: BSD-3-Clause
 * Evidence is copied while a writer is at work, whose every event changes all of it. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/job/model.h"
#include "model/segment/segment_reader.h"
#include "tests/unit/evidence_sample.h"

struct busy_writer {
	struct places places;
	_Atomic bool stop;
};

static uint32_t lock(_Atomic uint32_t *seq)
{
	uint32_t odd = *seq + 1;

	atomic_store_explicit(seq, odd, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	return odd + 1;
}

static void unlock(_Atomic uint32_t *seq, uint32_t even)
{
	atomic_store_explicit(seq, even, memory_order_release);
}

/* Before event number n, all that the rank tells about itself says n. */
static void tell(struct places *p, uint64_t n)
{
	struct seg_operation *operation = &p->lane->operation;
	struct seg_request *request = &p->requests[SENDS];
	struct seg_comm *comm = &p->comms[ROWS];
	struct seg_collective *started = &comm->recent[n % SEG_RECENT];
	uint32_t even = lock(&request->seq);

	request->ordinal = n;
	request->bytes = n;
	request->tag = (int32_t)(n & 0xffff);
	unlock(&request->seq, even);
	even = lock(&comm->seq);
	started->number = n;
	started->bytes = n;
	comm->collectives = n;
	unlock(&comm->seq, even);
	even = lock(&operation->seq);
	operation->event = n;
	operation->transfers[0].ordinal = n;
	operation->transfers[0].tag = (int32_t)(n & 0xffff);
	unlock(&operation->seq, even);
	p->ledger[0].sends = n;
}

static void *write_busily(void *cookie)
{
	struct busy_writer *busy = cookie;
	struct places *p = &busy->places;
	struct seg_current *current = &p->lane->current;

	while (!busy->stop) {
		uint64_t n = current->events + 1;
		uint32_t even;

		tell(p, n);
		even = lock(&current->seq);
		current->events = n;
		current->since++;
		unlock(&current->seq, even);
		/* Rest now and then, so that both kinds of copy happen. */
		if (n % 512 == 0)
			usleep(300);
	}
	return NULL;
}

/* The writer may be one event further with its telling than the event that is made. */
static void assert_near(uint64_t told, uint64_t events)
{
	assert_in_range(told, events, events + 1);
}

static void check_busy(const struct model *model, int *num_known, int *num_still)
{
	const struct model_lane *lane = &model->lanes[0];
	const struct model_operation *operation = &lane->operation;
	const struct model_request *request = &model->requests[SENDS];
	const struct model_comm *comm = &model->comms[ROWS];

	assert_true(lane->last_events >= lane->events);
	if (operation->kind != SEG_OPERATION_OTHER) {
		assert_int_equal(operation->transfers[0].ordinal, lane->events);
		assert_int_equal(operation->transfers[0].tag, lane->events & 0xffff);
		*num_known += 1;
	}
	if (request->kind != SEG_REQUEST_OTHER) {
		assert_int_equal(request->bytes, request->ordinal);
		assert_int_equal(request->tag, request->ordinal & 0xffff);
	}
	for (size_t i = 0; comm->id && i < SEG_RECENT; i++) {
		assert_int_equal(comm->recent[i].number, comm->collectives - i);
		assert_int_equal(comm->recent[i].bytes, comm->recent[i].number);
	}
	if (lane->last_events != lane->events || !comm->id || request->kind == SEG_REQUEST_OTHER)
		return;
	assert_near(request->ordinal, lane->events);
	assert_near(comm->collectives, lane->events);
	assert_near(lane->ledger[0].sends, lane->events);
	*num_still += 1;
}

static void test_busy(void **state)
{
	struct segment_writer *w = evidence_sample();
	struct busy_writer busy = {0};
	int fd, num_known = 0, num_still = 0;
	pthread_t thread;
	uint8_t *bytes, *map;
	size_t size;

	(void)state;
	w->num_lanes = 1;
	w->requests[SENDS].lane = 0;
	w->lanes[0].head.operation.kind = SEG_OPERATION_SEND;
	w->lanes[0].head.operation.transfers[0] = (struct seg_transfer){.comm = ROWS, .peer = 0};
	size = segment_writer_bytes(w, &bytes);
	fd = segment_bytes_fd(bytes, size);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	busy.places = find_places(map);
	/* A ring, and eight collectives, that say the same. */
	busy.places.lane->current.events = 1000;
	for (uint64_t n = 980; n <= 1000; n++)
		tell(&busy.places, n);
	assert_int_equal(pthread_create(&thread, NULL, write_busily, &busy), 0);
	for (int round = 0; round < 2000; round++) {
		struct pdb_error err = {0};
		struct model *model;

		if (segment_read(fd, &model, &err) < 0)
			fail_msg("%s", err.text);
		check_busy(model, &num_known, &num_still);
		model_destroy(model);
	}
	busy.stop = true;
	pthread_join(thread, NULL);
	assert_true(num_known > 0);
	assert_true(num_still > 0);
	munmap(map, size);
	close(fd);
	free(bytes);
	w->num_lanes = 2;
	segment_writer_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
