/* SPDX-License-Identifier: BSD-3-Clause
 * What unit tests share. */
#ifndef PDB_TESTS_UNIT_H
#define PDB_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/error.h"

#define NUM_OF(array) (sizeof(array) / sizeof((array)[0]))

/* err must hold this code, and a text that contains `part`. */
#define assert_error(err, expected_code, part)                                                     \
	do {                                                                                       \
		assert_int_equal((err)->code, (expected_code));                                    \
		if (!strstr((err)->text, (part)))                                                  \
			fail_msg("\"%s\" is not in \"%s\"", (part), (err)->text);                  \
	} while (0)

#endif
