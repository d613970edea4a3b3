/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/recorder/ticks.h"
#include "model/segment/segment_sweep.h"

/* Lanes are mapped one by one, so they begin where the biggest page in use (AArch64) may begin. */
enum { PAGE = 4096, BIG_PAGE = 64 << 10, GROW_BYTES = 16 << 10, MAX_INTERRUPTED = 1000 };

struct layout {
	uint32_t entry_size, capacity;
};

static const struct layout header_layout[SEG_NUM_TABLES] = {
	[SEG_TABLE_STRINGS] = {1, SEG_MAX_STRINGS},
	[SEG_TABLE_MODULES] = {sizeof(struct seg_module), SEG_MAX_MODULES},
	[SEG_TABLE_FRAMES] = {sizeof(struct seg_frame), SEG_MAX_FRAMES},
	[SEG_TABLE_SITES] = {sizeof(struct seg_site), SEG_MAX_SITES},
	[SEG_TABLE_COMMS] = {sizeof(struct seg_comm), SEG_MAX_COMMS},
	[SEG_TABLE_MEMBERS] = {sizeof(int32_t), SEG_MAX_MEMBERS},
	[SEG_TABLE_REQUESTS] = {sizeof(struct seg_request), SEG_MAX_REQUESTS},
};

static uint64_t round_up(uint64_t n, uint64_t step)
{
	return (n + step - 1) / step * step;
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Would a file of that size raise SIGXFSZ? It must never. */
static bool within_limit(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

static int allocate(int fd, uint64_t offset, uint64_t length)
{
	if (!within_limit(offset + length))
		return EFBIG;
	/* A signal makes tmpfs give back what it had got so far. */
	for (int i = 0; i < MAX_INTERRUPTED; i++) {
		int error = posix_fallocate(fd, offset, length);
		if (error != EINTR)
			return error;
	}
	return EINTR;
}

/* Open the file again, unless somebody has put another in its place. */
static int reopen(const struct writer *w)
{
	struct stat st;
	int fd;

	do
		fd = open(w->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0 || st.st_dev != w->device || st.st_ino != w->inode) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Give `table` pages for `entries`; base is the file offset that table->offset counts from. */
static bool reserve(struct writer *w, struct seg_table *table, uint64_t base, uint64_t entries)
{
	uint64_t need = entries * table->entry_size;

	if (entries > table->capacity)
		return false;
	if (need <= table->allocated)
		return true;
	if (w->exhausted)
		return false;
	uint64_t whole = round_up((uint64_t)table->capacity * table->entry_size, PAGE);
	/* Many tables have few entries in most programs. */
	uint64_t wanted = min64(round_up(need, table->allocated ? GROW_BYTES : PAGE), whole);
	int error = EBADF;
	int fd = reopen(w);
	if (fd >= 0) {
		error = allocate(fd, base + table->offset + table->allocated,
				 wanted - table->allocated);
		close(fd);
	}
	/* One refusal is final: asking again at each call would slow the program down. */
	w->exhausted = error != 0;
	if (!error)
		table->allocated = wanted;
	return !error;
}

void *writer_next(struct writer *w, enum seg_table_id id, uint32_t count, uint32_t *ret)
{
	struct seg_table *table = &w->header->tables[id];
	uint32_t at = relaxed_get(&table->count);

	if (!reserve(w, table, 0, (uint64_t)at + count)) {
		relaxed_add(&table->dropped, 1);
		return NULL;
	}
	*ret = at;
	return (char *)writer_entries(w, id) + (uint64_t)at * table->entry_size;
}

void writer_publish(struct writer *w, enum seg_table_id id, uint32_t count)
{
	struct seg_table *table = &w->header->tables[id];
	uint32_t at = relaxed_get(&table->count);

	/* Pairs with the reader's acquire load: it then sees the entries whole. */
	atomic_store_explicit(&table->count, at + count, memory_order_release);
}

uint32_t writer_string(struct writer *w, const char *text)
{
	uint32_t offset, size = strlen(text) + 1;
	char *to = writer_next(w, SEG_TABLE_STRINGS, size, &offset);

	if (!to)
		return 0;
	memcpy(to, text, size);
	writer_publish(w, SEG_TABLE_STRINGS, size);
	return offset;
}

void writer_stamp(struct writer *w)
{
	relaxed_set(&w->header->later_ticks, ticks_now());
	relaxed_set(&w->header->later_mono_ns, ticks_ns(CLOCK_MONOTONIC));
}

/* ---- Making it ---- */

static int make_path(struct writer *w, const char *dir, const struct writer_identity *identity)
{
	char job[101];
	unsigned i;

	for (i = 0; i < sizeof(job) - 1 && identity->job[i]; i++) {
		unsigned char c = identity->job[i];
		bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			     (c >= 'a' && c <= 'z') || c == '@' || c == '_' || c == '-';
		job[i] = plain ? c : '_';
	}
	job[i] = '\0';
	int n = snprintf(w->path, sizeof(w->path), "%s/" PDB_SEGMENT_PREFIX "%s.%d.%d", dir, job,
			 identity->rank, (int)getpid());
	if (n < 0 || n >= (int)sizeof(w->path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return 0;
}

static int open_new(const char *path)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	struct stat st;
	int fd = open(path, flags, 0600);

	if (fd >= 0 || errno != EEXIST)
		return fd;
	/* The name holds our pid, so its maker is dead, or it is ourselves before an exec. */
	if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    unlink(path) != 0) {
		errno = EEXIST;
		return -1;
	}
	return open(path, flags, 0600);
}

static void fill_identity(struct seg_header *h, const struct writer_identity *identity)
{
	h->pid = getpid();
	h->parent_pid = getppid();
	int64_t start = segment_process_start(getpid());
	h->pid_start = start > 0 ? start : 0;
	h->uid = geteuid();
	h->rank = identity->rank;
	h->size = identity->size;
	h->thread_level = -1;
	h->keeper = identity->keeper;
	snprintf(h->job, sizeof(h->job), "%s", identity->job);
	gethostname(h->host, sizeof(h->host) - 1);
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	size_t over = n >= (ssize_t)sizeof(h->executable) ? n - sizeof(h->executable) + 1 : 0;
	memcpy(h->executable, exe + over, strlen(exe + over));
}

/* Lay out tables from `at` on; returns where they end. */
static uint64_t lay_out(struct seg_table *tables, const struct layout *layout, int num, uint64_t at)
{
	for (int t = 0; t < num; t++) {
		tables[t].offset = at;
		tables[t].entry_size = layout[t].entry_size;
		tables[t].capacity = layout[t].capacity;
		at += round_up((uint64_t)layout[t].entry_size * layout[t].capacity, PAGE);
	}
	return at;
}

static uint64_t lay_out_lane(struct seg_table *tables, uint32_t ring)
{
	const struct layout layout[SEG_LANE_NUM_TABLES] = {
		[SEG_LANE_STATES] = {sizeof(struct seg_state), 2 * SEG_MAX_SITES},
		[SEG_LANE_TRANSITIONS] = {sizeof(struct seg_transition), SEG_MAX_TRANSITIONS},
		[SEG_LANE_RING] = {sizeof(struct seg_event), ring},
		[SEG_LANE_LEDGER] = {sizeof(struct seg_ledger), SEG_MAX_LEDGER},
		[SEG_LANE_WAITED] = {sizeof(uint32_t), SEG_MAX_WAITED},
	};

	return lay_out(tables, layout, SEG_LANE_NUM_TABLES, PAGE);
}

/* Between a lane's tables and its trace. */
enum { NOTE_BYTES = SEG_NOTE_WORDS * sizeof(uint32_t) };

/* Lay out header and lanes; returns the size of header and tables in bytes. */
static uint64_t fill_layout(struct seg_header *h, uint32_t ring, uint64_t trace)
{
	struct seg_table of_lane[SEG_LANE_NUM_TABLES];

	h->lane_offset = round_up(
		lay_out(h->tables, header_layout, SEG_NUM_TABLES, SEG_HEADER_SIZE), BIG_PAGE);
	h->lane_size = round_up(lay_out_lane(of_lane, ring) + NOTE_BYTES + round_up(trace, PAGE),
				BIG_PAGE);
	return h->lane_offset;
}

static uint64_t tables_size(void)
{
	struct seg_header h = {0};

	return fill_layout(&h, 0, 0);
}

/* String 0 is "", site 0 is "start". */
static bool first_entries(struct writer *w)
{
	uint32_t index;

	writer_string(w, "");
	uint32_t name = writer_string(w, "start");
	struct seg_site *site = writer_next(w, SEG_TABLE_SITES, 1, &index);
	if (!name || !site)
		return false;
	*site = (struct seg_site){.frame = SEG_NO_FRAME, .name = name};
	writer_publish(w, SEG_TABLE_SITES, 1);
	return true;
}

static void fill_clock(struct seg_header *h)
{
	h->clock = ticks_clock;
	h->start_ticks = ticks_now();
	h->start_mono_ns = ticks_ns(CLOCK_MONOTONIC);
	h->start_real_ns = ticks_ns(CLOCK_REALTIME);
	atomic_init(&h->later_ticks, h->start_ticks);
	atomic_init(&h->later_mono_ns, h->start_mono_ns);
}

/* The header's page first, then the mapping: only pages that exist are ever written. */
static int map_file(struct writer *w, int fd)
{
	struct stat st;
	uint64_t size = tables_size();

	if (!within_limit(size)) {
		errno = EFBIG;
		return -1;
	}
	if (fstat(fd, &st) != 0 || ftruncate(fd, size) != 0)
		return -1;
	errno = allocate(fd, 0, SEG_HEADER_SIZE);
	if (errno)
		return -1;
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	w->header = map;
	w->mapped = size;
	w->device = st.st_dev;
	w->inode = st.st_ino;
	return 0;
}

int writer_create(struct writer *w, const char *dir, const struct writer_identity *identity,
		  uint32_t ring, uint64_t trace, char *why, size_t why_size)
{
	*w = (struct writer){.ring = ring, .trace = trace};
	int fd = -1;
	if (make_path(w, dir, identity) == 0)
		fd = open_new(w->path);
	if (fd < 0) {
		snprintf(why, why_size, "cannot create %s: %s", w->path, strerror(errno));
		return -1;
	}
	if (map_file(w, fd) != 0)
		goto fail;
	struct seg_header *h = w->header;
	h->version = PDB_SEGMENT_VERSION;
	h->header_size = SEG_HEADER_SIZE;
	h->byte_order = PDB_SEGMENT_BYTE_ORDER;
	h->features = trace ? SEG_FEATURE_TRACE : 0;
	h->file_size = fill_layout(h, ring, trace);
	fill_identity(h, identity);
	fill_clock(h);
	if (!first_entries(w)) {
		errno = ENOSPC;
		goto fail;
	}
	/* Magic last: a file without it is not there yet. */
	atomic_thread_fence(memory_order_release);
	memcpy(h->magic, PDB_SEGMENT_MAGIC, sizeof(h->magic));
	close(fd);
	return 0;
fail:
	snprintf(why, why_size, "no room for %s: %s", w->path, strerror(errno));
	close(fd);
	unlink(w->path);
	if (w->header)
		munmap(w->header, w->mapped);
	w->header = NULL;
	return -1;
}

/* ---- Lanes ---- */

static uint64_t lane_base(const struct writer *w, uint32_t index)
{
	return w->header->lane_offset + index * w->header->lane_size;
}

struct seg_lane *writer_lane(struct writer *w, uint32_t index)
{
	struct seg_header *h = w->header;
	uint64_t base = lane_base(w, index);

	if (index >= SEG_MAX_LANES || !within_limit(base + h->lane_size))
		return NULL;
	int fd = reopen(w);
	if (fd < 0)
		return NULL;
	struct seg_lane *lane = MAP_FAILED;
	if (ftruncate(fd, base + h->lane_size) == 0 && allocate(fd, base, PAGE) == 0)
		lane = mmap(NULL, h->lane_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, base);
	close(fd);
	if (lane == MAP_FAILED)
		return NULL;
	h->file_size = base + h->lane_size;
	w->note_offset = lay_out_lane(lane->tables, w->ring);
	uint64_t end = w->note_offset + NOTE_BYTES;
	lane->trace_size = w->trace;
	atomic_store_explicit(&lane->trace_offset, w->trace ? end : 0, memory_order_release);
	if (!writer_lane_reserve(w, lane, index, SEG_LANE_RING, w->ring) ||
	    !writer_lane_reserve(w, lane, index, SEG_LANE_STATES, 2) ||
	    !writer_lane_reserve(w, lane, index, SEG_LANE_TRANSITIONS, 1)) {
		munmap(lane, h->lane_size);
		return NULL;
	}
	return lane;
}

bool writer_lane_reserve(struct writer *w, struct seg_lane *lane, uint32_t index,
			 enum seg_lane_id table, uint32_t entries)
{
	return reserve(w, &lane->tables[table], lane_base(w, index), entries);
}

bool writer_lane_allocate(struct writer *w, uint32_t index, uint64_t offset, uint64_t length)
{
	int fd = w->exhausted ? -1 : reopen(w);

	if (fd < 0)
		return false;
	int error = allocate(fd, lane_base(w, index) + offset, length);
	close(fd);
	return error == 0;
}

void writer_remove(struct writer *w)
{
	struct stat st;

	if (lstat(w->path, &st) == 0 && st.st_dev == w->device && st.st_ino == w->inode)
		unlink(w->path);
}
