/* SPDX-License-Identifier: BSD-3-Clause
 * The model segment: the one file format that the recorder (writer) and pdb (reader) share. The
 * recorder includes no other header of pdb's about it. docs/segment-format.md describes the same.
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
 *	| comms              | struct seg_comm: communicators, windows, files
 *	| members            | int32_t: ranks that the comms refer to
 *	| requests           | struct seg_request: slots, used again
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
 *  - Words that must agree (struct seg_current and others with a `seq`) are guarded by a sequence
 *    lock. Slots of requests are used again, and so are entries of comms, freed long before.
 *  - The file has its full size from the start, but only parts that hold entries have pages
 *    (`allocated` of each table, by posix_fallocate), so that a full tmpfs is an error for the
 *    writer and never a SIGBUS. Readers use pread, never mmap. */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

/* ---- Environment variables, each named here and nowhere else ---- */

#define PDB_ENV_RECORD "PDB_RECORD"   /* 0: the recorder stays out of this process */
#define PDB_ENV_DIR "PDB_SEGMENT_DIR" /* directory of segments in place of /dev/shm */
#define PDB_ENV_RING "PDB_RING"       /* entries of the ring, a power of two, 64 to 1048576 */
#define PDB_ENV_CHAIN "PDB_CHAIN"     /* pmpi: call PMPI_X in place of the next library's MPI_X */
#define PDB_ENV_PTRACER "PDB_PTRACER" /* 0: do not let the user's other processes trace this one */
#define PDB_ENV_QUIET "PDB_QUIET"     /* 1: no line on stderr when recording is not possible */
#define PDB_ENV_TRACE "PDB_TRACE"     /* SIZE[,BODY]: traces in arenas of SIZE bytes; 0: none */
#define PDB_ENV_TRACE_FILTER "PDB_TRACE_FILTER" /* what is not traced, see docs/traces.md */
/* PID@HOST of a pdb that takes traced ranks' segments: they outlive MPI_Finalize while it lives. */
#define PDB_ENV_KEEPER "PDB_KEEPER"
/* pdb's own: where its recorders are, when not beside the program or in PREFIX/lib/pdb. */
#define PDB_ENV_LIBDIR "PDB_LIBDIR"

#define PDB_DEFAULT_SEGMENT_DIR "/dev/shm"

/* ---- Name of the file ----
 * PREFIX JOB "." RANK "." PID, for example pdb.prterun-login1-4019@1.3.4031 . JOB is the launcher's
 * name of the job with every byte outside [A-Za-z0-9@_-] replaced by '_' and at most 100 bytes of
 * it; PID is the writer's, in its own pid namespace. Readers go by the suffix .PID and then check
 * owner, mode, pid and start time in the header. */
#define PDB_SEGMENT_PREFIX "pdb."

/* ---- Header ---- */

#define PDB_SEGMENT_MAGIC "PDBSEG\r\n" /* 8 bytes, no terminating zero */
#define PDB_SEGMENT_VERSION 3
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
	SEG_MAX_COMMS = 1 << 14,
	SEG_MAX_MEMBERS = 1 << 22,
	SEG_MAX_REQUESTS = 1 << 16,
	SEG_MAX_LEDGER = 1 << 14, /* rows of a lane */
	SEG_MAX_WAITED = 1 << 16, /* requests that one call waits for */
	SEG_RECENT = 8,           /* collectives of a communicator that are remembered */
	SEG_NOTE_WORDS = 1 << 13, /* 32-bit words of the ring of a lane's notes */
	SEG_MAX_NOTED = 4000,     /* entries of a note: all of it is at most half of the ring */
	SEG_DEFAULT_TRACE = 1 << 20,
	SEG_MAX_TRACE = 1 << 28, /* bytes of a lane's arena */
};

/* Bits of the header's features. */
enum seg_features {
	SEG_FEATURE_TRACE = 1, /* lanes have traces */
};

/* What the rank is in, by its own account. */
enum seg_life {
	SEG_LIFE_STARTING = 1, /* in MPI_Init */
	SEG_LIFE_RUNNING = 2,
	SEG_LIFE_FINALIZING = 3, /* in MPI_Finalize */
	SEG_LIFE_FINALIZED = 4,  /* the file is about to be unlinked, or left for its keeper */
	SEG_LIFE_ABORTED = 5,    /* called MPI_Abort */
	SEG_LIFE_STOPPED = 6,    /* runs on, but recording ended for want of space: the past only */
};

enum seg_clock {
	SEG_CLOCK_MONOTONIC = 1, /* ticks are ns of CLOCK_MONOTONIC */
	SEG_CLOCK_TSC = 2,       /* ticks of the x86 time stamp counter (invariant) */
	SEG_CLOCK_CNTVCT = 3,    /* ticks of AArch64's virtual counter */
};

enum seg_table_id {
	SEG_TABLE_STRINGS,
	SEG_TABLE_MODULES,
	SEG_TABLE_FRAMES,
	SEG_TABLE_SITES,
	SEG_TABLE_COMMS,
	SEG_TABLE_MEMBERS,
	SEG_TABLE_REQUESTS,
	SEG_NUM_TABLES
};

/* An append-only table. */
struct seg_table {
	uint64_t offset;     /* of entry 0, from the start of the file (of the lane, in a lane) */
	uint32_t entry_size; /* bytes; readers step by it, so that entries may grow at their end */
	uint32_t capacity;   /* entries */
	_Atomic uint32_t count;   /* entries published; release by the writer, acquire by readers */
	_Atomic uint32_t dropped; /* entries lost: table full or no space */
	uint64_t allocated;       /* bytes that have pages; the writer's own affair */
};
static_assert(sizeof(struct seg_table) == 32, "layout");

struct seg_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size; /* SEG_HEADER_SIZE */
	uint32_t byte_order;  /* PDB_SEGMENT_BYTE_ORDER as the writer stores it */
	uint32_t features;    /* enum seg_features; readers ignore unknown bits */
	uint64_t file_size;   /* of the sparse file as of now */

	int32_t pid;           /* in the writer's pid namespace */
	int32_t rank;          /* -1 until known */
	int32_t size;          /* of MPI_COMM_WORLD; 0 until known */
	uint32_t uid;          /* effective user */
	uint64_t pid_start;    /* field 22 of /proc/self/stat: guards against reused pids */
	_Atomic uint32_t life; /* enum seg_life */
	int32_t thread_level;  /* what MPI_Init_thread provided; -1 until known */
	char host[64];         /* zero-terminated, as the next three */
	char job[256];         /* the launcher's name of the job, not shortened */
	char mpi_library[64];  /* first words of MPI_Get_library_version */
	char executable[256];  /* /proc/self/exe, its end when longer */

	/* One moment in three clocks, taken at start. A reader on the same host takes the pair
	 * (ticks, CLOCK_MONOTONIC) again, which gives the rate over the whole time in between. */
	uint32_t clock; /* enum seg_clock */
	/* at start, in the writer's pid namespace: who started it; 0: not said */
	int32_t parent_pid;
	uint64_t start_ticks;
	uint64_t start_mono_ns;
	uint64_t start_real_ns; /* CLOCK_REALTIME */
	/* A second moment, stored again at each slow path: a rate for readers elsewhere. */
	_Atomic uint64_t later_ticks;
	_Atomic uint64_t later_mono_ns;

	struct seg_table tables[SEG_NUM_TABLES];

	uint64_t lane_offset;
	uint64_t lane_size;
	_Atomic uint32_t num_lanes;     /* release by the writer, acquire by readers */
	_Atomic uint32_t dropped_lanes; /* threads that got no lane and are not recorded */
	_Atomic uint64_t full_unwinds;  /* slow paths taken: the cost side of `info overhead` */
	_Atomic uint64_t abandoned;     /* MPI calls left by longjmp or an exception */
	/* pid of the pdb on this host that takes the file after the end; 0: nobody */
	int32_t keeper;
	_Atomic uint32_t reused_comms; /* entries of comms that were another's before */
};
static_assert(sizeof(struct seg_header) <= SEG_HEADER_SIZE, "the header is one page");

/* ---- Entries of the header's tables ---- */

/* A loaded object. Its frames' offsets are ELF virtual addresses (address minus load bias), equal
 * in all ranks. */
struct seg_module {
	uint32_t path;         /* offset into strings, zero-terminated there */
	uint8_t build_id_size; /* 0 where it has none */
	uint8_t build_id[32];
	uint8_t reserved[3];
};
static_assert(sizeof(struct seg_module) == 40, "layout");

#define SEG_NO_FRAME UINT32_MAX

/* A node of the prefix tree of call paths: its parent's path and then its own return address. The
 * root side is main's caller. */
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
	SEG_CLASS_SEND, /* blocking sends of all modes */
	SEG_CLASS_RECV, /* blocking receives, matched receives */
	SEG_CLASS_SENDRECV,
	SEG_CLASS_PROBE,      /* blocking probes */
	SEG_CLASS_POLL,       /* Test family, Iprobe, Improbe, Request_get_status */
	SEG_CLASS_WAIT,       /* Wait family */
	SEG_CLASS_START,      /* non-blocking p2p, Start, Pready: returns at once */
	SEG_CLASS_COLLECTIVE, /* blocking, Barrier and neighbourhood included */
	SEG_CLASS_ICOLLECTIVE,
	SEG_CLASS_COMM,     /* creates or frees communicators, windows, files: collective */
	SEG_CLASS_RMA,      /* one-sided transfers */
	SEG_CLASS_RMA_SYNC, /* fence, lock, post-start-complete-wait, flush */
	SEG_CLASS_FILE,     /* independent file access */
	SEG_CLASS_FILE_COLLECTIVE,
	SEG_CLASS_SPAWN, /* spawn, connect, accept */
	SEG_CLASS_ABORT,
};

enum seg_language { SEG_LANGUAGE_C = 0, SEG_LANGUAGE_FORTRAN = 1 };

/* A call site with its call path. Site s stands for two states: 2*s is enter (inside the call),
 * 2*s+1 exit (returned, computing until the next). Site 0 always exists, has frame SEG_NO_FRAME and
 * the name "start": a lane begins in state 1. */
struct seg_site {
	uint32_t frame;    /* innermost frame: the return address of the MPI call */
	uint32_t name;     /* offset into strings: "MPI_Send", also when called from Fortran */
	uint16_t class_id; /* enum seg_class */
	uint16_t language; /* enum seg_language */
	uint32_t reserved;
};
static_assert(sizeof(struct seg_site) == 16, "layout");

#define SEG_STATE_ENTER(site) ((uint32_t)(site)*2)
#define SEG_STATE_EXIT(site) ((uint32_t)(site)*2 + 1)
#define SEG_STATE_SITE(state) ((uint32_t)(state) / 2)
#define SEG_STATE_IS_EXIT(state) ((uint32_t)(state)&1)

/* ---- Evidence of who waits for whom: communicators, collectives, requests ----
 * Ranks here are ranks in a communicator unless called world ranks. */

#define SEG_NO_COMM UINT32_MAX
#define SEG_NO_MEMBERS UINT32_MAX        /* not known */
#define SEG_ALL_MEMBERS (UINT32_MAX - 1) /* rank i is world rank i */

enum seg_peer {
	SEG_PEER_NULL = -1, /* MPI_PROC_NULL: no partner */
	SEG_PEER_ANY = -2,  /* MPI_ANY_SOURCE */
	SEG_PEER_ROOT = -3, /* MPI_ROOT, as the root of an intercommunicator's collective */
	SEG_PEER_NONE = -4, /* a collective without root */
};

enum seg_tag {
	SEG_TAG_ANY = -1,  /* MPI_ANY_TAG */
	SEG_TAG_MANY = -2, /* in a ledger: the tags that got no row of their own */
	/* Not messages, but counted like them: who has to tell whom before a call can go on. */
	SEG_TAG_POST = -3,     /* MPI_Win_post to each origin; `comm` is the window */
	SEG_TAG_COMPLETE = -4, /* MPI_Win_complete to each target */
	SEG_TAG_LEADER = -5,   /* MPI_Intercomm_create between leaders, in the peer communicator */
	SEG_TAG_GROUP = -6,    /* MPI_Comm_create_group to each of the group, in the parent */
};

enum seg_comm_kind {
	SEG_COMM_INTRA = 0,
	SEG_COMM_INTER,
	SEG_COMM_WINDOW,
	SEG_COMM_FILE,
};

/* A collective that was started. Number n of a communicator counts from 1 and is at n % SEG_RECENT:
 * all kinds, those that make or free something, and (of MPI_COMM_WORLD) MPI_Finalize. A persistent
 * one counts when it is made and at each start, with its init call's site. Written with comm->seq
 * odd. */
struct seg_collective {
	_Atomic uint64_t number; /* 0: none */
	/* that this rank gives, equal in all members; SEG_NO_BYTES: need not be (MPI_Gatherv) */
	_Atomic uint64_t bytes;
	_Atomic uint32_t site;
	_Atomic int32_t root; /* or SEG_PEER_NONE, SEG_PEER_ROOT, SEG_PEER_NULL */
};
static_assert(sizeof(struct seg_collective) == 24, "layout");
#define SEG_NO_BYTES UINT64_MAX

/* A communicator, window or file: whatever collectives are numbered on. An entry with `is_freed`
 * may be another's later: `id` tells. It is then rewritten with `seq` odd, and its rows of the
 * ledgers count from 0 again. Index 0 is MPI_COMM_WORLD, index 1 MPI_COMM_SELF. */
struct seg_comm {
	/* Equal in all members, different for all else; 0: not known, then nothing that refers to
	 * it is evidence. Found without communicating: a hash of the parent's id, the order of
	 * creation in the parent and the members' world ranks. */
	uint64_t id;
	uint64_t parent_id;
	uint32_t kind;    /* enum seg_comm_kind */
	uint32_t site;    /* of the call that made it; 0: predefined or unknown */
	uint32_t ordinal; /* which of those made from the parent; from 1 */
	int32_t rank;     /* own, in it */
	uint32_t size;
	uint32_t members; /* first index in MEMBERS of `size` world ranks, by rank (-1: of another
			       * MPI_COMM_WORLD); or SEG_ALL_MEMBERS, SEG_NO_MEMBERS */
	uint32_t remote_size; /* of an intercommunicator: peers are ranks in this group; else 0 */
	uint32_t remote_members;
	uint32_t num_sources;  /* of a topology: whom neighbourhood collectives receive from */
	uint32_t sources;      /* first index in MEMBERS of so many ranks, or SEG_NO_MEMBERS */
	_Atomic uint32_t name; /* by MPI_Comm_set_name, MPI_Win_set_name: in strings; 0: none */
	_Atomic uint32_t is_freed;
	/* Sequence lock of what follows; of all of it while the entry becomes another's. */
	_Atomic uint32_t seq;
	/* Of a graph: behind the sources are so many ranks that they send to. 0: not known. */
	uint32_t num_destinations;
	_Atomic uint64_t collectives; /* started so far: the number of the last one */
	struct seg_collective recent[SEG_RECENT];
};
static_assert(sizeof(struct seg_comm) == 80 + 24 * SEG_RECENT, "layout");

enum seg_request_kind {
	SEG_REQUEST_FREE = 0,
	SEG_REQUEST_SEND,
	SEG_REQUEST_RECV,
	SEG_REQUEST_MATCHED, /* MPI_Imrecv: its message is there */
	SEG_REQUEST_COLLECTIVE,
	SEG_REQUEST_LOCK,  /* no request: a window's lock that MPI_Win_lock has returned with;
			    * `peer`: target or SEG_PEER_ANY (lock_all), `tag`: 1 if exclusive */
	SEG_REQUEST_OTHER, /* file access, one-sided, generalized: completes without others */
};

enum seg_request_flags {
	SEG_REQUEST_PERSISTENT = 1,
	SEG_REQUEST_ACTIVE = 2, /* started and not completed; always set where not persistent */
	SEG_REQUEST_PARTITIONED = 4,
	SEG_REQUEST_NEIGHBOURS = 8, /* of a neighbourhood collective */
	SEG_REQUEST_CANCELLED = 16,
	SEG_REQUEST_SYNCHRONOUS = 32, /* a send that completes with its receive only */
};

/* A slot of something that completes later. `seq` is a sequence lock, as in struct seg_current. */
struct seg_request {
	_Atomic uint32_t seq;
	_Atomic uint32_t kind; /* enum seg_request_kind */
	_Atomic uint32_t flags;
	_Atomic uint32_t comm;    /* index into comms, or SEG_NO_COMM */
	_Atomic int32_t peer;     /* or enum seg_peer */
	_Atomic int32_t tag;      /* or enum seg_tag */
	_Atomic uint64_t ordinal; /* of a message: the `sends` or `receives` of its row of the
				   * ledger when it was counted, 0: not known; of a collective:
				   * its number */
	_Atomic uint64_t bytes;
	_Atomic uint32_t site;  /* of the call that started it (made it, where persistent) */
	_Atomic uint32_t lane;  /* whose ledger counts it */
	_Atomic uint64_t ticks; /* when it was started */
};
static_assert(sizeof(struct seg_request) == 56, "layout");

/* ---- Lanes ---- */

enum seg_lane_id {
	SEG_LANE_STATES,
	SEG_LANE_TRANSITIONS,
	SEG_LANE_RING,
	SEG_LANE_LEDGER, /* struct seg_ledger */
	SEG_LANE_WAITED, /* uint32_t: slots of the requests of the operation in progress */
	SEG_LANE_NUM_TABLES
};

enum seg_lane_use { SEG_LANE_FREE = 0, SEG_LANE_ACTIVE = 1, SEG_LANE_ENDED = 2 };

/* What must agree. Writer: seq odd, release fence, relaxed stores, seq even with release. Reader:
 * acquire load of seq (retry while odd), relaxed loads, acquire fence, seq unchanged (after Boehm,
 * "Can seqlocks get along with programming language memory models?", MSPC 2012). */
struct seg_current {
	_Atomic uint32_t seq;
	_Atomic uint32_t state;
	_Atomic uint64_t since;  /* ticks when `state` was entered */
	_Atomic uint64_t events; /* made so far; the ring's next slot is events % size */
	/* Polling since `state` was entered: a poll that fails is counted and is no transition.
	 * One-sided calls that only look and are told nothing new are polls, too. */
	_Atomic uint32_t poll_site;  /* of the last poll, failed or in progress; 0: none */
	_Atomic uint32_t in_poll;    /* 1 while inside a poll whose outcome is not known yet */
	_Atomic uint64_t polls;      /* failed polls since `state` was entered */
	_Atomic uint64_t poll_ticks; /* when the last poll was entered */
};

enum seg_operation_kind {
	SEG_OPERATION_OTHER = 0,  /* nothing is known of what it needs */
	SEG_OPERATION_SEND,       /* transfers[0] */
	SEG_OPERATION_RECV,       /* transfers[0] */
	SEG_OPERATION_SENDRECV,   /* sends transfers[0] and receives transfers[1] */
	SEG_OPERATION_PROBE,      /* transfers[0]; its ordinal is 0 */
	SEG_OPERATION_WAIT_ALL,   /* all of the requests in WAITED */
	SEG_OPERATION_WAIT_ANY,   /* at least one of them */
	SEG_OPERATION_COLLECTIVE, /* `number` of transfers[0].comm, root transfers[0].peer */
	SEG_OPERATION_LOCK, /* MPI_Win_lock, unlock, flush: window, target, 1 if exclusive as tag */
	SEG_OPERATION_LOCAL, /* returns without anybody's help (MPI_Isend, MPI_Put, ...) */
	SEG_OPERATION_LOOK,  /* a poll that looks into a window: window, target */
};

enum seg_operation_flags {
	SEG_OPERATION_INCOMPLETE = 1,  /* WAITED lacks requests: unknown, or too many */
	SEG_OPERATION_NEIGHBOURS = 2,  /* a neighbourhood collective */
	SEG_OPERATION_BUFFERED = 4,    /* MPI_Bsend: completes without a receive */
	SEG_OPERATION_SYNCHRONOUS = 8, /* MPI_Ssend */
};

struct seg_transfer {
	_Atomic uint32_t comm; /* index into comms, or SEG_NO_COMM */
	_Atomic int32_t peer;  /* or enum seg_peer */
	_Atomic int32_t tag;   /* or enum seg_tag */
	_Atomic uint32_t reserved;
	_Atomic uint64_t ordinal; /* as in struct seg_request */
	_Atomic uint64_t bytes;
};
static_assert(sizeof(struct seg_transfer) == 32, "layout");

/* The operation in progress, or the last poll. It is meaningful while the lane's `events` equals
 * `event`, in an enter state or, of a poll, in an exit state with poll_site not 0. Written under
 * `seq` before the event. */
struct seg_operation {
	_Atomic uint32_t seq;
	_Atomic uint32_t kind; /* enum seg_operation_kind */
	_Atomic uint64_t event;
	_Atomic uint32_t flags;
	_Atomic uint32_t num_waited; /* its own entries of WAITED, without null and inactive ones */
	_Atomic uint64_t number;     /* of a collective */
	struct seg_transfer transfers[2];
	uint8_t reserved[64];
};
static_assert(sizeof(struct seg_operation) == 160, "layout");

struct seg_lane {
	_Atomic uint32_t use; /* enum seg_lane_use */
	int32_t tid;          /* gettid() of the thread that holds or last held the lane */
	uint32_t is_main;     /* 1: the thread whose tid is the pid */
	uint32_t reserved0;
	uint64_t first_ticks; /* when the lane was taken */
	/* The arena of the lane's trace (model/trace/trace_format.h), from the start of the lane;
	 * 0: none. Symbols are SEG_TRACE_SYMBOL(). */
	_Atomic uint64_t trace_offset; /* release by the writer, acquire by readers */
	uint64_t trace_size;           /* bytes */
	/* Notes of collectives: a ring of so many words, a power of two, from the start of the
	 * lane; 0: none yet, as in segments that have no notes. Positions count words ever written;
	 * word p is at p % note_words. See struct seg_note. */
	_Atomic uint32_t note_offset; /* bytes; release by the writer, acquire by readers */
	uint32_t note_words;
	_Atomic uint64_t note_end; /* where the last note ends, also while it is being written */
	_Atomic uint64_t
		note_last; /* where the last one begins that is complete; 0: there is none */
	struct seg_current current; /* starts on a cache line of its own */
	uint8_t reserved2[16];
	/* From the start of the lane. STATES has no count: entry i belongs to state i, for i < 2 *
	 * number of sites; a page without storage reads as zeros. RING is circular: entry e %
	 * capacity for the last `capacity` events. */
	struct seg_table tables[SEG_LANE_NUM_TABLES];
	struct seg_operation operation;
};
static_assert(sizeof(struct seg_current) == 48, "layout");
static_assert(sizeof(struct seg_lane) <= 576, "layout");

/* What a note tells of one collective, so that it can be set against what other members tell. */
enum seg_note_kind {
	/* Bytes that this rank gives to another, or that it has room for from another. */
	SEG_NOTE_GIVES = 1,  /* entry i: of rank i; of an intercommunicator in the remote group */
	SEG_NOTE_TAKES,      /* the same */
	SEG_NOTE_GIVES_ROOT, /* one entry: of the root */
	SEG_NOTE_TAKES_ROOT,
	SEG_NOTE_GIVES_EACH, /* one entry: of each member or neighbour */
	SEG_NOTE_TAKES_EACH,
	SEG_NOTE_GIVES_NEIGHBOURS, /* entry i: of destination i */
	SEG_NOTE_TAKES_NEIGHBOURS, /* of source i */
	/* The rank's call has returned with an error: entry 0 is an enum seg_error. */
	SEG_NOTE_ERROR,
	/* A leader in MPI_Intercomm_create: `comm` is the peer communicator, `number` that of the
	 * token SEG_TAG_LEADER that it sends, entry 0 the tag, entry 1 the remote leader. */
	SEG_NOTE_LEADER,
	SEG_NUM_NOTES
};

/* Classes of errors, by the numbers of MPI's own ABI, whatever the library's are. */
enum seg_error {
	SEG_ERROR_BUFFER = 1,
	SEG_ERROR_COUNT,
	SEG_ERROR_TYPE,
	SEG_ERROR_TAG,
	SEG_ERROR_COMM,
	SEG_ERROR_RANK,
	SEG_ERROR_REQUEST,
	SEG_ERROR_ROOT,
	SEG_ERROR_GROUP,
	SEG_ERROR_OP,
	SEG_ERROR_TOPOLOGY,
	SEG_ERROR_DIMS,
	SEG_ERROR_ARG,
	SEG_ERROR_UNKNOWN,
	SEG_ERROR_TRUNCATE,
	SEG_ERROR_OTHER,
	SEG_ERROR_INTERN,
	SEG_NUM_ERRORS
};

/* A note, as words of the ring; it begins at an even one and does not go round its end. Only the
 * lane's thread writes notes: note_end, release fence, the note, note_last with release. A reader
 * takes note_last, copies the ring, then takes note_end, and believes what begins at or behind
 * note_end less the size of the ring. */
struct seg_note {
	uint64_t number; /* of the collective in `comm` */
	uint64_t id;     /* of the communicator: the entry may be another's by now */
	uint32_t comm;
	uint32_t back; /* words to the note before; 0: there is none */
	uint32_t kind; /* enum seg_note_kind */
	uint32_t num;  /* entries: uint32_t each, behind this; UINT32_MAX: not known */
	uint32_t unit; /* bytes that an entry counts */
	uint32_t reserved;
};
static_assert(sizeof(struct seg_note) == 40, "layout");

/* What symbols of traces mean. Calls and functions count when they are entered; a poll when it has
 * succeeded. Site 0 says that another thread has taken the lane and begins. */
enum seg_trace_kind {
	SEG_TRACE_CALL = 0, /* id: a site */
	/* id: a frame without parent, one byte into a function of the program */
	SEG_TRACE_ENTER = 1,
	SEG_TRACE_LEAVE = 2, /* the same, on return from it */
	SEG_TRACE_KINDS = 4
};
#define SEG_TRACE_SYMBOL(id, kind) ((uint32_t)(id)*SEG_TRACE_KINDS + (kind))
#define SEG_TRACE_ID(symbol) ((uint32_t)(symbol) / SEG_TRACE_KINDS)
#define SEG_TRACE_KIND(symbol) ((uint32_t)(symbol) % SEG_TRACE_KINDS)

/* Statistics of a state in this lane. */
struct seg_state {
	_Atomic uint64_t longest; /* ticks of the longest completed stay */
	/* On an enter state of a poll site: failed polls ever; on an exit state: ticks of the
	 * longest time in it from a failed poll to the next poll or call. */
	_Atomic uint64_t polls;
};
static_assert(sizeof(struct seg_state) == 16, "layout");

/* Into a call. The one way out of it, into its exit state, has no entry: it was taken as often as
 * the enter state was come into, once less while that is the present one. (When some were dropped,
 * both are too few.) */
struct seg_transition {
	uint32_t from, to;      /* states: an exit and an enter state */
	_Atomic uint64_t count; /* relaxed; monotonic */
};
static_assert(sizeof(struct seg_transition) == 16, "layout");

/* Messages to and from one peer with one tag in one communicator, as this thread counted them. A
 * row is filled in and published once; only its counts change. MPI_PROC_NULL is not counted. When
 * there are many rows, further tags of a peer are counted in the row (comm, peer, SEG_TAG_MANY);
 * when there is no room for that either, in the table's `dropped`. */
struct seg_ledger {
	uint32_t comm;
	int32_t peer;               /* or SEG_PEER_ANY, of receives */
	int32_t tag;                /* or SEG_TAG_ANY, of receives; or enum seg_tag */
	_Atomic uint32_t cancelled; /* requests of this row that MPI_Cancel was called for */
	_Atomic uint64_t sends;     /* started */
	_Atomic uint64_t sends_done;
	_Atomic uint64_t receives; /* posted */
	_Atomic uint64_t receives_done;
	_Atomic uint64_t taken; /* messages that receives with a wildcard, which are counted in the
				 * wildcard's row alone, or matched probes have got */
};
static_assert(sizeof(struct seg_ledger) == 56, "layout");

/* A transition made: into `state` at `ticks`. */
struct seg_event {
	_Atomic uint64_t ticks;
	_Atomic uint32_t state;
	uint32_t reserved;
};
static_assert(sizeof(struct seg_event) == 16, "layout");
