/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "model/arena.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/segment/segment_reader.h"
#include "render/words/label.h"
#include "shell/session.h"
#include "shell/watch/watch.h"
#include "shell/watch/watch_tell.h"

/* Ranks that have a trace. */
static struct rankset *find_traced(const struct job *job)
{
	struct rankset *traced = rankset_create();

	for (size_t i = 0; job->model && i < job->model->num_lanes; i++)
		if (job->model->lanes[i].data->trace)
			rankset_add(traced, job->model->lanes[i].rank);
	return traced;
}

static void save(struct session *session, const char *path, struct watch_teller *teller)
{
	struct rankset *traced SCOPED(rankset) = find_traced(session->job);
	struct rankset *missing SCOPED(rankset) = rankset_create();
	struct pdb_error err;

	for (int rank = 0; rank < session->job->proctable->size; rank++)
		if (!rankset_contains(traced, rank))
			rankset_add(missing, rank);
	if (!rankset_is_empty(missing)) {
		struct arena *arena SCOPED(arena) = arena_create();

		watch_tell_note(teller, "failure", "no trace of %s", label_who(arena, missing, 40));
	}
	if (snapshot_save(session->job, path, &err) < 0)
		watch_tell_note(teller, "failure", "no snapshot: %s", err.text);
	else
		watch_tell_note(teller, "saved", "snapshot of the job's end: pdb --load %s", path);
	session->has_saved = true;
}

void last_look_save(struct session *session, const char *path, struct watch_teller *teller)
{
	struct segment_kept *kept;
	struct pdb_error err;
	int num = segment_take_kept(NULL, getpid(), &kept, NULL);

	/* Ranks may have started and ended between two looks. */
	if (num >= 0)
		session_keep(session, kept, num);
	if (session_look_at_end(session, &err) == 0)
		save(session, path, teller);
	else if (err.code != ERROR_GONE)
		watch_tell_note(teller, "failure", "no snapshot: %s", err.text);
	if (num >= 0)
		segment_kept_free(kept, num);
}

/* Find the segments of the job that began last, which are neighbours. Returns their number;
 * *first_ret: the first. */
static int find_last_job(const struct segment_kept *kept, int num, int *first_ret)
{
	int last = 0, first, end;

	for (int i = 1; i < num; i++)
		if (kept[i].start > kept[last].start)
			last = i;
	for (first = last; first > 0 && strcmp(kept[first - 1].job, kept[last].job) == 0;)
		first--;
	for (end = last + 1; end < num && strcmp(kept[end].job, kept[last].job) == 0;)
		end++;
	*first_ret = first;
	return end - first;
}

void last_look_clean(struct session *session, const char *path, struct watch_teller *teller)
{
	struct segment_kept *kept;
	struct pdb_error err;
	int first, num = segment_take_kept(NULL, getpid(), &kept, &err), num_last;

	if (num > 0 && !session->has_saved) {
		num_last = find_last_job(kept, num, &first);
		if (session_open_kept(session, kept + first, num_last, &err) == 0) {
			save(session, path, teller);
			session_detach(session);
		} else {
			watch_tell_note(teller, "failure", "no snapshot: %s", err.text);
		}
	}
	if (num >= 0)
		segment_kept_free(kept, num);
}
