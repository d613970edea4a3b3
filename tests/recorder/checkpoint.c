/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void checkpoint(void)
{
	const char *dir = getenv("CHECK_DIR");
	char path[512];

	if (!dir || !*dir)
		return;
	snprintf(path, sizeof(path), "%s/ready.%d", dir, (int)getpid());
	close(open(path, O_CREAT | O_WRONLY, 0600));
	snprintf(path, sizeof(path), "%s/go", dir);
	for (int i = 0; i < 60000; i++) {
		if (access(path, F_OK) == 0)
			return;
		usleep(1000);
	}
	_exit(3);
}
