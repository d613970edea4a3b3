/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "model/buffer.h"
#include "model/job/proctable.h"
#include "pmix/asker.h"
#include "pmix/query.h"
#include "pmix/reply.h"
#include "pmix/tool.h"

/* In the asker. */
static int ask_table(const struct rendezvous *server, const void *nspace, struct buffer *reply,
		     struct pdb_error *err)
{
	struct proctable *table;

	if (query_proctable(server, nspace, &table, err) < 0)
		return -1;
	reply_put_table(reply, table);
	return 0;
}

int pmix_proctable(pid_t pid, const char *nspace, int timeout_ms, struct proctable **ret,
		   struct pdb_error *err)
{
	struct buffer reply = {.bytes = NULL};
	int leash, result = asker_ask(pid, ask_table, nspace, timeout_ms, &reply, &leash, err);

	if (result == 0) {
		close(leash);
		/* An asker whose launcher goes away in the middle ends without a word. */
		if (reply.num == 0 && kill(pid, 0) != 0 && errno == ESRCH)
			result = error_set(err, ERROR_GONE,
					   "the job has ended: its launcher %d is gone", pid);
		else
			result = reply_take_table(reply.bytes, reply.num, ret, err);
	}
	if (result == 0)
		(*ret)->launcher_pid = pid;
	free(reply.bytes);
	return result;
}

struct request {
	const char *nspace, *program;
	const char *const *environment;
};

/* In the asker. */
static int spawn(const struct rendezvous *server, const void *argument, struct buffer *reply,
		 struct pdb_error *err)
{
	const struct request *request = argument;
	char *nspace;

	if (query_spawn(server, request->nspace, request->program, request->environment, &nspace,
			err) < 0)
		return -1;
	reply_put_spawned(reply, nspace);
	return 0;
}

int pmix_spawn_daemons(pid_t pid, const char *nspace, const char *program,
		       const char *const *environment, int timeout_ms, struct pmix_daemons *ret,
		       struct pdb_error *err)
{
	const struct request request = {nspace, program, environment};
	struct buffer reply = {.bytes = NULL};
	int leash, result = asker_ask(pid, spawn, &request, timeout_ms, &reply, &leash, err);

	if (result == 0) {
		result = reply_take_spawned(reply.bytes, reply.num, &ret->nspace, err);
		if (result == 0)
			ret->leash = leash;
		else
			close(leash);
	}
	free(reply.bytes);
	return result;
}

void pmix_release_daemons(struct pmix_daemons *daemons)
{
	if (daemons->leash >= 0)
		close(daemons->leash);
	free(daemons->nspace);
	*daemons = (struct pmix_daemons){.leash = -1};
}
