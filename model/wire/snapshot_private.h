/* SPDX-License-Identifier: BSD-3-Clause
 * The snapshot format, for its writer and its reader. docs/snapshot-format.md tells it in words. */
#ifndef PDB_MODEL_SNAPSHOT_PRIVATE_H
#define PDB_MODEL_SNAPSHOT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zstd.h>

struct buffer;
struct job_model;
struct model;
struct model_lane;
struct pdb_error;

#define SNAPSHOT_MAGIC "PDBSNAP\n" /* 8 bytes, then the version */
#define SNAPSHOT_VERSION 5
/* Read, too: its message queues do not tell how many receives were posted. */
#define SNAPSHOT_OLDEST_VERSION 3

/* Sections stand in this order, except that STRINGS and LISTS come before whatever uses them first,
 * and a SHAPE before its first MODEL. Stored in files: append only. */
enum snapshot_section {
	SNAPSHOT_STRINGS = 1, /* adds to the table of strings */
	SNAPSHOT_JOB,
	SNAPSHOT_PROCTABLE,
	SNAPSHOT_MODULES,
	SNAPSHOT_CALLPATHS,
	SNAPSHOT_NAMES,
	SNAPSHOT_SHAPE, /* tables that models share */
	SNAPSHOT_MODEL, /* one rank */
	SNAPSHOT_LOOKS, /* the second look at the lanes */
	SNAPSHOT_SAMPLES,
	SNAPSHOT_HOLES,
	SNAPSHOT_END,
	SNAPSHOT_LISTS,   /* adds to the table of lists of ranks, which communicators share */
	SNAPSHOT_CRASHES, /* only where there are some; before END */
	SNAPSHOT_CODE,    /* the same; behind CRASHES */
	SNAPSHOT_TRACES,  /* the same; behind CODE */
	SNAPSHOT_QUEUES,  /* the same; behind TRACES */
};

enum snapshot_lane_flags {
	SNAPSHOT_LANE_MAIN = 1,
	SNAPSHOT_LANE_ENDED = 2,
	SNAPSHOT_LANE_CONSISTENT = 4,
	SNAPSHOT_LANE_IN_POLL = 8,
};

enum snapshot_crash_flags {
	SNAPSHOT_CRASH_FAULT = 1,
	SNAPSHOT_CRASH_SENT = 2,
	SNAPSHOT_CRASH_ADDRESS = 4,
};

enum snapshot_look_flags {
	SNAPSHOT_LOOK_TAKEN = 1,
	SNAPSHOT_LOOK_MOVED = 2,
	SNAPSHOT_LOOK_POLLED = 4,
};

enum {
	SNAPSHOT_HEADER_SIZE = 12,        /* magic, version */
	SNAPSHOT_SECTION_HEADER_SIZE = 9, /* id (1 byte), size (8 bytes, little endian) */
	SNAPSHOT_MAX_RANKS = 16 << 20,
	/* Ring entries of all lanes together; the writer keeps the latest of each lane. */
	SNAPSHOT_MAX_RING_TOTAL = 64 << 20,
	/* Bytes of all traces together; the writer leaves out those beyond, and says so. */
	SNAPSHOT_MAX_TRACES = 512 << 20,
	/* Bytes of all message queues together; the writer leaves out those beyond. */
	SNAPSHOT_MAX_QUEUES = 512 << 20,
};

#define SNAPSHOT_MAX_SECTION ((uint64_t)1 << 30)

/* In place of a list of ranks: SEG_NO_MEMBERS, SEG_ALL_MEMBERS; list number n is n + 1. */
enum snapshot_list_id { SNAPSHOT_LIST_NONE = 0, SNAPSHOT_LIST_ALL = 1 };

/* A list of ranks of a snapshot being read. */
struct snapshot_list {
	int32_t *ranks;
	size_t num;
	const struct model *used_by; /* the last model that has a copy, at `first` of its members */
	uint32_t first;
};

/* A snapshot being read: the decompressed stream, and the section that is at hand. */
struct snapshot_input {
	struct pdb_error *err; /* not NULL */
	int fd;
	ZSTD_DStream *zstd;
	ZSTD_inBuffer in;
	char *chunk; /* of the file, compressed */
	bool at_end; /* of the zstd frame */
	/* Of the budget: still allowed to come out, and to be allocated. */
	uint64_t bytes, memory;

	/* The section. Reading past its end, or a value out of range, makes it bad; what is taken
	 * then is 0. */
	uint8_t *section;
	size_t section_capacity;
	const uint8_t *at, *end;
	bool is_bad;
	bool is_too_much; /* bad, because the budget does not suffice */

	char **strings; /* number 1 is strings[0] */
	size_t num_strings, strings_capacity;
	struct snapshot_list *lists; /* number 1 is lists[0] */
	size_t num_lists, lists_capacity;
};

/* 0, or -1 and *err: only ZSTD's own memory is allocated. size: of the file. */
int input_init(struct snapshot_input *in, int fd, uint64_t size, struct pdb_error *err);
void input_deinit(struct snapshot_input *in);

/* Decompress just `size` bytes. */
int input_read(struct snapshot_input *in, void *to, size_t size);
/* Fails unless the compressed frame, its checksum and the file end here. */
int input_expect_end(struct snapshot_input *in);
/* Read the next section whole. */
int input_next_section(struct snapshot_input *in, int *id_ret);

uint64_t input_take(struct snapshot_input *in);
/* A value of at most `most`. */
uint64_t input_take_below(struct snapshot_input *in, uint64_t most);
int64_t input_take_signed(struct snapshot_input *in, int64_t least, int64_t most);
int input_take_int(struct snapshot_input *in);
/* An index below `num`, or UINT32_MAX. */
uint32_t input_take_index(struct snapshot_input *in, uint64_t num);
/* A number of elements that take `bytes_each` or more of what is left of the section. */
size_t input_take_count(struct snapshot_input *in, uint64_t most, size_t bytes_each);
/* Borrowed, in the section; NULL if there are not so many. */
const uint8_t *input_take_bytes(struct snapshot_input *in, size_t num);
/* Borrowed until input_deinit(); NULL where the writer had none. */
const char *input_take_string(struct snapshot_input *in);
/* The same, "" for none. */
const char *input_take_text(struct snapshot_input *in);
/* A text that stands where it is used, its length first; control characters are replaced. Never
 * NULL; the caller frees. */
char *input_copy_text(struct snapshot_input *in);
/* Add the strings of a STRINGS section to the table. */
void input_take_strings(struct snapshot_input *in);
/* Add the lists of a LISTS section to the table. */
void input_take_lists(struct snapshot_input *in);

/* What to say of a section that is bad, behind its name: "is corrupt", or that it is too much. */
const char *input_why_bad(const struct snapshot_input *in);

/* Charge what is going to be allocated; makes the section bad when it is too much, or when all is
 * to end. */
bool input_charge(struct snapshot_input *in, size_t num, size_t size);
/* Charged and zeroed; never NULL, but empty when the section is bad. */
void *input_allocate(struct snapshot_input *in, size_t num, size_t size);

/* snapshot_load_evidence.c: communicators and requests, after the tables of the shape; and what a
 * lane holds of evidence. Checked later, by model_validate(). */
void snapshot_load_evidence(struct snapshot_input *in, struct model *model);
void snapshot_load_lane_evidence(struct snapshot_input *in, struct model_lane *lane);

/* snapshot_traces.c: what a TRACES section holds. False, and nothing: no lane has a trace, or jm is
 * NULL. */
bool snapshot_put_traces(struct buffer *b, const struct job_model *jm);
/* Into the lanes of jm, which has been finished (NULL: bad). */
void snapshot_take_traces(struct snapshot_input *in, struct job_model *jm);

#endif
