/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/message_queues.h"
#include "model/clean_text.h"

void queued_comm_set_name(struct queued_comm *comm, const void *bytes, size_t length)
{
	memset(comm->name, 0, sizeof(comm->name));
	length = strnlen(bytes, length < sizeof(comm->name) ? length : sizeof(comm->name) - 1);
	memcpy(comm->name, bytes, length);
	clean_text(comm->name, length);
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

/* Indices are those of one sample: one of the same name and size is taken for the same. */
static bool is_same_comm(const struct message_queues *before, uint32_t a,
			 const struct message_queues *after, uint32_t b)
{
	const struct queued_comm *was = &before->comms[a], *is = &after->comms[b];

	return was->size == is->size && strcmp(was->name, is->name) == 0;
}

static bool is_same_message(const struct message_queues *before, const struct queued_message *was,
			    const struct message_queues *after, const struct queued_message *is)
{
	return was->peer == is->peer && was->tag == is->tag &&
	       is_same_comm(before, was->comm, after, is->comm);
}

static bool have_receives_changed(const struct message_queues *before,
				  const struct message_queues *after)
{
	if (before->num_receives != after->num_receives)
		return true;
	for (size_t i = 0; i < after->num_receives; i++)
		if (!is_same_message(before, &before->receives[i], after, &after->receives[i]))
			return true;
	return false;
}

/* Later there may be more unexpected messages, in the same order. */
static bool was_one_received(const struct message_queues *before,
			     const struct message_queues *after)
{
	size_t at = 0;

	for (size_t i = 0; i < after->num_unexpected && at < before->num_unexpected; i++)
		at += is_same_message(before, &before->unexpected[at], after,
				      &after->unexpected[i]);
	return at < before->num_unexpected;
}

static bool is_same_pair(const struct message_queues *before, const struct message_pair *was,
			 const struct message_queues *after, const struct message_pair *is)
{
	return was->peer == is->peer && was->sent == is->sent &&
	       is_same_comm(before, was->comm, after, is->comm);
}

/* The same holds for pairs: what is not where it was is new, or something was sent. */
static bool was_one_sent(const struct message_queues *before, const struct message_queues *after)
{
	size_t at = 0;

	for (size_t i = 0; i < after->num_pairs; i++) {
		const struct message_pair *is = &after->pairs[i];

		if (at < before->num_pairs && is_same_pair(before, &before->pairs[at], after, is))
			at++;
		else if (is->sent)
			return true;
	}
	return at < before->num_pairs;
}

bool message_queues_have_moved(const struct message_queues *before,
			       const struct message_queues *after)
{
	return before->num_posted != after->num_posted || have_receives_changed(before, after) ||
	       was_one_received(before, after) || was_one_sent(before, after);
}
