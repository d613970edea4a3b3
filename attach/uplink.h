/* SPDX-License-Identifier: BSD-3-Clause
 * The connection of the first daemon to pdb, as pdbd uses it. */
#ifndef PDB_ATTACH_UPLINK_H
#define PDB_ATTACH_UPLINK_H

#include <stddef.h>
#include <stdint.h>

struct pdb_error;
struct uplink;

/* Connect to the pdb that the invitation is from, within a bounded time. */
int uplink_open(const char *invitation, struct uplink **ret, struct pdb_error *err);
void uplink_close(struct uplink *uplink); /* NULL is fine */

/* The next request, waiting for it for at most timeout_ms. 1: there is one, its payload freed by
 * the caller; 0: there is none yet; -1: pdb is gone. */
int uplink_receive(struct uplink *uplink, int timeout_ms, uint32_t *kind_ret, uint8_t **payload_ret,
		   size_t *length_ret);

/* -1: pdb is gone. */
int uplink_send(struct uplink *uplink, uint32_t kind, const void *payload, size_t length);

#endif
