/* SPDX-License-Identifier: BSD-3-Clause
 * Shows that pdb still works when something takes longer than a second. It draws on standard error
 * if that is a terminal, in the cursor's line. That line is empty before and afterwards. */
#pragma once

/* Show `what` (a few words, copied) from now on. Does nothing if a spinner is already shown. */
void spinner_start(const char *what);

/* The work will take so many seconds: show a bar. Does nothing without a spinner. */
void spinner_expect(double seconds);

/* Erase the spinner before other output; it comes back by itself. */
void spinner_hide(void);

/* The work is done. Does nothing without spinner_start(). */
void spinner_stop(void);
