/* SPDX-License-Identifier: BSD-3-Clause
 * What `watch` says of a job that moves, but slowly: ranks that the others wait for all the
 * time, and a job that is slower than it was (analysis/hang/rates.h). Each is told when it
 * begins and when it is over, so that a passing slow-down is known as such. Needs the recorder. */
#ifndef PDB_SHELL_WATCH_RATES_H
#define PDB_SHELL_WATCH_RATES_H

#include <stddef.h>

struct pace_look;
struct pdb_error;
struct watch_rates;
struct watch_teller;

struct watch_rates *watch_rates_create(int num_ranks, double alpha,
				       struct pdb_error *err); /* NULL: ERROR_USAGE */
void watch_rates_destroy(struct watch_rates *rates);           /* NULL is fine */

/* Of all ranks, looked at just now; looks[num_ranks]. Tells what has changed. */
void watch_rates_add(struct watch_rates *rates, const struct pace_look *looks,
		     struct watch_teller *teller);

#endif
