/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <unistd.h>

#include "analysis/hang/hang_test.h"
#include "analysis/verdict/verdict.h"
#include "attach/node/watch_digest.h"
#include "model/arena.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/monotonic.h"
#include "model/xalloc.h"
#include "render/text/gate.h"
#include "render/text/json.h"
#include "render/view.h"
#include "render/words/label.h"
#include "shell/answers/document.h"
#include "shell/session.h"
#include "shell/watch/watch.h"
#include "shell/watch/watch_tell.h"

#define STATUS_NS UINT64_C(200000000)
enum { BAR_WIDTH = 10 };

/* Events go to standard error if standard output is the job's. On a terminal, its lines and pdb's
 * would mix. */
static bool has_terminal(FILE *out)
{
	return isatty(STDERR_FILENO) && isatty(STDOUT_FILENO) == (out == stdout);
}

void watch_tell_init(struct watch_teller *teller, struct session *session, FILE *out, bool is_json)
{
	*teller = (struct watch_teller){
		.session = session,
		.out = out,
		.is_json = is_json,
		.has_line = !is_json && has_terminal(out),
	};
}

void watch_tell_clear(struct watch_teller *teller)
{
	if (teller->has_line)
		gate_erase_line(stderr);
	teller->next_ns = 0;
}

const char *watch_kind_text(const struct verdict *verdict)
{
	if (verdict->kind == VERDICT_NONE && !rankset_is_empty(verdict->awaited))
		return "computation";
	return verdict->kind == VERDICT_LEAST || verdict->kind == VERDICT_UNDECIDED ||
			       verdict->kind == VERDICT_NONE
		       ? "communication"
		       : view_verdict_name(verdict);
}

static void begin_event(struct watch_teller *teller, const char *event)
{
	struct json json = {.out = teller->out};

	watch_tell_clear(teller);
	if (!teller->is_json)
		return;
	json_object(&json, NULL);
	document_write_version(&json);
	json_text(&json, "command", "watch");
	json_text(&json, "event", event);
	document_write_time(&json, "time", time(NULL));
}

static void end_event(struct watch_teller *teller)
{
	if (teller->is_json)
		fputs("}\n", teller->out);
	fflush(teller->out);
}

void watch_tell_begin(struct watch_teller *teller, const struct watch_digest *digest)
{
	const struct watch_numbers *numbers = &digest->numbers;
	const struct proctable *table = teller->session->job->proctable;

	begin_event(teller, "begin");
	if (teller->is_json) {
		fprintf(teller->out,
			", \"launcher\": %d, \"ranks\": %d, \"recorded\": %u, \"job\": ",
			(int)teller->session->launcher.pid, table->size, numbers->num_recorded);
		json_quote(teller->out, table->job ? table->job : "");
	} else if (!numbers->num_recorded) {
		fprintf(teller->out, "watching %d ranks by their stacks: no recorder\n",
			table->size);
	} else if (teller->has_line) {
		fprintf(teller->out, "watching %d ranks, %u with a recorder\n", table->size,
			numbers->num_recorded);
	}
	end_event(teller);
}

void watch_tell_note(struct watch_teller *teller, const char *event, const char *format, ...)
{
	char text[500];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	begin_event(teller, event);
	if (teller->is_json) {
		fputs(", \"text\": ", teller->out);
		json_quote(teller->out, text);
	} else {
		fprintf(teller->out, "pdb: %s\n", text);
	}
	end_event(teller);
}

char *watch_standstill_text(const struct watch_standstill *still)
{
	char looks[40] = "";

	if (still->num_looks)
		snprintf(looks, sizeof(looks), ", in %u looks", still->num_looks);
	return xasprintf("%s %s %s%s%s", still->num_looks ? "was seen to move" : "has moved",
			 still->is_since_begin ? "since watching began," : "for",
			 label_time(still->ns).text, still->is_since_begin ? " ago" : "", looks);
}

bool watch_is_doubted(const struct watch_hang *hang)
{
	return hang->still.is_unsure && hang->proof != WATCH_BY_COUNTS;
}

static void tell_hang_json(struct watch_teller *teller, const struct watch_hang *hang)
{
	static const char *const proofs[] = {
		[WATCH_BY_TEST] = "test",
		[WATCH_BY_STAYS] = "stays",
		[WATCH_BY_COUNTS] = "counts",
		[WATCH_BY_PATIENCE] = "max-wait",
	};
	const struct verdict *verdict = teller->session->verdict;
	bool is_sure = verdict->certainty == VERDICT_CERTAIN && !watch_is_doubted(hang);
	char *ranks SCOPED(free) = rankset_encode(
		verdict->kind == VERDICT_NONE ? verdict->awaited : verdict->culprits, 0);

	fprintf(teller->out,
		", \"kind\": \"%s\", \"ranks\": \"%s\", \"certain\": %s, \"proof\": \"%s\", "
		"\"still_s\": %.3f, \"watched_s\": %.3f, \"samples\": %u",
		watch_kind_text(verdict), ranks, is_sure ? "true" : "false", proofs[hang->proof],
		hang->still.ns / 1e9, hang->watched_ns / 1e9, hang->num_samples);
	if (hang->proof == WATCH_BY_TEST && isfinite(hang->chance))
		fprintf(teller->out, ", \"chance_per_hour\": %.3g", hang->chance);
}

static void tell_hang_text(struct watch_teller *teller, const struct watch_hang *hang)
{
	struct arena *arena SCOPED(arena) = arena_create();
	struct view view = session_view(teller->session, arena);
	char *still SCOPED(free) = watch_standstill_text(&hang->still);

	view.out = teller->out;
	fprintf(view.out, "Hang: %s. Nobody %s", watch_kind_text(view.verdict), still);
	if (hang->proof == WATCH_BY_TEST && isfinite(hang->chance))
		fprintf(view.out,
			"; a job that goes on as before would look like this %.2g times an hour",
			hang->chance);
	else if (hang->proof == WATCH_BY_STAYS)
		fputs("; that is too long, compared with earlier stays", view.out);
	else if (hang->proof != WATCH_BY_COUNTS)
		fputs("; there is no earlier stay to compare with", view.out);
	fputs(".\n", view.out);
	if (watch_is_doubted(hang))
		fputs("Not sure that it hangs: pdb cannot read the message counts of all ranks. "
		      "They may have moved between the looks and come back to the same calls.\n",
		      view.out);
	view_lp(&view);
}

void watch_tell_hang(struct watch_teller *teller, const struct watch_hang *hang)
{
	begin_event(teller, "hang");
	if (teller->is_json)
		tell_hang_json(teller, hang);
	else
		tell_hang_text(teller, hang);
	end_event(teller);
}

static void print_bar(double share)
{
	int full = (int)(share * BAR_WIDTH + 0.5);

	fprintf(stderr, "[%.*s%.*s]", full, "##########", BAR_WIDTH - full, "..........");
}

static void print_knowledge(const struct hang_figures *figures)
{
	switch (figures->state) {
	case HANG_LEARNING:
		fprintf(stderr, "learning %u/%u", figures->num_samples, figures->wanted);
		break;
	case HANG_SUSPICIOUS:
		fprintf(stderr, "low %u/%u", figures->num_low, figures->needed);
		break;
	case HANG_CONFIRM:
	case HANG_FOUND:
		fputs("hangs?", stderr);
		break;
	default:
		fprintf(stderr, "%u samples", figures->num_samples);
	}
}

void watch_tell_status(struct watch_teller *teller, const struct watch_digest *digest,
		       const struct hang_figures *figures, struct watch_standstill still,
		       uint64_t needed_ns)
{
	const struct watch_numbers *numbers = &digest->numbers;
	struct label_time time = label_time(still.ns < STATUS_NS ? 0 : still.ns);
	uint64_t now_ns = monotonic_ns();

	if (!teller->has_line || now_ns < teller->next_ns)
		return;
	teller->next_ns = now_ns + STATUS_NS;
	gate_erase_line(stderr);
	fprintf(stderr, "%u ranks  outside MPI ", numbers->num_ranks - numbers->num_ended);
	if (figures->s_out >= 0) {
		print_bar(figures->s_out);
		fprintf(stderr, " %3.0f %%", 100 * figures->s_out);
	} else {
		fputs("?", stderr);
	}
	fputs("  ", stderr);
	print_knowledge(figures);
	if (still.ns < STATUS_NS)
		fputs("  moving", stderr);
	else if (still.is_since_begin)
		fprintf(stderr, "  no move seen in %s", time.text);
	else
		fprintf(stderr, "  moved %s ago", time.text);
	if (still.ns >= STATUS_NS && needed_ns)
		fprintf(stderr, ", a hang after %s", label_time(needed_ns).text);
	fflush(stderr);
}
