/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/recent.h"

enum { KEPT = 64 };

bool recent_add(struct recent *recent, uint64_t number)
{
	size_t num = recent->num < KEPT ? recent->num : KEPT;

	for (size_t i = 0; i < num; i++)
		if (recent->numbers[i] == number)
			return false;
	if (!recent->numbers)
		recent->numbers = xcalloc(KEPT, sizeof(*recent->numbers));
	recent->numbers[recent->num++ % KEPT] = number;
	return true;
}

void recent_clear(struct recent *recent)
{
	recent->num = 0;
}

void recent_deinit(struct recent *recent)
{
	free(recent->numbers);
	*recent = (struct recent){0};
}
