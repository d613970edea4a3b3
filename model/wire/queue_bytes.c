/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/codec.h"
#include "model/job/message_queues.h"
#include "model/wire/queue_bytes.h"
#include "model/wire/share.h"

/* The entry before. */
struct place {
	uint32_t comm;
	int32_t peer;
};

/* Places ascend. */
static void queue_place(struct codec *c, const struct message_queues *queues, uint32_t *comm,
			int32_t *peer, int rank, struct place *last)
{
	CODEC_FIELD(c, *comm, buffer_put(c->to, *comm - last->comm),
		    last->comm + (uint32_t)decoder_take_below(c->from, queues->num_comms));
	codec_peer(c, peer, rank);
	codec_refuse(c, *comm < last->comm || *comm >= queues->num_comms ||
				(*comm == last->comm && *peer < last->peer) ||
				*peer < MESSAGE_OTHER_PEER || *peer >= SHARE_MAX_RANKS);
	*last = (struct place){*comm, *peer};
}

static void queue_messages(struct codec *c, const struct message_queues *queues, int rank,
			   struct queued_message **messages, size_t *num)
{
	struct place last = {.peer = INT32_MIN};

	CODEC_TABLE(c, *messages, *num, UINT32_MAX, 3);
	for (size_t i = 0; i < *num && codec_goes_on(c); i++) {
		struct queued_message *message = &(*messages)[i];

		queue_place(c, queues, &message->comm, &message->peer, rank, &last);
		CODEC_INT(c, message->tag);
	}
}

static void queue_comms(struct codec *c, struct message_queues *queues)
{
	CODEC_TABLE(c, queues->comms, queues->num_comms, UINT32_MAX, 2);
	for (size_t i = 0; i < queues->num_comms && codec_goes_on(c); i++) {
		struct queued_comm *comm = &queues->comms[i];
		size_t length = strlen(comm->name);
		const void *bytes = comm->name;

		codec_count(c, &length, sizeof(comm->name) - 1, 1);
		CODEC_FIELD(c, bytes, buffer_put_bytes(c->to, bytes, length),
			    decoder_take_bytes(c->from, length));
		if (c->from && bytes)
			queued_comm_set_name(comm, bytes, length);
		CODEC(c, comm->size);
	}
}

static void queue_pairs(struct codec *c, struct message_queues *queues, int rank)
{
	struct place last = {.peer = INT32_MIN};

	CODEC_TABLE(c, queues->pairs, queues->num_pairs, UINT32_MAX, 4);
	for (size_t i = 0; i < queues->num_pairs && codec_goes_on(c); i++) {
		struct message_pair *pair = &queues->pairs[i];

		queue_place(c, queues, &pair->comm, &pair->peer, rank, &last);
		CODEC(c, pair->sent);
		CODEC(c, pair->arrived);
	}
}

void queue_bytes(struct codec *c, struct message_queues **ret, int rank)
{
	struct message_queues *queues = *ret;

	if (c->from) {
		*ret = queues = message_queues_create();
		decoder_charge(c->from, 1, sizeof(*queues));
	}
	queue_comms(c, queues);
	queue_messages(c, queues, rank, &queues->receives, &queues->num_receives);
	queue_messages(c, queues, rank, &queues->unexpected, &queues->num_unexpected);
	queue_pairs(c, queues, rank);
	CODEC(c, queues->num_posted);
	if (codec_goes_on(c))
		return;
	message_queues_destroy(queues);
	*ret = NULL;
}
