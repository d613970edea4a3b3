/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/codec.h"
#include "model/job/usage.h"
#include "model/wire/proc_bytes.h"
#include "model/wire/share_private.h"
#include "model/wire/usage_bytes.h"

static void processors(struct codec *c, struct rankset **set)
{
	CODEC_FIELD(c, *set, proc_bytes_put_ranks(c->to, *set),
		    proc_bytes_take_ranks(c->from, USAGE_MAX_PROCESSORS));
}

void usage_bytes_rank(struct codec *c, struct usage_rank *rank)
{
	CODEC_NEAR(c, rank->node_rank, rank->rank, 0, SHARE_MAX_RANKS);
	CODEC(c, rank->interval_ns);
	codec_refuse(c, !rank->interval_ns);
	CODEC_BELOW(c, rank->has_queue, 1);
	CODEC(c, rank->ran_ns);
	CODEC(c, rank->queued_ns);
	CODEC(c, rank->process_ns);
	CODEC(c, rank->major_faults);
	CODEC(c, rank->block_ns);
	processors(c, &rank->allowed);
	CODEC(c, rank->khz);
	CODEC_OPTIONAL(c, rank->group);
	CODEC(c, rank->periods);
	CODEC(c, rank->throttled);
	CODEC(c, rank->quota_percent);
	if (!codec_has_part(c, rank->num_pages > 0))
		return;
	CODEC(c, rank->num_pages);
	CODEC_BELOW(c, rank->num_far, rank->num_pages);
	CODEC(c, rank->own_node);
	CODEC(c, rank->far_node);
}

void usage_bytes_node(struct codec *c, struct usage_node *node)
{
	CODEC(c, node->interval_ns);
	CODEC(c, node->num_processors);
	CODEC(c, node->steal_ns);
	CODEC(c, node->swapped_in);
	codec_count(c, &node->num_others, USAGE_MAX_OTHERS, 4);
	for (size_t i = 0; i < node->num_others; i++) {
		struct usage_process *other = &node->others[i];

		CODEC_INT(c, other->pid);
		codec_text_field(c, other->name, sizeof(other->name));
		CODEC(c, other->ran_ns);
		processors(c, &other->processors);
	}
}
