/* SPDX-License-Identifier: BSD-3-Clause
 * A trace while it is written: the one format shared by its writer, in a rank, and its readers.
 *
 * A trace is what one thread did. Each event is a *symbol* below TRACE_LOOP (a site, a function).
 * Nested loop recognition compresses it: a repetition is stored once, with a count. It lies in an
 * arena of fixed size:
 *
 *	+--------------------+ 0
 *	| struct trace_head  |
 *	+--------------------+ tables[TRACE_SEQUENCE].offset
 *	| sequence           | struct trace_element: what was, in order
 *	| bodies             | struct trace_body: of loops, the inner ones first
 *	| elements           | struct trace_element: of the bodies, one after the other
 *	+--------------------+ size
 *
 * For example "a b b c b b c b b c b" is
 *
 *	sequence   a^1            and the loop of body 0 is open
 *	bodies     0: b^2 c^1
 *	events     11: 1 in the sequence and 10 = 3 * 3 + 1 in the open loop, three whole iterations
 *	           and the first event of a fourth
 *
 * Rules:
 *  - Fixed-width fields in the writer's byte order; indexes, never pointers.
 *  - Bodies and their elements are append-only: filled in first, then counted with release.
 *  - The sequence grows, and gets shorter when a loop is found at its end, but not below `stable`.
 *    Each time `folds` is another number, stored before anything is overwritten.
 *  - The sequence's end and the open element are under the sequence lock `seq`, as in struct
 *    seg_current. `events` alone grows outside of it, as long as the open loop goes on.
 *
 * So a reader, trace_copy(), takes the head under its lock, the sequence, and looks whether `folds`
 * is the same; if not, it need not copy what is below `stable` again. Then bodies and elements. */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define TRACE_MAGIC "PDBTRC\r\n" /* 8 bytes, no terminating zero */
#define TRACE_VERSION 1

enum trace_limits {
	TRACE_MAX_BODY = 1024,  /* elements of a loop's body */
	TRACE_MAX_DEPTH = 64,   /* loops in loops */
	TRACE_WINDOW = 4096,    /* elements at the end of the sequence that may become a loop */
	TRACE_ARENA_MIN = 8192, /* bytes */
};

/* A symbol with this bit is the loop whose body has the number that remains. */
#define TRACE_LOOP 0x80000000u
#define TRACE_NONE UINT32_MAX
#define TRACE_IS_LOOP(symbol) (((symbol)&TRACE_LOOP) != 0)
#define TRACE_BODY(symbol) ((symbol) & ~TRACE_LOOP)

/* `symbol`, or the body of a loop, so many times in a row. */
struct trace_element {
	uint32_t symbol;
	uint32_t count; /* at least 1; of a loop at least 2 */
};
static_assert(sizeof(struct trace_element) == 8, "layout");

/* At least two elements. Loops among them are of bodies with lower numbers. */
struct trace_body {
	uint32_t first; /* index into elements */
	uint32_t num;
	uint64_t length; /* events of one iteration */
};
static_assert(sizeof(struct trace_body) == 16, "layout");

enum trace_table_id { TRACE_SEQUENCE, TRACE_BODIES, TRACE_ELEMENTS, TRACE_NUM_TABLES };

struct trace_table {
	uint64_t offset;   /* bytes from the start of the arena */
	uint32_t capacity; /* entries */
	_Atomic uint32_t count;
};
static_assert(sizeof(struct trace_table) == 16, "layout");

enum trace_end {
	TRACE_GOES_ON = 0,
	TRACE_IS_FULL = 1,  /* no room for more: `lost` events are not in it */
	TRACE_IS_BROKEN = 2 /* its writer was interrupted and entered again: not to be believed */
};

struct trace_head {
	char magic[8];
	uint32_t version;
	uint32_t max_body; /* elements of a body, as set */
	uint64_t size;     /* of the arena */
	struct trace_table tables[TRACE_NUM_TABLES];
	uint8_t reserved[56]; /* what is written all the time has a cache line of its own */

	_Atomic uint64_t events; /* in the trace */
	_Atomic uint64_t lost;   /* that came after it was full */
	_Atomic uint32_t seq;    /* sequence lock of the next three, and of the sequence's count */
	_Atomic uint32_t open;   /* symbol at the end that may go on, or TRACE_NONE */
	_Atomic uint64_t closed_events; /* of the sequence, that is without the open symbol's */
	_Atomic uint32_t stable;        /* elements of the sequence that will not change */
	_Atomic uint32_t folds;         /* times that the sequence got shorter */
	_Atomic uint32_t end;           /* enum trace_end */
	uint32_t reserved2[5];
};
static_assert(sizeof(struct trace_head) == 192, "layout");
