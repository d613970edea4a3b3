/* SPDX-License-Identifier: BSD-3-Clause
 * What is asked of each daemon: a kind of question is added in pdbd.h and in the table below. */
#include <time.h>
#include <unistd.h>

#include "attach/daemons/pdbd.h"
#include "attach/daemons/pdbd_end.h"
#include "attach/daemons/pdbd_gdb.h"
#include "attach/daemons/pdbd_private.h"
#include "attach/daemons/pdbd_tree.h"
#include "attach/launchers/launcher.h"
#include "attach/node/daemon_job.h"
#include "model/buffer.h"
#include "model/job/proctable.h"
#include "model/monotonic.h"

#define PIECE_NS 100000000L /* of a sleep: how long it may take to end */

bool pdbd_is_over(const struct daemon *daemon)
{
	return pdbd_end_is_told() || getppid() != daemon->parent;
}

bool pdbd_take_turn(void *argument)
{
	const struct daemon *daemon = argument;

	if (daemon->tree)
		pdbd_gdb_turn(daemon->gdb);
	return pdbd_is_over(daemon);
}

bool pdbd_sleep_until(uint64_t until_ns)
{
	for (;;) {
		int64_t left_ns = (int64_t)(until_ns - monotonic_ns());
		struct timespec rest = {.tv_nsec = left_ns < PIECE_NS ? left_ns : PIECE_NS};

		if (left_ns <= 0 || pdbd_end_is_told())
			return !pdbd_end_is_told();
		nanosleep(&rest, NULL);
	}
}

static int merge_texts(void *argument, struct buffer *into, const uint8_t *part, size_t length)
{
	(void)argument;
	buffer_put_bytes(into, part, length);
	return 0;
}

static void answer_scan(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct pdbd_scan question;
	struct proctable *table;
	struct pdb_error err;

	(void)argument;
	if (length < sizeof(question))
		return;
	memcpy(&question, payload, sizeof(question));
	char *mark = xstrndup((const char *)payload + sizeof(question), length - sizeof(question));
	if (launcher_scan_mark(mark, question.user, &table, &err) == 0) {
		daemon_job_put_found(ret, table);
		proctable_destroy(table);
	}
	free(mark);
}

static int merge_numbers(void *argument, struct buffer *into, const uint8_t *part, size_t length)
{
	uint32_t sum, number;

	(void)argument;
	if (length != sizeof(number) || into->num != sizeof(sum))
		return -1;
	memcpy(&number, part, sizeof(number));
	memcpy(&sum, into->bytes, sizeof(sum));
	sum += number;
	memcpy(into->bytes, &sum, sizeof(sum));
	return 0;
}

static void answer_gdb(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;

	pdbd_gdb_answer_order(daemon->gdb, daemon->ranks, daemon->num_ranks, payload, length, ret);
}

static void answer_gdb_state(void *argument, const uint8_t *payload, size_t length,
			     struct buffer *ret)
{
	struct daemon *daemon = argument;

	pdbd_gdb_answer_state(daemon->gdb, payload, length, ret);
}

static void answer_quit(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;

	(void)payload, (void)length, (void)ret;
	daemon->is_quitting = true;
}

const struct pdbd_service pdbd_services[] = {
	{PDBD_JOB, PDBD_ALONE, NULL, pdbd_node_job, merge_numbers},
	{PDBD_LIVING, PDBD_AT_ONCE, NULL, pdbd_node_living, merge_numbers},
	{PDBD_QUIT, PDBD_AT_ONCE, NULL, answer_quit, merge_texts},
	{PDBD_LOOK, PDBD_MEANWHILE, pdbd_node_hear_look, pdbd_node_look, pdbd_node_merge_shares},
	{PDBD_SAMPLE, PDBD_MEANWHILE, pdbd_node_hear, pdbd_node_sample, pdbd_node_merge_shares},
	{PDBD_MORE, PDBD_MEANWHILE, pdbd_node_hear, pdbd_node_more, pdbd_node_merge_shares},
	{PDBD_SCAN, PDBD_ALONE, NULL, answer_scan, merge_texts},
	{PDBD_WATCH, PDBD_MEANWHILE, pdbd_node_hear, pdbd_node_watch, pdbd_node_merge_digests},
	{PDBD_COST, PDBD_ALONE, NULL, pdbd_node_cost, merge_texts},
	{PDBD_GDB, PDBD_ALONE, NULL, answer_gdb, merge_texts},
	{PDBD_GDB_STATE, PDBD_AT_ONCE, NULL, answer_gdb_state, merge_texts},
	{0, PDBD_AT_ONCE, NULL, NULL, NULL},
};
