/* SPDX-License-Identifier: BSD-3-Clause
 * What is known of machine code, and what is asked of it, as bytes: in questions to daemons, in
 * shares and in snapshots, whose numbers they are made of. Modules are named by whoever puts them
 * around it. What is taken is checked, so that analyses can go by it. */
#ifndef PDB_MODEL_CODE_BYTES_H
#define PDB_MODEL_CODE_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct buffer;
struct code_function;
struct code_probe;
struct code_question;
struct code_variables;
struct modules;
struct decoder;

/* A module by what it is: path, build-id. MODULE_NONE: bad input. */
void code_bytes_put_module(struct buffer *b, const struct modules *modules, uint32_t id);
uint32_t code_bytes_take_module(struct decoder *in, struct modules *modules);

/* Without its module. Bad input leaves in->is_bad, whatever *ret is. */
void code_bytes_put_probe(struct buffer *b, const struct code_probe *probe);
void code_bytes_take_probe(struct decoder *in, struct code_probe *ret);

/* A function with its variables. NULL and in->is_bad: bad input; else the caller frees both. */
void code_bytes_put_function(struct buffer *b, const struct code_function *function,
			     const struct code_variables *variables);
struct code_function *code_bytes_take_function(struct decoder *in,
					       struct code_variables **variables_ret);

/* A question, with its modules, which come to be in the modules of who takes it. -1: bad input.
 * *ret is to be freed with code_question_deinit(). */
void code_bytes_put_question(struct buffer *b, const struct code_question *question,
			     const struct modules *modules);
int code_bytes_take_question(const uint8_t *bytes, size_t size, struct modules *modules,
			     struct code_question *ret);

#endif
