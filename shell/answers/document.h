/* SPDX-License-Identifier: BSD-3-Clause
 * Answers as documents of JSON, one a line: which pdb says it, to which command, about which job,
 * and the command's own answer as "result", or why there is none as "error". docs/json.md. */
#ifndef PDB_SHELL_DOCUMENT_H
#define PDB_SHELL_DOCUMENT_H

#include <stdio.h>

struct json;
struct pdb_error;
struct session;

/* Raised when a member is renamed, left out or means something else, not when one is added. */
#define DOCUMENT_SCHEMA 1

/* "0.1" */
const char *document_version(void);
/* Member "pdb" of the object that is open: how to read the rest. */
void document_write_version(struct json *json);

/* command: its name as in the table ("info ranks"); line: as it was typed. result: the answer,
 * which is JSON; NULL: there is none, because of *err. */
void document_write(struct session *session, FILE *out, const char *command, const char *line,
		    const char *result, const struct pdb_error *err);

#endif
