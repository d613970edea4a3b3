/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/job/blocked.h"

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

struct blocked *blocked_create(const char *call, const char *object, const char *place,
			       const char *reason, const char *kernel)
{
	struct blocked *blocked = xcalloc(1, sizeof(*blocked));

	*blocked = (struct blocked){
		.call = xstrdup(call),
		.object = copy_text(object),
		.place = copy_text(place),
		.reason = copy_text(reason),
		.kernel = copy_text(kernel),
	};
	return blocked;
}

void blocked_destroy(struct blocked *blocked)
{
	if (!blocked)
		return;
	free(blocked->call);
	free(blocked->object);
	free(blocked->place);
	free(blocked->reason);
	free(blocked->kernel);
	free(blocked->stack);
	free(blocked->around);
	free(blocked->point);
	free(blocked->limit);
	free(blocked);
}

bool blocked_is_lock(const struct blocked *blocked)
{
	return blocked->call && strcmp(blocked->call, "futex") == 0;
}
