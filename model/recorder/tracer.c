/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/tracer.h"

#include <stdlib.h>
#include <string.h>

#include "model/recorder/slow.h"

/* ---- What is wanted ---- */

/* "1M", "65536", "512k"; what follows in *end. 0: no number. */
static uint64_t parse_size(const char *text, char **end)
{
	static const char units[] = "kmg";
	uint64_t size = strtoull(text, end, 10);
	const char *unit = **end ? strchr(units, **end | 0x20) : NULL;

	if (!unit)
		return size;
	++*end;
	if (size > SEG_MAX_TRACE)
		return SEG_MAX_TRACE;
	return size << 10 * (unit - units + 1);
}

bool tracing_init(struct tracing *tracing, const char *trace, const char *filter)
{
	char *end;

	*tracing = (struct tracing){0};
	if (!trace || !*trace)
		return true;
	uint64_t size = parse_size(trace, &end);
	if (size == 0)
		return true;
	if (size < TRACE_ARENA_MIN)
		size = SEG_DEFAULT_TRACE;
	tracing->size = size < SEG_MAX_TRACE ? size : SEG_MAX_TRACE;
	if (*end == ',')
		tracing->max_body = strtoul(end + 1, NULL, 10);
	if (tracing->max_body == 1)
		tracing->max_body = 2;
	trace_filter_parse(&tracing->filter, filter);
	if (!tracing->filter.communication_only && !trace_filter_needs_names(&tracing->filter))
		return true;
	tracing->skipped = pages_map(SEG_MAX_SITES);
	return tracing->skipped != NULL;
}

void tracing_add_site(struct tracing *tracing, uint32_t site, const char *name, uint16_t class_id)
{
	if (tracing->skipped)
		tracing->skipped[site] = !trace_filter_has_call(&tracing->filter, name, class_id);
}

/* ---- The trace of a lane ---- */

static size_t private_size(const struct tracing *tracing)
{
	return sizeof(struct tracer) + trace_writer_private_size(tracing->size);
}

/* These bytes of the lane's arena get storage. */
static bool reserve(void *owner, size_t begin, size_t end)
{
	const struct tracer *t = owner;
	struct slow s;

	if (t->is_made && !slow_begin(&s))
		return false;
	bool has_room = writer_lane_allocate(t->segment, t->index, t->lane->trace_offset + begin,
					     end - begin);
	if (t->is_made)
		slow_end(&s);
	return has_room;
}

struct tracer *tracer_create(const struct tracing *tracing, struct writer *w, struct seg_lane *lane,
			     uint32_t index)
{
	struct tracer *t = NULL;

	if (lane->trace_size >= TRACE_ARENA_MIN)
		t = pages_map(private_size(tracing));
	if (!t)
		return NULL;
	t->tracing = tracing;
	t->segment = w;
	t->lane = lane;
	t->index = index;
	const struct trace_writer_settings settings = {
		.max_body = tracing->max_body, .reserve = reserve, .owner = t};
	t->is_made = trace_writer_init(&t->writer, (char *)lane + lane->trace_offset,
				       lane->trace_size, t + 1, &settings);
	if (!t->is_made) {
		pages_unmap(t, private_size(tracing));
		return NULL;
	}
	return t;
}

/* ---- Events ---- */

/* From a signal handler in the midst of an event: after so many it may have left that for good. */
static void postpone(struct tracer *t, uint32_t symbol)
{
	uint32_t at = __atomic_fetch_add(&t->num_postponed, 1, __ATOMIC_RELAXED);

	if (at < TRACER_POSTPONED)
		t->postponed[at] = symbol;
	else
		trace_writer_end(&t->writer, TRACE_IS_BROKEN);
}

static void feed(struct tracer *t, uint32_t symbol)
{
	t->is_busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	trace_writer_feed(&t->writer, symbol);
	atomic_signal_fence(memory_order_seq_cst);
	t->is_busy = false;
}

static NOINLINE void catch_up(struct tracer *t)
{
	uint32_t at = 0;

	t->is_busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	/* Handlers may add to them until there is none left. */
	do {
		while (at < t->num_postponed && at < TRACER_POSTPONED)
			trace_writer_feed(&t->writer, t->postponed[at++]);
		if (at == TRACER_POSTPONED)
			at = t->num_postponed;
	} while (!__atomic_compare_exchange_n(&t->num_postponed, &(uint32_t){at}, 0, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	atomic_signal_fence(memory_order_seq_cst);
	t->is_busy = false;
}

void tracer_symbol(struct tracer *t, uint32_t symbol)
{
	if (unlikely(t->is_busy)) {
		postpone(t, symbol);
		return;
	}
	if (unlikely(t->num_postponed != 0))
		catch_up(t);
	feed(t, symbol);
	if (unlikely(t->num_postponed != 0))
		catch_up(t);
}

void tracer_call(struct tracer *t, uint32_t site)
{
	if (!t->tracing->skipped || !t->tracing->skipped[site])
		tracer_symbol(t, SEG_TRACE_SYMBOL(site, SEG_TRACE_CALL));
}

void tracer_end(struct tracer *t)
{
	trace_writer_end(&t->writer, TRACE_IS_FULL);
}

/* ---- Functions ---- */

uint32_t tracer_find_function(const struct tracer *t, uintptr_t address)
{
	uint32_t at = IDHASH_FIND(&t->by_address, address, i, t->functions[i].address == address);

	return at == IDHASH_NONE ? TRACER_UNKNOWN : t->functions[at].frame;
}

void tracer_add_function(struct tracer *t, uintptr_t address, uint32_t frame)
{
	if (t->num_functions == TRACER_FUNCTIONS)
		tracer_forget_functions(t);
	t->functions[t->num_functions] = (struct tracer_function){address, frame};
	if (idhash_add(&t->by_address, address, t->num_functions))
		t->num_functions++;
}

void tracer_forget_functions(struct tracer *t)
{
	idhash_clear(&t->by_address);
	t->num_functions = 0;
}
