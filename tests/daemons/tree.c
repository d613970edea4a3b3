/* SPDX-License-Identifier: BSD-3-Clause
 * The tree of daemons with faults in it: an MPI program of four ranks, each of which answers every
 * question with its own digit, or with what the question makes of it. The tree is
 *	0
 *	+- 2 - 3
 *	+- 1
 * Rank 0 asks and checks; its last line is "N passed, N failed". */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/daemons/pdbd_tree.h"
#include "model/buffer.h"
#include "model/monotonic.h"
#include "model/xalloc.h"

enum { NUM_RANKS = 4, PATIENCE_MS = 60000 };

enum question {
	WHO = 1,   /* answered at once */
	WHO_SLOW,  /* rank 2 takes longer than one that is silent is waited for */
	DAMAGED,   /* rank 2 answers nonsense */
	SOMEBODY,  /* rank 3 says that it is rank 1 */
	STOP,      /* rank 2 stops, and does not go on by itself */
	OWN_STUCK, /* rank 0 itself does not come to an end in time */
	END,
};

struct node {
	int rank;
	bool is_over;
	int num_pulses; /* at rank 0 */
};

static void answer(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct node *node = argument;
	char digit = (char)('0' + node->rank);

	(void)payload, (void)length;
	buffer_put_bytes(ret, &digit, 1);
}

static void sleep_ms(int ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

	nanosleep(&time, NULL);
}

static void answer_slowly(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	const struct node *node = argument;

	if (node->rank == 2)
		sleep_ms(OVERLAY_SILENCE_MS + 4 * OVERLAY_PULSE_MS);
	answer(argument, payload, length, ret);
}

static void answer_damaged(void *argument, const uint8_t *payload, size_t length,
			   struct buffer *ret)
{
	const struct node *node = argument;

	answer(argument, payload, length, ret);
	if (node->rank == 2)
		buffer_put_bytes(ret, "?", 1);
}

static void answer_as_other(void *argument, const uint8_t *payload, size_t length,
			    struct buffer *ret)
{
	const struct node *node = argument;

	if (node->rank == 3)
		buffer_put_bytes(ret, "1", 1);
	else
		answer(argument, payload, length, ret);
}

static void answer_stopped(void *argument, const uint8_t *payload, size_t length,
			   struct buffer *ret)
{
	const struct node *node = argument;

	if (node->rank == 2)
		raise(SIGSTOP);
	answer(argument, payload, length, ret);
}

static void answer_too_late(void *argument, const uint8_t *payload, size_t length,
			    struct buffer *ret)
{
	const struct node *node = argument;

	if (node->rank == 0)
		sleep_ms(2000);
	answer(argument, payload, length, ret);
}

static void answer_end(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct node *node = argument;

	(void)payload, (void)length, (void)ret;
	node->is_over = true;
}

/* Refuses what is no digit, or a digit that is there already. */
static int merge(void *argument, struct buffer *into, const uint8_t *part, size_t length)
{
	(void)argument;
	for (size_t i = 0; i < length; i++)
		if (part[i] < '0' || part[i] >= '0' + NUM_RANKS ||
		    (into->num > 0 && memchr(into->bytes, part[i], into->num)))
			return -1;
	buffer_put_bytes(into, part, length);
	return 0;
}

static const struct pdbd_service services[] = {
	{WHO, PDBD_AT_ONCE, NULL, answer, merge},
	{WHO_SLOW, PDBD_MEANWHILE, NULL, answer_slowly, merge},
	{DAMAGED, PDBD_MEANWHILE, NULL, answer_damaged, merge},
	{SOMEBODY, PDBD_MEANWHILE, NULL, answer_as_other, merge},
	{STOP, PDBD_MEANWHILE, NULL, answer_stopped, merge},
	{OWN_STUCK, PDBD_MEANWHILE, NULL, answer_too_late, merge},
	{END, PDBD_AT_ONCE, NULL, answer_end, merge},
	{0, PDBD_AT_ONCE, NULL, NULL, NULL},
};

static bool is_over(void *argument)
{
	(void)argument;
	return false;
}

static void count_pulse(void *argument)
{
	struct node *node = argument;

	node->num_pulses++;
}

/* ---- Rank 0 ---- */

static int num_passed, num_failed;

static void check(bool is_right, const char *what, const char *said, int64_t took_ms)
{
	num_passed += is_right;
	num_failed += !is_right;
	if (!is_right)
		fprintf(stderr, "FAILED  tree: %s\n    %s after %d ms\n", what, said, (int)took_ms);
}

static int compare_digits(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* "DIGITS -MISSING", in order; *took_ms: how long. */
static void ask(struct pdbd_tree *tree, enum question kind, int total_ms, char said[32],
		int64_t *took_ms)
{
	const struct pdbd_question question = {
		.kind = kind, .total_ms = total_ms, .pulse = count_pulse};
	struct overlay_ranges missing = {.ranges = NULL};
	struct buffer digits;
	int64_t begin_ms = monotonic_ms();
	size_t length;

	pdbd_tree_ask(tree, &question, &digits, &missing);
	*took_ms = monotonic_ms() - begin_ms;
	length = digits.num < 16 ? digits.num : 16;
	memcpy(said, digits.bytes, length);
	qsort(said, length, 1, compare_digits);
	length += (size_t)sprintf(said + length, " -");
	for (uint32_t i = 0; i < overlay_ranges_total(&missing); i++)
		length += (size_t)sprintf(said + length, "%u", overlay_ranges_at(&missing, i) % 10);
	free(digits.bytes);
	overlay_ranges_deinit(&missing);
}

static void expect(struct pdbd_tree *tree, enum question kind, const char *expected,
		   const char *what)
{
	int64_t took_ms;
	char said[32];

	ask(tree, kind, PATIENCE_MS, said, &took_ms);
	check(strcmp(said, expected) == 0, what, said, took_ms);
}

/* Who was silent answers, and then takes part. */
static void expect_return(struct pdbd_tree *tree, const char *what)
{
	int64_t end_ms = monotonic_ms() + PATIENCE_MS, took_ms;
	char said[32];

	do {
		pdbd_tree_knock(tree, WHO);
		sleep_ms(50);
		ask(tree, WHO, PATIENCE_MS, said, &took_ms);
	} while (strcmp(said, "0123 -") != 0 && monotonic_ms() < end_ms);
	check(strcmp(said, "0123 -") == 0, what, said, took_ms);
}

static void run_first(struct pdbd_tree *tree, struct node *node, const int *pids)
{
	int64_t took_ms;
	char said[32];

	expect(tree, WHO, "0123 -", "all answer");
	expect(tree, WHO_SLOW, "0123 -", "a slow one is waited for");
	check(node->num_pulses >= OVERLAY_SILENCE_MS / OVERLAY_PULSE_MS - 1,
	      "signs of life meanwhile", "too few", node->num_pulses);

	expect(tree, DAMAGED, "013 -2", "damaged: the one below it is asked again");
	expect_return(tree, "damaged: asked again later");
	ask(tree, SOMEBODY, PATIENCE_MS, said, &took_ms);
	/* Who comes first is believed; with 3 comes 2. */
	check(strcmp(said, "01 -23") == 0 || strcmp(said, "012 -1") == 0,
	      "two say that they are the same", said, took_ms);
	expect_return(tree, "two that are the same: asked again later");

	ask(tree, STOP, PATIENCE_MS, said, &took_ms);
	check(strcmp(said, "013 -2") == 0, "stopped", said, took_ms);
	check(took_ms >= OVERLAY_SILENCE_MS && took_ms < PATIENCE_MS / 2, "stopped: time", said,
	      took_ms);
	ask(tree, WHO, PATIENCE_MS, said, &took_ms);
	check(strcmp(said, "013 -2") == 0 && took_ms < OVERLAY_SILENCE_MS,
	      "stopped: later questions go around it", said, took_ms);
	kill(pids[2], SIGCONT);
	expect_return(tree, "goes on: takes part again");

	ask(tree, OWN_STUCK, 500, said, &took_ms);
	check(strcmp(said, "123 -0") == 0, "the own part is late", said, took_ms);
	expect(tree, WHO, "0123 -", "the own part is late: not the next one");
	ask(tree, END, 1000, said, &took_ms);
}

int main(int argc, char **argv)
{
	struct node node = {.rank = 0};
	int level, pid = getpid(), pids[NUM_RANKS];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &node.rank);
	MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);

	struct pdbd_tree *tree = pdbd_tree_create(services, &node, is_over);

	if (node.rank == 0)
		run_first(tree, &node, pids);
	while (node.rank != 0 && !node.is_over)
		pdbd_tree_serve(tree, 1000);
	pdbd_tree_is_flushed(tree, 1000);
	pdbd_tree_destroy(tree);
	MPI_Finalize();
	if (node.rank == 0)
		printf("%d passed, %d failed\n", num_passed, num_failed);
	return 0;
}
