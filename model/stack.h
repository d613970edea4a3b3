/* SPDX-License-Identifier: BSD-3-Clause
 * Room on the stack for libraries. libdw needs 150 KB to read line numbers, and a user's "ulimit
 * -s" may leave less. */
#pragma once

/* Return body(argc, argv), with a megabyte of stack at least for it and threads made from here on,
 * if there is memory. At the start of a program. */
int stack_run(int (*body)(int argc, char **argv), int argc, char **argv);
