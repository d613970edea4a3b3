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

static void *copy_array(const void *from, size_t num, size_t size)
{
	void *to = num ? xcalloc(num, size) : NULL;

	if (to)
		memcpy(to, from, num * size);
	return to;
}

struct message_queues *message_queues_copy(const struct message_queues *queues)
{
	struct message_queues *copy;

	if (!queues)
		return NULL;
	copy = message_queues_create();
	*copy = *queues;
	copy->comms = copy_array(queues->comms, queues->num_comms, sizeof(*queues->comms));
	copy->receives = copy_array(queues->receives, queues->num_receives, sizeof(*queues->receives));
	copy->unexpected =
		copy_array(queues->unexpected, queues->num_unexpected, sizeof(*queues->unexpected));
	copy->pairs = copy_array(queues->pairs, queues->num_pairs, sizeof(*queues->pairs));
	return copy;
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

bool message_queues_are_equal(const struct message_queues *a, const struct message_queues *b)
{
	if (a->num_comms != b->num_comms || a->num_pairs != b->num_pairs ||
	    !are_same_messages(a->receives, a->num_receives, b->receives, b->num_receives) ||
	    !are_same_messages(a->unexpected, a->num_unexpected, b->unexpected, b->num_unexpected))
		return false;
	for (size_t i = 0; i < a->num_pairs; i++) {
		const struct message_pair *x = &a->pairs[i], *y = &b->pairs[i];

		if (x->peer != y->peer || x->comm != y->comm || x->sent != y->sent || x->arrived != y->arrived)
			return false;
	}
	return true;
}
