/* SPDX-License-Identifier: BSD-3-Clause
 * Characters of text that other people's programs made. What a terminal would obey, what hides and
 * what turns the direction of reading is not printable, nor is broken UTF-8: it becomes '?', or
 * what a format has for it. */
#ifndef PDB_RENDER_UTF8_H
#define PDB_RENDER_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the character that `text` starts with, which is not empty; 1 for a byte that starts none
 * in UTF-8. *code_ret: its number in Unicode, UTF8_BROKEN for such a byte. */
size_t utf8_next(const char *text, uint32_t *code_ret);
#define UTF8_BROKEN UINT32_MAX
/* Not control characters, C1 among them, those without width, and those that turn the direction. */
bool utf8_is_printable(uint32_t code);
/* Write the character that `text` starts with, or '?'. Returns its bytes. */
size_t utf8_put(FILE *out, const char *text);

#endif
