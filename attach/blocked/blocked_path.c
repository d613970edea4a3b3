/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>

#include "attach/blocked/blocked_private.h"
#include "attach/process/memory.h"
#include "attach/blocked/open_by.h"
#include "attach/blocked/path_object.h"
#include "attach/blocked/system_call.h"
#include "model/job/blocked.h"

#define MAX_PATH 4096

static bool read_path(struct blocked_look *look, bool is_at, bool follows,
		      struct path_object *object)
{
	int base = is_at ? (int)look->call->args[look->argument - 1] : AT_FDCWD;
	char path[MAX_PATH];

	if (memory_read_string(look->pid, look->call->args[look->argument], path, sizeof(path)) <=
	    0)
		return false;
	path_object_read(look->pid, base, path, follows, object);
	return true;
}

static void take_words(struct blocked *found, struct path_object *object)
{
	found->object = object->path;
	found->place = object->place;
	found->point = object->point;
	object->path = object->place = object->point = NULL;
	path_object_clear(object);
}

static void describe(struct blocked_look *look, bool is_at, bool follows)
{
	struct path_object object;

	if (read_path(look, is_at, follows, &object))
		take_words(look->found, &object);
	else if (is_at)
		/* Empty: the call is for the descriptor itself. */
		blocked_on_fd(&(struct blocked_look){.pid = look->pid,
						     .tid = look->tid,
						     .call = look->call,
						     .argument = look->argument - 1,
						     .found = look->found});
}

void blocked_on_path(struct blocked_look *look)
{
	describe(look, false, true);
}

void blocked_on_path_itself(struct blocked_look *look)
{
	describe(look, false, false);
}

void blocked_on_path_at(struct blocked_look *look)
{
	describe(look, true, true);
}

void blocked_on_path_itself_at(struct blocked_look *look)
{
	describe(look, true, false);
}

void blocked_on_fstatat(struct blocked_look *look)
{
	describe(look, true, !(look->call->args[3] & AT_SYMLINK_NOFOLLOW));
}

void blocked_on_statx(struct blocked_look *look)
{
	describe(look, true, !(look->call->args[2] & AT_SYMLINK_NOFOLLOW));
}

/* ---- Opening ---- */

/* A FIFO opens when somebody has opened its other end. */
static void describe_fifo(struct blocked_look *look, struct path_object *object, uint64_t flags)
{
	bool is_read = (flags & O_ACCMODE) == O_RDONLY;
	char *path = object->path;
	struct open_by by;

	if (blocked_may_search(look)) {
		open_by_find(look->pid, object->fifo, is_read ? OPEN_BY_WRITERS : OPEN_BY_READERS,
			     &by);
		look->found->reason = open_by_words(&by, is_read ? "writing" : "reading");
	}
	object->path = xasprintf("the FIFO %s", path);
	free(path);
	free(object->place);
	object->place = NULL;
}

static void describe_open(struct blocked_look *look, bool is_at, uint64_t flags)
{
	struct path_object object;

	if (!read_path(look, is_at, !(flags & O_NOFOLLOW), &object))
		return;
	if (object.fifo)
		describe_fifo(look, &object, flags);
	take_words(look->found, &object);
}

void blocked_on_open(struct blocked_look *look)
{
	describe_open(look, false, look->call->args[look->argument + 1]);
}

void blocked_on_openat(struct blocked_look *look)
{
	describe_open(look, true, look->call->args[look->argument + 1]);
}

void blocked_on_openat2(struct blocked_look *look)
{
	uint64_t flags = 0; /* the first word of struct open_how */

	if (memory_read_all(look->pid, look->call->args[look->argument + 1], &flags, sizeof(flags)))
		flags = 0;
	describe_open(look, true, flags);
}
