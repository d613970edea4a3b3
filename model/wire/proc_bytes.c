/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/buffer.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/blobs.h"
#include "model/decoder.h"
#include "model/wire/proc_bytes.h"
#include "model/wire/share.h"

/* With allocations of texts, room to grow, and what a command needs to print it. */
enum { PROC_COST = 3 * sizeof(struct proc) + 320 };

/* Each text of the table once; processes name them by number. */
static void put_texts(struct buffer *b, const struct blobs *texts)
{
	buffer_put(b, texts->num);
	for (uint32_t i = 0; i < texts->num; i++) {
		size_t size;
		const uint8_t *bytes = blobs_get(texts, i, &size);

		buffer_put(b, size);
		buffer_put_bytes(b, bytes, size);
	}
}

static uint32_t add_text(struct blobs *texts, const char *text)
{
	return blobs_intern(texts, text, strlen(text));
}

void proc_bytes_put(struct buffer *b, const struct proctable *table)
{
	struct buffer procs = {0};
	struct blobs texts = {0};
	int64_t pid = 0;

	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];
		pid_t signed_pid = proc->has_ended ? -proc->pid : proc->pid;

		buffer_put_signed(&procs, (int64_t)proc->rank - (int64_t)i);
		buffer_put_signed(&procs, (int64_t)signed_pid - pid - 1);
		buffer_put(&procs, add_text(&texts, proc->host));
		buffer_put(&procs, add_text(&texts, proc->executable));
		pid = signed_pid;
	}
	put_texts(b, &texts);
	buffer_put(b, table->num_procs);
	buffer_put_bytes(b, procs.bytes, procs.num);
	blobs_deinit(&texts);
	free(procs.bytes);
}

static char **take_texts(struct decoder *in, size_t *num_ret)
{
	size_t num = decoder_take_count(in, UINT32_MAX, 1);
	char **texts = decoder_allocate(in, num, sizeof(*texts));

	*num_ret = 0;
	while (*num_ret < num && !in->is_bad)
		texts[(*num_ret)++] = decoder_take_text(in);
	return texts;
}

void proc_bytes_take(struct decoder *in, proc_bytes_fn *tell, void *context)
{
	size_t num_texts, num;
	char **texts = take_texts(in, &num_texts);
	int64_t pid = 0;

	num = decoder_take_count(in, SHARE_MAX_RANKS, 4);
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		int64_t rank = (int64_t)i + decoder_take_int(in);
		uint64_t host, executable;

		pid += decoder_take_signed(in, -(int64_t)UINT32_MAX, UINT32_MAX) + 1;
		host = decoder_take_below(in, num_texts - 1);
		executable = decoder_take_below(in, num_texts - 1);
		if (rank > INT32_MAX || pid < -INT32_MAX || pid > INT32_MAX || !num_texts)
			in->is_bad = true;
		/* Each proc owns its strings, so a long one may come many times. */
		if (!in->is_bad &&
		    decoder_charge(in, strlen(texts[host]) + strlen(texts[executable]) + PROC_COST,
				   1))
			tell(context, &(struct proc){
					      .rank = (int)rank,
					      .pid = (pid_t)(pid < 0 ? -pid : pid),
					      .host = texts[host],
					      .executable = texts[executable],
					      .has_ended = pid < 0,
				      });
	}
	for (size_t i = 0; i < num_texts; i++)
		free(texts[i]);
	free(texts);
}

static void add_proc(void *table, const struct proc *proc)
{
	proctable_add_like(table, proc);
}

void proc_bytes_take_table(struct decoder *in, struct proctable *table)
{
	proc_bytes_take(in, add_proc, table);
}

void proc_bytes_put_ranks(struct buffer *b, const struct rankset *ranks)
{
	uint8_t *bytes;
	size_t size = rankset_serialize(ranks, &bytes);

	buffer_put(b, size);
	buffer_put_bytes(b, bytes, size);
	free(bytes);
}

struct rankset *proc_bytes_take_ranks(struct decoder *in, int num_ranks)
{
	size_t size = decoder_take_count(in, UINT32_MAX, 1);
	const uint8_t *bytes = decoder_take_bytes(in, size);
	struct rankset *ranks =
		in->is_bad ? NULL : rankset_deserialize(bytes, size, num_ranks, NULL);

	in->is_bad |= !ranks;
	return ranks ? ranks : rankset_create();
}
