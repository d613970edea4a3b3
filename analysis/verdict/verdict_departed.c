/* SPDX-License-Identifier: BSD-3-Clause
 * Who has left its course: the first of those who wait for each other, or who do not agree. */
#include "analysis/verdict/departure.h"
#include "analysis/verdict/verdict_private.h"

/* Most lanes that are compared, calls of all of them, and times that this is done (in a job of more
 * lanes others are taken besides each time); lanes that are asked by their own calls alone. */
enum { MAX_LANES = 256, MAX_CALLS = 1 << 18, MAX_TIMES = 4, MAX_ALONE = 256 };

/* By its own calls a lane must have left its course just now; by all others' it may have gone on
 * for as long as its messages let it. */
enum { BY_OWN = DEPARTED_WEAK + 1, NUM_WAYS };
static struct departure_limits limits_of(int way)
{
	return (struct departure_limits){
		.window = way == BY_OWN ? thresholds.course_just_now : thresholds.course_window,
		.expected =
			way == DEPARTED_WEAK ? thresholds.course_weak : thresholds.course_expected,
		.is_only = way == DEPARTED_WEAK,
	};
}

struct answer {
	bool is_known;
	enum course course;
	struct departure departure;
};

/* What lanes of the job called, compared with each other. */
struct verdict_courses {
	struct call_contexts *contexts; /* of some lanes */
	uint32_t *index;                /* [lanes of the job] in contexts; UINT32_MAX: not there */
	struct answer (*answers)[NUM_WAYS]; /* [lanes of the job] */
	size_t num_times, num_alone;
};

/* The last ones, at most DEPARTURE_MAX_CALLS. */
static struct call_list list_calls(const struct job_lane *lane, struct arena *arena)
{
	const struct model_lane *data = lane->data;
	uint32_t *list = arena_array(arena, DEPARTURE_MAX_CALLS, sizeof(*list));
	size_t first = DEPARTURE_MAX_CALLS;

	for (size_t i = data->num_ring; i > 0 && first > 0; i--)
		if (!SEG_STATE_IS_EXIT(data->ring[i - 1].state))
			list[--first] = job_lane_state(lane, data->ring[i - 1].state);
	return (struct call_list){list + first, DEPARTURE_MAX_CALLS - first};
}

/* Lanes[num] and as many others from all over the job as there is room for; their number. */
static size_t choose_lanes(const struct judge *j, const uint32_t *lanes, size_t num,
			   uint32_t *index)
{
	size_t all = j->jm->num_lanes, chosen = 0, room;

	for (size_t l = 0; l < all; l++)
		index[l] = UINT32_MAX;
	for (size_t i = 0; i < num; i++)
		if (index[lanes[i]] == UINT32_MAX)
			index[lanes[i]] = (uint32_t)chosen++;
	room = all < MAX_LANES ? all : MAX_LANES - chosen;
	for (size_t i = 0; i < room; i++) {
		size_t l = i * all / room;

		/* Threads that hardly call MPI tell nothing. */
		if (index[l] == UINT32_MAX &&
		    j->jm->lanes[l].data->num_ring >= thresholds.course_calls)
			index[l] = (uint32_t)chosen++;
	}
	return chosen;
}

static bool are_compared(const struct verdict_courses *courses, const uint32_t *lanes, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (courses->index[lanes[i]] == UINT32_MAX)
			return false;
	return courses->contexts != NULL;
}

static struct call_contexts *sort_calls(struct judge *j, const uint32_t *index, size_t chosen)
{
	struct arena *scratch = arena_create();
	struct call_list *lists = arena_array(scratch, chosen, sizeof(*lists));
	size_t most = MAX_CALLS / chosen;
	struct call_contexts *contexts;

	for (size_t l = 0; l < j->jm->num_lanes; l++)
		if (index[l] != UINT32_MAX)
			lists[index[l]] = list_calls(&j->jm->lanes[l], scratch);
	contexts = call_contexts_create(
		lists, chosen, most < DEPARTURE_MAX_CALLS ? most : DEPARTURE_MAX_CALLS, j->arena);
	arena_destroy(scratch);
	return contexts;
}

/* Compare lanes[num] with others, if that was not done; false: they are too many, or not all are
 * recorded. */
static bool compare(struct judge *j, const uint32_t *lanes, size_t num)
{
	struct verdict_courses *courses = j->courses;

	for (size_t i = 0; i < num; i++)
		if (!j->actors[lanes[i]].lane)
			return false;
	if (!courses) {
		j->courses = courses = arena_alloc(j->arena, sizeof(*courses));
		courses->index = arena_array(j->arena, j->jm->num_lanes, sizeof(*courses->index));
		courses->answers =
			arena_array(j->arena, j->jm->num_lanes, sizeof(*courses->answers));
	}
	if (are_compared(courses, lanes, num))
		return true;
	if (num == 0 || num > MAX_LANES || courses->num_times++ >= MAX_TIMES)
		return false;
	courses->contexts =
		sort_calls(j, courses->index, choose_lanes(j, lanes, num, courses->index));
	for (size_t l = 0; l < j->jm->num_lanes; l++)
		courses->answers[l][DEPARTED_STRONG].is_known =
			courses->answers[l][DEPARTED_WEAK].is_known = false;
	return true;
}

static const struct answer *ask_all(struct judge *j, uint32_t l, enum departed_evidence evidence)
{
	struct answer *answer = &j->courses->answers[l][evidence];
	const struct departure_limits limits = limits_of((int)evidence);

	if (!answer->is_known)
		answer->course = departure_find(j->courses->contexts, j->courses->index[l], &limits,
						&answer->departure);
	answer->is_known = true;
	return answer;
}

static const struct answer *ask_alone(struct judge *j, uint32_t l)
{
	struct answer *answer = &j->courses->answers[l][BY_OWN];
	const struct departure_limits limits = limits_of(BY_OWN);
	struct arena *scratch;
	struct call_list list;

	if (answer->is_known)
		return answer;
	*answer = (struct answer){true, COURSE_UNKNOWN, {0}};
	if (j->courses->num_alone++ >= MAX_ALONE)
		return answer;
	scratch = arena_create();
	list = list_calls(&j->jm->lanes[l], scratch);
	answer->course =
		departure_find(call_contexts_create(&list, 1, DEPARTURE_MAX_CALLS, scratch), 0,
			       &limits, &answer->departure);
	arena_destroy(scratch);
	return answer;
}

/* What is new to the lane alone, and not to others, is weak. */
static const struct answer *ask(struct judge *j, uint32_t l, enum departed_evidence evidence)
{
	const struct answer *by_all = ask_all(j, l, evidence), *alone;

	if (by_all->course == COURSE_LEFT)
		return by_all;
	alone = ask_alone(j, l);
	if (alone->course == COURSE_UNKNOWN ||
	    (alone->course == COURSE_LEFT && evidence == DEPARTED_STRONG &&
	     departure_is_known(j->courses->contexts, j->courses->index[l], &alone->departure)))
		return by_all;
	return alone;
}

/* Has the rank done so long ago, or others as seldom? Then it is a step that comes seldom. */
static bool is_seldom(const struct job_model *jm, int rank, const struct departure *departure)
{
	uint32_t from = SEG_STATE_EXIT(SEG_STATE_SITE(departure->last));
	size_t index = job_model_find_transition(jm, from, departure->call);

	if (departure->num_memory > 1 || index == SIZE_MAX)
		return false;
	for (size_t i = 0; i < jm->transitions[index].num_counts; i++) {
		const struct job_count *count = &jm->transitions[index].counts[i];

		if (rankset_contains(count->ranks, rank))
			return count->count > 1 || rankset_count(count->ranks) > 1;
	}
	return false;
}

/* When a lane made a call, by its own clock and that of the day; 0: not known, as from daemons. */
struct moment {
	uint32_t actor;
	uint64_t ns, real_ns;
};

static struct moment moment_of(const struct judge *j, uint32_t actor, size_t ring_index)
{
	const struct job_lane *lane = &j->jm->lanes[actor];
	uint64_t ns = lane->data->ring[ring_index].ns;

	return (struct moment){actor, ns, lane->model->now_real_ns - lane->model->now_ns + ns};
}

static struct moment find_departure(const struct judge *j, uint32_t actor,
				    const struct departure *departure)
{
	const struct model_lane *data = j->jm->lanes[actor].data;
	size_t i = data->num_ring, since = departure->since;

	while (i > 1 && (SEG_STATE_IS_EXIT(data->ring[i - 1].state) || since-- > 0))
		i--;
	return moment_of(j, actor, i - 1);
}

/* When a lane took the step that it took only once. */
static struct moment find_step(const struct judge *j, uint32_t actor,
			       const struct job_transition *transition)
{
	const struct job_lane *lane = &j->jm->lanes[actor];
	const struct model_lane *data = lane->data;

	for (size_t i = data->num_ring; i > 1; i--)
		if (job_lane_state(lane, data->ring[i - 2].state) == transition->from &&
		    job_lane_state(lane, data->ring[i - 1].state) == transition->to)
			return moment_of(j, actor, i - 1);
	return (struct moment){.actor = actor};
}

/* What came later may have come of it. */
static bool is_earlier(const struct judge *j, const struct moment *a, const struct moment *b)
{
	const struct model_program *of_a = j->jm->lanes[a->actor].model->program;
	const struct model_program *of_b = j->jm->lanes[b->actor].model->program;

	if (a->ns == 0 || b->ns == 0)
		return false;
	if (strcmp(of_a->host, of_b->host) == 0)
		return a->ns < b->ns && b->ns - a->ns > thresholds.earlier_ns;
	return a->real_ns < b->real_ns && b->real_ns - a->real_ns > thresholds.earlier_hosts_ns;
}

/* The one that is earlier than all others; NULL: none is. */
static const struct moment *find_first(const struct judge *j, const struct moment *moments,
				       size_t num)
{
	for (size_t i = 0; i < num; i++) {
		size_t num_later = 0;

		for (size_t k = 0; k < num; k++)
			num_later += is_earlier(j, &moments[i], &moments[k]);
		if (num_later + 1 == num)
			return &moments[i];
	}
	return NULL;
}

uint32_t verdict_find_departed(struct judge *j, const uint32_t *lanes, size_t num,
			       enum departed_evidence evidence, struct departure *ret,
			       size_t *num_later_ret)
{
	struct moment *left;
	const struct moment *first;
	size_t num_left = 0;

	*num_later_ret = 0;
	if (!compare(j, lanes, num))
		return WAITFOR_NONE;
	left = arena_array(j->arena, num, sizeof(*left));
	for (size_t i = 0; i < num; i++) {
		const struct answer *answer = ask(j, lanes[i], evidence);

		if (answer->course == COURSE_UNKNOWN)
			return WAITFOR_NONE;
		if (answer->course == COURSE_LEFT &&
		    !is_seldom(j->jm, j->actors[lanes[i]].rank, &answer->departure))
			left[num_left++] = find_departure(j, lanes[i], &answer->departure);
	}
	first = find_first(j, left, num_left);
	if (!first)
		return WAITFOR_NONE;
	*ret = ask(j, first->actor, evidence)->departure;
	*num_later_ret = num_left - 1;
	return first->actor;
}

bool verdict_is_departure_before(const struct judge *j, uint32_t departed,
				 const struct departure *departure, uint32_t actor,
				 uint32_t transition)
{
	struct moment a = find_departure(j, departed, departure);
	struct moment b = find_step(j, actor, &j->jm->transitions[transition]);

	return is_earlier(j, &a, &b);
}

void verdict_set_departed(struct judge *j, uint32_t actor, const struct departure *departure,
			  size_t num_later)
{
	j->verdict->witness = (struct verdict_witness){.kind = WITNESS_DEPARTED,
						       .rank = j->actors[actor].rank,
						       .departure = *departure,
						       .num_later = num_later};
	verdict_doubt(j, DOUBT_DEPARTURE);
}
