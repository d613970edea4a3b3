/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <roaring/roaring.h>

#include "model/job/rankset.h"

struct rankset {
	roaring_bitmap_t *bits;
};

static struct rankset *wrap(roaring_bitmap_t *bits)
{
	struct rankset *set = xmalloc(sizeof(*set));

	set->bits = bits ?: roaring_bitmap_create();
	if (!set->bits) {
		fputs("pdb: out of memory\n", stderr);
		exit(2);
	}
	return set;
}

struct rankset *rankset_create(void)
{
	return wrap(NULL);
}

void rankset_destroy(struct rankset *set)
{
	if (!set)
		return;
	roaring_bitmap_free(set->bits);
	free(set);
}

struct rankset *rankset_copy(const struct rankset *set)
{
	return wrap(roaring_bitmap_copy(set->bits));
}

void rankset_add(struct rankset *set, int rank)
{
	roaring_bitmap_add(set->bits, (uint32_t)rank);
}

void rankset_add_range(struct rankset *set, int first, int last)
{
	if (first <= last)
		roaring_bitmap_add_range_closed(set->bits, (uint32_t)first, (uint32_t)last);
}

void rankset_remove(struct rankset *set, int rank)
{
	roaring_bitmap_remove(set->bits, (uint32_t)rank);
}

void rankset_add_set(struct rankset *set, const struct rankset *other)
{
	if (set != other)
		roaring_bitmap_or_inplace(set->bits, other->bits);
}

void rankset_keep_set(struct rankset *set, const struct rankset *other)
{
	if (set != other)
		roaring_bitmap_and_inplace(set->bits, other->bits);
}

void rankset_remove_set(struct rankset *set, const struct rankset *other)
{
	if (set != other)
		roaring_bitmap_andnot_inplace(set->bits, other->bits);
	else
		roaring_bitmap_clear(set->bits);
}

bool rankset_contains(const struct rankset *set, int rank)
{
	return rank >= 0 && roaring_bitmap_contains(set->bits, (uint32_t)rank);
}

bool rankset_equal(const struct rankset *a, const struct rankset *b)
{
	return roaring_bitmap_equals(a->bits, b->bits);
}

bool rankset_meets(const struct rankset *a, const struct rankset *b)
{
	return roaring_bitmap_intersect(a->bits, b->bits);
}

bool rankset_is_empty(const struct rankset *set)
{
	return roaring_bitmap_is_empty(set->bits);
}

int rankset_count(const struct rankset *set)
{
	return (int)roaring_bitmap_get_cardinality(set->bits);
}

int rankset_first(const struct rankset *set)
{
	return rankset_is_empty(set) ? -1 : (int)roaring_bitmap_minimum(set->bits);
}

/* By rank and select, since CRoaring's iterators have other names in each major version. */
int rankset_next(const struct rankset *set, int after)
{
	uint32_t next;

	if (after < 0)
		return rankset_first(set);
	if (after == INT_MAX)
		return -1;
	if (roaring_bitmap_contains(set->bits, (uint32_t)after + 1))
		return after + 1;
	if (!roaring_bitmap_select(
		    set->bits, (uint32_t)roaring_bitmap_rank(set->bits, (uint32_t)after), &next))
		return -1;
	return (int)next;
}

/* The last rank of the unbroken range that begins at `first`. */
static int range_end(const struct rankset *set, int first)
{
	uint64_t below = roaring_bitmap_rank(set->bits, (uint32_t)first);
	int64_t good = first, bad = (int64_t)roaring_bitmap_maximum(set->bits) + 1;

	if (!rankset_contains(set, first + 1))
		return first;
	/* [first, x] is unbroken just when it holds x - first + 1 ranks. */
	while (good + 1 < bad) {
		int64_t middle = good + (bad - good) / 2;
		uint64_t held = roaring_bitmap_rank(set->bits, (uint32_t)middle) - below + 1;

		if (held == (uint64_t)(middle - first + 1))
			good = middle;
		else
			bad = middle;
	}
	return (int)good;
}

/* One decimal number at *text, moved past it; -1: none or above INT_MAX - 1. */
static int parse_number(const char **text)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -1;
	errno = 0;
	unsigned long value = strtoul(*text, &end, 10);
	*text = end;
	return errno || value >= INT_MAX ? -1 : (int)value;
}

/* One word of the text, "N", "N-M" or "N-M:S", into the set. */
static int decode_word(struct rankset *set, const char *word, int size, struct pdb_error *err)
{
	const char *at = word;
	int first = parse_number(&at), last = first, stride = 1;

	if (first >= 0 && *at == '-') {
		at++;
		last = parse_number(&at);
		if (last >= 0 && *at == ':') {
			at++;
			stride = parse_number(&at);
		}
	}
	if (first < 0 || last < 0 || stride < 1 || *at != '\0')
		return error_set(err, ERROR_USAGE,
				 "\"%s\" is not a set of ranks (such as 0,3-5 or 0-63:8)", word);
	if (last < first)
		return error_set(err, ERROR_USAGE, "the range \"%s\" runs backwards", word);
	if (size >= 0 && last >= size)
		return error_set(err, ERROR_USAGE, "there is no rank %d: the job has %d rank%s",
				 last, size, size == 1 ? "" : "s");
	if (stride == 1) {
		rankset_add_range(set, first, last);
	} else {
		struct rankset *steps = wrap(roaring_bitmap_from_range(
			(uint64_t)first, (uint64_t)last + 1, (uint32_t)stride));

		rankset_add_set(set, steps);
		rankset_destroy(steps);
	}
	return 0;
}

int rankset_decode(const char *text, int size, struct rankset **set_ret, struct pdb_error *err)
{
	struct rankset *set = rankset_create();
	char *copy = xstrdup(text), *rest = copy, *word;
	int status = 0;

	if (!*text)
		status = error_set(err, ERROR_USAGE, "an empty set of ranks");
	while (status == 0 && *text && (word = strsep(&rest, ",")))
		status = decode_word(set, word, size, err);
	free(copy);
	if (status < 0) {
		rankset_destroy(set);
		return -1;
	}
	*set_ret = set;
	return 0;
}

char *rankset_encode(const struct rankset *set, int max_ranges)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int written = 0;

	if (!out)
		return xstrdup("");
	for (int first = rankset_first(set); first >= 0;) {
		int last = range_end(set, first);

		if (max_ranges > 0 && written == max_ranges) {
			fputs(",...", out);
			break;
		}
		fprintf(out, written++ ? ",%d" : "%d", first);
		if (last > first)
			fprintf(out, "-%d", last);
		first = rankset_next(set, last);
	}
	fclose(out);
	return text;
}

size_t rankset_serialize(const struct rankset *set, uint8_t **bytes)
{
	struct rankset *packed = rankset_copy(set);

	roaring_bitmap_run_optimize(packed->bits);
	size_t length = roaring_bitmap_portable_size_in_bytes(packed->bits);
	*bytes = xmalloc(length);
	roaring_bitmap_portable_serialize(packed->bits, (char *)*bytes);
	rankset_destroy(packed);
	return length;
}

/* A set under construction from untrusted values: ascending, below size, gathered as ranges. */
struct rebuild {
	struct rankset *set;
	int64_t first, last; /* the open range; last < first: none */
	int64_t size;
};

static bool rebuild_add(uint32_t value, void *cookie)
{
	struct rebuild *re = cookie;

	if ((int64_t)value >= re->size || (int64_t)value <= re->last)
		return false;
	if ((int64_t)value != re->last + 1 || re->last < 0) {
		if (re->last >= 0)
			rankset_add_range(re->set, (int)re->first, (int)re->last);
		re->first = value;
	}
	re->last = value;
	return true;
}

/* CRoaring checks that it stays inside the bytes, but before version 2 not that containers are
 * sorted and hold what they claim. So what it read is only iterated, and the set built anew. */
struct rankset *rankset_deserialize(const uint8_t *bytes, size_t length, int size,
				    struct pdb_error *err)
{
	struct rebuild re = {.set = rankset_create(), .first = 0, .last = -1, .size = size};
	roaring_bitmap_t *raw = NULL;

	if (roaring_bitmap_portable_deserialize_size((const char *)bytes, length) == length &&
	    length)
		raw = roaring_bitmap_portable_deserialize_safe((const char *)bytes, length);
	bool good = raw && roaring_iterate(raw, rebuild_add, &re);
	if (raw)
		roaring_bitmap_free(raw);
	if (!good) {
		rankset_destroy(re.set);
		error_set(err, ERROR_FORMAT, "not a valid set of ranks below %d", size);
		return NULL;
	}
	if (re.last >= 0)
		rankset_add_range(re.set, (int)re.first, (int)re.last);
	return re.set;
}
