/* SPDX-License-Identifier: BSD-3-Clause
 * The two ends of a stream, each over a socket pair. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/stream.h"
#include "tests/unit/unit.h"

#define NUMBER 5

struct pair {
	struct stream *a, *b;
	int at_a, at_b; /* the other ends of their descriptors; not blocking */
	size_t num_bytes;
};

static struct stream *open_end(enum stream_end end, int *other_ret)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	*other_ret = fds[1];
	return stream_create(NUMBER, fds[0], end);
}

static void pair_init(struct pair *pair, enum stream_end a, enum stream_end b)
{
	*pair = (struct pair){.num_bytes = 0};
	pair->a = open_end(a, &pair->at_a);
	pair->b = open_end(b, &pair->at_b);
}

static void pair_deinit(struct pair *pair)
{
	stream_destroy(pair->a);
	stream_destroy(pair->b);
	if (pair->at_a >= 0)
		close(pair->at_a);
	if (pair->at_b >= 0)
		close(pair->at_b);
}

static bool carry_one(struct pair *pair, struct stream *from, struct stream *to)
{
	struct stream_message message;
	size_t length = stream_next(from, &message);

	if (!length)
		return false;
	assert_int_equal(message.number, NUMBER);
	if (message.kind == STREAM_DATA)
		pair->num_bytes += length - STREAM_HEAD;
	stream_take(to, &message, length);
	return true;
}

/* Until neither has anything to tell. */
static void carry(struct pair *pair)
{
	bool has_moved = true;

	while (has_moved) {
		has_moved = carry_one(pair, pair->a, pair->b);
		has_moved |= carry_one(pair, pair->b, pair->a);
	}
}

static void assert_reads(int fd, const char *text)
{
	char bytes[64];

	assert_int_equal(read(fd, bytes, sizeof(bytes)), strlen(text));
	assert_memory_equal(bytes, text, strlen(text));
}

static void assert_reads_end(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), 0);
}

static void assert_reads_nothing(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), -1);
	assert_int_equal(errno, EAGAIN);
}

/* There is nothing to tell, and both to wait for until a window is full. */
static void test_events(void **state)
{
	struct stream_message message;
	struct pair pair;

	(void)state;
	pair_init(&pair, STREAM_SOCKET, STREAM_TERMINAL);
	assert_int_equal(stream_number(pair.a), NUMBER);
	assert_int_equal(stream_next(pair.a, &message), 0);
	assert_int_equal(stream_events(pair.a), POLLIN);
	while (write(pair.at_a, &message, 1024) > 0)
		while (stream_next(pair.a, &message))
			stream_take(pair.b, &message, STREAM_HEAD);
	assert_int_equal(stream_events(pair.a), 0);
	pair_deinit(&pair);
}

static void test_both_ways(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, STREAM_SOCKET, STREAM_TERMINAL);
	assert_int_equal(write(pair.at_a, "bt\n", 3), 3);
	carry(&pair);
	assert_reads(pair.at_b, "bt\n");
	assert_int_equal(write(pair.at_b, "#0 main", 7), 7);
	carry(&pair);
	assert_reads(pair.at_a, "#0 main");
	assert_reads_nothing(pair.at_a);
	assert_reads_nothing(pair.at_b);
	assert_false(stream_is_over(pair.a));
	assert_false(stream_is_over(pair.b));
	pair_deinit(&pair);
}

/* The one near pdb ends: the terminal gets what was said before, and is to be hung up. */
static void test_hang_up(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, STREAM_SOCKET, STREAM_TERMINAL);
	assert_int_equal(write(pair.at_a, "quit\n", 5), 5);
	close(pair.at_a);
	pair.at_a = -1;
	carry(&pair);
	assert_reads(pair.at_b, "quit\n");
	assert_reads_nothing(pair.at_b);
	assert_true(stream_wants_hang_up(pair.b));
	assert_false(stream_is_over(pair.b));
	stream_hang_up(pair.b);
	carry(&pair);
	assert_reads_end(pair.at_b);
	assert_false(stream_wants_hang_up(pair.b));
	assert_true(stream_is_over(pair.a));
	assert_true(stream_is_over(pair.b));
	pair_deinit(&pair);
}

/* gdb ends: its last words get through, and the end behind them; then the other ends, too. */
static void test_last_words(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, STREAM_SOCKET, STREAM_TERMINAL);
	assert_int_equal(write(pair.at_b, "detached", 8), 8);
	close(pair.at_b);
	pair.at_b = -1;
	carry(&pair);
	assert_reads(pair.at_a, "detached");
	assert_reads_end(pair.at_a);
	assert_false(stream_is_over(pair.a));
	close(pair.at_a);
	pair.at_a = -1;
	carry(&pair);
	assert_true(stream_is_over(pair.a));
	stream_hang_up(pair.b);
	assert_true(stream_is_over(pair.b));
	pair_deinit(&pair);
}

/* gdb has ended, and something that it has started keeps its terminal. */
static void test_finish(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, STREAM_SOCKET, STREAM_TERMINAL);
	carry(&pair);
	assert_int_equal(write(pair.at_b, "bye", 3), 3);
	stream_finish(pair.b);
	carry(&pair);
	assert_reads(pair.at_a, "bye");
	assert_reads_end(pair.at_a);
	pair_deinit(&pair);
}

/* Standard error, where gdb says nothing. */
static void test_pipe(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, STREAM_SOCKET, STREAM_PIPE);
	carry(&pair);
	close(pair.at_b);
	pair.at_b = -1;
	carry(&pair);
	assert_reads_end(pair.at_a);
	close(pair.at_a);
	pair.at_a = -1;
	carry(&pair);
	assert_true(stream_is_over(pair.a));
	assert_true(stream_is_over(pair.b));
	pair_deinit(&pair);
}

/* Nobody reads at the one end: no more than two windows and the sockets' own is under way; once it
 * is read, all of it gets through. */
static void test_slow_reader(void **state)
{
	enum { TOTAL = 4 << 20 };
	uint8_t *text = calloc(1, TOTAL), bytes[4096];
	size_t written = 0, got = 0, stalled;
	struct pair pair;
	ssize_t n;

	(void)state;
	for (size_t i = 0; i < TOTAL; i++)
		text[i] = (uint8_t)(i * 2654435761u >> 13);
	pair_init(&pair, STREAM_SOCKET, STREAM_TERMINAL);
	while ((n = write(pair.at_b, text + written, TOTAL - written)) > 0) {
		written += (size_t)n;
		carry(&pair);
	}
	stalled = pair.num_bytes;
	carry(&pair);
	assert_int_equal(pair.num_bytes, stalled);
	assert_true(stalled < TOTAL / 2);
	while (got < TOTAL) {
		n = write(pair.at_b, text + written, TOTAL - written);
		written += n > 0 ? (size_t)n : 0;
		carry(&pair);
		while ((n = read(pair.at_a, bytes, sizeof(bytes))) > 0) {
			assert_memory_equal(bytes, text + got, (size_t)n);
			got += (size_t)n;
		}
	}
	free(text);
	pair_deinit(&pair);
}

/* The reader has gone: the other end is not held up, and what it says is dropped. */
static void test_no_reader(void **state)
{
	struct stream_message message;
	char bytes[4096] = "";
	struct pair pair;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	pair_init(&pair, STREAM_SOCKET, STREAM_TERMINAL);
	carry(&pair);
	shutdown(pair.at_a, SHUT_RD);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(write(pair.at_b, bytes, sizeof(bytes)), sizeof(bytes));
		carry(&pair);
	}
	assert_int_equal(pair.num_bytes, 100 * sizeof(bytes));
	assert_int_equal(stream_next(pair.b, &message), 0);
	signal(SIGPIPE, SIG_DFL);
	pair_deinit(&pair);
}

static struct stream_message message_of(uint32_t kind, uint32_t number)
{
	struct stream_message message = {.number = NUMBER, .kind = kind};

	memcpy(message.bytes, &number, sizeof(number));
	return message;
}

/* The other daemon has no such stream any more. */
static void test_end(void **state)
{
	struct stream_message end = message_of(STREAM_END, 0);
	struct pair pair;

	(void)state;
	pair_init(&pair, STREAM_SOCKET, STREAM_TERMINAL);
	stream_take(pair.b, &end, STREAM_HEAD);
	assert_true(stream_wants_hang_up(pair.b));
	stream_hang_up(pair.b);
	assert_reads_end(pair.at_b);
	assert_true(stream_is_over(pair.b));
	pair_deinit(&pair);
}

/* What no other end would send. */
static void test_violations(void **state)
{
	struct stream_message message;
	struct pair pair;

	(void)state;
	pair_init(&pair, STREAM_SOCKET, STREAM_TERMINAL);
	/* Cut off, or of no kind. */
	stream_take(pair.a, &message, 0);
	message = message_of(99, 0);
	stream_take(pair.a, &message, STREAM_HEAD);
	/* Credit that was not taken, or is cut off. */
	message = message_of(STREAM_CREDIT, STREAM_WINDOW);
	stream_take(pair.a, &message, STREAM_HEAD + 4);
	stream_take(pair.a, &message, STREAM_HEAD + 3);
	carry(&pair);
	assert_false(stream_is_over(pair.a));
	/* More than the window, none of it read. */
	memset(&message, 0, sizeof(message));
	message.kind = STREAM_DATA;
	for (int i = 0; i < 200; i++)
		stream_take(pair.a, &message, sizeof(message));
	assert_int_equal(stream_fd(pair.a), -1);
	/* Bytes behind the end. */
	message.kind = STREAM_EOF;
	stream_take(pair.b, &message, STREAM_HEAD);
	message.kind = STREAM_DATA;
	stream_take(pair.b, &message, sizeof(message));
	assert_int_equal(stream_fd(pair.b), -1);
	pair_deinit(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),      cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_hang_up),     cmocka_unit_test(test_last_words),
		cmocka_unit_test(test_finish),      cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_slow_reader), cmocka_unit_test(test_no_reader),
		cmocka_unit_test(test_end),         cmocka_unit_test(test_violations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
