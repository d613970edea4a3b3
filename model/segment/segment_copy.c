/* SPDX-License-Identifier: BSD-3-Clause
 * Out of a segment into own memory: by pread, bounded by the limits of the format, by the file's
 * true size and by a budget, and under the writer's sequence locks. */
#include <sched.h>
#include <time.h>

#include "model/interrupt.h"
#include "model/segment/segment_private.h"

enum { ENTRY_SIZE_MAX = 4096 };

int reader_spend(struct reader *r, uint64_t bytes)
{
	if (interrupt_check(r->err) < 0)
		return -1;
	if (bytes > r->budget)
		return error_set(
			r->err, ERROR_FORMAT,
			"the segment claims far more than its file has stored: it is damaged or "
			"hostile; if the rank has just started, type \"refresh\"");
	r->budget -= bytes;
	return 0;
}

int reader_bad_entry(struct reader *r, const char *what, size_t index)
{
	return READER_CORRUPT(r, "%s %zu", what, index);
}

/* What entries are, and how many there may be. */
struct kind {
	const char *name;
	uint32_t most;
	size_t size, seq_at;
};

static const struct kind kinds[SEG_NUM_TABLES] = {
	[SEG_TABLE_STRINGS] = {"strings", SEG_MAX_STRINGS, 1, 0},
	[SEG_TABLE_MODULES] = {"modules", SEG_MAX_MODULES, sizeof(struct seg_module), 0},
	[SEG_TABLE_FRAMES] = {"frames", SEG_MAX_FRAMES, sizeof(struct seg_frame), 0},
	[SEG_TABLE_SITES] = {"sites", SEG_MAX_SITES, sizeof(struct seg_site), 0},
	[SEG_TABLE_COMMS] = {"communicators", SEG_MAX_COMMS, sizeof(struct seg_comm),
			     offsetof(struct seg_comm, seq)},
	[SEG_TABLE_MEMBERS] = {"members", SEG_MAX_MEMBERS, sizeof(int32_t), 0},
	[SEG_TABLE_REQUESTS] = {"requests", SEG_MAX_REQUESTS, sizeof(struct seg_request),
				offsetof(struct seg_request, seq)},
};

static const struct kind lane_kinds[SEG_LANE_NUM_TABLES] = {
	[SEG_LANE_STATES] = {"states", 2 * SEG_MAX_SITES, sizeof(struct seg_state), 0},
	[SEG_LANE_TRANSITIONS] = {"transitions", SEG_MAX_TRANSITIONS, sizeof(struct seg_transition),
				  0},
	[SEG_LANE_RING] = {"ring entries", SEG_MAX_RING, sizeof(struct seg_event), 0},
	[SEG_LANE_LEDGER] = {"rows of a ledger", SEG_MAX_LEDGER, sizeof(struct seg_ledger), 0},
	[SEG_LANE_WAITED] = {"requests waited for", SEG_MAX_WAITED, sizeof(uint32_t), 0},
};

/* Do `count` entries of a table lie within `room` bytes? A table of zeros is fine for 0. */
static int check_table(struct reader *r, const struct kind *kind, const struct seg_table *table,
		       uint64_t count, uint64_t room)
{
	if (count == 0 && table->capacity == 0 && table->entry_size == 0)
		return 0;
	if (table->entry_size < kind->size || table->entry_size > ENTRY_SIZE_MAX ||
	    (kind->size == 1 && table->entry_size != 1))
		return READER_CORRUPT(r, "%s of %u bytes", kind->name, table->entry_size);
	if (count > table->capacity || table->capacity > kind->most)
		return READER_CORRUPT(r, "%llu of %u %s", (unsigned long long)count,
				      table->capacity, kind->name);
	if (table->offset > room || count * table->entry_size > room - table->offset)
		return READER_CORRUPT(r, "%s beyond its end", kind->name);
	return 0;
}

/* Entries of a checked table, to[] having the size that is known here. */
static int copy_entries(struct reader *r, uint64_t base, const struct seg_table *table,
			uint64_t first, uint64_t count, void *to, size_t size)
{
	uint64_t from = base + table->offset + first * table->entry_size;

	if (count == 0)
		return 0;
	if (table->entry_size == size)
		return segment_pread(r->fd, to, count * size, from, r->err);
	if (reader_spend(r, count * table->entry_size) < 0)
		return -1;
	char *raw = xmalloc(count * table->entry_size);
	int status = segment_pread(r->fd, raw, count * table->entry_size, from, r->err);
	for (uint64_t i = 0; status == 0 && i < count; i++)
		memcpy((char *)to + i * size, raw + i * table->entry_size, size);
	free(raw);
	return status;
}

int reader_check_lane_table(struct reader *r, const struct seg_lane *head, enum seg_lane_id id,
			    uint64_t count)
{
	return check_table(r, &lane_kinds[id], &head->tables[id], count, r->header.lane_size);
}

int reader_copy_lane_entries(struct reader *r, uint64_t base, const struct seg_lane *head,
			     enum seg_lane_id id, uint64_t first, uint64_t count, void *to)
{
	return copy_entries(r, base, &head->tables[id], first, count, to, lane_kinds[id].size);
}

void *reader_copy_lane_table(struct reader *r, uint64_t base, struct raw_lane *raw,
			     enum seg_lane_id id, uint64_t count)
{
	if (reader_check_lane_table(r, &raw->head, id, count) < 0 ||
	    reader_spend(r, count * lane_kinds[id].size) < 0)
		return NULL;
	void *entries = arena_array(raw->arena, count, lane_kinds[id].size);
	if (reader_copy_lane_entries(r, base, &raw->head, id, 0, count, entries) < 0)
		return NULL;
	return entries;
}

int reader_copy_entry(struct reader *r, enum seg_table_id id, uint32_t index, void *to)
{
	const struct seg_table *table = &r->header.tables[id];

	if (index >= table->capacity || index >= kinds[id].most ||
	    table->entry_size < kinds[id].size)
		return READER_CORRUPT(r, "entry %u of table %d", index, id);
	return segment_pread(r->fd, to, kinds[id].size,
			     table->offset + (uint64_t)index * table->entry_size, r->err);
}

int reader_take_count(struct reader *r, enum seg_table_id id)
{
	struct seg_table table;

	if (segment_pread(r->fd, &table, sizeof(table),
			  offsetof(struct seg_header, tables) + id * sizeof(table), r->err) < 0)
		return -1;
	r->header.tables[id] = table;
	atomic_thread_fence(memory_order_acquire);
	return 0;
}

void *reader_copy_table(struct reader *r, enum seg_table_id id, size_t *num_ret)
{
	const struct seg_table *table = &r->header.tables[id];
	uint32_t count = table->count;
	size_t size = kinds[id].size;

	if (check_table(r, &kinds[id], table, count, r->file_size) < 0 ||
	    reader_spend(r, (uint64_t)count * size) < 0)
		return NULL;
	void *entries = xcalloc(count + 1, size);
	if (copy_entries(r, 0, table, 0, count, entries, size) < 0) {
		free(entries);
		return NULL;
	}
	*num_ret = count;
	return entries;
}

void *reader_keep_table(struct reader *r, enum seg_table_id id, size_t *num_ret)
{
	return arena_keep(r->arena, reader_copy_table(r, id, num_ret), free);
}

static int try_copy(struct reader *r, const struct reader_locked *what, bool *is_whole)
{
	uint32_t before, after;

	if (segment_pread(r->fd, &before, sizeof(before), what->at + what->seq_at, r->err) < 0)
		return -1;
	/* Pairs with the writer's release fence after it has made seq odd. */
	atomic_thread_fence(memory_order_acquire);
	if (segment_pread(r->fd, what->to, what->size, what->at, r->err) < 0 ||
	    (what->more && what->more(r, what->of) < 0))
		return -1;
	atomic_thread_fence(memory_order_acquire);
	if (segment_pread(r->fd, &after, sizeof(after), what->at + what->seq_at, r->err) < 0)
		return -1;
	*is_whole = before == after && !(before & 1);
	return 0;
}

int reader_copy_under_lock(struct reader *r, const struct reader_locked *what, bool *is_whole)
{
	static const struct timespec nap = {.tv_nsec = 1000000};

	*is_whole = false;
	for (int i = 0; i < READER_LOCK_ATTEMPTS + READER_LOCK_NAPS && !*is_whole; i++) {
		if (i > 0 && r->retries-- <= 0)
			break;
		/* A writer that waits for a processor in the middle gets one soon. */
		if (i >= READER_LOCK_ATTEMPTS) {
			if (r->naps-- <= 0)
				break;
			nanosleep(&nap, NULL);
		} else if (i >= READER_LOCK_ATTEMPTS / 2) {
			sched_yield();
		}
		if (try_copy(r, what, is_whole) < 0)
			return -1;
	}
	return 0;
}

static uint32_t seq_of(const uint8_t *entry, size_t seq_at)
{
	uint32_t seq;

	memcpy(&seq, entry + seq_at, sizeof(seq));
	return seq;
}

void *reader_copy_locked(struct reader *r, enum seg_table_id id, size_t *num_ret,
			 bool **is_whole_ret)
{
	const struct seg_table *table = &r->header.tables[id];
	const size_t entry_size = kinds[id].size, seq_at = kinds[id].seq_at;
	uint8_t *before, *entries, *after;
	bool *is_whole;

	if (reader_take_count(r, id) < 0)
		return NULL;
	/* All locks, all entries, all locks again: three reads in place of three for each entry. */
	before = reader_keep_table(r, id, num_ret);
	atomic_thread_fence(memory_order_acquire);
	entries = before ? reader_keep_table(r, id, num_ret) : NULL;
	atomic_thread_fence(memory_order_acquire);
	after = entries ? reader_keep_table(r, id, num_ret) : NULL;
	if (!after)
		return NULL;
	*is_whole_ret = is_whole = arena_array(r->arena, *num_ret, sizeof(*is_whole));
	for (size_t i = 0; i < *num_ret; i++) {
		struct reader_locked entry = {
			.at = table->offset + i * table->entry_size,
			.size = entry_size,
			.seq_at = seq_at,
			.to = entries + i * entry_size,
		};
		uint32_t seq = seq_of(before + i * entry_size, seq_at);

		is_whole[i] = !(seq & 1) && seq == seq_of(after + i * entry_size, seq_at);
		if (!is_whole[i] && reader_copy_under_lock(r, &entry, &is_whole[i]) < 0)
			return NULL;
	}
	return entries;
}
