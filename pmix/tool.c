/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "model/error.h"
#include "model/monotonic.h"
#include "model/job/proctable.h"
#include "pmix/reply.h"
#include "pmix/asker.h"
#include "pmix/query.h"
#include "pmix/rendezvous.h"
#include "pmix/tool.h"

/* In the asker. */
static void ask_table(const struct rendezvous *server, void *nspace, int fd)
{
	struct pdb_error error;
	struct proctable *table = NULL;
	struct reply reply = {.bytes = NULL};

	if (query_proctable(server, nspace, &table, &error) == 0)
		reply_encode_table(&reply, table);
	else
		reply_encode_error(&reply, &error);
	asker_write(fd, &reply);
	close(fd);
	query_disconnect();
}

static int ask(const struct rendezvous *server, const char *nspace, int64_t deadline_ms,
	       struct reply *reply, struct pdb_error *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return error_errno(err, "cannot make a pipe");
	int result = asker_start(server, ask_table, (void *)nspace, fds[1], err);
	close(fds[1]);
	if (result == 0)
		result = asker_read(fds[0], deadline_ms, reply, err);
	close(fds[0]);
	return result;
}

int pmix_proctable(pid_t pid, const char *nspace, int timeout_ms, struct proctable **ret,
		   struct pdb_error *err)
{
	int64_t deadline_ms = monotonic_ms() + timeout_ms;
	struct rendezvous server;
	struct reply reply = {.bytes = NULL};
	int result = -1;

	if (asker_find_server(pid, &server, err) != 0)
		return -1;
	if (ask(&server, nspace, deadline_ms, &reply, err) == 0) {
		/* An asker whose launcher goes away in the middle ends without a word. */
		if (reply.length == 0 && kill(pid, 0) != 0 && errno == ESRCH)
			error_set(err, ERROR_GONE, "the job has ended: its launcher %d is gone",
				  pid);
		else
			result = reply_decode(reply.bytes, reply.length, ret, err);
	}
	if (result == 0)
		(*ret)->launcher_pid = pid;
	reply_deinit(&reply);
	return result;
}
