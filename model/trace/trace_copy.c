/* SPDX-License-Identifier: BSD-3-Clause
 * A consistent copy of an untrusted trace out of an arena that its writer may be writing to. */
#include <sched.h>
#include <time.h>

#include "model/trace/trace.h"

/* So often is it read again at once, giving way after half, and then a millisecond apart. */
enum { ATTEMPTS = 200, NAPS = 20 };

struct source {
	trace_read_fn read;
	void *from;
	uint64_t size;
	uint64_t budget; /* bytes that a table may have */
	struct pdb_error *err;
};

static int corrupt(const struct source *s, const char *what)
{
	return error_set(s->err, ERROR_FORMAT, "the trace is corrupt: %s", what);
}

static int read_head(const struct source *s, struct trace_head *head)
{
	uint32_t before, after;

	/* The fences pair with those of the writer's sections (trace_writer.c). */
	if (s->read(s->from, &before, sizeof(before), offsetof(struct trace_head, seq), s->err) < 0)
		return -1;
	atomic_thread_fence(memory_order_acquire);
	if (s->read(s->from, head, sizeof(*head), 0, s->err) < 0)
		return -1;
	atomic_thread_fence(memory_order_acquire);
	if (s->read(s->from, &after, sizeof(after), offsetof(struct trace_head, seq), s->err) < 0)
		return -1;
	return before == after && before % 2 == 0;
}

static int check_head(const struct source *s, const struct trace_head *head)
{
	static const size_t sizes[TRACE_NUM_TABLES] = {sizeof(struct trace_element),
						       sizeof(struct trace_body),
						       sizeof(struct trace_element)};

	if (memcmp(head->magic, TRACE_MAGIC, sizeof(head->magic)) != 0)
		return error_set(s->err, ERROR_FORMAT, "there is no trace");
	if (head->version != TRACE_VERSION)
		return error_set(s->err, ERROR_VERSION, "the trace is of version %u, not %u",
				 head->version, TRACE_VERSION);
	if (head->end == TRACE_IS_BROKEN)
		return error_set(s->err, ERROR_FORMAT,
				 "the trace was interrupted while it was written");
	for (int t = 0; t < TRACE_NUM_TABLES; t++) {
		const struct trace_table *table = &head->tables[t];

		if (table->count > table->capacity || table->offset > s->size ||
		    table->count > (s->size - table->offset) / sizes[t])
			return corrupt(s, "a table beyond its end");
	}
	return 0;
}

/* Entries [from, count) of a table, behind those that are in *entries already. */
static int read_entries(const struct source *s, const struct trace_table *table, size_t entry_size,
			size_t from, void **entries)
{
	uint32_t count = table->count;

	if (from >= count)
		return 0;
	if (count > s->budget / entry_size)
		return corrupt(s, "it claims far more than is stored");
	*entries = xreallocarray(*entries, count, entry_size);
	return s->read(s->from, (char *)*entries + from * entry_size, (count - from) * entry_size,
		       table->offset + from * entry_size, s->err);
}

/* 1: head and sequence belong together; 0: they do not. *stable elements are there already. */
static int try_sequence(const struct source *s, struct trace_head *head, void **sequence,
			size_t *stable)
{
	uint32_t folds;
	int status = read_head(s, head);

	if (status != 1)
		return status;
	if (check_head(s, head) < 0 ||
	    read_entries(s, &head->tables[TRACE_SEQUENCE], sizeof(struct trace_element), *stable,
			 sequence) < 0)
		return -1;
	atomic_thread_fence(memory_order_acquire);
	if (s->read(s->from, &folds, sizeof(folds), offsetof(struct trace_head, folds), s->err) < 0)
		return -1;
	if (head->stable > head->tables[TRACE_SEQUENCE].count || head->stable < *stable)
		return corrupt(s, "fewer elements than before");
	*stable = head->stable;
	return folds == head->folds;
}

static int read_sequence(const struct source *s, struct trace_head *head, void **sequence)
{
	static const struct timespec nap = {.tv_nsec = 1000000};
	size_t stable = 0;
	int status;

	for (int i = 0; i < ATTEMPTS + NAPS; i++) {
		if (i >= ATTEMPTS)
			nanosleep(&nap, NULL);
		else if (i >= ATTEMPTS / 2)
			sched_yield();
		status = try_sequence(s, head, sequence, &stable);
		if (status != 0)
			return status < 0 ? -1 : 0;
	}
	if (memcmp(head->magic, TRACE_MAGIC, sizeof(head->magic)) != 0)
		return error_set(s->err, ERROR_FORMAT, "there is no trace");
	return error_set(s->err, ERROR_TIMEOUT, "the trace changes all the time");
}

/* The count of bodies first: elements are counted before the body that they are of. */
static int read_bodies(const struct source *s, struct trace *trace)
{
	struct trace_head bodies_head, head;
	void *bodies = NULL, *elements = NULL;
	int status;

	if (s->read(s->from, &bodies_head, sizeof(head), 0, s->err) < 0)
		return -1;
	atomic_thread_fence(memory_order_acquire);
	if (s->read(s->from, &head, sizeof(head), 0, s->err) < 0)
		return -1;
	head.tables[TRACE_BODIES].count = bodies_head.tables[TRACE_BODIES].count;
	if (check_head(s, &head) < 0)
		return -1;
	status = read_entries(s, &head.tables[TRACE_BODIES], sizeof(*trace->bodies), 0, &bodies);
	if (status == 0)
		status = read_entries(s, &head.tables[TRACE_ELEMENTS], sizeof(*trace->elements), 0,
				      &elements);
	trace->bodies = bodies;
	trace->num_bodies = head.tables[TRACE_BODIES].count;
	trace->elements = elements;
	trace->num_elements = head.tables[TRACE_ELEMENTS].count;
	return status;
}

static int finish(const struct source *s, const struct trace_head *head, struct trace *trace,
		  uint32_t num_symbols)
{
	uint32_t open = head->open;

	trace->num_events = head->closed_events;
	trace->num_lost = head->lost;
	trace->is_truncated = head->end == TRACE_IS_FULL;
	if (trace_validate(trace, num_symbols, s->err) < 0)
		return -1;
	if (head->events < head->closed_events)
		return corrupt(s, "fewer events than in the sequence");
	if (open == TRACE_NONE)
		return head->events == head->closed_events ? 0 : corrupt(s, "nothing is open");
	if (TRACE_IS_LOOP(open) ? TRACE_BODY(open) >= trace->num_bodies : open >= num_symbols)
		return corrupt(s, "the open symbol");
	trace->num_events = head->events;
	return trace_add_open(trace, open, head->events - head->closed_events, s->err);
}

struct trace *trace_copy(trace_read_fn read, void *from, uint64_t size, uint64_t budget,
			 uint32_t num_symbols, struct pdb_error *err)
{
	struct source s = {read, from, size, budget, err};
	struct trace *trace = xcalloc(1, sizeof(*trace));
	struct trace_head head = {.version = 0};
	void *sequence = NULL;
	int status = size < sizeof(head) ? corrupt(&s, "too short") : 0;

	if (status == 0)
		status = read_sequence(&s, &head, &sequence);
	trace->sequence = sequence;
	trace->num = head.tables[TRACE_SEQUENCE].count;
	if (status == 0)
		status = read_bodies(&s, trace);
	if (status == 0)
		status = finish(&s, &head, trace, num_symbols);
	if (status == 0)
		return trace;
	trace_destroy(trace);
	return NULL;
}
