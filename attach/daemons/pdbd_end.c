/* SPDX-License-Identifier: BSD-3-Clause
 * Linked into the guard, too, which has no library: libc only. */
#include "attach/daemons/pdbd_end.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t is_told;

static void on_end(int signal_number)
{
	(void)signal_number;
	is_told = 1;
}

void pdbd_end_catch(void)
{
	const struct sigaction action = {.sa_handler = on_end};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

bool pdbd_end_is_told(void)
{
	return is_told;
}
