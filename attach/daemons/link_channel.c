/* SPDX-License-Identifier: BSD-3-Clause
 * Channels: streams of bytes over a link.
 *
 * Each direction of a channel has a window: so many bytes may be sent that the other side has not
 * yet written to its socket. What it has written it gives back as credit. So a socket that nobody
 * reads holds up its own channel and nothing else, with LINK_WINDOW bytes of memory. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/link_private.h"

#define NUMBER_SIZE 4
#define PIECE 16384 /* bytes of one frame */
#define CREDIT_PIECE (LINK_WINDOW / 4)

/* ---- Table ---- */

static struct link_channel *find(const struct link *link, uint32_t number)
{
	for (size_t i = 0; i < link->num_channels; i++)
		if (link->channels[i].number == number && !link->channels[i].is_over)
			return (struct link_channel *)&link->channels[i];
	return NULL;
}

static void remove_at(struct link *link, size_t i)
{
	close(link->channels[i].fd);
	free(link->channels[i].pending.bytes);
	link->channels[i] = link->channels[--link->num_channels];
}

void link_channel_remove_finished(struct link *link)
{
	for (size_t i = link->num_channels; i-- > 0;)
		if (link->channels[i].is_over)
			remove_at(link, i);
}

int link_channel_join(struct link *link, uint32_t number, int fd, struct pdb_error *err)
{
	link_channel_remove_finished(link);
	if (find(link, number))
		return error_set(err, ERROR_USAGE, "channel %u is in use", number);
	if (link->num_channels == LINK_MAX_CHANNELS)
		return error_set(err, ERROR_USAGE, "more than %d channels", LINK_MAX_CHANNELS);
	link->channels[link->num_channels++] =
		(struct link_channel){.number = number, .fd = fd, .credit = LINK_WINDOW};
	return 0;
}

int link_channel_open(struct link *link, uint32_t number, int *fd_ret, struct pdb_error *err)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return error_errno(err, "cannot open a channel");
	if (link_channel_join(link, number, fds[0], err) < 0) {
		close(fds[0]);
		close(fds[1]);
		return -1;
	}
	*fd_ret = fds[1];
	return 0;
}

bool link_channel_is_open(const struct link *link, uint32_t number)
{
	return find(link, number) != NULL;
}

/* ---- To the other side ---- */

static void put(struct link *link, uint32_t type, uint32_t number, const void *bytes, size_t length)
{
	uint8_t head[NUMBER_SIZE];

	if (link->broken.code)
		return;
	link_put_u32(head, number);
	link_put_frame(link, type, head, sizeof(head), bytes, length);
}

void link_channel_close(struct link *link, uint32_t number)
{
	struct link_channel *channel = find(link, number);

	if (!channel)
		return;
	put(link, LINK_CHANNEL_END, number, NULL, 0);
	channel->is_over = true;
	link_channel_remove_finished(link);
}

void link_channel_end_all(struct link *link)
{
	while (link->num_channels > 0)
		remove_at(link, link->num_channels - 1);
}

static void read_socket(struct link *link, struct link_channel *channel)
{
	uint8_t bytes[PIECE];
	size_t room = channel->credit < PIECE ? channel->credit : PIECE;
	ssize_t n = recv(channel->fd, bytes, room, MSG_DONTWAIT);

	if (n > 0) {
		channel->credit -= (size_t)n;
		put(link, LINK_CHANNEL_DATA, channel->number, bytes, (size_t)n);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		channel->has_read_all = true;
		put(link, LINK_CHANNEL_EOF, channel->number, NULL, 0);
	}
}

/* ---- To the socket ---- */

static void give_credit(struct link *link, struct link_channel *channel)
{
	uint8_t amount[4];

	if (channel->consumed < CREDIT_PIECE)
		return;
	link_put_u32(amount, (uint32_t)channel->consumed);
	channel->consumed = 0;
	put(link, LINK_CHANNEL_CREDIT, channel->number, amount, sizeof(amount));
}

/* Nobody reads at the socket's other end any more. What comes for it is dropped, but what it has
 * said before is still to be read: a gdb's last words, say. */
static void drop_pending(struct link *link, struct link_channel *channel)
{
	channel->consumed += link_buffer_size(&channel->pending);
	link_buffer_take(&channel->pending, link_buffer_size(&channel->pending));
	channel->has_shut_down = true;
	give_credit(link, channel);
}

static void write_socket(struct link *link, struct link_channel *channel)
{
	struct link_buffer *pending = &channel->pending;

	while (link_buffer_size(pending) > 0 && !channel->has_shut_down) {
		ssize_t n = send(channel->fd, pending->bytes + pending->start,
				 link_buffer_size(pending), MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			break;
		link_buffer_take(pending, (size_t)n);
		channel->consumed += (size_t)n;
		give_credit(link, channel);
	}
	if (link_buffer_size(pending) > 0)
		drop_pending(link, channel);
	if (channel->has_received_all && !channel->has_shut_down) {
		shutdown(channel->fd, SHUT_WR);
		channel->has_shut_down = true;
	}
}

static void check_finished(struct link_channel *channel)
{
	if (channel->has_read_all && channel->has_shut_down)
		channel->is_over = true;
}

/* ---- From the other side ---- */

static int take_data(struct link *link, struct link_channel *channel, const uint8_t *bytes,
		     size_t length)
{
	if (link_buffer_size(&channel->pending) + channel->consumed + length > LINK_WINDOW ||
	    channel->has_received_all)
		return link_break(link, ERROR_FORMAT, "channel %u: more bytes than it may have",
				  channel->number);
	memcpy(link_buffer_room(&channel->pending, length), bytes, length);
	channel->pending.end += length;
	write_socket(link, channel);
	return 0;
}

static int take_credit(struct link *link, struct link_channel *channel, const uint8_t *bytes,
		       size_t length)
{
	size_t amount = length == 4 ? link_get_u32(bytes) : SIZE_MAX;

	if (amount > LINK_WINDOW - channel->credit)
		return link_break(link, ERROR_FORMAT, "channel %u: more credit than it may have",
				  channel->number);
	channel->credit += amount;
	return 0;
}

int link_channel_frame(struct link *link, const struct link_frame *frame)
{
	struct link_channel *channel;
	const uint8_t *bytes = frame->payload + NUMBER_SIZE;
	size_t length = frame->length - NUMBER_SIZE;
	uint32_t number;
	int result = 0;

	if (frame->length < NUMBER_SIZE || frame->type > LINK_CHANNEL_END)
		return link_break(link, ERROR_FORMAT, "a frame of unknown type %#x", frame->type);
	number = link_get_u32(frame->payload);
	channel = find(link, number);
	if (!channel) {
		/* It has ended here; what was under way then still comes. */
		if (frame->type == LINK_CHANNEL_DATA)
			put(link, LINK_CHANNEL_END, number, NULL, 0);
		return 0;
	}
	if (frame->type == LINK_CHANNEL_DATA && length > 0) {
		result = take_data(link, channel, bytes, length);
	} else if (frame->type == LINK_CHANNEL_CREDIT) {
		result = take_credit(link, channel, bytes, length);
	} else if (frame->type == LINK_CHANNEL_EOF || frame->type == LINK_CHANNEL_END) {
		channel->has_received_all = true;
		channel->has_read_all |= frame->type == LINK_CHANNEL_END;
		write_socket(link, channel);
	}
	check_finished(channel);
	return result;
}

/* ---- Waiting ---- */

/* A socket from which nothing is wanted is left out: poll() would say at once that it is closed. */
void link_channel_poll(const struct link *link, struct pollfd *fds)
{
	bool has_room = link_buffer_size(&link->out) < LINK_OUT_BULK;

	for (size_t i = 0; i < link->num_channels; i++) {
		const struct link_channel *channel = &link->channels[i];
		short events = 0;

		if (has_room && channel->credit > 0 && !channel->has_read_all)
			events |= POLLIN;
		if (link_buffer_size(&channel->pending) > 0)
			events |= POLLOUT;
		fds[i] = (struct pollfd){events && !channel->is_over ? channel->fd : -1, events, 0};
	}
}

void link_channel_serve(struct link *link, const struct pollfd *fds)
{
	for (size_t i = 0; i < link->num_channels; i++) {
		struct link_channel *channel = &link->channels[i];

		if (!fds[i].revents)
			continue;
		if (fds[i].events & POLLOUT)
			write_socket(link, channel);
		if (fds[i].events & POLLIN && !channel->is_over)
			read_socket(link, channel);
		check_finished(channel);
	}
}
