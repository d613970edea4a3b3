/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *check_dir(void)
{
	const char *dir = getenv("CHECK_DIR");

	return dir && *dir ? dir : NULL;
}

void say_ready(void)
{
	char path[512];

	if (!check_dir())
		return;
	snprintf(path, sizeof(path), "%s/ready.%d", check_dir(), (int)getpid());
	close(open(path, O_CREAT | O_WRONLY, 0600));
}

void checkpoint(void)
{
	const char *dir = check_dir();
	char path[512];

	if (!dir)
		return;
	say_ready();
	snprintf(path, sizeof(path), "%s/go", dir);
	for (int i = 0; i < 60000; i++) {
		if (access(path, F_OK) == 0)
			return;
		usleep(1000);
	}
	_exit(3);
}
