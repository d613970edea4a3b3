/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/base.h"
#include "shell/topics.h"

#define FIRST_STEPS                                                                                \
	"  lp           who holds the others up, where, and how sure that is\n"                    \
	"  why 7        what rank 7 waits for, step by step to the cause\n"                        \
	"  groups       who does what, in which iteration, and since when\n"                       \
	"  bt lp        the stacks of the ranks that lp names\n"                                   \
	"  gdb lp       gdb on that rank, for its variables\n"                                     \
	"  save FILE    keep the look, for later and for others: pdb --load FILE\n"

const char topics_first_steps[] = FIRST_STEPS;

static const char about_hang[] = FIRST_STEPS
	"\"tutorial\" goes through them on this job. If the job only crawls, type\n"
	"\"progress\" or \"watch\". lp finds these causes: a deadlock, a lost message,\n"
	"collectives that do not match, or a rank that computes for ever.";

static const char about_keys[] =
	"  Tab          completes commands, options, ranks, files and functions; twice\n"
	"               lists them with what they are\n"
	"  Enter        on an empty line repeats the last command\n"
	"  Ctrl-C       ends the command, never the job\n"
	"  Ctrl-D       leaves pdb, as \"quit\" does\n"
	"  Ctrl-R       searches in the lines typed before; ~/.pdb_history keeps them\n"
	"The other keys are those of readline, as in gdb and bash: ~/.inputrc.";

static const char about_output[] =
	"  groups | grep MPI_Wait   to a command of the system's shell\n"
	"  bt all > stacks.txt      to a file; \">>\" appends to it\n"
	"  graph > hang.svg         as a picture: .svg, .png, .pdf or .dot\n"
	"  tree > job.json          as data, from commands that say so\n"
	"Answers longer than the terminal come page by page: Enter shows the next page,\n"
	"q ends, c shows the rest at once. If $PAGER names a program, it shows them.\n"
	"\"set pager off\" switches both off. \"set width\", \"set color\" and \"set unicode\"\n"
	"change how answers look. A pipe or a file gets no colours.";

static const char about_prompt[] =
	"  (pdb)                  commands are about all ranks\n"
	"  (pdb 0-3)              about these ranks: \"focus 0-3\"; \"focus all\" ends it\n"
	"  (pdb 40 s old)         the answers are of a look 40 s ago: \"refresh\"\n"
	"  (pdb ended)            the job has ended; its last snapshot is still here\n"
	"All answers are of the same look, so they fit together. pdb looks again at\n"
	"\"refresh\", after gdb, and at lp if an old look found no hang. It shows the age\n"
	"of a look after \"set stale\" seconds.";

static const char about_ranks[] =
	"  why 7                  one rank\n"
	"  bt 0,3-5               some; \"0-63:8\" is every 8th of them\n"
	"  focus all              all of them\n"
	"  gdb lp                 the first that \"lp\" names\n"
	"  bt group 2             those in row 2 of \"groups\"\n"
	"  info ranks host node7  those of a host\n"
	"Without ranks a command is about the ranks in focus, else about all.";

static const char about_recorder[] =
	"  pdb run -- mpirun -n 64 ./app    starts a job with it\n"
	"  eval \"$(pdb env)\"; mpirun ...    records jobs started by scripts\n"
	"The recorder is a library, preloaded into the ranks. It counts their MPI\n"
	"calls. A call then takes some tens of nanoseconds longer. pdb reads iterations,\n"
	"messages and collectives from the recorder, and stops no rank for that.\n"
	"Without it pdb goes by stacks: lp, groups, order, bt, tree, watch and gdb work.\n"
	"waits and why work if pdb can read the messages that the MPI library holds.\n"
	"The other commands say that they need the recorder.";

static const char about_startup[] =
	"  ~/.config/pdb/pdbrc    your commands, such as \"set frames function\";\n"
	"                         if it does not exist: ~/.pdbrc\n"
	"  ./.pdbrc               commands of the project in this directory\n"
	"Each must belong to you or root, and nobody else may write to it. Commands can\n"
	"start programs. So pdb runs the file of a project only if your own file allows\n"
	"its directory: \"safe-path DIRECTORY\". pdb -n reads neither file.\n"
	"(Python's debugger, also called pdb, reads ~/.pdbrc too.)";

static const char about_status[] =
	"  0   no certain hang\n"
	"  1   the last look found a hang, a fault or a crash\n"
	"  2   pdb failed; a message says why\n"
	"An example is: pdb --pid PID --batch -ex lp. If lp says \"not sure that this is\n"
	"a hang\", the status is 0, although lp may name ranks. A later look may be sure,\n"
	"so run the line again. Without a recorder, lp looks for up to 5 s if it is not\n"
	"sure. It calls it a hang if a rank computes all that time, the others wait, and\n"
	"pdb can count the MPI library's messages. If a rank may compute for longer:\n"
	"  pdb --pid PID --batch -ex \"set look 30000\" -ex refresh -ex lp\n"
	"\"pdb run --watch\" passes on the status of a job that ends by itself.";

static const char about_batch[] =
	"  pdb --pid PID --batch -ex lp           ask a running job; repeat -ex for more\n"
	"  pdb --load FILE --batch -ex lp         ask a snapshot\n"
	"  pdb run --watch -- mpirun ...          start a job, and watch it\n"
	"  pdb watch --pid PID                    wait until the job hangs or ends\n"
	"--batch runs the -ex commands and leaves. It asks no questions. With --json\n"
	"every answer is JSON. The first command that fails ends pdb with status 2;\n"
	"\"help status\" explains the others. Messages go to standard error.";

const struct topic topic_table[] = {
	{"batch", "How scripts and batch jobs use pdb.", about_batch},
	{"hang", "What to type when a job hangs.", about_hang},
	{"keys", "What keys do at the prompt.", about_keys},
	{"output", "Where answers go: terminal, pager, pipe, file, picture.", about_output},
	{"prompt", "What the prompt shows.", about_prompt},
	{"ranks", "How to write ranks.", about_ranks},
	{"recorder", "What pdb knows with the recorder, and without.", about_recorder},
	{"startup", "The files of commands that pdb runs at the start.", about_startup},
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
