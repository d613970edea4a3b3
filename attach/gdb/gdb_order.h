/* SPDX-License-Identifier: BSD-3-Clause
 * The order of pdb to a daemon to put gdb on a rank of its node, and the reply. */
#pragma once

#include "model/base.h"

/* A question of the kind PDBD_GDB: as it is up to the folder, then the folder, the words and the
 * environment, each with a zero behind it. */
struct gdb_order {
	uint32_t rank;
	uint32_t channel; /* gdb's terminal; with commands channel + 1 is its standard error */
	uint32_t rows, columns; /* of the terminal; 0: none, gdb only carries out its commands */
	uint32_t num_words, num_environment;
	const char *folder;       /* to start it in, if it is there */
	const char **words;       /* for gdb; see struct gdb_call */
	const char **environment; /* NAME=VALUE, of pdb's */
	const char **strings;     /* of one that was decoded: what the lists are in */
};

void gdb_order_encode(const struct gdb_order *order, struct buffer *ret);

/* -1: ERROR_FORMAT. The texts are in the payload, the lists are the caller's: use deinit. */
int gdb_order_decode(const uint8_t *payload, size_t length, struct gdb_order *ret,
		     struct pdb_error *err);
void gdb_order_deinit(struct gdb_order *order);

/* Is NAME=VALUE the variable of that name (up to a "=" in it)? */
bool gdb_order_is_variable(const char *entry, const char *name);

/* The variables of this process that make gdb on another node what it would be here. The strings
 * are the environment's; the caller frees the array. */
const char **gdb_order_environment(uint32_t *num_ret);

/* The answer. The daemons that do not have the rank say nothing. */
struct gdb_started {
	uint32_t code;   /* enum error_code: why it was not started; the text follows */
	uint32_t daemon; /* which one has the rank */
	uint32_t state;  /* the rank's before, as in /proc/PID/stat */
};

/* A question of the kind PDBD_GDB_STATE. */
struct gdb_state_question {
	uint32_t channel;
	uint32_t rows, columns; /* of the terminal now; 0: as before */
	uint32_t wants_end;     /* let the rank go */
};

struct gdb_state {
	uint32_t has_ended; /* gdb */
	int32_t status;     /* then: its exit status, or 128 + signal */
	uint32_t state;     /* the rank's, as in /proc/PID/stat; 'X': it has ended */
};
