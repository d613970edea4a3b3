/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/mman.h>
#include <unistd.h>

#include "attach/gdb/gdb_call.h"
#include "attach/process/maps.h"
#include "attach/process/procfs.h"
#include "model/job/modules.h"

/* How far up it looks for the program's code. */
#define MAX_FRAMES 512

/* Do `what` if the frame's pc is in code of one of these kinds, a bit each. */
static void put_ranges(FILE *out, const struct maps *maps, unsigned kinds, const char *what)
{
	for (size_t i = 0; i < maps->num_ranges; i++) {
		const struct maps_range *range = &maps->ranges[i];

		if (!range->is_executable || range->object == MAPS_NO_OBJECT ||
		    !(kinds >> module_kind_of_path(maps->objects[range->object].path) & 1))
			continue;
		fprintf(out, "if $pc >= 0x%llx\nif $pc < 0x%llx\n%s\nend\nend\n",
			(unsigned long long)range->start, (unsigned long long)range->end, what);
	}
}

/* gdb reads expressions in the language of the frame: these mean the same in C, C++ and Fortran.
 * With another language set it would warn of each frame. "up-silently" with a number stays in the
 * outermost frame without an error; from there the loop changes nothing any more. */
static void put_script(FILE *out, const struct maps *maps)
{
	/* Who leaves is not asked whether that is meant: gdb detaches then, as it has not started
	 * the rank. What would harm it, as "kill", still asks. */
	fprintf(out,
		"define hook-quit\n"
		"set confirm off\n"
		"end\n"
		"set $pdb_level = 0\n"
		"set $pdb_below_mpi = 0\n"
		"while $pdb_level < %d\n",
		MAX_FRAMES);
	put_ranges(out, maps, 1U << MODULE_PROGRAM, "loop_break");
	put_ranges(out, maps, 1U << MODULE_MPI | 1U << MODULE_RECORDER,
		   "set $pdb_below_mpi = $pdb_level + 1");
	fprintf(out,
		"up-silently 1\n"
		"set $pdb_level = $pdb_level + 1\n"
		"end\n"
		"if $pdb_level >= %d\n"
		"down-silently %d\n"
		"up-silently $pdb_below_mpi\n"
		"set $pdb_level = $pdb_below_mpi\n"
		"end\n"
		/* gdb has shown frame 0 already. */
		"if $pdb_level > 0\n"
		"frame\n"
		"end\n",
		MAX_FRAMES, MAX_FRAMES);
}

/* An inheritable descriptor of the script, or -1. */
static int make_script(pid_t pid)
{
	struct maps *maps = maps_read(pid);
	int fd, copy;

	if (!maps)
		return -1;
	fd = memfd_create("pdb-frame", 0);
	copy = fd < 0 ? -1 : dup(fd);
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	if (out) {
		put_script(out, maps);
		fclose(out);
	}
	maps_destroy(maps);
	return fd;
}

/* Has it to be kept from what the process names? gdb carries out scripts that a program has in it
 * or beside it, if the user's own .gdbinit lets it, which is meant for his own programs. */
static bool is_of_another(pid_t pid)
{
	struct procfs_status status;

	return procfs_status(pid, &status) < 0 || status.owner != geteuid();
}

void gdb_call_init(struct gdb_call *call, pid_t pid, const char *const words[], size_t num_words)
{
	const char **argv = xcalloc(num_words + 16, sizeof(*argv));
	size_t num = 0;

	call->argv = argv;
	call->script = make_script(pid);
	snprintf(call->pid_text, sizeof(call->pid_text), "%d", (int)pid);
	snprintf(call->script_path, sizeof(call->script_path), "/proc/self/fd/%d", call->script);
	argv[num++] = "gdb";
	argv[num++] = "-q";
	if (num_words > 0)
		argv[num++] = "-batch";
	if (is_of_another(pid)) {
		argv[num++] = "-iex";
		argv[num++] = "set auto-load safe-path $debugdir:$datadir/auto-load";
	}
	argv[num++] = "-p";
	argv[num++] = call->pid_text;
	if (call->script >= 0) {
		argv[num++] = "-x";
		argv[num++] = call->script_path;
	}
	for (size_t i = 0; i < num_words; i++)
		argv[num++] = words[i];
}

void gdb_call_deinit(struct gdb_call *call)
{
	if (call->script >= 0)
		close(call->script);
	free(call->argv);
}
