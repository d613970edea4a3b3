/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <sys/resource.h>

#include "model/base.h"

int error_set(struct pdb_error *err, enum error_code code, const char *format, ...)
{
	va_list ap;

	if (!err)
		return -1;
	err->code = code;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return -1;
}

static enum error_code code_of_errno(int number)
{
	switch (number) {
	case EPERM:
	case EACCES:
		return ERROR_PERMISSION;
	case ENOENT:
		return ERROR_NOT_FOUND;
	case ESRCH:
		return ERROR_GONE;
	default:
		return ERROR_SYSTEM;
	}
}

/* strerror(), and what to do of what is pdb's own trouble and not that of what it looks at. */
static void describe(int number, char *buffer, size_t size)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	if (number == EMFILE)
		snprintf(buffer, size,
			 "pdb has too many open files; raise \"ulimit -n\", which is %llu",
			 (unsigned long long)limit.rlim_cur);
	else
		snprintf(buffer, size, "%s", strerror(number));
}

int error_errno(struct pdb_error *err, const char *format, ...)
{
	char reason[128];
	int saved = errno;
	va_list ap;

	if (!err)
		return -1;
	describe(saved, reason, sizeof(reason));
	err->code = code_of_errno(saved);
	va_start(ap, format);
	int length = vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	if (length >= 0 && (size_t)length < sizeof(err->text))
		snprintf(err->text + length, sizeof(err->text) - length, ": %s", reason);
	errno = saved;
	return -1;
}

int error_prefix(struct pdb_error *err, const char *format, ...)
{
	char old[sizeof(err->text)];
	va_list ap;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, format);
	int length = vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	if (length >= 0 && (size_t)length < sizeof(err->text))
		snprintf(err->text + length, sizeof(err->text) - length, ": %s", old);
	return -1;
}

void error_clear(struct pdb_error *err)
{
	err->code = ERROR_NONE;
	err->text[0] = '\0';
}
