/* SPDX-License-Identifier: BSD-3-Clause
 * The last different numbers seen, to tell new ones from repeated ones. */
#pragma once

#include "model/base.h"

/* All zero: empty. */
struct recent {
	uint64_t *numbers; /* the last 64 */
	size_t num;        /* ever kept */
};

/* Returns whether the number is not among the last 64 different ones; then it is kept. */
bool recent_add(struct recent *recent, uint64_t number);
void recent_clear(struct recent *recent);
void recent_deinit(struct recent *recent);
