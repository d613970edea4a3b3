/* SPDX-License-Identifier: BSD-3-Clause
 * The functions of a job whose machine code is known: decoded from files of this host, sent by a
 * rank's node, or saved in a snapshot. Each is stored once, and stays. */
#pragma once

#include "model/base.h"

struct code_function;
struct code_store;
struct code_variables;

struct code_body {
	uint32_t module;
	struct code_function *function;
	struct code_variables *variables;
};

struct code_store *code_store_create(void);
void code_store_destroy(struct code_store *store); /* NULL is fine */

/* Owns both, or frees them if the module has a function with that entry. Returns the one that is
 * there, valid as long as the store. */
const struct code_body *code_store_add(struct code_store *store, uint32_t module,
				       struct code_function *function,
				       struct code_variables *variables);

/* The function that holds the ELF virtual address, in any of its parts; NULL if it is not known. */
const struct code_body *code_store_find(const struct code_store *store, uint32_t module,
					uint64_t address);

/* In the order in which they were added. */
size_t code_store_count(const struct code_store *store);
const struct code_body *code_store_get(const struct code_store *store, size_t index);

/* Why functions of a module are not known: the latest reason; "" for none. */
void code_store_set_trouble(struct code_store *store, uint32_t module, const char *why);
const char *code_store_trouble(const struct code_store *store, uint32_t module);
