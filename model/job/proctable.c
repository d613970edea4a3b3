/* SPDX-License-Identifier: BSD-3-Clause */
#include <strings.h>
#include <unistd.h>

#include "model/job/proctable.h"
#include "model/job/rankset.h"

enum { MAX_RANKS = 16 << 20, MISSING_EACH = 1 << 16, MAX_HOST = 255 };

struct proctable *proctable_create(void)
{
	return xcalloc(1, sizeof(struct proctable));
}

void proctable_destroy(struct proctable *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->num_procs; i++) {
		free(table->procs[i].host);
		free(table->procs[i].executable);
	}
	free(table->procs);
	free(table->job);
	free(table->launcher_name);
	free(table->source_note);
	free(table);
}

void proctable_add(struct proctable *table, int rank, pid_t pid, const char *host,
		   const char *executable)
{
	*XPUSH(table->procs, table->num_procs, table->capacity) = (struct proc){
		.rank = rank,
		.pid = pid,
		.host = xstrdup(host ? host : ""),
		.executable = xstrdup(executable ? executable : ""),
	};
}

void proctable_add_ended(struct proctable *table, int rank, pid_t pid, const char *host)
{
	proctable_add(table, rank, pid, host, "");
	table->procs[table->num_procs - 1].has_ended = true;
}

void proctable_add_like(struct proctable *table, const struct proc *proc)
{
	proctable_add(table, proc->rank, proc->pid, proc->host, proc->executable);
	table->procs[table->num_procs - 1].has_ended = proc->has_ended;
}

/* How many ranks there can be. */
static int most_ranks(const struct proctable *table)
{
	return table->num_procs < MAX_RANKS / MISSING_EACH - 1
		       ? (int)(table->num_procs + 1) * MISSING_EACH
		       : MAX_RANKS;
}

void proctable_claim(struct proctable *table, int size)
{
	if (size > most_ranks(table))
		table->size_claimed = size;
	else if (size > table->size)
		table->size = size;
}

static int check_procs(const struct proctable *table, struct pdb_error *err)
{
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];

		if (proc->rank < 0)
			return error_set(err, ERROR_FORMAT, "the process table has rank %d",
					 proc->rank);
		if (proc->rank >= most_ranks(table))
			return error_set(err, ERROR_FORMAT,
					 "the process table has rank %d, but only %zu process%s, "
					 "which is too few for more than %d ranks",
					 proc->rank, table->num_procs,
					 table->num_procs == 1 ? "" : "es", most_ranks(table));
		/* Negative pids mean groups of processes to kill(2) and others. */
		if (proc->pid < 0)
			return error_set(err, ERROR_FORMAT,
					 "the process table gives rank %d pid %d", proc->rank,
					 (int)proc->pid);
		if (i && proc[-1].rank == proc->rank)
			return error_set(err, ERROR_FORMAT, "the process table has rank %d twice",
					 proc->rank);
		if (*proc->host && !(i && strcmp(proc->host, proc[-1].host) == 0) &&
		    !host_is_name(proc->host))
			return error_set(err, ERROR_FORMAT,
					 "the process table has rank %d on \"%.100s\", which is no "
					 "name of a host",
					 proc->rank, proc->host);
	}
	return 0;
}

int proctable_finish(struct proctable *table, struct pdb_error *err)
{
	int size = table->size;

	sorted_make(table->procs, table->num_procs, sizeof(*table->procs), sorted_compare_int);
	if (check_procs(table, err) < 0)
		return -1;
	table->size = table->num_procs ? table->procs[table->num_procs - 1].rank + 1 : 0;
	proctable_claim(table, size);
	for (size_t i = 0; i < table->num_procs; i++) {
		struct proc *proc = &table->procs[i];

		if (i && strcmp(proc->host, proc[-1].host) == 0)
			proc->is_local = proc[-1].is_local;
		else
			proc->is_local = host_is_local(proc->host);
	}
	if (!table->job)
		table->job = xstrdup("");
	if (!table->launcher_name)
		table->launcher_name = xstrdup("");
	return 0;
}

const struct proc *proctable_find(const struct proctable *table, int rank)
{
	size_t num = table->num_procs, i = (size_t)rank;

	/* Mostly without holes. */
	if (i >= num || table->procs[i].rank != rank)
		i = sorted_first_rank(rank, table->procs, num, sizeof(*table->procs));
	return i < num && table->procs[i].rank == rank ? &table->procs[i] : NULL;
}

struct rankset *proctable_ranks(const struct proctable *table)
{
	struct rankset *set = rankset_create();

	if (table->size > 0)
		rankset_add_range(set, 0, table->size - 1);
	return set;
}

bool proctable_is_daemons(const struct proctable *table)
{
	for (size_t i = 0; i < table->num_procs; i++) {
		const char *path = table->procs[i].executable;
		const char *slash = strrchr(path, '/');

		if (strncmp(slash ? slash + 1 : path, PROCTABLE_DAEMON, strlen(PROCTABLE_DAEMON)) !=
		    0)
			return false;
	}
	return table->num_procs > 0;
}

bool host_is_name(const char *host)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	static const char others[] = "._-";
	size_t length = strspn(host, letters);

	if (length == 0)
		return false;
	while (host[length] && (strchr(others, host[length]) || strchr(letters, host[length])))
		length++;
	return !host[length] && length <= MAX_HOST;
}

bool host_is_local(const char *host)
{
	char own[HOST_NAME_MAX + 1] = "";
	size_t host_short = strcspn(host, "."), own_short;

	if (!*host || strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0)
		return true;
	if (gethostname(own, sizeof(own) - 1) < 0)
		return false;
	if (strcasecmp(host, own) == 0)
		return true;
	/* With domain on one side only; two different domains are two machines. */
	own_short = strcspn(own, ".");
	if (host[host_short] && own[own_short])
		return false;
	return host_short == own_short && strncasecmp(host, own, own_short) == 0;
}

const char *proctable_source_text(enum proctable_source source)
{
	static const char *const texts[] = {
		[PROCTABLE_NONE] = "none",         [PROCTABLE_PMIX] = "PMIx",
		[PROCTABLE_MPIR] = "MPIR table",   [PROCTABLE_PROCFS] = "process tree",
		[PROCTABLE_SNAPSHOT] = "snapshot", [PROCTABLE_CORES] = "cores",
	};

	return source <= PROCTABLE_CORES ? texts[source] : "none";
}
