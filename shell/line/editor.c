/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "model/arena.h"
#include "model/xalloc.h"
#include "render/text/gate.h"
#include "render/text/text.h"
#include "shell/line/complete.h"
#include "shell/line/editor.h"
#include "shell/interrupt.h"
#include "shell/session.h"
#include "shell/spinner.h"

#define HISTORY_LINES 1000

struct editor {
	struct line_source base;
	struct session *session;
	editor_complete *complete;
	char *history_file;  /* NULL: none */
	bool is_interrupted; /* Ctrl-C ended the line that readline returns */
};

/* Readline's callbacks get no context, so this is global. */
static struct editor *active;

static struct completions offers; /* kept until the next, for show_offers() */
static struct arena *offers_arena;
static size_t next_offer;

static char *next_completion(const char *typed, int state)
{
	(void)typed;
	if (state == 0)
		next_offer = 0;
	return next_offer < offers.num ? strdup(offers.all[next_offer++].word) : NULL;
}

static char **complete(const char *typed, int start, int end)
{
	char *line SCOPED(free) = xstrndup(rl_line_buffer, end);
	char **matches = NULL;

	arena_destroy(offers_arena);
	offers_arena = arena_create();
	offers = active->complete(offers_arena, active->session, line, (size_t)start);
	rl_sort_completion_matches = offers.are_files;
	if (!offers.are_files) {
		rl_attempted_completion_over = 1;
		matches = rl_completion_matches(typed, next_completion);
	}
	return matches;
}

static const char *find_what(const char *word)
{
	for (size_t i = 0; i < offers.num; i++)
		if (strcmp(offers.all[i].word, word) == 0)
			return offers.all[i].what;
	return "";
}

/* Show one match per line with its explanation; in columns if there are no explanations or no
 * room. */
static void show_offers(char **matches, int num, int longest)
{
	bool has_words = false;
	int rows, columns;

	rl_get_screen_size(&rows, &columns);
	for (int i = 1; i <= num; i++)
		has_words = has_words || (!offers.are_files && *find_what(matches[i]));
	if (!has_words || num > rows - 2) {
		rl_display_match_list(matches, num, longest);
	} else {
		struct arena *arena SCOPED(arena) = arena_create();
		bool use_unicode = session_view(active->session, arena).use_unicode;

		fflush(rl_outstream);
		putchar('\n');
		for (int i = 1; i <= num; i++) {
			const int room = columns - longest - 5;

			printf("  %-*s  %s\n", longest, matches[i],
			       text_fit(arena, find_what(matches[i]), room > 0 ? room : 0,
					use_unicode));
		}
		fflush(stdout);
	}
	rl_forced_update_display();
}

static void tell_end(const struct session *session)
{
	char end[128];

	session_describe_end(session, end, sizeof(end));
	rl_crlf();
	fflush(rl_outstream);
	printf("%c%s. Its last snapshot is still here; \"save FILE\" keeps it.\n", toupper(end[0]),
	       end + 1);
	rl_on_new_line();
	rl_redisplay();
}

/* The next byte for readline. Meanwhile also waits for signals and the job's end. */
static int next_byte(FILE *in)
{
	struct session *session = active->session;

	while (!interrupt_pending()) {
		struct pollfd fds[] = {
			{.fd = fileno(in), .events = POLLIN},
			{.fd = interrupt_fd(), .events = POLLIN},
			{.fd = session->is_live ? session->launcher_fd : -1, .events = POLLIN},
		};

		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return EOF;
		if (fds[2].revents && session_has_ended(session))
			tell_end(session);
		else if (!fds[1].revents && fds[0].revents)
			return rl_getc(in);
	}
	if (interrupt_wants_end())
		return EOF;
	/* Ctrl-C: an empty line; read_line() can distinguish it from a typed one. */
	interrupt_drain();
	interrupt_clear();
	active->is_interrupted = true;
	rl_replace_line("", 1);
	return '\n';
}

static char *read_line(struct editor *editor, const char *prompt, bool is_question)
{
	struct arena *arena SCOPED(arena) = arena_create();
	const char *clean = text_clean(arena, prompt, true); /* readline writes it as it is */
	FILE *errors = stderr;
	char *line;

	fflush(stdout);
	interrupt_drain();
	interrupt_clear();
	for (;;) {
		editor->is_interrupted = false;
		stderr = rl_outstream; /* readline would ring the bell */
		line = readline(clean);
		stderr = errors;
		if (line && !editor->is_interrupted && !interrupt_wants_end())
			break;
		if (!line || is_question || interrupt_wants_end()) {
			free(line);
			line = NULL;
			if (!editor->is_interrupted)
				putchar('\n'); /* after Ctrl-D the cursor is behind the prompt */
			break;
		}
		free(line);
	}
	return line;
}

static char *next_line(struct line_source *source, const char *prompt)
{
	source->line++;
	return read_line((struct editor *)source, prompt, false);
}

bool editor_confirm(struct session *session, const char *format, ...)
{
	char question[512];
	va_list ap;
	char *answer;
	bool yes;

	if (!session->editor || session->settings.confirm != SWITCH_ON)
		return true;
	va_start(ap, format);
	vsnprintf(question, sizeof(question) - 8, format, ap);
	va_end(ap);
	strcat(question, " (y/n) ");
	spinner_stop();
	answer = read_line(session->editor, question, true);
	yes = answer && (answer[0] == 'y' || answer[0] == 'Y');
	free(answer);
	return yes;
}

static char *history_path(void)
{
	const char *path = getenv("PDB_HISTORY"), *home = getenv("HOME");

	if (path)
		return *path ? xstrdup(path) : NULL;
	return home && *home ? xasprintf("%s/.pdb_history", home) : NULL;
}

struct editor *editor_create(struct session *session, editor_complete *complete_words)
{
	struct editor *editor = xcalloc(1, sizeof(*editor));

	editor->base = (struct line_source){.next = next_line, .name = "input"};
	editor->session = session;
	editor->complete = complete_words;
	editor->history_file = history_path();
	active = editor;
	rl_readline_name = "pdb";
	rl_outstream = gate_open_editor();
	rl_attempted_completion_function = complete;
	rl_completion_display_matches_hook = show_offers;
	rl_getc_function = next_byte;
	rl_basic_word_break_characters = " \t\n\"'<>|,";
	/* Signals first reach the shell's own handlers: see interrupt.h. */
	rl_catch_signals = 0;
	rl_change_environment = 0;
	using_history();
	stifle_history(HISTORY_LINES);
	if (editor->history_file)
		read_history(editor->history_file);
	return editor;
}

void editor_destroy(struct editor *editor)
{
	if (!editor)
		return;
	if (editor->history_file)
		write_history(editor->history_file);
	free(editor->history_file);
	free(editor);
	fclose(rl_outstream);
	rl_outstream = stdout;
	arena_destroy(offers_arena);
	offers_arena = NULL;
	offers = (struct completions){0};
	active = NULL;
}

struct line_source *editor_source(struct editor *editor)
{
	return &editor->base;
}

void editor_remember(struct editor *editor, const char *line)
{
	HIST_ENTRY *last = history_length ? history_get(history_base + history_length - 1) : NULL;

	(void)editor;
	if (*line && (!last || strcmp(last->line, line) != 0))
		add_history(line);
}
