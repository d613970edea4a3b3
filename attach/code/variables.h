/* SPDX-License-Identifier: BSD-3-Clause
 * Registers of this architecture, by DWARF's numbers. */
#pragma once

#include "model/base.h"

/* Is it one for integers and addresses? Those of vectors have other numbers. */
bool variables_is_integer_register(uint64_t reg);

/* Does a function that is called leave the register as it was? Of the others nobody knows whether
 * that call has changed them: compilers differ in whether a variable counts as being there until
 * that call has ended. */
bool variables_is_kept(uint64_t reg);
