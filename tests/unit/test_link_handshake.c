/* SPDX-License-Identifier: BSD-3-Clause
 * How a link comes about: the invitation, and who is let in. */
#include <errno.h>
#include <sys/wait.h>

#include "model/monotonic.h"
#include "tests/unit/link_pair.h"

#define SECRET "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* ---- The invitation ---- */

static void test_decode(void **state)
{
	static const struct {
		const char *text;
		enum error_code code;
		const char *part; /* of the error, or of the last address */
		size_t num_addresses;
	} cases[] = {
		{"pdblink1/" SECRET "/10.0.0.1:4711", 0, "10.0.0.1:4711", 1},
		{"pdblink1/" SECRET "/10.0.0.1:4711,[fd00::1]:65535", 0, "[fd00::1]:65535", 2},
		{"pdblink1/" SECRET "/[::ffff:10.0.0.1]:1", 0, "10.0.0.1:1", 1},
		{"", ERROR_FORMAT, "no invitation", 0},
		{"hello", ERROR_FORMAT, "no invitation", 0},
		{"pdblink2/" SECRET "/10.0.0.1:4711", ERROR_VERSION, "different versions", 0},
		{"pdblink10/" SECRET "/10.0.0.1:4711", ERROR_VERSION, "different versions", 0},
		{"pdblink1", ERROR_VERSION, "different versions", 0},
		{"pdblink1/", ERROR_FORMAT, "secret", 0},
		{"pdblink1/" SECRET, ERROR_FORMAT, "secret", 0},
		{"pdblink1/" SECRET "0/10.0.0.1:4711", ERROR_FORMAT, "secret", 0},
		{"pdblink1/0011/10.0.0.1:4711", ERROR_FORMAT, "secret", 0},
		{"pdblink1/" SECRET "/", ERROR_FORMAT, "\"\" is not one", 0},
		{"pdblink1/" SECRET "/10.0.0.1", ERROR_FORMAT, "\"10.0.0.1\" is not one", 0},
		{"pdblink1/" SECRET "/10.0.0.1:", ERROR_FORMAT, "is not one", 0},
		{"pdblink1/" SECRET "/10.0.0.1:0", ERROR_FORMAT, "is not one", 0},
		{"pdblink1/" SECRET "/10.0.0.1:http", ERROR_FORMAT, "is not one", 0},
		{"pdblink1/" SECRET "/:4711", ERROR_FORMAT, "is not one", 0},
		{"pdblink1/" SECRET "/[:4711", ERROR_FORMAT, "is not one", 0},
		{"pdblink1/" SECRET "/[]:4711", ERROR_FORMAT, "is not one", 0},
		{"pdblink1/" SECRET "/[fd00::1:4711", ERROR_FORMAT, "is not one", 0},
		{"pdblink1/" SECRET "/localhost:4711", ERROR_FORMAT, "is not one", 0},
		{"pdblink1/" SECRET "/10.0.0.1:4711,", ERROR_FORMAT, "\"\" is not one", 0},
		{"pdblink1/" SECRET "/10.0.0.1:1,,10.0.0.1:2", ERROR_FORMAT, "\"\"", 0},
		{"pdblink1/" SECRET "/1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,"
		 "1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,"
		 "1.1.1.1:1,1.1.1.1:1,1.1.1.1:1",
		 ERROR_FORMAT, "too many", 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct link_invitation invitation;
		struct pdb_error err = {0};
		char text[LINK_ADDRESS_TEXT];
		int result = link_invitation_decode(cases[i].text, &invitation, &err);

		if (result != (cases[i].code ? -1 : 0))
			fail_msg("%s: %s", cases[i].text, err.text);
		if (cases[i].code) {
			assert_error(&err, cases[i].code, cases[i].part);
			continue;
		}
		assert_int_equal(invitation.num_addresses, cases[i].num_addresses);
		link_address_text(
			(struct sockaddr *)&invitation.addresses[invitation.num_addresses - 1],
			text);
		assert_string_equal(text, cases[i].part);
		assert_int_equal(invitation.secret[31], 0xff);
	}
}

/* Out of the environment, also for those who look at the process from outside. */
static void test_take(void **state)
{
	static char variable[] = "PDB_TEST_INVITATION=pdblink1/abc";
	char *taken;

	(void)state;
	assert_null(link_invitation_take("PDB_TEST_INVITATION"));
	assert_int_equal(putenv(variable), 0);
	taken = link_invitation_take("PDB_TEST_INVITATION");
	assert_string_equal(taken, "pdblink1/abc");
	assert_null(getenv("PDB_TEST_INVITATION"));
	assert_string_equal(variable, "PDB_TEST_INVITATION=");
	link_forget(taken);
	link_forget(NULL);
}

/* Two listeners share no secret. All addresses have the same port then, and the loopback is last.
 */
static void test_listen_on_all(void **state)
{
	struct pdb_error err = {0};
	struct link_listener *listener = link_listen(&err), *other = listen_here();
	char *text = link_invitation(listener);
	struct link_invitation invitation;
	struct connecting connecting;
	struct link_limit limit = soon();
	struct link *link;
	char last[LINK_ADDRESS_TEXT];

	(void)state;
	assert_memory_not_equal(listener->race.secret, other->race.secret, LINK_SECRET);
	assert_int_equal(strspn(text, "pdblink0123456789abcdef/.,:[]"), strlen(text));
	assert_int_equal(link_invitation_decode(text, &invitation, &err), 0);
	assert_memory_equal(invitation.secret, listener->race.secret, LINK_SECRET);
	link_address_text((struct sockaddr *)&invitation.addresses[invitation.num_addresses - 1],
			  last);
	assert_true(strncmp(last, "127.0.0.1:", 10) == 0 || strncmp(last, "[::1]:", 6) == 0);
	connecting_start(&connecting, text);
	link = link_accept(listener, &limit, &err);
	assert_non_null(link);
	assert_non_null(connecting_end(&connecting));
	link_destroy(link);
	link_destroy(connecting.link);
	link_listener_destroy(listener);
	link_listener_destroy(other);
	link_listener_destroy(NULL);
	link_forget(text);
}

/* ---- Strangers ---- */

static int port_of(const struct link_listener *listener)
{
	return atoi(strrchr(listener->addresses[0], ':') + 1);
}

/* A connection of somebody who has no link. */
static int stranger(const struct link_listener *listener)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((in_port_t)port_of(listener)),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* In place of the listener. */
static int accept_next(const struct link_listener *listener)
{
	struct pollfd ready = {listener->fds[0], POLLIN, 0};
	int fd;

	assert_int_equal(poll(&ready, 1, 100000), 1);
	fd = accept(listener->fds[0], NULL, NULL);
	assert_true(fd >= 0);
	return fd;
}

/* Nobody passes, which is told with these words sooner or later. */
static void assert_nobody(struct link_listener *listener, const char *part)
{
	uint64_t until_ns = soon().until_ns;
	struct pdb_error err = {0};

	do {
		struct link_limit limit = within_ms(20);

		assert_null(link_accept(listener, &limit, &err));
		assert_int_equal(err.code, ERROR_TIMEOUT);
	} while (!strstr(err.text, part) && monotonic_ns() < until_ns);
	assert_error(&err, ERROR_TIMEOUT, part);
}

/* Until so many have been accepted or dropped, none of whom passes. */
static void accept_strangers(struct link_listener *listener, size_t num)
{
	uint64_t until_ns = soon().until_ns;

	while (listener->race.num_peers + listener->race.num_dropped < num &&
	       monotonic_ns() < until_ns)
		assert_nobody(listener, "in time");
	assert_int_equal(listener->race.num_peers + listener->race.num_dropped, num);
}

/* The listener lets this invitation in, whatever came before. */
static void assert_lets_in(struct link_listener *listener)
{
	char *invitation = link_invitation(listener);
	struct link_limit limit = soon();
	struct pdb_error err = {0};
	struct connecting connecting;
	struct link *link;

	connecting_start(&connecting, invitation);
	link = link_accept(listener, &limit, &err);
	if (!link)
		fail_msg("%s", err.text);
	assert_non_null(connecting_end(&connecting));
	assert_sends(link, 1, "hello", 5);
	assert_receives(connecting.link, 1, "hello", 5);
	/* Nobody else is. */
	assert_null(link_accept(listener, &limit, &err));
	assert_error(&err, ERROR_GONE, "already");
	link_destroy(link);
	link_destroy(connecting.link);
	link_forget(invitation);
}

/* The connection is closed from the other end; how much it has said before that. */
static size_t read_to_end(int fd)
{
	char bytes[256];
	size_t size = 0;

	for (;;) {
		struct pollfd ready = {fd, POLLIN, 0};
		ssize_t n;

		assert_int_equal(poll(&ready, 1, 100000), 1);
		n = read(fd, bytes, sizeof(bytes));
		if (n <= 0)
			return size;
		size += (size_t)n;
	}
}

static void test_nobody(void **state)
{
	struct link_listener *listener = listen_here();
	struct link_limit limit = {UINT64_MAX, -1};
	struct pdb_error err = {0};
	int fds[2];

	(void)state;
	assert_nobody(listener, "nobody has connected in time");
	assert_int_equal(pipe(fds), 0);
	close(fds[1]);
	limit.cancel_fd = fds[0];
	assert_null(link_accept(listener, &limit, &err));
	assert_error(&err, ERROR_INTERRUPTED, "interrupted");
	close(fds[0]);
	assert_lets_in(listener);
	link_listener_destroy(listener);
}

/* Looking without waiting gets on, too. */
static void test_no_wait(void **state)
{
	struct link_listener *listener = listen_here();
	char *invitation = link_invitation(listener);
	struct link_limit limit = {0, -1}, end = soon();
	struct pdb_error err = {0};
	struct connecting connecting;
	struct link *link = NULL;

	(void)state;
	connecting_start(&connecting, invitation);
	while (!link && monotonic_ns() < end.until_ns) {
		link = link_accept(listener, &limit, &err);
		if (!link)
			assert_int_equal(err.code, ERROR_TIMEOUT);
		sched_yield();
	}
	assert_non_null(link);
	assert_non_null(connecting_end(&connecting));
	link_destroy(link);
	link_destroy(connecting.link);
	link_forget(invitation);
	link_listener_destroy(listener);
}

/* Callers that do not want to know why. */
static void test_no_error(void **state)
{
	struct link_listener *listener = listen_here();
	char *invitation = link_invitation(listener);
	const struct link_limit limit = {0, -1};

	(void)state;
	assert_null(link_accept(listener, &limit, NULL));
	assert_null(link_connect(invitation, &limit, NULL));
	assert_null(link_accept(listener, &limit, NULL)); /* somebody has been dropped */
	link_listener_destroy(listener);
	assert_null(link_connect(invitation, &limit, NULL));
	assert_null(link_connect("nonsense", &limit, NULL));
	link_forget(invitation);
}

static void test_garbage(void **state)
{
	static const char web[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	static const struct {
		const char *bytes;
		size_t length;
		const char *part;
	} cases[] = {
		{web, sizeof(web) - 1, "does not speak pdb's protocol"},
		{"p", 1, "nobody has connected in time"}, /* may become the right thing */
		{"x", 1, "does not speak pdb's protocol"},
		{"pdblink2", 8, "does not speak pdb's protocol"},
		{"", 0, "nobody has connected in time"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct link_listener *listener = listen_here();
		int fd = stranger(listener);

		assert_int_equal(write(fd, cases[i].bytes, cases[i].length), cases[i].length);
		assert_nobody(listener, cases[i].part);
		assert_lets_in(listener);
		/* Dropped, at the latest then; all that it was told is the challenge. */
		assert_true(read_to_end(fd) <= sizeof(((struct link_transcript *)0)->challenge));
		close(fd);
		link_listener_destroy(listener);
	}
}

static void test_hang_up(void **state)
{
	struct link_listener *listener = listen_here();
	int fd = stranger(listener);

	(void)state;
	shutdown(fd, SHUT_WR);
	assert_nobody(listener, "has hung up");
	close(fd);
	assert_lets_in(listener);
	link_listener_destroy(listener);
}

/* Who says nothing is dropped after a while. */
static void test_silent(void **state)
{
	struct link_listener *listener = listen_here();
	int fd;

	(void)state;
	assert_int_equal(listener->proof_ns, UINT64_C(10000000000));
	listener->proof_ns = 30000000;
	fd = stranger(listener);
	assert_nobody(listener, "says nothing");
	assert_true(read_to_end(fd) > 0);
	close(fd);
	link_listener_destroy(listener);
}

/* More silent ones than there are places. */
static void test_crowd(void **state)
{
	struct link_listener *listener = listen_here();
	int fds[RACE_MAX + 4];

	(void)state;
	for (size_t i = 0; i < NUM_OF(fds); i++) {
		fds[i] = stranger(listener);
		accept_strangers(listener, i + 1);
	}
	assert_int_equal(listener->race.num_peers, RACE_MAX);
	assert_lets_in(listener);
	for (size_t i = 0; i < NUM_OF(fds); i++) {
		read_to_end(fds[i]);
		close(fds[i]);
	}
	link_listener_destroy(listener);
}

/* ---- Wrong secrets ---- */

static void test_wrong_secret(void **state)
{
	struct link_listener *listener = listen_here();
	char *invitation = link_invitation(listener), *digit = strchr(invitation, '/') + 1;
	struct connecting connecting;

	(void)state;
	*digit = *digit == '0' ? '1' : '0';
	connecting_start(&connecting, invitation);
	assert_nobody(listener, "does not know the secret");
	assert_null(connecting_end(&connecting));
	assert_error(&connecting.err, ERROR_GONE, "has hung up");
	assert_lets_in(listener);
	link_forget(invitation);
	link_listener_destroy(listener);
}

/* Who plays pdb without the secret is not believed, and learns nothing. */
static void test_false_pdb(void **state)
{
	struct link_listener *listener = listen_here();
	char *invitation = link_invitation(listener);
	struct connecting connecting;
	struct handshake_race *race = calloc(1, sizeof(*race));
	struct link_limit limit = soon();
	struct handshake winner;
	struct pdb_error err = {0};
	int fd, none;

	(void)state;
	connecting_start(&connecting, invitation);
	fd = accept_next(listener);
	race_add(race, HANDSHAKE_PDB, fd, false, UINT64_MAX, &(struct sockaddr){AF_UNIX, ""});
	assert_int_equal(race_wait(race, NULL, 0, &limit, &none, &winner, &err), 0);
	assert_error(&race->last, ERROR_PERMISSION, "does not know the secret");
	assert_null(connecting_end(&connecting));
	race_end(race);

	/* And an acceptance that was made up. */
	connecting_start(&connecting, invitation);
	fd = accept_next(listener);
	memcpy(race->secret, listener->race.secret, LINK_SECRET);
	race_add(race, HANDSHAKE_PDB, fd, false, UINT64_MAX, &(struct sockaddr){AF_UNIX, ""});
	assert_int_equal(poll(&(struct pollfd){fd, POLLIN, 0}, 1, 20000), 1);
	assert_int_equal(send(fd, race->peers[0].transcript.acceptance.header,
			      sizeof(race->peers[0].transcript.acceptance), 0),
			 sizeof(race->peers[0].transcript.acceptance));
	assert_null(connecting_end(&connecting));
	assert_error(&connecting.err, ERROR_GONE, "does not know the secret");
	race_end(race);
	free(race);
	link_forget(invitation);
	link_listener_destroy(listener);
}

/* A daemon's answer, overheard, is worth nothing in another connection. */
static void test_replayed(void **state)
{
	struct link_listener *listener = listen_here();
	char *invitation = link_invitation(listener);
	uint8_t challenge[sizeof(((struct link_transcript *)0)->challenge)];
	uint8_t answer[sizeof(((struct link_transcript *)0)->answer)];
	struct connecting connecting;
	int daemon_fd, pdb_fd;

	(void)state;
	/* In the middle: pass on the challenge, keep the answer. */
	connecting_start(&connecting, invitation);
	daemon_fd = accept_next(listener);
	pdb_fd = stranger(listener);
	accept_strangers(listener, 1);
	assert_int_equal(recv(pdb_fd, challenge, sizeof(challenge), MSG_WAITALL),
			 sizeof(challenge));
	assert_int_equal(send(daemon_fd, challenge, sizeof(challenge), 0), sizeof(challenge));
	assert_int_equal(recv(daemon_fd, answer, sizeof(answer), MSG_WAITALL), sizeof(answer));
	close(daemon_fd);
	close(pdb_fd);
	assert_null(connecting_end(&connecting));

	pdb_fd = stranger(listener);
	assert_int_equal(send(pdb_fd, answer, sizeof(answer), 0), sizeof(answer));
	assert_nobody(listener, "does not know the secret");
	close(pdb_fd);
	/* The challenge itself is no answer either. */
	pdb_fd = stranger(listener);
	accept_strangers(listener, 3);
	memset(answer, 0, sizeof(answer));
	assert_int_equal(recv(pdb_fd, answer, sizeof(challenge), MSG_WAITALL), sizeof(challenge));
	assert_int_equal(send(pdb_fd, answer, sizeof(answer), 0), sizeof(answer));
	while (listener->race.num_peers > 0)
		assert_nobody(listener, "in time");
	assert_error(&listener->race.last, ERROR_PERMISSION, "does not know the secret");
	close(pdb_fd);
	assert_lets_in(listener);
	link_forget(invitation);
	link_listener_destroy(listener);
}

/* ---- Several at once ---- */

/* Both know the secret: one is let in, the other is told so. */
static void test_two(void **state)
{
	struct link_listener *listener = listen_here();
	char *invitation = link_invitation(listener);
	struct connecting connecting[2];
	struct link_limit limit = soon();
	struct pdb_error err = {0};
	struct link *link;
	int winner;

	(void)state;
	connecting_start(&connecting[0], invitation);
	connecting_start(&connecting[1], invitation);
	link = link_accept(listener, &limit, &err);
	assert_non_null(link);
	link_listener_destroy(listener);
	connecting_end(&connecting[0]);
	connecting_end(&connecting[1]);
	winner = connecting[1].link != NULL;
	assert_null(connecting[!winner].link);
	assert_error(&connecting[!winner].err, ERROR_GONE, "cannot reach pdb");
	assert_sends(link, 1, "you", 3);
	assert_receives(connecting[winner].link, 1, "you", 3);
	link_destroy(link);
	link_destroy(connecting[winner].link);
	link_forget(invitation);
}

/* Addresses where nobody is, or somebody who is silent, do not keep the daemon from the right one.
 */
static void test_many_addresses(void **state)
{
	struct link_listener *listener = listen_here(), *silent = listen_here();
	char *invitation = link_invitation(listener), text[512];
	struct link_limit limit = soon();
	struct pdb_error err = {0};
	struct connecting connecting;
	struct link *link;

	(void)state;
	snprintf(text, sizeof(text), "%.*s127.0.0.1:1,%s,[::1]:1,%s",
		 (int)(strrchr(invitation, '/') + 1 - invitation), invitation, silent->addresses[0],
		 listener->addresses[0]);
	connecting_start(&connecting, text);
	link = link_accept(listener, &limit, &err);
	assert_non_null(link);
	assert_non_null(connecting_end(&connecting));
	link_destroy(link);
	link_destroy(connecting.link);
	link_forget(invitation);
	link_listener_destroy(listener);
	link_listener_destroy(silent);
}

static void test_connect_refused(void **state)
{
	struct link_listener *listener = listen_here();
	char *invitation = link_invitation(listener), text[512];
	struct link_limit limit = within_ms(50);
	struct pdb_error err = {0};
	int fds[2];

	(void)state;
	/* Somebody listens, but does not say anything. */
	assert_null(link_connect(invitation, &limit, &err));
	assert_error(&err, ERROR_TIMEOUT, "does not answer");
	assert_int_equal(pipe(fds), 0);
	close(fds[1]);
	limit = (struct link_limit){UINT64_MAX, fds[0]};
	assert_null(link_connect(invitation, &limit, &err));
	assert_error(&err, ERROR_INTERRUPTED, "interrupted");
	close(fds[0]);
	/* Nobody listens: each address is told of. */
	link_listener_destroy(listener);
	limit = soon();
	snprintf(text, sizeof(text), "%s,127.0.0.1:1", invitation);
	assert_null(link_connect(text, &limit, &err));
	assert_error(&err, ERROR_GONE, strrchr(invitation, '/') + 1);
	assert_error(&err, ERROR_GONE, "127.0.0.1:1: Connection refused");
	assert_null(link_connect("nonsense", &limit, &err));
	assert_error(&err, ERROR_FORMAT, "no invitation");
	link_forget(invitation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),         cmocka_unit_test(test_take),
		cmocka_unit_test(test_listen_on_all),  cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_no_wait),        cmocka_unit_test(test_no_error),
		cmocka_unit_test(test_garbage),        cmocka_unit_test(test_hang_up),
		cmocka_unit_test(test_silent),         cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_wrong_secret),   cmocka_unit_test(test_false_pdb),
		cmocka_unit_test(test_replayed),       cmocka_unit_test(test_two),
		cmocka_unit_test(test_many_addresses), cmocka_unit_test(test_connect_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
