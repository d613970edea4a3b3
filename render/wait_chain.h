/* SPDX-License-Identifier: BSD-3-Clause
 * From a rank along its waits to the cause, a step at a time: why's answer where the waits tell. */
#ifndef PDB_RENDER_WAIT_CHAIN_H
#define PDB_RENDER_WAIT_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

struct json;
struct view;

/* Print the way. False: not all is told, and the order of progress may tell more from group
 * *group_ret on (UINT32_MAX: it cannot); nothing is printed if *indent_ret is 0, else go on there.
 */
bool wait_chain_print(const struct view *view, int rank, uint32_t *group_ret, int *indent_ret);

/* The same way as members of an object that is open: "steps", "end" and "cycle_from". */
void wait_chain_json(struct json *json, const struct view *view, int rank);

#endif
