/* SPDX-License-Identifier: BSD-3-Clause
 * The signals that end a daemon or its guard: SIGTERM, SIGINT and SIGHUP. It ends at the next safe
 * moment. */
#ifndef PDB_ATTACH_PDBD_END_H
#define PDB_ATTACH_PDBD_END_H

#include <stdbool.h>

void pdbd_end_catch(void);

/* Has one of them come? */
bool pdbd_end_is_told(void);

#endif
