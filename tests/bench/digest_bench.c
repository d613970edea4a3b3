/* SPDX-License-Identifier: BSD-3-Clause
 * What watching a job over many nodes costs beside the looks themselves: the digests of nodes of 64
 * ranks are encoded, united up a tree, decoded and judged, four times a second. In simulated jobs
 * of so many ranks, all of which move. usage: digest_bench RANKS... */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/hang/pace.h"
#include "attach/node/watch_digest.h"
#include "model/buffer.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

enum { NODE = 64, ROUNDS = 40, PER_SECOND = 4 };

struct cost {
	double merge_s, judge_s; /* of all rounds: at the root of the tree, and in pdb */
	size_t bytes;            /* that come to pdb in one */
};

static double cpu_s(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

/* What the nodes of these ranks say together; the buffer's bytes are the caller's. */
static struct buffer look_at(int first, int num, unsigned round)
{
	struct buffer bytes = {.bytes = NULL};
	struct watch_digest digest;

	watch_digest_init(&digest);
	for (int rank = first; rank < first + num; rank++) {
		bool is_outside = rank % 3 == 0;

		rankset_add(is_outside ? digest.outside : digest.inside, rank);
		watch_digest_add_rank(&digest, &(struct watch_rank){
						       .rank = (uint32_t)rank,
						       .flags = is_outside ? WATCH_RANK_OUTSIDE : 0,
						       .place = (uint64_t)(rank % 7 + 1),
						       .moves = round * 100,
						       .stay_ns = 1000,
						       .longest_ns = 50000000,
						       .num_stays = round,
					       });
	}
	digest.numbers.num_ranks = digest.numbers.num_recorded = (uint32_t)num;
	watch_digest_encode(&digest, &bytes);
	watch_digest_deinit(&digest);
	return bytes;
}

/* As the root of a binomial tree does: its own node, then trees of 1, 2, 4, ... nodes. */
static struct buffer merge(int num_ranks, unsigned round, struct cost *cost)
{
	struct buffer sum = look_at(0, NODE, round);

	for (int first = NODE; first < num_ranks; first *= 2) {
		int num = 2 * first <= num_ranks ? first : num_ranks - first;
		struct buffer part = look_at(first, num, round);
		double began_s = cpu_s();

		if (watch_digest_merge(&sum, part.bytes, part.num, num_ranks) < 0)
			exit(1);
		cost->merge_s += cpu_s() - began_s;
		free(part.bytes);
	}
	return sum;
}

static void judge(const struct buffer *bytes, int num_ranks, uint64_t now_ns, struct pace *pace,
		  struct pace_look *looks)
{
	struct pace_report report;
	struct watch_digest digest;

	watch_digest_init(&digest);
	if (watch_digest_decode(bytes->bytes, bytes->num, num_ranks, &digest, NULL) < 0)
		exit(1);
	for (size_t i = 0; i < digest.num_ranks; i++) {
		const struct watch_rank *rank = &digest.ranks[i];

		looks[rank->rank] = (struct pace_look){
			.look = rank->flags & WATCH_RANK_OUTSIDE ? HANG_OUTSIDE : HANG_INSIDE,
			.place = rank->place,
			.moves = rank->moves,
			.stay_ns = rank->stay_ns,
			.longest_ns = rank->longest_ns,
			.num_stays = rank->num_stays,
		};
	}
	pace_add(pace, now_ns, looks);
	pace_report(pace, &report);
	watch_digest_deinit(&digest);
}

static void measure(int num_ranks)
{
	struct pace_look *looks = xcalloc((size_t)num_ranks, sizeof(*looks));
	const struct pace_settings settings = {
		.num_ranks = num_ranks, .alpha = 0.001, .proof_ns = UINT64_C(600000000000)};
	struct cost cost = {0};
	struct pace *pace;

	pace = pace_create(&settings, 0, NULL);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct buffer bytes = merge(num_ranks, round, &cost);
		double began_s = cpu_s();

		judge(&bytes, num_ranks, round * (UINT64_C(1000000000) / PER_SECOND), pace, looks);
		cost.judge_s += cpu_s() - began_s;
		cost.bytes = bytes.num;
		free(bytes.bytes);
	}
	printf("watching %7d ranks, %d times a second: %6.2f MB/s to pdb, %.2f %% of a core there, "
	       "%.2f %% at the root of the tree\n",
	       num_ranks, PER_SECOND, PER_SECOND * (double)cost.bytes / 1e6,
	       100 * PER_SECOND * cost.judge_s / ROUNDS, 100 * PER_SECOND * cost.merge_s / ROUNDS);
	pace_destroy(pace);
	free(looks);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int num_ranks = atoi(argv[i]);

		if (num_ranks < NODE) {
			fprintf(stderr, "digest_bench: a number of ranks, %d or more\n", NODE);
			return 2;
		}
		measure(num_ranks);
	}
	return 0;
}
