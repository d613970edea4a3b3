/* SPDX-License-Identifier: BSD-3-Clause
 * The recorder's lanes of two threads in a segment of their own, and the process's requests. */
#ifndef PDB_TESTS_UNIT_RECORDER_LANES_H
#define PDB_TESTS_UNIT_RECORDER_LANES_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/recorder/lane.h"
#include "model/recorder/requests.h"
#include "model/recorder/writer.h"
#include "tests/unit/unit.h"

static char dir[] = "/tmp/pdb-test-lanes-XXXXXX";

static struct fixture {
	struct writer writer;
	struct requests requests;
	struct lane *lanes[2];
} fix;

/* The state is the first lane. */
static inline int setup(void **state)
{
	char why[512];

	memset(&fix, 0, sizeof(fix));
	if (writer_create(&fix.writer, dir, &(struct writer_identity){.job = "lanes"}, 64, 0, why,
			  sizeof(why)) != 0 ||
	    !requests_init(&fix.requests, &fix.writer))
		return -1;
	for (int i = 0; i < 2; i++) {
		fix.lanes[i] = lane_create(&fix.writer, i);
		if (!fix.lanes[i])
			return -1;
		fix.lanes[i]->requests = &fix.requests;
		lane_take(fix.lanes[i], 77 + i, i == 0);
	}
	*state = fix.lanes[0];
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	writer_remove(&fix.writer);
	return 0;
}

/* For all tests of a program. */
static inline int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static inline uint32_t num_requests(void)
{
	uint32_t num = 0;

	for (uint32_t i = 0; i < fix.requests.table->count; i++)
		num += fix.requests.slots[i].kind != SEG_REQUEST_FREE;
	return num;
}

#endif
