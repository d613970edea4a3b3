/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/daemons/overlay.h"
#include "model/buffer.h"
#include "model/decoder.h"

/* The lowest bit of i that is set; of 0 one beyond all others. */
static uint64_t lowest_bit(uint32_t i)
{
	return i ? i & -(uint64_t)i : (uint64_t)1 << 32;
}

uint32_t overlay_parent(uint32_t i)
{
	return i & (i - 1);
}

size_t overlay_children(uint32_t i, uint32_t n, uint32_t children[OVERLAY_CHILDREN_MAX])
{
	size_t num = 0;

	for (uint64_t step = lowest_bit(i) >> 1; step > 0; step >>= 1)
		if (i + step < n)
			children[num++] = i + step;
	return num;
}

uint32_t overlay_subtree(uint32_t i, uint32_t n)
{
	uint64_t whole = lowest_bit(i), left = i < n ? n - i : 0;

	return whole < left ? whole : left;
}

int overlay_budget_ms(uint32_t i, uint32_t n, int total_ms)
{
	int level = __builtin_popcount(i), height = 0;

	while (height < 32 && (uint64_t)1 << height < n)
		height++;
	return height ? (int64_t)total_ms * (2 * height - level) / (2 * height) : total_ms;
}

void overlay_ranges_deinit(struct overlay_ranges *set)
{
	free(set->ranges);
	*set = (struct overlay_ranges){.ranges = NULL};
}

void overlay_ranges_append(struct overlay_ranges *set, uint32_t first, uint32_t count)
{
	*XPUSH(set->ranges, set->num, set->capacity) = (struct overlay_range){first, count};
}

void overlay_ranges_add(struct overlay_ranges *set, uint32_t first, uint32_t count)
{
	struct overlay_range *last = set->num > 0 ? &set->ranges[set->num - 1] : NULL;

	if (last && last->first + last->count == first)
		last->count += count;
	else if (count > 0)
		overlay_ranges_append(set, first, count);
}

uint32_t overlay_ranges_total(const struct overlay_ranges *set)
{
	uint32_t total = 0;

	for (size_t i = 0; i < set->num; i++)
		total += set->ranges[i].count;
	return total;
}

uint32_t overlay_ranges_at(const struct overlay_ranges *set, uint32_t i)
{
	size_t range = 0;

	for (; i >= set->ranges[range].count; range++)
		i -= set->ranges[range].count;
	return set->ranges[range].first + i;
}

int64_t overlay_ranges_index(const struct overlay_ranges *set, uint32_t number)
{
	int64_t before = 0;

	for (size_t i = 0; i < set->num; i++) {
		const struct overlay_range *range = &set->ranges[i];

		if (number >= range->first && number - range->first < range->count)
			return before + (number - range->first);
		before += range->count;
	}
	return -1;
}

void reduction_begin(struct reduction *reduction, uint32_t sequence, uint32_t self,
		     uint32_t num_members, int budget_ms, int64_t now_ms)
{
	*reduction = (struct reduction){
		.sequence = sequence,
		.self = self,
		.num_members = num_members,
		.deadline_ms = now_ms + budget_ms,
	};
	reduction->num_children = overlay_children(self, num_members, reduction->children);
	for (size_t i = 0; i < reduction->num_children; i++)
		reduction->heard_ms[i] = now_ms;
}

void reduction_hear(struct reduction *reduction, uint32_t sequence, uint32_t from, int64_t now_ms)
{
	for (size_t i = 0; i < reduction->num_children && sequence == reduction->sequence; i++)
		if (reduction->children[i] == from)
			reduction->heard_ms[i] = now_ms;
}

bool reduction_take(struct reduction *reduction, uint32_t sequence, uint32_t from)
{
	for (size_t i = 0; i < reduction->num_children && sequence == reduction->sequence; i++) {
		if (reduction->children[i] != from || reduction->has_answered[i])
			continue;
		reduction->has_answered[i] = true;
		return true;
	}
	return false;
}

bool reduction_is_done(const struct reduction *reduction, int64_t now_ms)
{
	if (now_ms >= reduction->deadline_ms)
		return true;
	for (size_t i = 0; i < reduction->num_children; i++)
		if (!reduction->has_answered[i] &&
		    now_ms - reduction->heard_ms[i] < OVERLAY_SILENCE_MS)
			return false;
	return true;
}

void reduction_holes(const struct reduction *reduction, struct overlay_ranges *holes)
{
	for (size_t i = 0; i < reduction->num_children; i++)
		if (!reduction->has_answered[i])
			overlay_ranges_append(
				holes, reduction->children[i],
				overlay_subtree(reduction->children[i], reduction->num_members));
}

void overlay_put(struct buffer *ret, const struct overlay_message *message)
{
	buffer_put(ret, message->sequence);
	buffer_put(ret, message->kind);
	buffer_put(ret, message->total_ms);
	buffer_put(ret, message->ranges.num);
	for (size_t i = 0; i < message->ranges.num; i++) {
		buffer_put(ret, message->ranges.ranges[i].count);
		buffer_put(ret, message->ranges.ranges[i].first);
	}
	buffer_put(ret, message->length);
	buffer_put_bytes(ret, message->payload, message->length);
}

bool overlay_take(const uint8_t *bytes, size_t length, uint32_t limit, struct overlay_message *ret)
{
	struct decoder in = {.at = bytes, .end = bytes + length};
	struct overlay_message message = {.sequence = decoder_take_below(&in, UINT32_MAX)};
	uint32_t left = limit;

	message.kind = decoder_take_below(&in, UINT32_MAX);
	message.total_ms = decoder_take_below(&in, OVERLAY_TOTAL_MS_MAX);
	size_t num = decoder_take_count(&in, limit, 2);
	for (size_t i = 0; i < num; i++) {
		uint32_t count = decoder_take_below(&in, left);

		in.is_bad |= count == 0;
		left -= count;
		overlay_ranges_append(&message.ranges, decoder_take_below(&in, limit - count),
				      count);
	}
	message.length = decoder_take_count(&in, OVERLAY_PAYLOAD_MAX, 1);
	message.payload = decoder_take_bytes(&in, message.length);
	decoder_end(&in);
	if (in.is_bad)
		overlay_ranges_deinit(&message.ranges);
	else
		*ret = message;
	return !in.is_bad;
}
