/* SPDX-License-Identifier: BSD-3-Clause
 * Rank 0 of the daemons: what pdb asks it asks all of them, and hands the merged answer on. */

#include "attach/daemons/link.h"
#include "attach/daemons/pdbd.h"
#include "attach/daemons/pdbd_gdb.h"
#include "attach/daemons/pdbd_private.h"
#include "attach/daemons/pdbd_tree.h"
#include "attach/node/daemon_job.h"
#include "model/buffer.h"
#include "model/monotonic.h"

#define LOOK_MS 300       /* between two looks at whether this node's ranks live */
#define REQUEST_MS 10000  /* how long a daemon may be at work on its part of an answer */
#define LOOK_MAX_MS 60000 /* more than that is not waited between two looks */
#define CONNECT_MS 10000  /* pdb is waiting for the daemons */
#define LAST_MS 3000      /* until pdb has begun its last look at a job that has ended */
#define SEND_MS 30000     /* an answer to pdb */
#define IDLE_MS 100       /* between two looks at other things while waiting for pdb */
#define BUSY_MS 1         /* the same while somebody speaks with a gdb */

static struct link_limit limit_of(int ms)
{
	return (struct link_limit){
		.until_ns = monotonic_ns() + ms * 1000000ull,
		.cancel_fd = -1,
	};
}

static void send_to_pdb(struct daemon *daemon, uint32_t kind, const struct buffer *answer)
{
	const struct link_limit limit = limit_of(SEND_MS);
	struct pdb_error err;

	if (link_send(daemon->link, kind, answer->bytes, answer->num, &limit, &err) != 0)
		daemon->is_quitting = true;
}

/* Let pdb know that an answer is on its way. */
static void pulse(void *daemon)
{
	send_to_pdb(daemon, PDBD_ALIVE, &(struct buffer){.num = 0});
}

static void ask(struct daemon *daemon, uint32_t kind, const void *payload, size_t length,
		int total_ms, struct buffer *answer, struct overlay_ranges *missing)
{
	const struct pdbd_question question = {
		.kind = kind,
		.payload = payload,
		.length = length,
		.total_ms = total_ms,
		.pulse = pulse,
	};

	pdbd_tree_ask(daemon->tree, &question, answer, missing);
}

/* Looking takes as long as it is told to. */
static int answer_ms(uint32_t kind, const uint8_t *payload, size_t length)
{
	struct pdbd_look question;

	if ((kind != PDBD_LOOK && kind != PDBD_SAMPLE) || length < sizeof(question))
		return REQUEST_MS;
	memcpy(&question, payload, sizeof(question));
	return REQUEST_MS +
	       (question.milliseconds < LOOK_MAX_MS ? question.milliseconds : LOOK_MAX_MS);
}

static void pass_on(struct daemon *daemon, uint32_t kind, const uint8_t *payload, size_t length)
{
	struct overlay_ranges missing = {.ranges = NULL};
	struct buffer answer;

	if (kind == PDBD_GDB)
		pdbd_gdb_hear_order(daemon->gdb, payload, length);
	ask(daemon, kind, payload, length, answer_ms(kind, payload, length), &answer, &missing);
	if (kind == PDBD_GDB)
		pdbd_gdb_hear_started(daemon->gdb, &answer);
	/* What is missing because the daemons are being ended is no answer: pdb starts others. */
	if (missing.num == 0 || !pdbd_is_over(daemon))
		send_to_pdb(daemon, kind, &answer);
	free(answer.bytes);
	overlay_ranges_deinit(&missing);
}

/* No process is left: is there nothing that pdb may still ask for? The launcher may be waiting. */
static bool is_done(struct daemon *daemon)
{
	if (!daemon->keeps_traces)
		return true;
	if (daemon->ended_ms == 0)
		daemon->ended_ms = monotonic_ms();
	return monotonic_ms() - daemon->ended_ms > LAST_MS;
}

/* Let the others know that rank 0 lives, and see whether the job does, and the silent. */
static void ping(struct daemon *daemon)
{
	struct overlay_ranges missing = {.ranges = NULL};
	struct buffer answer;
	uint32_t num_living = 0;

	ask(daemon, PDBD_LIVING, NULL, 0, REQUEST_MS, &answer, &missing);
	if (answer.num == sizeof(num_living))
		memcpy(&num_living, answer.bytes, sizeof(num_living));
	/* Daemons that are silent do not keep the others, since these may keep the launcher. */
	if (daemon->knows_job && num_living == 0)
		daemon->is_quitting = is_done(daemon);
	else
		daemon->ended_ms = 0;
	pdbd_gdb_note_silent(daemon->gdb, &missing);
	if (missing.num > 0)
		pdbd_tree_knock(daemon->tree, PDBD_LIVING);
	free(answer.bytes);
	overlay_ranges_deinit(&missing);
	daemon->pinged_ms = monotonic_ms();
}

/* Then it asks whether others live: the launcher may be waiting for the daemons. */
static bool has_lost_ranks(const struct daemon *daemon)
{
	return daemon->num_ranks > 0 &&
	       daemon_job_count_living(daemon->ranks, daemon->num_ranks) == 0;
}

static void serve_pdb(struct daemon *daemon)
{
	int64_t looked_ms = monotonic_ms();

	while (!daemon->is_quitting && !pdbd_take_turn(daemon)) {
		const struct link_limit limit =
			limit_of(pdbd_gdb_is_busy(daemon->gdb) ? BUSY_MS : IDLE_MS);
		struct link_frame frame;
		struct pdb_error err;

		if (link_receive(daemon->link, &frame, &limit, &err) == 0) {
			if (frame.type == PDBD_QUIT)
				daemon->is_quitting = true;
			else if (frame.type == LINK_STREAM)
				pdbd_gdb_pass(daemon->gdb, frame.payload, frame.length);
			else
				pass_on(daemon, frame.type, frame.payload, frame.length);
			if (daemon->ended_ms && frame.type != PDBD_WATCH)
				daemon->ended_ms = monotonic_ms();
			link_frame_deinit(&frame);
		} else if (err.code != ERROR_TIMEOUT) {
			break;
		}
		if (monotonic_ms() - daemon->pinged_ms >= PDBD_PING_MS) {
			ping(daemon);
		} else if (monotonic_ms() - looked_ms >= LOOK_MS) {
			if (has_lost_ranks(daemon))
				ping(daemon);
			looked_ms = monotonic_ms();
		}
	}
}

void pdbd_run_first(struct daemon *daemon, const char *invitation)
{
	const struct pdbd_question quit = {.kind = PDBD_QUIT, .total_ms = PDBD_QUIT_MS};
	struct overlay_ranges missing = {.ranges = NULL};
	struct buffer answer = {.bytes = NULL};
	const struct link_limit limit = limit_of(CONNECT_MS);
	struct pdb_error err;

	daemon->pinged_ms = monotonic_ms();
	daemon->link = invitation ? link_connect(invitation, &limit, &err) : NULL;
	if (daemon->link) {
		pdbd_gdb_set_link(daemon->gdb, daemon->link);
		serve_pdb(daemon);
	}
	pdbd_gdb_set_link(daemon->gdb, NULL);
	link_destroy(daemon->link);
	pdbd_tree_ask(daemon->tree, &quit, &answer, &missing);
	free(answer.bytes);
	overlay_ranges_deinit(&missing);
}
