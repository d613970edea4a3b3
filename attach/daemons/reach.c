/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/reach.h"
#include "model/monotonic.h"

#define AT_ONCE 256 /* connections, each of which takes a file descriptor */

/* That nothing listens there is said by the host itself. */
static bool is_answer(int error)
{
	return error == 0 || error == ECONNREFUSED || error == ECONNRESET;
}

/* A socket that is being connected to the host; -1: it has answered, or cannot be asked. */
static int begin(const char *host, const char *port)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *address;

	if (getaddrinfo(host, port, &hints, &address) != 0)
		return -1;
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    (connect(fd, address->ai_addr, address->ai_addrlen) == 0 || is_answer(errno))) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(address);
	return fd;
}

static bool has_answered(int fd)
{
	int error = 0;
	socklen_t size = sizeof(error);

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && is_answer(error);
}

/* Wait, and close the connections that have ended somehow. fds[num] is cancel_fd. */
static void await(struct pollfd *fds, size_t num, int64_t until_ms, bool *is_silent)
{
	size_t num_open = 0;

	for (size_t i = 0; i < num; i++)
		num_open += fds[i].fd >= 0;
	while (num_open > 0 && !fds[num].revents) {
		int64_t left_ms = until_ms - monotonic_ms();

		if (left_ms <= 0 || (poll(fds, num + 1, (int)left_ms) < 0 && errno != EINTR))
			return;
		for (size_t i = 0; i < num; i++) {
			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			is_silent[i] = !has_answered(fds[i].fd);
			close(fds[i].fd);
			fds[i].fd = -1;
			num_open--;
		}
	}
}

size_t reach_find_silent(const char *const *hosts, size_t num, const char *port, int timeout_ms,
			 int cancel_fd, const char ***ret)
{
	const char **silent = xcalloc(num + 1, sizeof(*silent));
	struct pollfd fds[AT_ONCE + 1];
	bool is_silent[AT_ONCE];
	size_t num_silent = 0;

	for (size_t first = 0; first < num; first += AT_ONCE) {
		size_t part = num - first < AT_ONCE ? num - first : AT_ONCE;

		for (size_t i = 0; i < part; i++) {
			fds[i] = (struct pollfd){begin(hosts[first + i], port), POLLOUT, 0};
			is_silent[i] = fds[i].fd >= 0;
		}
		fds[part] = (struct pollfd){cancel_fd, POLLIN, 0};
		await(fds, part, monotonic_ms() + timeout_ms, is_silent);
		for (size_t i = 0; i < part; i++) {
			if (is_silent[i])
				silent[num_silent++] = hosts[first + i];
			if (fds[i].fd >= 0)
				close(fds[i].fd);
		}
		if (fds[part].revents)
			break;
	}
	*ret = silent;
	return num_silent;
}
