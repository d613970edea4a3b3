/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/gdb/gdb_order.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/xalloc.h"

/* In front of the strings: the folder, the words, the environment, each with a zero behind it. */
struct head {
	uint32_t rank, channel, rows, columns;
	uint32_t num_words, num_environment;
};

static void put_text(struct buffer *ret, const char *text)
{
	buffer_put_bytes(ret, text, strlen(text) + 1);
}

void gdb_order_encode(const struct gdb_order *order, struct buffer *ret)
{
	const struct head head = {
		.rank = order->rank,
		.channel = order->channel,
		.rows = order->rows,
		.columns = order->columns,
		.num_words = (uint32_t)order->num_words,
		.num_environment = (uint32_t)order->num_environment,
	};

	buffer_put_bytes(ret, &head, sizeof(head));
	put_text(ret, order->folder);
	for (size_t i = 0; i < order->num_words; i++)
		put_text(ret, order->words[i]);
	for (size_t i = 0; i < order->num_environment; i++)
		put_text(ret, order->environment[i]);
}

int gdb_order_decode(const uint8_t *payload, size_t length, struct gdb_order *ret,
		     struct pdb_error *err)
{
	const char *text = (const char *)payload + sizeof(struct head);
	const char *end = (const char *)payload + length;
	const char **strings;
	struct head head;
	uint64_t num;

	if (length < sizeof(head))
		return error_set(err, ERROR_FORMAT, "an order for gdb of %zu bytes", length);
	memcpy(&head, payload, sizeof(head));
	num = 1 + (uint64_t)head.num_words + head.num_environment;
	/* Each has its zero at least. */
	if (num > length - sizeof(head))
		return error_set(err, ERROR_FORMAT, "an order for gdb that is cut off");
	strings = xcalloc(num, sizeof(*strings));
	for (size_t i = 0; i < num; i++) {
		const char *zero = memchr(text, '\0', (size_t)(end - text));

		if (!zero) {
			free(strings);
			return error_set(err, ERROR_FORMAT, "an order for gdb that is cut off");
		}
		strings[i] = text;
		text = zero + 1;
	}
	*ret = (struct gdb_order){
		.rank = head.rank,
		.channel = head.channel,
		.rows = head.rows,
		.columns = head.columns,
		.strings = strings,
		.folder = strings[0],
		.words = strings + 1,
		.num_words = head.num_words,
		.environment = strings + 1 + head.num_words,
		.num_environment = head.num_environment,
	};
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

const char **gdb_order_environment(size_t *num_ret)
{
	size_t num_variables = sizeof(variables) / sizeof(variables[0]), num = 0;
	const char **ret = xcalloc(num_variables, sizeof(*ret));

	for (size_t i = 0; i < num_variables; i++)
		for (char **entry = environ; *entry; entry++)
			if (gdb_order_is_variable(*entry, variables[i]))
				ret[num++] = *entry;
	*num_ret = num;
	return ret;
}
