/* SPDX-License-Identifier: BSD-3-Clause
 * What several answers have in common, beyond words (label.h): marks, iterations, waiting times,
 * and what to say where something is not known. Texts and sets live in the view's arena. Views that
 * use it need not include what it stands on: view.h, label.h, text.h. */
#ifndef PDB_RENDER_PARTS_H
#define PDB_RENDER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

struct blobs;
struct eqgroup;
struct iteration;
struct job_lane;
struct place;

/* The most rows a table of groups has; the rest is counted in a line below it. */
enum { PARTS_MAX_ROWS = 40 };

/* Ranks of the job, for "1 of 512 ranks". */
int parts_num_ranks(const struct view *view);
/* An empty set; a copy of a set; what is in both. */
struct rankset *parts_set(const struct view *view);
struct rankset *parts_copy(const struct view *view, const struct rankset *ranks);
struct rankset *parts_both(const struct view *view, const struct rankset *a,
			   const struct rankset *b);
/* Those of a group that are in focus, maybe none. */
struct rankset *parts_in_focus(const struct view *view, const struct rankset *ranks);
/* "rank 3" or "ranks 0-2,8" as a part of a sentence. */
const char *parts_who(const struct view *view, const struct rankset *ranks);
/* `one` or `many` for so many ranks: "is", "are". */
const char *parts_plural(const struct rankset *ranks, const char *one, const char *many);

/* Does the verdict name the group, or some of its ranks? */
bool parts_is_culprit(const struct view *view, uint32_t group);
/* Is it one of those that a page of HTML tells of one by one, as "#group-N"? These are the first
 * groups, and the first of the verdict's. */
bool parts_has_article(const struct view *view, uint32_t group);
/* The ranks of the group that the verdict names, maybe none. */
struct rankset *parts_culprits(const struct view *view, uint32_t group);

/* For a line about the ranks `shown` of a group: "<- culprit" (role.h) if the verdict names all of
 * them, "<- culprit: 3-4" if it names only these, NULL if none. At least one is shown. */
const char *parts_mark(const struct view *view, uint32_t group, const struct rankset *shown);
/* The same in other words: "*", "*: 3-4". */
const char *parts_mark_as(const struct view *view, uint32_t group, const struct rankset *shown,
			  const char *words);

/* How long a group has been where it is: "72 s", "3 to 72 s", "moving", "0.1 to 72 s, 3 moving". */
const char *parts_since(const struct view *view, const struct eqgroup *group);
/* The same in a sentence: "for 72 s", "moving". */
const char *parts_stay(const struct view *view, const struct eqgroup *group);

/* Iterations of the loops around a group's place, outermost first: "412" or "412, 3"; "412 ?" if
 * no way back from there into the loop has been seen, so that the loop may have ended; "". */
const char *parts_iterations(const struct view *view, const struct eqgroup *group);
/* How many of the group's place's iterations it is still in, outermost first: a rank that computes
 * after the last call of an inner loop may have left that loop, and its stack shows it. */
size_t parts_num_iterations(const struct view *view, const struct eqgroup *group);
/* The outermost loop that a place is in, or was in last; NULL if there is none. */
const struct iteration *parts_outermost(const struct place *place);

/* The threads of a rank: first index in the job model's lanes; number, 0 if it has no model. */
size_t parts_lanes(const struct view *view, int rank, size_t *num_ret);
/* Print each thread of the answer's rank, or why that cannot be. */
void parts_print_lanes(const struct view *view,
		       void (*print)(const struct view *view, const struct job_lane *lane));
/* The group of the rank's main thread, or of its first thread; UINT32_MAX if it is in none. */
uint32_t parts_group_of(const struct view *view, int rank);
/* Is there a model of any rank, with MPI calls? If not say so, and what to do. */
bool parts_have_models(const struct view *view);
/* Say that there is no model of this rank, and why. */
void parts_no_model(const struct view *view, int rank);

/* "in MPI", "polling", "computing", "ended": what a group does, for programs. Static text. */
const char *parts_activity(const struct eqgroup *group);

/* Members of the object of a group, which is open; `ranks`: those of its ranks that are told of. */
void parts_json_group(struct json *json, const struct view *view, uint32_t group,
		      const struct rankset *ranks);
void parts_json_iterations(struct json *json, const char *key, const struct iteration *iterations,
			   size_t num);

/* ---- Ranks of which the same is to be said, together ---- */

struct same_entry {
	const char *text;
	struct rankset *ranks; /* of which it is true */
	uint32_t actor, need;  /* for who adds them: of the first */
};

/* In the order in which they were added until same_sort(); all but the arena zero at first. */
struct same {
	struct arena *arena;
	struct same_entry *entries; /* [num] */
	size_t num, capacity;
	struct blobs *texts; /* of the entries, as they were added */
};

/* The text is borrowed. Returns the entry. */
struct same_entry *same_add(struct same *same, const char *text, int rank);
void same_add_set(struct same *same, const char *text, const struct rankset *ranks);
/* Those of most ranks first; of as many, the one with the lowest rank. */
void same_sort(struct same *same);
/* Print the first `max`, "ranks 4,7: in MPI_Recv", with `link` between. Returns how many are
 * left. */
size_t same_print(const struct same *same, const struct view *view, const char *link, size_t max);
/* How many ranks there are in the entries from `first` on. */
size_t same_count_from(const struct same *same, size_t first);

#endif
