/* SPDX-License-Identifier: BSD-3-Clause */
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/node/daemon_job.h"
#include "attach/node/node.h"
#include "attach/node/watch_digest.h"
#include "attach/node/watch_look.h"
#include "attach/node/watch_stacks.h"
#include "attach/process/procfs.h"
#include "model/monotonic.h"
#include "model/job/rankset.h"
#include "model/segment/segment.h"
#include "model/segment/segment_reader.h"
#include "model/segment/segment_watch.h"

#define SECOND_NS UINT64_C(1000000000)
/* One that has polled so long ago may have had no processor since; later it computes. */
#define POLLING_NS (SECOND_NS / 2)
/* A rank that has no segment yet may get one: it is looked for after 1 s, 2 s, 4 s, ... */
#define SEARCH_NS SECOND_NS
#define SEARCH_MAX_NS (60 * SECOND_NS)
/* How often it is looked at what a rank outside MPI reads and writes, of how many in one look
 * (others come in the next), and whether all ranks are stopped. */
#define ACTIVITY_NS SECOND_NS
#define MAX_ACTIVE 8
#define SUSPENDED_NS SECOND_NS

struct watched {
	int rank;
	pid_t pid;
	bool has_ended;
	struct segment_watch *segment; /* NULL: no recorder, or none yet */
	uint64_t search_ns, next_search_ns;
	struct segment_pulse pulse;
	bool has_pulse, has_moved;
	uint64_t polled_ns; /* when polls were last seen to go on; 0: not since it moved */

	/* Of one that stays outside MPI: what all ranks here did in its place, and it itself. */
	bool has_stays;
	struct segment_stays stays;
	uint64_t next_activity_ns;
	uint64_t first_work;  /* of its thread, when it was looked at first; 0: it was not */
	uint64_t stack, work; /* work: since then */
	bool is_active;
};

struct watch_look {
	struct watched *ranks;
	struct pollfd *pidfds; /* [num], as the ranks */
	size_t num;
	struct watch_stacks *stacks; /* NULL: none was asked for yet */
	size_t num_active;           /* ranks whose activity was looked at in this look */
	bool is_suspended;           /* all that live are stopped */
	uint64_t next_suspended_ns;
};

/* ---- Processes ---- */

struct watch_look *watch_look_create(const struct daemon_rank *ranks, size_t num)
{
	struct watch_look *look = xcalloc(1, sizeof(*look));

	/* A process and a segment of each rank. */
	node_raise_file_limit(2 * num);
	look->ranks = xcalloc(num, sizeof(*look->ranks));
	look->pidfds = xcalloc(num, sizeof(*look->pidfds));
	look->num = num;
	for (size_t i = 0; i < num; i++) {
		pid_t pid = ranks[i].pid;
		int pidfd = ranks[i].start_ticks ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

		look->pidfds[i] = (struct pollfd){pidfd, POLLIN, 0};
		look->ranks[i] = (struct watched){.rank = ranks[i].rank, .pid = pid};
		look->ranks[i].has_ended =
			!ranks[i].start_ticks || procfs_has_ended(pid, ranks[i].start_ticks);
	}
	return look;
}

void watch_look_destroy(struct watch_look *look)
{
	if (!look)
		return;
	for (size_t i = 0; i < look->num; i++) {
		segment_watch_destroy(look->ranks[i].segment);
		if (look->pidfds[i].fd >= 0)
			close(look->pidfds[i].fd);
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
		close(look->pidfds[i].fd);
		look->pidfds[i].fd = -1; /* poll() passes it over */
	}
}

/* A job is suspended by stopping all of it. The first rank that is not ends the search. */
static bool are_all_stopped(const struct watch_look *look)
{
	bool is_any = false;

	for (size_t i = 0; i < look->num; i++) {
		struct procfs_stat stat;

		if (look->ranks[i].has_ended || procfs_stat(look->ranks[i].pid, 0, &stat) < 0)
			continue;
		if (stat.state != 'T' && stat.state != 't')
			return false;
		is_any = true;
	}
	return is_any;
}

static void look_for_suspension(struct watch_look *look, uint64_t now_ns,
				struct watch_numbers *numbers)
{
	if (now_ns >= look->next_suspended_ns) {
		look->is_suspended = are_all_stopped(look);
		look->next_suspended_ns = now_ns + SUSPENDED_NS;
	}
	if (!look->is_suspended)
		return;
	for (size_t i = 0; i < look->num; i++)
		numbers->num_suspended += !look->ranks[i].has_ended;
}

/* ---- Segments ---- */

static void search_segment(struct watched *watched, uint64_t now_ns)
{
	if (watched->segment || now_ns < watched->next_search_ns)
		return;
	watched->search_ns = watched->search_ns ? 2 * watched->search_ns : SEARCH_NS;
	if (watched->search_ns > SEARCH_MAX_NS)
		watched->search_ns = SEARCH_MAX_NS;
	watched->next_search_ns = now_ns + watched->search_ns;
	int fd = segment_open_pid(watched->pid, NULL);
	if (fd >= 0)
		watched->segment = segment_watch_create(fd, NULL);
}

/* What the rank does, against what it did at the last look. */
static void take_pulse(struct watched *watched, uint64_t now_ns)
{
	struct segment_pulse pulse;

	if (segment_watch_read(watched->segment, &pulse, NULL) < 0) {
		watched->has_moved = watched->has_pulse = false;
		return;
	}
	watched->has_moved = watched->has_pulse && pulse.events != watched->pulse.events;
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
	return !watched->pulse.is_inside &&
	       (!watched->polled_ns || now_ns - watched->polled_ns > POLLING_NS);
}

/* ---- What those outside MPI do ---- */

static uint64_t read_number(const char *text, const char *name)
{
	const char *found = strstr(text, name);

	return found ? strtoull(found + strlen(name), NULL, 10) : 0;
}

/* Bytes that the thread has moved. Not how often it has asked for that: a read() that nobody
 * answers is asked for anew each time that the thread is sampled. */
static uint64_t read_work(pid_t pid, pid_t tid)
{
	char name[40], *text;
	uint64_t work = 0;

	snprintf(name, sizeof(name), "task/%d/io", (int)tid);
	text = procfs_read(pid, name, NULL);
	if (text)
		work = read_number(text, "rchar: ") + read_number(text, "wchar: ");
	free(text);
	return work;
}

static void forget_activity(struct watched *watched, uint64_t now_ns)
{
	watched->next_activity_ns = now_ns + ACTIVITY_NS;
	watched->stack = watched->work = watched->first_work = 0;
	watched->is_active = watched->has_stays = false;
}

/* Others' stays in this place tell about it, too. They stay the same while nobody moves or
 * polls. */
static void take_stays(struct watch_look *look, struct watched *watched)
{
	if (watched->has_stays)
		return;
	watched->has_stays = true;
	watched->stays = (struct segment_stays){0};
	for (size_t i = 0; i < look->num; i++) {
		struct watched *other = &look->ranks[i];
		struct segment_stays stays;

		if (other->segment &&
		    segment_watch_stays(other->segment, watched->pulse.place, &stays, NULL) == 0)
			segment_stays_add(&watched->stays, &stays);
	}
}

static void take_activity(struct watch_look *look, struct watched *watched, pid_t tid,
			  uint64_t now_ns)
{
	const struct sampler_target target = {watched->rank, watched->pid, 0};

	if (now_ns < watched->next_activity_ns || look->num_active >= MAX_ACTIVE)
		return;
	look->num_active++;
	take_stays(look, watched);
	watched->next_activity_ns = now_ns + ACTIVITY_NS;
	uint64_t work = read_work(watched->pid, tid);
	if (!watched->first_work)
		watched->first_work = work;
	work -= watched->first_work;
	watched->is_active = work != watched->work;
	watched->work = work;
	if (!look->stacks)
		look->stacks = watch_stacks_create();
	watched->stack = watch_stacks_number(look->stacks, &target);
}

/* ---- All of it ---- */

/* Calls that take as long as they like without anybody else's help. */
static bool may_last(const struct segment_pulse *pulse)
{
	int class = pulse->class_id;

	return pulse->is_inside &&
	       (class == SEG_CLASS_INIT || class == SEG_CLASS_FINALIZE || class == SEG_CLASS_FILE ||
		class == SEG_CLASS_FILE_COLLECTIVE || class == SEG_CLASS_SPAWN);
}

static void add_rank(struct watch_look *look, struct watched *watched, uint64_t now_ns,
		     struct watch_digest *digest)
{
	const struct segment_pulse *pulse = &watched->pulse;
	bool outside = is_outside(watched, now_ns);
	struct watch_rank rank = {
		.rank = watched->rank,
		.flags = (outside ? WATCH_RANK_OUTSIDE : 0) |
			 (may_last(pulse) ? WATCH_RANK_MAY_LAST : 0),
		.place = pulse->place,
		.moves = pulse->events,
	};
	const struct segment_stays *stays;
	uint64_t since_ns = pulse->since_ns;
	uint64_t quiet_ns = now_ns > since_ns ? now_ns - since_ns : 0;

	if (outside && pulse->polled_ns > since_ns)
		since_ns = pulse->polled_ns;
	rank.stay_ns = now_ns > since_ns ? now_ns - since_ns : 0;

	if (watched->has_moved || !rank.flags)
		forget_activity(watched, now_ns);
	else if (rank.stay_ns > ACTIVITY_NS)
		take_activity(look, watched, pulse->tid, now_ns);
	stays = watched->has_stays ? &watched->stays : &pulse->stays;
	rank.longest_ns = stays->longest_ns;
	rank.num_stays = stays->num;
	rank.stack = watched->stack;
	rank.work = watched->work;
	rankset_add(outside ? digest->outside : digest->inside, watched->rank);
	if (outside && rank.stay_ns > digest->numbers.outside_ns)
		digest->numbers.outside_ns = rank.stay_ns;
	if (quiet_ns < digest->numbers.quiet_ns)
		digest->numbers.quiet_ns = quiet_ns;
	digest->numbers.num_active += watched->is_active;
	watch_digest_add_rank(digest, &rank);
}

/* A recorder that has ended early stands where its rank was then. */
static void give_up(struct watched *watched, uint64_t now_ns)
{
	segment_watch_destroy(watched->segment);
	watched->segment = NULL;
	watched->has_pulse = false;
	watched->search_ns = SEARCH_MAX_NS;
	watched->next_search_ns = now_ns + SEARCH_MAX_NS;
}

static void add_recorded(struct watch_look *look, struct watched *watched, uint64_t now_ns,
			 struct watch_digest *digest)
{
	struct watch_numbers *numbers = &digest->numbers;

	take_pulse(watched, now_ns);
	if (!watched->has_pulse)
		return;
	numbers->events += watched->pulse.events;
	numbers->num_moved += watched->has_moved;
	if (watched->pulse.life == SEG_LIFE_STOPPED) {
		give_up(watched, now_ns);
	} else if (watched->pulse.life >= SEG_LIFE_FINALIZED) {
		numbers->num_left++;
	} else {
		numbers->num_recorded++;
		add_rank(look, watched, now_ns, digest);
	}
}

/* Does one that was outside MPI at this look and the last one read or write? */
static void note_work(struct watched *watched, struct watch_digest *digest)
{
	uint64_t work;

	if (!rankset_contains(digest->outside, watched->rank)) {
		watched->work = 0;
		return;
	}
	work = read_work(watched->pid, watched->pid);
	digest->numbers.num_active += watched->work && work != watched->work;
	watched->work = work;
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
	for (size_t i = 0, t = 0; t < num; i++)
		if (look->ranks[i].rank == targets[t].rank) {
			note_work(&look->ranks[i], digest);
			t++;
		}
	free(targets);
}

void watch_look_take(struct watch_look *look, const struct rankset *sampled,
		     struct watch_digest *ret)
{
	uint64_t now_ns = monotonic_ns();

	look->num_active = 0;
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
			add_recorded(look, watched, now_ns, ret);
	}
	if (sampled)
		add_stacks(look, sampled, ret);
	look_for_suspension(look, now_ns, &ret->numbers);
}
