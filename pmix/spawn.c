/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "model/error.h"
#include "model/monotonic.h"
#include "pmix/reply.h"
#include "pmix/asker.h"
#include "pmix/query.h"
#include "pmix/rendezvous.h"
#include "pmix/spawn.h"

struct request {
	const char *nspace, *program;
	const char *const *environment;
};

/* Until pdb has let go of its end. */
static void wait_for_end(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	char byte;

	for (;;) {
		if (poll(&poll_fd, 1, -1) < 0 && errno == EINTR)
			continue;
		if (read(fd, &byte, 1) <= 0 && errno != EINTR)
			return;
	}
}

/* In the asker. */
static void spawn(const struct rendezvous *server, void *argument, int fd)
{
	const struct request *request = argument;
	struct reply reply = {.bytes = NULL};
	struct pdb_error error;
	char *nspace;

	if (query_spawn(server, request->nspace, request->program, request->environment, &nspace,
			&error) == 0)
		reply_encode_spawned(&reply, nspace);
	else
		reply_encode_error(&reply, &error);
	asker_write(fd, &reply);
	shutdown(fd, SHUT_WR);
	wait_for_end(fd);
	query_disconnect();
}

int pmix_spawn_daemons(pid_t pid, const char *nspace, const char *program,
		       const char *const *environment, int timeout_ms, struct pmix_daemons *ret,
		       struct pdb_error *err)
{
	int64_t deadline_ms = monotonic_ms() + timeout_ms;
	struct request request = {nspace, program, environment};
	struct reply reply = {.bytes = NULL};
	struct rendezvous server;
	int fds[2], result;

	if (asker_find_server(pid, &server, err) != 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return error_errno(err, "cannot make a pair of sockets");
	result = asker_start(&server, spawn, &request, fds[1], err);
	close(fds[1]);
	if (result == 0)
		result = asker_read(fds[0], deadline_ms, &reply, err);
	if (result == 0)
		result = reply_decode_spawned(reply.bytes, reply.length, &ret->nspace, err);
	reply_deinit(&reply);
	if (result != 0)
		close(fds[0]);
	else
		ret->leash = fds[0];
	return result;
}

void pmix_release_daemons(struct pmix_daemons *daemons)
{
	if (daemons->leash >= 0)
		close(daemons->leash);
	free(daemons->nspace);
	*daemons = (struct pmix_daemons){.leash = -1};
}
