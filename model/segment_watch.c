/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/error.h"
#include "model/model.h"
#include "model/segment_reader_private.h"
#include "model/segment_watch.h"
#include "model/xalloc.h"

/* A writer that cannot be caught between two writes: at the next look perhaps. */
enum { LOCK_TRIES = 50 };

struct segment_watch {
	struct reader reader;
	struct model unused; /* the reader wants one */
	size_t num_lanes;    /* known to be inside the file */
	uint64_t newest;     /* ticks of the last transition that was seen, */
	uint64_t since_ns;   /* and the time of it */
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
	free(watch);
}

/* How many lanes there are by now, all of them inside the file, which only grows. */
static int count_lanes(struct segment_watch *watch, struct pdb_error *err)
{
	const struct seg_header *header = &watch->reader.header;
	struct stat status;
	uint32_t num;

	if (segment_pread(watch->reader.fd, &num, sizeof(num),
			  offsetof(struct seg_header, num_lanes), err) < 0)
		return -1;
	if (num <= watch->num_lanes)
		return 0;
	if (fstat(watch->reader.fd, &status) < 0)
		return error_errno(err, "the segment");
	if (num > SEG_MAX_LANES || header->lane_size < sizeof(struct seg_lane) ||
	    header->lane_offset > (uint64_t)status.st_size ||
	    num > (status.st_size - header->lane_offset) / header->lane_size)
		return error_set(err, ERROR_FORMAT, "the segment is corrupt: %u lanes", num);
	watch->num_lanes = num;
	return 0;
}

/* Is the thread inside an MPI call? */
static bool is_inside(const struct raw_current *current)
{
	return !SEG_STATE_IS_EXIT(current->state) || current->in_poll;
}

int segment_watch_read(struct segment_watch *watch, struct segment_pulse *ret,
		       struct pdb_error *err)
{
	struct segment_pulse pulse = {0};
	uint64_t newest = 0;

	watch->reader.err = err;
	watch->reader.naps = 0;
	watch->reader.retries = LOCK_TRIES;
	if (segment_pread(watch->reader.fd, &pulse.life, sizeof(pulse.life),
			  offsetof(struct seg_header, life), err) < 0 ||
	    count_lanes(watch, err) < 0)
		return -1;
	for (size_t i = 0; i < watch->num_lanes; i++) {
		struct raw_current current;
		bool is_whole;

		if (reader_read_current(&watch->reader, reader_lane_base(&watch->reader, i),
					&current, &is_whole) < 0)
			return -1;
		pulse.events += current.events;
		pulse.polls += current.polls;
		pulse.is_inside |= is_inside(&current);
		if (current.since > newest)
			newest = current.since;
	}
	if (newest != watch->newest) {
		struct segment_clock clock;

		segment_clock_init(&clock, &watch->reader.header, newest);
		watch->since_ns = segment_clock_time(&clock, newest);
		watch->newest = newest;
	}
	pulse.since_ns = watch->since_ns;
	*ret = pulse;
	return 0;
}
