/* SPDX-License-Identifier: BSD-3-Clause
 * Inputs for the fuzz targets to begin with, made as the unit tests make theirs.
 * usage: seeds DIR: they go to DIR/TARGET/NAME. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zstd.h>

#include "attach/daemons/overlay.h"
#include "attach/daemons/stream.h"
#include "attach/gdb/gdb_order.h"
#include "attach/node/daemon_job.h"
#include "attach/node/watch_digest.h"
#include "model/buffer.h"
#include "model/wire/code_bytes.h"
#include "model/wire/share.h"
#include "model/wire/share_private.h"
#include "model/trace/trace.h"
#include "model/xalloc.h"
#include "model/wire/proc_bytes.h"
#include "pmix/reply.h"
#include "shell/command.h"
#include "tests/fixtures/trace_program.h"
#include "tests/fixtures/trace_text.h"
#include "tests/unit/core_writer.h"
#include "tests/unit/traced_run.h"
#include "tests/unit/whole_job.h"

static const char *folder;

static void die(const char *what)
{
	fprintf(stderr, "seeds: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void put(const char *target, const char *name, const void *bytes, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, target);
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		die(path);
	snprintf(path, sizeof(path), "%s/%s/%s", folder, target, name);
	file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
		die(path);
}

/* The bytes behind the number of what they are. */
static void put_kind(const char *target, const char *name, uint8_t kind, const void *bytes,
		     size_t size)
{
	struct buffer b = {.bytes = NULL};

	buffer_put_bytes(&b, &kind, 1);
	buffer_put_bytes(&b, bytes, size);
	put(target, name, b.bytes, b.num);
	free(b.bytes);
}

static void *read_file(const char *path, size_t *size_ret)
{
	FILE *file = fopen(path, "r");
	struct buffer b = {.bytes = NULL};
	char chunk[65536];
	size_t n;

	if (!file)
		die(path);
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buffer_put_bytes(&b, chunk, n);
	fclose(file);
	*size_ret = b.num;
	return b.bytes;
}

/* ---- Segments ---- */

static void put_segment(const char *name, struct segment_writer *w)
{
	uint8_t *bytes;
	size_t size = segment_writer_bytes(w, &bytes);

	put("segment", name, bytes, size);
	free(bytes);
	segment_writer_destroy(w);
}

static void make_segments(void)
{
	struct segment_writer *w = whole_job_segment(0, "/bin/app");
	struct trace_maker maker;
	uint32_t *events = trace_program_run(
		&(struct trace_program){.num_symbols = 12, .most_depth = 3, .most_trips = 4}, 5,
		300);

	segment_writer_call(w, 0, SEND, 3, 2000);
	put_segment("calls", w);
	w = whole_job_segment(2, "/bin/app");
	whole_job_evidence(w);
	segment_writer_go(w, 0, SEG_STATE_ENTER(SEND), 5000);
	segment_writer_lane(w, false, 7);
	segment_writer_poll(w, 1, RECV, 99, 6000);
	put_segment("evidence", w);
	w = whole_job_segment(1, "/bin/app");
	trace_maker_init(&maker, 1 << 14, &(struct trace_writer_settings){.max_body = 0});
	for (size_t i = 0; i < 300; i++)
		trace_writer_feed(&maker.writer, SEG_TRACE_SYMBOL(events[i] % 4, 0));
	w->header.features |= SEG_FEATURE_TRACE;
	w->lanes[0].trace = maker.arena;
	w->lanes[0].trace_size = maker.size;
	put_segment("trace", w);
	trace_maker_deinit(&maker);
	free(events);
}

/* ---- Snapshots and shares ---- */

static void put_snapshot(const char *name, const struct job *job)
{
	static const char path[] = "/tmp/pdb-fuzz-seed.snap";
	struct pdb_error err;
	size_t size, most = 16 << 20;
	void *packed, *bytes = xmalloc(most);

	if (snapshot_save(job, path, &err) < 0)
		die(err.text);
	packed = read_file(path, &size);
	remove(path);
	most = ZSTD_decompress(bytes, most, packed, size);
	if (ZSTD_isError(most))
		die("zstd");
	put("snapshot", name, bytes, most);
	free(packed);
	free(bytes);
}

static void add_raw_share(struct buffer *b, const struct job *job, int rank, unsigned int parts)
{
	struct share *share = share_create();
	struct buffer packed = {.bytes = NULL};
	struct rankset *ranks = rankset_create();
	uint8_t *raw = xmalloc(1 << 20);
	struct pdb_error err;
	size_t size;

	rankset_add(ranks, rank);
	share_fill(share, job, rank < 0 ? NULL : ranks, parts);
	if (share_encode(share, &packed, &err) < 0)
		die(err.text);
	/* Behind the header (docs/share-format.md). */
	size = ZSTD_decompress(raw, 1 << 20, packed.bytes + 36, packed.num - 36);
	if (ZSTD_isError(size))
		die("zstd");
	buffer_put_bytes(b, raw, size);
	free(raw);
	free(packed.bytes);
	rankset_destroy(ranks);
	share_destroy(share);
}

static void put_shares(const char *name, const struct job *job, unsigned int parts)
{
	struct buffer b = {.bytes = NULL};
	uint8_t length[3] = {0};

	buffer_put_bytes(&b, length, 3);
	add_raw_share(&b, job, 0, parts);
	for (int i = 0; i < 3; i++)
		b.bytes[i] = (uint8_t)((b.num - 3) >> (8 * i));
	add_raw_share(&b, job, 1, parts);
	put("share", name, b.bytes, b.num);
	free(b.bytes);
}

static void make_jobs(void)
{
	struct job *job = whole_job_create(true), *empty = job_create();

	job_add_crash(job,
		      &(struct job_crash){.rank = 1, .tid = 4001, .signal = 11, .is_fault = true});
	put_snapshot("whole", job);
	put_shares("all", job, SHARE_ALL | SHARE_CODE);
	put_shares("answers", job, SHARE_ANSWERS);
	if (proctable_finish(empty->proctable, NULL) < 0)
		die("empty");
	put_snapshot("empty", empty);
	job_destroy(empty);
	job_destroy(job);
}

/* ---- Traces ---- */

static void make_traces(void)
{
	static const char *const texts[] = {"abc", "[[ab]^3c]^4", "[a[b[c[de]^2]^3]^4f]^5"};
	static const uint8_t head[] = {0, 26, 0}, arena_head[] = {1, 26, 0};
	struct trace_maker maker;

	for (size_t i = 0; i < NUM_OF(texts); i++) {
		struct trace *trace = trace_from_text(texts[i]);
		struct buffer b = {.bytes = NULL};
		char name[32];

		snprintf(name, sizeof(name), "text%zu", i);
		buffer_put_bytes(&b, head, sizeof(head));
		trace_encode(trace, &b);
		put("trace", name, b.bytes, b.num);
		free(b.bytes);
		trace_destroy(trace);
	}
	trace_maker_init(&maker, 1 << 13, &(struct trace_writer_settings){.max_body = 0});
	for (uint32_t i = 0; i < 200; i++)
		trace_writer_feed(&maker.writer, i % 7 ? i % 3 : i % 26);
	struct buffer b = {.bytes = NULL};

	buffer_put_bytes(&b, arena_head, sizeof(arena_head));
	buffer_put_bytes(&b, maker.arena, maker.size);
	put("trace", "arena", b.bytes, b.num);
	free(b.bytes);
	trace_maker_deinit(&maker);
}

/* ---- What daemons say ---- */

/* The numbers are those of fuzz_wire.c. */
enum { MESSAGE, DIGEST, TABLE, SPAWNED, JOB, SCAN, ORDER, QUESTION, RANKS, INVITATION, STREAM };

static void make_digest(void)
{
	struct watch_digest digest;
	struct buffer b = {.bytes = NULL};

	watch_digest_init(&digest);
	for (uint32_t rank = 0; rank < 6; rank++) {
		rankset_add(rank % 3 ? digest.inside : digest.outside, (int)rank);
		watch_digest_add_rank(&digest,
				      &(struct watch_rank){.rank = rank, .place = rank * 7});
	}
	digest.numbers.num_ranks = digest.numbers.num_recorded = 6;
	watch_digest_encode(&digest, &b);
	put_kind("wire", "digest", DIGEST, b.bytes, b.num);
	free(b.bytes);
	watch_digest_deinit(&digest);
}

static void make_tables(struct job *job)
{
	struct buffer table = {.bytes = NULL}, spawned = {.bytes = NULL};
	struct buffer procs = {.bytes = NULL}, found = {.bytes = NULL};

	reply_put_table(&table, job->proctable);
	put_kind("wire", "table", TABLE, table.bytes, table.num);
	reply_put_spawned(&spawned, "job@7");
	put_kind("wire", "spawned", SPAWNED, spawned.bytes, spawned.num);
	proc_bytes_put(&procs, job->proctable);
	put_kind("wire", "job", JOB, procs.bytes, procs.num);
	daemon_job_put_found(&found, job->proctable);
	put_kind("wire", "scan", SCAN, found.bytes, found.num);
	free(table.bytes);
	free(spawned.bytes);
	free(procs.bytes);
	free(found.bytes);
}

static void make_orders(const struct job *job)
{
	const char *words[] = {"-nx", "-p", "7"}, *environment[] = {"TERM=xterm"};
	const struct gdb_order order = {.rank = 3,
					.channel = 1,
					.folder = "/tmp",
					.words = words,
					.num_words = 3,
					.environment = environment,
					.num_environment = 1};
	struct code_probe probes[] = {make_probe(0, 0x1005), make_probe(0, 0x1015)};
	struct code_address function = {.module = 0, .address = 0x1005};
	const struct code_question question = {
		.functions = &function, .num_functions = 1, .probes = probes, .num_probes = 2};
	struct buffer b = {.bytes = NULL};

	gdb_order_encode(&order, &b);
	put_kind("wire", "order", ORDER, b.bytes, b.num);
	b.num = 0;
	code_bytes_put_question(&b, &question, job->modules);
	put_kind("wire", "question", QUESTION, b.bytes, b.num);
	free(b.bytes);
}

static void make_messages(void)
{
	static const char invitation[] =
		"pdblink1/00112233445566778899aabbccddeeff00112233445566778899aabb"
		"ccddeeff/127.0.0.1:4711,[::1]:4712";
	static const uint8_t records[] = {1,   12,  0,   5, 0,  0, 0, 4,   0,   0,   0,   'a',
					  'b', 'c', 'd', 1, 18, 0, 0, 255, 255, 255, 10,  0,
					  0,   0,   1,   0, 0,  0, 1, 0,   0,   0,   'x', 'y'};
	struct stream_message message = {.number = 7, .kind = STREAM_DATA, .bytes = "some bytes"};
	struct overlay_message question = {.sequence = 4,
					   .kind = 5,
					   .total_ms = 1000,
					   .payload = (const uint8_t *)"payload",
					   .length = 7};
	struct rankset *set = rankset_create();
	struct buffer b = {.bytes = NULL};
	const uint16_t length = STREAM_HEAD + 10;
	size_t size;
	uint8_t *bytes;

	overlay_ranges_add(&question.ranges, 1, 5);
	overlay_put(&b, &question);
	put_kind("wire", "message", MESSAGE, b.bytes, b.num);
	overlay_ranges_deinit(&question.ranges);
	b.num = 0;
	rankset_add_range(set, 3, 90);
	rankset_add(set, 4000);
	size = rankset_serialize(set, &bytes);
	put_kind("wire", "ranks", RANKS, bytes, size);
	free(bytes);
	rankset_destroy(set);
	put_kind("wire", "invitation", INVITATION, invitation, strlen(invitation));
	buffer_put_bytes(&b, &length, sizeof(length));
	buffer_put_bytes(&b, &message, length);
	put_kind("wire", "stream", STREAM, b.bytes, b.num);
	free(b.bytes);
	put("link", "frames", records, sizeof(records));
}

/* ---- Texts, command lines ---- */

/* Zero bytes in them are meant. */
#define TEXT(kind, name, text) put_kind("text", name, kind, text, sizeof(text) - 1)

static void make_texts(void)
{
	TEXT(0, "hydra",
	     "/usr/bin/ssh\0-x\0b\0\"/usr/bin/hydra_pmi_proxy\" --control-port a:37763 --rmk "
	     "user --launcher ssh --pgid 0 --proxy-id 1\0");
	TEXT(1, "rendezvous",
	     "prterun-login1-4019@0.0;tcp4://192.0.2.2:45961\n5.0.7\n4019\n1000:1000\n"
	     "Fri Nov 20 22:12:57 2026\n");
	TEXT(2, "cxx", "_ZN5Verlet3runEi");
	TEXT(2, "fortran", "__solver_MOD_step");
	TEXT(2, "clone", "step.constprop.0.isra.1");
	TEXT(3, "maps",
	     "7f0000000000-7f0000002000 r-xp 00000000 fe:00 8466      /usr/lib/libc.so.6\n"
	     "7f0000002000-7f0000003000 rw-p 00002000 fe:00 8466      /usr/lib/libc.so.6 "
	     "(deleted)\n"
	     "7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0         [vdso]\n");
	TEXT(4, "environ",
	     "HOME=/root\0PMIX_RANK=3\0PMIX_NAMESPACE=job@1\0OMPI_COMM_WORLD_SIZE=8\0");
	TEXT(5, "ranks", "0,3-5,8-63:8,7");
	TEXT(6, "filter", "mpi,depth=3,lib=lib*.so,!solve_?,*halo*");
	TEXT(7, "words", "bt 0-3 \"a \\\" b\" 'c d' \\  $arg0 # end");
}

static void make_lines(void)
{
	char name[64];

	for (size_t i = 0; command_table[i]; i++) {
		const struct command *command = command_table[i];

		if (!command->family)
			put("command", command->name, command->example, strlen(command->example));
		for (size_t j = 0; command->family && command->family[j]; j++) {
			snprintf(name, sizeof(name), "%s-%s", command->name,
				 command->family[j]->name);
			put("command", name, command->family[j]->example,
			    strlen(command->family[j]->example));
		}
	}
	put("command", "several", "focus 0-1\nbt all\nset stale 4\nlp lp\nbt group 1\n", 47);
}

/* Two ranks, whose texts stand behind the entries. */
static void make_mpir(void)
{
	static const struct {
		uint64_t host, executable;
		int32_t pid, padding;
	} entries[] = {{48, 54, 1, 0}, {48, 54, 999999999, 0}};
	static const uint8_t head[] = {2, 0, 0, 0, 2};
	struct buffer b = {.bytes = NULL};

	buffer_put_bytes(&b, head, sizeof(head));
	buffer_put_bytes(&b, entries, sizeof(entries));
	buffer_put_bytes(&b, "node7\0/bin/app", 15);
	put("mpir", "two", b.bytes, b.num);
	free(b.bytes);
}

/* ---- Files ---- */

static void make_core(void)
{
	static const char environment[] = "HOME=/root\0PMI_RANK=3\0PMI_SIZE=8";
	struct core_writer *w = core_of_rank(700, environment, sizeof(environment));
	size_t size;
	void *bytes;

	core_write(w);
	bytes = read_file(w->path, &size);
	put("core", "rank", bytes, size);
	free(bytes);
	core_destroy(w);
}

int main(int argc, char **argv)
{
	struct job *job = whole_job_create(true);

	if (argc != 2)
		return 2;
	folder = argv[1];
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		die(folder);
	make_segments();
	make_jobs();
	make_traces();
	make_digest();
	make_tables(job);
	make_orders(job);
	make_messages();
	make_texts();
	make_lines();
	make_mpir();
	make_core();
	job_destroy(job);
	return 0;
}
