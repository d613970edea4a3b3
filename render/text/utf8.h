/* SPDX-License-Identifier: BSD-3-Clause
 * Checks characters of text that other people's programs made. These characters are not printable:
 * control characters, invisible ones, those that turn the direction of reading, and broken UTF-8.
 * They become '?', or what a format has for them. */
#pragma once

#include "model/base.h"

/* The number of bytes of the first character of `text`, which is not empty; 1 for a byte that
 * begins no UTF-8 character. *code_ret: its number in Unicode, or UTF8_BROKEN for such a byte. */
size_t utf8_next(const char *text, uint32_t *code_ret);
#define UTF8_BROKEN UINT32_MAX
/* Is the character printable? Control characters (C0, C1), characters without width, and those that
 * turn the direction are not. */
bool utf8_is_printable(uint32_t code);
/* Write the first character of `text`, or '?'. Returns how many bytes of `text` it took. */
size_t utf8_put(FILE *out, const char *text);
