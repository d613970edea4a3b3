/* SPDX-License-Identifier: BSD-3-Clause
 * The signals that end a daemon or its guard: SIGTERM, SIGINT and SIGHUP. It ends at the next safe
 * moment. */
#pragma once

#include <stdbool.h>

void pdbd_end_catch(void);

/* Has one of them come? */
bool pdbd_end_is_told(void);
