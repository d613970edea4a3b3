/* SPDX-License-Identifier: BSD-3-Clause
 * A plain TCP connection in place of pdb's: an invitation is "HOST:PORT", a frame is its kind, the
 * length of its payload and that. Only for tests/daemons. */
#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/uplink.h"
#include "model/error.h"
#include "model/xalloc.h"

struct uplink {
	int fd;
};

int uplink_open(const char *invitation, struct uplink **ret, struct pdb_error *err)
{
	char *host = xstrdup(invitation), *port = strchr(host, ':');
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_INET};
	struct addrinfo *address = NULL;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), result = -1;

	if (port)
		*port++ = '\0';
	if (fd >= 0 && port && getaddrinfo(host, port, &hints, &address) == 0)
		result = connect(fd, address->ai_addr, address->ai_addrlen);
	if (address)
		freeaddrinfo(address);
	free(host);
	if (result != 0)
		return error_errno(err, "cannot connect");
	*ret = xmalloc(sizeof(**ret));
	(*ret)->fd = fd;
	return 0;
}

void uplink_close(struct uplink *uplink)
{
	if (uplink)
		close(uplink->fd);
	free(uplink);
}

static int read_all(int fd, void *bytes, size_t length)
{
	return length == 0 || recv(fd, bytes, length, MSG_WAITALL) == (ssize_t)length ? 0 : -1;
}

int uplink_receive(struct uplink *uplink, int timeout_ms, uint32_t *kind_ret, uint8_t **payload_ret,
		   size_t *length_ret)
{
	struct pollfd poll_fd = {.fd = uplink->fd, .events = POLLIN};
	uint32_t header[2];

	if (poll(&poll_fd, 1, timeout_ms) <= 0)
		return 0;
	if (read_all(uplink->fd, header, sizeof(header)) != 0)
		return -1;
	*payload_ret = xmalloc(header[1] + 1);
	*kind_ret = header[0];
	*length_ret = header[1];
	return read_all(uplink->fd, *payload_ret, header[1]) == 0 ? 1 : -1;
}

int uplink_send(struct uplink *uplink, uint32_t kind, const void *payload, size_t length)
{
	const uint32_t header[2] = {kind, length};

	if (send(uplink->fd, header, sizeof(header), MSG_NOSIGNAL | MSG_MORE) != sizeof(header))
		return -1;
	return length == 0 || send(uplink->fd, payload, length, MSG_NOSIGNAL) == (ssize_t)length
		       ? 0
		       : -1;
}
