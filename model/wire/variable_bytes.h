/* SPDX-License-Identifier: BSD-3-Clause
 * The variables of a sample as bytes, in shares and in snapshots. Input is checked. */
#pragma once

struct codec;
struct variables;

/* What is read belongs to the caller, also where the input is bad; it may be NULL then. */
void variable_bytes(struct codec *c, struct variables **variables);
