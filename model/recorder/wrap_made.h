/* SPDX-License-Identifier: BSD-3-Clause
 * The hooks of calls that make and free communicators, windows and files. What MPI is asked about
 * a new one is local: its groups and its topology. Included by wrap.h. */
#ifndef PDB_RECORDER_WRAP_MADE_H
#define PDB_RECORDER_WRAP_MADE_H

#include "model/recorder/pages.h"
#include "model/recorder/wrap_collectives.h"

/* ---- What MPI tells of a communicator ---- */

/* Scratch that the lists of a struct comms_new are in. */
struct wrap_lists {
	int *members, *sources;
	size_t members_size, sources_size; /* bytes */
	int few[64];                       /* the members, if they are so few: pages take long */
};

static void wrap_release_lists(struct wrap_lists *lists)
{
	if (lists->members != lists->few)
		pages_unmap(lists->members, lists->members_size);
	pages_unmap(lists->sources, lists->sources_size);
}

/* Ranks in `base` of members `first` to `first + num - 1` of a group; -1 for those not in it. */
static bool wrap_translate(MPI_Group group, MPI_Group base, int first, int num, int *to)
{
	__typeof__(&MPI_Group_translate_ranks) translate = WRAP_PMPI(MPI_Group_translate_ranks);
	int from[64];

	for (int done = 0; done < num; done += 64) {
		int some = num - done < 64 ? num - done : 64;
		for (int i = 0; i < some; i++)
			from[i] = first + done + i;
		if (!translate || translate(group, some, from, base, to + done) != MPI_SUCCESS)
			return false;
		for (int i = done; i < done + some; i++)
			to[i] = to[i] == MPI_UNDEFINED ? -1 : to[i];
	}
	return true;
}

#ifdef OPEN_MPI
/* Open MPI compares each member with those of `base`, one after the other: too slow for the world
 * of a big job. But members mostly follow each other in equal steps, and then a group of these
 * alone is `base` enough. */
enum { WRAP_RUN = 64, WRAP_MAX_COMPARED = 1 << 26 };

static bool wrap_is_run(MPI_Group group, MPI_Group base, int base_size, int first, int num,
			int start, int step, int *to)
{
	__typeof__(&MPI_Group_range_incl) include = WRAP_PMPI(MPI_Group_range_incl);
	__typeof__(&MPI_Group_free) group_free = WRAP_PMPI(MPI_Group_free);
	int last = start + (num - 1) * step;
	int range[1][3] = {{start, last, step}};
	MPI_Group run;

	if (step == 0 || start < 0 || start >= base_size || last < 0 || last >= base_size ||
	    !include || !group_free || include(base, 1, range, &run) != MPI_SUCCESS)
		return false;
	bool fits = wrap_translate(group, run, first, num, to);
	group_free(&run);
	for (int i = 0; i < num; i++) {
		fits = fits && to[i] == i;
		to[i] = start + i * step;
	}
	return fits;
}

static bool wrap_world_ranks(MPI_Group group, MPI_Group world, int size, int *to)
{
	__typeof__(&MPI_Group_size) get_size = WRAP_PMPI(MPI_Group_size);
	int64_t compared = 0;
	int world_size, step = 1, next = 0;

	if (!get_size || get_size(world, &world_size) != MPI_SUCCESS)
		return false;
	for (int first = 0; first < size; first += WRAP_RUN) {
		int num = size - first < WRAP_RUN ? size - first : WRAP_RUN, *here = to + first;
		bool known = wrap_is_run(group, world, world_size, first, num, next, step, here);
		if (!known && num > 1 && wrap_translate(group, world, first, 2, here)) {
			step = here[1] - here[0];
			known = wrap_is_run(group, world, world_size, first, num, here[0], step,
					    here);
		}
		compared += known ? 0 : (int64_t)num * world_size;
		if (compared > WRAP_MAX_COMPARED ||
		    (!known && !wrap_translate(group, world, first, num, here)))
			return false;
		next = here[num - 1] + step;
	}
	return true;
}
#else
static bool wrap_world_ranks(MPI_Group group, MPI_Group world, int size, int *to)
{
	return wrap_translate(group, world, 0, size, to);
}
#endif

#ifdef MPI_SESSION_NULL /* Open MPI 5 has sessions and calls itself MPI 3.1 */
static struct {
	bool is_open;
	MPI_Session session;
} wrap_last;

static void wrap_session_init_after(struct wrap_call *w, int ret, const void *at)
{
	if (ret != MPI_SUCCESS)
		return;
	wrap_last.session = wrap_session_at(at, w->is_fortran);
	wrap_last.is_open = true;
}

static void wrap_session_finalize_before(struct wrap_call *w, const void *at)
{
	operation_plain(w->lane, SEG_OPERATION_OTHER, OPERATION_CALL);
	if (at && wrap_session_at(at, w->is_fortran) == wrap_last.session)
		wrap_last.is_open = false;
}
#endif

/* The processes of MPI_COMM_WORLD, also of a program that has sessions alone. */
static bool wrap_world_group(MPI_Group *ret)
{
	MPI_Comm world = wrap_world_comm();

	if (comms_find(&comms_here, wrap_comm_key(world)) == 0) {
		__typeof__(&MPI_Comm_group) comm_group = WRAP_PMPI(MPI_Comm_group);
		return comm_group && comm_group(world, ret) == MPI_SUCCESS;
	}
#ifdef MPI_SESSION_NULL /* Open MPI 5 has sessions and calls itself MPI 3.1 */
	__typeof__(&MPI_Group_from_session_pset) get = WRAP_PMPI(MPI_Group_from_session_pset);
	return wrap_last.is_open && get &&
	       get(wrap_last.session, "mpi://WORLD", ret) == MPI_SUCCESS;
#else
	return false;
#endif
}

static bool wrap_members_of(MPI_Group group, int size, int *to)
{
	__typeof__(&MPI_Group_free) group_free = WRAP_PMPI(MPI_Group_free);
	MPI_Group world;

	if (!group_free || !wrap_world_group(&world))
		return false;
	bool known = wrap_world_ranks(group, world, size, to);
	group_free(&world);
	return known;
}

/* Of a communicator's own or remote group. */
static bool wrap_members(MPI_Comm comm, bool remote, int size, int *to)
{
	__typeof__(&MPI_Comm_group) get =
		remote ? WRAP_PMPI(MPI_Comm_remote_group) : WRAP_PMPI(MPI_Comm_group);
	__typeof__(&MPI_Group_free) group_free = WRAP_PMPI(MPI_Group_free);
	MPI_Group group;

	if (!get || !group_free || get(comm, &group) != MPI_SUCCESS)
		return false;
	bool known = wrap_members_of(group, size, to);
	group_free(&group);
	return known;
}

static bool wrap_get_sizes(MPI_Comm comm, struct comms_new *n)
{
	__typeof__(&MPI_Comm_size) get_size = WRAP_PMPI(MPI_Comm_size);
	__typeof__(&MPI_Comm_rank) get_rank = WRAP_PMPI(MPI_Comm_rank);
	__typeof__(&MPI_Comm_test_inter) test_inter = WRAP_PMPI(MPI_Comm_test_inter);
	__typeof__(&MPI_Comm_remote_size) get_remote_size = WRAP_PMPI(MPI_Comm_remote_size);
	int size, rank, is_inter, remote_size = 0;

	if (!get_size || !get_rank || !test_inter || !get_remote_size ||
	    get_size(comm, &size) != MPI_SUCCESS || get_rank(comm, &rank) != MPI_SUCCESS ||
	    test_inter(comm, &is_inter) != MPI_SUCCESS ||
	    (is_inter && get_remote_size(comm, &remote_size) != MPI_SUCCESS))
		return false;
	n->kind = is_inter ? SEG_COMM_INTER : SEG_COMM_INTRA;
	n->size = size;
	n->rank = rank;
	n->remote_size = remote_size;
	return true;
}

static void wrap_get_members(MPI_Comm comm, struct comms_new *n, struct wrap_lists *lists)
{
	lists->members_size = ((size_t)n->size + n->remote_size) * sizeof(int);
	lists->members = lists->members_size <= sizeof(lists->few) ? lists->few
								   : pages_map(lists->members_size);
	if (!lists->members)
		return;
	if (wrap_members(comm, false, n->size, lists->members))
		n->members = lists->members;
	if (n->remote_size && wrap_members(comm, true, n->remote_size, lists->members + n->size))
		n->remote = lists->members + n->size;
}

/* ---- Topologies: whom neighbourhood collectives receive from ---- */

static int *wrap_scratch(struct wrap_lists *lists, int num)
{
	lists->sources_size = (size_t)num * sizeof(int);
	return lists->sources = num > 0 ? pages_map(lists->sources_size) : NULL;
}

/* What made the communicator tells its topology, not MPI_Topo_test: Open MPI 5 takes a graph
 * that was made from a Cartesian communicator for one as well, and crashes when it is asked for
 * the dimensions. */
typedef int wrap_get_sources(MPI_Comm comm, int rank, struct wrap_lists *lists);

/* Two in each dimension; over an edge that is not periodic there is none. */
static int wrap_cart_sources(MPI_Comm comm, int rank, struct wrap_lists *lists)
{
	(void)rank;
	__typeof__(&MPI_Cartdim_get) get_dims = WRAP_PMPI(MPI_Cartdim_get);
	__typeof__(&MPI_Cart_shift) shift = WRAP_PMPI(MPI_Cart_shift);
	int num = 0, dims, both[2];

	if (!get_dims || !shift || get_dims(comm, &dims) != MPI_SUCCESS ||
	    !wrap_scratch(lists, 2 * dims))
		return 0;
	for (int d = 0; d < dims; d++) {
		if (shift(comm, d, 1, &both[0], &both[1]) != MPI_SUCCESS)
			return 0;
		for (int i = 0; i < 2; i++)
			if (both[i] >= 0)
				lists->sources[num++] = both[i];
	}
	return num;
}

static int wrap_graph_sources(MPI_Comm comm, int rank, struct wrap_lists *lists)
{
	__typeof__(&MPI_Graph_neighbors_count) get_count = WRAP_PMPI(MPI_Graph_neighbors_count);
	__typeof__(&MPI_Graph_neighbors) get = WRAP_PMPI(MPI_Graph_neighbors);
	int num;

	if (!get_count || !get || get_count(comm, rank, &num) != MPI_SUCCESS ||
	    !wrap_scratch(lists, num) || get(comm, rank, num, lists->sources) != MPI_SUCCESS)
		return 0;
	return num;
}

static int wrap_dist_graph_sources(MPI_Comm comm, int rank, struct wrap_lists *lists)
{
	(void)rank;
	__typeof__(&MPI_Dist_graph_neighbors_count) get_count =
		WRAP_PMPI(MPI_Dist_graph_neighbors_count);
	__typeof__(&MPI_Dist_graph_neighbors) get = WRAP_PMPI(MPI_Dist_graph_neighbors);
	int in, out, weighted;

	if (!get_count || !get || get_count(comm, &in, &out, &weighted) != MPI_SUCCESS ||
	    !wrap_scratch(lists, 2 * (in + out)))
		return 0;
	int *sources = lists->sources, *weights = sources + in;
	int *targets = weights + in, *target_weights = targets + out;
	return get(comm, in, sources, weights, out, targets, target_weights) == MPI_SUCCESS ? in
											    : 0;
}

/* ---- Communicators ---- */

/* It exists now. `get_sources`: of its topology; NULL: it has none, or that of its parent. */
static COLD void wrap_made(struct wrap_call *w, struct comms_new *n, const void *at,
			   wrap_get_sources *get_sources)
{
	struct wrap_lists lists = {0};
	MPI_Comm comm = wrap_comm_at(at, w->is_fortran);

	n->key = wrap_comm_key(comm);
	n->site = w->lane ? w->lane->site : 0;
	/* MPI_COMM_NULL: this rank is not in it. */
	if (comms_find(&comms_here, n->key) == SEG_NO_COMM)
		return;
	if (!n->like_parent && wrap_get_sizes(comm, n)) {
		wrap_get_members(comm, n, &lists);
		n->num_sources = get_sources ? get_sources(comm, n->rank, &lists) : 0;
		n->sources = n->num_sources ? lists.sources : NULL;
	}
	process_made(n);
	wrap_release_lists(&lists);
}

/* Collective over the parent, that everybody in it counts. */
static void wrap_make_before(struct wrap_call *w, uint32_t parent)
{
	wrap_collective(w, parent, wrap_uneven_given(), 0);
	w->ordinal = comms_child(&comms_here, parent);
}

static void wrap_made_of(struct wrap_call *w, int ret, const void *comm,
			 wrap_get_sources *get_sources)
{
	struct comms_new n = {
		.origin = COMMID_COLLECTIVE, .parent = w->comm, .ordinal = w->ordinal};

	if (ret == MPI_SUCCESS)
		wrap_made(w, &n, comm, get_sources);
}

static void wrap_make_after(struct wrap_call *w, int ret, const void *comm)
{
	wrap_made_of(w, ret, comm, NULL);
}

#define WRAP_MAKE(topology_)                                                                       \
	static void wrap_make_##topology_##_after(struct wrap_call *w, int ret, const void *comm)  \
	{                                                                                          \
		wrap_made_of(w, ret, comm, wrap_##topology_##_sources);                            \
	}

WRAP_MAKE(cart)
WRAP_MAKE(graph)
WRAP_MAKE(dist_graph)

static void wrap_duplicate_after(struct wrap_call *w, int ret, const void *comm)
{
	struct comms_new n = {
		.origin = COMMID_COLLECTIVE,
		.parent = w->comm,
		.ordinal = w->ordinal,
		.kind = comms_kind(&comms_here, w->comm),
		.like_parent = true,
		.has_topology_of_parent = true,
	};

	if (ret == MPI_SUCCESS)
		wrap_made(w, &n, comm, NULL);
}

/* Returns at once. The handle is there already, though it may not be used yet. */
static void wrap_idup_before(struct wrap_call *w, uint32_t parent)
{
	wrap_start(w, parent, wrap_uneven_given(), 0);
	w->ordinal = comms_child(&comms_here, parent);
}

static void wrap_idup_after(struct wrap_call *w, int ret, const void *comm, const void *request)
{
	wrap_request_made_after(w, ret, request);
	/* A library that sets it later leaves what the variable held before. */
	if (ret == MPI_SUCCESS &&
	    comms_find(&comms_here, wrap_comm_key(wrap_comm_at(comm, w->is_fortran))) ==
		    HANDLES_UNKNOWN)
		wrap_duplicate_after(w, ret, comm);
}

static inline void wrap_from_group_after(struct wrap_call *w, int ret, const char *tag,
					 size_t length, const void *comm)
{
	struct comms_new n = {.origin = COMMID_SESSION, .parent = SEG_NO_COMM};

	if (ret != MPI_SUCCESS)
		return;
	length = wrap_text_length(w, tag, length);
	for (size_t i = 0; i < length; i++)
		n.extra = commid_step(n.extra, (unsigned char)tag[i]);
	wrap_made(w, &n, comm, NULL);
}

/* Spawn, connect, accept: what it needs of the other world is not known. */
static void wrap_spawn_before(struct wrap_call *w, int root, uint32_t comm)
{
	comms_start(&comms_here, comm, w->lane->site, wrap_peer(root), SEG_NO_BYTES);
	operation_plain(w->lane, SEG_OPERATION_OTHER, OPERATION_CALL);
	w->comm = comm;
	w->ordinal = comms_child(&comms_here, comm);
}

static void wrap_spawn_after(struct wrap_call *w, int ret, const void *comm)
{
	struct comms_new n = {.origin = COMMID_NONE, .parent = w->comm, .ordinal = w->ordinal};

	if (ret == MPI_SUCCESS)
		wrap_made(w, &n, comm, NULL);
}

static void wrap_join_after(struct wrap_call *w, int ret, const void *comm)
{
	struct comms_new n = {.origin = COMMID_NONE, .parent = SEG_NO_COMM};

	if (ret == MPI_SUCCESS)
		wrap_made(w, &n, comm, NULL);
}

/* The intercommunicator to the processes that spawned this world was made in MPI_Init. */
static void wrap_get_parent_after(struct wrap_call *w, int ret, const void *at)
{
	struct comms_new n = {.origin = COMMID_NONE, .parent = SEG_NO_COMM};

	if (ret == MPI_SUCCESS &&
	    comms_find(&comms_here, wrap_comm_key(wrap_comm_at(at, w->is_fortran))) ==
		    HANDLES_UNKNOWN)
		wrap_made(w, &n, at, NULL);
}

static void wrap_name_after(struct wrap_call *w, int ret, uint32_t index, const char *text,
			    size_t length)
{
	if (ret == MPI_SUCCESS && text)
		process_name(index, text, wrap_text_length(w, text, length));
}

/* ---- Freeing ---- */

/* Counted on what is freed: its members, and they alone, do so. Where another thread may get the
 * handle for something new from now on, the handle means nothing any more. Key 0: there is no
 * handle, which MPI is going to refuse. */
static void wrap_free(struct wrap_call *w, uint32_t index, uint64_t key)
{
	wrap_collective(w, index, wrap_uneven_given(), 0);
	bool is_shared = w->lane->requests->is_shared;
	w->key = is_shared ? key : 0;
	if (is_shared)
		process_unmap(index);
}

static void wrap_freed_after(struct wrap_call *w, int ret)
{
	if (ret == MPI_SUCCESS)
		process_freed(w->comm);
	else if (w->key) /* unmapped before */
		process_map(w->key, w->comm);
}

/* Of a handle that the program gives by its address. */
#define WRAP_FREE(shape_, type_, name_)                                                            \
	static void wrap_##shape_##_before(struct wrap_call *w, const void *at)                    \
	{                                                                                          \
		if (!at) {                                                                         \
			wrap_free(w, SEG_NO_COMM, 0);                                              \
			return;                                                                    \
		}                                                                                  \
		type_ handle = wrap_##name_##_at(at, w->is_fortran);                               \
		wrap_free(w, wrap_##name_(handle), wrap_##name_##_key(handle));                    \
	}

WRAP_FREE(free_comm, MPI_Comm, comm)
WRAP_FREE(free_win, MPI_Win, win)
WRAP_FREE(close_file, MPI_File, file)

/* ---- Windows and files ---- */

/* The groups are those of the communicator. */
static COLD void wrap_made_from(struct wrap_call *w, enum seg_comm_kind kind, uint64_t key)
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

static void wrap_make_win_after(struct wrap_call *w, int ret, const void *at)
{
	if (ret == MPI_SUCCESS)
		wrap_made_from(w, SEG_COMM_WINDOW, wrap_win_key(wrap_win_at(at, w->is_fortran)));
}

static void wrap_open_file_after(struct wrap_call *w, int ret, const void *at)
{
	if (ret == MPI_SUCCESS)
		wrap_made_from(w, SEG_COMM_FILE, wrap_file_key(wrap_file_at(at, w->is_fortran)));
}

#endif
