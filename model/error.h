/* SPDX-License-Identifier: BSD-3-Clause
 * Errors as values: the caller owns a struct pdb_error and passes it down. */
#pragma once

#include <stdbool.h>

/* What kind of failure it is; callers decide by the kind and people read the text. */
enum error_code {
	ERROR_NONE = 0,
	ERROR_SYSTEM,      /* a system call or library failed; the text holds its words */
	ERROR_NOT_FOUND,   /* no such process, rank, file, segment, name */
	ERROR_PERMISSION,  /* refused by the kernel or by file modes */
	ERROR_GONE,        /* it was there and has ended in the meantime */
	ERROR_FORMAT,      /* untrusted input that is truncated, corrupt or hostile */
	ERROR_VERSION,     /* well formed, but written by another version */
	ERROR_USAGE,       /* a word that the user typed */
	ERROR_TIMEOUT,     /* a bounded wait ran out */
	ERROR_UNSUPPORTED, /* this launcher, MPI or build cannot do it */
	ERROR_INTERRUPTED, /* the user pressed Ctrl-C */
};

struct pdb_error {
	enum error_code code;
	char text[1024]; /* one message without newline at the end; says what to do where it can */
};

/* Fill *err and return -1, so that a function can "return error_set(...)". err may be NULL. */
int error_set(struct pdb_error *err, enum error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with ": strerror(errno)" at the end. EPERM and EACCES become ERROR_PERMISSION, ENOENT
 * becomes ERROR_NOT_FOUND, ESRCH becomes ERROR_GONE, all others ERROR_SYSTEM. Keeps errno. */
int error_errno(struct pdb_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Put "text: " in front of the message already in *err. Returns -1. */
int error_prefix(struct pdb_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void error_clear(struct pdb_error *err);
