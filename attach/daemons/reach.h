/* SPDX-License-Identifier: BSD-3-Clause
 * Which hosts can be reached. A launcher waits minutes for one that cannot, and says nothing. */
#pragma once

#include "model/base.h"

#define REACH_PORT "22" /* that of ssh is the least likely to be closed by a firewall */

/* Those of the hosts that do not answer within timeout_ms when asked for a connection to a port (a
 * refusal is an answer), but for those whose addresses are not known. `cancel_fd` (-1: none)
 * getting readable ends the wait. Returns how many; the caller frees *ret, in which names are
 * borrowed. */
size_t reach_find_silent(const char *const *hosts, size_t num, const char *port, int timeout_ms,
			 int cancel_fd, const char ***ret);
