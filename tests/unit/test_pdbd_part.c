/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "attach/daemons/pdbd_part.h"
#include "model/buffer.h"
#include "tests/unit/unit.h"

/* What parts are made of: they wait until they may go on. */
struct node {
	pthread_mutex_t gate;
	sem_t begun;
	pthread_t maker;
};

static void make(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct node *node = argument;

	sem_post(&node->begun);
	pthread_mutex_lock(&node->gate);
	pthread_mutex_unlock(&node->gate);
	node->maker = pthread_self();
	buffer_put_bytes(ret, payload, length);
	buffer_put_bytes(ret, "!", 1);
}

static void await(struct pdbd_part *part, struct buffer *ret)
{
	while (!pdbd_part_take(part, ret))
		sched_yield();
}

static void test_parts(void **state)
{
	struct node node = {.gate = PTHREAD_MUTEX_INITIALIZER};
	struct pdbd_part *part;
	char question[] = "one";
	struct buffer made;

	(void)state;
	sem_init(&node.begun, 0, 0);
	part = pdbd_part_create(&node);
	assert_true(pdbd_part_is_idle(part));
	assert_false(pdbd_part_take(part, &made));
	pthread_mutex_lock(&node.gate);
	pdbd_part_begin(part, make, (const uint8_t *)question, 3);
	memset(question, 'x', sizeof(question)); /* it was copied */
	assert_false(pdbd_part_is_idle(part));
	assert_false(pdbd_part_take(part, &made));
	pthread_mutex_unlock(&node.gate);
	await(part, &made);
	assert_int_equal(made.num, 4);
	assert_memory_equal(made.bytes, "one!", 4);
	assert_false(pthread_equal(node.maker, pthread_self()));
	assert_true(pdbd_part_is_idle(part));
	assert_false(pdbd_part_take(part, &made));
	free(made.bytes);

	pdbd_part_begin(part, make, NULL, 0);
	await(part, &made);
	assert_int_equal(made.num, 1);
	free(made.bytes);
	assert_int_equal(pdbd_part_destroy(part, 10000), 0);
}

/* One that is not taken goes with the rest; one that does not end is left alone. */
static void test_end(void **state)
{
	struct node node = {.gate = PTHREAD_MUTEX_INITIALIZER};
	struct pdbd_part *part;

	(void)state;
	sem_init(&node.begun, 0, 0);
	part = pdbd_part_create(&node);
	pthread_mutex_lock(&node.gate);
	pdbd_part_begin(part, make, NULL, 0);
	sem_wait(&node.begun);
	assert_int_equal(pdbd_part_destroy(part, 10), -1);
	pthread_mutex_unlock(&node.gate);
	assert_int_equal(pdbd_part_destroy(part, 10000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
