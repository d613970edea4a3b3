/* SPDX-License-Identifier: BSD-3-Clause
 * Answers as JSON documents, one per line. A document names the version of pdb, the command and the
 * job. The command's answer is its member "result"; without an answer, "error" says why. See
 * docs/json.md. */
#ifndef PDB_SHELL_DOCUMENT_H
#define PDB_SHELL_DOCUMENT_H

#include <time.h>

#include "model/std.h"

struct json;
struct pdb_error;
struct session;

/* Increased when a member is renamed, removed or changes its meaning. New members do not increase
 * it. */
#define DOCUMENT_SCHEMA 1

/* Write members of the open object: "pdb", with schema and version; and `name`, a time in UTC, null
 * for 0 (not known). */
void document_write_version(struct json *json);
void document_write_time(struct json *json, const char *name, time_t seconds);

/* Write the document to `out`. command: the command's name in the table ("info ranks"). line: the
 * command as typed. result: the answer, as JSON; NULL: there is no answer, and *err says why. */
void document_write(struct session *session, FILE *out, const char *command, const char *line,
		    const char *result, const struct pdb_error *err);

#endif
