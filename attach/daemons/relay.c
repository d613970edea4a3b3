/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/relay.h"
#include "model/base.h"
#include "model/monotonic.h"

#define PIECE 16384
#define PATIENCE_MS 1000

/* Interrupts since the last byte that came back. */
struct patience {
	unsigned num;
	int64_t first_ms;
};

static int put(int to, const char *bytes, size_t length, struct pdb_error *err)
{
	for (size_t done = 0; done < length;) {
		ssize_t n = write(to, bytes + done, length - done);

		if (n < 0 && errno == EPIPE)
			return error_set(err, ERROR_GONE, "the other end was closed");
		if (n < 0 && errno == EAGAIN) {
			struct pollfd full = {to, POLLOUT, 0};

			poll(&full, 1, -1);
		} else if (n < 0 && errno != EINTR) {
			return error_errno(err, "cannot pass on what was read");
		}
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int note_interrupt(struct patience *patience, struct pdb_error *err)
{
	int64_t now = monotonic_ms();

	if (patience->num++ == 0)
		patience->first_ms = now;
	if (patience->num < RELAY_PATIENCE || now - patience->first_ms <= PATIENCE_MS)
		return 0;
	return error_set(err, ERROR_TIMEOUT, "no answer to Ctrl-C");
}

/* The terminal's own "^C" is no answer of the program. */
static bool is_echo(const char *bytes, size_t length)
{
	size_t i = 0;

	while (i < length && (bytes[i] == '^' || bytes[i] == 'C'))
		i++;
	return i == length;
}

/* 1: go on, 0: the end, -1: an error. is_typed: what comes from the user, not for him. */
static int copy(int from, int to, bool is_typed, struct patience *patience, struct pdb_error *err)
{
	char bytes[PIECE];
	ssize_t have = read(from, bytes, sizeof(bytes));

	if (have < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	/* Who has lost his terminal types no more. */
	if (have <= 0 && is_typed) {
		shutdown(to, SHUT_WR);
		return 0;
	}
	if (have < 0)
		return error_errno(err, "cannot read what is to be passed on");
	if (!is_typed && !is_echo(bytes, (size_t)have))
		patience->num = 0;
	for (ssize_t i = 0; is_typed && i < have; i++)
		if (bytes[i] == RELAY_INTERRUPT && note_interrupt(patience, err) < 0)
			return -1;
	return put(to, bytes, (size_t)have, err) < 0 ? -1 : have > 0;
}

static int pass_interrupt(int from, int to, struct patience *patience, struct pdb_error *err)
{
	const char byte = RELAY_INTERRUPT;
	struct signalfd_siginfo info;

	if (read(from, &info, sizeof(info)) != sizeof(info))
		return 1;
	return note_interrupt(patience, err) < 0 || put(to, &byte, 1, err) < 0 ? -1 : 1;
}

int relay_run(const struct relay *relay, struct pdb_error *err)
{
	enum { SOCKET, ERRORS, TYPED, INTERRUPT };
	struct pollfd fds[] = {
		[SOCKET] = {relay->socket, POLLIN, 0},
		[ERRORS] = {relay->error_socket, POLLIN, 0},
		[TYPED] = {relay->in, POLLIN, 0},
		[INTERRUPT] = {relay->interrupt, POLLIN, 0},
	};
	struct patience patience = {0};

	while (fds[SOCKET].fd >= 0 || fds[ERRORS].fd >= 0) {
		int results[4] = {1, 1, 1, 1};

		if (poll(fds, 4, -1) < 0) {
			if (errno == EINTR)
				continue;
			return error_errno(err, "cannot wait for what is to be passed on");
		}
		if (fds[SOCKET].revents)
			results[SOCKET] = copy(relay->socket, relay->out, false, &patience, err);
		if (fds[ERRORS].revents && results[SOCKET] >= 0)
			results[ERRORS] =
				copy(relay->error_socket, relay->error_out, false, &patience, err);
		if (fds[TYPED].revents && results[SOCKET] > 0)
			results[TYPED] = copy(relay->in, relay->socket, true, &patience, err);
		if (fds[INTERRUPT].revents && results[SOCKET] > 0)
			results[INTERRUPT] =
				pass_interrupt(relay->interrupt, relay->socket, &patience, err);
		for (int i = 0; i < 4; i++) {
			if (results[i] < 0)
				return -1;
			if (results[i] == 0)
				fds[i].fd = -1;
		}
		/* Nobody is there to type for. */
		if (fds[SOCKET].fd < 0)
			fds[TYPED].fd = fds[INTERRUPT].fd = -1;
	}
	return 0;
}
