/* SPDX-License-Identifier: BSD-3-Clause
 * The process' sign of life while something takes longer than a second: on standard error, if it is
 * a terminal, in the line of the cursor, which is empty then and afterwards. */
#ifndef PDB_SHELL_SPINNER_H
#define PDB_SHELL_SPINNER_H

/* Tell from now on that `what` (a few words, copied) is done, unless something is told already. */
void spinner_start(const char *what);

/* It will take so many seconds: a bar is shown. Nothing if there is no spinner. */
void spinner_expect(double seconds);

/* Something else is to be printed: take it off the terminal; it comes back by itself. */
void spinner_hide(void);

/* It is done. Without spinner_start() nothing. */
void spinner_stop(void);

#endif
