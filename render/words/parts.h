/* SPDX-License-Identifier: BSD-3-Clause
 * What several answers share beyond labels (label.h): marks, iterations, stays, and texts for what
 * is not known. Texts and sets live in the view's arena. Users of this header need not include
 * view.h, label.h or text.h. */
#pragma once

#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

struct blobs;
struct job_lane;
struct place;

/* The most rows of a table of groups; a line below it counts the rest. */
enum { PARTS_MAX_ROWS = 40 };

/* Number of ranks in the job, for "1 of 512 ranks". */
int parts_num_ranks(const struct view *view);
/* An empty set; a copy of a set; the intersection of two sets. */
struct rankset *parts_set(const struct view *view);
struct rankset *parts_copy(const struct view *view, const struct rankset *ranks);
struct rankset *parts_both(const struct view *view, const struct rankset *a,
			   const struct rankset *b);
/* The ranks of `ranks` in focus, maybe none. */
struct rankset *parts_in_focus(const struct view *view, const struct rankset *ranks);
/* "rank 3" or "ranks 0-2,8", for use in a sentence. */
const char *parts_who(const struct view *view, const struct rankset *ranks);
/* `one` if there is one rank, else `many`: "is", "are". */
const char *parts_plural(const struct rankset *ranks, const char *one, const char *many);

/* Does the verdict name the group, or some of its ranks? */
bool parts_is_culprit(const struct view *view, uint32_t group);
/* Does an HTML page show this group on its own, as "#group-N"? It shows the first groups, and the
 * first of those that the verdict names. */
bool parts_has_article(const struct view *view, uint32_t group);
/* The ranks of the group that the verdict names, maybe none. */
struct rankset *parts_culprits(const struct view *view, uint32_t group);

/* The mark for a line about the ranks `shown` (at least one) of a group: "<- culprit" (role.h) if
 * the verdict names all of them, "<- culprit: 3-4" if it names only these, NULL if it names
 * none. */
const char *parts_mark(const struct view *view, uint32_t group, const struct rankset *shown);
/* Print what a star in a drawing marks: "* culprit". */
void parts_print_star(const struct view *view);

/* How long a group has been where it is: "72 s", "3 to 72 s", "moving", "0.1 to 72 s, 3 moving". */
const char *parts_since(const struct view *view, const struct eqgroup *group);
/* The same in a sentence: "for 72 s", "moving". */
const char *parts_stay(const struct view *view, const struct eqgroup *group);

/* The iterations of the loops around a group's place, outermost first: "412", "412, 3". "412 ?": no
 * way back from there into the loop has been seen, so the loop may have ended. "": none. */
const char *parts_iterations(const struct view *view, const struct eqgroup *group);
/* How many of the loops around its place the group is still in, outermost first. A rank that
 * computes after the last call of an inner loop may have left that loop; its stack shows this. */
size_t parts_num_iterations(const struct view *view, const struct eqgroup *group);
/* The outermost loop that a place is in, or was in last; NULL if there is none. */
const struct iteration *parts_outermost(const struct place *place);

/* The threads of a rank: returns the first index in the job model's lanes; *num_ret: their number,
 * 0 if the rank has no model. */
size_t parts_lanes(const struct view *view, int rank, size_t *num_ret);
/* Print each thread of the answer's rank with `print`, or say why that is impossible. */
void parts_print_lanes(const struct view *view,
		       void (*print)(const struct view *view, const struct job_lane *lane));
/* The group of the rank's main thread, or of its first thread; UINT32_MAX if it is in none. */
uint32_t parts_group_of(const struct view *view, int rank);
/* Is there a model of any rank, with MPI calls? If not, print this, and what to do. */
bool parts_have_models(const struct view *view);
/* Print that this rank has no model, and why. */
void parts_no_model(const struct view *view, int rank);

/* A group's activity, for programs: "in MPI", "polling", "computing", "ended". Static text. */
const char *parts_activity(const struct eqgroup *group);

/* Write the members of a group's open object. `ranks`: the group's ranks that the answer is
 * about. */
void parts_json_group(struct json *json, const struct view *view, uint32_t group,
		      const struct rankset *ranks);
void parts_json_iterations(struct json *json, const char *key, const struct iteration *iterations,
			   size_t num);

/* ---- Texts that are the same for several ranks, each said once ---- */

struct same_entry {
	const char *text;
	struct rankset *ranks;           /* ranks with this text */
	const struct waitfor_need *need; /* free for the caller: of the first rank */
};

/* Entries in the order of adding, until same_sort(). Initialise with zeros, except the arena. */
struct same {
	struct arena *arena;
	struct same_entry *entries; /* [num] */
	size_t num, capacity;
	struct blobs *texts; /* of the entries, as they were added */
};

/* Add a rank, or a set, to the entry of this text. The text is borrowed. Returns the entry. */
struct same_entry *same_add(struct same *same, const char *text, int rank);
void same_add_set(struct same *same, const char *text, const struct rankset *ranks);
/* Sort entries: most ranks first; among equals, the one with the lowest rank. */
void same_sort(struct same *same);
/* Print the first `max` entries, "ranks 4,7: in MPI_Recv", with `link` between ranks and text.
 * Returns how many entries are left. */
size_t same_print(const struct same *same, const struct view *view, const char *link, size_t max);
/* Number of ranks in the entries from `first` on. */
size_t same_count_from(const struct same *same, size_t first);
