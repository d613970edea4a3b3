/* SPDX-License-Identifier: BSD-3-Clause
 * Answers as documents of JSON, one a line: which pdb says it, to which command, about which job,
 * and the command's own answer as "result", or why there is none as "error". docs/json.md. */
#ifndef PDB_SHELL_DOCUMENT_H
#define PDB_SHELL_DOCUMENT_H

#include <stdio.h>
#include <time.h>

struct json;
struct pdb_error;
struct session;

/* Raised when a member is renamed, left out or means something else, not when one is added. */
#define DOCUMENT_SCHEMA 1

/* Members of the object that is open: "pdb", how to read the rest; a time in UTC, 0: not known. */
void document_write_version(struct json *json);
void document_write_time(struct json *json, const char *name, time_t seconds);

/* command: its name as in the table ("info ranks"); line: as it was typed. result: the answer,
 * which is JSON; NULL: there is none, because of *err. */
void document_write(struct session *session, FILE *out, const char *command, const char *line,
		    const char *result, const struct pdb_error *err);

#endif
