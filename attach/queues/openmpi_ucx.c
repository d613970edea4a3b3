/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/process/elf_symbol.h"
#include "attach/process/maps.h"
#include "attach/queues/mpi_queues.h"
#include "attach/queues/openmpi_objects.h"
#include "attach/queues/ucx_queues.h"
#include "model/job/message_queues.h"

#define MAX_MODULE (64 << 10) /* bytes; versions that are known have 1.5 kB */
#define TRIES 2               /* the process may change what is just being read */

/* What a tag of UCX is made of, from its lowest bits on (pml_ucx_request.h of Open MPI): the number
 * of the communicator, the sender's rank in it, and the message's tag with its sign. */
#define NUMBER_BITS UINT64_C(0xfffff)
#define SOURCE_BITS UINT64_C(0xfffff00000)
#define SOURCE_SHIFT 20
/* A receive of any tag leaves them open, but not the sign. */
#define TAG_BITS UINT64_C(0x7fffff0000000000)
#define TAG_SHIFT 40

#define GROUP_IS_DENSE 4 /* flag: it has an array of its members */

/* ompi_group_t, up to there. */
struct group {
	uint64_t class_pointer, references;
	int32_t size, own_rank;
	int32_t fortran_index;
	uint64_t members; /* address of the array of their processes' addresses */
	uint32_t flags;
};

struct comm {
	const struct openmpi_comm *of;
	uint32_t size;
	uint64_t members;
};

struct openmpi_ucx {
	struct openmpi openmpi;
	/* the PML's variables, one of which points to the worker; bytes */
	uint64_t module, module_size;
	struct ucx_place place;
};

struct openmpi_ucx *openmpi_ucx_create(const struct memory *memory, const struct maps *maps)
{
	/* A library of its own, or built into that of MPI, as Open MPI 5 does. */
	const struct maps_object *object = maps_find_object(maps, "mca_pml_ucx.so");
	struct openmpi_ucx *queues, found = {.module = 0};

	if (!object)
		object = maps_find_object(maps, "libmpi.so");
	if (!object || !maps_find_object(maps, "libucp.so") ||
	    elf_symbol_find(memory->pid, object, "ompi_pml_ucx", &found.module,
			    &found.module_size) ||
	    found.module_size > MAX_MODULE || !openmpi_init(&found.openmpi, memory, maps))
		return NULL;
	queues = xmalloc(sizeof(*queues));
	*queues = found;
	return queues;
}

struct reader {
	struct openmpi_ucx *q;
	struct arena *arena;
	struct openmpi_comms all;
	struct comm *comms; /* those that have members, by number */
	size_t num_comms;
};

/* False if it is none, or of a kind that is not known. One that has no members is left out. */
static bool take_group(struct reader *r, const struct openmpi_comm *of, const uint8_t *object)
{
	struct openmpi *openmpi = &r->q->openmpi;
	struct group group;

	memcpy(&group, object, sizeof(group));
	if (!openmpi_is_a(openmpi, object, OPENMPI_GROUP) ||
	    openmpi->classes[OPENMPI_GROUP].size != r->all.layout->group_size || group.size < 0 ||
	    group.size > OPENMPI_MAX_RANKS || (group.size && !(group.flags & GROUP_IS_DENSE)))
		return false;
	if (group.size)
		r->comms[r->num_comms++] = (struct comm){of, (uint32_t)group.size, group.members};
	return true;
}

/* False also if the PML has a part of one: this one has none. */
static bool read_comms(struct reader *r)
{
	const struct openmpi_comm *list;
	uint64_t *addresses;
	size_t size, num = 0;

	if (!openmpi_read_comms(&r->q->openmpi, r->arena, &r->all))
		return false;
	list = r->all.list;
	size = r->all.layout->group_size;
	r->comms = arena_array(r->arena, r->all.num, sizeof(*r->comms));
	addresses = arena_array(r->arena, r->all.num, sizeof(*addresses));
	uint8_t *groups = arena_array(r->arena, r->all.num, size);
	for (size_t i = 0; i < r->all.num; i++) {
		if (list[i].pml)
			return false;
		/* One that is just being made may have none yet. */
		if (list[i].group)
			addresses[num++] = list[i].group;
	}
	if (memory_get_each(&r->q->openmpi.memory, addresses, num, groups, size))
		return false;
	for (size_t i = 0; i < r->all.num; i++) {
		if (!list[i].group)
			continue;
		if (!take_group(r, &list[i], groups))
			return false;
		groups += size;
	}
	return r->num_comms > 0;
}

static int compare_number(const void *key, const void *comm)
{
	return SORTED_ORDER(*(const uint32_t *)key, ((const struct comm *)comm)->of->number);
}

static const struct comm *find_comm(const struct reader *r, uint32_t number)
{
	return r->num_comms
		       ? bsearch(&number, r->comms, r->num_comms, sizeof(*r->comms), compare_number)
		       : NULL;
}

static bool take(const void *library, const struct ucx_tag *tag, struct ucx_message *ret)
{
	const struct reader *r = library;
	const struct comm *comm = find_comm(r, (uint32_t)(tag->tag & NUMBER_BITS));
	uint32_t source = (uint32_t)((tag->tag & SOURCE_BITS) >> SOURCE_SHIFT);
	bool is_any = !(tag->mask & SOURCE_BITS);

	if (!comm || (!is_any && source >= comm->size))
		return false;
	ret->source.comm = (size_t)(comm - r->comms);
	ret->source.in_comm = is_any ? MESSAGE_ANY_PEER : (int32_t)source;
	ret->tag =
		tag->mask & TAG_BITS ? (int32_t)((int64_t)tag->tag >> TAG_SHIFT) : MESSAGE_ANY_TAG;
	return true;
}

static void describe(const void *library, size_t comm, struct queued_comm *ret)
{
	const struct comm *from = &((const struct reader *)library)->comms[comm];

	ret->size = from->size;
	queued_comm_set_name(ret, from->of->name, sizeof(from->of->name));
}

/* A group may have no description yet of a process that nothing was sent to. Instead of its address
 * there is then its name (ompi_proc_name_to_sentinel in Open MPI's proc.h): from the lowest bit on
 * a 1, 15 bits of the job's number and its upper 16 bits, and the process' number. */
static bool is_name(uint64_t word)
{
	return word & 1;
}

static int32_t rank_of_name(uint64_t word, uint32_t job)
{
	uint32_t number = (uint32_t)(word >> 32);
	uint32_t own = ((uint32_t)word & 0xffff0000u) | ((uint32_t)word >> 1 & 0x7fff);

	return own == job && number < OPENMPI_MAX_RANKS ? (int32_t)number : MESSAGE_OTHER_PEER;
}

static bool read_ranks(void *library, const struct ucx_member *members, size_t num, int32_t *ranks)
{
	struct reader *r = library;
	struct openmpi *openmpi = &r->q->openmpi;
	uint64_t *addresses = arena_array(r->arena, num, sizeof(*addresses));
	/* What each has in its group, an address or a name. */
	uint64_t *procs = arena_array(r->arena, num, sizeof(*procs));
	const int32_t *of_addresses;
	size_t num_addresses = 0;
	uint32_t job;

	if (!num)
		return true;
	for (size_t i = 0; i < num; i++)
		addresses[i] = r->comms[members[i].comm].members +
			       (uint64_t)members[i].in_comm * sizeof(*procs);
	if (memory_get_each(&openmpi->memory, addresses, num, procs, sizeof(*procs)))
		return false;
	for (size_t i = 0; i < num; i++)
		if (!is_name(procs[i]))
			addresses[num_addresses++] = procs[i];
	of_addresses =
		openmpi_read_ranks(openmpi, r->arena, r->all.layout, addresses, num_addresses);
	if (!of_addresses || !openmpi_read_job(openmpi, r->all.layout, &job))
		return false;
	for (size_t i = 0; i < num; i++)
		ranks[i] = is_name(procs[i]) ? rank_of_name(procs[i], job) : *of_addresses++;
	return true;
}

static bool find(void *library, struct ucx_worker *ret)
{
	const struct openmpi_ucx *q = library;
	size_t num = q->module_size / sizeof(uint64_t);
	uint64_t *words = xcalloc(num + 1, sizeof(*words));
	bool is_found = openmpi_get(&q->openmpi, q->module, words, num * sizeof(*words)) &&
			ucx_worker_find(&q->openmpi.memory, q->module, words, num, ret);

	free(words);
	return is_found;
}

struct message_queues *openmpi_ucx_read(struct openmpi_ucx *queues)
{
	static const struct ucx_meaning meaning = {take, describe, read_ranks};
	struct message_queues *ret = NULL;

	if (!ucx_place_is_known(&queues->place, &queues->openmpi.memory, find, queues))
		return NULL;
	for (int i = 0; i < TRIES && !ret; i++) {
		struct reader r = {.q = queues, .arena = arena_create()};

		if (read_comms(&r))
			ret = ucx_queues_read(&queues->openmpi.memory, &queues->place.worker,
					      r.num_comms, &meaning, &r, r.arena);
		arena_destroy(r.arena);
	}
	return ret;
}
