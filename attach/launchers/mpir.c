/* SPDX-License-Identifier: BSD-3-Clause
 * The MPIR Process Acquisition Interface (MPI Forum, version 1.1): a launcher exports
 *     MPIR_PROCDESC *MPIR_proctable;  int MPIR_proctable_size;
 * with one entry for each rank, in the order of the ranks. Open MPI 4, srun and Intel MPI fill it
 * always, not only under a debugger, so that reading their memory is enough. Nothing in it is
 * trusted. */
#include <errno.h>

#include "attach/launchers/launcher.h"
#include "attach/launchers/rankenv.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/process/procfs.h"
#include "model/budget.h"
#include "model/interrupt.h"

#define MAX_RANKS (1 << 24)
#define MAX_TEXT 4096

/* As a 64-bit launcher has it. */
struct procdesc {
	uint64_t host_name;       /* char * */
	uint64_t executable_name; /* char * */
	int32_t pid;
	int32_t padding;
};

/* Equal pointers mean equal strings; launchers share them between neighbours. */
struct text_cache {
	uint64_t address;
	char text[MAX_TEXT];
};

struct reader {
	const struct launcher_info *launcher;
	struct text_cache host, executable;
	struct procfs_stat *list;
	size_t num_list;
	int size;             /* of the job by the environment of its ranks; 0: not known */
	size_t num_strangers; /* processes here that have the pids of ranks and are none */
	char job[128];
	uint64_t budget; /* for what the table leads to */
};

static int find_table(const struct launcher_info *launcher, uint64_t *table_ret, uint64_t *size_ret,
		      struct pdb_error *err)
{
	struct maps *maps = maps_read(launcher->pid);

	if (!maps)
		return procfs_explain(launcher->pid, errno, "be looked into", err);
	bool has_table = launcher_find_variable(launcher, maps, "MPIR_proctable", table_ret) &&
			 launcher_find_variable(launcher, maps, "MPIR_proctable_size", size_ret);
	maps_destroy(maps);
	if (!has_table)
		return error_set(err, ERROR_UNSUPPORTED, "%s (pid %d) exports no MPIR_proctable",
				 launcher->name, (int)launcher->pid);
	return 0;
}

static int read_bytes(pid_t pid, uint64_t address, void *buffer, size_t size, const char *what,
		      struct pdb_error *err)
{
	if (!memory_read_all(pid, address, buffer, size))
		return 0;
	if (errno == EFAULT)
		return error_set(
			err, ERROR_FORMAT,
			"the launcher's MPIR table is damaged: %s at 0x%llx cannot be read", what,
			(unsigned long long)address);
	return procfs_explain(pid, errno, "be read", err);
}

static int read_text(pid_t pid, struct text_cache *cache, uint64_t address, int rank,
		     const char *what, struct pdb_error *err)
{
	if (address && address == cache->address)
		return 0;
	if (memory_read_string(pid, address, cache->text, sizeof(cache->text)) < 0) {
		if (errno == EFAULT || errno == ENAMETOOLONG)
			return error_set(err, ERROR_FORMAT,
					 "the launcher's MPIR table is damaged: the %s of rank %d "
					 "(at 0x%llx) %s",
					 what, rank, (unsigned long long)address,
					 errno == EFAULT ? "cannot be read" : "does not end");
		return procfs_explain(pid, errno, "be read", err);
	}
	cache->address = address;
	return 0;
}

/* A local rank's environment knows better which rank it is, and whether the pid is a wrapper's.
 * `executable` has MAX_TEXT bytes. */
static void check_local(struct reader *reader, int *rank, pid_t *pid, char *executable)
{
	struct rankenv env;

	if (*pid <= 0 || rankenv_read(*pid, &env))
		return;
	/* The table keeps the pids of ranks that have ended, and others get them. */
	if (env.rank < 0 ? env.is_whole
			 : env.job[0] && reader->job[0] && strcmp(env.job, reader->job) != 0) {
		*pid = 0;
		reader->num_strangers++;
	}
	if (env.rank < 0 || !*pid)
		return;
	*pid = rankenv_process(reader->list, reader->num_list, *pid, &env);
	*rank = env.rank;
	procfs_executable(*pid, executable, MAX_TEXT);
	if (env.size > reader->size)
		reader->size = env.size;
	if (!reader->job[0])
		memcpy(reader->job, env.job, sizeof(reader->job));
}

static int add_entry(struct reader *reader, struct proctable *table, const struct procdesc *entry,
		     int index, struct pdb_error *err)
{
	pid_t launcher = reader->launcher->pid;
	pid_t pid = entry->pid > 0 ? entry->pid : 0;
	char executable[MAX_TEXT];
	int rank = index;

	if (read_text(launcher, &reader->host, entry->host_name, index, "host", err))
		return -1;
	/* Some launchers leave the executable out. */
	if (!entry->executable_name)
		reader->executable = (struct text_cache){0};
	else if (read_text(launcher, &reader->executable, entry->executable_name, index,
			   "executable", err))
		return -1;
	strcpy(executable, reader->executable.text);
	if (host_is_local(reader->host.text))
		check_local(reader, &rank, &pid, executable);
	size_t cost = sizeof(struct proc) + strlen(reader->host.text) + strlen(executable);
	if (cost > reader->budget)
		return error_set(err, ERROR_FORMAT,
				 "the launcher's MPIR table is damaged: its names are too long");
	reader->budget -= cost;
	proctable_add(table, rank, pid, reader->host.text, executable);
	return 0;
}

static int compare_place(const void *a, const void *b)
{
	const struct proc *x = *(struct proc *const *)a, *y = *(struct proc *const *)b;
	int order = strcmp(x->host, y->host);

	return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

/* Some launchers list one pid twice. Of two ranks with one process at most one is right, and we
 * cannot tell which: neither pid is taken as known. Returns how many ranks that befalls. */
static size_t forget_duplicate_pids(struct proctable *table)
{
	struct proc **by_place = xcalloc(table->num_procs, sizeof(*by_place));
	size_t j, num = 0;

	for (size_t i = 0; i < table->num_procs; i++)
		by_place[i] = &table->procs[i];
	qsort(by_place, table->num_procs, sizeof(*by_place), compare_place);
	for (size_t i = 0; i < table->num_procs; i = j) {
		for (j = i + 1; j < table->num_procs && !compare_place(&by_place[i], &by_place[j]);
		     j++)
			;
		if (j == i + 1 || !by_place[i]->pid)
			continue;
		num += j - i;
		for (; i < j; i++)
			by_place[i]->pid = 0;
	}
	free(by_place);
	return num;
}

static int read_entries(struct reader *reader, struct proctable *table, uint64_t address, int size,
			struct pdb_error *err)
{
	enum { CHUNK = 128 };
	struct procdesc entries[CHUNK];

	for (int first = 0; first < size; first += CHUNK) {
		int num = size - first < CHUNK ? size - first : CHUNK;

		if (interrupt_check(err) < 0)
			return -1;
		if (read_bytes(reader->launcher->pid, address + (uint64_t)first * sizeof(*entries),
			       entries, (size_t)num * sizeof(*entries), "the table", err))
			return -1;
		for (int i = 0; i < num; i++)
			if (add_entry(reader, table, &entries[i], first + i, err))
				return -1;
	}
	return 0;
}

/* The caller frees. */
static char *name_job(const struct reader *reader)
{
	struct launcher_step step;

	if (reader->job[0])
		return xstrdup(reader->job);
	launcher_read_step(reader->launcher, &step);
	if (step.job[0] && step.step[0])
		return xasprintf("slurm-%s.%s", step.job, step.step);
	return xasprintf("pid-%d", (int)reader->launcher->pid);
}

static int finish(struct reader *reader, struct proctable *table, struct pdb_error *err)
{
	const struct launcher_info *launcher = reader->launcher;

	table->job = name_job(reader);
	table->launcher_name = xstrdup(launcher->name);
	table->launcher_pid = launcher->pid;
	table->source = PROCTABLE_MPIR;
	if (proctable_finish(table, err))
		return error_prefix(err, "the launcher's MPIR table is damaged");
	proctable_claim(table, reader->size);
	size_t num_duplicates = forget_duplicate_pids(table);
	if (num_duplicates)
		table->source_note = xasprintf("%zu ranks share a pid with another in the table; "
					       "their pids are not used",
					       num_duplicates);
	else if (reader->num_strangers)
		table->source_note = xasprintf("%zu ranks have ended, and other processes have "
					       "their pids by now",
					       reader->num_strangers);
	return 0;
}

int launcher_read_mpir(const struct launcher_info *launcher, struct proctable **ret,
		       struct pdb_error *err)
{
	uint64_t table_at = 0, size_at = 0, address;
	struct proctable *table;
	struct reader *reader;
	int32_t size;

	if (find_table(launcher, &table_at, &size_at, err) ||
	    read_bytes(launcher->pid, size_at, &size, sizeof(size), "its size", err) ||
	    read_bytes(launcher->pid, table_at, &address, sizeof(address), "its address", err))
		return -1;
	if (size == 0 || (!address && size > 0))
		return error_set(err, ERROR_NOT_FOUND,
				 "the MPIR table of %s (pid %d) is empty: the job has not started "
				 "yet, or it has ended",
				 launcher->name, (int)launcher->pid);
	if (size < 0 || size > MAX_RANKS)
		return error_set(err, ERROR_FORMAT,
				 "the launcher's MPIR table is damaged: it says it has %d ranks",
				 size);
	reader = xcalloc(1, sizeof(*reader));
	reader->launcher = launcher;
	reader->budget = budget_compressed((uint64_t)size * sizeof(struct procdesc));
	reader->list = procfs_list(&reader->num_list);
	table = proctable_create();
	int result = read_entries(reader, table, address, size, err);
	if (!result)
		result = finish(reader, table, err);
	if (result)
		proctable_destroy(table);
	else
		*ret = table;
	free(reader->list);
	free(reader);
	return result;
}
