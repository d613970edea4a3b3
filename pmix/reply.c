/* SPDX-License-Identifier: BSD-3-Clause
 * A reply is its kind, and then
 *	REPLY_ERROR: code, text
 *	REPLY_TABLE: job, note, processes
 *	REPLY_SPAWNED: name of the job */

#include "model/buffer.h"
#include "model/interrupt.h"
#include "model/job/proctable.h"
#include "model/decoder.h"
#include "model/wire/proc_bytes.h"
#include "pmix/reply.h"

enum reply_kind { REPLY_ERROR = 1, REPLY_TABLE, REPLY_SPAWNED };

void reply_put_error(struct buffer *reply, const struct pdb_error *error)
{
	buffer_put(reply, REPLY_ERROR);
	buffer_put(reply, error->code);
	buffer_put_text(reply, error->text);
}

void reply_put_table(struct buffer *reply, const struct proctable *table)
{
	buffer_put(reply, REPLY_TABLE);
	buffer_put_text(reply, table->job);
	buffer_put_text(reply, table->source_note);
	proc_bytes_put(reply, table);
}

void reply_put_spawned(struct buffer *reply, const char *nspace)
{
	buffer_put(reply, REPLY_SPAWNED);
	buffer_put_text(reply, nspace);
}

/* Returns -1 when it was not good to its end. */
static int end(struct decoder *in, struct pdb_error *err)
{
	decoder_end(in);
	if (!in->is_bad)
		return 0;
	if (interrupt_check(err) < 0)
		return -1;
	return error_set(err, ERROR_FORMAT, "the answer about the job is damaged");
}

/* Start reading. An error that was sent is returned as one. */
static int begin(struct decoder *in, const uint8_t *bytes, size_t length, enum reply_kind wanted,
		 struct pdb_error *err)
{
	*in = (struct decoder){.at = bytes, .end = bytes + length, .memory = UINT64_MAX};
	if (length == 0)
		return error_set(err, ERROR_FORMAT, "PMIx has failed to ask the launcher");
	enum reply_kind kind = decoder_take_below(in, REPLY_SPAWNED);
	in->is_bad |= kind != wanted && kind != REPLY_ERROR;
	if (kind == wanted)
		return 0;
	enum error_code code = decoder_take_below(in, ERROR_INTERRUPTED);
	in->is_bad |= code == ERROR_NONE;
	char *text = decoder_take_text(in);
	if (end(in, err) == 0)
		error_set(err, code, "%s", text);
	free(text);
	return -1;
}

int reply_take_table(const uint8_t *bytes, size_t length, struct proctable **ret,
		     struct pdb_error *err)
{
	struct decoder in;

	if (begin(&in, bytes, length, REPLY_TABLE, err) < 0)
		return -1;
	struct proctable *table = proctable_create();
	table->source = PROCTABLE_PMIX;
	table->job = decoder_take_text(&in);
	table->source_note = decoder_take_text(&in);
	if (!*table->source_note) {
		free(table->source_note);
		table->source_note = NULL;
	}
	proc_bytes_take_table(&in, table);
	if (end(&in, err) < 0 || proctable_finish(table, err) < 0) {
		proctable_destroy(table);
		return -1;
	}
	*ret = table;
	return 0;
}

int reply_take_spawned(const uint8_t *bytes, size_t length, char **ret, struct pdb_error *err)
{
	struct decoder in;

	if (begin(&in, bytes, length, REPLY_SPAWNED, err) < 0)
		return -1;
	char *nspace = decoder_take_text(&in);
	in.is_bad |= !*nspace;
	if (end(&in, err) == 0) {
		*ret = nspace;
		return 0;
	}
	free(nspace);
	return -1;
}
