/* SPDX-License-Identifier: BSD-3-Clause
 * print_queues PID...: the message queues of ranks, as lines for scripts to compare, each rank by
 * its place among the arguments.
 *
 *	0 unknown
 *	0 halo of 4: 1 sent 0 arrived 5
 *	0 halo of 4: receive from any tag 11
 *	0 halo of 4: unexpected from 1 tag 8
 *
 * With -t first how long that took, too: the mean of many times, and the first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/queues/mpi_queues.h"
#include "model/job/message_queues.h"
#include "model/monotonic.h"

#define ROUNDS 100

static const char *peer_text(int32_t peer, char buffer[16])
{
	if (peer == MESSAGE_ANY_PEER)
		return "any";
	if (peer == MESSAGE_OTHER_PEER)
		return "other";
	snprintf(buffer, 16, "%d", (int)peer);
	return buffer;
}

static void print_messages(int rank, const struct message_queues *queues, const char *what,
			   const struct queued_message *messages, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		const struct queued_comm *comm = &queues->comms[messages[i].comm];
		char buffer[16];

		printf("%d %s of %u: %s from %s tag ", rank, comm->name, comm->size, what,
		       peer_text(messages[i].peer, buffer));
		if (messages[i].tag == MESSAGE_ANY_TAG)
			puts("any");
		else if (messages[i].tag == MESSAGE_TAG_NOT_KNOWN)
			puts("unknown");
		else
			printf("%d\n", (int)messages[i].tag);
	}
}

static void print_queues(int rank, const struct message_queues *queues)
{
	if (!queues) {
		printf("%d unknown\n", rank);
		return;
	}
	for (size_t i = 0; i < queues->num_pairs; i++) {
		const struct message_pair *pair = &queues->pairs[i];
		const struct queued_comm *comm = &queues->comms[pair->comm];
		char buffer[16];

		printf("%d %s of %u: %s sent %u arrived %u\n", rank, comm->name, comm->size,
		       peer_text(pair->peer, buffer), pair->sent, pair->arrived);
	}
	print_messages(rank, queues, "receive", queues->receives, queues->num_receives);
	print_messages(rank, queues, "unexpected", queues->unexpected, queues->num_unexpected);
}

static double microseconds_since(uint64_t begin_ns)
{
	return (double)(monotonic_ns() - begin_ns) / 1e3;
}

/* first_us: that of the first time. */
static void take_time(struct mpi_queues *queues, double first_us)
{
	uint64_t begin = monotonic_ns();

	for (int i = 0; i < ROUNDS; i++)
		message_queues_destroy(mpi_queues_read(queues));
	printf("%.1f us, first %.1f us\n", microseconds_since(begin) / ROUNDS, first_us);
}

static void look_at(int rank, pid_t pid, bool is_timed)
{
	const struct memory memory = {.pid = pid};
	struct maps *maps = maps_read(pid);
	uint64_t begin = monotonic_ns();
	struct mpi_queues *queues = maps ? mpi_queues_create(&memory, maps) : NULL;
	struct message_queues *read = queues ? mpi_queues_read(queues) : NULL;
	double first_us = microseconds_since(begin);

	print_queues(rank, read);
	if (queues && is_timed)
		take_time(queues, first_us);
	message_queues_destroy(read);
	mpi_queues_destroy(queues);
	maps_destroy(maps);
}

int main(int argc, char **argv)
{
	int first = argc > 1 && !strcmp(argv[1], "-t") ? 2 : 1;

	for (int i = first; i < argc; i++)
		look_at(i - first, atoi(argv[i]), first == 2);
	return 0;
}
