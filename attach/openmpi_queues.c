/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/elf_symbol.h"
#include "attach/maps.h"
#include "attach/memory.h"
#include "attach/openmpi_queues.h"
#include "model/message_queues.h"
#include "model/xalloc.h"

/* More than that is not read. */
#define MAX_COMMS 16384
#define MAX_MEMBERS (1 << 22) /* of all communicators together */
#define MAX_PAIRS 100000
#define MAX_RANKS (16 << 20) /* of the job: what snapshots and shares have room for */
#define MAX_MESSAGES 10000   /* receives, and as many unexpected ones */

#define TRIES 2 /* the process may change what is just being read */

#define PAGE 4096

/* Values of Open MPI. */
#define ANY_SOURCE (-1)
#define ANY_TAG (-1)
#define HEADER_MATCH 65 /* kinds of fragments that begin a message */
#define HEADER_RGET 67

/* Every object begins with the address of its class, which has a name. */
enum class_kind {
	CLASS_ARRAY,
	CLASS_COMM,
	CLASS_PML_COMM,
	CLASS_PEER,
	CLASS_LIST,
	CLASS_PROC,
	CLASS_RECEIVE,
	CLASS_FRAGMENT,
	NUM_CLASSES
};

static const char *const class_names[] = {
	"opal_pointer_array_t",
	"ompi_communicator_t",
	"mca_pml_ob1_comm_t",
	"mca_pml_ob1_comm_proc_t",
	"opal_list_t",
	"ompi_proc_t",
	"mca_pml_ob1_recv_request_t",
	"mca_pml_ob1_recv_frag_t",
};

/* opal_class_t */
struct class_object {
	uint64_t name, parent, construct, destruct;
	int32_t is_initialized, depth;
	uint64_t constructors, destructors, size;
};

/* opal_list_t, with its sentinel, a list item. An item has the same links. */
struct list {
	uint64_t class_pointer, references;
	struct list_item {
		uint64_t class_pointer, references, next, previous;
		uint64_t free_list_word;
	} sentinel;
	uint64_t length;
};

#define LIST_SENTINEL offsetof(struct list, sentinel)

/* The beginning of a fragment that begins a message. */
struct header {
	uint8_t type, flags;
	uint16_t context;
	int32_t source, tag;
};

/* Where what is in objects, whose sizes tell which version it is. */
struct layout {
	uint16_t array_size, comm_size, pml_comm_size, peer_size;
	uint16_t comm_name, comm_pml;
	bool name_is_apart;                       /* there is where it is */
	uint16_t wild_receives, peers, num_peers; /* in the PML's part of a communicator */
	uint16_t peer_proc, expected, sent, receives, unexpected; /* in what that has of a peer */
	uint16_t proc_name;
	uint16_t fragment_header;
};

/* What both versions have. larger: by how much a mutex is larger than on x86_64. */
#define LAYOUT(larger)                                                                             \
	.array_size = 120 + (larger), .pml_comm_size = 240 + 2 * (larger), .peer_size = 168,       \
	.comm_name = 160 + (larger), .comm_pml = 328 + (larger), .wild_receives = 88 + (larger),   \
	.peers = 216 + 2 * (larger), .num_peers = 224 + 2 * (larger), .peer_proc = 16,             \
	.expected = 24, .sent = 28, .receives = 40, .unexpected = 104, .proc_name = 40,            \
	.fragment_header = 56

static const struct layout layouts[] = {
	/* 4.1 */
	{LAYOUT(0), .comm_size = 352},
	{LAYOUT(8), .comm_size = 360},
	/* 5.0 */
	{LAYOUT(0), .comm_size = 384, .name_is_apart = true},
	{LAYOUT(8), .comm_size = 392, .name_is_apart = true},
};

enum {
	MAX_ARRAY = 128,    /* bytes of an opal_pointer_array_t, which ends with */
	ARRAY_SIZE = 32,    /* that far from its end the number of elements, */
	ARRAY_ELEMENTS = 8, /* and where they are */
	MAX_OBJECT = 512,   /* bytes of another one */
	REQUEST_PEER = 24,  /* from the end of what all requests have: peer and tag */
	MAX_REQUEST = 1024, /* bytes of that part */
	MAX_PARENTS = 8,
	MAX_CLASS_NAME = 32, /* of those that are known */
	NAME_SIZE = 64,      /* of a communicator */
};

struct known_class {
	uint64_t address;
	uint64_t size; /* of its objects, bytes */
};

struct openmpi_queues {
	struct memory memory;
	uint64_t communicators; /* the array of them, by number */
	uint64_t array_size;    /* bytes */
	uint64_t own_proc;      /* where the address of this process' own description is */
	struct known_class classes[NUM_CLASSES];
	uint64_t request_size; /* of what all requests have; 0: not known yet */
};

struct openmpi_queues *openmpi_queues_create(const struct memory *memory, const struct maps *maps)
{
	const struct maps_object *object = maps_find_object(maps, "libmpi.so");
	struct openmpi_queues *queues, found = {.memory = *memory};

	if (!object ||
	    elf_symbol_find(memory->pid, object, "ompi_mpi_communicators", &found.communicators,
			    &found.array_size) ||
	    elf_symbol_find(memory->pid, object, "ompi_proc_local_proc", &found.own_proc, NULL) ||
	    found.array_size > MAX_ARRAY || found.array_size < ARRAY_SIZE)
		return NULL;
	queues = xmalloc(sizeof(*queues));
	*queues = found;
	return queues;
}

void openmpi_queues_destroy(struct openmpi_queues *queues)
{
	free(queues);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static bool get(const struct openmpi_queues *q, uint64_t address, void *buffer, size_t size)
{
	return !memory_get(&q->memory, address, buffer, size);
}

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static uint32_t half_at(const uint8_t *bytes, size_t offset)
{
	uint32_t half;

	memcpy(&half, bytes + offset, sizeof(half));
	return half;
}

static bool has_name(const struct openmpi_queues *q, const struct class_object *class,
		     const char *name)
{
	char text[MAX_CLASS_NAME];
	size_t size = strlen(name) + 1;

	return get(q, class->name, text, size) && !memcmp(text, name, size);
}

/* Is that an object of this kind, as its first word says? */
static bool is_a(struct openmpi_queues *q, const void *object, enum class_kind kind)
{
	struct known_class *known = &q->classes[kind];
	struct class_object class;
	uint64_t address;

	memcpy(&address, object, sizeof(address));
	if (address && address == known->address)
		return true;
	if (!get(q, address, &class, sizeof(class)) || !has_name(q, &class, class_names[kind]))
		return false;
	*known = (struct known_class){address, class.size};
	return true;
}

/* The size of what the receive there has in common with all other requests: peer and tag are at its
 * end. */
static bool find_request_size(struct openmpi_queues *q, uint64_t receive)
{
	struct class_object class;
	uint64_t address;

	if (!get(q, receive, &address, sizeof(address)) || !is_a(q, &address, CLASS_RECEIVE))
		return false;
	for (int i = 0; i < MAX_PARENTS && get(q, address, &class, sizeof(class)); i++) {
		if (has_name(q, &class, "mca_pml_base_request_t")) {
			if (class.size < sizeof(struct list_item) + REQUEST_PEER ||
			    class.size > MAX_REQUEST)
				return false;
			q->request_size = class.size;
			return true;
		}
		address = class.parent;
	}
	return false;
}

/* ---- Communicators -------------------------------------------------------------------------- */

/* A communicator, and where its queues are. */
struct comm {
	char name[NAME_SIZE]; /* maybe without an end */
	struct list wild;
	uint64_t wild_address;
	uint64_t peers; /* the array of them */
	uint64_t num_peers;
	uint32_t index; /* in the result; UINT32_MAX: not there yet */
};

/* What one has of a peer, or of any peer: then there are only receives. */
struct peer {
	size_t comm;
	int32_t in_comm; /* rank there; ANY_SOURCE */
	int32_t rank;    /* in the job */
	uint32_t sent;
	uint16_t arrived;
	struct list receives, unexpected;
	uint64_t receives_address, unexpected_address;
};

struct reader {
	struct openmpi_queues *q;
	const struct layout *layout;
	struct comm *comms;
	size_t num_comms, comms_capacity;
	struct peer *peers;
	size_t num_peers, peers_capacity;
	struct message_queues *ret;
	size_t comms_in_ret, receives_capacity, unexpected_capacity, pairs_capacity;
};

static const struct layout *find_layout(const struct openmpi_queues *q)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].array_size == q->array_size &&
		    layouts[i].array_size == q->classes[CLASS_ARRAY].size &&
		    layouts[i].comm_size == q->classes[CLASS_COMM].size)
			return &layouts[i];
	return NULL;
}

/* What cannot be read is empty. */
static void read_name(const struct openmpi_queues *q, uint64_t address, char name[NAME_SIZE])
{
	size_t size = PAGE - address % PAGE; /* memory may end there */

	memset(name, 0, NAME_SIZE);
	if (!get(q, address, name, NAME_SIZE) && size < NAME_SIZE)
		get(q, address, name, size);
}

/* False only if it looks as if it was changed meanwhile, or as nothing that is known. */
static bool read_comm(struct reader *r, uint64_t address)
{
	struct openmpi_queues *q = r->q;
	uint8_t object[MAX_OBJECT], pml[MAX_OBJECT];
	const struct layout *layout;
	struct comm *comm;
	uint64_t pml_address;

	/* What has a number already and is just being made is none yet. */
	if (!get(q, address, object, r->layout ? r->layout->comm_size : sizeof(uint64_t)) ||
	    !is_a(q, object, CLASS_COMM))
		return true;
	if (!r->layout) {
		r->layout = find_layout(q);
		if (!r->layout || !get(q, address, object, r->layout->comm_size))
			return false;
	}
	layout = r->layout;
	pml_address = word_at(object, layout->comm_pml);
	if (!pml_address)
		return true;
	if (!get(q, pml_address, pml, layout->pml_comm_size) || !is_a(q, pml, CLASS_PML_COMM) ||
	    q->classes[CLASS_PML_COMM].size != layout->pml_comm_size)
		return false;
	r->comms = xgrow(r->comms, r->num_comms, &r->comms_capacity, sizeof(*r->comms));
	comm = &r->comms[r->num_comms++];
	if (layout->name_is_apart)
		read_name(q, word_at(object, layout->comm_name), comm->name);
	else
		memcpy(comm->name, object + layout->comm_name, sizeof(comm->name));
	memcpy(&comm->wild, pml + layout->wild_receives, sizeof(comm->wild));
	comm->wild_address = pml_address + layout->wild_receives;
	comm->peers = word_at(pml, layout->peers);
	comm->num_peers = word_at(pml, layout->num_peers);
	comm->index = UINT32_MAX;
	return is_a(q, &comm->wild, CLASS_LIST);
}

static bool read_comms(struct reader *r)
{
	struct openmpi_queues *q = r->q;
	uint8_t array[MAX_ARRAY];
	uint64_t *addresses;
	uint32_t num;
	bool is_good;

	if (!get(q, q->communicators, array, q->array_size) || !is_a(q, array, CLASS_ARRAY))
		return false;
	num = half_at(array, q->array_size - ARRAY_SIZE);
	if (num > MAX_COMMS)
		return false;
	addresses = xcalloc(num, sizeof(*addresses));
	is_good = get(q, word_at(array, q->array_size - ARRAY_ELEMENTS), addresses,
		      num * sizeof(*addresses));
	for (uint32_t i = 0; i < num && is_good; i++)
		is_good = !addresses[i] || read_comm(r, addresses[i]);
	free(addresses);
	return is_good && r->num_comms > 0;
}

/* ---- Peers ---------------------------------------------------------------------------------- */

static struct peer *add_peer(struct reader *r, size_t comm, int32_t in_comm)
{
	struct peer *peer;

	r->peers = xgrow(r->peers, r->num_peers, &r->peers_capacity, sizeof(*r->peers));
	peer = &r->peers[r->num_peers++];
	*peer = (struct peer){.comm = comm, .in_comm = in_comm, .rank = MESSAGE_ANY_PEER};
	return peer;
}

static void take_peer(const struct layout *layout, const uint8_t *object, uint64_t address,
		      struct peer *peer)
{
	uint16_t expected;

	memcpy(&expected, object + layout->expected, sizeof(expected));
	peer->arrived = (uint16_t)(expected - 1); /* the first one has the number 1 */
	peer->sent = half_at(object, layout->sent);
	memcpy(&peer->receives, object + layout->receives, sizeof(peer->receives));
	memcpy(&peer->unexpected, object + layout->unexpected, sizeof(peer->unexpected));
	peer->receives_address = address + layout->receives;
	peer->unexpected_address = address + layout->unexpected;
}

/* The rank that each address' process has. */
static bool read_ranks(struct reader *r, const uint64_t *addresses, struct peer *peers, size_t num)
{
	struct openmpi_queues *q = r->q;
	size_t name = r->layout->proc_name, size = name + 2 * sizeof(uint32_t);
	uint8_t *objects = xcalloc(num + 1, size), *own = objects + num * size;
	uint64_t own_address;
	bool is_good = get(q, q->own_proc, &own_address, sizeof(own_address)) &&
		       get(q, own_address, own, size) && is_a(q, own, CLASS_PROC) &&
		       !memory_get_each(&q->memory, addresses, num, objects, size);

	for (size_t i = 0; i < num && is_good; i++) {
		const uint8_t *object = objects + i * size;
		uint32_t number = half_at(object, name + sizeof(uint32_t));

		is_good = is_a(q, object, CLASS_PROC) && number < MAX_RANKS;
		/* Numbers are those of a job. */
		peers[i].rank = half_at(object, name) == half_at(own, name) ? (int32_t)number
									    : MESSAGE_OTHER_PEER;
	}
	free(objects);
	return is_good;
}

/* addresses: of the objects of the last `num` peers. */
static bool read_peers_at(struct reader *r, const uint64_t *addresses, size_t num)
{
	const struct layout *layout = r->layout;
	struct openmpi_queues *q = r->q;
	struct peer *peers = r->peers + r->num_peers - num;
	uint8_t *objects = xcalloc(num, layout->peer_size);
	uint64_t *procs = xcalloc(num, sizeof(*procs));
	bool is_good = !memory_get_each(&q->memory, addresses, num, objects, layout->peer_size);

	for (size_t i = 0; i < num && is_good; i++) {
		const uint8_t *object = objects + i * layout->peer_size;

		is_good = is_a(q, object, CLASS_PEER) &&
			  q->classes[CLASS_PEER].size == layout->peer_size;
		if (!is_good)
			break;
		take_peer(layout, object, addresses[i], &peers[i]);
		procs[i] = word_at(object, layout->peer_proc);
		is_good = is_a(q, &peers[i].receives, CLASS_LIST) &&
			  is_a(q, &peers[i].unexpected, CLASS_LIST);
	}
	is_good = is_good && read_ranks(r, procs, peers, num);
	free(procs);
	free(objects);
	return is_good;
}

/* Of one communicator: its members are in an array, with NULL for those that nothing went to or
 * came from. */
static bool add_members(struct reader *r, size_t comm, uint64_t **addresses, size_t *num,
			size_t *capacity)
{
	const struct comm *from = &r->comms[comm];
	uint64_t *members = xcalloc(from->num_peers, sizeof(*members));
	bool is_good = get(r->q, from->peers, members, from->num_peers * sizeof(*members));

	for (size_t i = 0; i < from->num_peers && is_good; i++) {
		if (!members[i])
			continue;
		is_good = *num < MAX_PAIRS;
		add_peer(r, comm, (int32_t)i);
		*addresses = xgrow(*addresses, *num, capacity, sizeof(**addresses));
		(*addresses)[(*num)++] = members[i];
	}
	free(members);
	return is_good;
}

static int compare_peers(const void *a, const void *b)
{
	const struct peer *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->in_comm > y->in_comm) - (x->in_comm < y->in_comm);
}

static bool read_peers(struct reader *r)
{
	uint64_t *addresses = NULL, total = 0;
	size_t num = 0, capacity = 0;
	bool is_good = true;

	for (size_t i = 0; i < r->num_comms; i++) {
		struct peer *any = add_peer(r, i, ANY_SOURCE);

		any->receives = r->comms[i].wild;
		any->receives_address = r->comms[i].wild_address;
	}
	for (size_t i = 0; i < r->num_comms && is_good; i++) {
		is_good =
			r->comms[i].num_peers <= MAX_MEMBERS - total &&
			(!r->comms[i].num_peers || add_members(r, i, &addresses, &num, &capacity));
		total += r->comms[i].num_peers;
	}
	is_good = is_good && read_peers_at(r, addresses, num);
	free(addresses);
	if (is_good)
		qsort(r->peers, r->num_peers, sizeof(*r->peers), compare_peers);
	return is_good;
}

/* ---- Queues --------------------------------------------------------------------------------- */

static uint32_t comm_in_result(struct reader *r, size_t comm)
{
	struct comm *from = &r->comms[comm];
	struct message_queues *ret = r->ret;

	if (from->index == UINT32_MAX) {
		struct queued_comm *to;

		ret->comms =
			xgrow(ret->comms, ret->num_comms, &r->comms_in_ret, sizeof(*ret->comms));
		to = &ret->comms[ret->num_comms];
		from->index = (uint32_t)ret->num_comms++;
		*to = (struct queued_comm){.size = (uint32_t)from->num_peers};
		queued_comm_set_name(to, from->name, sizeof(from->name));
	}
	return from->index;
}

/* object: q->request_size bytes. */
static bool take_receive(const struct openmpi_queues *q, const uint8_t *object,
			 const struct peer *peer, struct queued_message *ret)
{
	int32_t place[2]; /* peer and tag */

	memcpy(place, object + q->request_size - REQUEST_PEER, sizeof(place));
	ret->tag = place[1] == ANY_TAG ? MESSAGE_ANY_TAG : place[1];
	return place[0] == peer->in_comm;
}

/* object: up to the end of its header. */
static void take_fragment(const struct layout *layout, const uint8_t *object,
			  const struct peer *peer, struct queued_message *ret)
{
	struct header header;

	memcpy(&header, object + layout->fragment_header, sizeof(header));
	ret->tag = header.type >= HEADER_MATCH && header.type <= HEADER_RGET &&
				   header.source == peer->in_comm
			   ? header.tag
			   : MESSAGE_TAG_NOT_KNOWN;
}

/* An item of a list of receives or of unexpected messages, and its links. */
static bool read_item(struct reader *r, const struct peer *peer, bool is_receives, uint64_t address,
		      struct list_item *item, struct queued_message *ret)
{
	struct openmpi_queues *q = r->q;
	uint8_t object[MAX_REQUEST];
	size_t size = r->layout->fragment_header + sizeof(struct header);

	if (is_receives) {
		if (!q->request_size && !find_request_size(q, address))
			return false;
		size = q->request_size;
	}
	if (!get(q, address, object, size) ||
	    !is_a(q, object, is_receives ? CLASS_RECEIVE : CLASS_FRAGMENT))
		return false;
	memcpy(item, object, sizeof(*item));
	*ret = (struct queued_message){.peer = peer->rank, .comm = comm_in_result(r, peer->comm)};
	if (is_receives)
		return take_receive(q, object, peer, ret);
	take_fragment(r->layout, object, peer, ret);
	return true;
}

/* Append what is in the list, if it is whole. */
static bool read_list(struct reader *r, const struct peer *peer, bool is_receives,
		      struct queued_message **messages, size_t *num, size_t *capacity)
{
	const struct list *list = is_receives ? &peer->receives : &peer->unexpected;
	uint64_t end =
		(is_receives ? peer->receives_address : peer->unexpected_address) + LIST_SENTINEL;
	uint64_t previous = end, at = list->sentinel.next, count = 0;

	while (at != end) {
		struct queued_message message;
		struct list_item item;

		if (*num >= MAX_MESSAGES || !read_item(r, peer, is_receives, at, &item, &message) ||
		    item.previous != previous)
			return false;
		*messages = xgrow(*messages, *num, capacity, sizeof(**messages));
		(*messages)[(*num)++] = message;
		previous = at;
		at = item.next;
		count++;
	}
	return count == list->length && previous == list->sentinel.previous;
}

static bool read_peer_queues(struct reader *r, const struct peer *peer)
{
	struct message_queues *ret = r->ret;

	if (!read_list(r, peer, true, &ret->receives, &ret->num_receives, &r->receives_capacity))
		return false;
	if (peer->in_comm == ANY_SOURCE)
		return true;
	if (!read_list(r, peer, false, &ret->unexpected, &ret->num_unexpected,
		       &r->unexpected_capacity))
		return false;
	if (peer->sent || peer->arrived) {
		ret->pairs =
			xgrow(ret->pairs, ret->num_pairs, &r->pairs_capacity, sizeof(*ret->pairs));
		ret->pairs[ret->num_pairs++] = (struct message_pair){
			.peer = peer->rank,
			.comm = comm_in_result(r, peer->comm),
			.sent = (uint16_t)peer->sent,
			.arrived = peer->arrived,
		};
	}
	return true;
}

static struct message_queues *read_once(struct openmpi_queues *queues)
{
	struct reader r = {.q = queues, .ret = message_queues_create()};
	bool is_good = read_comms(&r) && read_peers(&r);

	for (size_t i = 0; i < r.num_peers && is_good; i++)
		is_good = read_peer_queues(&r, &r.peers[i]);
	if (!is_good) {
		message_queues_destroy(r.ret);
		r.ret = NULL;
	}
	free(r.comms);
	free(r.peers);
	return r.ret;
}

struct message_queues *openmpi_queues_read(struct openmpi_queues *queues)
{
	struct message_queues *ret = NULL;

	for (int i = 0; i < TRIES && !ret; i++)
		ret = read_once(queues);
	return ret;
}
