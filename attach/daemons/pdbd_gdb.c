/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
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
#include "model/error.h"
#include "model/monotonic.h"
#include "model/xalloc.h"

#define MAX_SILENT 3
#define INTERRUPT 3    /* Ctrl-C, as it is typed */
#define MAX_MESSAGES 8 /* of one stream in a turn */
#define BUSY_NS UINT64_C(1000000000)
#define END_NS UINT64_C(3000000000)
#define END_PAUSE_NS 5000000

/* A gdb on this node. */
struct held {
	struct gdb_process process;
	uint32_t channel;
	struct held *next;
};

/* One end of a stream: the one near gdb, or, at rank 0, the one near pdb. */
struct end {
	struct stream *stream;
	struct held *held; /* NULL: near pdb */
	int peer;          /* the daemon with the other end; -1: it has not said anything yet */
	unsigned num_silent;
	struct end *next;
};

struct pdbd_gdb {
	struct held *held;
	struct end *ends;
	struct link *link; /* rank 0: of the ends near pdb */
	uint64_t moved_ns;
};

/* On its way between two ends. */
struct note {
	uint32_t is_for_pdb; /* from the end near gdb to the one near pdb */
	struct stream_message message;
};

#define NOTE_HEAD offsetof(struct note, message)

struct pdbd_gdb *pdbd_gdb_create(void)
{
	return xcalloc(1, sizeof(struct pdbd_gdb));
}

static void add_end(struct pdbd_gdb *gdb, struct stream *stream, struct held *held, int peer)
{
	struct end *end = xcalloc(1, sizeof(*end));

	*end = (struct end){.stream = stream, .held = held, .peer = peer, .next = gdb->ends};
	gdb->ends = end;
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
	if (gdb_process_start(&held->process, rank->pid, order, host, &terminal, &errors, err) <
	    0) {
		free(held);
		return -1;
	}
	held->channel = order->channel;
	held->next = gdb->held;
	gdb->held = held;
	add_end(gdb, stream_create(order->channel, terminal, STREAM_TERMINAL), held, 0);
	if (errors >= 0)
		add_end(gdb, stream_create(order->channel + 1, errors, STREAM_PIPE), held, 0);
	gdb->moved_ns = monotonic_ns();
	return 0;
}

void pdbd_gdb_answer_order(struct pdbd_gdb *gdb, const struct daemon_rank *ranks, size_t num_ranks,
			   const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct gdb_started started = {.code = ERROR_NONE};
	const struct daemon_rank *rank;
	struct gdb_process before;
	struct gdb_order order;
	struct pdb_error err;

	if (gdb_order_decode(payload, length, &order, &err) < 0)
		return;
	rank = find_rank(ranks, num_ranks, order.rank);
	if (rank) {
		before = (struct gdb_process){.rank = rank->pid, .start_ticks = rank->start_ticks};
		started.process = (uint32_t)rank->pid;
		started.state = (uint32_t)gdb_process_rank_state(&before);
		if (start(gdb, rank, &order, &err) < 0)
			started.code = err.code;
		buffer_put_bytes(ret, &started, sizeof(started));
		if (started.code)
			buffer_put_bytes(ret, err.text, strlen(err.text));
	}
	gdb_order_deinit(&order);
}

static struct held *find_held(const struct pdbd_gdb *gdb, uint32_t channel)
{
	struct held *held = gdb->held;

	while (held && held->channel != channel)
		held = held->next;
	return held;
}

/* The stream of gdb's terminal; NULL: it has ended. */
static struct stream *find_terminal(const struct pdbd_gdb *gdb, const struct held *held)
{
	for (const struct end *end = gdb->ends; end; end = end->next)
		if (end->held == held && stream_number(end->stream) == held->channel)
			return end->stream;
	return NULL;
}

void pdbd_gdb_answer_state(struct pdbd_gdb *gdb, const uint8_t *payload, size_t length,
			   struct buffer *ret)
{
	struct gdb_state_question question;
	struct stream *terminal;
	struct gdb_state state;
	struct held *held;

	if (length != sizeof(question))
		return;
	memcpy(&question, payload, sizeof(question));
	held = find_held(gdb, question.channel);
	if (!held)
		return;
	terminal = find_terminal(gdb, held);
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

void pdbd_gdb_join(struct pdbd_gdb *gdb, struct link *link, const uint8_t *payload, size_t length)
{
	struct gdb_order order;
	struct pdb_error err;
	uint32_t num;

	gdb->link = link;
	if (gdb_order_decode(payload, length, &order, &err) < 0)
		return;
	num = order.rows ? 1 : 2;
	for (uint32_t i = 0; i < num; i++) {
		int fd;

		if (link_channel_open(link, order.channel + i, &fd, &err) == 0)
			add_end(gdb, stream_create(order.channel + i, fd, STREAM_SOCKET), NULL, -1);
	}
	gdb_order_deinit(&order);
}

static void send_message(struct pdbd_tree *tree, int to, bool is_for_pdb,
			 const struct stream_message *message, size_t length)
{
	struct note note = {.is_for_pdb = is_for_pdb};

	memcpy(&note.message, message, length);
	pdbd_tree_send(tree, to, &note, NOTE_HEAD + length);
}

static struct end *find_end(const struct pdbd_gdb *gdb, bool is_for_pdb, uint32_t number)
{
	struct end *end = gdb->ends;

	while (end && (!end->held != is_for_pdb || stream_number(end->stream) != number))
		end = end->next;
	return end;
}

static void take_note(struct pdbd_gdb *gdb, struct pdbd_tree *tree, int from, const uint8_t *bytes,
		      size_t length)
{
	struct end *end;
	struct note note;

	if (length < NOTE_HEAD + STREAM_HEAD || length > sizeof(note))
		return;
	memcpy(&note, bytes, length);
	end = find_end(gdb, note.is_for_pdb, note.message.number);
	if (end) {
		end->peer = from;
		if (end->held && note.message.kind == STREAM_DATA &&
		    memchr(note.message.bytes, INTERRUPT, length - NOTE_HEAD - STREAM_HEAD))
			end->held->process.interrupted_ns = monotonic_ns();
		stream_take(end->stream, &note.message, length - NOTE_HEAD);
	} else if (note.message.kind == STREAM_DATA) {
		/* It has been given up. */
		note.message.kind = STREAM_END;
		send_message(tree, from, !note.is_for_pdb, &note.message, STREAM_HEAD);
	}
}

static bool move(struct pdbd_tree *tree, struct end *end)
{
	struct stream_message message;
	bool has_moved = false;

	for (int i = 0; i < MAX_MESSAGES; i++) {
		size_t length = stream_next(end->stream, &message);

		if (!length)
			break;
		send_message(tree, end->peer, end->held, &message, length);
		has_moved = true;
	}
	return has_moved;
}

/* pdb has given it up before there was another end. */
static bool is_forsaken(const struct pdbd_gdb *gdb, const struct end *end)
{
	return !end->held && end->peer < 0 &&
	       !link_channel_is_open(gdb->link, stream_number(end->stream));
}

static bool is_done(const struct pdbd_gdb *gdb, const struct end *end)
{
	return stream_is_over(end->stream) || is_forsaken(gdb, end) ||
	       end->num_silent >= MAX_SILENT;
}

static bool is_near_pdb(const struct pdbd_gdb *gdb, const struct end *end)
{
	(void)gdb;
	return !end->held;
}

static bool is_any(const struct pdbd_gdb *gdb, const struct end *end)
{
	(void)gdb, (void)end;
	return true;
}

static void remove_ends(struct pdbd_gdb *gdb,
			bool (*is_it)(const struct pdbd_gdb *gdb, const struct end *end))
{
	struct end **link = &gdb->ends;

	while (*link) {
		struct end *end = *link;

		if (!is_it(gdb, end)) {
			link = &end->next;
			continue;
		}
		*link = end->next;
		stream_destroy(end->stream);
		free(end);
	}
}

void pdbd_gdb_part(struct pdbd_gdb *gdb)
{
	remove_ends(gdb, is_near_pdb);
	gdb->link = NULL;
}

static void look_after(struct pdbd_gdb *gdb)
{
	for (struct held *held = gdb->held; held; held = held->next) {
		struct stream *terminal = find_terminal(gdb, held);
		bool wants_end = !terminal || stream_wants_hang_up(terminal);

		gdb_process_check(&held->process);
		if (!held->process.has_ended && (held->process.ending_ns || wants_end))
			gdb_process_end(&held->process, monotonic_ns());
		if (terminal && wants_end && (held->process.num_told || held->process.has_ended))
			stream_hang_up(terminal);
	}
	for (struct end *end = gdb->ends; end; end = end->next)
		if (end->held && end->held->process.has_ended)
			stream_finish(end->stream);
}

void pdbd_gdb_turn(struct pdbd_gdb *gdb, struct pdbd_tree *tree)
{
	bool has_moved = false;
	uint8_t *bytes;
	size_t length;
	int from;

	while ((bytes = pdbd_tree_take(tree, &from, &length))) {
		take_note(gdb, tree, from, bytes, length);
		free(bytes);
		has_moved = true;
	}
	look_after(gdb);
	for (struct end *end = gdb->ends; end; end = end->next)
		if (end->peer >= 0)
			has_moved |= move(tree, end);
	remove_ends(gdb, is_done);
	if (has_moved)
		gdb->moved_ns = monotonic_ns();
}

bool pdbd_gdb_is_busy(const struct pdbd_gdb *gdb)
{
	return gdb->ends && monotonic_ns() - gdb->moved_ns < BUSY_NS;
}

void pdbd_gdb_note_silent(struct pdbd_gdb *gdb, const struct overlay_ranges *silent)
{
	for (struct end *end = gdb->ends; end; end = end->next)
		if (!end->held && end->peer >= 0)
			end->num_silent = overlay_ranges_index(silent, (uint32_t)end->peer) >= 0
						  ? end->num_silent + 1
						  : 0;
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
	remove_ends(gdb, is_any); /* a gdb that is left loses its terminal */
	while (gdb->held) {
		struct held *held = gdb->held;

		gdb->held = held->next;
		free(held);
	}
	free(gdb);
}
