/* SPDX-License-Identifier: BSD-3-Clause
 * What nearly all code uses of the C library: memory, text, numbers. Headers include it, so that
 * files need not. What touches the system or a clock is included by those who use it. */
#ifndef PDB_MODEL_STD_H
#define PDB_MODEL_STD_H

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#endif
