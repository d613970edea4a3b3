/* SPDX-License-Identifier: BSD-3-Clause
 * Ids of communicators, windows and files: equal in all members only, found without communicating
 * (docs/segment-format.md, "Ids"). A 64-bit hash of words that all members know; the order and the
 * mixing function (the finalizer of SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014) are part of the format. */
#pragma once

#include "model/recorder/base.h"

/* How it came to be; the first word. */
enum commid_origin {
	COMMID_NONE = 0, /* of no identity that all members could find: the id is 0 */
	COMMID_WORLD = 1,
	COMMID_SELF = 2,
	COMMID_COLLECTIVE = 3, /* by a call that is collective over the parent */
	COMMID_GROUP = 4,      /* MPI_Comm_create_group: collective over the group only */
	COMMID_LEADERS = 5,    /* MPI_Intercomm_create: two groups that share no parent */
	COMMID_SESSION = 6,    /* MPI_Comm_create_from_group: no parent at all */
};

static inline uint64_t commid_step(uint64_t hash, uint64_t word)
{
	uint64_t x = (hash ^ word) + 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Of a group's world ranks in order. */
static inline uint64_t commid_of_members(const int *members, size_t num)
{
	uint64_t hash = commid_step(0, num);

	for (size_t i = 0; i < num; i++)
		hash = commid_step(hash, (uint64_t)(int64_t)members[i]);
	return hash;
}

/* `members` is commid_of_members() of its group or, of an intercommunicator, the sum of both
 * groups': each side has the other as the remote one. `extra` tells apart what has the same
 * ordinal: the tag of COMMID_GROUP and COMMID_LEADERS, a hash of the string tag of COMMID_SESSION.
 * Never 0. */
static inline uint64_t commid(enum commid_origin origin, uint64_t parent, uint64_t ordinal,
			      uint64_t extra, uint64_t members)
{
	uint64_t hash = commid_step(0, origin);

	hash = commid_step(hash, parent);
	hash = commid_step(hash, ordinal);
	hash = commid_step(hash, extra);
	hash = commid_step(hash, members);
	return hash ? hash : 1;
}
