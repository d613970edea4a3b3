/* SPDX-License-Identifier: BSD-3-Clause
 * Frames over a link: whole ones, and everything that may happen to them on the way. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "model/monotonic.h"
#include "tests/unit/link_pair.h"

/* ---- Frames ---- */

static void test_sizes(void **state)
{
	static const size_t sizes[] = {
		0,
		1,
		100,
		LINK_CHUNK - 9, /* the first record has 8 bytes of its own */
		LINK_CHUNK - 8,
		LINK_CHUNK - 7,
		2 * LINK_CHUNK - 9,
		2 * LINK_CHUNK - 8,
		2 * LINK_CHUNK - 7,
		200000,
	};
	struct pair pair;

	(void)state;
	pair_init(&pair);
	for (size_t i = 0; i < NUM_OF(sizes); i++) {
		uint8_t *bytes = make_bytes(sizes[i]);

		assert_sends(pair.pdb, (uint32_t)i, bytes, sizes[i]);
		assert_receives(pair.daemon, (uint32_t)i, bytes, sizes[i]);
		assert_sends(pair.daemon, LINK_MAX_TYPE - 1, bytes, sizes[i]);
		assert_receives(pair.pdb, LINK_MAX_TYPE - 1, bytes, sizes[i]);
		free(bytes);
	}
	pair_deinit(&pair);
}

static void test_order(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	for (uint32_t i = 0; i < 500; i++)
		assert_sends(pair.pdb, i, &i, sizeof(i));
	for (uint32_t i = 0; i < 500; i++)
		assert_receives(pair.daemon, i, &i, sizeof(i));
	pair_deinit(&pair);
}

static void test_refused(void **state)
{
	struct link_limit limit = soon();
	struct pdb_error err = {0};
	struct pair pair;

	(void)state;
	pair_init(&pair);
	assert_int_equal(link_send(pair.pdb, LINK_MAX_TYPE, "", 0, &limit, &err), -1);
	assert_error(&err, ERROR_USAGE, "no frame can be of type");
	assert_int_equal(link_send(pair.pdb, 1, "", LINK_MAX_PAYLOAD + 1ul, &limit, &err), -1);
	assert_error(&err, ERROR_USAGE, "no frame can be");
	/* It still works. */
	assert_sends(pair.pdb, 1, "a", 1);
	assert_receives(pair.daemon, 1, "a", 1);
	pair_deinit(&pair);
}

/* ---- Waits ---- */

static void test_waits_end(void **state)
{
	struct link_limit limit;
	struct pdb_error err = {0};
	struct link_frame frame;
	struct pair pair;
	int fds[2];

	(void)state;
	pair_init(&pair);
	limit = within_ms(30);
	assert_int_equal(link_receive(pair.pdb, &frame, &limit, &err), -1);
	assert_error(&err, ERROR_TIMEOUT, "does not answer");
	assert_true(monotonic_ns() >= limit.until_ns);
	/* Without waiting at all. */
	limit.until_ns = 0;
	assert_int_equal(link_receive(pair.pdb, &frame, &limit, &err), -1);
	assert_error(&err, ERROR_TIMEOUT, "does not answer");

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "", 1), 1);
	limit = (struct link_limit){UINT64_MAX, fds[0]};
	assert_int_equal(link_receive(pair.pdb, &frame, &limit, &err), -1);
	assert_error(&err, ERROR_INTERRUPTED, "interrupted");
	close(fds[0]);
	close(fds[1]);

	/* None of these did any harm. */
	assert_sends(pair.daemon, 7, "late", 4);
	assert_receives(pair.pdb, 7, "late", 4);
	pair_deinit(&pair);
}

/* What has come in time is found without any time to wait. */
static void test_no_wait(void **state)
{
	struct link_limit limit = {0, -1};
	struct pollfd ready;
	struct pdb_error err = {0};
	struct link_frame frame;
	struct pair pair;

	(void)state;
	pair_init(&pair);
	assert_sends(pair.daemon, 7, "here", 4);
	ready = (struct pollfd){pair.pdb->fd, POLLIN, 0};
	assert_int_equal(poll(&ready, 1, 100000), 1);
	assert_int_equal(link_receive(pair.pdb, &frame, &limit, &err), 0);
	assert_int_equal(frame.type, 7);
	link_frame_deinit(&frame);
	pair_deinit(&pair);
}

/* A peer that reads nothing: the sender gives up in time, with little memory, for good. */
static void test_send_ends(void **state)
{
	size_t length = 64 << 20;
	uint8_t *bytes = calloc(1, length);
	struct link_limit limit = within_ms(100);
	struct pdb_error err = {0};
	struct pair pair;

	(void)state;
	pair_init(&pair);
	assert_int_equal(link_send(pair.daemon, 1, bytes, length, &limit, &err), -1);
	assert_error(&err, ERROR_TIMEOUT, "cannot send");
	assert_true(pair.daemon->out.capacity <= 8 * LINK_CHUNK);
	limit = soon();
	assert_int_equal(link_send(pair.daemon, 1, "a", 1, &limit, &err), -1);
	assert_error(&err, ERROR_GONE, "given up in the middle of a frame");
	link_destroy(pair.daemon);
	assert_ends(pair.pdb, ERROR_GONE, "cut in the middle of a frame");
	link_destroy(pair.pdb);
	free(bytes);
}

struct exchange {
	struct link *link;
	const uint8_t *bytes;
	size_t length;
	int result;
	struct link_frame frame;
	struct pdb_error err;
};

static void *exchange_thread(void *argument)
{
	struct exchange *exchange = argument;
	struct link_limit limit = soon();

	exchange->result = link_send(exchange->link, 5, exchange->bytes, exchange->length, &limit,
				     &exchange->err);
	if (!exchange->result)
		exchange->result =
			link_receive(exchange->link, &exchange->frame, &limit, &exchange->err);
	return NULL;
}

/* Both send more than the kernel holds before either receives. */
static void test_both_send(void **state)
{
	size_t length = 20 << 20;
	uint8_t *bytes = make_bytes(length);
	struct exchange exchange;
	struct pair pair;
	pthread_t thread;

	(void)state;
	pair_init(&pair);
	exchange = (struct exchange){.link = pair.daemon, .bytes = bytes, .length = length};
	assert_int_equal(pthread_create(&thread, NULL, exchange_thread, &exchange), 0);
	assert_sends(pair.pdb, 6, bytes, length);
	assert_receives(pair.pdb, 5, bytes, length);
	pthread_join(thread, NULL);
	if (exchange.result)
		fail_msg("%s", exchange.err.text);
	assert_int_equal(exchange.frame.type, 6);
	assert_int_equal(exchange.frame.length, length);
	assert_memory_equal(exchange.frame.payload, bytes, length);
	link_frame_deinit(&exchange.frame);
	pair_deinit(&pair);
	free(bytes);
}

/* ---- Records that were tampered with ---- */

/* Take the bytes that are under way to `link` out of its connection. */
static size_t steal(struct link *link, uint8_t *bytes, size_t size)
{
	struct pollfd ready = {link->fd, POLLIN, 0};
	ssize_t n;

	assert_int_equal(poll(&ready, 1, 100000), 1);
	n = recv(link->fd, bytes, size, 0);
	assert_true(n > 0);
	return (size_t)n;
}

/* Put bytes on the way to the other end of `link`. */
static void put_bytes(struct link *link, const void *bytes, size_t size)
{
	assert_int_equal(send(link->fd, bytes, size, MSG_NOSIGNAL), size);
}

static void test_changed(void **state)
{
	uint8_t bytes[256];
	size_t size = 0;

	(void)state;
	for (size_t at = 0; at == 0 || at < size; at++) {
		struct pair pair;

		pair_init(&pair);
		assert_sends(pair.daemon, 1, "payload", 7);
		size = steal(pair.pdb, bytes, sizeof(bytes));
		bytes[at] ^= 1;
		put_bytes(pair.daemon, bytes, size);
		shutdown(pair.daemon->fd, SHUT_WR);
		/* The first two make the record longer, the next two too long. */
		assert_ends(pair.pdb, at < 2 ? ERROR_GONE : ERROR_FORMAT,
			    at < 2   ? "cut in the middle"
			    : at < 4 ? "a record of"
				     : "differ from what was sent");
		pair_deinit(&pair);
	}
	assert_int_equal(size, 4 + 8 + 7 + crypto_secretstream_xchacha20poly1305_ABYTES);
}

static void test_repeated(void **state)
{
	uint8_t bytes[256];
	struct pair pair;
	size_t size;

	(void)state;
	pair_init(&pair);
	assert_sends(pair.daemon, 1, "payload", 7);
	size = steal(pair.pdb, bytes, sizeof(bytes));
	put_bytes(pair.daemon, bytes, size);
	put_bytes(pair.daemon, bytes, size);
	assert_receives(pair.pdb, 1, "payload", 7);
	assert_ends(pair.pdb, ERROR_FORMAT, "repeated");
	pair_deinit(&pair);
}

static void test_left_out(void **state)
{
	uint8_t bytes[256];
	struct pair pair;

	(void)state;
	pair_init(&pair);
	assert_sends(pair.daemon, 1, "first", 5);
	steal(pair.pdb, bytes, sizeof(bytes));
	assert_sends(pair.daemon, 1, "second", 6);
	assert_ends(pair.pdb, ERROR_FORMAT, "missing");
	pair_deinit(&pair);
}

/* A record is no record in the other direction, nor of another link. */
static void test_reflected(void **state)
{
	uint8_t bytes[256];
	struct pair pair, other;
	size_t size;

	(void)state;
	pair_init(&pair);
	pair_init(&other);
	assert_sends(pair.daemon, 1, "payload", 7);
	size = steal(pair.pdb, bytes, sizeof(bytes));
	put_bytes(pair.pdb, bytes, size);
	assert_ends(pair.daemon, ERROR_FORMAT, "differ from what was sent");
	put_bytes(other.daemon, bytes, size);
	assert_ends(other.pdb, ERROR_FORMAT, "differ from what was sent");
	pair_deinit(&pair);
	pair_deinit(&other);
}

/* The payload is not to be seen. */
static void test_encrypted(void **state)
{
	uint8_t bytes[256];
	struct pair pair;
	size_t size;

	(void)state;
	pair_init(&pair);
	assert_sends(pair.daemon, 1, "payload", 7);
	size = steal(pair.pdb, bytes, sizeof(bytes));
	assert_null(memmem(bytes, size, "payload", 7));
	pair_deinit(&pair);
}

/* What ends a connection too early, byte by byte of two records. */
static void test_truncated(void **state)
{
	uint8_t bytes[256];
	size_t size = 0;

	(void)state;
	for (size_t keep = 0; keep == 0 || keep < size; keep++) {
		struct pair pair;

		pair_init(&pair);
		assert_sends(pair.daemon, 1, "ab", 2);
		size = steal(pair.pdb, bytes, sizeof(bytes));
		put_bytes(pair.daemon, bytes, keep);
		shutdown(pair.daemon->fd, SHUT_WR);
		assert_ends(pair.pdb, ERROR_GONE, keep ? "cut in the middle of a frame" : "cut");
		pair_deinit(&pair);
	}
}

static void test_bad_lengths(void **state)
{
	static const uint32_t lengths[] = {0, 16, LINK_RECORD_MAX + 1, 0x7fffffff, 0xffffffff};

	(void)state;
	for (size_t i = 0; i < NUM_OF(lengths); i++) {
		struct pair pair;
		uint8_t bytes[4];

		pair_init(&pair);
		link_put_u32(bytes, lengths[i]);
		put_bytes(pair.daemon, bytes, sizeof(bytes));
		assert_ends(pair.pdb, ERROR_FORMAT, "a record of");
		pair_deinit(&pair);
	}
}

/* ---- Records that know the key, and are wrong ---- */

static void put_plain(struct link *link, const void *plain, size_t length, uint8_t tag)
{
	uint8_t record[256];
	unsigned long long size;

	link_put_u32(record, (uint32_t)length + crypto_secretstream_xchacha20poly1305_ABYTES);
	crypto_secretstream_xchacha20poly1305_push(&link->send, record + 4, &size, plain, length,
						   record, 4, tag);
	put_bytes(link, record, (size_t)size + 4);
}

/* type, length (both little endian), payload */
#define HEADER(length) "\x01\0\0\0" length "\0\0\0"

static void test_wrong_records(void **state)
{
	static const struct {
		const char *plain;
		size_t length;
		uint8_t tag;
		const char *part;
	} records[] = {
		{"", 0, 0, "a frame without header"},
		{"1234567", 7, 1, "a frame without header"},
		{HEADER("\2") "a", 9, 1, "a frame is shorter than it says"},
		{HEADER("\2") "abc", 11, 1, "a frame is longer than it says"},
		{HEADER("\2") "abc", 11, 0, "a frame is longer than it says"},
		{"\1\0\0\0\1\0\0\x40", 8, 0, "a frame of 1073741825 bytes"},
		{"\1\0\0\0\xff\xff\xff\xff", 8, 0, "a frame of 4294967295 bytes"},
		{HEADER("\0"), 8, 2, "a record of an unknown kind"},
		{"bye", 3, 3, "it ended within a frame"},
		{"\4\xff\xff\xff\4\0\0\0\1\0\0\0", 12, 1, "a frame of unknown type 0xffffff04"},
		{"\0\xff\xff\xff\3\0\0\0\1\0\0", 11, 1, "a frame of unknown type 0xffffff00"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(records); i++) {
		struct pair pair;

		pair_init(&pair);
		put_plain(pair.daemon, records[i].plain, records[i].length, records[i].tag);
		assert_ends(pair.pdb, ERROR_FORMAT, records[i].part);
		pair_deinit(&pair);
	}
}

/* A long frame was announced, and little of it came: no memory for what did not. */
static void test_announced(void **state)
{
	struct link_limit limit = within_ms(50);
	struct pdb_error err = {0};
	struct link_frame frame;
	struct pair pair;

	(void)state;
	pair_init(&pair);
	put_plain(pair.daemon, "\1\0\0\0\0\0\0\x40...", 11, 0);
	assert_int_equal(link_receive(pair.pdb, &frame, &limit, &err), -1);
	assert_error(&err, ERROR_TIMEOUT, "does not answer");
	assert_int_equal(pair.pdb->frame_have, 3);
	assert_true(pair.pdb->frame_capacity < 100);
	pair_deinit(&pair);
}

/* ---- Ends ---- */

static void test_goodbye(void **state)
{
	struct link_limit limit = soon();
	struct pdb_error err = {0};
	struct pair pair;

	(void)state;
	pair_init(&pair);
	assert_sends(pair.daemon, 1, "last", 4);
	link_destroy(pair.daemon);
	assert_receives(pair.pdb, 1, "last", 4);
	assert_ends(pair.pdb, ERROR_GONE, "closed by the other side");
	assert_int_equal(link_send(pair.pdb, 1, "a", 1, &limit, &err), -1);
	assert_error(&err, ERROR_GONE, "closed by the other side");
	link_destroy(pair.pdb);
	link_destroy(NULL);
}

/* The other end says no more, but would still listen. */
static void test_half_closed(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	assert_sends(pair.daemon, 1, "last", 4);
	shutdown(pair.daemon->fd, SHUT_WR);
	assert_receives(pair.pdb, 1, "last", 4);
	assert_ends(pair.pdb, ERROR_GONE, "cut");
	pair_deinit(&pair);
}

/* The daemon in a process of its own, which reads and writes nothing. */
static pid_t fork_daemon(struct pair *pair)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		close(pair->pdb->fd);
		alarm(250);
		for (;;)
			pause();
	}
	close(pair->daemon->fd);
	pair->daemon->fd = -1;
	return pid;
}

static void test_killed(void **state)
{
	struct pair pair;
	pid_t pid;

	(void)state;
	pair_init(&pair);
	pid = fork_daemon(&pair);
	kill(pid, SIGKILL);
	assert_ends(pair.pdb, ERROR_GONE, "cut");
	waitpid(pid, NULL, 0);
	pair_deinit(&pair);
}

static void test_stopped(void **state)
{
	struct link_limit limit = within_ms(100);
	struct pdb_error err = {0};
	struct link_frame frame;
	struct pair pair;
	int status;
	pid_t pid;

	(void)state;
	pair_init(&pair);
	pid = fork_daemon(&pair);
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_sends(pair.pdb, 1, "are you there?", 14);
	assert_int_equal(link_receive(pair.pdb, &frame, &limit, &err), -1);
	assert_error(&err, ERROR_TIMEOUT, "does not answer");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pair_deinit(&pair);
}

/* ---- A network that is cut ---- */

/* A network of this process alone, with a loopback. */
static bool own_network(void)
{
	uid_t uid = getuid();

	return unshare(uid == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

static int set_loopback(bool up)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = up ? IFF_UP : 0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int result = fd < 0 ? -1 : ioctl(fd, SIOCSIFFLAGS, &request);

	if (fd >= 0)
		close(fd);
	return result;
}

enum { CUT_SKIP = 77 };

/* In a process of its own. Status 0: the end was noticed, with or without something under way. */
static int cut_network(bool is_sending)
{
	struct link_limit limit = soon();
	struct pdb_error err = {0};
	struct link_frame frame;
	struct pair pair;

	if (!own_network() || set_loopback(true) < 0)
		return CUT_SKIP;
	pair_init(&pair);
	link_set_patience(pair.daemon, 3);
	if (set_loopback(false) < 0)
		return CUT_SKIP;
	if (is_sending)
		link_send(pair.daemon, 1, "a", 1, &limit, &err);
	if (link_receive(pair.daemon, &frame, &limit, &err) == 0 || err.code != ERROR_GONE) {
		fprintf(stderr, "%d %s\n", err.code, err.text);
		return 1;
	}
	return 0;
}

static void test_cut(void **state)
{
	(void)state;
	for (int is_sending = 0; is_sending < 2; is_sending++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			_exit(cut_network(is_sending));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == CUT_SKIP)
			skip(); /* no network namespaces here */
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),         cmocka_unit_test(test_order),
		cmocka_unit_test(test_refused),       cmocka_unit_test(test_waits_end),
		cmocka_unit_test(test_no_wait),       cmocka_unit_test(test_send_ends),
		cmocka_unit_test(test_both_send),     cmocka_unit_test(test_changed),
		cmocka_unit_test(test_repeated),      cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_reflected),     cmocka_unit_test(test_encrypted),
		cmocka_unit_test(test_truncated),     cmocka_unit_test(test_bad_lengths),
		cmocka_unit_test(test_wrong_records), cmocka_unit_test(test_announced),
		cmocka_unit_test(test_goodbye),       cmocka_unit_test(test_half_closed),
		cmocka_unit_test(test_killed),        cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
