/* SPDX-License-Identifier: BSD-3-Clause */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/daemon_job.h"
#include "attach/node.h"
#include "attach/procfs.h"
#include "attach/watch_digest.h"
#include "attach/watch_look.h"
#include "attach/watch_stacks.h"
#include "model/error.h"
#include "model/monotonic.h"
#include "model/rankset.h"
#include "model/segment.h"
#include "model/segment_reader.h"
#include "model/segment_watch.h"
#include "model/xalloc.h"

#define SECOND_NS UINT64_C(1000000000)
/* One that has polled so long ago may have had no processor since; later it computes. */
#define POLLING_NS (SECOND_NS / 2)
/* A rank that has no segment yet may get one: it is looked for after 1 s, 2 s, 4 s, ... */
#define SEARCH_NS SECOND_NS
#define SEARCH_MAX_NS (60 * SECOND_NS)
/* What a rank outside MPI reads and writes is looked at so often. */
#define ACTIVITY_NS SECOND_NS

struct watched {
	int rank;
	pid_t pid;
	int pidfd;
	bool has_ended;
	struct segment_watch *segment; /* NULL: no recorder, or none yet */
	uint64_t search_ns, next_search_ns;
	struct segment_pulse pulse;
	bool has_pulse, has_moved;
	uint64_t polled_ns;  /* when polls were last seen to go on; 0: not since it moved */
	uint64_t outside_ns; /* since when it is outside; 0: it is not */
	uint64_t transferred, next_activity_ns; /* bytes read and written */
	bool is_active;
};

struct watch_look {
	struct watched *ranks;
	struct pollfd *pidfds; /* [num], as the ranks */
	size_t num;
	struct watch_stacks *stacks; /* NULL: none was asked for yet */
};

/* ---- Processes ------------------------------------------------------------------------------- */

static void init_watched(struct watched *watched, const struct daemon_rank *rank)
{
	struct procfs_stat stat;

	*watched = (struct watched){.rank = rank->rank, .pid = rank->pid, .pidfd = -1};
	watched->has_ended = true;
	if (!rank->start_ticks)
		return;
	watched->pidfd = (int)syscall(SYS_pidfd_open, rank->pid, 0);
	watched->has_ended =
		procfs_stat(rank->pid, 0, &stat) < 0 || stat.start_ticks != rank->start_ticks;
}

struct watch_look *watch_look_create(const struct daemon_rank *ranks, size_t num)
{
	struct watch_look *look = xcalloc(1, sizeof(*look));

	/* A process and a segment of each rank. */
	node_raise_file_limit(2 * num);
	look->ranks = xcalloc(num, sizeof(*look->ranks));
	look->pidfds = xcalloc(num, sizeof(*look->pidfds));
	look->num = num;
	for (size_t i = 0; i < num; i++) {
		init_watched(&look->ranks[i], &ranks[i]);
		look->pidfds[i] = (struct pollfd){look->ranks[i].pidfd, POLLIN, 0};
	}
	return look;
}

void watch_look_destroy(struct watch_look *look)
{
	if (!look)
		return;
	for (size_t i = 0; i < look->num; i++) {
		segment_watch_destroy(look->ranks[i].segment);
		if (look->ranks[i].pidfd >= 0)
			close(look->ranks[i].pidfd);
	}
	watch_stacks_destroy(look->stacks);
	free(look->pidfds);
	free(look->ranks);
	free(look);
}

/* Of all at once. */
static void find_ended(struct watch_look *look)
{
	if (poll(look->pidfds, look->num, 0) <= 0)
		return;
	for (size_t i = 0; i < look->num; i++) {
		if (!look->pidfds[i].revents)
			continue;
		look->ranks[i].has_ended = true;
		look->pidfds[i].fd = -1; /* poll() passes it over */
	}
}

/* ---- Segments -------------------------------------------------------------------------------- */

static void search_segment(struct watched *watched, uint64_t now_ns)
{
	int fd;

	if (watched->segment || now_ns < watched->next_search_ns)
		return;
	watched->search_ns = watched->search_ns ? 2 * watched->search_ns : SEARCH_NS;
	if (watched->search_ns > SEARCH_MAX_NS)
		watched->search_ns = SEARCH_MAX_NS;
	watched->next_search_ns = now_ns + watched->search_ns;
	fd = segment_open_pid(watched->pid, NULL);
	if (fd >= 0)
		watched->segment = segment_watch_create(fd, NULL);
}

/* What the rank does, against what it did at the last look. */
static void take_pulse(struct watched *watched, uint64_t now_ns)
{
	struct segment_pulse pulse;

	watched->has_moved = false;
	if (segment_watch_read(watched->segment, &pulse, NULL) < 0) {
		watched->has_pulse = false;
		return;
	}
	if (watched->has_pulse && pulse.events != watched->pulse.events)
		watched->has_moved = true;
	if (watched->has_moved)
		watched->polled_ns = 0;
	if (watched->has_pulse && pulse.polls > 0 &&
	    (watched->has_moved || pulse.polls != watched->pulse.polls))
		watched->polled_ns = now_ns;
	watched->pulse = pulse;
	watched->has_pulse = true;
}

static bool is_outside(const struct watched *watched, uint64_t now_ns)
{
	if (watched->pulse.is_inside)
		return false;
	return !watched->polled_ns || now_ns - watched->polled_ns > POLLING_NS;
}

/* ---- What those outside MPI do --------------------------------------------------------------- */

static uint64_t read_number(const char *text, const char *name)
{
	const char *found = strstr(text, name);

	return found ? strtoull(found + strlen(name), NULL, 10) : 0;
}

static void take_activity(struct watched *watched, uint64_t now_ns)
{
	uint64_t transferred = 0;
	char *text;

	if (now_ns < watched->next_activity_ns)
		return;
	watched->next_activity_ns = now_ns + ACTIVITY_NS;
	text = procfs_read(watched->pid, "io", NULL);
	if (text)
		transferred = read_number(text, "rchar: ") + read_number(text, "wchar: ");
	free(text);
	watched->is_active = watched->transferred && transferred != watched->transferred;
	watched->transferred = transferred;
}

static void add_outside(struct watched *watched, uint64_t now_ns, struct watch_digest *digest)
{
	uint64_t stay_ns;

	if (!watched->outside_ns || watched->has_moved)
		watched->outside_ns = watched->pulse.since_ns;
	stay_ns = now_ns > watched->outside_ns ? now_ns - watched->outside_ns : 0;
	rankset_add(digest->outside, watched->rank);
	if (stay_ns > digest->numbers.outside_ns)
		digest->numbers.outside_ns = stay_ns;
	if (stay_ns > ACTIVITY_NS)
		take_activity(watched, now_ns);
	else
		watched->is_active = false;
	digest->numbers.num_active += watched->is_active;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void add_recorded(struct watched *watched, uint64_t now_ns, struct watch_digest *digest)
{
	struct watch_numbers *numbers = &digest->numbers;
	uint64_t quiet_ns;

	take_pulse(watched, now_ns);
	if (!watched->has_pulse)
		return;
	numbers->events += watched->pulse.events;
	numbers->num_moved += watched->has_moved;
	if (watched->pulse.life >= SEG_LIFE_FINALIZED) {
		numbers->num_left++;
		return;
	}
	numbers->num_recorded++;
	quiet_ns = now_ns > watched->pulse.since_ns ? now_ns - watched->pulse.since_ns : 0;
	if (quiet_ns < numbers->quiet_ns)
		numbers->quiet_ns = quiet_ns;
	if (is_outside(watched, now_ns)) {
		add_outside(watched, now_ns, digest);
	} else {
		rankset_add(digest->inside, watched->rank);
		watched->outside_ns = 0;
	}
}

/* Those to be told by their stacks. */
static void add_stacks(struct watch_look *look, const struct rankset *sampled,
		       struct watch_digest *digest)
{
	struct sampler_target *targets = xcalloc(look->num, sizeof(*targets));
	size_t num = 0;

	for (size_t i = 0; i < look->num; i++) {
		const struct watched *watched = &look->ranks[i];

		if (!watched->has_ended && !watched->segment &&
		    rankset_contains(sampled, watched->rank))
			targets[num++] = (struct sampler_target){watched->rank, watched->pid, 0};
	}
	if (num && !look->stacks)
		look->stacks = watch_stacks_create();
	if (num)
		watch_stacks_take(look->stacks, targets, num, digest);
	free(targets);
}

void watch_look_take(struct watch_look *look, const struct rankset *sampled,
		     struct watch_digest *ret)
{
	uint64_t now_ns = monotonic_ns();

	ret->numbers.num_ranks += look->num;
	find_ended(look);
	for (size_t i = 0; i < look->num; i++) {
		struct watched *watched = &look->ranks[i];

		if (watched->has_ended) {
			ret->numbers.num_ended++;
			continue;
		}
		search_segment(watched, now_ns);
		if (watched->segment)
			add_recorded(watched, now_ns, ret);
	}
	if (sampled)
		add_stacks(look, sampled, ret);
}
