/* SPDX-License-Identifier: BSD-3-Clause
 * Print docs/commands.md from the command and settings tables; or, with "man" and the template on
 * standard input, docs/man/pdb.1 with the options of options.def. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell/command.h"
#include "shell/options/options.h"
#include "shell/topics.h"

/* Lists in it, which are indented, stay lists. */
static void print_text(const char *text)
{
	bool was_list = false;

	while (*text) {
		size_t length = strcspn(text, "\n");
		bool is_list = strncmp(text, "  ", 2) == 0;

		printf("%s%s%.*s\n", is_list != was_list ? "\n" : "", is_list ? "    " : "",
		       (int)length, text);
		was_list = is_list;
		text += length + (text[length] == '\n');
	}
	putchar('\n');
}

static void print_command(const struct command *command)
{
	char *text = command_text(command);

	printf("### %s\n\n%s\n\n    %s\n\n", command->name, command->summary, command->usage);
	print_text(text);
	free(text);
	for (size_t i = 0; command->aliases[i]; i++)
		printf("%s`%s`%s", i ? ", " : "Also: ", command->aliases[i],
		       command->aliases[i + 1] ? "" : "\n\n");
	for (size_t i = 0; command->family && command->family[i]; i++)
		printf("- `%s`: %s\n", command->family[i]->usage, command->family[i]->summary);
	if (command->family)
		putchar('\n');
	printf("Example: `%s`\n\n", command->example);
}

static void print_settings(void)
{
	struct setting_options settings = {0};
	char text[32];

	option_init(&setting_option_table, &settings);
	printf("## Settings\n\n| setting | at first | what it does |\n|---|---|---|\n");
	for (size_t i = 0; i < setting_option_table.num; i++) {
		const struct option_spec *setting = &setting_option_table.options[i];

		printf("| `%s` | %s | %s |\n", setting->name,
		       setting_text(&settings, setting, text, sizeof(text)), setting->help);
	}
}

static void print_topics(void)
{
	printf("\n## Topics of help\n");
	for (const struct topic *topic = topic_table; topic->name; topic++) {
		printf("\n### %s\n\n%s\n", topic->name, topic->summary);
		print_text(topic->text);
	}
}

/* What users of STAT, the Stack Trace Analysis Tool, look for. */
static const struct {
	const char *feature, *command; /* as in Markdown */
} stat_features[] = {
	{"2D trace: one moment", "`sample`, `tree`"},
	{"3D trace: several moments, how often", "`sample 10 every 100ms`, `tree`"},
	{"traces by function, by line, by program counter",
	 "`set frames function`, `line`, `address`; the samples stay, and `tree` shows "
	 "them anew"},
	{"module and offset", "where there is no name; `tree > file.json` has both"},
	{"count and representative in place of all ranks", "`classes`"},
	{"threads", "`set threads on`; the MPI library's are apart"},
	{"OpenMP", "`set threads on`: workers are in their region (libgomp)"},
	{"Python", "Python functions are among the others"},
	{"CUDA by cuda-gdb", "no: stacks of the host only"},
	{"retries of incomplete traces",
	 "`sample` tries twice more, and says how many are incomplete"},
	{"wait before sampling", "`shell sleep 60`, then `sample`"},
	{"attach to a launcher, launch under the tool", "`pdb --pid PID`, `pdb run -- mpirun ...`"},
	{"attach to serial processes", "no: jobs of MPI only"},
	{"tree topology, daemons on each node, log levels",
	 "nothing to choose: one daemon on each node, a binomial tree; `info job`"},
	{"pause, resume, detach", "ranks run on by themselves after microseconds: `info overhead`"},
	{"sample again, sample several", "`sample`, `bt`"},
	{"process table, filters by rank and host",
	 "`info ranks`, `focus 0-3`, `focus host node7`"},
	{"save and open a tree", "`save FILE`, `pdb --load FILE`: with all its samples"},
	{"DOT, pictures, PDF", "`tree > file.dot`, `.svg`, `.png`, `.pdf`"},
	{"folded stacks for flame graphs", "`tree > file.folded`"},
	{"cut below a programming model's frames",
	 "at MPI by itself (`set fold`); `tree -below RE`"},
	{"cut above a function", "`tree -above RE`, `tree -above mpi`"},
	{"join chains of equal classes", "`tree -join`"},
	{"least and most tasks path",
	 "`tree -least`, `tree -most`; the next ones too: `tree -least 3`"},
	{"longest and shortest path", "`tree -longest`, `tree -shortest`"},
	{"least and most in temporal order, next step along it",
	 "`tree -first`, `tree -last`; `tree -first 2` and so on; `order` with the reasons, `lp`"},
	{"order of a node's children in time",
	 "numbers in `tree`: `#1` is the first; from machine code, the source is not needed"},
	{"search by text, rank, host", "`tree -search RE`, `tree 5`, `tree host node7`"},
	{"list of equivalence classes", "`classes`"},
	{"focus on a class", "`tree 2,8` with its ranks, `tree group 2`"},
	{"collapse to a depth, hide, expand", "`tree -depth 4`, `tree -hide RE`, `tree -full`"},
	{"undo, redo, reset",
	 "nothing to undo: options apply to one answer; arrow keys recall a line"},
	{"full edge label, leaf and total counts",
	 "`tree > file.json`: ranks, ends, count, samples"},
	{"view source", "`gdb RANK`, which begins in the user's code; `list` there"},
	{"hand over representatives to a debugger", "`gdb RANK` on that rank's node"},
	{"hand over to TotalView or DDT", "no"},
	{"scripting",
	 "`pdb --batch -x FILE`, `-ex COMMAND`, JSON; the exit status tells of a hang"},
	{"merge core files", "`pdb --core FILE...`"},
	{"emulator for large trees", "`make bench-stacks`, `make bench-share`"},
	{"marks for lost, ended or unwalkable tasks", "named below the answer, with the reason"},
};

static void print_stat_features(void)
{
	printf("\n## For users of STAT\n\n| in STAT | in pdb |\n|---|---|\n");
	for (size_t i = 0; i < sizeof(stat_features) / sizeof(stat_features[0]); i++)
		printf("| %s | %s |\n", stat_features[i].feature, stat_features[i].command);
}

/* ---- The man page ---- */

static void print_dashed(const char *text)
{
	for (; *text; text++)
		printf("%s%c", *text == '-' ? "\\" : "", *text);
}

/* What the template says of the option; NULL: nothing. */
static const char *find_words(const char *template, const char *name)
{
	char mark[80];
	const char *found;

	snprintf(mark, sizeof(mark), "\n.\\\" OPTION %s\n", name);
	found = strstr(template, mark);
	return found ? found + strlen(mark) : NULL;
}

static void print_options(const char *template, const struct option_table *table)
{
	for (size_t i = 0; i < table->num; i++) {
		const struct option_spec *option = &table->options[i];
		const char *words = find_words(template, option->name), *end;
		char *argument = option_argument(option);
		bool may_be_left_out = argument && *argument == '[';

		printf(".TP\n.B%s ", option->letter || argument ? "R" : "");
		if (option->letter)
			printf("\\-%c \", \" ", option->letter);
		print_dashed("--");
		print_dashed(option->name);
		if (may_be_left_out)
			printf(" [=\\fI%.*s\\fR]", (int)strlen(argument) - 2, argument + 1);
		else if (argument)
			printf(" = \\fI%s\\fR", argument);
		putchar('\n');
		end = words ? strstr(words, "\n.\\\" OPTION ") : NULL;
		if (words)
			printf("%.*s\n", end ? (int)(end - words) : (int)strlen(words) - 1, words);
		else
			printf("%s.\n", option->help);
		free(argument);
	}
}

/* In the place of a line of its own. */
static const struct {
	const char *line;
	const struct option_table *table;
} marks[] = {
	{".\\\" OPTIONS program\n", &program_option_table},
	{".\\\" OPTIONS watch\n", &watch_option_table},
};

static void print_man(const char *template)
{
	const char *end = strstr(template, "\n.\\\" What is said of options");

	for (const char *line = template; line <= end; line = strchr(line, '\n') + 1) {
		const struct option_table *table = NULL;

		for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
			if (strncmp(line, marks[i].line, strlen(marks[i].line)) == 0)
				table = marks[i].table;
		if (table)
			print_options(template, table);
		else
			printf("%.*s", (int)(strchr(line, '\n') + 1 - line), line);
	}
}

static int print_page(void)
{
	char *template = NULL;
	size_t size = 0;

	if (getdelim(&template, &size, '\0', stdin) < 0)
		return 1;
	print_man(template);
	free(template);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "man") == 0)
		return print_page();
	printf("# Commands\n\n"
	       "`make docs/commands.md` makes this page from the command table. `help` shows the\n"
	       "same. You can shorten commands and settings as long as they are unique. l is lp, "
	       "g\n"
	       "is groups, w is why. Behind a command that answers, `--json` makes the answer "
	       "JSON\n"
	       "([json.md](json.md)).\n\n");
	for (int topic = 0; topic < NUM_TOPICS; topic++) {
		printf("## %s\n\n", command_topics[topic]);
		for (size_t i = 0; command_table[i]; i++)
			if ((int)command_table[i]->topic == topic)
				print_command(command_table[i]);
	}
	print_settings();
	print_topics();
	print_stat_features();
	return 0;
}
