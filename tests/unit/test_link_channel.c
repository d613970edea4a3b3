/* SPDX-License-Identifier: BSD-3-Clause
 * Streams of bytes over a link. */
#include <errno.h>
#include <sys/wait.h>

#include "attach/daemons/relay.h"
#include "attach/daemons/stream.h"
#include "model/monotonic.h"
#include "tests/unit/link_pair.h"

enum { NUMBER = 5 };

static void work_one(struct link *link)
{
	const struct link_limit limit = within_ms(1);
	struct link_frame frame;
	struct pdb_error err;

	assert_int_equal(link_receive(link, &frame, &limit, &err), -1);
	if (err.code != ERROR_TIMEOUT)
		fail_msg("%s", err.text);
}

/* Let both ends work for a moment; no frame is to come. */
static void work(struct pair *pair)
{
	work_one(pair->pdb);
	work_one(pair->daemon);
}

static bool is_open(const struct link *link, uint32_t number)
{
	for (size_t i = 0; i < link->num_channels; i++)
		if (stream_number(link->channels[i]) == number)
			return true;
	return false;
}

/* A pair with a channel; the ends of it that the callers have. */
static void open_channel(struct pair *pair, uint32_t number, int *pdb_ret, int *daemon_ret)
{
	if (link_channel_open(pair->pdb, number, pdb_ret, &pair->err) < 0 ||
	    link_channel_open(pair->daemon, number, daemon_ret, &pair->err) < 0)
		fail_msg("%s", pair->err.text);
}

/* Read `length` bytes while both ends work; less when the end comes first. */
static size_t read_all(struct pair *pair, int fd, uint8_t *bytes, size_t length)
{
	uint64_t until_ns = soon().until_ns;
	size_t have = 0;

	while (have < length && monotonic_ns() < until_ns) {
		ssize_t n = recv(fd, bytes + have, length - have, MSG_DONTWAIT);

		if (n == 0)
			break;
		have += n > 0 ? (size_t)n : 0;
		if (n < 0)
			work(pair);
	}
	return have;
}

static void assert_passes(struct pair *pair, int from, int to, const char *text)
{
	uint8_t bytes[64];

	assert_int_equal(send(from, text, strlen(text), 0), strlen(text));
	assert_int_equal(read_all(pair, to, bytes, strlen(text)), strlen(text));
	assert_memory_equal(bytes, text, strlen(text));
}

static void assert_closed(struct pair *pair, struct link *link, uint32_t number)
{
	uint64_t until_ns = soon().until_ns;

	while (is_open(link, number) && monotonic_ns() < until_ns)
		work(pair);
	assert_false(is_open(link, number));
}

/* ---- Life of a channel ---- */

static void test_both_ways(void **state)
{
	struct pair pair;
	uint8_t byte;
	int here, there;

	(void)state;
	pair_init(&pair);
	open_channel(&pair, NUMBER, &here, &there);
	assert_passes(&pair, here, there, "$qSupported#37");
	assert_passes(&pair, there, here, "+$PacketSize=47ff#00");

	/* One direction ends, the other goes on, then the channel is over. */
	shutdown(here, SHUT_WR);
	assert_int_equal(read_all(&pair, there, &byte, 1), 0);
	assert_true(is_open(pair.pdb, NUMBER));
	assert_passes(&pair, there, here, "last words");
	close(there);
	assert_int_equal(read_all(&pair, here, &byte, 1), 0);
	assert_closed(&pair, pair.pdb, NUMBER);
	assert_closed(&pair, pair.daemon, NUMBER);
	close(here);
	pair_deinit(&pair);
}

static void test_refused(void **state)
{
	struct pdb_error err = {0};
	struct pair pair;
	int fds[LINK_MAX_CHANNELS], other;

	(void)state;
	pair_init(&pair);
	for (uint32_t i = 0; i < LINK_MAX_CHANNELS; i++)
		assert_int_equal(link_channel_open(pair.pdb, i, &fds[i], &err), 0);
	assert_int_equal(link_channel_open(pair.pdb, 3, &other, &err), -1);
	assert_error(&err, ERROR_USAGE, "channel 3 is in use");
	assert_int_equal(link_channel_open(pair.pdb, 1000, &other, &err), -1);
	assert_error(&err, ERROR_USAGE, "more than 64 channels");
	link_channel_close(pair.pdb, 3);
	assert_false(is_open(pair.pdb, 3));
	link_channel_close(pair.pdb, 3);
	assert_int_equal(link_channel_open(pair.pdb, 1000, &other, &err), 0);
	close(other);
	for (uint32_t i = 0; i < LINK_MAX_CHANNELS; i++)
		close(fds[i]);
	pair_deinit(&pair);
}

/* Frames and bytes of channels share the link; a frame that tells of a channel comes before it. */
static void test_with_frames(void **state)
{
	struct pair pair;
	int here, there;
	struct link_frame frame;
	struct link_limit limit;

	(void)state;
	pair_init(&pair);
	assert_int_equal(link_channel_open(pair.pdb, NUMBER, &here, &pair.err), 0);
	assert_sends(pair.pdb, 1, "join 5", 6);
	assert_int_equal(write(here, "early", 5), 5);
	limit = within_ms(20);
	assert_int_equal(link_receive(pair.pdb, &frame, &limit, &pair.err), -1);
	assert_receives(pair.daemon, 1, "join 5", 6);
	assert_int_equal(link_channel_open(pair.daemon, NUMBER, &there, &pair.err), 0);
	assert_passes(&pair, here, there, "");
	uint8_t bytes[5];
	assert_int_equal(read_all(&pair, there, bytes, 5), 5);
	assert_memory_equal(bytes, "early", 5);
	assert_passes(&pair, there, here, "back");
	assert_sends(pair.daemon, 2, "frame", 5);
	assert_receives(pair.pdb, 2, "frame", 5);
	close(here);
	close(there);
	pair_deinit(&pair);
}

/* The other side does not know the channel: it ends. */
static void test_unknown(void **state)
{
	struct pair pair;
	uint8_t byte;
	int here;

	(void)state;
	pair_init(&pair);
	assert_int_equal(link_channel_open(pair.pdb, NUMBER, &here, &pair.err), 0);
	assert_int_equal(write(here, "a", 1), 1);
	assert_closed(&pair, pair.pdb, NUMBER);
	assert_int_equal(read_all(&pair, here, &byte, 1), 0);
	close(here);
	pair_deinit(&pair);
}

/* Closed by one side: the other's socket gets what was sent before, then the end. */
static void test_close(void **state)
{
	struct pair pair;
	uint8_t bytes[8];
	int here, there;

	(void)state;
	pair_init(&pair);
	open_channel(&pair, NUMBER, &here, &there);
	assert_int_equal(write(there, "bye", 3), 3);
	work(&pair);
	link_channel_close(pair.daemon, NUMBER);
	assert_int_equal(read_all(&pair, here, bytes, sizeof(bytes)), 3);
	assert_closed(&pair, pair.pdb, NUMBER);
	/* What this side still sends goes nowhere, and hurts nobody. */
	assert_int_equal(send(here, "a", 1, MSG_NOSIGNAL), -1);
	close(here);
	close(there);
	pair_deinit(&pair);
}

/* The program at one end dies with something unread; what it said last gets through. */
static void test_last_words(void **state)
{
	struct pair pair;
	uint8_t bytes[64];
	int here, there;

	(void)state;
	pair_init(&pair);
	open_channel(&pair, NUMBER, &here, &there);
	assert_int_equal(write(there, "exit code 1", 11), 11);
	assert_int_equal(write(here, "unread", 6), 6);
	work(&pair);
	work(&pair);
	close(there);
	for (int i = 0; i < 10; i++)
		assert_int_equal(write(here, "more", 4), 4);
	assert_int_equal(read_all(&pair, here, bytes, sizeof(bytes)), 11);
	assert_memory_equal(bytes, "exit code 1", 11);
	close(here);
	assert_closed(&pair, pair.pdb, NUMBER);
	assert_closed(&pair, pair.daemon, NUMBER);
	pair_deinit(&pair);
}

/* The link's end is the channels' end. */
static void test_link_ends(void **state)
{
	struct pair pair;
	uint8_t byte;
	int here, there;

	(void)state;
	pair_init(&pair);
	open_channel(&pair, NUMBER, &here, &there);
	link_destroy(pair.daemon);
	assert_int_equal(recv(there, &byte, 1, 0), 0);
	assert_ends(pair.pdb, ERROR_GONE, "closed by the other side");
	link_destroy(pair.pdb);
	assert_int_equal(recv(here, &byte, 1, 0), 0);
	close(here);
	close(there);
}

/* ---- Much, and nobody who reads it ---- */

static size_t write_what_fits(int fd, const uint8_t *bytes, size_t length)
{
	ssize_t n = send(fd, bytes, length, MSG_DONTWAIT);

	return n > 0 ? (size_t)n : 0;
}

/* Megabytes in both directions at once arrive as they were. */
static void test_much(void **state)
{
	size_t length = 3000001, sent[2] = {0}, have[2] = {0};
	uint8_t *bytes = make_bytes(length), *got[2] = {malloc(length), malloc(length)};
	uint64_t until_ns = soon().until_ns;
	struct pair pair;
	int fds[2];

	(void)state;
	pair_init(&pair);
	open_channel(&pair, NUMBER, &fds[0], &fds[1]);
	while ((have[0] < length || have[1] < length) && monotonic_ns() < until_ns) {
		for (int i = 0; i < 2; i++) {
			ssize_t n = recv(fds[i], got[i] + have[i], length - have[i], MSG_DONTWAIT);

			have[i] += n > 0 ? (size_t)n : 0;
			sent[i] += write_what_fits(fds[i], bytes + sent[i], length - sent[i]);
		}
		work(&pair);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(have[i], length);
		assert_memory_equal(got[i], bytes, length);
		close(fds[i]);
		free(got[i]);
	}
	pair_deinit(&pair);
	free(bytes);
}

/* A socket that nobody reads holds up only its own channel, within its window. */
static void test_slow_reader(void **state)
{
	size_t length = 4 << 20, sent = 0;
	uint8_t *bytes = make_bytes(length), *got = malloc(length);
	struct pair pair;
	int here, there, other_here, other_there;

	(void)state;
	pair_init(&pair);
	open_channel(&pair, NUMBER, &here, &there);
	open_channel(&pair, NUMBER + 1, &other_here, &other_there);
	/* Until nothing fits any more. */
	for (int idle = 0; idle < 20 && sent < length; idle++) {
		size_t n = write_what_fits(there, bytes + sent, length - sent);

		sent += n;
		if (n)
			idle = 0;
		work(&pair);
	}
	/* Two sockets' buffers and two windows, no more. */
	assert_true(sent < length / 2);
	assert_int_equal(write_what_fits(there, bytes + sent, 1), 0);
	assert_passes(&pair, other_here, other_there, "meanwhile");
	assert_passes(&pair, other_there, other_here, "as ever");
	assert_sends(pair.daemon, 1, "frame", 5);
	assert_receives(pair.pdb, 1, "frame", 5);
	/* And when it is read, all of it is there. */
	assert_int_equal(read_all(&pair, here, got, sent), sent);
	assert_memory_equal(got, bytes, sent);
	close(here);
	close(there);
	close(other_here);
	close(other_there);
	pair_deinit(&pair);
	free(bytes);
	free(got);
}

/* ---- A peer that breaks the rules ---- */

static void put(struct link *link, uint32_t kind, const void *bytes, size_t length)
{
	struct stream_message message = {.number = NUMBER, .kind = kind};

	if (length)
		memcpy(message.bytes, bytes, length);
	link_put_frame(link, LINK_STREAM, &message, STREAM_HEAD + length);
}

/* What is no message of a stream ends the link. */
static void test_no_messages(void **state)
{
	static const struct {
		uint32_t type;
		size_t length;
	} cases[] = {
		{LINK_STREAM, STREAM_HEAD - 1},
		{LINK_STREAM, sizeof(struct stream_message) + 1},
		{LINK_STREAM + 1, STREAM_HEAD},
	};
	uint8_t *zeros = calloc(1, sizeof(struct stream_message) + 1);

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct link_limit limit = within_ms(20);
		struct link_frame frame;
		struct pair pair;
		int here;

		pair_init(&pair);
		assert_int_equal(link_channel_open(pair.pdb, NUMBER, &here, &pair.err), 0);
		link_put_frame(pair.daemon, cases[i].type, zeros, cases[i].length);
		link_receive(pair.daemon, &frame, &limit, &pair.err);
		assert_ends(pair.pdb, ERROR_FORMAT, "a frame of unknown type");
		close(here);
		pair_deinit(&pair);
	}
	free(zeros);
}

/* More bytes than it may have, or bytes behind its end, end the channel, and nothing else. */
static void test_violations(void **state)
{
	static const struct {
		uint32_t first_kind;
		size_t times;
	} cases[] = {{STREAM_DATA, 200}, {STREAM_EOF, 1}};
	uint8_t *zeros = calloc(1, STREAM_PIECE), byte;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct pair pair;
		int here;

		pair_init(&pair);
		assert_int_equal(link_channel_open(pair.pdb, NUMBER, &here, &pair.err), 0);
		put(pair.daemon, cases[i].first_kind, NULL, 0);
		for (size_t n = 0; n < cases[i].times; n++)
			put(pair.daemon, STREAM_DATA, zeros, STREAM_PIECE);
		assert_sends(pair.daemon, 1, "frame", 5);
		assert_receives(pair.pdb, 1, "frame", 5);
		assert_closed(&pair, pair.pdb, NUMBER);
		while (recv(here, &byte, 1, 0) > 0)
			;
		close(here);
		pair_deinit(&pair);
	}
	free(zeros);
}

/* ---- Who passes messages on ---- */

static void test_pass(void **state)
{
	const struct link_limit limit = soon();
	struct stream_message message;
	struct link_frame frame;
	uint8_t bytes[8];
	struct pair pair;
	int here;

	(void)state;
	pair_init(&pair);
	link_pass_streams(pair.daemon);
	assert_int_equal(link_channel_open(pair.pdb, NUMBER, &here, &pair.err), 0);
	assert_int_equal(write(here, "bt", 2), 2);
	work_one(pair.pdb);
	assert_int_equal(link_receive(pair.daemon, &frame, &limit, &pair.err), 0);
	assert_int_equal(frame.type, LINK_STREAM);
	assert_int_equal(frame.length, STREAM_HEAD + 2);
	memcpy(&message, frame.payload, frame.length);
	link_frame_deinit(&frame);
	assert_int_equal(message.kind, STREAM_DATA);
	assert_memory_equal(message.bytes, "bt", 2);
	memcpy(message.bytes, "#0", 2);
	assert_true(link_pass(pair.daemon, &message, STREAM_HEAD + 2));
	work_one(pair.pdb);
	assert_int_equal(read(here, bytes, sizeof(bytes)), 2);
	assert_memory_equal(bytes, "#0", 2);
	/* Somebody who is not read, and does not keep to his window. */
	for (size_t num = 0; link_pass(pair.daemon, &message, sizeof(message)); num++)
		assert_true(num < 2 * LINK_MAX_CHANNELS * STREAM_WINDOW / STREAM_PIECE);
	close(here);
	pair_deinit(&pair);
}

/* ---- The relay ---- */

static struct relay relay_of(int in, int sock, int out)
{
	return (struct relay){
		.in = in,
		.socket = sock,
		.out = out,
		.error_socket = -1,
		.error_out = -1,
		.interrupt = -1,
	};
}

/* In a forked process: close, without a word. */
static void close_copies(struct link *link)
{
	for (size_t i = 0; i < link->num_channels; i++)
		close(stream_fd(link->channels[i]));
	close(link->fd);
}

/* A relay in a process of its own, between two pipes and a channel. */
static void test_relay(void **state)
{
	int in[2], out[2], here, there, status = 0;
	uint8_t bytes[16];
	struct pair pair;
	pid_t pid;

	(void)state;
	pair_init(&pair);
	open_channel(&pair, NUMBER, &here, &there);
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		/* A program that is executed has none of these. */
		close(in[1]);
		close(out[0]);
		close(there);
		close_copies(pair.pdb);
		close_copies(pair.daemon);
		alarm(250);
		const struct relay relay = relay_of(in[0], here, out[1]);

		_exit(relay_run(&relay, &pair.err) < 0);
	}
	close(in[0]);
	close(out[1]);
	close(here);
	assert_int_equal(write(in[1], "question", 8), 8);
	assert_int_equal(read_all(&pair, there, bytes, 8), 8);
	assert_memory_equal(bytes, "question", 8);
	/* The end of its input is passed on; the answer still comes back. */
	close(in[1]);
	assert_int_equal(read_all(&pair, there, bytes, 1), 0);
	assert_int_equal(write(there, "answer", 6), 6);
	close(there);
	assert_closed(&pair, pair.pdb, NUMBER);
	assert_int_equal(read(out[0], bytes, sizeof(bytes)), 6);
	assert_memory_equal(bytes, "answer", 6);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(out[0]);
	pair_deinit(&pair);
}

/* Nobody reads its output any more. */
static void test_relay_fails(void **state)
{
	int fds[2], out[2], in[2];
	struct pdb_error err = {0};
	struct relay relay;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(in), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	relay = relay_of(in[0], fds[0], out[1]);
	close(out[0]);
	assert_int_equal(write(fds[1], "a", 1), 1);
	assert_int_equal(relay_run(&relay, &err), -1);
	assert_error(&err, ERROR_GONE, "was closed");
	close(fds[1]);
	assert_int_equal(write(in[1], "a", 1), 1);
	assert_int_equal(relay_run(&relay, &err), 0);
	close(fds[0]);
	close(in[0]);
	close(in[1]);
	close(out[1]);
	signal(SIGPIPE, SIG_DFL);
}

/* Standard error has a way of its own; it is over when both are. */
static void test_relay_errors(void **state)
{
	int fds[2], errors[2], out[2], error_out[2];
	struct pdb_error err = {0};
	struct relay relay;
	char bytes[16];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, errors), 0);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(error_out), 0);
	relay = relay_of(-1, fds[0], out[1]);
	relay.error_socket = errors[0];
	relay.error_out = error_out[1];
	assert_int_equal(write(fds[1], "answer", 6), 6);
	assert_int_equal(write(errors[1], "warning", 7), 7);
	close(fds[1]);
	close(errors[1]);
	assert_int_equal(relay_run(&relay, &err), 0);
	assert_int_equal(read(out[0], bytes, sizeof(bytes)), 6);
	assert_memory_equal(bytes, "answer", 6);
	assert_int_equal(read(error_out[0], bytes, sizeof(bytes)), 7);
	assert_memory_equal(bytes, "warning", 7);
	for (int i = 0; i < 2; i++) {
		close(out[i]);
		close(error_out[i]);
	}
	close(fds[0]);
	close(errors[0]);
}

/* In a process of its own, at the relay's other end: types Ctrl-C `num` times, `ms` milliseconds
 * between two, sees each arrive and only its echo come back, and hangs up. */
static pid_t start_impatient(int typing, const int sockets[2], int num, int ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000L};
	pid_t pid = fork();
	char byte;

	if (pid != 0)
		return pid;
	alarm(250);
	close(sockets[0]);
	for (int i = 0; i < num; i++) {
		if (write(typing, "\003", 1) != 1 || read(sockets[1], &byte, 1) != 1 || byte != 3)
			_exit(1);
		if (write(sockets[1], "^C", 2) != 2)
			_exit(1);
		nanosleep(&pause, NULL);
	}
	_exit(0);
}

/* Ctrl-C without an answer: thrice within a moment is a habit, thrice in more than that a wish. */
static void test_relay_patience(void **state)
{
	static const struct {
		int num, ms, result, status;
	} typed[] = {{3, 0, 0, 0}, {2, 600, 0, 0}, {3, 600, -1, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++) {
		int fds[2], in[2], out[2], status = -1;
		struct pdb_error err = {0};
		struct relay relay;
		pid_t pid;

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
		assert_int_equal(pipe(in), 0);
		assert_int_equal(pipe(out), 0);
		relay = relay_of(in[0], fds[0], out[1]);
		pid = start_impatient(in[1], fds, typed[i].num, typed[i].ms);
		close(in[1]);
		close(fds[1]);
		assert_int_equal(relay_run(&relay, &err), typed[i].result);
		if (typed[i].result < 0)
			assert_error(&err, ERROR_TIMEOUT, "Ctrl-C");
		/* It waits for the third to arrive, which was not passed on. */
		close(fds[0]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WEXITSTATUS(status), typed[i].status);
		close(in[0]);
		close(out[0]);
		close(out[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_with_frames),  cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_close),        cmocka_unit_test(test_last_words),
		cmocka_unit_test(test_link_ends),    cmocka_unit_test(test_much),
		cmocka_unit_test(test_slow_reader),  cmocka_unit_test(test_violations),
		cmocka_unit_test(test_no_messages),  cmocka_unit_test(test_pass),
		cmocka_unit_test(test_relay),        cmocka_unit_test(test_relay_fails),
		cmocka_unit_test(test_relay_errors), cmocka_unit_test(test_relay_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
