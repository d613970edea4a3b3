/* SPDX-License-Identifier: BSD-3-Clause
 * What `watch` prints: events, as lines for people or as JSON, and the terminal's status line. */
#ifndef PDB_SHELL_WATCH_TELL_H
#define PDB_SHELL_WATCH_TELL_H

#include "shell/watch/watch.h"

struct hang_figures;
struct verdict;
struct watch_digest;

struct watch_teller {
	struct session *session;
	FILE *out; /* for events */
	bool is_json;
	bool has_line;    /* a status line is kept on standard error */
	uint64_t next_ns; /* when the line is due again */
};

/* Initialise. The status line is used only on a terminal to which watching prints nothing else. */
void watch_tell_init(struct watch_teller *teller, struct session *session, FILE *out, bool is_json);
/* Erase the status line. */
void watch_tell_clear(struct watch_teller *teller);

/* Report that watching begins: which job, and how it is watched. */
void watch_tell_begin(struct watch_teller *teller, const struct watch_digest *digest);

/* Report an event that is no hang. event: its name in JSON. */
void watch_tell_note(struct watch_teller *teller, const char *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The standstill as text to follow "nobody": "has moved for 8.0 s", "was seen to move ..., in 20
 * looks". The caller frees. */
char *watch_standstill_text(const struct watch_standstill *still);

/* Is the hang uncertain? A hang by counts is certain however few looks there were. */
bool watch_is_doubted(const struct watch_hang *hang);

/* Report the hang, with the answer of `lp`. */
void watch_tell_hang(struct watch_teller *teller, const struct watch_hang *hang);

/* Renew the status line if it is due. needed_ns: how long a standstill must last to be a hang; 0:
 * not known. */
void watch_tell_status(struct watch_teller *teller, const struct watch_digest *digest,
		       const struct hang_figures *figures, struct watch_standstill still,
		       uint64_t needed_ns);

/* The verdict's kind in one or two words for scripts, kept stable: "computation", "deadlock",
 * "mismatch", "lost message", ... */
const char *watch_kind_text(const struct verdict *verdict);

#endif
