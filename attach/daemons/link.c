/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/link_private.h"
#include "attach/daemons/stream.h"
#include "model/monotonic.h"

#define PATIENCE 30    /* seconds */
#define LENGTH_SIZE 4  /* in front of a record */
#define FRAME_HEADER 8 /* type and length, in a frame's first record */
#define IN_CAPACITY (4 * (LENGTH_SIZE + LINK_RECORD_MAX))

enum {
	TAG_MORE = crypto_secretstream_xchacha20poly1305_TAG_MESSAGE,
	TAG_LAST = crypto_secretstream_xchacha20poly1305_TAG_PUSH,
	TAG_FINAL = crypto_secretstream_xchacha20poly1305_TAG_FINAL,
};

/* ---- Buffers ---- */

static size_t buffer_size(const struct link_buffer *buffer)
{
	return buffer->end - buffer->start;
}

/* Room for `size` bytes more behind the end. */
static uint8_t *buffer_room(struct link_buffer *buffer, size_t size)
{
	size_t have = buffer_size(buffer);

	if (buffer->capacity - buffer->end < size && buffer->start > 0) {
		memmove(buffer->bytes, buffer->bytes + buffer->start, have);
		buffer->start = 0;
		buffer->end = have;
	}
	if (buffer->capacity - buffer->end < size) {
		buffer->capacity = 2 * (have + size);
		buffer->bytes = xreallocarray(buffer->bytes, buffer->capacity, 1);
	}
	return buffer->bytes + buffer->end;
}

static void buffer_take(struct link_buffer *buffer, size_t size)
{
	buffer->start += size;
	if (buffer->start == buffer->end)
		buffer->start = buffer->end = 0;
}

/* ---- Life ---- */

/* Two options bound all silence: probes while nothing is under way, and a limit for what is under
 * way and not acknowledged, or not taken by a process that is stopped. */
void link_set_patience(struct link *link, unsigned seconds)
{
	int on = 1, idle = (int)(seconds + 2) / 3, interval = (int)(seconds + 5) / 6, probes = 4;
	unsigned milliseconds = seconds * 1000;

	link->patience = seconds;
	setsockopt(link->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(link->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(link->fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(link->fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(link->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof(milliseconds));
}

struct link *link_create(struct handshake *handshake)
{
	struct link *link = xcalloc(1, sizeof(*link));
	int on = 1;

	link->fd = handshake->fd;
	link->send = handshake->send;
	link->receive = handshake->receive;
	memcpy(link->peer, handshake->peer, sizeof(link->peer));
	sodium_memzero(handshake, sizeof(*handshake));
	link_set_patience(link, PATIENCE);
	setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return link;
}

const char *link_peer(const struct link *link)
{
	return link->peer;
}

void link_frame_deinit(struct link_frame *frame)
{
	free(frame->payload);
	frame->payload = NULL;
	frame->length = 0;
}

/* The link is of no more use: keep the reason. Returns -1. */
static int __attribute__((format(printf, 3, 4)))
break_link(struct link *link, enum error_code code, const char *format, ...)
{
	char reason[256];
	va_list ap;

	if (link->broken.code)
		return -1;
	va_start(ap, format);
	vsnprintf(reason, sizeof(reason), format, ap);
	va_end(ap);
	return error_set(&link->broken, code, "connection to %s: %s", link->peer, reason);
}

static int tell_broken(const struct link *link, struct pdb_error *err)
{
	*err = link->broken;
	return -1;
}

/* ---- Records out ---- */

static void put_record(struct link *link, const void *plain, size_t length, uint8_t tag)
{
	size_t size = length + crypto_secretstream_xchacha20poly1305_ABYTES;
	uint8_t *to = buffer_room(&link->out, LENGTH_SIZE + size);

	link_put_u32(to, size);
	crypto_secretstream_xchacha20poly1305_push(&link->send, to + LENGTH_SIZE, NULL, plain,
						   length, to, LENGTH_SIZE, tag);
	link->out.end += LENGTH_SIZE + size;
}

/* The first `part` of a frame's bytes, which fit into a record. */
static void put_start(struct link *link, uint32_t type, const void *bytes, size_t length,
		      size_t part)
{
	uint8_t *plain = link->plain_out;

	link_put_u32(plain, type);
	link_put_u32(plain + 4, length);
	if (part)
		memcpy(plain + FRAME_HEADER, bytes, part);
	put_record(link, plain, FRAME_HEADER + part, part == length ? TAG_LAST : TAG_MORE);
}

void link_put_frame(struct link *link, uint32_t type, const void *bytes, size_t length)
{
	put_start(link, type, bytes, length, length);
}

/* What a system call on the connection said, in words. */
static int break_errno(struct link *link)
{
	if (errno == ETIMEDOUT)
		return break_link(link, ERROR_GONE, "no sign of life for %u s", link->patience);
	return break_link(link, ERROR_GONE, "%s", strerror(errno));
}

/* Write as much as the kernel takes. */
static int flush(struct link *link)
{
	while (buffer_size(&link->out) > 0) {
		ssize_t n = send(link->fd, link->out.bytes + link->out.start,
				 buffer_size(&link->out), MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : break_errno(link);
		buffer_take(&link->out, (size_t)n);
	}
	return 0;
}

/* ---- Channels: streams that end here ---- */

static size_t find_channel(const struct link *link, uint32_t number)
{
	size_t i = 0;

	while (i < link->num_channels && stream_number(link->channels[i]) != number)
		i++;
	return i;
}

static void remove_channel(struct link *link, size_t i)
{
	stream_destroy(link->channels[i]);
	link->channels[i] = link->channels[--link->num_channels];
}

int link_channel_open(struct link *link, uint32_t number, int *fd_ret, struct pdb_error *err)
{
	int fds[2];

	if (find_channel(link, number) < link->num_channels)
		return error_set(err, ERROR_USAGE, "channel %u is in use", number);
	if (link->num_channels == LINK_MAX_CHANNELS)
		return error_set(err, ERROR_USAGE, "more than %d channels", LINK_MAX_CHANNELS);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return error_errno(err, "cannot open a channel");
	link->channels[link->num_channels++] = stream_create(number, fds[0], STREAM_SOCKET);
	*fd_ret = fds[1];
	return 0;
}

static void put_end(struct link *link, uint32_t number)
{
	struct stream_message end = {.number = number, .kind = STREAM_END};

	if (!link->broken.code)
		link_put_frame(link, LINK_STREAM, &end, STREAM_HEAD);
}

void link_channel_close(struct link *link, uint32_t number)
{
	size_t i = find_channel(link, number);

	if (i == link->num_channels)
		return;
	put_end(link, number);
	remove_channel(link, i);
}

void link_pass_streams(struct link *link)
{
	link->passes_streams = true;
}

static int take_message(struct link *link, const struct link_frame *frame)
{
	struct stream_message message;

	if (frame->type != LINK_STREAM || frame->length < STREAM_HEAD ||
	    frame->length > sizeof(message))
		return break_link(link, ERROR_FORMAT, "a frame of unknown type %#x", frame->type);
	memcpy(&message, frame->payload, frame->length);
	size_t i = find_channel(link, message.number);
	if (i < link->num_channels)
		stream_take(link->channels[i], &message, frame->length);
	else if (message.kind == STREAM_DATA)
		/* It has ended here; what was under way then still comes. */
		put_end(link, message.number);
	return 0;
}

/* Leave out sockets from which nothing is wanted: poll() would say at once that they are closed. */
static void poll_channels(const struct link *link, struct pollfd *fds)
{
	bool has_room = buffer_size(&link->out) < LINK_OUT_BULK;

	for (size_t i = 0; i < link->num_channels; i++) {
		short events = stream_events(link->channels[i]) & (has_room ? ~0 : ~POLLIN);

		fds[i] = (struct pollfd){events ? stream_fd(link->channels[i]) : -1, events, 0};
	}
}

static void serve_channels(struct link *link)
{
	struct stream_message message;
	size_t length;

	for (size_t i = link->num_channels; i-- > 0;) {
		while (buffer_size(&link->out) < LINK_OUT_BULK &&
		       (length = stream_next(link->channels[i], &message)) > 0)
			link_put_frame(link, LINK_STREAM, &message, length);
		if (stream_is_over(link->channels[i]))
			remove_channel(link, i);
	}
}

void link_destroy(struct link *link)
{
	if (!link)
		return;
	while (link->num_channels > 0)
		remove_channel(link, link->num_channels - 1);
	if (!link->broken.code) {
		put_record(link, NULL, 0, TAG_FINAL);
		flush(link);
	}
	close(link->fd);
	link_frame_deinit(&link->frame);
	free(link->out.bytes);
	free(link->in.bytes);
	sodium_memzero(link, sizeof(*link));
	free(link);
}

/* ---- Records in ---- */

static int start_frame(struct link *link, const uint8_t *plain, size_t length)
{
	if (length < FRAME_HEADER)
		return break_link(link, ERROR_FORMAT, "a frame without header");
	link->frame.type = link_get_u32(plain);
	link->frame.length = link_get_u32(plain + 4);
	link->frame_have = link->frame_capacity = 0;
	link->has_frame_start = true;
	if (link->frame.length > LINK_MAX_PAYLOAD)
		return break_link(link, ERROR_FORMAT, "a frame of %zu bytes", link->frame.length);
	return 0;
}

/* Memory grows with what has come, not with what was announced. */
static int add_to_frame(struct link *link, const uint8_t *bytes, size_t length)
{
	struct link_frame *frame = &link->frame;

	if (length > frame->length - link->frame_have)
		return break_link(link, ERROR_FORMAT, "a frame is longer than it says");
	if (link->frame_have + length > link->frame_capacity) {
		size_t capacity = 2 * (link->frame_have + length);

		link->frame_capacity = capacity < frame->length ? capacity : frame->length;
		frame->payload = xreallocarray(frame->payload, link->frame_capacity, 1);
	}
	if (length)
		memcpy(frame->payload + link->frame_have, bytes, length);
	link->frame_have += length;
	return 0;
}

static int end_frame(struct link *link)
{
	if (link->frame_have != link->frame.length)
		return break_link(link, ERROR_FORMAT, "a frame is shorter than it says");
	link->has_frame_start = false;
	link->has_frame = link->frame.type < LINK_MAX_TYPE ||
			  (link->frame.type == LINK_STREAM && link->passes_streams);
	if (link->has_frame)
		return 0;
	int result = take_message(link, &link->frame);
	link_frame_deinit(&link->frame);
	return result;
}

static int take_plain(struct link *link, const uint8_t *plain, size_t length, uint8_t tag)
{
	if (tag == TAG_FINAL) {
		if (length > 0 || link->has_frame_start)
			return break_link(link, ERROR_FORMAT, "it ended within a frame");
		return break_link(link, ERROR_GONE, "closed by the other side");
	}
	if (tag != TAG_MORE && tag != TAG_LAST)
		return break_link(link, ERROR_FORMAT, "a record of an unknown kind");
	if (!link->has_frame_start) {
		if (start_frame(link, plain, length) < 0)
			return -1;
		plain += FRAME_HEADER;
		length -= FRAME_HEADER;
	}
	if (add_to_frame(link, plain, length) < 0)
		return -1;
	return tag == TAG_LAST ? end_frame(link) : 0;
}

/* 1: a record was taken from the input, 0: there is no whole one, -1: the link is broken. */
static int take_record(struct link *link)
{
	uint8_t *plain = link->plain_in, tag;
	const uint8_t *record = link->in.bytes + link->in.start;
	size_t have = buffer_size(&link->in), size;
	unsigned long long length;

	if (have < LENGTH_SIZE)
		return 0;
	size = link_get_u32(record);
	if (size < crypto_secretstream_xchacha20poly1305_ABYTES || size > LINK_RECORD_MAX)
		return break_link(link, ERROR_FORMAT, "a record of %zu bytes", size);
	if (have < LENGTH_SIZE + size)
		return 0;
	if (crypto_secretstream_xchacha20poly1305_pull(&link->receive, plain, &length, &tag,
						       record + LENGTH_SIZE, size, record,
						       LENGTH_SIZE) < 0)
		return break_link(
			link, ERROR_FORMAT,
			"received data differ from what was sent (changed, repeated or missing)");
	buffer_take(&link->in, LENGTH_SIZE + size);
	return take_plain(link, plain, (size_t)length, tag) < 0 ? -1 : 1;
}

/* Up to a frame. Records behind it stay: the caller may have to open a channel first. */
static int take_records(struct link *link)
{
	int result = 1;

	while (result > 0 && !link->has_frame)
		result = take_record(link);
	serve_channels(link);
	if (result == 0 && link->has_read_all)
		return break_link(link, ERROR_GONE, "cut%s",
				  link->has_frame_start || buffer_size(&link->in)
					  ? " in the middle of a frame"
					  : "");
	return result < 0 ? -1 : 0;
}

static bool wants_input(const struct link *link)
{
	return !link->has_read_all && !link->has_frame && buffer_size(&link->in) < IN_CAPACITY &&
	       buffer_size(&link->out) < LINK_OUT_MAX;
}

static int fill(struct link *link)
{
	size_t room = IN_CAPACITY - buffer_size(&link->in);
	ssize_t n = recv(link->fd, buffer_room(&link->in, room), room, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return break_errno(link);
	link->has_read_all = n == 0;
	link->in.end += (size_t)n;
	link->num_received += (uint64_t)n;
	return 0;
}

/* ---- Waiting ---- */

/* Wait once for anything, and do what can be done then. */
static int wait_once(struct link *link, const struct link_limit *limit, struct pdb_error *err)
{
	struct pollfd fds[2 + LINK_MAX_CHANNELS] = {{limit->cancel_fd, POLLIN, 0}, {-1, 0, 0}};
	bool is_last = limit->until_ns <= monotonic_ns();

	if (wants_input(link))
		fds[1].events |= POLLIN;
	if (buffer_size(&link->out) > 0)
		fds[1].events |= POLLOUT;
	if (fds[1].events)
		fds[1].fd = link->fd;
	poll_channels(link, fds + 2);
	int n = poll(fds, 2 + link->num_channels, monotonic_timeout(limit->until_ns));
	if (n < 0 && errno != EINTR)
		return error_errno(err, "cannot wait for %s", link->peer);
	if (n > 0 && fds[0].revents)
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	if (n > 0 && ((fds[1].events & POLLIN && fds[1].revents && fill(link) < 0) ||
		      take_records(link) < 0 || flush(link) < 0))
		return tell_broken(link, err);
	if (is_last && !link->has_frame)
		return error_set(err, ERROR_TIMEOUT, "%s does not answer", link->peer);
	return 0;
}

int link_receive(struct link *link, struct link_frame *ret, const struct link_limit *limit,
		 struct pdb_error *err)
{
	if (!link->has_frame && !link->broken.code)
		take_records(link);
	while (!link->has_frame && !link->broken.code)
		if (wait_once(link, limit, err) < 0)
			return -1;
	if (!link->has_frame)
		return tell_broken(link, err);
	*ret = link->frame;
	link->frame = (struct link_frame){0};
	link->has_frame = false;
	return 0;
}

uint64_t link_num_received(const struct link *link)
{
	return link->num_received;
}

/* ---- Sending ---- */

bool link_pass(struct link *link, const void *message, size_t length)
{
	if (buffer_size(&link->out) > LINK_MAX_CHANNELS * STREAM_WINDOW)
		return false;
	if (link->broken.code)
		return true;
	link_put_frame(link, LINK_STREAM, message, length);
	flush(link);
	return true;
}

/* Down to `size` bytes. A wait that is given up ends the link: half a frame makes all nonsense. */
static int drain(struct link *link, size_t size, const struct link_limit *limit,
		 struct pdb_error *err)
{
	bool is_late = false;
	struct pdb_error error;

	if (flush(link) < 0)
		return tell_broken(link, err);
	while (buffer_size(&link->out) > size) {
		if (is_late)
			error_set(&error, ERROR_TIMEOUT, "%s does not answer", link->peer);
		if (is_late || wait_once(link, limit, &error) < 0) {
			break_link(link, ERROR_GONE, "given up in the middle of a frame");
			return error_set(err, error.code, "cannot send: %s", error.text);
		}
		is_late = limit->until_ns <= monotonic_ns();
	}
	return 0;
}

int link_send(struct link *link, uint32_t type, const void *payload, size_t length,
	      const struct link_limit *limit, struct pdb_error *err)
{
	const uint8_t *rest = payload;
	size_t part = length < LINK_CHUNK - FRAME_HEADER ? length : LINK_CHUNK - FRAME_HEADER;

	if (length > LINK_MAX_PAYLOAD || type >= LINK_MAX_TYPE)
		return error_set(err, ERROR_USAGE, "no frame can be of type %u and %zu bytes", type,
				 length);
	if (link->broken.code)
		return tell_broken(link, err);
	put_start(link, type, payload, length, part);
	for (rest += part, length -= part; length > 0; rest += part, length -= part) {
		part = length < LINK_CHUNK ? length : LINK_CHUNK;
		if (drain(link, LINK_OUT_BULK, limit, err) < 0)
			return -1;
		put_record(link, rest, part, part == length ? TAG_LAST : TAG_MORE);
	}
	return drain(link, 0, limit, err);
}
