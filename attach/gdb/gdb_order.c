/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "attach/gdb/gdb_order.h"
#include "model/buffer.h"

#define HEAD_SIZE offsetof(struct gdb_order, folder)

static void put_text(struct buffer *ret, const char *text)
{
	buffer_put_bytes(ret, text, strlen(text) + 1);
}

void gdb_order_encode(const struct gdb_order *order, struct buffer *ret)
{
	buffer_put_bytes(ret, order, HEAD_SIZE);
	put_text(ret, order->folder);
	for (size_t i = 0; i < order->num_words; i++)
		put_text(ret, order->words[i]);
	for (size_t i = 0; i < order->num_environment; i++)
		put_text(ret, order->environment[i]);
}

int gdb_order_decode(const uint8_t *payload, size_t length, struct gdb_order *ret,
		     struct pdb_error *err)
{
	const char *text = (const char *)payload + HEAD_SIZE;
	const char *end = (const char *)payload + length;

	if (length < HEAD_SIZE)
		return error_set(err, ERROR_FORMAT, "an order for gdb of %zu bytes", length);
	memcpy(ret, payload, HEAD_SIZE);
	uint64_t num = 1 + (uint64_t)ret->num_words + ret->num_environment;
	/* Each has its zero at least. */
	if (num > length - HEAD_SIZE)
		return error_set(err, ERROR_FORMAT, "an order for gdb that is cut off");
	ret->strings = xcalloc(num, sizeof(*ret->strings));
	for (size_t i = 0; i < num; i++) {
		const char *zero = memchr(text, '\0', (size_t)(end - text));

		if (!zero) {
			free(ret->strings);
			return error_set(err, ERROR_FORMAT, "an order for gdb that is cut off");
		}
		ret->strings[i] = text;
		text = zero + 1;
	}
	ret->folder = ret->strings[0];
	ret->words = ret->strings + 1;
	ret->environment = ret->words + ret->num_words;
	return 0;
}

void gdb_order_deinit(struct gdb_order *order)
{
	free(order->strings);
}

/* Where gdb is found, what it speaks, and how its terminal is to be used. */
static const char *const variables[] = {
	"PATH", "LD_LIBRARY_PATH", "PYTHONHOME", "TERM",     "COLORTERM",   "NO_COLOR", "INPUTRC",
	"LANG", "LANGUAGE",        "LC_ALL",     "LC_CTYPE", "LC_MESSAGES",
};

bool gdb_order_is_variable(const char *entry, const char *name)
{
	size_t length = strcspn(name, "=");

	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

const char **gdb_order_environment(uint32_t *num_ret)
{
	size_t num_variables = sizeof(variables) / sizeof(variables[0]);
	const char **ret = xcalloc(num_variables, sizeof(*ret));

	*num_ret = 0;
	for (size_t i = 0; i < num_variables; i++)
		for (char **entry = environ; *entry; entry++)
			if (gdb_order_is_variable(*entry, variables[i]))
				ret[(*num_ret)++] = *entry;
	return ret;
}
