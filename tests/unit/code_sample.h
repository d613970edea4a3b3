/* SPDX-License-Identifier: BSD-3-Clause
 * A function that counts, made up, with what machine code can be like. */
#ifndef PDB_TESTS_CODE_SAMPLE_H
#define PDB_TESTS_CODE_SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include "model/job/code.h"
#include "model/job/code_store.h"
#include "model/xalloc.h"
#include "tests/unit/unit.h"

struct code_value sample_value(uint8_t reg, int64_t constant);

/* At [entry, entry + 32) and, elsewhere, [entry + 4096, entry + 4100). */
struct code_function *make_function(uint64_t entry);

struct code_variables *make_variables(uint64_t entry);

struct code_probe make_probe(uint32_t module, uint64_t offset);

void assert_same_function(const struct code_function *a, const struct code_function *b);

void assert_same_variables(const struct code_variables *a, const struct code_variables *b);

void assert_same_code(const struct code_store *a, const struct code_store *b);

#endif
