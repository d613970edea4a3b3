/* SPDX-License-Identifier: BSD-3-Clause
 * Machine code, and questions about it, as bytes: in questions to daemons, in shares and in
 * snapshots. Input is checked, so analyses can rely on it. */
#pragma once

#include "model/base.h"

struct code_function;
struct code_probe;
struct code_question;
struct code_variables;
struct codec;

/* A module by what it is: path, build-id. MODULE_NONE: bad input. */
void code_bytes_module(struct codec *c, struct modules *modules, uint32_t *id);
/* Without its module. */
void code_bytes_probe(struct codec *c, struct code_probe *probe);
/* A function with its variables, which belong to who reads them; NULL: bad input. Whoever calls
 * puts their module before them. */
void code_bytes_function(struct codec *c, struct code_function **function,
			 struct code_variables **variables);

/* A question, with its modules, which come to be in the modules of who takes it. -1: bad input.
 * *ret is to be freed with code_question_deinit(). */
void code_bytes_put_question(struct buffer *b, const struct code_question *question,
			     struct modules *modules);
int code_bytes_take_question(const uint8_t *bytes, size_t size, struct modules *modules,
			     struct code_question *ret);
