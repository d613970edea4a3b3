/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/wrap_made.h"

/* ---- What MPI tells of a communicator ---- */

/* Scratch that the lists of a struct comms_new are in. */
struct lists {
	int *members, *sources;
	size_t members_size, sources_size; /* bytes */
	int few[64];                       /* the members, if they are so few: pages take long */
};

static void release_lists(struct lists *lists)
{
	if (lists->members != lists->few)
		pages_unmap(lists->members, lists->members_size);
	pages_unmap(lists->sources, lists->sources_size);
}

bool wrap_translate(MPI_Group group, MPI_Group base, int first, int num, int *to)
{
	int from[64];

	for (int done = 0; done < num; done += 64) {
		int some = num - done < 64 ? num - done : 64;
		for (int i = 0; i < some; i++)
			from[i] = first + done + i;
		if (!WRAP_ASK(MPI_Group_translate_ranks, group, some, from, base, to + done))
			return false;
		for (int i = done; i < done + some; i++)
			to[i] = to[i] == MPI_UNDEFINED ? -1 : to[i];
	}
	return true;
}

#ifdef WRAP_HAS_ADDRESSES
/* Open MPI compares each member with all of `base`: too slow for the world of a big job. But
 * members mostly follow each other in equal steps, and then a group of these is `base` enough. */
enum { RUN = 64, MAX_COMPARED = 1 << 26 };

static bool is_run(MPI_Group group, MPI_Group base, int base_size, int first, int num, int start,
		   int step, int *to)
{
	int last = start + (num - 1) * step;
	int range[1][3] = {{start, last, step}};
	MPI_Group run;

	if (step == 0 || start < 0 || start >= base_size || last < 0 || last >= base_size ||
	    !WRAP_ASK(MPI_Group_range_incl, base, 1, range, &run))
		return false;
	bool fits = wrap_translate(group, run, first, num, to);
	(void)WRAP_ASK(MPI_Group_free, &run);
	for (int i = 0; i < num; i++) {
		fits = fits && to[i] == i;
		to[i] = start + i * step;
	}
	return fits;
}

static bool world_ranks(MPI_Group group, MPI_Group world, int size, int *to)
{
	int64_t compared = 0;
	int world_size, step = 1, next = 0;

	if (!WRAP_ASK(MPI_Group_size, world, &world_size))
		return false;
	for (int first = 0; first < size; first += RUN) {
		int num = size - first < RUN ? size - first : RUN, *here = to + first;
		bool known = is_run(group, world, world_size, first, num, next, step, here);
		if (!known && num > 1 && wrap_translate(group, world, first, 2, here)) {
			step = here[1] - here[0];
			known = is_run(group, world, world_size, first, num, here[0], step, here);
		}
		compared += known ? 0 : (int64_t)num * world_size;
		if (compared > MAX_COMPARED ||
		    (!known && !wrap_translate(group, world, first, num, here)))
			return false;
		next = here[num - 1] + step;
	}
	return true;
}
#else
static bool world_ranks(MPI_Group group, MPI_Group world, int size, int *to)
{
	return wrap_translate(group, world, 0, size, to);
}
#endif

#ifdef MPI_SESSION_NULL /* Open MPI 5 has sessions and calls itself MPI 3.1 */
static struct {
	bool is_open;
	MPI_Session session;
} last;

void wrap_session_init_after(struct wrap_call *w, const void *at)
{
	last.session = wrap_session_at(at, w->is_fortran);
	last.is_open = true;
}

void wrap_session_finalize_before(struct wrap_call *w, const void *at)
{
	operation_plain(w->lane, SEG_OPERATION_OTHER, OPERATION_CALL);
	if (at && wrap_session_at(at, w->is_fortran) == last.session)
		last.is_open = false;
}
#endif

/* The processes of MPI_COMM_WORLD, also of a program that has sessions alone. */
static bool world_group(MPI_Group *ret)
{
	MPI_Comm world = wrap_world_comm();

	if (comms_find(&comms_here, wrap_comm_key(world)) == 0)
		return WRAP_ASK(MPI_Comm_group, world, ret);
#ifdef MPI_SESSION_NULL
	return last.is_open &&
	       WRAP_ASK(MPI_Group_from_session_pset, last.session, "mpi://WORLD", ret);
#else
	return false;
#endif
}

/* Of a communicator's own or remote group. */
static bool members_of(MPI_Comm comm, bool remote, int size, int *to)
{
	MPI_Group group, world;
	bool known = false;

	if (!(remote ? WRAP_ASK(MPI_Comm_remote_group, comm, &group)
		     : WRAP_ASK(MPI_Comm_group, comm, &group)))
		return false;
	if (world_group(&world)) {
		known = world_ranks(group, world, size, to);
		(void)WRAP_ASK(MPI_Group_free, &world);
	}
	(void)WRAP_ASK(MPI_Group_free, &group);
	return known;
}

static bool get_sizes(MPI_Comm comm, struct comms_new *n)
{
	int size, rank, is_inter, remote_size = 0;

	if (!WRAP_ASK(MPI_Comm_size, comm, &size) || !WRAP_ASK(MPI_Comm_rank, comm, &rank) ||
	    !WRAP_ASK(MPI_Comm_test_inter, comm, &is_inter) ||
	    (is_inter && !WRAP_ASK(MPI_Comm_remote_size, comm, &remote_size)))
		return false;
	n->kind = is_inter ? SEG_COMM_INTER : SEG_COMM_INTRA;
	n->size = size;
	n->rank = rank;
	n->remote_size = remote_size;
	return true;
}

static void get_members(MPI_Comm comm, struct comms_new *n, struct lists *lists)
{
	lists->members_size = ((size_t)n->size + n->remote_size) * sizeof(int);
	lists->members = lists->members_size <= sizeof(lists->few) ? lists->few
								   : pages_map(lists->members_size);
	if (!lists->members)
		return;
	if (members_of(comm, false, n->size, lists->members))
		n->members = lists->members;
	if (n->remote_size && members_of(comm, true, n->remote_size, lists->members + n->size))
		n->remote = lists->members + n->size;
}

/* ---- Topologies: whom neighbourhood collectives receive from, and whom they send to ---- */

static int *scratch(struct lists *lists, int num)
{
	lists->sources_size = (size_t)num * sizeof(int);
	return lists->sources = num > 0 ? pages_map(lists->sources_size) : NULL;
}

/* Two in each dimension; over an edge that is not periodic there is none. */
static int cart_sources(MPI_Comm comm, struct lists *lists)
{
	int num = 0, dims, both[2];

	if (!WRAP_ASK(MPI_Cartdim_get, comm, &dims) || !scratch(lists, 2 * dims))
		return 0;
	for (int d = 0; d < dims; d++) {
		if (!WRAP_ASK(MPI_Cart_shift, comm, d, 1, &both[0], &both[1]))
			return 0;
		for (int i = 0; i < 2; i++)
			if (both[i] >= 0)
				lists->sources[num++] = both[i];
	}
	return num;
}

static int graph_sources(MPI_Comm comm, int rank, struct lists *lists)
{
	int num;

	return WRAP_ASK(MPI_Graph_neighbors_count, comm, rank, &num) && scratch(lists, num) &&
			       WRAP_ASK(MPI_Graph_neighbors, comm, rank, num, lists->sources)
		       ? num
		       : 0;
}

static int dist_graph_sources(MPI_Comm comm, struct lists *lists, uint32_t *num_destinations_ret)
{
	int in, out, weighted;

	if (!WRAP_ASK(MPI_Dist_graph_neighbors_count, comm, &in, &out, &weighted) ||
	    !scratch(lists, 2 * (in + out)))
		return 0;
	int *targets = lists->sources + in, *weights = targets + out;
	if (!WRAP_ASK(MPI_Dist_graph_neighbors, comm, in, lists->sources, weights, out, targets,
		      weights + in))
		return 0;
	*num_destinations_ret = out;
	return in;
}

/* MPI_Topo_test is not asked: Open MPI 5 takes a graph that was made from a Cartesian communicator
 * for one as well, and crashes when it is asked for the dimensions. */
static int get_sources(enum wrap_topology topology, MPI_Comm comm, int rank, struct lists *lists,
		       uint32_t *num_destinations_ret)
{
	switch (topology) {
	case WRAP_CART:
		return cart_sources(comm, lists);
	case WRAP_GRAPH:
		return graph_sources(comm, rank, lists);
	case WRAP_DIST_GRAPH:
		return dist_graph_sources(comm, lists, num_destinations_ret);
	default:
		return 0;
	}
}

/* ---- Communicators ---- */

COLD void wrap_made(struct wrap_call *w, const void *at, enum wrap_topology topology,
		    struct comms_new n)
{
	struct lists lists = {0};
	MPI_Comm comm = wrap_comm_at(at, w->is_fortran);

	n.key = wrap_comm_key(comm);
	n.site = w->lane ? w->lane->site : 0;
	/* MPI_COMM_NULL: this rank is not in it. */
	if (comms_find(&comms_here, n.key) == SEG_NO_COMM)
		return;
	if (!n.like_parent && get_sizes(comm, &n)) {
		get_members(comm, &n, &lists);
		n.num_sources = get_sources(topology, comm, n.rank, &lists, &n.num_destinations);
		n.sources = n.num_sources || n.num_destinations ? lists.sources : NULL;
	}
	process_made(&n);
	release_lists(&lists);
}

/* Collective over the parent, that everybody in it counts. */
void wrap_make_before(struct wrap_call *w, uint32_t parent)
{
	wrap_collective(w, parent, wrap_uneven, 0);
	w->ordinal = comms_child(&comms_here, parent);
}

void wrap_make_after(struct wrap_call *w, const void *comm, enum wrap_topology topology)
{
	wrap_made(w, comm, topology,
		  (struct comms_new){
			  .origin = COMMID_COLLECTIVE, .parent = w->comm, .ordinal = w->ordinal});
}

void wrap_duplicate_after(struct wrap_call *w, const void *comm)
{
	wrap_made(w, comm, WRAP_NO_TOPOLOGY,
		  (struct comms_new){.origin = COMMID_COLLECTIVE,
				     .parent = w->comm,
				     .ordinal = w->ordinal,
				     .kind = comms_kind(&comms_here, w->comm),
				     .like_parent = true,
				     .has_topology_of_parent = true});
}

static bool is_unknown(const struct wrap_call *w, const void *comm)
{
	return comms_find(&comms_here, wrap_comm_key(wrap_comm_at(comm, w->is_fortran))) ==
	       HANDLES_UNKNOWN;
}

/* Returns at once. The handle is there already, though it may not be used yet. */
void wrap_idup_before(struct wrap_call *w, uint32_t parent)
{
	wrap_start(w, parent, wrap_uneven, 0);
	w->ordinal = comms_child(&comms_here, parent);
}

void wrap_idup_after(struct wrap_call *w, int ret, const void *comm, const void *request)
{
	wrap_request_made_after(w, ret, request);
	/* A library that sets it later leaves what the variable held before. */
	if (ret == MPI_SUCCESS && is_unknown(w, comm))
		wrap_duplicate_after(w, comm);
}

void wrap_from_group_after(struct wrap_call *w, const char *tag, size_t length, const void *comm)
{
	struct comms_new n = {.origin = COMMID_SESSION, .parent = SEG_NO_COMM};

	length = wrap_text_length(w, tag, length);
	for (size_t i = 0; i < length; i++)
		n.extra = commid_step(n.extra, (unsigned char)tag[i]);
	wrap_made(w, comm, WRAP_NO_TOPOLOGY, n);
}

/* Spawn, connect, accept: what it needs of the other world is not known. */
void wrap_spawn_before(struct wrap_call *w, int root, uint32_t comm)
{
	comms_start(&comms_here, comm, w->lane->site, wrap_peer(root), SEG_NO_BYTES);
	operation_plain(w->lane, SEG_OPERATION_OTHER, OPERATION_CALL);
	w->comm = comm;
	w->ordinal = comms_child(&comms_here, comm);
}

void wrap_spawn_after(struct wrap_call *w, const void *comm)
{
	wrap_made(w, comm, WRAP_NO_TOPOLOGY,
		  (struct comms_new){.parent = w->comm, .ordinal = w->ordinal});
}

void wrap_join_after(struct wrap_call *w, const void *comm)
{
	wrap_made(w, comm, WRAP_NO_TOPOLOGY, (struct comms_new){.parent = SEG_NO_COMM});
}

/* The intercommunicator to the processes that spawned this world was made in MPI_Init. */
void wrap_get_parent_after(struct wrap_call *w, const void *comm)
{
	if (is_unknown(w, comm))
		wrap_join_after(w, comm);
}

void wrap_name_after(struct wrap_call *w, uint32_t index, const char *text, size_t length)
{
	if (text)
		process_name(index, text, wrap_text_length(w, text, length));
}

/* ---- Freeing ---- */

/* Counted on what is freed: its members, and they alone, do so. Another thread may get the handle
 * for something new from now on. Key 0: there is no handle, which MPI is going to refuse. */
static void free_index(struct wrap_call *w, uint32_t index, uint64_t key)
{
	wrap_collective(w, index, wrap_uneven, 0);
	bool is_shared = w->lane->requests->is_shared;
	w->key = is_shared ? key : 0;
	if (is_shared)
		process_unmap(index);
}

void wrap_freed_after(struct wrap_call *w, int ret)
{
	if (ret == MPI_SUCCESS)
		process_freed(w->comm);
	else if (w->key) /* unmapped before */
		process_map(w->key, w->comm);
}

/* Of a handle that the program gives by its address. */
#define FREE(shape_, type_, name_)                                                                 \
	void wrap_##shape_##_before(struct wrap_call *w, const void *at)                           \
	{                                                                                          \
		if (!at) {                                                                         \
			free_index(w, SEG_NO_COMM, 0);                                             \
			return;                                                                    \
		}                                                                                  \
		type_ handle = wrap_##name_##_at(at, w->is_fortran);                               \
		free_index(w, wrap_c_##type_(handle), wrap_##name_##_key(handle));                 \
	}

FREE(free_comm, MPI_Comm, comm)
FREE(free_win, MPI_Win, win)
FREE(close_file, MPI_File, file)

/* ---- Windows and files ---- */

/* The groups are those of the communicator. */
static void made_from(struct wrap_call *w, enum seg_comm_kind kind, uint64_t key)
{
	process_made(&(struct comms_new){
		.kind = kind,
		.origin = COMMID_COLLECTIVE,
		.key = key,
		.parent = w->comm,
		.ordinal = w->ordinal,
		.site = w->lane->site,
		.like_parent = true,
	});
}

void wrap_make_win_after(struct wrap_call *w, const void *at)
{
	made_from(w, SEG_COMM_WINDOW, wrap_win_key(wrap_win_at(at, w->is_fortran)));
}

void wrap_open_file_after(struct wrap_call *w, const void *at)
{
	made_from(w, SEG_COMM_FILE, wrap_file_key(wrap_file_at(at, w->is_fortran)));
}
