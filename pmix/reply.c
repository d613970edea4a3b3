/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An answer is three words, MAGIC, kind and the length of all of it in bytes, and then
 *   REPLY_ERROR: code, text
 *   REPLY_TABLE: job, note, number of processes, and for each process
 *	rank, pid, flags, [host if SAME_HOST is not set], [executable if SAME_EXECUTABLE is not set]
 *	REPLY_SPAWNED: name of the job
 * where a word is a uint32_t and a text is its length as a word and then its bytes. */
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/job/proctable.h"
#include "model/xalloc.h"
#include "pmix/reply.h"

#define MAGIC 0x41626470u /* "pdbA" */
#define TEXT_MAX 65536u
#define PROC_WORDS 3

enum reply_kind {
	REPLY_ERROR = 1,
	REPLY_TABLE = 2,
	REPLY_SPAWNED = 3,
};

enum proc_flags {
	SAME_HOST = 1 << 0,       /* as the process before */
	SAME_EXECUTABLE = 1 << 1, /* as the process before */
};

void reply_deinit(struct reply *reply)
{
	free(reply->bytes);
	*reply = (struct reply){.bytes = NULL};
}

static void put(struct reply *reply, const void *bytes, size_t length)
{
	if (reply->length + length > reply->capacity) {
		reply->capacity = 2 * reply->capacity + length + 256;
		reply->bytes = xreallocarray(reply->bytes, reply->capacity, 1);
	}
	memcpy(reply->bytes + reply->length, bytes, length);
	reply->length += length;
}

static void put_word(struct reply *reply, uint32_t word)
{
	put(reply, &word, sizeof(word));
}

static void put_text(struct reply *reply, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	if (length > TEXT_MAX)
		length = TEXT_MAX;
	put_word(reply, length);
	if (length > 0)
		put(reply, text, length);
}

static void put_header(struct reply *reply, enum reply_kind kind)
{
	put_word(reply, MAGIC);
	put_word(reply, kind);
	put_word(reply, 0); /* the length, known at the end */
}

static void close_header(struct reply *reply)
{
	uint32_t length = reply->length;

	memcpy(reply->bytes + 2 * sizeof(uint32_t), &length, sizeof(length));
}

void reply_encode_error(struct reply *reply, const struct pdb_error *error)
{
	put_header(reply, REPLY_ERROR);
	put_word(reply, error->code);
	put_text(reply, error->text);
	close_header(reply);
}

void reply_encode_table(struct reply *reply, const struct proctable *table)
{
	const struct proc *before = NULL;

	put_header(reply, REPLY_TABLE);
	put_text(reply, table->job);
	put_text(reply, table->source_note);
	put_word(reply, table->num_procs);
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];
		bool same_host = before && strcmp(before->host, proc->host) == 0;
		bool same_executable = before && strcmp(before->executable, proc->executable) == 0;

		put_word(reply, proc->rank);
		put_word(reply, proc->pid);
		put_word(reply,
			 (same_host ? SAME_HOST : 0) | (same_executable ? SAME_EXECUTABLE : 0));
		if (!same_host)
			put_text(reply, proc->host);
		if (!same_executable)
			put_text(reply, proc->executable);
		before = proc;
	}
	close_header(reply);
}

void reply_encode_spawned(struct reply *reply, const char *nspace)
{
	put_header(reply, REPLY_SPAWNED);
	put_text(reply, nspace);
	close_header(reply);
}

/* Reading: after the first thing that does not fit, everything reads as nothing. */
struct reader {
	const char *bytes;
	size_t left;
	bool is_bad;
};

static uint32_t get_word(struct reader *reader)
{
	uint32_t word;

	if (reader->is_bad || reader->left < sizeof(word)) {
		reader->is_bad = true;
		return 0;
	}
	memcpy(&word, reader->bytes, sizeof(word));
	reader->bytes += sizeof(word);
	reader->left -= sizeof(word);
	return word;
}

/* The caller frees it. */
static char *get_text(struct reader *reader)
{
	uint32_t length = get_word(reader);

	if (reader->is_bad || length > TEXT_MAX || length > reader->left ||
	    memchr(reader->bytes, '\0', length)) {
		reader->is_bad = true;
		return xstrdup("");
	}
	char *text = xstrndup(reader->bytes, length);
	reader->bytes += length;
	reader->left -= length;
	return text;
}

static int decode_error(struct reader *reader, struct pdb_error *err)
{
	uint32_t code = get_word(reader);
	char *text = get_text(reader);

	if (reader->is_bad || reader->left > 0 || code == ERROR_NONE || code > ERROR_INTERRUPTED)
		error_set(err, ERROR_FORMAT, "the answer about the job is damaged");
	else
		error_set(err, code, "%s", text);
	free(text);
	return -1;
}

static void decode_procs(struct reader *reader, uint32_t num_procs, struct proctable *table)
{
	char *host = NULL, *executable = NULL;

	for (uint32_t i = 0; i < num_procs && !reader->is_bad; i++) {
		int rank = get_word(reader);
		pid_t pid = get_word(reader);
		uint32_t flags = get_word(reader);

		if (!(flags & SAME_HOST)) {
			free(host);
			host = get_text(reader);
		}
		if (!(flags & SAME_EXECUTABLE)) {
			free(executable);
			executable = get_text(reader);
		}
		if (!host || !executable || pid < 0)
			reader->is_bad = true;
		if (!reader->is_bad)
			proctable_add(table, rank, pid, host, executable);
	}
	free(host);
	free(executable);
}

static int decode_table(struct reader *reader, struct proctable **ret, struct pdb_error *err)
{
	struct proctable *table = proctable_create();

	table->source = PROCTABLE_PMIX;
	table->job = get_text(reader);
	table->source_note = get_text(reader);
	if (!*table->source_note) {
		free(table->source_note);
		table->source_note = NULL;
	}
	uint32_t num_procs = get_word(reader);
	if (num_procs > reader->left / (PROC_WORDS * sizeof(uint32_t)))
		reader->is_bad = true;
	decode_procs(reader, num_procs, table);
	if (reader->is_bad || reader->left > 0) {
		proctable_destroy(table);
		return error_set(err, ERROR_FORMAT, "the answer about the job is damaged");
	}
	if (proctable_finish(table, err) != 0) {
		proctable_destroy(table);
		return -1;
	}
	*ret = table;
	return 0;
}

static int set_damaged(struct pdb_error *err)
{
	return error_set(err, ERROR_FORMAT, "the answer about the job is damaged");
}

/* Start reading. An error that was sent is returned as one; else the kind, 0 or more. */
static int open_reply(const char *bytes, size_t length, struct reader *reader,
		      struct pdb_error *err)
{
	*reader = (struct reader){.bytes = bytes, .left = length};
	uint32_t magic = get_word(reader);
	uint32_t kind = get_word(reader);
	uint32_t total = get_word(reader);

	if (length == 0)
		return error_set(err, ERROR_FORMAT, "PMIx has failed to ask the launcher");
	if (reader->is_bad || magic != MAGIC || total != length || kind > REPLY_SPAWNED)
		return set_damaged(err);
	if (kind == REPLY_ERROR)
		return decode_error(reader, err);
	return kind;
}

int reply_decode(const char *bytes, size_t length, struct proctable **ret, struct pdb_error *err)
{
	struct reader reader;
	int kind = open_reply(bytes, length, &reader, err);

	if (kind < 0)
		return -1;
	return kind == REPLY_TABLE ? decode_table(&reader, ret, err) : set_damaged(err);
}

int reply_decode_spawned(const char *bytes, size_t length, char **ret, struct pdb_error *err)
{
	struct reader reader;
	int kind = open_reply(bytes, length, &reader, err);

	if (kind < 0)
		return -1;
	char *nspace = get_text(&reader);
	if (kind != REPLY_SPAWNED || reader.is_bad || reader.left > 0 || !*nspace) {
		free(nspace);
		return set_damaged(err);
	}
	*ret = nspace;
	return 0;
}
