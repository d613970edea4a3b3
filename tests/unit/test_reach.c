/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/reach.h"
#include "tests/unit/unit.h"

enum { FULL = 2 }; /* connections that fill a queue of length 0 */

/* A port of 127.0.0.1 that does not answer, as its queue is full. */
struct silence {
	int listener, waiting[FULL];
	char port[8];
};

static int setup(void **state)
{
	static struct silence silence;
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	silence.listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(silence.listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(silence.listener, 0), 0);
	assert_int_equal(getsockname(silence.listener, (struct sockaddr *)&address, &size), 0);
	snprintf(silence.port, sizeof(silence.port), "%d", ntohs(address.sin_port));
	for (int i = 0; i < FULL; i++) {
		silence.waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(silence.waiting[i], (struct sockaddr *)&address, size);
	}
	*state = &silence;
	return 0;
}

static int teardown(void **state)
{
	struct silence *silence = *state;

	for (int i = 0; i < FULL; i++)
		close(silence->waiting[i]);
	close(silence->listener);
	return 0;
}

/* 127.0.0.2 refuses; the third name is nobody's. */
static void test_silent(void **state)
{
	const char *const hosts[] = {"127.0.0.2", "127.0.0.1", "no.such.host.invalid"};
	const struct silence *silence = *state;
	const char **silent;

	assert_int_equal(reach_find_silent(hosts, NUM_OF(hosts), silence->port, 100, -1, &silent),
			 1);
	assert_string_equal(silent[0], "127.0.0.1");
	assert_null(silent[1]);
	free(silent);
	assert_int_equal(reach_find_silent(hosts, 1, silence->port, 100, -1, &silent), 0);
	assert_null(silent[0]);
	free(silent);
}

static void test_cancelled(void **state)
{
	const char *const hosts[] = {"127.0.0.1"};
	const struct silence *silence = *state;
	const char **silent;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	close(fds[1]); /* readable at once */
	assert_int_equal(reach_find_silent(hosts, 1, silence->port, 600000, fds[0], &silent), 1);
	free(silent);
	close(fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_cancelled),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
