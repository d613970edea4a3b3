/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/slow/slow.h"

const struct slow_limits slow_limits = {
	.least_loss = 0.1,
	.clear_loss = 0.25,
	.least_steps = 5,
	.least_samples = 20,
	.least_errors = 3,
	.like_worst = 0.5,
	.was_faster = 0.5,
	.least_cause = 0.05,
	.least_part = 0.25,
	.least_of_all = 0.1,
	.least_inside = 0.5,
};
