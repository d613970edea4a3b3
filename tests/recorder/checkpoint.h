/* SPDX-License-Identifier: BSD-3-Clause
 * For programs under test: say "ready" and wait until the test has looked. */
#ifndef PDB_TESTS_CHECKPOINT_H
#define PDB_TESTS_CHECKPOINT_H

/* Makes $CHECK_DIR/ready.PID and returns when $CHECK_DIR/go exists, or exits with status 3 after a
 * minute. Does nothing without CHECK_DIR. */
#ifdef __cplusplus
extern "C" {
#endif
void checkpoint(void);
#ifdef __cplusplus
}
#endif

/* The first half of it: before a call in which the test is to find the program. */
#ifdef __cplusplus
extern "C" {
#endif
void say_ready(void);
#ifdef __cplusplus
}
#endif

#endif
