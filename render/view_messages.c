/* SPDX-License-Identifier: BSD-3-Clause
 * What ranks have sent each other, as counted at both ends. */
#include "analysis/waits/message_pairs.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/words/parts.h"

static const struct table_column columns[] = {
	{.name = "comm", .header = "on", .flags = TABLE_YIELDS | TABLE_CUT_MIDDLE, .min_width = 8},
	{.name = "from", .header = "from", .align = TABLE_RIGHT},
	{.name = "to", .header = "to", .align = TABLE_RIGHT},
	{.name = "tag", .header = "tag", .align = TABLE_RIGHT},
	{.name = "sent", .header = "sent", .align = TABLE_RIGHT},
	{.name = "received", .header = "received", .align = TABLE_RIGHT},
};

static bool is_pending(const struct message_pair *pair)
{
	return pair->sends != pair->sends_done || pair->receives != pair->receives_done;
}

/* Order of rows: 0: the ends differ and the ranks stand still; 1: they differ and the ranks move;
 * 2: incomplete; 3: the rest. */
static int urgency(const struct message_pair *pair)
{
	if (message_pair_differs(pair))
		return pair->is_moving ? 1 : 0;
	return is_pending(pair) ? 2 : 3;
}

/* ---- Rows ---- */

static void add_rank(struct table *table, int rank)
{
	if (rank >= 0)
		table_cell(table, "%d", rank);
	else
		table_text(table, rank == SEG_PEER_ANY ? "any" : "?");
}

/* "413", or "412 of 413": begun, but not all complete. */
static void add_count(struct table *table, bool is_known, uint64_t begun, uint64_t done)
{
	if (!is_known)
		table_text(table, "?");
	else if (begun == done)
		table_cell(table, "%" PRIu64, begun);
	else
		table_cell(table, "%" PRIu64 " of %" PRIu64, done, begun);
}

static const char *pair_mark(const struct view *view, const struct message_pair *pair)
{
	if (urgency(pair) > 0)
		return NULL;
	if (pair->sends < pair->receives)
		return text_of(view, "<- %" PRIu64 " not sent", pair->receives - pair->sends);
	if (pair->wildcards)
		return arena_printf(
			view->arena,
			"<- %" PRIu64 " not received, but %" PRIu64 " receive%s from any %s open",
			pair->sends - pair->receives, pair->wildcards,
			pair->wildcards == 1 ? "" : "s", pair->wildcards == 1 ? "is" : "are");
	return text_of(view, "<- %" PRIu64 " not received", pair->sends - pair->receives);
}

static void add_row(struct table *table, const struct view *view, const struct message_pair *pair)
{
	const struct rankset *known = view->job->model->ranks;

	table_row(table);
	table_text(table, label_comm(view, pair->comm, LABEL_SHORT));
	add_rank(table, pair->from);
	add_rank(table, pair->to);
	table_text(table, label_tag(view->arena, pair->tag));
	if (pair->from == SEG_PEER_ANY)
		table_text(table, NULL);
	else
		add_count(table, pair->from >= 0 && rankset_contains(known, pair->from),
			  pair->sends, pair->sends_done);
	add_count(table, pair->to >= 0 && rankset_contains(known, pair->to), pair->receives,
		  pair->receives_done);
	table_mark(table, pair_mark(view, pair));
}

/* ---- The answer ---- */

static bool is_of(const struct message_pair *pair, const struct rankset *ranks)
{
	return (pair->from >= 0 && rankset_contains(ranks, pair->from)) ||
	       (pair->to >= 0 && rankset_contains(ranks, pair->to));
}

/* Sums for the lines above and below the table. */
struct sums {
	size_t rows, differing, moving;
	uint64_t sent, received;
	bool pending, wildcards, many, unknown;
	uint32_t comm;  /* of all rows */
	bool has_comms; /* rows are of several communicators */
};

static void look_at(const struct message_pair *pair, const struct rankset *ranks, struct sums *sums)
{
	sums->has_comms |= sums->rows && sums->comm != pair->comm;
	sums->comm = pair->comm;
	sums->rows++;
	sums->differing += urgency(pair) == 0;
	sums->moving += urgency(pair) == 1;
	/* The others are tokens, of one-sided communication for example. */
	if (pair->tag < SEG_TAG_MANY)
		return;
	if (pair->from >= 0 && rankset_contains(ranks, pair->from))
		sums->sent += pair->sends;
	/* Messages received by a wildcard are also in their sender's row. */
	if (pair->to >= 0 && rankset_contains(ranks, pair->to) && pair->from != SEG_PEER_ANY &&
	    pair->tag != SEG_TAG_ANY)
		sums->received += pair->receives_done;
}

static void note(const struct message_pair *pair, struct sums *sums)
{
	sums->pending |= is_pending(pair);
	sums->wildcards |= pair->from == SEG_PEER_ANY || pair->tag == SEG_TAG_ANY;
	sums->many |= pair->tag == SEG_TAG_MANY;
	sums->unknown |= !pair->is_comparable && pair->from >= 0 && pair->to >= 0 &&
			 pair->tag != SEG_TAG_MANY && pair->tag != SEG_TAG_ANY;
}

static void print_head(const struct view *view, const struct rankset *ranks,
		       const struct sums *sums)
{
	const char *comm = "", *rows;

	if (sums->rows && !sums->has_comms)
		comm = text_of(view, " on %s", label_comm(view, sums->comm, LABEL_FULL));
	if (sums->differing)
		rows = text_of(view, "in %zu of %zu rows the two ends do not agree",
			       sums->differing, sums->rows);
	else
		rows = text_of(view, "both ends agree%s",
			       sums->moving ? " where both stand still" : "");
	text_wrap(view, 0, "%s%s: %" PRIu64 " messages sent, %" PRIu64 " received; %s",
		  parts_who(view, ranks), comm, sums->sent, sums->received, rows);
}

static void print_legend(const struct view *view, const struct sums *sums, size_t left, bool is_one)
{
	if (left)
		text_wrap(view, 2, "... and %zu more rows%s", left,
			  is_one ? " in which both ends agree" : "");
	if (sums->pending)
		text_wrap(view, 2,
			  "N of M: N are complete, M are begun (sends started, receives posted)");
	if (sums->wildcards)
		text_wrap(view, 2,
			  "any: receives with a wildcard; the sender's row counts their messages, "
			  "too");
	if (sums->many)
		text_wrap(view, 2,
			  "others: all tags for which the recorder had no row of their own");
	if (sums->unknown)
		text_wrap(view, 2,
			  "?: the two ends cannot be compared, as in rows with cancelled or "
			  "uncounted messages");
	if (sums->moving)
		text_wrap(view, 2,
			  "%zu row%s of ranks that are moving differ%s, as they do while messages "
			  "are on their way",
			  sums->moving, sums->moving == 1 ? "" : "s", sums->moving == 1 ? "s" : "");
}

void view_messages(const struct view *view)
{
	const struct message_pairs *pairs = view->answer->pairs;
	const struct rankset *ranks = view->answer->ranks;
	struct table *table = TABLE_OF(view, columns);
	bool is_one = rankset_count(ranks) == 1;
	size_t left = 0;
	struct sums sums = {0};

	for (size_t i = 0; i < pairs->num_pairs; i++)
		if (is_of(&pairs->pairs[i], ranks))
			look_at(&pairs->pairs[i], ranks, &sums);
	for (int wanted = 0; wanted <= (is_one ? 3 : 2); wanted++) {
		for (size_t i = 0; i < pairs->num_pairs; i++) {
			const struct message_pair *pair = &pairs->pairs[i];

			if (urgency(pair) != wanted || !is_of(pair, ranks))
				continue;
			if (table_num_rows(table) >= PARTS_MAX_ROWS) {
				left++;
				continue;
			}
			add_row(table, view, pair);
			note(pair, &sums);
		}
	}
	print_head(view, ranks, &sums);
	if (!sums.has_comms)
		table_hide(table, "comm");
	table_print(table);
	print_legend(view, &sums, left, is_one);
}

/* ---- JSON ---- */

static void write_rank(struct json *json, const char *key, int rank)
{
	if (rank >= 0)
		json_int(json, key, rank);
	else
		json_text(json, key, rank == SEG_PEER_ANY ? "any" : NULL);
}

static void write_pair(struct json *json, const struct view *view, const struct message_pair *pair)
{
	const struct rankset *known = view->job->model->ranks;
	bool has_sender = pair->from >= 0 && rankset_contains(known, pair->from);
	bool has_receiver = pair->to >= 0 && rankset_contains(known, pair->to);

	json_object(json, NULL);
	json_text(json, "communicator", label_comm(view, pair->comm, LABEL_FULL));
	write_rank(json, "from", pair->from);
	write_rank(json, "to", pair->to);
	json_text(json, "tag", label_tag(view->arena, pair->tag));
	if (has_sender) {
		json_count(json, "sends", pair->sends);
		json_count(json, "sends_complete", pair->sends_done);
	}
	if (has_receiver) {
		json_count(json, "receives", pair->receives);
		json_count(json, "receives_complete", pair->receives_done);
	}
	json_count(json, "wildcards", pair->wildcards);
	json_bool(json, "comparable", pair->is_comparable);
	json_bool(json, "differs", message_pair_differs(pair));
	json_bool(json, "moving", pair->is_moving);
	json_end_object(json);
}

void view_messages_json(const struct view *view)
{
	const struct message_pairs *pairs = view->answer->pairs;
	const struct rankset *ranks = view->answer->ranks;
	int last = rankset_count(ranks) == 1 ? 3 : 2;
	struct json *json = view->json;
	struct sums sums = {0};

	json_array(json, "rows");
	for (int wanted = 0; wanted <= last; wanted++)
		for (size_t i = 0; i < pairs->num_pairs; i++)
			if (urgency(&pairs->pairs[i]) == wanted && is_of(&pairs->pairs[i], ranks))
				write_pair(json, view, &pairs->pairs[i]);
	json_end_array(json);
	for (size_t i = 0; i < pairs->num_pairs; i++)
		if (is_of(&pairs->pairs[i], ranks))
			look_at(&pairs->pairs[i], ranks, &sums);
	json_count(json, "sent", sums.sent);
	json_count(json, "received", sums.received);
	json_count(json, "differing", sums.differing);
}
