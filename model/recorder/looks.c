/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/looks.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "model/recorder/lane.h"
#include "model/recorder/operation.h"
#include "model/recorder/tracer.h"

/* ---- Answers ---- */

static uint64_t hash_bytes(const void *at, uint32_t bytes)
{
	const unsigned char *p = at;
	uint64_t hash = bytes;

	for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t), p += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	for (; bytes > 0; bytes--)
		hash = (hash ^ *p++) * 0x100000001b3u;
	return hash;
}

/* Read by the kernel, which refuses what is not there any more, or is of a device. */
static bool hash_memory(const void *at, uint32_t bytes, uint64_t *hash_ret)
{
	unsigned char copy[LOOKS_BYTES];
	struct iovec local = {copy, bytes}, remote = {(void *)(uintptr_t)at, bytes};
	int saved = errno;
	bool is_read = process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;

	errno = saved;
	if (is_read)
		*hash_ret = hash_bytes(copy, bytes);
	return is_read;
}

/* The answer of a look has come. Does it tell that something is changed? So it may if it cannot be
 * read. */
static bool take_answer(struct look_entry *e)
{
	uint64_t value;

	e->is_pending = false;
	if (!hash_memory(e->answer, e->bytes, &value))
		return true;
	bool is_new = e->has_value && value != e->value;
	e->has_value = true;
	e->value = value;
	return is_new || (e->kind == LOOK_SWAPS && value == e->other) ||
	       (e->kind == LOOK_REPLACES && value != e->other);
}

/* Those that this call completes. */
static bool take_answers(struct looks *k, const struct look_entry *sync)
{
	bool is_new = false;

	for (uint32_t i = 0; i < k->num; i++) {
		struct look_entry *e = &k->entries[i];

		if (e->is_pending && e->window == sync->window &&
		    (sync->target == SEG_PEER_ANY || sync->target == e->target))
			is_new |= take_answer(e);
	}
	return is_new;
}

/* ---- Looks ---- */

static bool is_entry(const struct look_entry *e, const struct lane *l, const struct look *look)
{
	return e->site == l->site && e->window == look->window && e->target == look->target &&
	       e->what == look->what;
}

/* The one that came next the last time, or any; LOOKS_MAX: none. */
static uint32_t find_entry(const struct lane *l, const struct look *look)
{
	const struct looks *k = l->looks;
	uint32_t next = k->last < k->num ? k->entries[k->last].next : LOOKS_MAX;

	if (next < k->num && is_entry(&k->entries[next], l, look))
		return next;
	for (uint32_t i = 0; i < k->num; i++)
		if (is_entry(&k->entries[i], l, look))
			return i;
	return LOOKS_MAX;
}

static uint32_t add_entry(struct lane *l, const struct look *look)
{
	struct looks *k = l->looks;

	if (k->num == LOOKS_MAX)
		return LOOKS_MAX;
	k->entries[k->num] = (struct look_entry){
		.what = look->what,
		.window = look->window,
		.target = look->target,
		.site = l->site,
		.kind = look->kind,
		.next = LOOKS_MAX,
	};
	return k->num++;
}

/* False: what it is to be compared with cannot be read. */
static bool expect_answer(struct look_entry *e, const struct look *look)
{
	e->is_pending = look->answer && look->bytes > 0;
	e->answer = look->answer;
	e->bytes = look->bytes;
	return !look->other || !e->is_pending || hash_memory(look->other, e->bytes, &e->other);
}

/* Not watched any more: the next one is looked at after so many. */
static bool rest(struct lane *l, uint32_t sample)
{
	struct looks *k = l->looks;

	looks_resume(l);
	k->events = relaxed_get(&l->current->events);
	l->looks_left = k->sample = sample;
	k->is_watching = k->is_polling = k->is_poll = false;
	k->at = LOOKS_MAX;
	return false;
}

bool looks_repeat(struct lane *l)
{
	struct looks *k = l->looks;
	uint64_t events = relaxed_get(&l->current->events);

	if (k->is_watching)
		return true;
	/* Each has made two events, if nobody else has made any. */
	if (events - k->events != 2 * (uint64_t)k->sample) {
		k->events = events;
		l->looks_left = k->sample = LOOKS_SAMPLE;
		return false;
	}
	k->is_watching = true;
	k->events = events;
	k->num = k->repeated = k->watched = 0;
	k->last = LOOKS_MAX;
	return true;
}

bool looks_begin(struct lane *l, const struct look *look)
{
	struct looks *k = l->looks;
	uint64_t events = relaxed_get(&l->current->events);
	bool is_new = false;

	k->is_poll = false;
	if (events != k->events || look->kind == LOOK_STEP || look->bytes > LOOKS_BYTES)
		return rest(l, LOOKS_SAMPLE);
	/* Their answers are new again and again. */
	if (!k->is_polling && k->watched++ >= LOOKS_WATCHED)
		return rest(l, LOOKS_REST);
	l->looks_left = 1;
	k->at = find_entry(l, look);
	if (k->at == LOOKS_MAX) {
		is_new = true;
		k->at = add_entry(l, look);
		if (k->at == LOOKS_MAX)
			return rest(l, LOOKS_REST);
	}
	struct look_entry *e = &k->entries[k->at];
	/* What completed the last one was no look. */
	is_new |= e->is_pending;
	is_new |= !expect_answer(e, look);
	if (is_new)
		looks_resume(l);
	if (k->last < k->num)
		k->entries[k->last].next = k->at;
	k->repeated = is_new ? 0 : k->repeated + 1;
	k->is_poll = k->is_polling && !is_new;
	return k->is_poll;
}

void looks_operation(struct lane *l)
{
	const struct look_entry *e = &l->looks->entries[l->looks->at];
	struct seg_operation *seg = &l->seg->operation;
	enum seg_operation_kind kind = relaxed_get(&seg->kind);

	if (kind != SEG_OPERATION_LOCK) {
		struct operation op = operation_begin(l, SEG_OPERATION_LOOK, 0, OPERATION_POLL);

		operation_transfer(&op, 0, e->window, e->target, SEG_TAG_ANY, 0, 0);
		operation_end(&op);
		return;
	}
	uint32_t seq = section_begin(&seg->seq);
	relaxed_set(&seg->event, relaxed_get(&l->current->events));
	section_end(&seg->seq, seq);
}

bool looks_told_nothing(struct lane *l)
{
	struct looks *k = l->looks;

	if (k->at == LOOKS_MAX)
		return true;
	struct look_entry *e = &k->entries[k->at];
	if (e->kind != LOOK_SYNC || !take_answers(k, e))
		return true;
	k->repeated = 0;
	return false;
}

/* Does a round end with this entry? It begins where the thread came to first. */
static bool ends_round(const struct looks *k, uint32_t entry)
{
	uint32_t next = k->entries[entry].next, first = UINT32_MAX;

	if (next >= k->num)
		return false;
	for (uint32_t i = 0; i < k->num; i++)
		if (k->entries[i].site < first)
			first = k->entries[i].site;
	return k->entries[next].site == first;
}

void looks_end(struct lane *l)
{
	struct looks *k = l->looks;
	uint32_t at = k->at; /* a signal's handler may call MPI by now */

	if (!k->is_watching || at >= LOOKS_MAX)
		return;
	k->events = relaxed_get(&l->current->events);
	k->last = at;
	if (!k->is_poll && k->repeated >= LOOKS_REPEATED && k->repeated >= LOOKS_ROUNDS * k->num &&
	    ends_round(k, at)) {
		k->is_polling = true;
		k->polling_from = at;
		k->watched = 0;
	} else if (!k->is_poll) {
		k->is_polling = false;
	}
}

/* Looks after `from` to the last one, in the order of the last round; 0: that is not known. */
static uint32_t count_to_last(const struct looks *k, uint32_t from)
{
	uint32_t num = 0;

	do {
		from = k->entries[from].next;
		num++;
	} while (from < k->num && from != k->last && num <= k->num);
	return from == k->last && num <= k->num ? num : 0;
}

void looks_resume(struct lane *l)
{
	struct looks *k = l->looks;

	if (!k->is_polling || k->events != relaxed_get(&l->current->events) || k->last >= k->num)
		return;
	k->is_polling = false;
	if (k->last == k->polling_from)
		return;
	uint32_t at = k->polling_from, num = count_to_last(k, at);
	for (uint32_t i = 0; i < (num ? num : 1); i++) {
		at = num ? k->entries[at].next : k->last;
		lane_pass(l, k->entries[at].site, l->poll_ticks);
		if (l->tracer)
			tracer_call(l->tracer, k->entries[at].site);
	}
	/* Until the next call forgets them, there are polls. */
	l->hint = &l->poll_hint;
}
