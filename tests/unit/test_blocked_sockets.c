/* SPDX-License-Identifier: BSD-3-Clause
 * Children that sleep on sockets. */
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/unit/blocked_look.h"
#include "tests/unit/child.h"

/* ---- Sockets ---- */

static void receive(int fd, int ready)
{
	char byte;

	tell(ready);
	if (recv(fd, &byte, 1, 0) < 0)
		return;
}

static void body_receive(const void *argument, int ready)
{
	prctl(PR_SET_NAME, "receiver");
	receive(*(const int *)argument, ready);
}

static void body_accept(const void *argument, int ready)
{
	tell(ready);
	accept(*(const int *)argument, NULL, NULL);
}

static int connect_tcp(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* A listening socket of IPv6 accepts IPv4, too; the tables differ then. */
static void check_tcp(int family)
{
	int port, own_port, listener = listen_tcp(family, &port), client, server;
	struct sockaddr_in own;
	socklen_t length = sizeof(own);
	pid_t pid, other;

	if (listener < 0)
		return;
	pid = start(body_accept, &listener);
	if (family == AF_INET)
		assert_blocked(pid, "accept",
			       text_of("the listening TCP socket 127.0.0.1:%d", port), "-");
	else
		assert_blocked(pid, "accept", text_of("the listening TCP socket [::]:%d", port),
			       "-");
	stop(pid);
	client = connect_tcp(port);
	server = accept(listener, NULL, NULL);
	assert_true(server >= 0);
	getsockname(client, (struct sockaddr *)&own, &length);
	own_port = ntohs(own.sin_port);
	close(listener);
	pid = start(body_receive, &client);
	close(client);
	/* That inherits nothing but the server's end. */
	other = start(body_receive, &server);
	close(server);
	assert_blocked(other, "recvfrom",
		       text_of("the TCP connection 127.0.0.1:%d to 127.0.0.1:%d (established)",
			       port, own_port),
		       text_of("the other end is in process %d (receiver)", pid));
	stop(other);
	stop(pid);
}

static void test_tcp(void **state)
{
	(void)state;
	check_tcp(AF_INET);
	check_tcp(AF_INET6);
}

static void test_unix_socket(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fds[2], listener = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid = start(body_receive, &fds[0]);
	assert_blocked(pid, "recvfrom", "a Unix socket", "-");
	stop(pid);
	close(fds[0]);
	close(fds[1]);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", in_directory("socket"));
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	pid = start(body_accept, &listener);
	assert_blocked(pid, "accept",
		       text_of("the listening Unix socket %s", in_directory("socket")), "-");
	stop(pid);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_unix_socket),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
