/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/process/memory.h"
#include "attach/queues/mpi_queues.h"
#include "attach/queues/openmpi_objects.h"
#include "model/job/message_queues.h"

/* More than that is not read. */
#define MAX_MEMBERS (1 << 22) /* of all communicators together */
#define MAX_PAIRS 100000
#define MAX_MESSAGES 10000 /* receives, and as many unexpected ones */

#define TRIES 2 /* the process may change what is just being read */

/* Values of Open MPI. */
#define ANY_SOURCE (-1)
#define ANY_TAG (-1)
#define HEADER_MATCH 65 /* kinds of fragments that begin a message */
#define HEADER_RGET 67

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

enum {
	REQUEST_PEER = 24,  /* from the end of what all requests have: peer and tag */
	MAX_REQUEST = 1024, /* bytes of that part */
	MAX_PARENTS = 8,
};

struct openmpi_queues {
	struct openmpi openmpi;
	uint64_t request_size; /* of what all requests have; 0: not known yet */
};

struct openmpi_queues *openmpi_queues_create(const struct memory *memory, const struct maps *maps)
{
	struct openmpi_queues *queues = xcalloc(1, sizeof(*queues));

	if (openmpi_init(&queues->openmpi, memory, maps))
		return queues;
	free(queues);
	return NULL;
}

static bool get(const struct openmpi_queues *q, uint64_t address, void *buffer, size_t size)
{
	return openmpi_get(&q->openmpi, address, buffer, size);
}

/* Objects of other sizes have another layout. */
static bool has_size(const struct openmpi_queues *q, enum openmpi_class kind, size_t size)
{
	return q->openmpi.classes[kind].size == size;
}

/* The size of what all requests have in common, by one that is a receive. */
static bool find_request_size(struct openmpi_queues *q, uint64_t receive)
{
	struct openmpi_class_object class;
	uint64_t address;

	if (!get(q, receive, &address, sizeof(address)) ||
	    !openmpi_is_a(&q->openmpi, &address, OPENMPI_RECEIVE))
		return false;
	for (int i = 0; i < MAX_PARENTS && get(q, address, &class, sizeof(class)); i++) {
		if (openmpi_has_name(&q->openmpi, &class, "mca_pml_base_request_t")) {
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

/* ---- Communicators ---- */

struct queue {
	struct list list;
	uint64_t address;
};

struct comm {
	char name[OPENMPI_NAME_SIZE]; /* maybe without an end */
	struct queue wild;
	uint64_t peers; /* the array of them */
	uint64_t num_peers;
	uint32_t index; /* in the result; UINT32_MAX: not there yet */
};

/* What one has of a peer, or of any peer: then there are only receives. */
struct peer {
	uint64_t address; /* of the object; 0: any peer */
	size_t comm;
	int32_t in_comm; /* rank there; ANY_SOURCE */
	int32_t rank;    /* in the job */
	uint32_t sent;
	uint16_t arrived;
	struct queue receives, unexpected;
};

struct reader {
	struct openmpi_queues *q;
	struct arena *arena;
	const struct openmpi_layout *layout;
	struct comm *comms;
	size_t num_comms;
	struct peer *peers;
	size_t num_peers, peers_capacity;
	struct message_queues *ret;
	size_t comms_in_ret, receives_capacity, unexpected_capacity, pairs_capacity;
};

/* The one at `offset` of an object. */
static bool take_queue(struct openmpi *openmpi, const uint8_t *object, uint64_t address,
		       size_t offset, struct queue *ret)
{
	memcpy(&ret->list, object + offset, sizeof(ret->list));
	ret->address = address + offset;
	return openmpi_is_a(openmpi, &ret->list, OPENMPI_LIST);
}

/* False only if it looks as if it was changed meanwhile, or as nothing that is known. */
static bool read_comm(struct reader *r, const struct openmpi_comm *from)
{
	const struct openmpi_layout *layout = r->layout;
	struct openmpi *openmpi = &r->q->openmpi;
	uint8_t pml[OPENMPI_MAX_OBJECT];

	if (!get(r->q, from->pml, pml, layout->pml_comm_size) ||
	    !openmpi_is_a(openmpi, pml, OPENMPI_PML_COMM) ||
	    !has_size(r->q, OPENMPI_PML_COMM, layout->pml_comm_size))
		return false;
	struct comm *comm = &r->comms[r->num_comms++];
	memcpy(comm->name, from->name, sizeof(comm->name));
	comm->peers = openmpi_word_at(pml, layout->peers);
	comm->num_peers = openmpi_word_at(pml, layout->num_peers);
	comm->index = UINT32_MAX;
	return take_queue(openmpi, pml, from->pml, layout->wild_receives, &comm->wild);
}

static bool read_comms(struct reader *r)
{
	struct openmpi_comms comms;

	if (!openmpi_read_comms(&r->q->openmpi, r->arena, &comms))
		return false;
	r->layout = comms.layout;
	r->comms = arena_array(r->arena, comms.num, sizeof(*r->comms));
	for (size_t i = 0; i < comms.num; i++)
		if (comms.list[i].pml && !read_comm(r, &comms.list[i]))
			return false;
	return r->num_comms > 0;
}

/* ---- Peers ---- */

static struct peer *add_peer(struct reader *r, size_t comm, int32_t in_comm)
{
	struct peer *peer = ARENA_PUSH(r->arena, r->peers, r->num_peers, r->peers_capacity);

	*peer = (struct peer){.comm = comm, .in_comm = in_comm, .rank = MESSAGE_ANY_PEER};
	return peer;
}

static bool take_peer(struct reader *r, const uint8_t *object, struct peer *peer)
{
	const struct openmpi_layout *layout = r->layout;
	struct openmpi *openmpi = &r->q->openmpi;
	uint16_t expected;

	if (!openmpi_is_a(openmpi, object, OPENMPI_PEER) ||
	    !has_size(r->q, OPENMPI_PEER, layout->peer_size))
		return false;
	memcpy(&expected, object + layout->expected, sizeof(expected));
	peer->arrived = (uint16_t)(expected - 1); /* the first one has the number 1 */
	peer->sent = openmpi_half_at(object, layout->sent);
	return take_queue(openmpi, object, peer->address, layout->receives, &peer->receives) &&
	       take_queue(openmpi, object, peer->address, layout->unexpected, &peer->unexpected);
}

/* What the objects of `num` peers say. */
static bool read_objects(struct reader *r, struct peer *peers, size_t num)
{
	const struct openmpi_layout *layout = r->layout;
	struct openmpi *openmpi = &r->q->openmpi;
	uint8_t *objects = arena_array(r->arena, num, layout->peer_size);
	uint64_t *addresses = arena_array(r->arena, num, sizeof(*addresses));

	for (size_t i = 0; i < num; i++)
		addresses[i] = peers[i].address;
	if (memory_get_each(&openmpi->memory, addresses, num, objects, layout->peer_size))
		return false;
	for (size_t i = 0; i < num; i++) {
		const uint8_t *object = objects + i * layout->peer_size;

		if (!take_peer(r, object, &peers[i]))
			return false;
		addresses[i] = openmpi_word_at(object, layout->peer_proc);
	}
	const int32_t *ranks = openmpi_read_ranks(openmpi, r->arena, layout, addresses, num);
	for (size_t i = 0; ranks && i < num; i++)
		peers[i].rank = ranks[i];
	return ranks;
}

/* Of one communicator: an array of its members, NULL for those that never exchanged anything. */
static bool add_members(struct reader *r, size_t comm)
{
	const struct comm *from = &r->comms[comm];
	uint64_t *members = arena_array(r->arena, from->num_peers, sizeof(*members));

	if (from->num_peers && !get(r->q, from->peers, members, from->num_peers * sizeof(*members)))
		return false;
	for (size_t i = 0; i < from->num_peers; i++) {
		if (!members[i])
			continue;
		if (r->num_peers - r->num_comms >= MAX_PAIRS)
			return false;
		add_peer(r, comm, (int32_t)i)->address = members[i];
	}
	return true;
}

SORTED_BY(compare_peers, struct peer, comm, rank, in_comm)

static bool read_peers(struct reader *r)
{
	uint64_t total = 0;

	for (size_t i = 0; i < r->num_comms; i++)
		add_peer(r, i, ANY_SOURCE)->receives = r->comms[i].wild;
	for (size_t i = 0; i < r->num_comms; i++) {
		if (r->comms[i].num_peers > MAX_MEMBERS - total || !add_members(r, i))
			return false;
		total += r->comms[i].num_peers;
	}
	if (!read_objects(r, r->peers + r->num_comms, r->num_peers - r->num_comms))
		return false;
	qsort(r->peers, r->num_peers, sizeof(*r->peers), compare_peers);
	return true;
}

/* ---- Queues ---- */

static uint32_t comm_in_result(struct reader *r, size_t comm)
{
	struct comm *from = &r->comms[comm];
	struct message_queues *ret = r->ret;

	if (from->index == UINT32_MAX) {
		struct queued_comm *to = XPUSH(ret->comms, ret->num_comms, r->comms_in_ret);

		from->index = (uint32_t)(ret->num_comms - 1);
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
static void take_fragment(const struct openmpi_layout *layout, const uint8_t *object,
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
	    !openmpi_is_a(&q->openmpi, object, is_receives ? OPENMPI_RECEIVE : OPENMPI_FRAGMENT))
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
	const struct queue *queue = is_receives ? &peer->receives : &peer->unexpected;
	const struct list *list = &queue->list;
	uint64_t end = queue->address + LIST_SENTINEL;
	uint64_t previous = end, at = list->sentinel.next, count = 0;

	while (at != end) {
		struct queued_message message;
		struct list_item item;

		if (*num >= MAX_MESSAGES || !read_item(r, peer, is_receives, at, &item, &message) ||
		    item.previous != previous)
			return false;
		*XPUSH(*messages, *num, *capacity) = message;
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
		*XPUSH(ret->pairs, ret->num_pairs, r->pairs_capacity) = (struct message_pair){
			.peer = peer->rank,
			.comm = comm_in_result(r, peer->comm),
			.sent = (uint16_t)peer->sent,
			.arrived = peer->arrived,
		};
	}
	return true;
}

static bool read_all(struct reader *r)
{
	if (!read_comms(r) || !read_peers(r))
		return false;
	for (size_t i = 0; i < r->num_peers; i++)
		if (!read_peer_queues(r, &r->peers[i]))
			return false;
	return true;
}

struct message_queues *openmpi_queues_read(struct openmpi_queues *queues)
{
	for (int i = 0; i < TRIES; i++) {
		struct reader r = {
			.q = queues, .arena = arena_create(), .ret = message_queues_create()};
		bool is_good = read_all(&r);

		arena_destroy(r.arena);
		if (is_good)
			return r.ret;
		message_queues_destroy(r.ret);
	}
	return NULL;
}
