/* SPDX-License-Identifier: BSD-3-Clause
 * What the libraries of this process export, whatever scope they were loaded into. */
#ifndef PDB_RECORDER_LOADED_H
#define PDB_RECORDER_LOADED_H

/* How many loaded objects define a function of that name. *first_ret: its address in the one
 * that was loaded first; NULL when there is none. */
unsigned loaded_count(const char *function, void **first_ret);

#endif
