/* SPDX-License-Identifier: BSD-3-Clause
 * Objects of Open MPI 4.1 and 5.0 in memory, for all its transports: communicators, their members,
 * processes. No debug information is needed: object layouts are known for these versions. An object
 * is believed only if it identifies itself: it begins with the address of its class, which has a
 * name and a size. */
#pragma once

#include "attach/process/memory.h"

struct maps;

enum openmpi_class {
	OPENMPI_ARRAY,
	OPENMPI_COMM,
	OPENMPI_GROUP,
	OPENMPI_PROC,
	OPENMPI_LIST,
	OPENMPI_PML_COMM, /* these are of the PML ob1 */
	OPENMPI_PEER,
	OPENMPI_RECEIVE,
	OPENMPI_FRAGMENT,
	NUM_OPENMPI_CLASSES
};

/* opal_class_t */
struct openmpi_class_object {
	uint64_t name, parent, construct, destruct;
	int32_t is_initialized, depth;
	uint64_t constructors, destructors, size;
};

enum {
	OPENMPI_MAX_OBJECT = 512,     /* bytes of one that has a layout */
	OPENMPI_NAME_SIZE = 64,       /* of a communicator */
	OPENMPI_MAX_RANKS = 16 << 20, /* of the job: what snapshots and shares have room for */
};

/* Where what is in objects, whose sizes tell which version it is. */
struct openmpi_layout {
	uint16_t array_size, comm_size, group_size, pml_comm_size, peer_size;
	uint16_t comm_name, comm_group, comm_pml;
	bool name_is_apart;                       /* there is where it is */
	uint16_t wild_receives, peers, num_peers; /* in the PML's part of a communicator */
	uint16_t peer_proc, expected, sent, receives, unexpected; /* in what that has of a peer */
	uint16_t proc_name;                                       /* job and number */
	uint16_t fragment_header;
};

struct openmpi_known_class {
	uint64_t address;
	uint64_t size; /* of its objects, bytes */
};

/* The library of one process. */
struct openmpi {
	struct memory memory;
	uint64_t communicators; /* the array of them, by number */
	uint64_t array_size;    /* bytes */
	uint64_t own_proc;      /* where the address of this process' own description is */
	struct openmpi_known_class classes[NUM_OPENMPI_CLASSES];
};

struct openmpi_comm {
	uint32_t number;
	char name[OPENMPI_NAME_SIZE]; /* maybe without an end */
	uint64_t group;               /* address of the group of those that it sends to */
	uint64_t pml;                 /* address of the PML's part, 0: it has none */
};

struct openmpi_comms {
	const struct openmpi_layout *layout;
	struct openmpi_comm *list; /* by number */
	size_t num, capacity;
};

/* False if the process has no such library. The memory is copied. */
bool openmpi_init(struct openmpi *openmpi, const struct memory *memory, const struct maps *maps);

/* Copy just `size` bytes; false if they are not all there. */
bool openmpi_get(const struct openmpi *openmpi, uint64_t address, void *buffer, size_t size);
uint64_t openmpi_word_at(const uint8_t *bytes, size_t offset);
uint32_t openmpi_half_at(const uint8_t *bytes, size_t offset);

bool openmpi_has_name(const struct openmpi *openmpi, const struct openmpi_class_object *class,
		      const char *name);
/* Is that an object of this kind, as its first word says? The class is then known. */
bool openmpi_is_a(struct openmpi *openmpi, const void *object, enum openmpi_class kind);

/* As of now, in the arena. False if there are none, or they look as nothing that is known. */
bool openmpi_read_comms(struct openmpi *openmpi, struct arena *arena, struct openmpi_comms *comms);

/* The number of the job that this process is of. */
bool openmpi_read_job(struct openmpi *openmpi, const struct openmpi_layout *layout,
		      uint32_t *job_ret);
/* Each address' process' rank in the job, or MESSAGE_OTHER_PEER, in the arena; NULL if one is
 * none. */
int32_t *openmpi_read_ranks(struct openmpi *openmpi, struct arena *arena,
			    const struct openmpi_layout *layout, const uint64_t *addresses,
			    size_t num);
