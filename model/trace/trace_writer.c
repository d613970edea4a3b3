/* SPDX-License-Identifier: BSD-3-Clause
 * Words: elements of the sequence are *closed*, they do not grow. At most one more is *open*: the
 * next event may go on with it. To *spill* is to make elements of a part of an iteration of it. */
#include "model/trace/trace_writer.h"

#include <string.h>

#define RELAXED memory_order_relaxed

enum {
	HASH_BITS = 11, /* heads of chains */
	MAX_BODY = 128,
	CHUNK = 65536, /* bytes that memory is asked for at a time */
	PARTS = 8,     /* of the arena after its head */
	SEQUENCE_PARTS = 4,
	BODIES_PARTS = 1,
};
#define HASH_SIZE ((size_t)1 << HASH_BITS)
#define FACTOR 0xd1342543de82ef95u /* of the sums; any odd number that looks random */

/* ---- Memory ---- */

struct layout {
	uint32_t capacity[TRACE_NUM_TABLES];
	uint64_t offset[TRACE_NUM_TABLES];
	size_t num_slots; /* a power of two, at least twice the bodies */
};

static const size_t entry_sizes[TRACE_NUM_TABLES] = {
	[TRACE_SEQUENCE] = sizeof(struct trace_element),
	[TRACE_BODIES] = sizeof(struct trace_body),
	[TRACE_ELEMENTS] = sizeof(struct trace_element),
};

static struct layout layout_of(size_t size)
{
	static const unsigned int parts[TRACE_NUM_TABLES] = {
		[TRACE_SEQUENCE] = SEQUENCE_PARTS,
		[TRACE_BODIES] = BODIES_PARTS,
		[TRACE_ELEMENTS] = PARTS - SEQUENCE_PARTS - BODIES_PARTS,
	};
	struct layout layout = {.num_slots = 16};
	uint64_t room = size - sizeof(struct trace_head), at = sizeof(struct trace_head);

	for (int t = 0; t < TRACE_NUM_TABLES; t++) {
		layout.offset[t] = at;
		layout.capacity[t] = room / PARTS * parts[t] / entry_sizes[t];
		at += layout.capacity[t] * entry_sizes[t];
	}
	while (layout.num_slots < 2 * (size_t)layout.capacity[TRACE_BODIES])
		layout.num_slots *= 2;
	return layout;
}

size_t trace_writer_private_size(size_t arena_size)
{
	struct layout layout = layout_of(arena_size);

	return TRACE_WINDOW * sizeof(struct trace_link) + (TRACE_MAX_BODY + 1) * sizeof(uint64_t) +
	       2 * HASH_SIZE * sizeof(uint32_t) +
	       layout.capacity[TRACE_BODIES] * sizeof(struct trace_body_info) +
	       layout.num_slots * sizeof(uint32_t);
}

/* Is there memory for so many entries of the table, now or after asking for it? */
static bool has_memory(struct trace_writer *w, enum trace_table_id id, uint64_t num)
{
	const struct trace_table *table = &w->head->tables[id];
	size_t begin, end, last;

	if (num <= w->ready[id])
		return true;
	if (num > table->capacity)
		return false;
	begin = table->offset + w->ready[id] * entry_sizes[id];
	end = table->offset + num * entry_sizes[id];
	last = table->offset + table->capacity * entry_sizes[id];
	end = last - begin > CHUNK && end - begin < CHUNK ? begin + CHUNK : end;
	end = end < last ? end : last;
	if (w->reserve && !w->reserve(w->owner, begin, end))
		return false;
	w->ready[id] = (end - table->offset) / entry_sizes[id];
	return true;
}

bool trace_writer_init(struct trace_writer *w, void *arena, size_t arena_size, void *private_memory,
		       const struct trace_writer_settings *settings)
{
	char *at = private_memory;

	if (arena_size < TRACE_ARENA_MIN || arena_size > UINT32_MAX)
		return false;
	if (settings->reserve && !settings->reserve(settings->owner, 0, sizeof(struct trace_head)))
		return false;
	struct layout layout = layout_of(arena_size);
	*w = (struct trace_writer){
		.expected = TRACE_NONE,
		.open = TRACE_NONE,
		.head = arena,
		.max_body = settings->max_body ? settings->max_body : MAX_BODY,
		.max_count = settings->max_count ? settings->max_count : UINT32_MAX,
		.reserve = settings->reserve,
		.owner = settings->owner,
	};
	if (w->max_body > TRACE_MAX_BODY)
		w->max_body = TRACE_MAX_BODY;
	w->sequence = (void *)((char *)arena + layout.offset[TRACE_SEQUENCE]);
	w->bodies = (void *)((char *)arena + layout.offset[TRACE_BODIES]);
	w->elements = (void *)((char *)arena + layout.offset[TRACE_ELEMENTS]);
	w->links = (void *)at;
	at += TRACE_WINDOW * sizeof(struct trace_link);
	w->powers = (void *)at;
	at += (TRACE_MAX_BODY + 1) * sizeof(uint64_t);
	w->infos = (void *)at;
	at += layout.capacity[TRACE_BODIES] * sizeof(struct trace_body_info);
	w->same = (void *)at;
	w->tails = w->same + HASH_SIZE;
	w->slots = w->tails + HASH_SIZE;
	w->slot_mask = layout.num_slots - 1;
	w->powers[0] = 1;
	for (int i = 0; i < TRACE_MAX_BODY; i++)
		w->powers[i + 1] = w->powers[i] * FACTOR;
	for (int t = 0; t < TRACE_NUM_TABLES; t++) {
		w->head->tables[t].offset = layout.offset[t];
		w->head->tables[t].capacity = layout.capacity[t];
	}
	w->head->version = TRACE_VERSION;
	w->head->max_body = w->max_body;
	w->head->size = arena_size;
	atomic_store_explicit(&w->head->open, TRACE_NONE, RELAXED);
	memcpy(w->head->magic, TRACE_MAGIC, sizeof(w->head->magic));
	return true;
}

/* ---- Bodies ---- */

static uint64_t length_of(const struct trace_writer *w, uint32_t symbol)
{
	return TRACE_IS_LOOP(symbol) ? w->bodies[TRACE_BODY(symbol)].length : 1;
}

static uint32_t start_of(const struct trace_writer *w, uint32_t symbol)
{
	return TRACE_IS_LOOP(symbol) ? w->infos[TRACE_BODY(symbol)].start : symbol;
}

static const struct trace_element *last_of(const struct trace_writer *w, uint32_t loop)
{
	const struct trace_body *body = &w->bodies[TRACE_BODY(loop)];

	return &w->elements[body->first + body->num - 1];
}

/* From the end, where candidates differ first. */
static bool equal_rows(const struct trace_element *a, const struct trace_element *b, uint32_t num)
{
	while (num-- > 0)
		if (a[num].symbol != b[num].symbol || a[num].count != b[num].count)
			return false;
	return true;
}

static uint64_t mix(uint64_t hash, const struct trace_element *e)
{
	uint64_t value = (hash ^ ((uint64_t)e->count << 32 | e->symbol)) * 0x9e3779b97f4a7c15u;

	return value ^ value >> 29;
}

/* Append a body and give its slot its number. TRACE_NONE: no room, or too deep. */
static uint32_t add_body(struct trace_writer *w, const struct trace_element *row, uint32_t num,
			 uint32_t *slot)
{
	uint32_t body = w->num_bodies, depth = 0;
	uint64_t length = 0;

	if (!has_memory(w, TRACE_BODIES, body + 1) ||
	    !has_memory(w, TRACE_ELEMENTS, (uint64_t)w->num_elements + num))
		return TRACE_NONE;
	for (uint32_t i = 0; i < num; i++) {
		if (TRACE_IS_LOOP(row[i].symbol) &&
		    w->infos[TRACE_BODY(row[i].symbol)].depth > depth)
			depth = w->infos[TRACE_BODY(row[i].symbol)].depth;
		length += row[i].count * length_of(w, row[i].symbol);
	}
	if (depth == TRACE_MAX_DEPTH)
		return TRACE_NONE;
	memcpy(&w->elements[w->num_elements], row, num * sizeof(*row));
	w->bodies[body] = (struct trace_body){w->num_elements, num, length};
	w->infos[body] = (struct trace_body_info){start_of(w, row[0].symbol), depth + 1};
	w->num_elements += num;
	*slot = ++w->num_bodies;
	/* Pairs with the reader's acquire: it then sees what they count. */
	atomic_store_explicit(&w->head->tables[TRACE_ELEMENTS].count, w->num_elements,
			      memory_order_release);
	atomic_store_explicit(&w->head->tables[TRACE_BODIES].count, w->num_bodies,
			      memory_order_release);
	return body;
}

/* The body with these elements, added if new; TRACE_NONE when it cannot be. */
static uint32_t find_body(struct trace_writer *w, const struct trace_element *row, uint32_t num)
{
	uint64_t hash = num;
	uint32_t at;

	for (uint32_t i = 0; i < num; i++)
		hash = mix(hash, &row[i]);
	for (at = hash >> 32 & w->slot_mask; w->slots[at]; at = (at + 1) & w->slot_mask) {
		const struct trace_body *body = &w->bodies[w->slots[at] - 1];

		if (body->num == num && equal_rows(&w->elements[body->first], row, num))
			return w->slots[at] - 1;
	}
	return add_body(w, row, num, &w->slots[at]);
}

/* ---- The sequence ---- */

/* Of an element that is not the first, with the one before it: blocks have at least two. */
static uint32_t chain_of(const struct trace_element *e)
{
	return mix(mix(0, e - 1), e) >> (64 - HASH_BITS);
}

static struct trace_link *link_of(struct trace_writer *w, uint32_t position)
{
	return &w->links[position % TRACE_WINDOW];
}

/* Hash of the elements up to position `at`, which may be -1 for none. */
static uint64_t sum_at(const struct trace_writer *w, uint32_t at)
{
	return at == UINT32_MAX ? 0 : w->links[at % TRACE_WINDOW].sum;
}

/* That of the `num` ones up to there. */
static uint64_t hash_of_last(const struct trace_writer *w, uint32_t at, uint32_t num)
{
	return sum_at(w, at) - sum_at(w, at - num) * w->powers[num];
}

static void push(struct trace_writer *w, struct trace_element e)
{
	uint32_t at = w->num_closed++;
	struct trace_link *link = link_of(w, at);

	w->sequence[at] = e;
	*link = (struct trace_link){.sum = sum_at(w, at - 1) * FACTOR + mix(0, &e)};
	if (at > 0) {
		uint32_t chain = chain_of(&w->sequence[at]);

		link->same = w->same[chain];
		w->same[chain] = at + 1;
	}
	if (TRACE_IS_LOOP(e.symbol)) {
		uint32_t chain = chain_of(last_of(w, e.symbol));

		link->tail = w->tails[chain];
		w->tails[chain] = at + 1;
	}
	if (w->num_closed - w->stable > TRACE_WINDOW)
		w->stable = w->num_closed - TRACE_WINDOW;
	w->closed_events += e.count * length_of(w, e.symbol);
}

static void pop(struct trace_writer *w, uint32_t num)
{
	while (num-- > 0) {
		uint32_t at = --w->num_closed;
		struct trace_element e = w->sequence[at];

		if (at > 0)
			w->same[chain_of(&w->sequence[at])] = link_of(w, at)->same;
		if (TRACE_IS_LOOP(e.symbol))
			w->tails[chain_of(last_of(w, e.symbol))] = link_of(w, at)->tail;
		w->closed_events -= e.count * length_of(w, e.symbol);
	}
	atomic_store_explicit(&w->head->folds, atomic_load_explicit(&w->head->folds, RELAXED) + 1,
			      RELAXED);
	/* Before anything is overwritten. */
	atomic_thread_fence(memory_order_release);
}

/* Are the last elements one more iteration of the loop before them? Then that is open. */
static bool extend_loop(struct trace_writer *w)
{
	uint32_t top = w->num_closed - 1, at, num;
	const struct trace_element *sequence = w->sequence;

	if (top == 0)
		return false;
	for (at = w->tails[chain_of(&sequence[top])]; at-- > w->stable; at = link_of(w, at)->tail) {
		struct trace_element loop = sequence[at];
		const struct trace_body *body = &w->bodies[TRACE_BODY(loop.symbol)];

		num = top - at;
		if (num > w->max_body)
			return false;
		if (body->num != num || loop.count >= w->max_count ||
		    !equal_rows(&w->elements[body->first], &sequence[at + 1], num))
			continue;
		pop(w, num + 1);
		w->open = loop.symbol;
		w->open_count = loop.count + 1;
		return true;
	}
	return false;
}

/* Are the last elements the same as those before them? Then they are a loop, which is open. */
static void make_loop(struct trace_writer *w)
{
	uint32_t top = w->num_closed - 1, at, num, body;
	const struct trace_element *sequence = w->sequence;

	for (at = link_of(w, top)->same; at-- > w->stable; at = link_of(w, at)->same) {
		num = top - at;
		/* The sum before them must be there, too. */
		if (num > w->max_body || num + (w->stable > 0) > at + 1 - w->stable)
			return;
		if (num < 2 || hash_of_last(w, at, num) != hash_of_last(w, top, num) ||
		    !equal_rows(&sequence[at + 1 - num], &sequence[at + 1], num))
			continue;
		body = find_body(w, &sequence[at + 1], num);
		if (body == TRACE_NONE)
			return;
		pop(w, 2 * num);
		w->open = TRACE_LOOP | body;
		w->open_count = 2;
		return;
	}
}

/* The open element does not go on; what is open then is a loop that ends with it, or nothing. */
static void close_open(struct trace_writer *w)
{
	push(w, (struct trace_element){w->open, w->open_count});
	w->open = TRACE_NONE;
	if (!extend_loop(w))
		make_loop(w);
}

/* What was after that. Now this is open; of a loop one iteration is its elements. */
static void emit(struct trace_writer *w, uint32_t symbol, uint32_t count)
{
	if (count == 0)
		return;
	if (TRACE_IS_LOOP(symbol) && count == 1) {
		const struct trace_body *body = &w->bodies[TRACE_BODY(symbol)];

		for (uint32_t i = 0; i < body->num; i++)
			emit(w, w->elements[body->first + i].symbol,
			     w->elements[body->first + i].count);
		return;
	}
	while (w->open != TRACE_NONE)
		close_open(w);
	w->open = symbol;
	w->open_count = count;
}

/* ---- The open element ---- */

/* From the innermost level's element to its first event. */
static void descend(struct trace_writer *w)
{
	struct trace_level *level = &w->levels[w->num_levels - 1];

	while (TRACE_IS_LOOP(level->at->symbol)) {
		const struct trace_element *e = level->at;
		const struct trace_body *body = &w->bodies[TRACE_BODY(e->symbol)];

		level = &w->levels[w->num_levels++];
		level->begin = level->at = &w->elements[body->first];
		level->end = level->begin + body->num;
		level->symbol = e->symbol;
		level->count = level->left = e->count;
	}
	w->expected = level->at->symbol;
	w->run_left = level->at->count;
}

/* Expect the next iteration of the open element. */
static void expect(struct trace_writer *w)
{
	uint32_t left = w->max_count - w->open_count;

	w->num_levels = 0;
	w->expected = TRACE_NONE;
	w->run_left = left;
	if (left == 0)
		return;
	if (!TRACE_IS_LOOP(w->open)) {
		w->expected = w->open;
		return;
	}
	const struct trace_body *body = &w->bodies[TRACE_BODY(w->open)];
	struct trace_level *level = &w->levels[w->num_levels++];

	level->begin = level->at = &w->elements[body->first];
	level->end = level->begin + body->num;
	level->symbol = w->open;
	level->count = w->max_count;
	level->left = left;
	descend(w);
}

void trace_writer_advance(struct trace_writer *w)
{
	while (w->num_levels > 0) {
		struct trace_level *level = &w->levels[w->num_levels - 1];

		if (++level->at < level->end || --level->left > 0) {
			if (level->at == level->end)
				level->at = level->begin;
			descend(w);
			return;
		}
		w->num_levels--;
	}
	/* As many as can be counted. */
	w->open_count = w->max_count;
	w->run_left = 0;
	w->expected = TRACE_NONE;
}

static bool may_begin(const struct trace_writer *w, uint32_t symbol)
{
	return start_of(w, w->open) == symbol && w->open_count < w->max_count;
}

/* Would the symbol go on with a loop's last element, or that one's last? */
static bool may_extend(const struct trace_writer *w, uint32_t loop, uint32_t symbol)
{
	while (TRACE_IS_LOOP(loop)) {
		loop = last_of(w, loop)->symbol;
		if (start_of(w, loop) == symbol)
			return true;
	}
	return false;
}

/* The open loop has ended an iteration, and the symbol is not its next one. If it goes on with
 * something at that iteration's end, this iteration differs: take it apart. */
static void take_apart(struct trace_writer *w, uint32_t symbol)
{
	while (TRACE_IS_LOOP(w->open) && start_of(w, w->open) != symbol &&
	       may_extend(w, w->open, symbol)) {
		uint32_t loop = w->open, count = w->open_count;

		w->open = TRACE_NONE;
		emit(w, loop, count - 1);
		emit(w, loop, 1);
	}
}

/* Elements of the part of an iteration that has been, at all levels. */
static void spill(struct trace_writer *w)
{
	uint32_t num_levels = w->num_levels, done;
	const struct trace_level *level = w->levels;

	w->num_levels = 0;
	if (num_levels == 0) {
		w->open_count = w->max_count - w->run_left;
		return;
	}
	done = w->levels[num_levels - 1].at->count - w->run_left;
	w->open_count = w->max_count - level->left;
	for (; level < w->levels + num_levels; level++) {
		if (level > w->levels)
			emit(w, level->symbol, level->count - level->left);
		for (const struct trace_element *e = level->begin; e < level->at; e++)
			emit(w, e->symbol, e->count);
		if (level == w->levels + num_levels - 1)
			emit(w, level->at->symbol, done);
	}
}

/* The symbol that has ended last, if the open loop's present iteration has no run in progress. */
static uint32_t ended_last(const struct trace_writer *w)
{
	for (uint32_t i = w->num_levels; i-- > 0;) {
		const struct trace_level *level = &w->levels[i];

		if (level->at > level->begin)
			return level->at[-1].symbol;
		if (level->left < level->count)
			return level->symbol;
	}
	return w->open;
}

/* No more elements than this are made of what is open. */
static uint64_t most_closed(const struct trace_writer *w)
{
	uint64_t num = 2;

	for (uint32_t i = 0; i < w->num_levels; i++)
		num += 2 * (uint64_t)(w->levels[i].end - w->levels[i].begin) + 1;
	if (w->open == TRACE_NONE)
		return num;
	for (uint32_t loop = ended_last(w); TRACE_IS_LOOP(loop); loop = last_of(w, loop)->symbol)
		num += 2 * (uint64_t)w->bodies[TRACE_BODY(loop)].num;
	return num;
}

/* ---- An event that was not expected ---- */

static uint32_t section_begin(struct trace_head *head)
{
	uint32_t seq = atomic_load_explicit(&head->seq, RELAXED) | 1;

	atomic_store_explicit(&head->seq, seq, RELAXED);
	atomic_thread_fence(memory_order_release);
	return seq;
}

static void section_end(struct trace_writer *w, uint32_t seq)
{
	struct trace_head *head = w->head;

	atomic_store_explicit(&head->open, w->open, RELAXED);
	atomic_store_explicit(&head->closed_events, w->closed_events, RELAXED);
	atomic_store_explicit(&head->stable, w->stable, RELAXED);
	atomic_store_explicit(&head->tables[TRACE_SEQUENCE].count, w->num_closed, RELAXED);
	atomic_store_explicit(&head->seq, seq + 1, memory_order_release);
}

void trace_writer_end(struct trace_writer *w, enum trace_end end)
{
	w->has_ended = true;
	w->expected = TRACE_NONE;
	atomic_store_explicit(&w->head->end, end, memory_order_release);
}

void trace_writer_other(struct trace_writer *w, uint32_t symbol)
{
	if (!w->has_ended && w->is_busy)
		trace_writer_end(w, TRACE_IS_BROKEN);
	if (!w->has_ended && !has_memory(w, TRACE_SEQUENCE, w->num_closed + most_closed(w)))
		trace_writer_end(w, TRACE_IS_FULL);
	if (w->has_ended) {
		atomic_store_explicit(&w->head->lost,
				      atomic_load_explicit(&w->head->lost, RELAXED) + 1, RELAXED);
		return;
	}
	w->is_busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	uint32_t seq = section_begin(w->head);
	if (w->open != TRACE_NONE) {
		spill(w);
		take_apart(w, symbol);
	}
	while (w->open != TRACE_NONE && !may_begin(w, symbol))
		close_open(w);
	if (w->open == TRACE_NONE) {
		w->open = symbol;
		w->open_count = 0;
	}
	expect(w);
	section_end(w, seq);
	atomic_signal_fence(memory_order_seq_cst);
	w->is_busy = false;
	atomic_store_explicit(&w->head->events, ++w->events, RELAXED);
	if (--w->run_left == 0)
		trace_writer_advance(w);
}
