/* SPDX-License-Identifier: BSD-3-Clause
 * What a lane keeps of the call in progress, from before it to after it. */
#ifndef PDB_RECORDER_P2P_STATE_H
#define PDB_RECORDER_P2P_STATE_H

#include "model/recorder/requests.h"

enum {
	P2P_STATUS_BYTES = 64,      /* at least one MPI_Status */
	P2P_MAX_STATUSES = 1 << 12, /* that are asked for where the program ignores them */
	/* Bytes of a lane's private memory: `keys`, `listed` and `statuses`. */
	P2P_MEMORY = SEG_MAX_WAITED * (sizeof(uint64_t) + sizeof(struct requests_ref)) +
		     P2P_MAX_STATUSES * P2P_STATUS_BYTES,
};

struct p2p {
	/* Rows that the call has counted and that are taken back should MPI refuse it. */
	uint32_t rows[2]; /* by enum ledger_way */
	/* A blocking receive with a wildcard: `comm`, else SEG_NO_COMM. */
	uint32_t wildcard_comm;
	/* Requests that the call is going to make, 0 to 2, in slots that are the lane's: it keeps
	 * them for the next call when this one makes none. REQUESTS_NONE: not taken yet. */
	uint32_t num_made;
	uint32_t made[2];
	bool takes_any;              /* one of them is a receive with a wildcard */
	struct requests_ref message; /* that the request will receive */
	/* Requests that the call is about: their keys. A program that polls lists the same
	 * requests again and again: nothing is looked up while they are those of the last list
	 * and no request has changed. */
	uint32_t num_listed;
	bool is_cut; /* there were more than SEG_MAX_WAITED */
	bool is_same;
	uint64_t changes; /* of the requests, when the last list was made; UINT64_MAX: do not use */
	uint64_t *keys;   /* SEG_MAX_WAITED */
	/* What they were found to be; no slot: null or not known. */
	struct requests_ref *listed;
	uint32_t num_unknown;
	bool wants_status;
	uint32_t waited_room; /* entries of WAITED that have pages */
	_Atomic uint32_t *waited;
	void *statuses; /* P2P_MAX_STATUSES, in place of those that the program ignores */
};

#endif
