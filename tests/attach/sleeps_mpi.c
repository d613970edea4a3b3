/* SPDX-License-Identifier: BSD-3-Clause
 * A library that is by its name one of MPI's: says that it is there, and sleeps. */
#include <unistd.h>

int sleeps(void);

int sleeps(void)
{
	if (write(1, "x", 1) == 1)
		pause();
	return 0;
}
