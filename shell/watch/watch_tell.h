/* SPDX-License-Identifier: BSD-3-Clause
 * What `watch` says: events, as lines for people or as JSON, and the status line of a terminal. */
#ifndef PDB_SHELL_WATCH_TELL_H
#define PDB_SHELL_WATCH_TELL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "shell/watch/watch.h"

struct hang_figures;
struct verdict;
struct watch_digest;

struct watch_teller {
	struct session *session;
	FILE *out; /* of events */
	bool is_json;
	bool has_line;    /* a status line is kept on standard error */
	uint64_t next_ns; /* when it is due again */
};

/* A status line is for a terminal that shows nothing else of the job's watching. */
void watch_tell_init(struct watch_teller *teller, struct session *session, FILE *out, bool is_json);
/* Take the status line away. */
void watch_tell_clear(struct watch_teller *teller);

/* Watching begins: what is watched, and by what. */
void watch_tell_begin(struct watch_teller *teller, const struct watch_digest *digest);

/* Something that is worth to know and no hang. event: its name in JSON. */
void watch_tell_note(struct watch_teller *teller, const char *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "has moved for 8.0 s", "was seen to move ..., in 20 looks", after "nobody". The caller frees. */
char *watch_standstill_text(const struct watch_standstill *still);

/* Is it not sure, by what was seen, that it hangs? Counts do not depend on how often one looks. */
bool watch_is_doubted(const struct watch_hang *hang);

/* The hang, with what `lp` says of it. */
void watch_tell_hang(struct watch_teller *teller, const struct watch_hang *hang);

/* Renew the status line if it is due. needed_ns: a standstill that is a hang; 0: not known. */
void watch_tell_status(struct watch_teller *teller, const struct watch_digest *digest,
		       const struct hang_figures *figures, struct watch_standstill still,
		       uint64_t needed_ns);

/* "computation", "deadlock", "mismatch", "lost message", ...: one word or two, kept for scripts. */
const char *watch_kind_text(const struct verdict *verdict);

#endif
