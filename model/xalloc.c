/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>

#include "model/base.h"

static void *or_die(void *memory)
{
	if (!memory) {
		fputs("pdb: out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

void *xmalloc(size_t size)
{
	return or_die(malloc(size ? size : 1));
}

void *xcalloc(size_t number, size_t size)
{
	return or_die(calloc(number ? number : 1, size ? size : 1));
}

void *xreallocarray(void *old, size_t number, size_t size)
{
	return or_die(reallocarray(old, number ? number : 1, size ? size : 1));
}

char *xstrdup(const char *text)
{
	return or_die(strdup(text));
}

char *xstrndup(const char *text, size_t length)
{
	return or_die(strndup(text, length));
}

char *xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	return or_die(text);
}

void *xgrow_to(void *array, size_t *num, size_t wanted, size_t element_size)
{
	if (wanted <= *num)
		return array;
	array = xreallocarray(array, wanted, element_size);
	memset((char *)array + *num * element_size, 0, (wanted - *num) * element_size);
	*num = wanted;
	return array;
}

void *xgrow(void *array, size_t num, size_t *capacity, size_t element_size)
{
	if (num < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 16;
	return xreallocarray(array, *capacity, element_size);
}
