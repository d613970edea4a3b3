/* SPDX-License-Identifier: BSD-3-Clause
 * The library's functions on saved hangs, and what they refuse. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "shell/pdb.h"
#include "tests/unit/unit.h"

#define MESSAGE "docs/snapshots/message.pdb"

static void refusals(void **state)
{
	char error[PDB_ERROR_SIZE];
	struct pdb_job *job;

	(void)state;
	assert_null(pdb_load("/no/such/file", error));
	assert_non_null(strstr(error, "/no/such/file"));
	assert_null(pdb_load("README.md", error));
	assert_true(strlen(error) > 0);
	assert_null(pdb_load("/no/such/file", NULL));
	assert_null(pdb_attach(1 << 30, error));
	assert_true(strlen(error) > 0);
	pdb_close(NULL);

	job = pdb_load(MESSAGE, error);
	assert_non_null(job);
	assert_int_equal(pdb_look(job, error), -1);
	assert_string_equal(error, "a snapshot stays what it is");
	pdb_close(job);
}

static void facts(void **state)
{
	struct pdb_job *job = pdb_load(MESSAGE, NULL);
	const struct pdb_verdict *verdict;
	int seen = 0;

	(void)state;
	assert_non_null(job);
	assert_int_equal(pdb_num_ranks(job), 6);
	assert_false(pdb_is_live(job));
	verdict = pdb_verdict(job);
	assert_string_equal(verdict->kind, "lost message");
	assert_true(verdict->is_hang);
	assert_string_equal(verdict->ranks, "2");
	assert_int_equal(verdict->num_ranks, 1);
	assert_true(verdict->stay > 3);
	assert_ptr_equal(pdb_verdict(job), verdict);

	for (size_t i = 0; i < pdb_num_groups(job); i++) {
		const struct pdb_group *group = pdb_group(job, i);

		assert_string_equal(group->activity, "in MPI");
		assert_true(strlen(group->where) > 0 && strlen(group->iterations) > 0);
		assert_string_equal(group->least, strcmp(group->ranks, "2") == 0 ? "2" : "");
		for (int rank = -1; (rank = pdb_next_rank(group->ranks, rank)) >= 0;)
			seen |= 1 << rank;
	}
	assert_int_equal(seen, 0x3f);
	assert_null(pdb_group(job, pdb_num_groups(job)));
	pdb_close(job);
}

static void answers(void **state)
{
	static const char *const questions[] = {
		"lp",       "l",          "groups",      "graph",     "loops",
		"progress", "why 0",      " w 3",        "waits",     "waits 0-1",
		"messages", "requests 0", "collectives", "history 0", "model 0",
	};
	static const char *const refused[] = {
		"",         "why",        "why 0 1", "why x",    "why 99", "quit",
		"shell ls", "save x.pdb", "grou",    "lp | cat", "why 'x",
	};
	struct pdb_job *job = pdb_load(MESSAGE, NULL);
	char error[PDB_ERROR_SIZE];

	(void)state;
	assert_non_null(job);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		char *text = pdb_text(job, questions[i], error), *json;

		assert_non_null(text);
		assert_true(strlen(text) > 10);
		json = pdb_json(job, questions[i], error);
		assert_non_null(json);
		assert_memory_equal(json, "{\"pdb\"", 6);
		assert_non_null(strstr(json, "\"result\""));
		assert_ptr_equal(strchr(json, '\n'), json + strlen(json) - 1);
		free(json);
		free(text);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		strcpy(error, "");
		assert_null(pdb_text(job, refused[i], error));
		assert_true(strlen(error) > 0);
		assert_null(pdb_json(job, refused[i], NULL));
	}
	pdb_close(job);
}

/* A program whose language writes 0,5 has JSON all the same, and keeps its language. */
static void languages(void **state)
{
	struct pdb_job *job = pdb_load(MESSAGE, NULL);
	char *plain, *other;
	locale_t german = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0), before;

	(void)state;
	assert_non_null(job);
	plain = pdb_json(job, "lp", NULL);
	if (!german) /* not on this machine: any language is kept, at least */
		german = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	before = uselocale(german);
	other = pdb_json(job, "lp", NULL);
	assert_ptr_equal(uselocale(before), german);
	assert_string_equal(plain, other);
	freelocale(german);
	free(plain);
	free(other);
	pdb_close(job);
}

static void sets(void **state)
{
	(void)state;
	assert_int_equal(pdb_next_rank("0-2,8", -1), 0);
	assert_int_equal(pdb_next_rank("0-2,8", 1), 2);
	assert_int_equal(pdb_next_rank("0-2,8", 2), 8);
	assert_int_equal(pdb_next_rank("0-2,8", 8), -1);
	assert_int_equal(pdb_next_rank("", -1), -1);
	assert_int_equal(pdb_next_rank("x", -1), -1);
	assert_string_equal(pdb_version(), PDB_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),  cmocka_unit_test(facts), cmocka_unit_test(answers),
		cmocka_unit_test(languages), cmocka_unit_test(sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
