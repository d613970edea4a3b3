/* SPDX-License-Identifier: BSD-3-Clause
 * The model segment: the one file format that the recorder (writer) and pdb (reader) share.
 * This header is all that the recorder sees of pdb. docs/segment-format.md tells the same in
 * words, well enough to write another reader.
 *
 * A segment is a sparse file in PDB_SEGMENT_DIR, mode 0600, made by one rank:
 *
 *	+--------------------+ 0
 *	| struct seg_header  | one page: whose it is, clock, table descriptors
 *	+--------------------+ tables[t].offset
 *	| strings            | bytes; names of functions, modules' paths
 *	| modules            | struct seg_module
 *	| frames             | struct seg_frame: a prefix tree of call paths
 *	| sites              | struct seg_site: one (call path, MPI function)
 *	+--------------------+ lane_offset
 *	| lane 0             | struct seg_lane, then its own tables
 *	| lane 1 ...         | one for each thread that calls MPI; lane_size bytes each
 *	+--------------------+
 *
 * Rules:
 *  - Fixed-width fields in the writer's byte order; offsets and indexes, never pointers.
 *  - One writer. The tables of the header are appended to by any thread under the writer's own
 *    lock; a lane is written only by the thread that holds it.
 *  - Tables are append-only: an entry is filled first, then `count` is stored with release; a
 *    reader loads `count` with acquire and looks at no entry at or above it.
 *  - The words of a lane that must agree (struct seg_current) are guarded by a sequence lock.
 *  - The file has its full size from the start but only the parts that hold entries have pages
 *    (`allocated` bytes of each table, by posix_fallocate), so that a full tmpfs is an error the
 *    writer sees and never a SIGBUS. Readers use pread, never mmap. */
#ifndef PDB_MODEL_SEGMENT_H
#define PDB_MODEL_SEGMENT_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

/* ---- Environment variables, each named here and nowhere else ------------------------------ */

#define PDB_ENV_RECORD "PDB_RECORD"   /* 0: the recorder stays out of this process */
#define PDB_ENV_DIR "PDB_SEGMENT_DIR" /* directory of segments in place of /dev/shm */
#define PDB_ENV_RING "PDB_RING"	      /* entries of the ring, a power of two, 64 to 1048576 */
#define PDB_ENV_CHAIN "PDB_CHAIN"     /* pmpi: call PMPI_X in place of the next library's MPI_X */
#define PDB_ENV_PTRACER "PDB_PTRACER" /* 0: do not let other processes of the user trace this one */
#define PDB_ENV_QUIET "PDB_QUIET"     /* 1: no line on stderr when recording is not possible */
/* pdb's own: where its recorders are, when not beside the program or in PREFIX/lib/pdb. */
#define PDB_ENV_LIBDIR "PDB_LIBDIR"

#define PDB_DEFAULT_SEGMENT_DIR "/dev/shm"

/* ---- Name of the file --------------------------------------------------------------------
 * PREFIX JOB "." RANK "." PID, for example pdb.prterun-login1-4019@1.3.4031 . JOB is the launcher's
 * name of the job with every byte outside [A-Za-z0-9@_-] replaced by '_' and at most 100 bytes of
 * it; PID is the writer's, in its own pid namespace. Readers go by the suffix .PID and then check
 * owner, mode, pid and start time in the header. */
#define PDB_SEGMENT_PREFIX "pdb."

/* ---- Header -------------------------------------------------------------------------------- */

#define PDB_SEGMENT_MAGIC "PDBSEG\r\n" /* 8 bytes, no terminating zero */
#define PDB_SEGMENT_VERSION 1
#define PDB_SEGMENT_BYTE_ORDER 0x01020304u

enum seg_limits {
	SEG_HEADER_SIZE = 4096,
	SEG_MAX_STRINGS = 4 << 20, /* bytes */
	SEG_MAX_MODULES = 4096,
	SEG_MAX_FRAMES = 1 << 18,
	SEG_MAX_SITES = 1 << 15, /* so at most 65,536 states */
	SEG_MAX_TRANSITIONS = 1 << 17,
	SEG_MAX_LANES = 4096,
	SEG_MIN_RING = 64,
	SEG_DEFAULT_RING = 8192,
	SEG_MAX_RING = 1 << 20,
};

/* What the rank is in, by its own account. */
enum seg_life {
	SEG_LIFE_STARTING = 1, /* in MPI_Init */
	SEG_LIFE_RUNNING = 2,
	SEG_LIFE_FINALIZING = 3, /* in MPI_Finalize */
	SEG_LIFE_FINALIZED = 4,	 /* the file is about to be unlinked */
	SEG_LIFE_ABORTED = 5,	 /* called MPI_Abort */
	SEG_LIFE_STOPPED = 6,	 /* runs on, but recording ended for want of space: the past only */
};

enum seg_clock {
	SEG_CLOCK_MONOTONIC = 1, /* ticks are ns of CLOCK_MONOTONIC */
	SEG_CLOCK_TSC = 2,	 /* ticks of the x86 time stamp counter (invariant) */
	SEG_CLOCK_CNTVCT = 3,	 /* ticks of AArch64's virtual counter */
};

enum seg_table_id {
	SEG_TABLE_STRINGS,
	SEG_TABLE_MODULES,
	SEG_TABLE_FRAMES,
	SEG_TABLE_SITES,
	SEG_NUM_TABLES
};

/* An append-only table. */
struct seg_table {
	uint64_t offset;	 /* of entry 0, from the start of the file (of the lane, in a lane) */
	uint32_t entry_size;	 /* bytes; readers step by it, so that entries may grow at their end */
	uint32_t capacity;	 /* entries */
	_Atomic uint32_t count;	 /* entries published; release by the writer, acquire by readers */
	_Atomic uint32_t dropped; /* entries lost: table full or no space */
	uint64_t allocated;	 /* bytes that have pages; the writer's own affair */
};
static_assert(sizeof(struct seg_table) == 32, "layout");

struct seg_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size; /* SEG_HEADER_SIZE */
	uint32_t byte_order;  /* PDB_SEGMENT_BYTE_ORDER as the writer stores it */
	uint32_t features;    /* bits for later additions; readers ignore unknown ones */
	uint64_t file_size;   /* of the sparse file as of now */

	int32_t pid;	     /* in the writer's pid namespace */
	int32_t rank;	     /* -1 until known */
	int32_t size;	     /* of MPI_COMM_WORLD; 0 until known */
	uint32_t uid;	     /* effective user */
	uint64_t pid_start;  /* field 22 of /proc/self/stat: guards against reused pids */
	_Atomic uint32_t life; /* enum seg_life */
	int32_t thread_level; /* what MPI_Init_thread provided; -1 until known */
	char host[64];	     /* zero-terminated, as the next three */
	char job[256];	     /* the launcher's name of the job, not shortened */
	char mpi_library[64]; /* first words of MPI_Get_library_version */
	char executable[256]; /* /proc/self/exe, its end when longer */

	/* One moment in three clocks, taken at start. A reader on the same host takes the pair
	 * (ticks, CLOCK_MONOTONIC) again, which gives the rate over the whole time in between. */
	uint32_t clock; /* enum seg_clock */
	uint32_t reserved0;
	uint64_t start_ticks;
	uint64_t start_mono_ns;
	uint64_t start_real_ns; /* CLOCK_REALTIME */
	/* A second moment, stored again at each slow path: a rate for readers elsewhere. */
	_Atomic uint64_t later_ticks;
	_Atomic uint64_t later_mono_ns;

	struct seg_table tables[SEG_NUM_TABLES];

	uint64_t lane_offset;
	uint64_t lane_size;
	_Atomic uint32_t num_lanes; /* release by the writer, acquire by readers */
	_Atomic uint32_t dropped_lanes; /* threads that got no lane and are not recorded */
	_Atomic uint64_t full_unwinds; /* slow paths taken: the cost side of `info overhead` */
	_Atomic uint64_t abandoned; /* MPI calls left by longjmp or an exception */
};
static_assert(sizeof(struct seg_header) <= SEG_HEADER_SIZE, "the header is one page");

/* ---- Entries of the header's tables -------------------------------------------------------- */

/* A loaded object: its frames' offsets are ELF virtual addresses (address minus load bias), so
 * they are equal in all ranks whatever the load addresses. */
struct seg_module {
	uint32_t path;	       /* offset into strings, zero-terminated there */
	uint8_t build_id_size; /* 0 where it has none */
	uint8_t build_id[32];
	uint8_t reserved[3];
};
static_assert(sizeof(struct seg_module) == 40, "layout");

#define SEG_NO_FRAME UINT32_MAX

/* A node of the prefix tree of call paths. The path of a node is its parent's path and then its
 * own return address; the root side is main's caller. */
struct seg_frame {
	uint32_t parent; /* index below this one, or SEG_NO_FRAME: outermost frame */
	uint32_t module; /* index into modules, or SEG_NO_FRAME: code in no module (JIT) */
	uint64_t offset; /* return address minus the module's load bias (absolute without module) */
};
/* Offset of a frame without module that stands for frames left out of a very deep stack. */
#define SEG_ELIDED 0
static_assert(sizeof(struct seg_frame) == 16, "layout");

/* What an MPI function does, as far as the analyses care. Stored in the segment: append only. */
enum seg_class {
	SEG_CLASS_OTHER = 0,
	SEG_CLASS_INIT,
	SEG_CLASS_FINALIZE,
	SEG_CLASS_SEND,	      /* blocking sends of all modes */
	SEG_CLASS_RECV,	      /* blocking receives, matched receives */
	SEG_CLASS_SENDRECV,
	SEG_CLASS_PROBE,      /* blocking probes */
	SEG_CLASS_POLL,	      /* Test family, Iprobe, Improbe, Request_get_status */
	SEG_CLASS_WAIT,	      /* Wait family */
	SEG_CLASS_START,      /* non-blocking p2p, Start, Pready: returns at once */
	SEG_CLASS_COLLECTIVE, /* blocking, Barrier and neighbourhood included */
	SEG_CLASS_ICOLLECTIVE,
	SEG_CLASS_COMM,	      /* creates or frees communicators, windows, files: collective */
	SEG_CLASS_RMA,	      /* one-sided transfers */
	SEG_CLASS_RMA_SYNC,   /* fence, lock, post-start-complete-wait, flush */
	SEG_CLASS_FILE,	      /* independent file access */
	SEG_CLASS_FILE_COLLECTIVE,
	SEG_CLASS_SPAWN,      /* spawn, connect, accept */
	SEG_CLASS_ABORT,
};

enum seg_language { SEG_LANGUAGE_C = 0, SEG_LANGUAGE_FORTRAN = 1 };

/* A call site with its call path. Site s stands for two states: 2*s is its enter state (inside
 * the call, communicating), 2*s+1 its exit state (returned, computing until the next call).
 * Site 0 always exists, has frame SEG_NO_FRAME and the name "start": a lane begins in state 1. */
struct seg_site {
	uint32_t frame;	   /* innermost frame: the return address of the MPI call */
	uint32_t name;	   /* offset into strings: "MPI_Send", also when called from Fortran */
	uint16_t class_id; /* enum seg_class */
	uint16_t language; /* enum seg_language */
	uint32_t reserved;
};
static_assert(sizeof(struct seg_site) == 16, "layout");

#define SEG_STATE_ENTER(site) ((uint32_t)(site) * 2)
#define SEG_STATE_EXIT(site) ((uint32_t)(site) * 2 + 1)
#define SEG_STATE_SITE(state) ((uint32_t)(state) / 2)
#define SEG_STATE_IS_EXIT(state) ((uint32_t)(state) & 1)

/* ---- Lanes ----------------------------------------------------------------------------------- */

enum seg_lane_id { SEG_LANE_STATES, SEG_LANE_TRANSITIONS, SEG_LANE_RING, SEG_LANE_NUM_TABLES };

enum seg_lane_use { SEG_LANE_FREE = 0, SEG_LANE_ACTIVE = 1, SEG_LANE_ENDED = 2 };

/* What must agree. Writer: seq odd, release fence, relaxed stores, seq even with release. Reader:
 * acquire load of seq (retry while odd), relaxed loads, acquire fence, seq unchanged (after Boehm,
 * "Can seqlocks get along with programming language memory models?", MSPC 2012). */
struct seg_current {
	_Atomic uint32_t seq;
	_Atomic uint32_t state;
	_Atomic uint64_t since;	 /* ticks when `state` was entered */
	_Atomic uint64_t events; /* transitions made so far; the ring's next slot is events % size */
	/* Polling since `state` was entered: a poll that fails is counted and is no transition. */
	_Atomic uint32_t poll_site; /* of the last poll, failed or in progress; 0: none */
	_Atomic uint32_t in_poll;   /* 1 while inside a poll whose outcome is not known yet */
	_Atomic uint64_t polls;	    /* failed polls since `state` was entered */
	_Atomic uint64_t poll_ticks; /* when the last poll was entered */
};

/* Operation in progress: reserved for the evidence of who waits for whom. */
struct seg_operation {
	uint8_t reserved[192];
};

struct seg_lane {
	_Atomic uint32_t use; /* enum seg_lane_use */
	int32_t tid;	      /* gettid() of the thread that holds or last held the lane */
	uint32_t is_main;     /* 1: the thread whose tid is the pid */
	uint32_t reserved0;
	uint64_t first_ticks; /* when the lane was taken */
	uint8_t reserved1[40];
	struct seg_current current; /* starts on a cache line of its own */
	uint8_t reserved2[16];
	/* Offsets are from the start of the lane. STATES has no count of its own: entry i belongs to
	 * state i and is meaningful for i < 2 * number of sites; a page without storage reads as
	 * zeros. RING is circular: entry e % capacity for the last `capacity` events. */
	struct seg_table tables[SEG_LANE_NUM_TABLES];
	struct seg_operation operation;
};
static_assert(sizeof(struct seg_current) == 48, "layout");
static_assert(sizeof(struct seg_lane) <= 512, "layout");

/* Statistics of a state in this lane. */
struct seg_state {
	_Atomic uint64_t longest; /* ticks of the longest completed stay */
	_Atomic uint64_t polls;	  /* on an enter state of a poll site: failed polls ever */
};
static_assert(sizeof(struct seg_state) == 16, "layout");

struct seg_transition {
	uint32_t from, to;	/* states */
	_Atomic uint64_t count; /* relaxed; monotonic */
};
static_assert(sizeof(struct seg_transition) == 16, "layout");

/* A transition made: into `state` at `ticks`. */
struct seg_event {
	_Atomic uint64_t ticks;
	_Atomic uint32_t state;
	uint32_t reserved;
};
static_assert(sizeof(struct seg_event) == 16, "layout");

#endif
