/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include "attach/daemons/link.h"
#include "attach/daemons/pdbd.h"
#include "attach/node/daemon_job.h"
#include "attach/node/watch_digest.h"
#include "attach/node/watch_look.h"
#include "model/buffer.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/wire/proc_bytes.h"
#include "shell/daemons.h"
#include "shell/session.h"
#include "shell/watch/watch_state.h"

/* A look costs some microseconds a rank here, and a message to and from each node there. */
#define HERE_NS UINT64_C(50000000)
#define THERE_NS UINT64_C(250000000)

/* Looks on this host take at most this part of a processor's time; with very many ranks they are
 * rarer. */
#define HERE_SHARE 200
#define HERE_MAX_NS UINT64_C(1000000000)

struct watch_source {
	struct session *session;
	uint64_t cost_ns;        /* processor time of a look on this host, recent mean */
	struct watch_look *look; /* NULL: the daemons look */
};

static struct watch_look *look_here(const struct proctable *table)
{
	struct daemon_rank *ranks SCOPED(free) = xcalloc(table->num_procs + 1, sizeof(*ranks));
	size_t num = 0;

	for (size_t i = 0; i < table->num_procs; i++)
		if (table->procs[i].is_local && table->procs[i].pid > 0)
			ranks[num++] = daemon_rank_of(&table->procs[i]);
	return watch_look_create(ranks, num);
}

struct watch_source *watch_source_create(struct session *session)
{
	struct watch_source *source = xcalloc(1, sizeof(*source));

	source->session = session;
	if (!session->daemons)
		source->look = look_here(session->job->proctable);
	return source;
}

void watch_source_destroy(struct watch_source *source)
{
	if (!source)
		return;
	watch_look_destroy(source->look);
	free(source);
}

uint64_t watch_source_interval(const struct watch_source *source)
{
	uint64_t interval_ns = HERE_SHARE * source->cost_ns;

	if (!source->look)
		return THERE_NS;
	if (interval_ns > HERE_MAX_NS)
		return HERE_MAX_NS;
	return interval_ns > HERE_NS ? interval_ns : HERE_NS;
}

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * UINT64_C(1000000000) + used.tv_nsec;
}

static int ask_daemons(struct session *session, const struct rankset *sampled,
		       struct watch_digest *ret, struct pdb_error *err)
{
	const uint32_t num_ranks = (uint32_t)session->job->proctable->size;
	struct daemons *daemons = session_daemons(session, err);
	struct buffer payload = {.bytes = NULL};
	struct link_frame answer;
	int result;

	if (!daemons)
		return -1;
	buffer_put_bytes(&payload, &num_ranks, sizeof(num_ranks));
	proc_bytes_put_ranks(&payload, sampled);
	result = daemons_ask(daemons, PDBD_WATCH, payload.bytes, payload.num, 0, &answer, err);
	free(payload.bytes);
	if (result < 0)
		return session_lose_daemons(session, err);
	result = watch_digest_decode(answer.payload, answer.length, session->job->proctable->size,
				     ret, err);
	link_frame_deinit(&answer);
	return result;
}

int watch_source_look(struct watch_source *source, const struct rankset *sampled,
		      struct watch_digest *ret, struct pdb_error *err)
{
	uint64_t begin_ns;

	watch_digest_clear(ret);
	if (!source->look)
		return ask_daemons(source->session, sampled, ret, err);
	begin_ns = cpu_ns();
	watch_look_take(source->look, sampled, ret);
	source->cost_ns = (7 * source->cost_ns + (cpu_ns() - begin_ns)) / 8;
	return 0;
}
