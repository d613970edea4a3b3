/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "model/message_queues.h"
#include "model/segment_private.h"
#include "model/xalloc.h"

void queued_comm_set_name(struct queued_comm *comm, const void *bytes, size_t length)
{
	memset(comm->name, 0, sizeof(comm->name));
	length = strnlen(bytes, length < sizeof(comm->name) ? length : sizeof(comm->name) - 1);
	memcpy(comm->name, bytes, length);
	segment_clean_text(comm->name, length);
}

struct message_queues *message_queues_create(void)
{
	return xcalloc(1, sizeof(struct message_queues));
}

void message_queues_destroy(struct message_queues *queues)
{
	if (!queues)
		return;
	free(queues->comms);
	free(queues->receives);
	free(queues->unexpected);
	free(queues->pairs);
	free(queues);
}

static bool are_same_messages(const struct queued_message *a, size_t num_a, const struct queued_message *b,
			      size_t num_b)
{
	if (num_a != num_b)
		return false;
	for (size_t i = 0; i < num_a; i++)
		if (a[i].peer != b[i].peer || a[i].tag != b[i].tag || a[i].comm != b[i].comm)
			return false;
	return true;
}

bool message_queues_have_moved(const struct message_queues *before, const struct message_queues *after)
{
	size_t at = 0;

	if (before->num_comms != after->num_comms ||
	    !are_same_messages(before->receives, before->num_receives, after->receives, after->num_receives))
		return true;
	/* Later there may be more pairs, in the same order. */
	for (size_t i = 0; i < after->num_pairs; i++) {
		const struct message_pair *now = &after->pairs[i];
		bool was_there = at < before->num_pairs && before->pairs[at].peer == now->peer &&
				 before->pairs[at].comm == now->comm;

		if (now->sent != (was_there ? before->pairs[at].sent : 0))
			return true;
		at += was_there;
	}
	return at < before->num_pairs;
}
