/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <elf.h>
#include <signal.h>
#include <sys/stat.h>

#include <uthash.h>

#include "attach/cores/core_file.h"
#include "attach/cores/core_memory.h"
#include "attach/cores/cores.h"
#include "attach/process/image.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/process/procfs.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/rankenv.h"
#include "attach/launchers/words.h"
#include "attach/stacks/python.h"
#include "attach/stacks/tracee.h"
#include "attach/stacks/unwind.h"
#include "model/interrupt.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"

/* A core that is to be used: what its environment says of it. */
struct found {
	char *path;
	struct rankenv env;
	char host[64];
	int64_t written_ns;
};

struct cores {
	struct found *found;
	size_t num, capacity;
};

/* Files that are not used, or not sure to be the right ones, by the ranks that had them mapped. */
struct trouble {
	char *path;
	enum mapped_state state;
	struct rankset *ranks;
	UT_hash_handle hh;
};

struct loader {
	struct job *job;
	struct words *notes;
	struct cores *cores;
	struct trouble *troubles;
};

/* ---- Which cores ---- */

static void note_host(struct found *found, const char *variables, size_t size)
{
	for (size_t i = 0; launcher_kinds[i] && !found->host[0]; i++) {
		const char *name = launcher_kinds[i]->host_variable;
		const char *host = name ? procfs_getenv(variables, size, name) : NULL;

		if (host)
			snprintf(found->host, sizeof(found->host), "%s", host);
	}
}

static int identify(const struct core_file *core, struct found *found, struct pdb_error *err)
{
	size_t size;
	char *variables = core_file_environ(core, &size);

	if (!variables)
		return error_set(
			err, ERROR_NOT_FOUND,
			"%s: its environment is not in the core, so its rank is not known; "
			"left out",
			core->path);
	rankenv_parse(variables, size, &found->env);
	note_host(found, variables, size);
	free(variables);
	if (found->env.rank < 0)
		return error_set(
			err, ERROR_NOT_FOUND,
			"%s: no rank of an MPI job (%s): its environment has no "
			"OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK or SLURM_PROCID; left out",
			core->path, core->command);
	return 0;
}

static void add_core(struct loader *loader, const char *path)
{
	struct cores *cores = loader->cores;
	struct found found = {0};
	struct pdb_error err;

	struct core_file *core = core_file_open(path, &err);
	if (!core || identify(core, &found, &err) < 0) {
		words_add(loader->notes, err.text);
		core_file_close(core);
		return;
	}
	if (core->missing)
		words_add_owned(
			loader->notes,
			xasprintf("%s: a truncated core: at least %llu bytes are missing; stacks "
				  "may be incomplete",
				  path, (unsigned long long)core->missing));
	found.path = xstrdup(path);
	found.written_ns = core->written_ns;
	core_file_close(core);
	*XPUSH(cores->found, cores->num, cores->capacity) = found;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Not those in its subdirectories. */
static void add_directory(struct loader *loader, const char *path)
{
	struct dirent **entries;
	int num = scandir(path, &entries, is_visible, alphasort), others = 0;
	struct pdb_error err;

	if (num < 0) {
		error_errno(&err, "%s", path);
		words_add(loader->notes, err.text);
		return;
	}
	for (int i = 0; i < num; i++) {
		char *file = xasprintf("%s/%s", path, entries[i]->d_name);

		if (interrupt_pending())
			;
		else if (core_file_is_core(file))
			add_core(loader, file);
		else
			others++;
		free(file);
		free(entries[i]);
	}
	free(entries);
	if (others)
		words_add_owned(loader->notes, xasprintf("%s: %d other file%s, no cores; left out",
							 path, others, others == 1 ? "" : "s"));
}

/* By rank, the newest first. */
SORTED_BY_ORDER(by_rank, struct found,
		SORTED_ORDER(x->env.rank, y->env.rank)
			?: SORTED_ORDER(y->written_ns, x->written_ns))

static void leave_out(struct loader *loader, struct found *found, char *note)
{
	words_add_owned(loader->notes, note);
	free(found->path);
	found->path = NULL;
}

/* One job, and one core of each of its ranks. */
static void choose(struct loader *loader)
{
	const struct found *newest = NULL, *last = NULL;
	struct cores *cores = loader->cores;
	char job[sizeof(newest->env.job)];
	size_t num = 0;

	if (!cores->num)
		return;
	sorted_make(cores->found, cores->num, sizeof(*cores->found), by_rank);
	for (size_t i = 0; i < cores->num; i++)
		if (!newest || cores->found[i].written_ns > newest->written_ns)
			newest = &cores->found[i];
	memcpy(job, newest->env.job, sizeof(job));
	for (size_t i = 0; i < cores->num; i++) {
		struct found *found = &cores->found[i];

		if (strcmp(found->env.job, job) != 0)
			leave_out(loader, found,
				  xasprintf("%s: rank %d of another job, %s; left out", found->path,
					    found->env.rank,
					    found->env.job[0] ? found->env.job : "without a name"));
		else if (last && last->env.rank == found->env.rank)
			leave_out(loader, found,
				  xasprintf("%s: rank %d has a newer core, %s; left out",
					    found->path, found->env.rank, last->path));
		if (found->path) {
			cores->found[num] = *found;
			last = &cores->found[num++];
		}
	}
	cores->num = num;
}

/* ---- What is in them ---- */

static void note_trouble(struct loader *loader, const char *path, enum mapped_state state, int rank)
{
	struct trouble *trouble;

	HASH_FIND_STR(loader->troubles, path, trouble);
	if (!trouble) {
		trouble = xcalloc(1, sizeof(*trouble));
		trouble->path = xstrdup(path);
		trouble->state = state;
		trouble->ranks = rankset_create();
		HASH_ADD_KEYPTR(hh, loader->troubles, trouble->path, strlen(trouble->path),
				trouble);
	}
	rankset_add(trouble->ranks, rank);
}

static void note_files(struct loader *loader, const struct core_memory *memory, int rank)
{
	for (size_t i = 0; i < core_memory_num_files(memory); i++) {
		const char *path;
		enum mapped_state state = core_memory_file(memory, i, &path);

		if (state != MAPPED_UNUSED && state != MAPPED_SAME)
			note_trouble(loader, path, state, rank);
	}
}

static void tell_files(struct loader *loader)
{
	static const char *const texts[] = {
		[MAPPED_UNCHECKED] = "the core does not show whether this is the mapped file; if "
				     "not, names may be wrong",
		[MAPPED_DIFFERS] = "not the file that was mapped; its functions have no names, and "
				   "stacks may end there",
		[MAPPED_MISSING] =
			"cannot be read; its functions have no names, and stacks may end "
			"there",
	};
	struct trouble *trouble, *next;

	HASH_ITER(hh, loader->troubles, trouble, next)
	{
		char *ranks = rankset_encode(trouble->ranks, 8);

		words_add_owned(loader->notes, xasprintf("%s (ranks %s): %s", trouble->path, ranks,
							 texts[trouble->state]));
		free(ranks);
		HASH_DEL(loader->troubles, trouble);
		rankset_destroy(trouble->ranks);
		free(trouble->path);
		free(trouble);
	}
}

struct opened {
	struct job *job;
	struct core_file *core;
	struct core_memory *memory;
	struct images *images;
	struct python *python;
	struct unwind_space *space;
};

static int open_core(const char *path, struct job *job, struct opened *ret, struct pdb_error *err)
{
	struct memory source = {.read = core_memory_read};

	ret->job = job;
	ret->core = core_file_open(path, err);
	if (!ret->core)
		return -1;
	source.context = ret->memory = core_memory_create(ret->core);
	ret->images = images_create(job->modules);
	struct maps *maps = core_memory_steal_maps(ret->memory);
	ret->python = python_create(&source, maps);
	ret->space = unwind_space_create(&source, maps, ret->images);
	/* Few hundred looks for a frame, which takes some 50 bytes of what is mostly no stack. */
	unwind_space_limit(ret->space, ret->core->budget / 2);
	return 0;
}

static void close_core(struct opened *opened)
{
	python_destroy(opened->python);
	unwind_space_destroy(opened->space);
	images_destroy(opened->images);
	core_memory_destroy(opened->memory);
	core_file_close(opened->core);
}

static void unwind(struct opened *opened, const struct core_thread *thread,
		   const struct unwind_probes *probes, struct unwind_result *ret)
{
	struct tracee tracee = {
		.tid = thread->tid, .regs = thread->regs, .blocked = thread->blocked};
	struct python_copy *copy = opened->python ? xcalloc(1, sizeof(*copy)) : NULL;

	if (copy && python_prepare(opened->python, thread->tid, copy)) {
		python_copy_frames(copy);
		tracee.python = copy;
	}
	unwind_walk(opened->space, &tracee, probes, opened->job->callpaths, ret);
	free(copy);
}

static void add_sample(struct opened *opened, const struct core_thread *thread, int rank)
{
	struct unwind_result unwound;
	struct sample sample = {
		.rank = rank,
		.tid = thread->tid,
		.is_main = thread->tid == opened->core->pid,
		.state = '?',
	};

	unwind(opened, thread, NULL, &unwound);
	sample.path = unwound.path;
	sample.status = unwound.is_complete ? SAMPLE_COMPLETE : SAMPLE_INCOMPLETE;
	if (unwound.is_too_deep)
		sample.note = xstrdup(
			"the stack has more frames than pdb reads; the outermost are missing");
	else if (!unwound.is_complete)
		sample.note = xstrdup("the core does not show what called the outermost frame");
	samples_add(opened->job->samples, &sample);
}

/* The program: what its entry point is in. */
static const char *find_executable(const struct core_file *core, const struct maps *maps)
{
	const struct maps_range *range = maps_find(maps, core_file_auxv(core, AT_ENTRY));

	return range && range->object != MAPS_NO_OBJECT ? maps->objects[range->object].path : "";
}

/* The kernel tells addresses of faults alone, and not of those that leave none (SI_KERNEL). */
static void add_crash(struct job *job, const struct core_file *core, int rank)
{
	siginfo_t info;
	const struct core_thread *thread = core_file_culprit(core, &info);
	struct job_crash crash = {.rank = rank};

	if (!thread)
		return;
	crash.tid = thread->tid;
	crash.signal = thread->signal;
	crash.is_sent =
		info.si_signo == thread->signal && info.si_code <= 0 && info.si_pid != core->pid;
	crash.is_fault = !crash.is_sent && (crash.signal == SIGSEGV || crash.signal == SIGBUS ||
					    crash.signal == SIGILL || crash.signal == SIGFPE);
	crash.has_address = crash.is_fault && info.si_code > 0 && info.si_code != SI_KERNEL;
	crash.address = crash.has_address ? (uint64_t)(uintptr_t)info.si_addr : 0;
	job_add_crash(job, &crash);
}

static void load_core(struct loader *loader, const struct found *found)
{
	struct job *job = loader->job;
	int rank = found->env.rank;
	struct opened opened;
	struct pdb_error err;

	if (open_core(found->path, job, &opened, &err) < 0) {
		words_add(loader->notes, err.text);
		return;
	}
	for (size_t i = 0; i < opened.core->num_threads && !interrupt_pending(); i++)
		add_sample(&opened, &opened.core->threads[i], rank);
	add_crash(job, opened.core, rank);
	proctable_add(job->proctable, rank, opened.core->pid, found->host,
		      find_executable(opened.core, unwind_space_maps(opened.space)));
	note_files(loader, opened.memory, rank);
	if (core_memory_is_exhausted(opened.memory) || unwind_space_is_exhausted(opened.space))
		words_add_owned(
			loader->notes,
			xasprintf(
				"%s: it refers to far more than it holds; pdb leaves out the rest",
				found->path));
	close_core(&opened);
}

/* ---- Values ---- */

static void read_values(struct job *job, const struct found *found,
			const struct unwind_probes *probes, struct samples *values)
{
	struct opened opened;
	struct pdb_error err;

	if (open_core(found->path, job, &opened, &err) < 0)
		return;
	for (size_t i = 0; i < opened.core->num_threads && !interrupt_pending(); i++) {
		const struct core_thread *thread = &opened.core->threads[i];
		struct unwind_result unwound;

		if (thread->tid != opened.core->pid)
			continue;
		unwind(&opened, thread, probes, &unwound);
		samples_add(values, &(struct sample){.rank = found->env.rank,
						     .tid = thread->tid,
						     .is_main = true,
						     .path = unwound.path,
						     .variables = unwound.variables,
						     .values = unwound.values,
						     .num_values = unwound.num_values});
	}
	close_core(&opened);
}

struct samples *cores_sample(const struct cores *cores, struct job *job,
			     const struct code_probe *list, size_t num)
{
	struct samples *samples = samples_create();
	struct unwind_probes probes;

	unwind_probes_init(&probes, list, num);
	probes.wants_variables = true;
	for (size_t i = 0; i < cores->num && !interrupt_pending(); i++)
		read_values(job, &cores->found[i], &probes, samples);
	samples_sort(samples);
	unwind_probes_deinit(&probes);
	return samples;
}

void cores_read_values(const struct cores *cores, struct job *job)
{
	struct samples *values = cores_sample(cores, job, job->probes, job->num_probes);

	samples_adopt_values(job->samples, values, job->callpaths);
	samples_destroy(values);
}

void cores_destroy(struct cores *cores)
{
	if (!cores)
		return;
	for (size_t i = 0; i < cores->num; i++)
		free(cores->found[i].path);
	free(cores->found);
	free(cores);
}

/* ---- The job ---- */

static int fill_table(struct loader *loader, struct pdb_error *err)
{
	struct proctable *table = loader->job->proctable;
	const struct cores *cores = loader->cores;
	int64_t newest = 0;

	for (size_t i = 0; i < cores->num; i++) {
		if (cores->found[i].env.size > table->size)
			table->size = cores->found[i].env.size;
		if (cores->found[i].written_ns > newest)
			newest = cores->found[i].written_ns;
	}
	loader->job->taken_real_ns = (uint64_t)newest;
	table->job = xstrdup(cores->num ? cores->found[0].env.job : "");
	table->source = PROCTABLE_CORES;
	table->launcher_name = xstrdup("MPI");
	if (proctable_finish(table, err) < 0)
		return -1;
	/* Whatever these pids are by now, they are not the job's. */
	for (size_t i = 0; i < table->num_procs; i++)
		table->procs[i].is_local = false;
	return 0;
}

static void add_holes(struct job *job)
{
	for (int rank = 0; rank < job->proctable->size; rank++)
		job_add_hole(job, rank,
			     proctable_find(job->proctable, rank) ? "no recorder" : "no core");
}

/* The notes are the reason. */
static int nothing_left(const struct words *notes, struct pdb_error *err)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < notes->num; i++)
		fprintf(out, "\n%s", notes->words[i]);
	fclose(out);
	error_set(err, ERROR_NOT_FOUND, "there is no core of a rank%s", text);
	free(text);
	return -1;
}

int cores_load(char *const *paths, size_t num_paths, struct job *job, struct words *notes,
	       struct cores **cores_ret, struct pdb_error *err)
{
	struct cores *cores = xcalloc(1, sizeof(*cores));
	struct loader loader = {.job = job, .notes = notes, .cores = cores};
	struct stat status;

	for (size_t i = 0; i < num_paths && !interrupt_pending(); i++) {
		if (stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode))
			add_directory(&loader, paths[i]);
		else
			add_core(&loader, paths[i]);
	}
	choose(&loader);
	for (size_t i = 0; i < cores->num && !interrupt_pending(); i++)
		load_core(&loader, &cores->found[i]);
	tell_files(&loader);
	samples_sort(job->samples);
	int result = interrupt_check(err);
	if (!result)
		result = job->proctable->num_procs ? fill_table(&loader, err)
						   : nothing_left(notes, err);
	if (result) {
		cores_destroy(cores);
		cores = NULL;
	} else {
		add_holes(job);
	}
	*cores_ret = cores;
	return result;
}
