/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "model/base.h"
#include "model/regular_file.h"

int regular_file_open(int dir, const char *path, int flags, struct stat *status_ret)
{
	/* Names it, without opening it: what it is cannot become another any more. */
	int named = openat(dir, path, O_PATH | O_CLOEXEC | flags), fd = -1, saved;
	struct stat status;
	char link[64];

	if (named < 0)
		return -1;
	if (fstat(named, &status) < 0) {
		;
	} else if (!S_ISREG(status.st_mode)) {
		errno = S_ISLNK(status.st_mode) ? ELOOP : ENXIO;
	} else {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", named);
		/* Not to wait for whoever has a lease on it. */
		fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	saved = errno;
	close(named);
	errno = saved;
	if (fd >= 0 && status_ret)
		*status_ret = status;
	return fd;
}
