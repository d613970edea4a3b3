/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/daemons/pdbd.h"
#include "attach/daemons/pdbd_private.h"
#include "attach/node/daemon_job.h"
#include "model/buffer.h"
#include "model/job/proctable.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/wire/code_bytes.h"
#include "model/job/code_store.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/wire/proc_bytes.h"
#include "model/wire/share.h"
#include "model/xalloc.h"
#include "tests/unit/openmpi_world.h"
#include "tests/unit/unit.h"

enum { NUM_RANKS = 8 };

/* Ranks without recorders: processes that wait to be ended. */
static struct daemon_rank start_rank(int rank)
{
	struct proc proc = {.rank = rank, .pid = fork()};

	if (proc.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(proc.pid > 0);
	return daemon_rank_of(&proc);
}

static void end_rank(const struct daemon_rank *rank)
{
	kill(rank->pid, SIGKILL);
	assert_int_equal(waitpid(rank->pid, NULL, 0), rank->pid);
}

static bool at_once(uint64_t until_ns)
{
	(void)until_ns;
	return true;
}

static bool never(uint64_t until_ns)
{
	(void)until_ns;
	return false;
}

static const struct pdbd_look usual = {
	.num_ranks = NUM_RANKS,
	.milliseconds = 1,
	.max_samples = NUM_RANKS,
	.parts = SHARE_ALL,
};

static struct daemon *make_daemon(const struct daemon_rank *ranks, size_t num)
{
	struct daemon *daemon = xcalloc(1, sizeof(*daemon));
	struct daemon_rank *copy = xcalloc(num, sizeof(*copy));

	memcpy(copy, ranks, num * sizeof(*copy));
	pdbd_node_tell(daemon, copy, num);
	daemon->sleep_until = at_once;
	daemon->job_size = NUM_RANKS;
	return daemon;
}

static void end_daemon(struct daemon *daemon)
{
	pdbd_node_deinit(daemon);
	free(daemon);
}

static struct buffer look(struct daemon *daemon)
{
	struct buffer ret = {.bytes = NULL};

	pdbd_node_look(daemon, (const uint8_t *)&usual, sizeof(usual), &ret);
	return ret;
}

static struct job *to_job(const struct buffer *bytes)
{
	struct job *job = job_create();
	struct pdb_error err = {0};
	struct share *share;

	if (share_decode(bytes->bytes, bytes->num, NUM_RANKS, &share, &err) < 0 ||
	    share_to_job(share, job, &err) < 0)
		fail_msg("%s", err.text);
	share_destroy(share);
	return job;
}

static void test_tells_of_its_ranks(void **state)
{
	struct daemon_rank ranks[] = {start_rank(2), start_rank(5)};
	struct daemon *daemon = make_daemon(ranks, 2);
	struct buffer bytes = look(daemon);
	struct job *job = to_job(&bytes);

	(void)state;
	assert_null(job->model);
	assert_int_equal(job->num_holes, 2);
	assert_int_equal(job->holes[0].rank, 2);
	assert_string_equal(job->holes[0].why, "no recorder");
	assert_int_equal(job->holes[1].rank, 5);
	assert_non_null(samples_find(job->samples, 2, 0));
	assert_non_null(samples_find(job->samples, 5, 0));
	job_destroy(job);
	free(bytes.bytes);

	end_rank(&ranks[0]);
	bytes = look(daemon);
	job = to_job(&bytes);
	assert_string_equal(job->holes[0].why, JOB_HOLE_ENDED);
	assert_string_equal(job->holes[1].why, "no recorder");
	job_destroy(job);
	free(bytes.bytes);

	/* Nobody is left: still an answer. */
	end_rank(&ranks[1]);
	bytes = look(daemon);
	job = to_job(&bytes);
	assert_int_equal(job->num_holes, 2);
	assert_string_equal(job->holes[1].why, JOB_HOLE_ENDED);
	assert_int_equal(job->samples->num_samples, 0);
	job_destroy(job);
	free(bytes.bytes);
	end_daemon(daemon);
}

static void test_samples_what_is_asked(void **state)
{
	struct daemon_rank ranks[] = {start_rank(2), start_rank(5)};
	struct daemon *daemon = make_daemon(ranks, 2);
	struct rankset *set = rankset_create();
	struct buffer question = {.bytes = NULL}, bytes = {.bytes = NULL};
	struct pdbd_look asked = usual;
	struct job *job;

	(void)state;
	rankset_add(set, 5);
	rankset_add(set, 6);
	buffer_put_bytes(&question, &asked, sizeof(asked));
	proc_bytes_put_ranks(&question, set);
	pdbd_node_sample(daemon, question.bytes, question.num, &bytes);
	job = to_job(&bytes);
	assert_int_equal(job->samples->num_samples, 1);
	assert_int_equal(job->samples->samples[0].rank, 5);
	assert_int_equal(job->num_holes, 0);
	job_destroy(job);
	bytes.num = 0;

	/* Several times, and without what differs; given up after the first. */
	for (int i = 0; i < 2; i++) {
		struct pdbd_look often = asked;

		often.times = 3;
		often.parts = SHARE_ANSWERS | SHARE_STACKS_ONLY;
		memcpy(question.bytes, &often, sizeof(often));
		daemon->sleep_until = i ? never : at_once;
		pdbd_node_sample(daemon, question.bytes, question.num, &bytes);
		job = to_job(&bytes);
		assert_int_equal(job->samples->num_samples, i ? 1 : 3);
		assert_int_equal(job->samples->samples[0].rank, 5);
		assert_int_equal(job->samples->samples[0].stopped_ns, 0);
		job_destroy(job);
		bytes.num = 0;
	}
	free(bytes.bytes);
	free(question.bytes);
	rankset_destroy(set);
	end_daemon(daemon);
	end_rank(&ranks[0]);
	end_rank(&ranks[1]);
}

static void put_question(struct buffer *b, const struct pdbd_look *look, int rank)
{
	struct rankset *set = rankset_create();

	rankset_add(set, rank);
	buffer_put_bytes(b, look, sizeof(*look));
	proc_bytes_put_ranks(b, set);
	rankset_destroy(set);
}

/* A question about machine code behind the ranks: values of the frame where the rank waits, names,
 * and the functions of this very program, which is what the ranks run. */
static void test_asks_of_code(void **state)
{
	struct daemon_rank rank = start_rank(2);
	struct daemon *daemon = make_daemon(&rank, 1);
	struct buffer first = look(daemon), bytes = {.bytes = NULL}, asked = {.bytes = NULL};
	struct job *job = to_job(&first), *again;
	const struct sample *sample = samples_find(job->samples, 2, 0);
	const struct callpath_node *node =
		callpaths_get(job->callpaths, callpaths_at_depth(job->callpaths, sample->path, 1));
	/* Where the frame begins that is called by the outermost one. */
	const struct code_probe probe = {
		.module = node->module,
		.offset = node->offset,
		.is_return = node->is_return,
		.size = 8,
		.value = {.is_known = true,
			  .num_terms = 1,
			  .terms = {{.place = {.reg = CODE_CFA, .size = 8}, .factor = 1}}},
	};
	const struct code_address address = {node->module, node->offset - 1};
	const struct code_question question = {
		.probes = &probe,
		.num_probes = 1,
		.names = &address,
		.num_names = 1,
		.functions = &address,
		.num_functions = 1,
	};
	struct pdbd_look how = usual;
	size_t length;

	(void)state;
	how.parts = SHARE_ANSWERS | SHARE_NAMES | SHARE_CODE;
	put_question(&asked, &how, 2);
	length = asked.num;
	code_bytes_put_question(&asked, &question, job->modules);
	pdbd_node_sample(daemon, asked.bytes, asked.num, &bytes);
	again = to_job(&bytes);
	sample = samples_find(again->samples, 2, 0);
	assert_int_equal(sample->num_values, 1);
	assert_int_equal(sample->values[0].depth, 1);
	assert_true(sample->values[0].value != 0);
	assert_int_equal(code_store_count(again->code), 1);
	job_destroy(again);

	/* Nor are looks that bring nothing, and more of what looks alone bring. */
	for (int i = 0; i < 2; i++) {
		how.parts = i ? SHARE_ANSWERS | SHARE_TRACES : SHARE_DETAILS;
		memcpy(asked.bytes, &how, sizeof(how));
		bytes.num = 0;
		(i ? pdbd_node_more : pdbd_node_sample)(daemon, asked.bytes, asked.num, &bytes);
		assert_int_equal(bytes.num, 0);
	}
	how.parts = SHARE_ANSWERS | SHARE_NAMES | SHARE_CODE;
	memcpy(asked.bytes, &how, sizeof(how));

	/* What is damaged is not answered at all. */
	for (size_t size = sizeof(how); size < asked.num; size++) {
		bytes.num = 0;
		if (size == length)
			continue;
		pdbd_node_sample(daemon, asked.bytes, size, &bytes);
		assert_int_equal(bytes.num, 0);
	}
	free(first.bytes);
	free(bytes.bytes);
	free(asked.bytes);
	job_destroy(job);
	end_daemon(daemon);
	end_rank(&rank);
}

/* Message queues come along, of a look as of samples, since there are no recorders. */
static void test_tells_of_queues(void **state)
{
	struct daemon *daemon;
	struct daemon_rank rank;
	struct buffer bytes, question = {.bytes = NULL};
	struct pdbd_look asked = usual;
	struct job *job;

	(void)state;
	make_world();
	show_world();
	rank = start_rank(1);
	daemon = make_daemon(&rank, 1);
	bytes = look(daemon);
	job = to_job(&bytes);
	assert_true(job->samples->num_samples > 1);
	for (size_t i = 0; i < job->samples->num_samples; i++)
		assert_world(job->samples->samples[i].queues);
	job_destroy(job);

	asked.parts = SHARE_ANSWERS | SHARE_STACKS_ONLY;
	asked.times = 3;
	put_question(&question, &asked, 1);
	bytes.num = 0;
	pdbd_node_sample(daemon, question.bytes, question.num, &bytes);
	job = to_job(&bytes);
	assert_int_equal(job->samples->num_samples, 3);
	assert_world(job->samples->samples[0].queues);
	assert_null(job->samples->samples[1].queues);
	assert_world(job->samples->samples[2].queues);
	job_destroy(job);
	free(question.bytes);
	free(bytes.bytes);
	end_daemon(daemon);
	end_rank(&rank);
}

static void test_damaged_questions(void **state)
{
	struct daemon_rank rank = start_rank(0);
	struct daemon *daemon = make_daemon(&rank, 1);
	struct pdbd_look nothing = usual, unknown = usual;
	struct buffer beyond = {.bytes = NULL}, ret = {.bytes = NULL};

	(void)state;
	nothing.parts = 0;
	unknown.parts |= 1u << 20;
	buffer_put_bytes(&beyond, &usual, sizeof(usual));
	buffer_put(&beyond, 1);
	const struct {
		const void *payload;
		size_t length;
	} cases[] = {
		{&usual, 0},
		{&usual, sizeof(usual) - 1},
		{&nothing, sizeof(nothing)},
		{&unknown, sizeof(unknown)},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pdbd_node_look(daemon, cases[i].payload, cases[i].length, &ret);
		pdbd_node_sample(daemon, cases[i].payload, cases[i].length, &ret);
		assert_int_equal(ret.num, 0);
	}
	/* No set of ranks, and one that is longer than what there is. */
	pdbd_node_sample(daemon, (const uint8_t *)&usual, sizeof(usual), &ret);
	assert_int_equal(ret.num, 0);
	pdbd_node_sample(daemon, beyond.bytes, beyond.num, &ret);
	assert_int_equal(ret.num, 0);
	/* Given up. */
	daemon->sleep_until = never;
	pdbd_node_look(daemon, (const uint8_t *)&usual, sizeof(usual), &ret);
	assert_int_equal(ret.num, 0);
	free(ret.bytes);
	free(beyond.bytes);
	end_daemon(daemon);
	end_rank(&rank);
}

static void test_merges(void **state)
{
	struct daemon_rank ranks[] = {start_rank(1), start_rank(3)};
	struct daemon *one = make_daemon(&ranks[0], 1);
	struct daemon *other = make_daemon(&ranks[1], 1);
	struct buffer a = look(one), b = look(other), both = {.bytes = NULL};
	size_t num;
	struct job *job;

	(void)state;
	assert_int_equal(pdbd_node_merge_shares(one, &both, NULL, 0), 0);
	assert_int_equal(pdbd_node_merge_shares(one, &both, a.bytes, a.num), 0);
	assert_int_equal(pdbd_node_merge_shares(one, &both, b.bytes, b.num), 0);
	job = to_job(&both);
	assert_int_equal(job->num_holes, 2);
	assert_int_equal(job->holes[0].rank, 1);
	assert_int_equal(job->holes[1].rank, 3);
	job_destroy(job);

	/* The same ranks twice, no share, ranks that the job does not have. */
	num = both.num;
	assert_int_equal(pdbd_node_merge_shares(one, &both, a.bytes, a.num), -1);
	assert_int_equal(both.num, num);
	assert_int_equal(pdbd_node_merge_shares(one, &a, b.bytes, b.num - 1), -1);
	one->job_size = 3;
	assert_int_equal(pdbd_node_merge_shares(one, &a, b.bytes, b.num), -1);
	free(a.bytes);
	free(b.bytes);
	free(both.bytes);
	end_daemon(one);
	end_daemon(other);
	end_rank(&ranks[0]);
	end_rank(&ranks[1]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tells_of_its_ranks),
		cmocka_unit_test(test_samples_what_is_asked),
		cmocka_unit_test(test_asks_of_code),
		cmocka_unit_test(test_tells_of_queues),
		cmocka_unit_test(test_damaged_questions),
		cmocka_unit_test(test_merges),
	};

	(void)argc;
	if (!load_library(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
