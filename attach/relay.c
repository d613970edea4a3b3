/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/relay.h"
#include "model/error.h"

#define PIECE 16384

/* Copy one piece. 0: the end, -1: error_errno() was called. */
static ssize_t copy(int from, int to, bool to_is_socket, struct pdb_error *err)
{
	char bytes[PIECE];
	ssize_t have = read(from, bytes, sizeof(bytes)), done = 0;

	if (have < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (have < 0)
		return error_errno(err, "cannot read what is to be passed on");
	while (done < have) {
		size_t rest = (size_t)(have - done);
		ssize_t n = to_is_socket ? send(to, bytes + done, rest, MSG_NOSIGNAL)
					 : write(to, bytes + done, rest);

		if (n < 0 && errno == EPIPE)
			return error_set(err, ERROR_GONE, "the other end was closed");
		if (n < 0 && errno != EINTR)
			return error_errno(err, "cannot pass on what was read");
		done += n > 0 ? n : 0;
	}
	return have;
}

int relay_run(int in, int out, int socket_fd, struct pdb_error *err)
{
	struct pollfd fds[] = {{in, POLLIN, 0}, {socket_fd, POLLIN, 0}};
	ssize_t n = 1;

	while (n > 0) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return error_errno(err, "cannot wait for what is to be passed on");
		}
		if (fds[1].revents)
			n = copy(socket_fd, out, false, err);
		if (n > 0 && fds[0].revents) {
			n = copy(in, socket_fd, true, err);
			if (n == 0) {
				shutdown(socket_fd, SHUT_WR);
				fds[0].fd = -1;
				n = 1;
			}
		}
	}
	return n < 0 ? -1 : 0;
}
