/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the files of the reader: segment_open.c finds a segment, segment_copy.c reads and
 * bounds it, segment_read_*.c copy the parts, segment_reader.c the whole. */
#pragma once

#include "model/clean_text.h"
#include "model/segment/segment.h"

struct stat;

/* A live process, as far as its segment has to agree with it. */
struct segment_owner {
	uid_t uid;      /* effective */
	pid_t own_pid;  /* in its own pid namespace */
	uint64_t start; /* field 22 of /proc/PID/stat */
	char state;
};

/* ERROR_GONE: there is no such process, or only a zombie is left of it. */
int segment_find_owner(pid_t pid, struct segment_owner *owner, struct pdb_error *err);
/* An fd of the directory of segments of the live process, as that sees it. */
int segment_open_dir(pid_t pid, struct pdb_error *err);
/* Open a file that only its owner, `uid` or root, can have written. */
int segment_open_checked(int dir, const char *name, uid_t uid, struct stat *st,
			 struct pdb_error *err);

/* Read `size` bytes at `offset` or fail: a short read is ERROR_FORMAT ("truncated"). */
int segment_pread(int fd, void *buffer, size_t size, uint64_t offset, struct pdb_error *err);
/* Read the header and check what does not change. Its texts are terminated and clean_text(). */
int segment_read_header(int fd, struct seg_header *header, struct pdb_error *err);

/* Ticks of the segment's clock to ns of CLOCK_MONOTONIC. */
struct segment_clock {
	uint64_t now_ticks, now_ns; /* one moment in both; no time that comes out is after it */
	uint64_t ns_per_tick;       /* times 2^40 */
	uint64_t now_real_ns;
};

/* For "now". last_ticks: the latest event, the end of time where another host, or this one before a
 * reboot, has written the segment. */
void segment_clock_init(struct segment_clock *clock, const struct seg_header *header,
			uint64_t last_ticks);
uint64_t segment_clock_time(const struct segment_clock *clock, uint64_t ticks);
uint64_t segment_clock_duration(const struct segment_clock *clock, uint64_t ticks);

/* ---- Copies ----
 * Each part is copied as it is while the rank runs, and finished when all that it may refer to has
 * been copied too. So the order of the copies is that of references, backwards: lanes, requests,
 * comms, members, sites, frames, modules, strings. */

enum {
	READER_LANE_ATTEMPTS = 5,   /* to copy a lane while it stands still */
	READER_LOCK_ATTEMPTS = 200, /* to get a sequence lock, */
	READER_LOCK_NAPS = 20,      /* and then more, a millisecond apart */
};

/* What a lane holds besides its model_lane while that still has ticks in place of times. */
struct raw_lane {
	struct seg_lane head;
	struct arena *arena; /* of the tables, but `waited` */
	struct seg_current current;
	struct seg_state *states;
	size_t num_states;
	struct seg_operation operation;
	bool has_operation; /* it could be copied whole */
	uint32_t *waited;
	size_t num_waited;
	struct seg_ledger *ledger;
	size_t num_ledger;
	uint32_t *notes; /* [head.note_words], of the arena; NULL: none */
	uint64_t note_end;
};

struct reader {
	int fd;
	uint64_t file_size;
	uint64_t budget;     /* bytes left */
	struct arena *arena; /* of what is there while a whole segment is read */
	int retries;         /* of sequence locks, left; and naps of a millisecond between them */
	int naps;
	struct seg_header header;
	struct model *model;
	struct raw_lane *raw; /* [model->num_lanes] */
	struct seg_request *requests;
	struct seg_comm *comms;
	size_t num_requests, num_comms;
	bool *has_request, *has_comm; /* they could be copied whole */
	struct pdb_error *err;
};

/* ---- segment_copy.c: all return -1 and r->err on failure ---- */

/* By the header, read before: the number of lanes, all inside the file, whose size is taken now
 * (both only grow, the size first). Sets the budget. */
int reader_begin(struct reader *r, size_t *num_ret);
/* Charge the budget of this segment. */
int reader_spend(struct reader *r, uint64_t bytes);
/* "the segment is corrupt: TEXT"; of an entry "WHAT INDEX". -1. */
#define READER_CORRUPT(r, ...)                                                                     \
	error_set((r)->err, ERROR_FORMAT, "the segment is corrupt: " __VA_ARGS__)
int reader_bad_entry(struct reader *r, const char *what, size_t index);

/* Do `count` entries of a lane's table lie within the lane? */
int reader_check_lane_table(struct reader *r, const struct seg_lane *head, enum seg_lane_id id,
			    uint64_t count);
/* Copy entries [first, first + count) of a checked table of the lane at `base` of the file. */
int reader_copy_lane_entries(struct reader *r, uint64_t base, const struct seg_lane *head,
			     enum seg_lane_id id, uint64_t first, uint64_t count, void *to);

/* The first entries of a lane's table, checked and charged; NULL on failure. */
void *reader_copy_lane_table(struct reader *r, uint64_t base, struct raw_lane *raw,
			     enum seg_lane_id id, uint64_t count);

/* Take the descriptor of a table of the header again: its count covers what was copied before. */
int reader_take_count(struct reader *r, enum seg_table_id id);
/* All entries of a table of the header and a zero entry; NULL on failure. The array is the
 * caller's, or of the reader's arena. */
void *reader_copy_table(struct reader *r, enum seg_table_id id, size_t *num_ret);
void *reader_keep_table(struct reader *r, enum seg_table_id id, size_t *num_ret);
/* The same of one whose entries are under locks. *is_whole_ret: whether each lock could be had. */
void *reader_copy_locked(struct reader *r, enum seg_table_id id, size_t *num_ret,
			 bool **is_whole_ret);
/* One entry, which is never changed once something refers to it. */
int reader_copy_entry(struct reader *r, enum seg_table_id id, uint32_t index, void *to);

/* Bytes of the file that agree while a sequence lock among them is not taken. */
struct reader_locked {
	uint64_t at;
	size_t size, seq_at; /* the lock, in these bytes */
	void *to;
	/* What else is under the lock, copied behind the bytes; NULL: nothing. */
	int (*more)(struct reader *r, void *of);
	void *of;
};
/* Copy them until they agree, a bounded number of times, or as they are: the writer may have died
 * or been stopped in the midst of it. */
int reader_copy_under_lock(struct reader *r, const struct reader_locked *what, bool *is_whole);

/* ---- Parts ---- */

uint64_t reader_lane_base(const struct reader *r, size_t lane);
/* Take what a lane is doing; *is_whole: the sequence lock could be had. */
int reader_read_current(struct reader *r, uint64_t base, struct seg_current *ret, bool *is_whole);
int reader_read_lane(struct reader *r, size_t number);
/* Ticks to times; all tables have been read. */
int reader_finish_lane(struct reader *r, size_t number, const struct segment_clock *clock);

/* A lane's trace: after the lane, before the tables; and behind these, to check what it names. */
void reader_read_trace(struct reader *r, size_t number);
void reader_finish_trace(struct reader *r, size_t number);

/* A lane's notes, as part of its copy: raw->head is there; and into the model, behind its comms. */
int reader_read_notes(struct reader *r, uint64_t base, struct raw_lane *raw);
int reader_finish_notes(struct reader *r, size_t number);

int reader_read_tables(struct reader *r);

/* Of one lane, as part of its copy: raw->head and raw->current are there. */
int reader_read_lane_evidence(struct reader *r, uint64_t base, struct raw_lane *raw);
/* Requests and comms as they are; after the lanes, before the tables. */
int reader_read_evidence(struct reader *r);
/* Members, comms, requests and the lanes' operations and ledgers into the model. */
int reader_finish_evidence(struct reader *r, const struct segment_clock *clock);
