/* SPDX-License-Identifier: BSD-3-Clause
 * Elements are aligned in four passes, each in the gaps that the one before has left:
 *  1. the same symbol or the same loop, whatever the counts;
 *  2. loops of the same shape: only counts differ, at any depth;
 *  3. loops over the same set of events, in another order or nested in another way;
 *  4. loops that have at least a third of their events in common, where the gap is small.
 * 1 to 3 are longest common subsequences of keys.
 *
 * Where one side leaves a loop in the middle, as a rank that hangs does, the iteration in which it
 * does is aligned with the other side's next one. */
#include <math.h>

#include "analysis/traces/trace_diff.h"
#include "analysis/traces/lcs.h"
#include "model/arena.h"
#include "model/job/pair_map.h"
#include "model/sorted.h"
#include "model/xalloc.h"

enum { SMALL_GAP = 64, MOST_WORDS = 64, MOST_UNROLLED = 256 };

enum pass { PASS_SYMBOL, PASS_SHAPE, PASS_EVENTS, PASS_SIMILAR };

/* The two sides of a comparison of bodies. */
struct sides {
	const struct trace_element *left, *right;
	uint32_t *partner; /* [of the left] the element of the right, or TRACE_NONE */
};

struct comparing {
	struct arena *arena;
	const struct trace_set *set;
	struct trace_diff *diff;
	uint64_t *shapes; /* [num_bodies] */
	/* The symbols of the set in order; and of each body a bit for each that is in it. With more
	 * than 64 * MOST_WORDS symbols some share a bit. */
	uint32_t *symbols;
	size_t num_symbols, num_words;
	uint64_t *masks;       /* [num_bodies * num_words] */
	struct pair_map *rows; /* of the first comparison of two loops */
	size_t num_unrolled;   /* loops of which an iteration was compared with what is no loop */
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	/* Small numbers in another order, or one for another, are not to be the same. */
	hash = hash * 0x9e3779b97f4a7c15u + value;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
	return hash ^ hash >> 32;
}

static void collect_symbols(struct comparing *c)
{
	size_t num = 0, capacity = 0, num_row;

	for (uint32_t body = 0; body < c->set->num_bodies; body++) {
		const struct trace_element *row = trace_set_row(c->set, body, &num_row);

		for (size_t i = 0; i < num_row; i++) {
			if (TRACE_IS_LOOP(row[i].symbol))
				continue;
			*ARENA_PUSH(c->arena, c->symbols, num, capacity) = row[i].symbol;
		}
	}
	c->num_symbols =
		sorted_make_unique(c->symbols, num, sizeof(*c->symbols), sorted_compare_u32);
	c->num_words = c->num_symbols / 64 + 1;
	if (c->num_words > MOST_WORDS)
		c->num_words = MOST_WORDS;
}

static uint64_t *mask_of(const struct comparing *c, uint32_t loop)
{
	return &c->masks[TRACE_BODY(loop) * c->num_words];
}

static uint64_t shape_of(const struct comparing *c, uint32_t symbol)
{
	return TRACE_IS_LOOP(symbol) ? c->shapes[TRACE_BODY(symbol)] : mix(2, symbol);
}

static void add_to_mask(const struct comparing *c, uint64_t *mask, uint32_t symbol)
{
	const uint32_t *found;
	size_t bit;

	if (TRACE_IS_LOOP(symbol)) {
		for (size_t w = 0; w < c->num_words; w++)
			mask[w] |= mask_of(c, symbol)[w];
		return;
	}
	found = bsearch(&symbol, c->symbols, c->num_symbols, sizeof(symbol), sorted_compare_u32);
	bit = (size_t)(found - c->symbols) % (64 * c->num_words);
	mask[bit / 64] |= (uint64_t)1 << bit % 64;
}

static void describe_bodies(struct comparing *c)
{
	collect_symbols(c);
	c->shapes = arena_array(c->arena, c->set->num_bodies, sizeof(*c->shapes));
	c->masks = arena_array(c->arena, c->set->num_bodies, c->num_words * sizeof(*c->masks));
	for (uint32_t body = 0; body < c->set->num_bodies; body++) {
		size_t num;
		const struct trace_element *row = trace_set_row(c->set, body, &num);

		c->shapes[body] = 3;
		for (size_t i = 0; i < num; i++) {
			c->shapes[body] = mix(c->shapes[body], shape_of(c, row[i].symbol));
			add_to_mask(c, mask_of(c, body), row[i].symbol);
		}
	}
}

/* Of two loops: Jaccard similarity of their events, from 0 to 1. */
static double similarity(const struct comparing *c, uint32_t left, uint32_t right)
{
	const uint64_t *a, *b;
	int both = 0, any = 0;

	if (!TRACE_IS_LOOP(left) || !TRACE_IS_LOOP(right))
		return 0;
	a = mask_of(c, left);
	b = mask_of(c, right);
	for (size_t w = 0; w < c->num_words; w++) {
		both += __builtin_popcountll(a[w] & b[w]);
		any += __builtin_popcountll(a[w] | b[w]);
	}
	return (double)both / any;
}

static uint64_t key_of(const struct comparing *c, enum pass pass, uint32_t symbol)
{
	uint64_t key = 4;

	if (pass == PASS_SYMBOL)
		return symbol;
	if (pass == PASS_SHAPE || !TRACE_IS_LOOP(symbol))
		return shape_of(c, symbol);
	for (size_t w = 0; w < c->num_words; w++)
		key = mix(key, mask_of(c, symbol)[w]);
	return key;
}

/* Part of both sides that has no partners yet. */
struct gap {
	size_t left, num_left, right, num_right;
};

static void align(const struct comparing *c, struct sides *s, struct gap gap, enum pass pass);

/* The best pairs of loops: dynamic programming over the sum of their similarities. */
static void align_similar(const struct comparing *c, struct sides *s, const struct gap *gap)
{
	static const double least = 0.33;
	double(*best)[SMALL_GAP + 1]; /* too large for small stacks */
	size_t i = 0, j = 0;

	if (gap->num_left > SMALL_GAP || gap->num_right > SMALL_GAP)
		return;
	best = xcalloc(SMALL_GAP + 1, sizeof(*best));
	for (size_t l = gap->num_left; l-- > 0;) {
		for (size_t r = gap->num_right; r-- > 0;) {
			double pair = similarity(c, s->left[gap->left + l].symbol,
						 s->right[gap->right + r].symbol);

			pair = pair >= least ? pair + best[l + 1][r + 1] : 0;
			best[l][r] = fmax(pair, fmax(best[l + 1][r], best[l][r + 1]));
		}
	}
	while (i < gap->num_left && j < gap->num_right) {
		if (best[i][j] == best[i + 1][j]) {
			i++;
		} else if (best[i][j] == best[i][j + 1]) {
			j++;
		} else {
			s->partner[gap->left + i] = (uint32_t)(gap->right + j);
			i++;
			j++;
		}
	}
	free(best);
}

static bool has_loops(const struct trace_element *row, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (TRACE_IS_LOOP(row[i].symbol))
			return true;
	return false;
}

static void align_keys(const struct comparing *c, struct sides *s, const struct gap *gap,
		       enum pass pass)
{
	size_t least = gap->num_left < gap->num_right ? gap->num_left : gap->num_right;
	uint64_t *left = arena_array(c->arena, gap->num_left, sizeof(*left));
	uint64_t *right = arena_array(c->arena, gap->num_right, sizeof(*right));
	struct lcs_match *matches = arena_array(c->arena, least, sizeof(*matches));
	struct gap next = *gap;
	size_t num;

	for (size_t i = 0; i < gap->num_left; i++)
		left[i] = key_of(c, pass, s->left[gap->left + i].symbol);
	for (size_t i = 0; i < gap->num_right; i++)
		right[i] = key_of(c, pass, s->right[gap->right + i].symbol);
	num = lcs_find(left, gap->num_left, right, gap->num_right, matches);
	for (size_t m = 0; m < num; m++) {
		size_t l = gap->left + matches[m].a, r = gap->right + matches[m].b;

		s->partner[l] = (uint32_t)r;
		next.num_left = l - next.left;
		next.num_right = r - next.right;
		align(c, s, next, pass + 1);
		next.left = l + 1;
		next.right = r + 1;
	}
	next.num_left = gap->left + gap->num_left - next.left;
	next.num_right = gap->right + gap->num_right - next.right;
	align(c, s, next, pass + 1);
}

static void align(const struct comparing *c, struct sides *s, struct gap gap, enum pass pass)
{
	if (gap.num_left == 0 || gap.num_right == 0)
		return;
	/* After the first pass only loops can be partners. */
	if (pass > PASS_SYMBOL && (!has_loops(s->left + gap.left, gap.num_left) ||
				   !has_loops(s->right + gap.right, gap.num_right)))
		return;
	if (pass == PASS_SIMILAR)
		align_similar(c, s, &gap);
	else
		align_keys(c, s, &gap, pass);
}

static void add_row(struct comparing *c, enum trace_diff_kind kind, unsigned int depth,
		    const struct trace_element *left, const struct trace_element *right)
{
	static const struct trace_element nothing = {TRACE_NONE, 0};
	struct trace_diff *diff = c->diff;

	*ARENA_PUSH(c->arena, diff->rows, diff->num, diff->capacity) = (struct trace_diff_row){
		.kind = kind,
		.depth = depth,
		.left = left ? *left : nothing,
		.right = right ? *right : nothing,
	};
	if (depth > 0)
		return;
	if (left)
		diff->events_left[kind] += left->count * trace_set_length(c->set, left->symbol);
	if (right)
		diff->events_right[kind] += right->count * trace_set_length(c->set, right->symbol);
}

static void compare_rows(struct comparing *c, const struct trace_element *left, size_t num_left,
			 const struct trace_element *right, size_t num_right, unsigned int depth);

static void compare(struct comparing *c, uint32_t left, uint32_t right, unsigned int depth)
{
	size_t num_left, num_right;
	const struct trace_element *a = trace_set_row(c->set, left, &num_left);
	const struct trace_element *b = trace_set_row(c->set, right, &num_right);

	compare_rows(c, a, num_left, b, num_right, depth);
}

static void compare_loops(struct comparing *c, const struct trace_element *left,
			  const struct trace_element *right, unsigned int depth)
{
	struct trace_diff *diff = c->diff;
	uint64_t key = pair_key(left->symbol, right->symbol);
	uint32_t row = (uint32_t)diff->num, former = pair_map_get(c->rows, key);

	add_row(c, TRACE_DIFF_BODY, depth, left, right);
	if (former != PAIR_NONE) {
		diff->rows[row].inside = diff->rows[former].inside;
		diff->rows[row].num_inside = diff->rows[former].num_inside;
		return;
	}
	pair_map_add(c->rows, key, row);
	compare(c, left->symbol, right->symbol, depth + 1);
	diff->rows[row].inside = row + 1;
	diff->rows[row].num_inside = diff->num - row - 1;
}

/* Does a body have this element's symbol? */
static bool has_symbol(const struct comparing *c, uint32_t loop, uint32_t symbol)
{
	size_t num;
	const struct trace_element *row = trace_set_row(c->set, loop, &num);

	for (size_t i = 0; i < num; i++)
		if (row[i].symbol == symbol)
			return true;
	return false;
}

/* What the side that stays in a loop does next: an iteration, what is left of them, and `after`. */
static struct trace_element *unroll(const struct comparing *c, const struct trace_element *loop,
				    uint32_t done, const struct trace_element *after,
				    size_t num_after, size_t *num_ret)
{
	size_t num;
	const struct trace_element *row = trace_set_row(c->set, loop->symbol, &num);
	struct trace_element *result = arena_array(c->arena, num + 1 + num_after, sizeof(*result));

	memcpy(result, row, num * sizeof(*row));
	if (loop->count > done + 1)
		result[num++] = (struct trace_element){loop->symbol, loop->count - done - 1};
	if (num_after > 0)
		memcpy(&result[num], after, num_after * sizeof(*after));
	*num_ret = num + num_after;
	return result;
}

/* A loop that one side leaves in the middle: the iteration in which it does is compared with the
 * next one of the other. l and r: where the loop is; what follows it up to left_end and right_end
 * has no partners. Returns false, with nothing done, where that is not so. */
static bool compare_left_loop(struct comparing *c, const struct sides *s, size_t l, size_t left_end,
			      size_t r, size_t right_end, unsigned int depth)
{
	struct trace_element a = s->left[l], b = s->right[r], both = a;
	bool stays_left = a.count > b.count;
	const struct trace_element *next = stays_left ? &s->right[r + 1] : &s->left[l + 1];
	struct trace_element *more;
	size_t num;

	if (!TRACE_IS_LOOP(a.symbol) || a.count == b.count || c->num_unrolled >= MOST_UNROLLED ||
	    (stays_left ? right_end == r + 1 : left_end == l + 1) ||
	    !has_symbol(c, a.symbol, next->symbol))
		return false;
	c->num_unrolled++;
	both.count = stays_left ? b.count : a.count;
	add_row(c, TRACE_DIFF_SAME, depth, &both, &both);
	if (stays_left) {
		more = unroll(c, &a, both.count, &s->left[l + 1], left_end - l - 1, &num);
		compare_rows(c, more, num, &s->right[r + 1], right_end - r - 1, depth);
	} else {
		more = unroll(c, &b, both.count, &s->right[r + 1], right_end - r - 1, &num);
		compare_rows(c, &s->left[l + 1], left_end - l - 1, more, num, depth);
	}
	return true;
}

static void compare_pair(struct comparing *c, const struct trace_element *a,
			 const struct trace_element *b, unsigned int depth)
{
	if (a->symbol != b->symbol)
		compare_loops(c, a, b, depth);
	else
		add_row(c, a->count == b->count ? TRACE_DIFF_SAME : TRACE_DIFF_COUNT, depth, a, b);
}

static void compare_rows(struct comparing *c, const struct trace_element *left, size_t num_left,
			 const struct trace_element *right, size_t num_right, unsigned int depth)
{
	struct sides s = {left, right, arena_array(c->arena, num_left, sizeof(*s.partner))};
	size_t l = 0, r = 0;

	memset(s.partner, 0xff, num_left * sizeof(*s.partner));
	align(c, &s, (struct gap){0, num_left, 0, num_right}, PASS_SYMBOL);
	/* What only the left has, then what only the right has, then what both have. */
	while (l < num_left || r < num_right) {
		size_t left_end, right_end;

		for (; l < num_left && s.partner[l] == TRACE_NONE; l++)
			add_row(c, TRACE_DIFF_LEFT, depth, &left[l], NULL);
		for (; r < (l < num_left ? s.partner[l] : num_right); r++)
			add_row(c, TRACE_DIFF_RIGHT, depth, NULL, &right[r]);
		if (l == num_left)
			break;
		for (left_end = l + 1; left_end < num_left && s.partner[left_end] == TRACE_NONE;)
			left_end++;
		right_end = left_end < num_left ? s.partner[left_end] : num_right;
		if (left[l].symbol == right[r].symbol &&
		    compare_left_loop(c, &s, l, left_end, r, right_end, depth)) {
			l = left_end;
			r = right_end;
		} else {
			compare_pair(c, &left[l++], &right[r++], depth);
		}
	}
}

struct trace_diff *trace_diff_create(struct arena *arena, const struct trace_set *set,
				     uint32_t left, uint32_t right)
{
	struct comparing c = {
		.arena = arena, .set = set, .diff = arena_alloc(arena, sizeof(*c.diff))};

	c.rows = pair_map_in(arena);
	describe_bodies(&c);
	compare(&c, left, right, 0);
	return c.diff;
}
