/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "model/hash.h"
#include "model/job/model.h"
#include "model/segment/segment_private.h"
#include "model/segment/segment_watch.h"

/* A writer that cannot be caught between two writes: at the next look perhaps. */
enum { LOCK_TRIES = 50, PATH_SIZE = 256 };
/* Call paths can be much longer together than the table of their frames: each step is charged. */
enum { STEP_COST = 8 };

/* What is known of a site or a module; its hash is 0 as long as nothing is. */
struct known {
	uint64_t hash;
	uint16_t class_id; /* of a site */
};

struct known_table {
	struct known *entries;
	size_t num;
};

struct segment_watch {
	struct reader reader;
	struct model unused; /* the reader wants one */
	size_t num_lanes;    /* known to be inside the file */
	struct known_table sites, modules;
	struct segment_pulse last;
	uint64_t newest; /* ticks of the last transition that was seen */
	uint32_t state;  /* of the thread that made it */
};

struct segment_watch *segment_watch_create(int fd, struct pdb_error *err)
{
	struct segment_watch *watch = xcalloc(1, sizeof(*watch));

	watch->reader = (struct reader){.fd = fd, .model = &watch->unused};
	if (segment_read_header(fd, &watch->reader.header, err) < 0) {
		segment_watch_destroy(watch);
		return NULL;
	}
	return watch;
}

void segment_watch_destroy(struct segment_watch *watch)
{
	if (!watch)
		return;
	close(watch->reader.fd);
	free(watch->sites.entries);
	free(watch->modules.entries);
	free(watch);
}

static struct known *know(struct known_table *table, uint32_t index)
{
	if (index >= table->num)
		table->entries = xgrow_to(table->entries, &table->num, 2 * (size_t)index + 16,
					  sizeof(*table->entries));
	return &table->entries[index];
}

/* By its build-id, else by its path. */
static int hash_module(struct segment_watch *watch, uint32_t index, uint64_t *ret)
{
	const uint64_t strings = watch->reader.header.tables[SEG_TABLE_STRINGS].offset;
	char path[PATH_SIZE] = "";
	struct seg_module module;

	*ret = 0;
	if (index == SEG_NO_FRAME)
		return 0;
	if (reader_copy_entry(&watch->reader, SEG_TABLE_MODULES, index, &module) < 0)
		return -1;
	struct known *known = know(&watch->modules, index);
	if (!known->hash && module.build_id_size > 0 &&
	    module.build_id_size <= sizeof(module.build_id)) {
		known->hash = hash_bytes(module.build_id, module.build_id_size);
	} else if (!known->hash) {
		if (segment_pread(watch->reader.fd, path, sizeof(path) - 1, strings + module.path,
				  watch->reader.err) < 0)
			return -1;
		known->hash = hash_bytes(path, strlen(path));
	}
	*ret = known->hash;
	return 0;
}

static int hash_path(struct segment_watch *watch, uint32_t frame, uint64_t *ret)
{
	while (frame != SEG_NO_FRAME) {
		struct seg_frame entry;
		uint64_t module;

		if (reader_spend(&watch->reader, STEP_COST) < 0 ||
		    reader_copy_entry(&watch->reader, SEG_TABLE_FRAMES, frame, &entry) < 0 ||
		    hash_module(watch, entry.module, &module) < 0)
			return -1;
		if (entry.parent != SEG_NO_FRAME && entry.parent >= frame)
			return reader_bad_entry(&watch->reader, "frame", frame);
		*ret = hash_word(*ret, module);
		*ret = hash_word(*ret, entry.offset);
		frame = entry.parent;
	}
	return 0;
}

/* What is known of a site, which is read if nothing is; NULL: the segment is damaged. */
static const struct known *know_site(struct segment_watch *watch, uint32_t index)
{
	struct seg_site site;
	uint64_t hash = 1;

	if (index >= SEG_MAX_SITES) {
		reader_bad_entry(&watch->reader, "site", index);
		return NULL;
	}
	struct known *known = know(&watch->sites, index);
	if (known->hash)
		return known;
	if (reader_copy_entry(&watch->reader, SEG_TABLE_SITES, index, &site) < 0 ||
	    hash_path(watch, site.frame, &hash) < 0)
		return NULL;
	known->hash = hash_word(hash, site.class_id);
	known->class_id = site.class_id;
	return known;
}

static uint64_t place_of(const struct known *site, uint32_t state)
{
	return hash_word(site->hash, SEG_STATE_IS_EXIT(state));
}

/* The state that is this place in the rank's own numbers; *found: it has been there. */
static int find_state(struct segment_watch *watch, uint64_t place, uint32_t *ret, bool *found)
{
	uint32_t count;

	*found = false;
	if (reader_take_count(&watch->reader, SEG_TABLE_SITES) < 0)
		return -1;
	count = watch->reader.header.tables[SEG_TABLE_SITES].count;
	for (uint32_t site = 0; site < count && site < SEG_MAX_SITES && !*found; site++) {
		const struct known *known = know_site(watch, site);

		if (!known)
			return -1;
		for (uint32_t side = 0; side < 2 && !*found; side++) {
			*ret = SEG_STATE_ENTER(site) + side;
			*found = place_of(known, *ret) == place;
		}
	}
	return 0;
}

/* How often the lane has called the site. */
static int count_calls(struct segment_watch *watch, uint64_t base, struct raw_lane *lane,
		       uint32_t site, uint64_t *ret)
{
	uint32_t count = lane->head.tables[SEG_LANE_TRANSITIONS].count;
	const struct seg_transition *entries =
		reader_copy_lane_table(&watch->reader, base, lane, SEG_LANE_TRANSITIONS, count);

	*ret = 0;
	for (uint32_t i = 0; entries && i < count; i++)
		if (entries[i].to == SEG_STATE_ENTER(site))
			*ret += entries[i].count;
	return entries ? 0 : -1;
}

/* The lane's completed stays in the state; those between two polls in it count, too. */
static int take_stays(struct segment_watch *watch, uint64_t base, const struct seg_lane *head,
		      uint32_t state, const struct segment_clock *clock, struct segment_stays *ret)
{
	struct raw_lane lane = {.head = *head, .arena = arena_create()};
	struct reader *r = &watch->reader;
	struct seg_state entry = {.longest = 0};
	int status = count_calls(watch, base, &lane, SEG_STATE_SITE(state), &ret->num);

	if (status == 0 && state < head->tables[SEG_LANE_STATES].capacity &&
	    (reader_check_lane_table(r, head, SEG_LANE_STATES, state + 1) < 0 ||
	     reader_copy_lane_entries(r, base, head, SEG_LANE_STATES, state, 1, &entry) < 0))
		status = -1;
	arena_destroy(lane.arena);
	if (status < 0)
		return -1;
	/* The present one is not over, and that after the present call has not begun. */
	if (ret->num > 0 && (head->current.state == state ||
			     head->current.state == SEG_STATE_ENTER(SEG_STATE_SITE(state))))
		ret->num--;
	ret->longest_ns = segment_clock_duration(clock, entry.longest);
	if (SEG_STATE_IS_EXIT(state) && entry.polls > entry.longest)
		ret->longest_ns = segment_clock_duration(clock, entry.polls);
	return 0;
}

/* 0: not since it came into its state. */
static uint64_t last_poll(const struct segment_watch *watch, const struct seg_current *current)
{
	struct segment_clock clock;

	if (!SEG_STATE_IS_EXIT(current->state) || !current->poll_site)
		return 0;
	segment_clock_init(&clock, &watch->reader.header, current->poll_ticks);
	return segment_clock_time(&clock, current->poll_ticks);
}

/* What does not change until somebody makes a transition. */
static int take_stay(struct segment_watch *watch, size_t lane, const struct seg_current *current,
		     struct segment_pulse *pulse)
{
	uint64_t base = reader_lane_base(&watch->reader, lane);
	struct segment_clock clock;
	struct seg_lane head;

	if (current->since == watch->newest && current->state == watch->state) {
		pulse->since_ns = watch->last.since_ns;
		pulse->class_id = watch->last.class_id;
		pulse->tid = watch->last.tid;
		pulse->place = watch->last.place;
		pulse->stays = watch->last.stays;
		return 0;
	}
	segment_clock_init(&clock, &watch->reader.header, current->since);
	pulse->since_ns = segment_clock_time(&clock, current->since);
	const struct known *known = know_site(watch, SEG_STATE_SITE(current->state));
	if (!known ||
	    segment_pread(watch->reader.fd, &head, sizeof(head), base, watch->reader.err) < 0 ||
	    take_stays(watch, base, &head, current->state, &clock, &pulse->stays) < 0)
		return -1;
	pulse->class_id = known->class_id;
	pulse->place = place_of(known, current->state);
	pulse->tid = head.tid;
	watch->newest = current->since;
	watch->state = current->state;
	return 0;
}

/* Lanes may have come, as the file only grows. */
static int begin_reading(struct segment_watch *watch, struct pdb_error *err)
{
	struct reader *r = &watch->reader;
	uint32_t num;

	r->err = err;
	r->naps = 0;
	r->retries = LOCK_TRIES;
	if (segment_pread(r->fd, &num, sizeof(num), offsetof(struct seg_header, num_lanes), err) <
	    0)
		return -1;
	r->header.num_lanes = num;
	return reader_begin(r, &watch->num_lanes);
}

int segment_watch_read(struct segment_watch *watch, struct segment_pulse *ret,
		       struct pdb_error *err)
{
	struct segment_pulse pulse = {.life = 0};
	struct seg_current newest = {.since = 0};
	size_t newest_lane = 0;

	if (begin_reading(watch, err) < 0 ||
	    segment_pread(watch->reader.fd, &pulse.life, sizeof(pulse.life),
			  offsetof(struct seg_header, life), err) < 0)
		return -1;
	for (size_t i = 0; i < watch->num_lanes; i++) {
		struct seg_current current;
		bool is_whole;

		if (reader_read_current(&watch->reader, reader_lane_base(&watch->reader, i),
					&current, &is_whole) < 0)
			return -1;
		pulse.events += current.events;
		pulse.polls += current.polls;
		if (i == 0 || current.since > newest.since) {
			newest = current;
			newest_lane = i;
		}
	}
	pulse.is_inside =
		watch->num_lanes > 0 && (!SEG_STATE_IS_EXIT(newest.state) || newest.in_poll);
	if (watch->num_lanes > 0)
		pulse.polled_ns = last_poll(watch, &newest);
	if (watch->num_lanes > 0 && take_stay(watch, newest_lane, &newest, &pulse) < 0)
		return -1;
	watch->last = pulse;
	*ret = pulse;
	return 0;
}

int segment_watch_stays(struct segment_watch *watch, uint64_t place, struct segment_stays *ret,
			struct pdb_error *err)
{
	struct segment_stays all = {.num = 0};
	struct segment_clock clock;
	uint32_t state;
	bool found;

	if (begin_reading(watch, err) < 0 || find_state(watch, place, &state, &found) < 0)
		return -1;
	segment_clock_init(&clock, &watch->reader.header, watch->newest);
	for (size_t i = 0; found && i < watch->num_lanes; i++) {
		uint64_t base = reader_lane_base(&watch->reader, i);
		struct segment_stays stays;
		struct seg_lane lane;

		if (segment_pread(watch->reader.fd, &lane, sizeof(lane), base, err) < 0 ||
		    take_stays(watch, base, &lane, state, &clock, &stays) < 0)
			return -1;
		segment_stays_add(&all, &stays);
	}
	*ret = all;
	return 0;
}

void segment_stays_add(struct segment_stays *stays, const struct segment_stays *more)
{
	stays->num += more->num;
	if (more->longest_ns > stays->longest_ns)
		stays->longest_ns = more->longest_ns;
}
