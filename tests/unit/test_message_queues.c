/* SPDX-License-Identifier: BSD-3-Clause
 * Message queues: what tells that a rank moves, and their bytes, which anybody may have written. */
#include <stdlib.h>
#include <string.h>

#include "model/buffer.h"
#include "model/job/message_queues.h"
#include "model/wire/queue_bytes.h"
#include "model/codec.h"
#include "model/xalloc.h"
#include "tests/unit/unit.h"
#include "tests/unit/whole_job.h"

/* "grid:4 <2:7 !1:5 =3:9 #12": a communicator and its size, a receive from 2 with tag 7, an
 * unexpected message of 1 with tag 5, 9 sent to 3, these of the communicator before them; 12
 * posted. */
static struct message_queues *parse_queues(const char *text)
{
	struct message_queues *queues = message_queues_create();
	char *copy = xstrdup(text), *rest = copy, *word;

	queues->comms = xcalloc(strlen(text) + 1, sizeof(*queues->comms));
	queues->receives = xcalloc(strlen(text) + 1, sizeof(*queues->receives));
	queues->unexpected = xcalloc(strlen(text) + 1, sizeof(*queues->unexpected));
	queues->pairs = xcalloc(strlen(text) + 1, sizeof(*queues->pairs));
	while ((word = strsep(&rest, " "))) {
		char *second = strchr(word, ':');
		int a = *word ? atoi(word + 1) : 0, b = second ? atoi(second + 1) : 0;
		uint32_t comm = (uint32_t)queues->num_comms - 1;

		if (*word == '<')
			queues->receives[queues->num_receives++] =
				(struct queued_message){a, b, comm};
		else if (*word == '!')
			queues->unexpected[queues->num_unexpected++] =
				(struct queued_message){a, b, comm};
		else if (*word == '=')
			queues->pairs[queues->num_pairs++] =
				(struct message_pair){a, comm, (uint16_t)b, 1};
		else if (*word == '#')
			queues->num_posted = (uint64_t)a;
		else if (second) {
			queued_comm_set_name(&queues->comms[comm + 1], word,
					     (size_t)(second - word));
			queues->comms[queues->num_comms++].size = (uint32_t)b;
		}
	}
	free(copy);
	return queues;
}

static const struct {
	const char *what, *before, *after;
	bool has_moved;
} moves[] = {
	{"nothing", "", "", false},
	{"all as it was", "w:4 <1:7 !1:5 =1:9 #3", "w:4 <1:7 !1:5 =1:9 #3", false},
	{"one posted that waits no more", "w:4 <1:7 #3", "w:4 <1:7 #4", true},
	{"the first one posted", "w:4 <1:7", "w:4 <1:7 #1", true},
	{"a receive more", "w:4 <1:7", "w:4 <1:7 <1:7", true},
	{"a receive less", "w:4 <1:7 <1:8", "w:4 <1:8", true},
	{"another tag", "w:4 <1:7", "w:4 <1:8", true},
	{"another peer", "w:4 <1:7", "w:4 <2:7", true},
	{"another communicator", "w:4 <1:7 h:4 <1:8", "w:4 <1:7 g:4 <1:8", true},
	{"one of another size", "w:4 <1:7", "w:3 <1:7", true},
	{"a message arrived", "w:4 !1:5", "w:4 !1:5 !1:5", false},
	{"the first one arrived", "", "w:4 !1:5", false},
	{"some arrived among others", "w:4 !1:5 !3:5", "w:4 !0:1 !1:5 !1:6 !2:5 !3:5 !3:1", false},
	{"one was received", "w:4 !1:5 !1:6", "w:4 !1:6", true},
	{"all were received", "w:4 !1:5", "", true},
	{"one was received, others arrived", "w:4 !1:5", "w:4 !1:6 !2:5", true},
	{"the first was received, one like the second arrived", "w:4 !1:5 !1:6", "w:4 !1:6 !1:6",
	 true},
	{"of another communicator, before", "w:4 <1:7 !1:5 =1:9", "a:2 !1:5 w:4 <1:7 !1:5 =1:9",
	 false},
	{"of another communicator, behind", "w:4 <1:7 !1:5 =1:9", "w:4 <1:7 !1:5 =1:9 z:2 !0:5",
	 false},
	{"received, of a communicator that is gone", "a:2 !1:5 w:4 <1:7", "w:4 <1:7", true},
	{"of one with the same name and size, before", "w:4 =1:9", "w:4 =1:0 w:4 =1:9", false},
	{"one sent", "w:4 =1:9", "w:4 =1:10", true},
	{"as many sent as there are numbers", "w:4 =1:9", "w:4 =1:0", true},
	{"the first one sent to a peer", "w:4 =1:9", "w:4 =1:9 =2:1", true},
	{"the first one of a peer", "w:4 =1:9", "w:4 =0:0 =1:9 =2:0", false},
	{"the first one sent to a peer that has sent", "w:4 =1:0 =2:5", "w:4 =1:1 =2:5", true},
	{"a communicator freed", "a:2 =1:0 w:4 =1:9", "w:4 =1:9", true},
};

/* What a rank does, and what others do to it. */
static void test_moved(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(moves); i++) {
		struct message_queues *before = parse_queues(moves[i].before);
		struct message_queues *after = parse_queues(moves[i].after);

		if (message_queues_have_moved(before, after) != moves[i].has_moved)
			fail_msg("%s", moves[i].what);
		message_queues_destroy(after);
		message_queues_destroy(before);
	}
}

/* How many have arrived is no doing of its own. */
static void test_arrived(void **state)
{
	struct message_queues *before = whole_job_queues(), *after = whole_job_queues();

	(void)state;
	assert_false(message_queues_have_moved(before, after));
	after->pairs[after->num_pairs - 1].arrived++;
	assert_false(message_queues_have_moved(before, after));
	message_queues_destroy(after);
	message_queues_destroy(before);
}

static void test_name(void **state)
{
	struct queued_comm comm;
	char text[80];

	(void)state;
	memset(text, 'x', sizeof(text));
	queued_comm_set_name(&comm, text, sizeof(text));
	assert_int_equal(strlen(comm.name), sizeof(comm.name) - 1);
	queued_comm_set_name(&comm, "a\033b\0c", 5);
	assert_string_equal(comm.name, "a?b");
	queued_comm_set_name(&comm, text, 2);
	assert_string_equal(comm.name, "xx");
}

static struct message_queues *take(const uint8_t *bytes, size_t size, int rank, bool *is_bad_ret)
{
	struct decoder in = {.at = bytes, .end = bytes + size, .memory = 1 << 20};
	struct message_queues *queues;

	queue_bytes(&(struct codec){.from = &in}, &queues, rank);
	assert_true(!queues == in.is_bad);
	*is_bad_ret = in.is_bad || in.at != in.end;
	return queues;
}

static void test_bytes(void **state)
{
	static const int ranks[] = {0, 3, (16 << 20) - 1};
	struct message_queues *queues = whole_job_queues(), *again;
	bool is_bad;

	(void)state;
	for (size_t i = 0; i < NUM_OF(ranks); i++) {
		struct buffer b = {0};

		queue_bytes(&(struct codec){.to = &b}, &queues, ranks[i]);
		again = take(b.bytes, b.num, ranks[i], &is_bad);
		assert_false(is_bad);
		assert_same_queues(queues, again);
		message_queues_destroy(again);
		for (size_t cut = 0; cut < b.num; cut++) {
			assert_null(take(b.bytes, cut, ranks[i], &is_bad));
			assert_true(is_bad);
		}
		free(b.bytes);
	}
	message_queues_destroy(queues);
}

/* The same to the next rank has the same bytes. */
static void test_distance(void **state)
{
	struct message_queues *queues = whole_job_queues();
	struct buffer a = {0}, b = {0};

	(void)state;
	queues->num_receives = queues->num_unexpected = 0;
	queues->num_pairs = 3; /* one of another job twice, and one peer */
	queues->pairs[2].peer = 8;
	queue_bytes(&(struct codec){.to = &a}, &queues, 7);
	queues->pairs[2].peer = 4;
	queue_bytes(&(struct codec){.to = &b}, &queues, 3);
	assert_int_equal(a.num, b.num);
	assert_memory_equal(a.bytes, b.bytes, a.num);
	free(a.bytes);
	free(b.bytes);
	message_queues_destroy(queues);
}

/* Of rank 5: a communicator "c" of 9 stands before. Places: communicators further, peer. */
static const struct {
	const char *what;
	uint8_t bytes[24];
	size_t size;
	bool is_good;
} inputs[] = {
	{"a pair", {1, 1, 'c', 9, 0, 0, 1, 0, 0, 3, 4, 0}, 12, true},
	{"a receive", {1, 1, 'c', 9, 1, 0, 3, 14, 0, 0, 0}, 11, true},
	{"without communicators", {0, 1, 0, 3, 14, 0, 0, 0}, 8, false},
	{"of the second one", {1, 1, 'c', 9, 1, 1, 3, 14, 0, 0, 0}, 11, false},
	{"of the one before 2^32",
	 {1, 1, 'c', 9, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 3, 14, 0, 0, 0},
	 15,
	 false},
	{"a peer of -3", {1, 1, 'c', 9, 1, 0, 7, 14, 0, 0, 0}, 11, false},
	{"a rank of -1", {1, 1, 'c', 9, 1, 0, 22, 14, 0, 0, 0}, 11, false},
	{"peers ascend", {1, 1, 'c', 9, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0}, 14, true},
	{"peers descend", {1, 1, 'c', 9, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0}, 14, false},
	{"65536 sent", {1, 1, 'c', 9, 0, 0, 1, 0, 0, 0x80, 0x80, 4, 4, 0}, 14, false},
	{"a tag of 2^31",
	 {1, 1, 'c', 9, 1, 0, 3, 0x80, 0x80, 0x80, 0x80, 0x20, 0, 0, 0},
	 15,
	 false},
	{"many, not there", {1, 1, 'c', 9, 0xff, 0xff, 3, 0, 0, 0}, 10, false},
	{"a name too long", {1, 64, 'c', 9, 0, 0, 0, 0}, 8, false},
	{"nothing but 300 posted", {0, 0, 0, 0, 0xac, 2}, 6, true},
	{"posted, not there", {0, 0, 0, 0}, 4, false},
	{"posted, cut", {0, 0, 0, 0, 0xac}, 5, false},
	{"posted, 2^64",
	 {0, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2},
	 14,
	 false},
	{"something behind", {0, 0, 0, 0, 7, 0}, 6, false},
};

static void test_inputs(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(inputs); i++) {
		bool is_bad;
		struct message_queues *queues = take(inputs[i].bytes, inputs[i].size, 5, &is_bad);

		if (is_bad == inputs[i].is_good)
			fail_msg("%s", inputs[i].what);
		message_queues_destroy(queues);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved),    cmocka_unit_test(test_arrived),
		cmocka_unit_test(test_name),     cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_distance), cmocka_unit_test(test_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
