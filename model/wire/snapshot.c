/* SPDX-License-Identifier: BSD-3-Clause
 * A snapshot: what a job is (its process table, crashes, the probes of its stacks), and a share of
 * all that is known of its ranks, in one file. docs/snapshot-format.md tells the format in words.
 *
 * Nothing in a file is trusted: what is decompressed, and all that is built of it, is charged to
 * one budget, which goes by the size of the file. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "model/codec.h"
#include "model/interrupt.h"
#include "model/job/code.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/proctable.h"
#include "model/job/sample.h"
#include "model/budget.h"
#include "model/wire/code_bytes.h"
#include "model/wire/proc_bytes.h"
#include "model/wire/share_private.h"
#include "model/wire/snapshot_format.h"

enum { LEVEL = 6 }; /* of compression */

/* ---- What a job is ---- */

static char *source_note(enum proctable_source source, const char *note)
{
	if (source == PROCTABLE_SNAPSHOT)
		return note ? xstrdup(note) : NULL;
	return xasprintf("its ranks had been found by %s%s%s%s", proctable_source_text(source),
			 note ? " (" : "", note ? note : "", note ? ")" : "");
}

static void proctable_fields(struct codec *c, struct proctable *table)
{
	char *note = table->source_note;

	CODEC_BELOW(c, table->size, SHARE_MAX_RANKS);
	CODEC_TEXT(c, table->job);
	CODEC_TEXT(c, table->launcher_name);
	CODEC_INT(c, table->launcher_pid);
	CODEC_BELOW(c, table->source, PROCTABLE_CORES);
	CODEC_OPTIONAL(c, note);
	if (c->to) {
		proc_bytes_put(c->to, table);
		return;
	}
	table->source_note = source_note(table->source, note);
	table->source = PROCTABLE_SNAPSHOT;
	free(note);
	proc_bytes_take_table(c->from, table);
}

static void crashes(struct codec *c, struct job *job)
{
	size_t num = job->num_crashes;
	int last = -1;

	codec_count(c, &num, SHARE_MAX_RANKS, 5);
	for (size_t i = 0; i < num && codec_goes_on(c); i++) {
		struct job_crash crash = {.rank = 0};

		if (c->to)
			crash = job->crashes[i];
		CODEC_NEAR(c, crash.rank, 0, last + 1, SHARE_MAX_RANKS - 1);
		CODEC_INT(c, crash.tid);
		CODEC_BELOW(c, crash.signal, NSIG - 1);
		codec_refuse(c, crash.signal == 0);
		CODEC_FLAGS(c, &crash.is_fault, &crash.is_sent, &crash.has_address);
		CODEC(c, crash.address);
		last = crash.rank;
		if (c->from && decoder_charge(c->from, 1, sizeof(crash)))
			job_add_crash(job, &crash);
	}
}

/* All of them in their order: of two paths of a module, the first stays. */
static void all_modules(struct codec *c, struct modules *modules)
{
	size_t num = modules_count(modules);

	codec_count(c, &num, UINT32_MAX - 1, 2);
	for (size_t i = 0; i < num; i++) {
		uint32_t id = (uint32_t)i;

		if (c->from && !decoder_charge(c->from, 1, 2 * sizeof(struct module)))
			return;
		code_bytes_module(c, modules, &id);
		codec_refuse(c, id != i);
	}
}

static void probes(struct codec *c, struct job *job)
{
	CODEC_TABLE(c, job->probes, job->num_probes, UINT32_MAX, 8);
	for (size_t i = 0; i < job->num_probes && codec_goes_on(c); i++) {
		CODEC_BELOW(c, job->probes[i].module, UINT32_MAX - 1);
		codec_refuse(c, job->probes[i].module >= modules_count(job->modules));
		code_bytes_probe(c, &job->probes[i]);
	}
}

static int finish_proctable(struct proctable *table, struct pdb_error *err)
{
	if (proctable_finish(table, err) < 0)
		return -1;
	/* Whatever these pids are by now, they are not the job's. */
	for (size_t i = 0; i < table->num_procs; i++)
		table->procs[i].is_local = false;
	return 0;
}

/* Are there the probes that values of samples are of? */
static bool has_probes(const struct job *job)
{
	for (size_t i = 0; i < job->samples->num_samples; i++) {
		const struct sample *sample = &job->samples->samples[i];

		for (size_t k = 0; k < sample->num_values; k++)
			if (sample->values[k].probe >= job->num_probes)
				return false;
	}
	return true;
}

/* ---- Save ---- */

/* The caller frees it. */
static struct buffer put_all(const struct job *job)
{
	const uint8_t version[4] = {SNAPSHOT_VERSION};
	struct share *share = share_create();
	struct buffer b = {0};
	struct codec c = {.to = &b};

	buffer_put_bytes(&b, SNAPSHOT_MAGIC, 8);
	buffer_put_bytes(&b, version, sizeof(version));
	proctable_fields(&c, job->proctable);
	crashes(&c, (struct job *)job);
	all_modules(&c, job->modules);
	probes(&c, (struct job *)job);
	share_fill(share, job, NULL, SHARE_ALL | SHARE_CODE | SHARE_TRACES);
	share_put(share, &b);
	share_destroy(share);
	return b;
}

static int compress(const struct buffer *b, FILE *file, struct pdb_error *err)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_inBuffer in = {b->bytes, b->num, 0};
	char chunk[65536];
	size_t left = 1;
	int number = 0; /* of what could not be written */

	if (!zstd)
		return error_set(err, ERROR_SYSTEM, "zstd: out of memory");
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setPledgedSrcSize(zstd, b->num);
	while (left > 0 && !ZSTD_isError(left) && !number) {
		ZSTD_outBuffer out = {chunk, sizeof(chunk), 0};

		left = ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end);
		if (fwrite(chunk, 1, out.pos, file) != out.pos)
			number = errno;
	}
	ZSTD_freeCCtx(zstd);
	if (ZSTD_isError(left))
		return error_set(err, ERROR_SYSTEM, "zstd: %s", ZSTD_getErrorName(left));
	if (!number && (fflush(file) != 0 || fsync(fileno(file)) != 0))
		number = errno;
	errno = number;
	return number ? error_errno(err, "writing") : 0;
}

/* A renamed file takes the place of whatever has the name: of /dev/null too, if root says so. */
static bool may_replace(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
}

/* A file that is to be renamed. Returns its descriptor, -1 with *err; the caller frees
 * *name_ret. */
static int open_beside(const char *path, char **name_ret, struct pdb_error *err)
{
	char *name;

	if (!may_replace(path))
		return error_set(err, ERROR_USAGE,
				 "%s exists and is no regular file; give another name", path);
	name = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		free(name);
		return error_errno(err, "%s", path);
	}
	*name_ret = name;
	return fd;
}

int snapshot_check_path(const char *path, struct pdb_error *err)
{
	char *beside;
	int fd = open_beside(path, &beside, err);

	if (fd < 0)
		return -1;
	close(fd);
	unlink(beside);
	free(beside);
	return 0;
}

int snapshot_save(const struct job *job, const char *path, struct pdb_error *err)
{
	struct buffer bytes;
	char *beside;
	int fd, status;

	fd = open_beside(path, &beside, err);
	if (fd < 0)
		return -1;
	FILE *file = fdopen(fd, "w");
	if (!file) {
		status = error_errno(err, "%s", path);
		close(fd);
	} else {
		bytes = put_all(job);
		status = compress(&bytes, file, err);
		free(bytes.bytes);
		if (fclose(file) != 0 && status == 0)
			status = error_errno(err, "writing");
		if (status == 0 && rename(beside, path) != 0)
			status = error_errno(err, "renaming");
		if (status < 0)
			error_prefix(err, "%s", path);
	}
	if (status < 0)
		unlink(beside);
	free(beside);
	return status;
}

/* ---- Load ---- */

static int refuse(const struct decoder *in, struct pdb_error *err)
{
	if (interrupt_check(err) < 0)
		return -1;
	return error_set(err, ERROR_FORMAT, "the snapshot %s", decoder_why_bad(in));
}

/* Of the first bytes that came. */
static int check_version(const uint8_t *bytes, size_t num, struct pdb_error *err)
{
	unsigned int version;

	if (num < SNAPSHOT_HEADER_SIZE)
		return error_set(err, ERROR_FORMAT, "the snapshot is truncated");
	if (memcmp(bytes, SNAPSHOT_MAGIC, 8) != 0)
		return error_set(err, ERROR_FORMAT, "not a snapshot of pdb");
	version = bytes[8] | (unsigned int)bytes[9] << 8 | (unsigned int)bytes[10] << 16 |
		  (unsigned int)bytes[11] << 24;
	if (version != SNAPSHOT_VERSION)
		return error_set(err, ERROR_VERSION,
				 "the snapshot has version %u, this pdb reads version %d: use the "
				 "pdb that saved it",
				 version, SNAPSHOT_VERSION);
	return 0;
}

/* Room for what the frame says that it holds, which is not there before it comes; false: too
 * much. */
static bool make_room(struct decoder *in, const ZSTD_inBuffer *from, struct buffer *all)
{
	unsigned long long size = ZSTD_getFrameContentSize(from->src, from->size);

	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
		size = SNAPSHOT_HEADER_SIZE; /* to tell what it is */
	if (size > SIZE_MAX - 1 || !decoder_charge(in, (size_t)size, 1))
		return false;
	all->capacity = (size_t)size;
	all->bytes = xmalloc((size_t)size + 1);
	return true;
}

/* All that is inside the one frame that the file is. */
static int decompress(FILE *file, ZSTD_DStream *zstd, struct decoder *in, struct buffer *all,
		      struct pdb_error *err)
{
	char chunk[65536];
	ZSTD_inBuffer from = {chunk, 0, 0};
	size_t left = 1;

	while (left > 0) {
		size_t before = from.pos;

		if (from.pos == from.size) {
			from = (ZSTD_inBuffer){chunk, fread(chunk, 1, sizeof(chunk), file), 0};
			before = 0;
		}
		if (ferror(file))
			return error_errno(err, "reading");
		if (from.size == 0)
			return error_set(err, ERROR_FORMAT, "the snapshot is truncated");
		if ((!all->bytes && !make_room(in, &from, all)) || interrupt_pending())
			return refuse(in, err);
		ZSTD_outBuffer to = (ZSTD_outBuffer){all->bytes, all->capacity, all->num};
		left = ZSTD_decompressStream(zstd, &to, &from);
		if (ZSTD_isError(left))
			return error_set(err, ERROR_FORMAT, "not a snapshot, or damaged: %s",
					 ZSTD_getErrorName(left));
		if (all->num < SNAPSHOT_HEADER_SIZE && to.pos >= SNAPSHOT_HEADER_SIZE &&
		    check_version(all->bytes, to.pos, err) < 0)
			return -1;
		/* There is more than it said. */
		in->is_bad = left > 0 && to.pos == all->num && from.pos == before;
		if (in->is_bad)
			return refuse(in, err);
		all->num = to.pos;
	}
	if (from.pos < from.size || fgetc(file) != EOF)
		return error_set(err, ERROR_FORMAT, "the snapshot goes on after its end");
	return check_version(all->bytes, all->num, err);
}

static int take_all(struct decoder *in, struct buffer *all, struct share *share, struct job *job,
		    struct pdb_error *err)
{
	struct codec c = {.from = in};

	in->at = all->bytes + SNAPSHOT_HEADER_SIZE;
	in->end = all->bytes + all->num;
	proctable_fields(&c, job->proctable);
	if (!in->is_bad && finish_proctable(job->proctable, err) < 0)
		return -1;
	crashes(&c, job);
	all_modules(&c, job->modules);
	probes(&c, job);
	if (!in->is_bad)
		share_take(share, in, SHARE_MAX_RANKS);
	decoder_end(in);
	if (in->is_bad)
		return refuse(in, err);
	/* What it was made of is there no more. */
	share->memory = in->memory + all->capacity;
	free(all->bytes);
	all->bytes = NULL;
	if (share_to_job(share, job, err) < 0)
		return -1;
	in->is_bad = !has_probes(job);
	return in->is_bad ? refuse(in, err) : 0;
}

static int load(FILE *file, uint64_t size, struct job *job, struct pdb_error *err)
{
	struct decoder in = {.memory = budget_compressed(size)};
	ZSTD_DStream *zstd = ZSTD_createDStream();
	struct share *share = share_create();
	struct buffer all = {0};
	int status;

	share->teller = "it";
	if (!zstd)
		status = error_set(err, ERROR_SYSTEM, "zstd: out of memory");
	else
		status = decompress(file, zstd, &in, &all, err);
	ZSTD_freeDStream(zstd);
	if (status == 0)
		status = take_all(&in, &all, share, job, err);
	share_destroy(share);
	free(all.bytes);
	/* Whatever else came of it. */
	return interrupt_check(err) < 0 ? -1 : status;
}

static FILE *open_file(const char *path, uint64_t *size_ret, struct pdb_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0) {
		error_errno(err, "%s", path);
		return NULL;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		error_set(err, ERROR_FORMAT, "%s is not a regular file", path);
		return NULL;
	}
	*size_ret = (uint64_t)st.st_size;
	return fdopen(fd, "r");
}

int snapshot_load(const char *path, struct job **job_ret, struct pdb_error *err)
{
	struct pdb_error own = {0};
	uint64_t size = 0;
	FILE *file = open_file(path, &size, err);

	if (!file)
		return -1;
	struct job *job = job_create();
	int status = load(file, size, job, &own);
	fclose(file);
	if (status == 0) {
		*job_ret = job;
		return 0;
	}
	job_destroy(job);
	error_prefix(&own, "%s", path);
	if (err)
		*err = own;
	return -1;
}
