/* SPDX-License-Identifier: BSD-3-Clause
 * How the calls of one collective do not match. */

#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "render/lp/lp.h"
#include "render/words/parts.h"

enum { MAX_PARTIES = 6, MAX_PAIRS = 4 };

/* ---- Parties ---- */

/* A root as a rank of the job. */
static const char *root_text(const struct view *view, uint32_t comm, int32_t root)
{
	const struct job_comm *of = &view->comms->comms[comm];

	if (root >= 0 && (size_t)root < of->sizes[0] && of->groups[0][root] >= 0 &&
	    of->groups[0][root] != root)
		return text_of(view, "root %" PRId32 " (rank %d)", root, of->groups[0][root]);
	if (root >= 0)
		return text_of(view, "root %" PRId32, root);
	return "no root";
}

/* The names of enum seg_error, as MPI has them. */
static const char *error_text(uint32_t error)
{
	static const char *const names[SEG_NUM_ERRORS] = {
		[SEG_ERROR_BUFFER] = "MPI_ERR_BUFFER",     [SEG_ERROR_COUNT] = "MPI_ERR_COUNT",
		[SEG_ERROR_TYPE] = "MPI_ERR_TYPE",         [SEG_ERROR_TAG] = "MPI_ERR_TAG",
		[SEG_ERROR_COMM] = "MPI_ERR_COMM",         [SEG_ERROR_RANK] = "MPI_ERR_RANK",
		[SEG_ERROR_REQUEST] = "MPI_ERR_REQUEST",   [SEG_ERROR_ROOT] = "MPI_ERR_ROOT",
		[SEG_ERROR_GROUP] = "MPI_ERR_GROUP",       [SEG_ERROR_OP] = "MPI_ERR_OP",
		[SEG_ERROR_TOPOLOGY] = "MPI_ERR_TOPOLOGY", [SEG_ERROR_DIMS] = "MPI_ERR_DIMS",
		[SEG_ERROR_ARG] = "MPI_ERR_ARG",           [SEG_ERROR_UNKNOWN] = "MPI_ERR_UNKNOWN",
		[SEG_ERROR_TRUNCATE] = "MPI_ERR_TRUNCATE", [SEG_ERROR_INTERN] = "MPI_ERR_INTERN",
	};
	const char *name = error < SEG_NUM_ERRORS ? names[error] : NULL;

	return name ? name : "MPI_ERR_OTHER";
}

static const char *ending_text(const struct view *view, const struct waitfor_party *party)
{
	if (party->error)
		return text_of(view, ", and left it with an error (%s)", error_text(party->error));
	return party->is_waiting ? "" : ", and is done with it";
}

static void print_party(const struct view *view, const struct waitfor_mismatch *mismatch,
			const struct waitfor_party *party, int indent)
{
	const char *more = "";

	if (mismatch->what == WAITFOR_OTHER_ROOT)
		more = text_of(view, " with %s", root_text(view, mismatch->comm, party->root));
	else if (mismatch->what == WAITFOR_OTHER_BYTES)
		more = text_of(view, " of %" PRIu64 " bytes", party->bytes);
	text_wrap(view, indent, "%s: %s%s, %s%s", parts_who(view, party->ranks), party->function,
		  more,
		  label_user_place(view, view->job->model->sites[party->site].path, LABEL_FULL),
		  ending_text(view, party));
}

/* ---- Two who do not fit ---- */

static void print_counts(const struct view *view, const struct waitfor_pair *pair, int indent)
{
	text_wrap(view, indent,
		  "the counts of rank %d give rank %d %" PRIu64
		  " bytes, those of rank %d expect %" PRIu64 " bytes of rank %d",
		  pair->giver, pair->taker, pair->given, pair->taker, pair->taken, pair->giver);
}

static void print_neighbours(const struct view *view, const struct waitfor_pair *pair, int indent)
{
	if (pair->given == 0)
		text_wrap(view, indent,
			  "rank %d lists rank %d as a source, rank %d does not list rank %d as a "
			  "destination",
			  pair->taker, pair->giver, pair->giver, pair->taker);
	else if (pair->taken == 0)
		text_wrap(view, indent,
			  "rank %d lists rank %d as a destination, rank %d does not list rank %d "
			  "as a source",
			  pair->giver, pair->taker, pair->taker, pair->giver);
	else
		text_wrap(view, indent,
			  "rank %d lists rank %d %" PRIu64
			  " times as a destination, rank %d lists rank %d %" PRIu64
			  " times as a source",
			  pair->giver, pair->taker, pair->given, pair->taker, pair->giver,
			  pair->taken);
}

static void print_pairs(const struct view *view, const struct waitfor_mismatch *mismatch,
			int indent)
{
	for (size_t i = 0; i < mismatch->num_pairs && i < MAX_PAIRS; i++)
		if (mismatch->what == WAITFOR_OTHER_COUNTS)
			print_counts(view, &mismatch->pairs[i], indent);
		else if (mismatch->what == WAITFOR_OTHER_GRAPH)
			print_neighbours(view, &mismatch->pairs[i], indent);
		else
			text_wrap(view, indent, "rank %d has tag %" PRIu64 ", rank %d tag %" PRIu64,
				  mismatch->pairs[i].giver, mismatch->pairs[i].given,
				  mismatch->pairs[i].taker, mismatch->pairs[i].taken);
	if (mismatch->num_pairs > MAX_PAIRS)
		text_wrap(view, indent, "%s%zu more pairs of ranks do not fit together",
			  mismatch->num_pairs == WAITFOR_MAX_PAIRS ? "at least " : "",
			  mismatch->num_pairs - MAX_PAIRS);
}

static void print_what_differs(const struct view *view, const struct waitfor_mismatch *mismatch,
			       int indent)
{
	static const char *const words[] = {
		[WAITFOR_OTHER_ROOT] = "different roots in",
		[WAITFOR_OTHER_BYTES] = "different sizes in",
		[WAITFOR_ERROR] = "an error left some out of",
		[WAITFOR_OTHER_GRAPH] = "neighbours that do not fit together in",
		[WAITFOR_OTHER_COUNTS] = "counts that do not fit together in",
	};
	const char *comm = label_comm(view, mismatch->comm, LABEL_FULL);

	if (mismatch->what == WAITFOR_OTHER_FUNCTION)
		text_wrap(view, indent,
			  "mismatch: different functions as collective number %" PRIu64 " on %s",
			  mismatch->number, comm);
	else if (mismatch->what == WAITFOR_OTHER_LEADERS)
		text_wrap(view, indent,
			  "mismatch: different tags of the leaders in %s, peers on %s",
			  mismatch->parties[0].function, comm);
	else
		text_wrap(view, indent, "mismatch: %s %s, collective number %" PRIu64 " on %s",
			  words[mismatch->what], mismatch->parties[0].function, mismatch->number,
			  comm);
}

void cause_print_mismatch(const struct view *view, const struct waitfor_mismatch *mismatch,
			  int indent)
{
	print_what_differs(view, mismatch, indent);
	print_pairs(view, mismatch, indent + 2);
	for (size_t i = 0; i < mismatch->num_parties && i < MAX_PARTIES; i++)
		print_party(view, mismatch, &mismatch->parties[i], indent + 2);
	if (mismatch->num_parties > MAX_PARTIES)
		text_wrap(view, indent + 2, "and %zu more kinds",
			  mismatch->num_parties - MAX_PARTIES);
}
