/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An answer is three words, MAGIC, kind and the length of all of it in bytes, and then
 *   ANSWER_ERROR: code, text
 *   ANSWER_TABLE: job, note, number of processes, and for each process
 *	rank, pid, flags, [host if SAME_HOST is not set], [executable if SAME_EXECUTABLE is not set]
 *	ANSWER_SPAWNED: name of the job
 * where a word is a uint32_t and a text is its length as a word and then its bytes. */
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/job/proctable.h"
#include "model/xalloc.h"
#include "pmix/answer.h"

#define MAGIC 0x41626470u /* "pdbA" */
#define TEXT_MAX 65536u
#define PROC_WORDS 3

enum answer_kind {
	ANSWER_ERROR = 1,
	ANSWER_TABLE = 2,
	ANSWER_SPAWNED = 3,
};

enum proc_flags {
	SAME_HOST = 1 << 0,       /* as the process before */
	SAME_EXECUTABLE = 1 << 1, /* as the process before */
};

void answer_deinit(struct answer *answer)
{
	free(answer->bytes);
	*answer = (struct answer){.bytes = NULL};
}

static void put(struct answer *answer, const void *bytes, size_t length)
{
	if (answer->length + length > answer->capacity) {
		answer->capacity = 2 * answer->capacity + length + 256;
		answer->bytes = xreallocarray(answer->bytes, answer->capacity, 1);
	}
	memcpy(answer->bytes + answer->length, bytes, length);
	answer->length += length;
}

static void put_word(struct answer *answer, uint32_t word)
{
	put(answer, &word, sizeof(word));
}

static void put_text(struct answer *answer, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	if (length > TEXT_MAX)
		length = TEXT_MAX;
	put_word(answer, length);
	if (length > 0)
		put(answer, text, length);
}

static void put_header(struct answer *answer, enum answer_kind kind)
{
	put_word(answer, MAGIC);
	put_word(answer, kind);
	put_word(answer, 0); /* the length, known at the end */
}

static void close_header(struct answer *answer)
{
	uint32_t length = answer->length;

	memcpy(answer->bytes + 2 * sizeof(uint32_t), &length, sizeof(length));
}

void answer_encode_error(struct answer *answer, const struct pdb_error *error)
{
	put_header(answer, ANSWER_ERROR);
	put_word(answer, error->code);
	put_text(answer, error->text);
	close_header(answer);
}

void answer_encode_table(struct answer *answer, const struct proctable *table)
{
	const struct proc *before = NULL;

	put_header(answer, ANSWER_TABLE);
	put_text(answer, table->job);
	put_text(answer, table->source_note);
	put_word(answer, table->num_procs);
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];
		bool same_host = before && strcmp(before->host, proc->host) == 0;
		bool same_executable = before && strcmp(before->executable, proc->executable) == 0;

		put_word(answer, proc->rank);
		put_word(answer, proc->pid);
		put_word(answer,
			 (same_host ? SAME_HOST : 0) | (same_executable ? SAME_EXECUTABLE : 0));
		if (!same_host)
			put_text(answer, proc->host);
		if (!same_executable)
			put_text(answer, proc->executable);
		before = proc;
	}
	close_header(answer);
}

void answer_encode_spawned(struct answer *answer, const char *nspace)
{
	put_header(answer, ANSWER_SPAWNED);
	put_text(answer, nspace);
	close_header(answer);
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
static int open_answer(const char *bytes, size_t length, struct reader *reader,
		       struct pdb_error *err)
{
	*reader = (struct reader){.bytes = bytes, .left = length};
	uint32_t magic = get_word(reader);
	uint32_t kind = get_word(reader);
	uint32_t total = get_word(reader);

	if (length == 0)
		return error_set(err, ERROR_FORMAT, "PMIx has failed to ask the launcher");
	if (reader->is_bad || magic != MAGIC || total != length || kind > ANSWER_SPAWNED)
		return set_damaged(err);
	if (kind == ANSWER_ERROR)
		return decode_error(reader, err);
	return kind;
}

int answer_decode(const char *bytes, size_t length, struct proctable **ret, struct pdb_error *err)
{
	struct reader reader;
	int kind = open_answer(bytes, length, &reader, err);

	if (kind < 0)
		return -1;
	return kind == ANSWER_TABLE ? decode_table(&reader, ret, err) : set_damaged(err);
}

int answer_decode_spawned(const char *bytes, size_t length, char **ret, struct pdb_error *err)
{
	struct reader reader;
	int kind = open_answer(bytes, length, &reader, err);

	if (kind < 0)
		return -1;
	char *nspace = get_text(&reader);
	if (kind != ANSWER_SPAWNED || reader.is_bad || reader.left > 0 || !*nspace) {
		free(nspace);
		return set_damaged(err);
	}
	*ret = nspace;
	return 0;
}
