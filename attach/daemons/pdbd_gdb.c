/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>
#include <unistd.h>

#include "attach/daemons/link.h"
#include "attach/daemons/overlay.h"
#include "attach/daemons/pdbd_gdb.h"
#include "attach/daemons/pdbd_tree.h"
#include "attach/daemons/stream.h"
#include "attach/gdb/gdb_order.h"
#include "attach/gdb/gdb_process.h"
#include "attach/node/daemon_job.h"
#include "model/buffer.h"
#include "model/monotonic.h"

#define MAX_SILENT 3
#define NOT_KNOWN (-1)
#define LOST (-2)
#define INTERRUPT 3    /* Ctrl-C, as it is typed */
#define MAX_MESSAGES 8 /* of one stream in a turn */
#define BUSY_NS UINT64_C(1000000000)
#define END_NS UINT64_C(3000000000)
#define END_PAUSE_NS 5000000

/* A gdb on this node. */
struct held {
	struct gdb_process process;
	uint32_t channel;
	struct stream *streams[2]; /* terminal and standard error (channel + 1); NULL: none, over */
	struct held *next;
};

/* Rank 0: a gdb somewhere, whose streams it passes on. */
struct passed {
	uint32_t channel;
	int daemon; /* where it is; NOT_KNOWN; LOST: silent for too long */
	unsigned num_silent;
};

struct pdbd_gdb {
	struct pdbd_tree *tree;
	struct held *held;
	struct link *link;     /* rank 0 */
	struct passed *passed; /* [num_passed] all since the link is there */
	size_t num_passed, capacity;
	uint64_t moved_ns;
};

/* On its way between rank 0 and a daemon, which may be the same. */
struct note {
	uint32_t is_for_pdb;
	struct stream_message message;
};

#define NOTE_HEAD offsetof(struct note, message)

struct pdbd_gdb *pdbd_gdb_create(struct pdbd_tree *tree)
{
	struct pdbd_gdb *gdb = xcalloc(1, sizeof(*gdb));

	gdb->tree = tree;
	return gdb;
}

/* ---- Starting it, and how it fares ---- */

static const struct daemon_rank *find_rank(const struct daemon_rank *ranks, size_t num,
					   uint32_t rank)
{
	for (size_t i = 0; i < num; i++)
		if ((uint32_t)ranks[i].rank == rank)
			return &ranks[i];
	return NULL;
}

static int start(struct pdbd_gdb *gdb, const struct daemon_rank *rank,
		 const struct gdb_order *order, struct pdb_error *err)
{
	int terminal, errors;
	char host[256] = "";
	struct held *held;

	if (daemon_job_count_living(rank, 1) == 0)
		return error_set(err, ERROR_GONE, "rank %d (pid %d) has ended", rank->rank,
				 (int)rank->pid);
	gethostname(host, sizeof(host) - 1);
	held = xcalloc(1, sizeof(*held));
	if (gdb_process_start(&held->process, rank->pid, order, host, &terminal, &errors, err)) {
		free(held);
		return -1;
	}
	held->channel = order->channel;
	held->next = gdb->held;
	gdb->held = held;
	held->streams[0] = stream_create(order->channel, terminal, STREAM_TERMINAL);
	if (errors >= 0)
		held->streams[1] = stream_create(order->channel + 1, errors, STREAM_PIPE);
	gdb->moved_ns = monotonic_ns();
	return 0;
}

void pdbd_gdb_answer_order(struct pdbd_gdb *gdb, const struct daemon_rank *ranks, size_t num_ranks,
			   const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct gdb_started started = {.daemon = (uint32_t)pdbd_tree_rank(gdb->tree)};
	const struct daemon_rank *rank;
	struct gdb_order order;
	struct pdb_error err;

	if (gdb_order_decode(payload, length, &order, &err) < 0)
		return;
	rank = find_rank(ranks, num_ranks, order.rank);
	if (rank) {
		const struct gdb_process before = {.rank = rank->pid,
						   .start_ticks = rank->start_ticks};

		started.state = (uint32_t)gdb_process_rank_state(&before);
		if (start(gdb, rank, &order, &err) < 0)
			started.code = err.code;
		buffer_put_bytes(ret, &started, sizeof(started));
		if (started.code)
			buffer_put_bytes(ret, err.text, strlen(err.text));
	}
	gdb_order_deinit(&order);
}

/* The one with this channel as the first or second of its two. */
static struct held *find_held(const struct pdbd_gdb *gdb, uint32_t channel)
{
	struct held *held = gdb->held;

	while (held && channel - held->channel > 1)
		held = held->next;
	return held;
}

void pdbd_gdb_answer_state(struct pdbd_gdb *gdb, const uint8_t *payload, size_t length,
			   struct buffer *ret)
{
	struct gdb_state_question question;
	struct gdb_state state;

	if (length != sizeof(question))
		return;
	memcpy(&question, payload, sizeof(question));
	struct held *held = find_held(gdb, question.channel);
	if (!held)
		return;
	struct stream *terminal = held->streams[0];
	if (terminal && question.rows)
		gdb_process_resize(stream_fd(terminal), question.rows, question.columns);
	if (question.wants_end)
		gdb_process_end(&held->process, monotonic_ns());
	gdb_process_check(&held->process);
	state = (struct gdb_state){
		.has_ended = held->process.has_ended,
		.status = held->process.status,
		.state = (uint32_t)gdb_process_rank_state(&held->process),
	};
	buffer_put_bytes(ret, &state, sizeof(state));
}

/* ---- The streams ---- */

static void send_message(struct pdbd_gdb *gdb, int to, bool is_for_pdb,
			 const struct stream_message *message, size_t length)
{
	struct note note = {.is_for_pdb = is_for_pdb};

	memcpy(&note.message, message, length);
	pdbd_tree_send(gdb->tree, to, &note, NOTE_HEAD + length);
}

/* For a gdb of this node. */
static void take_message(struct pdbd_gdb *gdb, const struct stream_message *message, size_t length)
{
	struct held *held = find_held(gdb, message->number);
	struct stream *stream = held ? held->streams[message->number - held->channel] : NULL;
	struct stream_message gone = {.number = message->number, .kind = STREAM_END};

	if (stream) {
		if (message->kind == STREAM_DATA &&
		    memchr(message->bytes, INTERRUPT, length - STREAM_HEAD))
			held->process.interrupted_ns = monotonic_ns();
		stream_take(stream, message, length);
	} else if (message->kind == STREAM_DATA) {
		send_message(gdb, 0, true, &gone, STREAM_HEAD);
	}
}

/* Tell pdb what there is to be told, and end it if that is all. */
static bool move(struct pdbd_gdb *gdb, struct stream **stream)
{
	struct stream_message message;
	int num = 0;
	size_t length;

	while (num < MAX_MESSAGES && (length = stream_next(*stream, &message)) > 0) {
		send_message(gdb, 0, true, &message, length);
		num++;
	}
	if (stream_is_over(*stream)) {
		stream_destroy(*stream);
		*stream = NULL;
	}
	return num > 0;
}

/* ---- At rank 0: what it passes on ---- */

void pdbd_gdb_set_link(struct pdbd_gdb *gdb, struct link *link)
{
	gdb->link = link;
	if (link)
		link_pass_streams(link);
}

void pdbd_gdb_hear_order(struct pdbd_gdb *gdb, const uint8_t *payload, size_t length)
{
	struct gdb_order order;
	struct pdb_error err;

	if (gdb_order_decode(payload, length, &order, &err) < 0)
		return;
	*XPUSH(gdb->passed, gdb->num_passed, gdb->capacity) =
		(struct passed){.channel = order.channel, .daemon = NOT_KNOWN};
	gdb_order_deinit(&order);
}

void pdbd_gdb_hear_started(struct pdbd_gdb *gdb, const struct buffer *answer)
{
	struct gdb_started started;

	if (answer->num < sizeof(started) || gdb->num_passed == 0)
		return;
	memcpy(&started, answer->bytes, sizeof(started));
	gdb->passed[gdb->num_passed - 1].daemon = (int)started.daemon;
}

/* NULL: nobody has ordered it, or it was given up. */
static struct passed *find_passed(const struct pdbd_gdb *gdb, uint32_t number)
{
	for (size_t i = gdb->num_passed; i-- > 0;)
		if (number - gdb->passed[i].channel < 2 && gdb->passed[i].daemon != LOST)
			return &gdb->passed[i];
	return NULL;
}

static void tell_end(const struct pdbd_gdb *gdb, const struct passed *passed)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct stream_message end = {.number = passed->channel + i, .kind = STREAM_END};

		link_pass(gdb->link, &end, STREAM_HEAD);
	}
}

void pdbd_gdb_pass(struct pdbd_gdb *gdb, const uint8_t *bytes, size_t length)
{
	struct stream_message message;

	if (length < STREAM_HEAD || length > sizeof(message))
		return;
	memcpy(&message, bytes, length);
	const struct passed *passed = find_passed(gdb, message.number);
	if (passed && passed->daemon >= 0 && passed->daemon < pdbd_tree_size(gdb->tree))
		send_message(gdb, passed->daemon, false, &message, length);
	gdb->moved_ns = monotonic_ns();
}

/* To pdb, unless a daemon does not keep to the window of its stream. */
static void take_for_pdb(struct pdbd_gdb *gdb, int from, const struct stream_message *message,
			 size_t length)
{
	struct stream_message gone = {.number = message->number, .kind = STREAM_END};
	struct passed *passed = find_passed(gdb, message->number);

	if (passed && gdb->link && link_pass(gdb->link, message, length))
		return;
	if (passed)
		passed->daemon = LOST;
	if (message->kind == STREAM_DATA)
		send_message(gdb, from, false, &gone, STREAM_HEAD);
}

void pdbd_gdb_note_silent(struct pdbd_gdb *gdb, const struct overlay_ranges *silent)
{
	for (size_t i = 0; i < gdb->num_passed; i++) {
		struct passed *passed = &gdb->passed[i];

		if (passed->daemon < 0)
			continue;
		passed->num_silent = overlay_ranges_index(silent, (uint32_t)passed->daemon) >= 0
					     ? passed->num_silent + 1
					     : 0;
		if (passed->num_silent < MAX_SILENT)
			continue;
		tell_end(gdb, passed);
		passed->daemon = LOST;
	}
}

/* ---- All of it ---- */

static void take_note(struct pdbd_gdb *gdb, int from, const uint8_t *bytes, size_t length)
{
	struct note note;

	if (length < NOTE_HEAD + STREAM_HEAD || length > sizeof(note))
		return;
	memcpy(&note, bytes, length);
	if (note.is_for_pdb)
		take_for_pdb(gdb, from, &note.message, length - NOTE_HEAD);
	else
		take_message(gdb, &note.message, length - NOTE_HEAD);
}

static void look_after(struct held *held)
{
	struct stream *terminal = held->streams[0];
	bool wants_end = !terminal || stream_wants_hang_up(terminal);

	gdb_process_check(&held->process);
	if (!held->process.has_ended && (held->process.ending_ns || wants_end))
		gdb_process_end(&held->process, monotonic_ns());
	if (terminal && wants_end && (held->process.num_told || held->process.has_ended))
		stream_hang_up(terminal);
	for (int i = 0; i < 2; i++)
		if (held->streams[i] && held->process.has_ended)
			stream_finish(held->streams[i]);
}

void pdbd_gdb_turn(struct pdbd_gdb *gdb)
{
	bool has_moved = false;
	uint8_t *bytes;
	size_t length;
	int from;

	while ((bytes = pdbd_tree_take(gdb->tree, &from, &length))) {
		take_note(gdb, from, bytes, length);
		free(bytes);
		has_moved = true;
	}
	for (struct held *held = gdb->held; held; held = held->next) {
		look_after(held);
		for (int i = 0; i < 2; i++)
			if (held->streams[i])
				has_moved |= move(gdb, &held->streams[i]);
	}
	if (has_moved)
		gdb->moved_ns = monotonic_ns();
}

bool pdbd_gdb_is_busy(const struct pdbd_gdb *gdb)
{
	return gdb->moved_ns && monotonic_ns() - gdb->moved_ns < BUSY_NS;
}

/* ---- The end ---- */

static bool end_all(struct pdbd_gdb *gdb)
{
	bool has_ended = true;

	for (struct held *held = gdb->held; held; held = held->next) {
		gdb_process_end(&held->process, monotonic_ns());
		has_ended &= held->process.has_ended;
	}
	return has_ended;
}

void pdbd_gdb_destroy(struct pdbd_gdb *gdb)
{
	const struct timespec pause = {.tv_nsec = END_PAUSE_NS};
	uint64_t until = monotonic_ns() + END_NS;

	while (!end_all(gdb) && monotonic_ns() < until)
		nanosleep(&pause, NULL);
	while (gdb->held) {
		struct held *held = gdb->held;

		gdb->held = held->next;
		/* A gdb that is left loses its terminal. */
		stream_destroy(held->streams[0]);
		stream_destroy(held->streams[1]);
		free(held);
	}
	free(gdb->passed);
	free(gdb);
}
