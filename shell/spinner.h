/* SPDX-License-Identifier: BSD-3-Clause
 * A sign of life on the terminal while something takes longer than a second: on standard error, in
 * the line of the cursor, which is empty then and afterwards. It belongs to the process, as the
 * terminal does. */
#ifndef PDB_SHELL_SPINNER_H
#define PDB_SHELL_SPINNER_H

/* From now on tell that `what` (a few words, copied) is being done. Nothing if standard error is no
 * terminal, or if it is told of something already. */
void spinner_start(const char *what);

/* It will take so many seconds: a bar is shown. Nothing if there is no spinner. */
void spinner_expect(double seconds);

/* Something else is to be printed: take it off the terminal; it comes back by itself. */
void spinner_hide(void);

/* It is done. Without spinner_start() nothing. */
void spinner_stop(void);

#endif
