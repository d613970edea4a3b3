/* SPDX-License-Identifier: BSD-3-Clause
 * Out of a segment into own memory: by pread, bounded by the limits of the format, by the file's
 * true size and by a budget, and under the writer's sequence locks. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/error.h"
#include "model/interrupt.h"
#include "model/segment/segment_reader_private.h"
#include "model/xalloc.h"

enum { ENTRY_SIZE_MAX = 4096 };

int reader_spend(struct reader *r, uint64_t bytes)
{
	if (interrupt_check(r->err) < 0)
		return -1;
	if (bytes > r->budget)
		return error_set(r->err, ERROR_FORMAT,
				 "the segment claims far more than its file has stored: it is "
				 "damaged, or made to do harm; if the rank has just started, look "
				 "again");
	r->budget -= bytes;
	return 0;
}

int reader_bad_entry(struct reader *r, const char *what, size_t index)
{
	return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: %s %zu", what, index);
}

int reader_check_table(struct reader *r, const char *name, const struct seg_table *table,
		       uint64_t count, uint64_t most, size_t entry_size, uint64_t room)
{
	if (count == 0 && table->capacity == 0 && table->entry_size == 0)
		return 0;
	if (table->entry_size < entry_size || table->entry_size > ENTRY_SIZE_MAX)
		return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: %s of %u bytes",
				 name, table->entry_size);
	if (count > table->capacity || table->capacity > most)
		return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: %llu of %u %s",
				 (unsigned long long)count, table->capacity, name);
	if (table->offset > room || count * table->entry_size > room - table->offset)
		return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: %s beyond its end",
				 name);
	return 0;
}

int reader_copy_entries(struct reader *r, uint64_t base, const struct seg_table *table,
			uint64_t first, uint64_t count, void *to, size_t entry_size)
{
	uint64_t from = base + first * table->entry_size;
	char *raw;
	int status;

	if (count == 0)
		return 0;
	if (table->entry_size == entry_size)
		return segment_pread(r->fd, to, count * entry_size, from, r->err);
	if (reader_spend(r, count * table->entry_size) < 0)
		return -1;
	raw = xmalloc(count * table->entry_size);
	status = segment_pread(r->fd, raw, count * table->entry_size, from, r->err);
	for (uint64_t i = 0; status == 0 && i < count; i++)
		memcpy((char *)to + i * entry_size, raw + i * table->entry_size, entry_size);
	free(raw);
	return status;
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

void *reader_copy_table(struct reader *r, enum seg_table_id id, const char *name, uint32_t most,
			size_t entry_size, size_t *num_ret)
{
	const struct seg_table *table = &r->header.tables[id];
	uint32_t count = table->count;
	void *entries;

	if (reader_check_table(r, name, table, count, most, entry_size, r->file_size) < 0 ||
	    reader_spend(r, (uint64_t)count * entry_size) < 0)
		return NULL;
	entries = xcalloc(count + 1, entry_size);
	if (reader_copy_entries(r, table->offset, table, 0, count, entries, entry_size) < 0) {
		free(entries);
		return NULL;
	}
	*num_ret = count;
	return entries;
}

/* ---- Sequence locks ---- */

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

void *reader_copy_locked(struct reader *r, enum seg_table_id id, const char *name, uint32_t most,
			 size_t entry_size, size_t seq_at, size_t *num_ret, bool **is_whole_ret)
{
	const struct seg_table *table = &r->header.tables[id];
	uint8_t *before = NULL, *entries = NULL, *after = NULL;
	bool *is_whole = NULL;
	int status = -1;
	size_t num = 0;

	/* All locks, all entries, all locks again: three reads in place of three for each entry. */
	if (reader_take_count(r, id) == 0)
		before = reader_copy_table(r, id, name, most, entry_size, &num);
	atomic_thread_fence(memory_order_acquire);
	if (before)
		entries = reader_copy_table(r, id, name, most, entry_size, &num);
	atomic_thread_fence(memory_order_acquire);
	if (entries)
		after = reader_copy_table(r, id, name, most, entry_size, &num);
	if (after) {
		is_whole = xcalloc(num, sizeof(*is_whole));
		status = 0;
	}
	for (size_t i = 0; status == 0 && i < num; i++) {
		struct reader_locked entry = {
			.at = table->offset + i * table->entry_size,
			.size = entry_size,
			.seq_at = seq_at,
			.to = entries + i * entry_size,
		};
		uint32_t seq = seq_of(before + i * entry_size, seq_at);

		is_whole[i] = !(seq & 1) && seq == seq_of(after + i * entry_size, seq_at);
		if (!is_whole[i])
			status = reader_copy_under_lock(r, &entry, &is_whole[i]);
	}
	free(before);
	free(after);
	if (status < 0) {
		free(entries);
		free(is_whole);
		return NULL;
	}
	*num_ret = num;
	*is_whole_ret = is_whole;
	return entries;
}
