/* SPDX-License-Identifier: BSD-3-Clause
 * Hashes of words and bytes, not safe against intention. Each step can be undone, so no change of
 * one word or byte leaves the hash the same. It is the checksum of shares
 * (docs/share-format.md). */
#pragma once

#include "model/base.h"

/* Go on from the hash of what was before; 0: nothing was. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ (hash >> 32);
}

static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = hash_word(0, size), word;

	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = hash_word(hash, word);
	}
	if (size) {
		word = 0;
		memcpy(&word, at, size);
		hash = hash_word(hash, word);
	}
	return hash;
}
