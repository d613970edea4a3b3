/* SPDX-License-Identifier: BSD-3-Clause
 * Streams over a link: those that end here, the channels, and those that are passed on. */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/link_private.h"
#include "attach/daemons/stream.h"

static size_t find(const struct link *link, uint32_t number)
{
	size_t i = 0;

	while (i < link->num_channels && stream_number(link->channels[i]) != number)
		i++;
	return i;
}

static void remove_at(struct link *link, size_t i)
{
	stream_destroy(link->channels[i]);
	link->channels[i] = link->channels[--link->num_channels];
}

int link_channel_open(struct link *link, uint32_t number, int *fd_ret, struct pdb_error *err)
{
	int fds[2];

	if (find(link, number) < link->num_channels)
		return error_set(err, ERROR_USAGE, "channel %u is in use", number);
	if (link->num_channels == LINK_MAX_CHANNELS)
		return error_set(err, ERROR_USAGE, "more than %d channels", LINK_MAX_CHANNELS);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return error_errno(err, "cannot open a channel");
	link->channels[link->num_channels++] = stream_create(number, fds[0], STREAM_SOCKET);
	*fd_ret = fds[1];
	return 0;
}

bool link_channel_is_open(const struct link *link, uint32_t number)
{
	return find(link, number) < link->num_channels;
}

static void put_end(struct link *link, uint32_t number)
{
	struct stream_message end = {.number = number, .kind = STREAM_END};

	if (!link->broken.code)
		link_put_frame(link, LINK_STREAM, &end, STREAM_HEAD);
}

void link_channel_close(struct link *link, uint32_t number)
{
	size_t i = find(link, number);

	if (i == link->num_channels)
		return;
	put_end(link, number);
	remove_at(link, i);
}

void link_channel_end_all(struct link *link)
{
	while (link->num_channels > 0)
		remove_at(link, link->num_channels - 1);
}

void link_pass_streams(struct link *link)
{
	link->passes_streams = true;
}

int link_channel_frame(struct link *link, const struct link_frame *frame)
{
	struct stream_message message;
	size_t i;

	if (frame->type != LINK_STREAM || frame->length < STREAM_HEAD ||
	    frame->length > sizeof(message))
		return link_break(link, ERROR_FORMAT, "a frame of unknown type %#x", frame->type);
	memcpy(&message, frame->payload, frame->length);
	i = find(link, message.number);
	if (i < link->num_channels)
		stream_take(link->channels[i], &message, frame->length);
	else if (message.kind == STREAM_DATA)
		/* It has ended here; what was under way then still comes. */
		put_end(link, message.number);
	return 0;
}

/* A socket from which nothing is wanted is left out: poll() would say at once that it is closed. */
void link_channel_poll(const struct link *link, struct pollfd *fds)
{
	bool has_room = link_buffer_size(&link->out) < LINK_OUT_BULK;

	for (size_t i = 0; i < link->num_channels; i++) {
		short events = stream_events(link->channels[i]) & (has_room ? ~0 : ~POLLIN);

		fds[i] = (struct pollfd){events ? stream_fd(link->channels[i]) : -1, events, 0};
	}
}

void link_channel_serve(struct link *link)
{
	struct stream_message message;
	size_t length;

	for (size_t i = link->num_channels; i-- > 0;) {
		while (link_buffer_size(&link->out) < LINK_OUT_BULK &&
		       (length = stream_next(link->channels[i], &message)) > 0)
			link_put_frame(link, LINK_STREAM, &message, length);
		if (stream_is_over(link->channels[i]))
			remove_at(link, i);
	}
}
