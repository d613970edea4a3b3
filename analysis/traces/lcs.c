/* SPDX-License-Identifier: BSD-3-Clause
 * Words: L(i, j) is the length for the first i keys of a and the first j of b. Bit j of row i is 0
 * where L(i, j + 1) is L(i, j) + 1, else 1. */
#include "analysis/traces/lcs.h"
#include "model/sorted.h"
#include "model/xalloc.h"

enum { MATRIX_WORDS = 1 << 24 }; /* 128 MiB */

struct key {
	uint64_t key;
	uint32_t at;
};

struct side {
	const uint64_t *keys;
	size_t begin, num;
};

struct search {
	struct lcs_match *matches;
	size_t num;
};

SORTED_BY(compare_keys, struct key, key, at)

/* b's keys and where they are; backwards, from its end. */
static struct key *sort_keys(const struct side *b, int backwards)
{
	struct key *sorted = xcalloc(b->num + 1, sizeof(*sorted));

	for (size_t j = 0; j < b->num; j++)
		sorted[j] = (struct key){b->keys[b->begin + j],
					 (uint32_t)(backwards ? b->num - 1 - j : j)};
	qsort(sorted, b->num, sizeof(*sorted), compare_keys);
	return sorted;
}

/* The row of one more key of a, from the row before it. `same` is for its use. */
static void next_row(const struct key *sorted, size_t num, uint64_t key, const uint64_t *row,
		     uint64_t *next, uint64_t *same)
{
	const struct key wanted = {.key = key};
	size_t first = sorted_first(&wanted, sorted, num, sizeof(*sorted), compare_keys);
	size_t words = num / 64 + 1;
	uint64_t carry = 0;

	memset(same, 0, words * sizeof(*same));
	for (size_t i = first; i < num && sorted[i].key == key; i++)
		same[sorted[i].at / 64] |= (uint64_t)1 << sorted[i].at % 64;
	for (size_t w = 0; w < words; w++) {
		uint64_t sum, v = row[w];
		uint64_t overflow = __builtin_add_overflow(v, v & same[w], &sum);

		overflow |= __builtin_add_overflow(sum, carry, &sum);
		carry = overflow;
		next[w] = sum | (v & ~same[w]);
	}
}

static void find_small(struct search *search, const struct side *a, const struct side *b)
{
	size_t words = b->num / 64 + 1, i = a->num, j = b->num, num = 0, end;
	uint64_t *rows SCOPED(free) = xcalloc((a->num + 1) * words, sizeof(*rows));
	uint64_t *same SCOPED(free) = xcalloc(words, sizeof(*same));
	struct key *sorted SCOPED(free) = sort_keys(b, 0);

	memset(rows, 0xff, words * sizeof(*rows));
	for (size_t r = 0; r < a->num; r++)
		next_row(sorted, b->num, a->keys[a->begin + r], &rows[r * words],
			 &rows[(r + 1) * words], same);
	/* All 1 in row 0: the length there is 0. */
	for (size_t w = 0; w < words; w++)
		num += (size_t)__builtin_popcountll(~rows[a->num * words + w]);
	end = search->num += num;
	while (i > 0 && j > 0) {
		if (rows[i * words + (j - 1) / 64] >> (j - 1) % 64 & 1) {
			j--;
		} else if (!(rows[(i - 1) * words + (j - 1) / 64] >> (j - 1) % 64 & 1)) {
			i--;
		} else {
			i--;
			j--;
			search->matches[--end] = (struct lcs_match){(uint32_t)(a->begin + i),
								    (uint32_t)(b->begin + j)};
		}
	}
}

/* lengths[j], j to b->num: L(a->num, j), of both from their ends when backwards. */
static void find_lengths(const struct side *a, const struct side *b, int backwards,
			 uint32_t *lengths)
{
	size_t words = b->num / 64 + 1;
	uint64_t *row SCOPED(free) = xcalloc(words, sizeof(*row));
	uint64_t *same SCOPED(free) = xcalloc(words, sizeof(*same));
	struct key *sorted SCOPED(free) = sort_keys(b, backwards);

	memset(row, 0xff, words * sizeof(*row));
	for (size_t i = 0; i < a->num; i++)
		next_row(sorted, b->num, a->keys[a->begin + (backwards ? a->num - 1 - i : i)], row,
			 row, same);
	lengths[0] = 0;
	for (size_t j = 0; j < b->num; j++)
		lengths[j + 1] = lengths[j] + !(row[j / 64] >> j % 64 & 1);
}

static void find(struct search *search, struct side a, struct side b)
{
	uint32_t *first, *second;
	struct side a2, b2;
	size_t best = 0;

	if (a.num == 0 || b.num == 0)
		return;
	if (a.num == 1 || (a.num + 1) * (b.num / 64 + 1) <= MATRIX_WORDS) {
		find_small(search, &a, &b);
		return;
	}
	a2 = (struct side){a.keys, a.begin + a.num / 2, a.num - a.num / 2};
	a.num /= 2;
	first = xcalloc(b.num + 1, sizeof(*first));
	second = xcalloc(b.num + 1, sizeof(*second));
	find_lengths(&a, &b, 0, first);
	find_lengths(&a2, &b, 1, second);
	for (size_t j = 1; j <= b.num; j++)
		if (first[j] + second[b.num - j] > first[best] + second[b.num - best])
			best = j;
	free(first);
	free(second);
	b2 = (struct side){b.keys, b.begin + best, b.num - best};
	b.num = best;
	find(search, a, b);
	find(search, a2, b2);
}

size_t lcs_find(const uint64_t *a, size_t num_a, const uint64_t *b, size_t num_b,
		struct lcs_match *matches)
{
	struct search search = {.matches = matches};
	size_t same = 0;

	for (; same < num_a && same < num_b && a[same] == b[same]; same++)
		matches[search.num++] = (struct lcs_match){(uint32_t)same, (uint32_t)same};
	num_a -= same;
	num_b -= same;
	a += same;
	b += same;
	find(&search, (struct side){a, 0, num_a}, (struct side){b, 0, num_b});
	for (size_t m = same; m < search.num; m++) {
		matches[m].a += (uint32_t)same;
		matches[m].b += (uint32_t)same;
	}
	return search.num;
}
