/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/job/callpath.h"
#include "model/arena.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/xalloc.h"
#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/line/complete.h"
#include "shell/script/script.h"
#include "shell/session.h"
#include "shell/topics.h"
#include "tests/unit/unit.h"

/* ---- The table ---- */

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");

		if (length > longest)
			longest = length;
		text += length + (text[length] == '\n');
	}
	return longest;
}

static void check_entry(const struct command *command, const char *typed)
{
	size_t length;

	assert_non_null(command->summary);
	length = strlen(command->summary);
	assert_true(length > 0 && length <= 66);
	assert_true(isupper((unsigned char)command->summary[0]));
	assert_int_equal(command->summary[length - 1], '.');
	assert_null(strchr(command->summary, '\n'));
	assert_true(begins_with(command->usage, typed));
	assert_true(command->text && *command->text);
	assert_true(longest_line(command->text) <= 80);
	assert_true(begins_with(command->example, typed));
	assert_int_equal(!!command->run + !!command->family + !!command->views[FORMAT_TEXT], 1);
	for (int format = 0; format < NUM_FORMATS; format++)
		assert_true(!command->views[format] || command->views[FORMAT_TEXT]);
	assert_true(!command->find || command->views[FORMAT_TEXT]);
	assert_true(command->topic < NUM_TOPICS);
	if (command->max_words >= 0)
		assert_true(command->min_words <= command->max_words || (command->flags & CMD_RAW));
}

static void every_entry_is_complete(void **state)
{
	(void)state;
	for (size_t i = 0; command_table[i]; i++) {
		const struct command *command = command_table[i];

		if (i)
			assert_true(strcmp(command_table[i - 1]->name, command->name) < 0);
		check_entry(command, command->name);
		for (size_t j = 0; command->family && command->family[j]; j++) {
			char *typed = xasprintf("%s %s", command->name, command->family[j]->name);

			check_entry(command->family[j], typed);
			free(typed);
		}
	}
}

static void every_topic_is_complete(void **state)
{
	(void)state;
	for (const struct topic *topic = topic_table; topic->name; topic++) {
		size_t length = strlen(topic->summary);

		if (topic != topic_table)
			assert_true(strcmp(topic[-1].name, topic->name) < 0);
		assert_true(isupper((unsigned char)topic->summary[0]));
		assert_int_equal(topic->summary[length - 1], '.');
		assert_true(longest_line(topic->summary) <= 65);
		assert_true(longest_line(topic->text) <= 80);
		assert_ptr_equal(topics_find(topic->name), topic);
		/* A command of that name would hide it. */
		for (size_t i = 0; command_table[i]; i++)
			assert_string_not_equal(command_table[i]->name, topic->name);
	}
	assert_null(topics_find(""));
	assert_null(topics_find("nosuch"));
	assert_null(topics_find("r"));
	assert_string_equal(topics_find("stat")->name, "status");
}

static void lookup(void **state)
{
	static const struct {
		const char *line, *name, *rest; /* name NULL: an error with `rest` in it */
	} cases[] = {
		{"lp", "lp", ""},
		{"  lp  x", "lp", "  x"},
		{"gro", "groups", ""},
		{"h", "help", ""},
		{"hist 3", "history", " 3"},
		{"!ls -l", "shell", "ls -l"},
		{"info job", "job", ""},
		{"inf j", "job", ""},
		{"info ranks 0-3", "ranks", " 0-3"},
		{"lp>x", "lp", ">x"},
		{"gr", NULL, "ambiguous: graph, groups"},
		{"l", "lp", ""},
		{"loo", "loops", ""},
		{"lo", NULL, "ambiguous: locals, loops"},
		{"li", "list", ""},
		{"p n", "print", " n"},
		{"g", "groups", ""},
		{"mes 3", "messages", " 3"},
		{"coll", "collectives", ""},
		{"wai", "waits", ""},
		{"wat --kill", "watch", " --kill"},
		{"w", "why", ""},
		{"wa", NULL, "ambiguous: waits, watch"},
		{"req 3", "requests", " 3"},
		{"m", NULL, "ambiguous: messages, model"},
		{"re", NULL, "ambiguous: refresh, report, requests"},
		{"nosuch", NULL, "no command \"nosuch\"; try \"help\""},
		{"lpx", NULL, "no command \"lpx\"; did you mean \"lp\"?"},
		{"hlep graph", NULL, "did you mean \"help\"?"},
		{"ptype x", NULL, "that is for gdb: \"gdb RANK\""},
		{"n", NULL, "that is for gdb"},
		{"backtrace", NULL, "did you mean \"bt\"?"},
		{"continue", NULL, "ranks run on by themselves"},
		{"exit", "quit", ""},
		{"info jbo", NULL, "no info command \"jbo\"; did you mean \"job\"?"},
		{"info", NULL, "needs one of: args, hosts, job"},
		{"info | cat", NULL, "needs one of: args, hosts, job"},
		{"info r", NULL, "ambiguous: ranks, recorder"},
		{"info x", NULL, "info command \"x\" is not one of: args, hosts, job"},
		{"\033[2J", NULL, "no command"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = cases[i].line;
		const struct command *command = NULL;
		struct pdb_error err;

		if (!cases[i].name) {
			assert_int_equal(command_take(&text, &command, &err), -1);
			assert_int_equal(err.code, ERROR_USAGE);
			if (!strstr(err.text, cases[i].rest))
				fail_msg("%s", err.text);
			assert_ptr_equal(text, cases[i].line);
			continue;
		}
		assert_int_equal(command_take(&text, &command, &err), 0);
		assert_string_equal(command->name, cases[i].name);
		assert_string_equal(text, cases[i].rest);
	}
}

/* ---- Lines ---- */

/* A session that writes into memory. */
struct fixture {
	struct session session;
	char *text;
	size_t size;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	session_init(&f->session);
	f->session.execute = command_execute;
	f->session.out = open_memstream(&f->text, &f->size);
	f->session.is_batch = true;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fclose(f->session.out);
	session_deinit(&f->session);
	free(f->text);
	free(f);
	return 0;
}

/* What was written since the last call. The caller frees. */
static char *take_text(struct fixture *f)
{
	char *text;

	fclose(f->session.out);
	text = f->text;
	f->text = NULL;
	f->session.out = open_memstream(&f->text, &f->size);
	return text;
}

static void assert_output(struct fixture *f, const char *line, const char *expected)
{
	struct pdb_error err = {0};
	char *text;

	if (command_execute(&f->session, line, &err) < 0)
		fail_msg("%s: %s", line, err.text);
	text = take_text(f);
	assert_string_equal(text, expected);
	free(text);
}

static void assert_refused(struct fixture *f, const char *line, const char *message)
{
	struct pdb_error err = {0};
	char *text;

	assert_int_equal(command_execute(&f->session, line, &err), -1);
	assert_int_not_equal(err.code, ERROR_NONE);
	if (!strstr(err.text, message))
		fail_msg("%s: %s", line, err.text);
	text = take_text(f);
	assert_string_equal(text, "");
	free(text);
}

static void lines_that_do_nothing(void **state)
{
	static const char *const lines[] = {"", "   ", "\t", "# comment", "   # comment"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_output(*state, lines[i], "");
		assert_false(command_repeats(lines[i]));
	}
	assert_true(command_repeats("lp"));
	assert_true(command_repeats("my-own"));
	assert_false(command_repeats("gdb 3"));
}

static void words_reach_the_command(void **state)
{
	assert_output(*state, "echo a  'b  c' # comment", "a b  c\n");
	assert_output(*state, "set width 100", "");
	assert_output(*state, "show width",
		      "  width    100       Columns of output, at least 40; 0: the terminal's, or "
		      "80.\n");
}

static void refused_lines(void **state)
{
	assert_refused(*state, "echo 'a", "quote");
	assert_refused(*state, "set width", "usage: set SETTING VALUE");
	assert_refused(*state, "set width 1 2", "usage");
	assert_refused(*state, "quit now", "usage: quit");
	assert_refused(*state, "shell", "usage: shell COMMAND");
	assert_refused(*state, "define", "usage");
	assert_refused(*state, "define lp", "is a command of pdb");
	assert_refused(*state, "define h", "is a command of pdb");
	assert_refused(*state, "define 1x", "is no name");
	assert_refused(*state, "define x", "lines to follow");
	assert_refused(*state, "source /no/such/file", "/no/such/file");
	assert_refused(*state, "help nosuch", "no command");
	assert_refused(*state, "help lp twice", "takes no second word");
	assert_refused(*state, "help grahp",
		       "no command or topic \"grahp\"; did you mean \"graph\"?");
	assert_refused(*state, "help r", "ambiguous: refresh, report, requests");
	assert_refused(*state, "apropos", "usage: apropos RE");
	assert_refused(*state, "apropos (", "regular expression");
	assert_refused(*state, "apropos no such thing", "help has nothing about \"no such thing\"");
	assert_refused(*state, "\377\376 garbage", "no command");
	assert_refused(*state, "suspects", "usage: suspects GOOD");
	assert_refused(*state, "suspects -all", "the good run is missing");
	assert_refused(*state, "suspects a b c", "c");
	assert_refused(*state, "suspects /no/such/file b", "/no/such/file");
	assert_refused(*state, "suspects . b", "there is no job for \".\"");
	assert_refused(*state, "suspects a b -linkage", "-linkage takes single|complete");
	assert_refused(*state, "suspects a b -linkage most", "single, complete, average, ward");
	assert_refused(*state, "suspects a b -attributes entries,x", "entries, pairs, bodies");
	assert_refused(*state, "suspects a b -only (", "regular expression");
	assert_refused(*state, "suspects a b -only x -only y", "is there twice");
	assert_refused(*state, "suspects a b -x", "option \"-x\" is not one of");
	assert_refused(*state, "suspects a b -linkgae ward", "did you mean \"-linkage\"?");
	assert_refused(*state, "diff a:1", "usage: diff");
	assert_refused(*state, "diff a:1 a:2 -linkage ward", "option \"-linkage\" is not one of");
	assert_refused(*state, "diff a:x b:1", "\"x\" is no rank");
	assert_refused(*state, "diff a:1.x b:1", "\"1.x\" is no rank");
	assert_refused(*state, "diff lp 1", "\"lp\" is no rank");
	assert_refused(*state, "diff 0 1", "there is no job for \".\"");
	assert_refused(*state, "diff a:0 b:1 c:2", "give two ranks");
}

static void assert_says(struct fixture *f, const char *line, const char *const *parts)
{
	struct pdb_error err = {0};
	char *text;

	if (command_execute(&f->session, line, &err) < 0)
		fail_msg("%s: %s", line, err.text);
	text = take_text(f);
	for (size_t i = 0; parts[i]; i++)
		if (!strstr(text, parts[i]))
			fail_msg("%s: no \"%s\" in\n%s", line, parts[i], text);
	free(text);
}

static void help(void **state)
{
	static const struct {
		const char *line, *parts[7];
	} cases[] = {
		{"help",
		 {"When a job hangs:\n  lp  ", "\n  why 7  ", "\n  groups  ", "\n  save FILE  ",
		  "\n  answers   Who holds the job up    cause graph groups lp", "tutorial"}},
		{"help all", {"\n  lp           Name the", "\n  collectives  Show", "Topics:"}},
		{"help answers", {"Who holds the job up", "\n  why          Explain"}},
		{"help lp", {"usage: lp\n", "example: lp\n"}},
		{"help info job", {"usage: info job\n"}},
		{"help ranks", {"How to write ranks.\n", "bt group 2"}},
		{"help stat", {"exit status"}},
		{"help exit", {"usage: quit\n", "alias: exit\n"}},
		{"help culprit", {"usage: lp\n", "alias: l\n", "alias: culprit\n"}},
		{"apropos 'DEADLOCK|pager'", {"  set pager", "  help output"}},
		{"apropos deadlock", {"  lp ", "  waits ", "  why ", "  help hang"}},
		{"apropos 'step by step'", {"  why "}},
		{"apropos 'fewest frames'", {"  tree "}},
		{"apropos host", {"  info hosts", "  help ranks"}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_says(*state, cases[i].line, cases[i].parts);
}

/* The first screen of a terminal has all of "help". */
static void help_fits_a_screen(void **state)
{
	struct fixture *f = *state;
	struct pdb_error err;
	size_t lines = 0;
	char *text;

	assert_int_equal(command_execute(&f->session, "help", &err), 0);
	text = take_text(f);
	assert_true(longest_line(text) <= 80);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	assert_true(lines < 24);
	for (size_t i = 0; command_table[i]; i++)
		if (!strstr(text, command_table[i]->name))
			fail_msg("no %s in\n%s", command_table[i]->name, text);
	free(text);
}

static void preconditions(void **state)
{
	static const char *const lines[] = {"lp",       "groups",    "graph",   "why 0",
					    "loops",    "history 0", "model 0", "bt",
					    "focus 0",  "gdb 0",     "save f",  "refresh",
					    "info job", "progress",  "lattice", "similar"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_refused(*state, lines[i], "no job");
}

/* ---- Output ---- */

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = xcalloc(1, 1000);

	assert_non_null(file);
	assert_true(fread(text, 1, 999, file) < 999);
	fclose(file);
	return text;
}

static char *temporary_file(const char *text)
{
	char *path = xstrdup("/tmp/pdb-test-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

static void output_to_files(void **state)
{
	struct fixture *f = *state;
	char *path = temporary_file("old\n"), *line, *text;

	line = xasprintf("echo new > %s", path);
	assert_output(f, line, "");
	free(line);
	line = xasprintf("echo more >> '%s'", path);
	assert_output(f, line, "");
	free(line);
	text = read_file(path);
	assert_string_equal(text, "new\nmore\n");
	free(text);
	line = xasprintf("echo 'a > b' | tr a-z A-Z > %s", path);
	assert_output(f, line, "");
	free(line);
	text = read_file(path);
	assert_string_equal(text, "A > B\n");
	free(text);
	unlink(path);
	free(path);
}

static void bad_outputs(void **state)
{
	assert_refused(*state, "echo a >", "one file name");
	assert_refused(*state, "echo a > b c", "one file name");
	assert_refused(*state, "echo a |", "give a command after");
	assert_refused(*state, "echo a > /no/such/folder/x", "/no/such/folder/x");
	assert_refused(*state, "echo a > x.svg", "draws no svg picture");
	assert_refused(*state, "graph >> x.svg", "cannot be appended");
	assert_refused(*state, "similar >> x.svg", "cannot be appended");
	assert_refused(*state, "similar > x.png", "draws no png picture");
	assert_refused(*state, "suspects a b > x.folded", "no folded stacks");
	assert_refused(*state, "echo a | /no/such/command 2>/dev/null", "no such command");
}

/* ---- Files and user-defined commands ---- */

static void assert_file(struct fixture *f, const char *lines, const char *expected)
{
	char *path = temporary_file(lines), *line = xasprintf("source %s", path);

	assert_output(f, line, expected);
	unlink(path);
	free(line);
	free(path);
}

static void assert_file_refused(struct fixture *f, const char *lines, const char *where,
				const char *message)
{
	char *path = temporary_file(lines), *place = xasprintf("%s:%s: ", path, where);
	struct pdb_error err;

	assert_int_equal(script_run_file(&f->session, path, &err), -1);
	if (!strstr(err.text, place) || !strstr(err.text, message))
		fail_msg("%s", err.text);
	free(take_text(f));
	unlink(path);
	free(place);
	free(path);
}

static void command_files(void **state)
{
	assert_file(*state, "echo a\n\n# comment\n  echo b", "a\nb\n");
	assert_file(*state, "echo a\r\necho b\r\n", "a\nb\n");
	assert_file(*state, "define two\n  echo one $arg0\necho of $argc\nend\ntwo x y\n",
		    "one x\nof 2\n");
	assert_file(*state, "define two\necho other\nend\ntwo\n", "other\n");
	assert_file(*state, "two | grep -q other\n", "");
	assert_file(*state, "echo a\nquit\necho b\n", "a\n");
}

static void broken_command_files(void **state)
{
	assert_file_refused(*state, "echo a\nnosuch\necho b\n", "2", "no command \"nosuch\"");
	assert_file_refused(*state, "echo 'a\n", "1", "quote");
	assert_file_refused(*state, "\n\n\001\002\003\n", "3", "no command");
	assert_file_refused(*state, "define x\necho a\n", "1", "\"end\"");
	assert_file_refused(*state, "define x\nnosuch\nend\nx\n", "4: x:1", "no command");
	assert_file_refused(*state, "define loop\nloop\nend\nloop\n", "4", "nested more than");
}

static void a_macro_may_be_redefined_while_it_runs(void **state)
{
	char *path = temporary_file("define x\necho new\nend\n");
	char *lines = xasprintf("define x\nsource %s\necho old\nend\nx\nx\n", path);

	assert_file(*state, lines, "old\nnew\n");
	unlink(path);
	free(lines);
	free(path);
}

/* ---- Completion ---- */

static void completion(void **state)
{
	static const struct {
		const char *line; /* up to the cursor; the last word begins behind the last blank */
		const char *words;
	} cases[] = {
		{"gr", "graph groups"},
		{"  gr", "graph groups"},
		{"zz", ""},
		{"info ", "args hosts job locals overhead ranks recorder"},
		{"info r", "ranks recorder"},
		{"info ranks l", "lp"},
		{"why ", "lp"},
		{"focus ", "all lp group host"},
		{"bt g", "group"},
		{"list p", "parted"},
		{"locals solve l", "lp"},
		{"info args f", "frame"},
		{"messages l", "lp"},
		{"requests l", "lp"},
		{"collectives ", "MPI_COMM_WORLD rows"},
		{"coll r", "rows"},
		{"set co", "color confirm"},
		{"set color ", "off on auto"},
		{"set color o", "off on"},
		{"show w", "width"},
		{"help gr", "graph groups"},
		{"lp > x", "FILES"},
		{"source x", "FILES"},
		{"quit ", ""},
		{"nosuch x", ""},
		{"tree -be", "-below"},
		{"bt 3 -l", "-least -longest -last"},
		{"bt lp -s", "-search -shortest"},
		{"watch --on", "--on-hang --on-hang-time"},
		{"watch --save x", "FILES"},
		{"watch --alpha ", ""},
		{"suspects a -link", "-linkage"},
		{"suspects a -linkage ", "single complete average ward"},
		{"lattice -frequency l", "log10"},
		{"diff -by ", "path line function call"},
		{"diff -wi", "-without"},
		{"diff go", "FILES"},
		{"diff docs/snapshots/lammps.pdb:",
		 "docs/snapshots/lammps.pdb:0 docs/snapshots/lammps.pdb:1 "
		 "docs/snapshots/lammps.pdb:2 docs/snapshots/lammps.pdb:3"},
		{"diff docs/snapshots/lammps.pdb:0 docs/snapshots/lammps.pdb:3",
		 "docs/snapshots/lammps.pdb:3"},
		{"diff nosuch.pdb:", ""},
		{"diff docs/README.md:", ""},
		{"gdb lp -e", "-ex"},
		{"trace 3 --", "--full"},
		{"history a", ""},
		{"why g", ""},
		{"trace 3 --full l", "lp"},
		{"apr", "apropos"},
		{"help o", "order output"},
		{"help info r", "ranks recorder"},
		{"help ans", "answers"},
		{"safe", "safe-path"},
	};
	struct fixture *f = *state;
	struct job_comm comms[] = {{.name = "MPI_COMM_WORLD"}, {.name = NULL}, {.name = "rows"}};
	struct job_comms all_comms = {.comms = comms, .num_comms = 3};

	f->session.comms = &all_comms;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *blank = strrchr(cases[i].line, ' ');
		size_t start = blank ? blank - cases[i].line + 1 : 0;
		struct arena *arena = arena_create();
		struct completions all = complete_line(arena, &f->session, cases[i].line, start);
		char words[200] = "";

		for (size_t j = 0; j < all.num; j++) {
			strcat(words, j ? " " : "");
			strcat(words, all.all[j].word);
		}
		assert_string_equal(all.are_files ? "FILES" : words, cases[i].words);
		arena_destroy(arena);
	}
	f->session.comms = NULL;
}

/* Of a frame all functions are offered, as the tree has a line for each. */
static void completion_of_functions(void **state)
{
	static const struct name function = {.function = "solve_all", .is_symbol = true};
	static const struct name inlined = {
		.function = "solve_one", .is_symbol = true, .caller = &function};
	static const struct name library = {
		.function = "solve_any", .is_symbol = true, .is_library = true, .caller = &inlined};
	struct fixture *f = *state;
	struct job *job = job_create();
	struct arena *arena = arena_create();
	struct completions all;
	uint32_t module = modules_intern(job->modules, "/bin/app", NULL, 0);
	uint32_t node = callpaths_intern(job->callpaths, CALLPATH_NONE, module, 1, false);

	names_set(job->names, node, &library);
	f->session.job = job;
	all = complete_line(arena, &f->session, "tree -below sol", strlen("tree -below "));
	assert_int_equal(all.num, 3);
	arena_destroy(arena);
	f->session.job = NULL;
	job_destroy(job);
}

/* Help tells of the options that a command takes, and of no others. */
static void options_in_help(void **state)
{
	static const struct {
		const char *name, *option;
		bool is_told;
	} cases[] = {
		{"tree", "\n  -full          show also frames inside the MPI library", true},
		{"tree", "\n  -depth N       show only the N outermost frames\n", true},
		{"tree", "\n  -least [N]     show the N stacks of the fewest ranks\n", true},
		{"tree", "\npdb searches for the regular expression RE", true},
		{"bt", "\n  -depth N ", true},
		{"diff", "\n  -by path|line|function|call ", true},
		{"diff", "-linkage", false},
		{"lattice", "-linkage", false},
		{"similar", "\n  -linkage single|complete|average|ward ", true},
		{"watch", "\n  --on-hang SHELL-COMMAND ", true},
		{"trace", "\n  --full  show each event", true},
		{"gdb", "\n  -ex COMMAND  gdb runs COMMAND", true},
		{"lp", "\n  -", false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const struct command *command;
		char *text;

		assert_int_equal(command_find(command_table, "", cases[i].name, &command, NULL), 0);
		text = command_text(command);
		if (!strstr(text, cases[i].option) == cases[i].is_told)
			fail_msg("%s: %s", cases[i].name, text);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_is_complete),
		cmocka_unit_test(every_topic_is_complete),
		cmocka_unit_test(lookup),
		cmocka_unit_test_setup_teardown(lines_that_do_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(words_reach_the_command, setup, teardown),
		cmocka_unit_test_setup_teardown(refused_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(help, setup, teardown),
		cmocka_unit_test_setup_teardown(help_fits_a_screen, setup, teardown),
		cmocka_unit_test_setup_teardown(preconditions, setup, teardown),
		cmocka_unit_test_setup_teardown(output_to_files, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_outputs, setup, teardown),
		cmocka_unit_test_setup_teardown(command_files, setup, teardown),
		cmocka_unit_test_setup_teardown(broken_command_files, setup, teardown),
		cmocka_unit_test_setup_teardown(a_macro_may_be_redefined_while_it_runs, setup,
						teardown),
		cmocka_unit_test_setup_teardown(completion, setup, teardown),
		cmocka_unit_test_setup_teardown(completion_of_functions, setup, teardown),
		cmocka_unit_test(options_in_help),
	};

	/* As in the shell: a command that ends before it has read is no reason to end, too. */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
