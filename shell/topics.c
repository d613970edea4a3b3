/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "shell/topics.h"

static const char about_hang[] =
	"  lp           who holds the others up, where, and how sure that is\n"
	"  why 7        what rank 7 waits for, step by step to the cause\n"
	"  groups       who does what, in which iteration, and since when\n"
	"  bt lp        the stacks of the rank that lp has named\n"
	"  gdb lp       its variables\n"
	"  save FILE    all of it for later, and for others: pdb --load FILE\n"
	"\"tutorial\" goes through them on the job that is here. A job that only crawls is\n"
	"another question: \"progress\" and \"watch\". Causes that \"lp\" tells: deadlock, lost\n"
	"message, collectives that do not match, a rank that computes for ever.";

static const char about_keys[] =
	"  Tab          completes commands, options, ranks, files and functions; twice\n"
	"               lists them with what they are\n"
	"  Enter        on an empty line does the last command again\n"
	"  Ctrl-C       ends the command, never the job\n"
	"  Ctrl-D       leaves pdb, as \"quit\"\n"
	"  Ctrl-R       searches in the lines that were typed before; they are kept in\n"
	"               ~/.pdb_history\n"
	"The other keys are those of readline, as in gdb and bash: ~/.inputrc.";

static const char about_output[] =
	"  groups | grep MPI_Wait   to a command of the system's shell\n"
	"  bt all > stacks.txt      to a file; \">>\" appends to it\n"
	"  graph > hang.svg         as a picture: .svg, .png, .pdf or .dot\n"
	"  tree > job.json          as data, of commands that say so\n"
	"Answers that are longer than the terminal come by pages: Enter shows the next,\n"
	"q ends it, c shows the rest at once. A program named by $PAGER is taken in its\n"
	"place; \"set pager off\" is for neither. \"set width\", \"set color\" and\n"
	"\"set unicode\" say how answers look; a pipe or a file gets no colours.";

static const char about_prompt[] =
	"  (pdb)                  commands are about all ranks\n"
	"  (pdb 0-3)              about these ranks: \"focus 0-3\", \"focus all\" ends it\n"
	"  (pdb 40 s old)         the answers are about a look so long ago: \"refresh\"\n"
	"  (pdb ended)            the job has ended; its last snapshot is still here\n"
	"Answers are about the same look, so that they go together, until you type\n"
	"\"refresh\" or have been in gdb. Up to \"set stale\" seconds the age is not told.";

static const char about_ranks[] =
	"  why 7                  one rank\n"
	"  bt 0,3-5               some; \"0-63:8\" is every 8th of them\n"
	"  focus all              all of them\n"
	"  gdb lp                 the first that \"lp\" has named\n"
	"  bt group 2             those in row 2 of \"groups\"\n"
	"  info ranks host node7  those of a host\n"
	"Without ranks a command is about those in focus, else about all.";

static const char about_recorder[] =
	"  pdb run -- mpirun -n 64 ./app    starts a job with it\n"
	"  eval \"$(pdb env)\"; mpirun ...    puts it into jobs that scripts start\n"
	"It is a library that is preloaded into the ranks and counts their MPI calls, for\n"
	"some tens of nanoseconds each. With it pdb knows iterations, messages and\n"
	"collectives, and stops nobody to read them. Without it there are stacks: lp,\n"
	"groups, order, bt, tree, watch and gdb work, and waits and why where pdb can\n"
	"read what the MPI library holds of messages. The others say that they cannot.";

static const char about_startup[] =
	"  ~/.config/pdb/pdbrc    commands of the user, such as \"set frames function\";\n"
	"                         if it is not there: ~/.pdbrc\n"
	"  ./.pdbrc               commands of the project in this directory\n"
	"Both must belong to the user or root and be writable by nobody else. That of a\n"
	"project is run only if the user's file allows its directory by\n"
	"\"safe-path DIRECTORY\", as commands can start programs. pdb -n reads neither.\n"
	"(~/.pdbrc is also read by Python's debugger of the same name.)";

static const char about_status[] =
	"  0   no hang was found, or pdb is not sure that it is one\n"
	"  1   the last look found a hang, a fault or a crash\n"
	"  2   pdb could not do what was asked\n"
	"As in: pdb --pid PID --batch -ex lp. Where \"lp\" says \"not sure that this is a\n"
	"hang\" the status is 0 although it may name ranks. A later look may be sure.\n"
	"Without a recorder pdb looks for up to 5 s where it is not sure. If a rank\n"
	"computes during all of that and the others wait, it calls that a hang, provided\n"
	"that it can count the MPI library's messages. For longer phases:\n"
	"  pdb --pid PID --batch -ex \"set look 30000\" -ex refresh -ex lp\n"
	"\"pdb run --watch\" passes on the status of a job that ends by itself.";

const struct topic topic_table[] = {
	{"hang", "What to type when a job hangs, as in a deadlock.", about_hang},
	{"keys", "What keys do at the prompt.", about_keys},
	{"output", "Where answers go: terminal, pager, pipe, file, picture.", about_output},
	{"prompt", "What the prompt says.", about_prompt},
	{"ranks", "How ranks are written.", about_ranks},
	{"recorder", "What is known with the recorder, and without.", about_recorder},
	{"startup", "The files that are read at the start.", about_startup},
	{"status", "What pdb's exit status means, for scripts.", about_status},
	{NULL, NULL, NULL},
};

const struct topic *topics_find(const char *word)
{
	const struct topic *found = NULL;
	size_t length = strlen(word);

	for (const struct topic *topic = topic_table; topic->name; topic++) {
		if (strcmp(topic->name, word) == 0)
			return topic;
		if (!length || strncmp(topic->name, word, length) != 0)
			continue;
		if (found)
			return NULL;
		found = topic;
	}
	return found;
}
