/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/link_private.h"

/* Why the addresses tried so far did not do; "" or a text that was allocated. */
static void add_reason(char **reasons, const char *text)
{
	char *before = *reasons;

	*reasons = xasprintf("%s%s%s", before, *before ? "; " : "", text);
	free(before);
}

/* Start to connect to one address. */
static void add_address(struct handshake_race *race, const struct sockaddr_storage *address,
			char **reasons)
{
	const struct sockaddr *to = (const struct sockaddr *)address;
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char text[LINK_ADDRESS_TEXT];
	struct pdb_error error;

	if (fd >= 0 &&
	    (connect(fd, to, link_address_size(to->sa_family)) == 0 || errno == EINPROGRESS)) {
		race_add(race, HANDSHAKE_DAEMON, fd, true, UINT64_MAX, to);
		return;
	}
	link_address_text(to, text);
	error_errno(&error, "%s", text);
	add_reason(reasons, error.text);
	if (fd >= 0)
		close(fd);
}

/* As long as there is somebody left to wait for. */
static struct link *run(struct handshake_race *race, char **reasons, const struct link_limit *limit,
			struct pdb_error *err)
{
	unsigned num_told = 0;
	struct handshake winner;
	int none, result;

	while (race->num_peers > 0) {
		result = race_wait(race, NULL, 0, limit, &none, &winner, err);
		if (result > 0)
			return link_create(&winner);
		if (race->num_dropped > num_told)
			add_reason(reasons, race->last.text);
		num_told = race->num_dropped;
		if (result < 0)
			break;
	}
	if (race->num_peers == 0)
		error_set(err, ERROR_GONE, "cannot reach pdb: %s", *reasons);
	else if (err->code == ERROR_TIMEOUT)
		error_set(err, ERROR_TIMEOUT, "cannot reach pdb in time: %s%s%s does not answer",
			  *reasons, **reasons ? "; " : "", race->peers[0].peer);
	return NULL;
}

struct link *link_connect(const char *text, const struct link_limit *limit, struct pdb_error *err)
{
	struct handshake_race *race;
	struct link_invitation invitation;
	char *reasons = xstrdup("");
	struct link *link = NULL;
	struct pdb_error unasked;

	err = err ? err : &unasked; /* what kind it is decides here, too */
	if (sodium_init() < 0) {
		error_set(err, ERROR_SYSTEM, "libsodium cannot be used here");
		free(reasons);
		return NULL;
	}
	if (link_invitation_decode(text, &invitation, err) == 0) {
		race = xcalloc(1, sizeof(*race));
		memcpy(race->secret, invitation.secret, sizeof(race->secret));
		for (size_t i = 0; i < invitation.num_addresses; i++)
			add_address(race, &invitation.addresses[i], &reasons);
		link = run(race, &reasons, limit, err);
		race_end(race);
		free(race);
	}
	sodium_memzero(&invitation, sizeof(invitation));
	free(reasons);
	return link;
}
