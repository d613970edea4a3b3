/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/stream.h"

#define CREDIT_PIECE (STREAM_WINDOW / 4)

struct stream {
	uint32_t number;
	int fd; /* -1: hung up */
	enum stream_end end;
	size_t credit;         /* bytes that may be sent */
	size_t consumed;       /* bytes written to fd that are not credited yet */
	bool has_writer_ended; /* nothing that is not there already will be read */
	bool has_read_all;     /* fd gives no more... */
	bool has_told_end;     /* ...and the other end knows */
	bool has_received_all; /* the other end gives no more... */
	bool has_passed_on;    /* ...and fd has it */
	size_t pending_start, pending_end;
	uint8_t pending[STREAM_WINDOW]; /* received and not yet written to fd */
};

struct stream *stream_create(uint32_t number, int fd, enum stream_end end)
{
	struct stream *stream = xcalloc(1, sizeof(*stream));

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	stream->number = number;
	stream->fd = fd;
	stream->end = end;
	stream->credit = STREAM_WINDOW;
	return stream;
}

void stream_destroy(struct stream *stream)
{
	if (!stream)
		return;
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream);
}

uint32_t stream_number(const struct stream *stream)
{
	return stream->number;
}

int stream_fd(const struct stream *stream)
{
	return stream->fd;
}

void stream_finish(struct stream *stream)
{
	stream->has_writer_ended = true;
}

bool stream_is_over(const struct stream *stream)
{
	return stream->has_told_end && stream->has_passed_on &&
	       (stream->end != STREAM_TERMINAL || stream->fd < 0);
}

/* ---- From the other end to the descriptor ---- */

bool stream_wants_hang_up(const struct stream *stream)
{
	return stream->end == STREAM_TERMINAL && stream->has_passed_on && stream->fd >= 0;
}

void stream_hang_up(struct stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
	stream->has_read_all = true;
}

/* Nobody takes it any more: it counts as written, so that what is read still gets through. */
static void drop_pending(struct stream *stream)
{
	stream->consumed += stream->pending_end - stream->pending_start;
	stream->pending_start = stream->pending_end = 0;
}

static void write_pending(struct stream *stream)
{
	while (stream->pending_start < stream->pending_end) {
		const uint8_t *bytes = stream->pending + stream->pending_start;
		size_t length = stream->pending_end - stream->pending_start;
		ssize_t n = stream->end == STREAM_SOCKET
				    ? send(stream->fd, bytes, length, MSG_NOSIGNAL)
				    : write(stream->fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			drop_pending(stream);
			break;
		}
		stream->pending_start += (size_t)n;
		stream->consumed += (size_t)n;
	}
	if (!stream->has_received_all || stream->has_passed_on)
		return;
	stream->has_passed_on = true;
	if (stream->end == STREAM_SOCKET && stream->fd >= 0)
		shutdown(stream->fd, SHUT_WR);
	else if (stream->end == STREAM_PIPE)
		stream_hang_up(stream);
}

static void take_data(struct stream *stream, const uint8_t *bytes, size_t length)
{
	size_t have = stream->pending_end - stream->pending_start;

	if (have + stream->consumed + length > STREAM_WINDOW || stream->has_received_all) {
		stream->has_received_all = true;
		drop_pending(stream);
		stream_hang_up(stream);
		return;
	}
	memmove(stream->pending, stream->pending + stream->pending_start, have);
	memcpy(stream->pending + have, bytes, length);
	stream->pending_start = 0;
	stream->pending_end = have + length;
}

void stream_take(struct stream *stream, const struct stream_message *message, size_t length)
{
	uint32_t credit;

	if (length < STREAM_HEAD)
		return;
	length -= STREAM_HEAD;
	switch (message->kind) {
	case STREAM_DATA:
		take_data(stream, message->bytes, length);
		break;
	case STREAM_CREDIT:
		if (length != sizeof(credit))
			return;
		memcpy(&credit, message->bytes, sizeof(credit));
		stream->credit += credit <= STREAM_WINDOW - stream->credit ? credit : 0;
		return;
	case STREAM_END:
		stream->has_told_end = true;
		stream->has_received_all = true;
		break;
	case STREAM_EOF:
		stream->has_received_all = true;
		break;
	}
	write_pending(stream);
}

/* ---- From the descriptor to the other end ---- */

short stream_events(const struct stream *stream)
{
	bool reads = stream->credit > 0 && !stream->has_read_all;

	return (reads ? POLLIN : 0) | (stream->pending_start < stream->pending_end ? POLLOUT : 0);
}

static size_t make(const struct stream *stream, struct stream_message *ret, enum stream_kind kind,
		   size_t length)
{
	ret->number = stream->number;
	ret->kind = kind;
	return STREAM_HEAD + length;
}

static size_t read_piece(struct stream *stream, struct stream_message *ret)
{
	size_t room = stream->credit < STREAM_PIECE ? stream->credit : STREAM_PIECE;

	if (room == 0 || stream->has_read_all)
		return 0;
	ssize_t n = read(stream->fd, ret->bytes, room);
	if (n > 0) {
		stream->credit -= (size_t)n;
		return make(stream, ret, STREAM_DATA, (size_t)n);
	}
	/* A terminal that nobody has open any more gives an error. */
	if (n == 0 || (errno != EAGAIN && errno != EINTR) || stream->has_writer_ended)
		stream->has_read_all = true;
	return 0;
}

size_t stream_next(struct stream *stream, struct stream_message *ret)
{
	write_pending(stream);
	uint32_t credit = (uint32_t)stream->consumed;
	if (credit >= CREDIT_PIECE) {
		stream->consumed = 0;
		memcpy(ret->bytes, &credit, sizeof(credit));
		return make(stream, ret, STREAM_CREDIT, sizeof(credit));
	}
	if (stream->has_told_end)
		return 0;
	size_t length = read_piece(stream, ret);
	if (length || !stream->has_read_all)
		return length;
	stream->has_told_end = true;
	return make(stream, ret, STREAM_EOF, 0);
}
