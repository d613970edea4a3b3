/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "model/buffer.h"
#include "model/job/message_queues.h"
#include "model/wire/queue_bytes.h"
#include "model/wire/decoder.h"
#include "model/wire/share.h"

/* ---- Putting ---- */

/* Communicators ascend; a peer that is a rank is told as in a share, by its distance from `rank`.
 */
static void put_place(struct buffer *b, uint32_t comm, int32_t peer, uint32_t *last_comm, int rank)
{
	buffer_put(b, comm - *last_comm);
	if (peer < 0)
		buffer_put(b, (uint64_t) - (int64_t)peer << 1 | 1);
	else
		buffer_put(b, (uint64_t)(((int64_t)peer - rank) * 2 ^ -(int64_t)(peer < rank))
				      << 1);
	*last_comm = comm;
}

static void put_messages(struct buffer *b, const struct queued_message *messages, size_t num,
			 int rank)
{
	uint32_t comm = 0;

	buffer_put(b, num);
	for (size_t i = 0; i < num; i++) {
		put_place(b, messages[i].comm, messages[i].peer, &comm, rank);
		buffer_put_signed(b, messages[i].tag);
	}
}

void queue_bytes_put(struct buffer *b, const struct message_queues *queues, int rank)
{
	uint32_t comm = 0;

	buffer_put(b, queues->num_comms);
	for (size_t i = 0; i < queues->num_comms; i++) {
		size_t length = strlen(queues->comms[i].name);

		buffer_put(b, length);
		buffer_put_bytes(b, queues->comms[i].name, length);
		buffer_put(b, queues->comms[i].size);
	}
	put_messages(b, queues->receives, queues->num_receives, rank);
	put_messages(b, queues->unexpected, queues->num_unexpected, rank);
	buffer_put(b, queues->num_pairs);
	for (size_t i = 0; i < queues->num_pairs; i++) {
		put_place(b, queues->pairs[i].comm, queues->pairs[i].peer, &comm, rank);
		buffer_put(b, queues->pairs[i].sent);
		buffer_put(b, queues->pairs[i].arrived);
	}
	buffer_put(b, queues->num_posted);
}

/* ---- Taking ---- */

/* Where the last entry was. */
struct place {
	uint32_t comm;
	int32_t peer;
};

static int32_t take_peer(struct decoder *in, int rank)
{
	uint64_t value = decoder_take_below(in, 4 * (uint64_t)SHARE_MAX_RANKS), half = value >> 1;
	int64_t peer;

	if (value & 1)
		peer = -(int64_t)half;
	else
		peer = rank + ((int64_t)(half >> 1) ^ -(int64_t)(half & 1));
	if (value & 1 ? peer != MESSAGE_ANY_PEER && peer != MESSAGE_OTHER_PEER
		      : peer < 0 || peer >= SHARE_MAX_RANKS)
		in->is_bad = true;
	return in->is_bad ? 0 : (int32_t)peer;
}

/* They ascend. */
static void take_place(struct decoder *in, const struct message_queues *queues, int rank,
		       struct place *place)
{
	uint64_t more = decoder_take_below(in, queues->num_comms);
	int32_t peer = take_peer(in, rank);

	if (place->comm + more >= queues->num_comms || (more == 0 && peer < place->peer)) {
		in->is_bad = true;
		return;
	}
	*place = (struct place){place->comm + (uint32_t)more, peer};
}

static struct queued_message *take_messages(struct decoder *in, const struct message_queues *queues,
					    int rank, size_t *num_ret)
{
	size_t num = decoder_take_count(in, UINT32_MAX, 3);
	struct queued_message *messages = num ? decoder_allocate(in, num, sizeof(*messages)) : NULL;
	struct place place = {.peer = INT32_MIN};

	*num_ret = 0;
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		take_place(in, queues, rank, &place);
		messages[i] = (struct queued_message){place.peer, decoder_take_int(in), place.comm};
		(*num_ret)++;
	}
	return messages;
}

static void take_comms(struct decoder *in, struct message_queues *queues)
{
	size_t num = decoder_take_count(in, UINT32_MAX, 2);

	queues->comms = num ? decoder_allocate(in, num, sizeof(*queues->comms)) : NULL;
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		size_t length = decoder_take_count(in, sizeof(queues->comms[i].name) - 1, 1);
		const uint8_t *bytes = decoder_take_bytes(in, length);

		if (in->is_bad)
			return;
		queued_comm_set_name(&queues->comms[i], bytes, length);
		queues->comms[i].size = (uint32_t)decoder_take_below(in, UINT32_MAX);
		queues->num_comms++;
	}
}

static void take_pairs(struct decoder *in, struct message_queues *queues, int rank)
{
	size_t num = decoder_take_count(in, UINT32_MAX, 4);
	struct place place = {.peer = INT32_MIN};

	queues->pairs = num ? decoder_allocate(in, num, sizeof(*queues->pairs)) : NULL;
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		struct message_pair *pair = &queues->pairs[i];

		take_place(in, queues, rank, &place);
		pair->comm = place.comm;
		pair->peer = place.peer;
		pair->sent = (uint16_t)decoder_take_below(in, UINT16_MAX);
		pair->arrived = (uint16_t)decoder_take_below(in, UINT16_MAX);
		queues->num_pairs++;
	}
}

struct message_queues *queue_bytes_take(struct decoder *in, int rank)
{
	struct message_queues *queues = message_queues_create();

	decoder_charge(in, 1, sizeof(*queues));
	take_comms(in, queues);
	if (!in->is_bad)
		queues->receives = take_messages(in, queues, rank, &queues->num_receives);
	if (!in->is_bad)
		queues->unexpected = take_messages(in, queues, rank, &queues->num_unexpected);
	if (!in->is_bad)
		take_pairs(in, queues, rank);
	queues->num_posted = decoder_take(in);
	if (!in->is_bad)
		return queues;
	message_queues_destroy(queues);
	return NULL;
}
