/* SPDX-License-Identifier: BSD-3-Clause
 * Members of a collective that all have entered, and two of whom do not fit together. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "tests/unit/small_answers.h"

#define MANY UINT32_MAX

enum { SIZE = 4 };

/* Rank 3 is through with the second collective of all, the others wait in it. */
static struct job *make_job(bool has_neighbours)
{
	static const char *const all[] = {"b b", "b b", "b b", "b x", NULL}, *const neighbours[] = {
										     "n n", "n n",
										     "n n", "n x",
										     NULL};
	struct job *job = run(has_neighbours ? neighbours : all, 5000);
	struct model_comm *comm = &model_of(job, 3)->comms[0];

	comm->collectives = 2;
	comm->recent[1] = comm->recent[0];
	comm->recent[0].number = 2;
	return job;
}

static void set_root(struct job *job, int32_t root)
{
	for (int rank = 0; rank < SIZE; rank++)
		model_of(job, rank)->comms[0].recent[0].root = root;
}

static void set_graph(struct job *job, int rank, const int32_t *sources, uint32_t num_sources,
		      const int32_t *destinations, uint32_t num_destinations)
{
	struct model *model = model_of(job, rank);
	struct model_comm *comm = &model->comms[0];
	size_t num = model->num_members;

	model->num_members = num + num_sources + num_destinations;
	model->members = xreallocarray(model->members, model->num_members, sizeof(*model->members));
	if (num_sources)
		memcpy(model->members + num, sources, num_sources * sizeof(*sources));
	if (num_destinations)
		memcpy(model->members + num + num_sources, destinations,
		       num_destinations * sizeof(*destinations));
	comm->sources = (uint32_t)num;
	comm->num_sources = num_sources;
	comm->destinations = (uint32_t)num + num_sources;
	comm->num_destinations = num_destinations;
}

/* Of that collective. */
static void add_note(struct job *job, int rank, enum seg_note_kind kind, uint32_t unit,
		     const uint32_t *entries, uint32_t num)
{
	struct model_lane *lane = &model_of(job, rank)->lanes[0];

	lane->notes = xreallocarray(lane->notes, lane->num_notes + 1, sizeof(*lane->notes));
	lane->note_entries = xreallocarray(lane->note_entries, lane->num_note_entries + num,
					   sizeof(*lane->note_entries));
	memcpy(lane->note_entries + lane->num_note_entries, entries, num * sizeof(*entries));
	lane->notes[lane->num_notes++] = (struct model_note){
		.number = 2,
		.kind = kind,
		.unit = unit,
		.first = (uint32_t)lane->num_note_entries,
		.num = num,
	};
	lane->num_note_entries += num;
}

/* "counts 3-1 0/16; | 1 | 3 |": what differs, the pairs, the parties */
static char *tell(struct job *job)
{
	static const char *const whats[] = {"function", "root",   "bytes",  "error",
					    "graph",    "counts", "leaders"};
	struct answers a = answers_of(job);
	char *text, *ranks;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (size_t m = 0; m < a.waitfor->num_mismatches; m++) {
		const struct waitfor_mismatch *mismatch = &a.waitfor->mismatches[m];

		fprintf(out, "%s", whats[mismatch->what]);
		for (size_t i = 0; i < mismatch->num_pairs; i++)
			fprintf(out, " %d-%d %d/%d;", mismatch->pairs[i].giver,
				mismatch->pairs[i].taker, (int)mismatch->pairs[i].given,
				(int)mismatch->pairs[i].taken);
		for (size_t i = 0; i < mismatch->num_parties; i++) {
			ranks = rankset_encode(mismatch->parties[i].ranks, 0);
			fprintf(out, " | %s", ranks);
			free(ranks);
		}
		assert_int_equal(mismatch->number, 2);
	}
	fclose(out);
	forget(&a);
	return text;
}

#define ASSERT_TOLD(job_, expected_)                                                               \
	do {                                                                                       \
		char *told = tell(job_);                                                           \
		assert_string_equal(told, expected_);                                              \
		free(told);                                                                        \
	} while (0)
#define NOTE(job_, rank_, kind_, unit_, ...)                                                       \
	add_note(job_, rank_, SEG_NOTE_##kind_, unit_, (const uint32_t[]){__VA_ARGS__},            \
		 sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void test_rooted(void **state)
{
	struct job *job = make_job(false);

	(void)state;
	set_root(job, 3);
	NOTE(job, 3, GIVES, 4, 4, 0, 4, 4);
	for (int rank = 0; rank < 3; rank++)
		NOTE(job, rank, TAKES_ROOT, 8, 2);
	ASSERT_TOLD(job, "counts 3-1 0/16; | 1 | 3");

	/* Of several it is the root. */
	job = make_job(false);
	set_root(job, 3);
	NOTE(job, 3, GIVES, 4, 0, 0, 4, 4);
	for (int rank = 0; rank < 3; rank++)
		NOTE(job, rank, TAKES_ROOT, 4, 4);
	ASSERT_TOLD(job, "counts 3-0 0/16; 3-1 0/16; | 3 | 0-1");

	/* Something for who wants more, and nothing for another: this is what hangs. */
	job = make_job(false);
	set_root(job, 0);
	NOTE(job, 0, TAKES, 1, 7, 8, 8, 8);
	NOTE(job, 1, GIVES_ROOT, 4, 0);
	NOTE(job, 2, GIVES_ROOT, 4, 1);
	NOTE(job, 3, GIVES_ROOT, 4, 2);
	ASSERT_TOLD(job, "counts 1-0 0/8; | 0 | 1");

	/* All fits, is not known, or is of one that has another root. */
	job = make_job(false);
	set_root(job, 3);
	NOTE(job, 3, GIVES, 4, 4, MANY, 4);
	for (int rank = 0; rank < 3; rank++)
		NOTE(job, rank, TAKES_ROOT, 4, 4);
	ASSERT_TOLD(job, "");
	job = make_job(false);
	set_root(job, 2);
	NOTE(job, 3, GIVES, 4, 0, 0, 0, 0);
	for (int rank = 0; rank < 3; rank++)
		NOTE(job, rank, TAKES_ROOT, 4, 4);
	ASSERT_TOLD(job, "");
}

static void test_all_with_all(void **state)
{
	struct job *job = make_job(false);

	(void)state;
	for (int rank = 0; rank < SIZE; rank++) {
		NOTE(job, rank, TAKES, 4, 1, 2, 3, 4);
		NOTE(job, rank, GIVES_EACH, 4, (uint32_t)rank + (rank < 3));
	}
	ASSERT_TOLD(job, "counts 3-0 12/16; 3-1 12/16; 3-2 12/16; | 3 | 0-2");
	job = make_job(false);
	for (int rank = 0; rank < SIZE; rank++) {
		NOTE(job, rank, TAKES, 4, 1, 1, 1, 1);
		NOTE(job, rank, GIVES, 2, 2, rank == 3 ? 0 : 2, 2, 2);
	}
	ASSERT_TOLD(job, "counts 3-1 0/4; | 1 | 3");
}

static void test_error(void **state)
{
	struct job *job = make_job(false);

	(void)state;
	NOTE(job, 3, ERROR, 1, SEG_ERROR_TRUNCATE);
	ASSERT_TOLD(job, "error | 3 | 0-2");
	/* All have: none waits for another for that. */
	job = make_job(false);
	for (int rank = 0; rank < SIZE; rank++)
		NOTE(job, rank, ERROR, 1, SEG_ERROR_OP);
	ASSERT_TOLD(job, "");
}

static void test_graph(void **state)
{
	static const int32_t beside[SIZE][2] = {{3, 1}, {0, 2}, {1, 3}, {2, 0}};
	struct job *job = make_job(true);

	(void)state;
	/* Rank 3 does not give to rank 0, nor know of it that it takes from it. */
	for (int rank = 0; rank < SIZE; rank++)
		set_graph(job, rank, beside[rank], 2, beside[rank], rank == 3 ? 1 : 2);
	ASSERT_TOLD(job, "graph 3-0 0/1; | 0 | 3");
	job = make_job(true);
	for (int rank = 0; rank < SIZE; rank++)
		set_graph(job, rank, beside[rank], rank == 3 ? 1 : 2, beside[rank], 2);
	ASSERT_TOLD(job, "graph 0-3 1/0; | 0 | 3");
	/* It fits, but not what is given. */
	job = make_job(true);
	for (int rank = 0; rank < SIZE; rank++) {
		set_graph(job, rank, beside[rank], 2, beside[rank], 2);
		NOTE(job, rank, TAKES_EACH, 4, 1);
		NOTE(job, rank, GIVES_NEIGHBOURS, 4, 1, rank == 3 ? 0 : 1);
	}
	ASSERT_TOLD(job, "counts 3-0 0/4; | 0 | 3");
	/* Destinations are not known. */
	job = make_job(true);
	for (int rank = 0; rank < SIZE; rank++)
		set_graph(job, rank, beside[rank], rank == 3 ? 1 : 2, NULL, 0);
	ASSERT_TOLD(job, "");
}

/* What is not of this collective, or of another communicator, says nothing. */
static void test_other_notes(void **state)
{
	struct job *job = make_job(false);
	struct model_lane *lane = &model_of(job, 3)->lanes[0];

	(void)state;
	set_root(job, 3);
	NOTE(job, 3, GIVES, 4, 0, 0, 0, 0);
	NOTE(job, 3, ERROR, 4, 1);
	lane->notes[0].number = 1;
	lane->notes[1].comm = 1;
	for (int rank = 0; rank < 3; rank++)
		NOTE(job, rank, TAKES_ROOT, 4, 4);
	ASSERT_TOLD(job, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rooted),      cmocka_unit_test(test_all_with_all),
		cmocka_unit_test(test_error),       cmocka_unit_test(test_graph),
		cmocka_unit_test(test_other_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
