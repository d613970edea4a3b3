/* SPDX-License-Identifier: BSD-3-Clause
 * Where a thread is inside the kernel, in state D. */
#pragma once

#include "model/base.h"

/* The function that it sleeps in (/proc/PID/task/TID/wchan). The caller frees; NULL: not known. */
char *kernel_place_function(pid_t pid, pid_t tid);

/* That function and its callers, without those that all calls have: "a < b < c", at most six. They
 * come from /proc/PID/task/TID/stack, which only root may read. The caller frees. NULL: not
 * known. */
char *kernel_place_stack(pid_t pid, pid_t tid);
char *kernel_place_parse(const char *text);

/* Does it wait for a page of memory, by its function and its stack (each NULL: not known)? */
bool kernel_place_is_fault(const char *function, const char *stack);

/* How many other processes sleep in that function, in state D. Takes at most 20 ms. */
size_t kernel_place_count(pid_t pid, const char *function);
