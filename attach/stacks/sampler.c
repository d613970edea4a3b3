/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <uthash.h>

#include "attach/process/image.h"
#include "attach/process/maps.h"
#include "attach/blocked/blocked_lock.h"
#include "attach/process/memory.h"
#include "attach/process/procfs.h"
#include "attach/queues/mpi_queues.h"
#include "attach/stacks/lock_look.h"
#include "attach/stacks/python.h"
#include "attach/stacks/sample_blocked.h"
#include "attach/stacks/sampler.h"
#include "attach/stacks/tracee.h"
#include "attach/stacks/unwind.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/job/message_queues.h"
#include "model/job/blocked.h"
#include "model/job/sample.h"
#include "model/job/variables.h"

#define STACK_SIZE ((size_t)64 << 10)     /* copied of each stack at first */
#define DEEP_STACK_SIZE ((size_t)2 << 20) /* and again if that was too little */
#define MAX_AWAITED 4      /* threads one behind the other, each of which waits for the next */
#define MAX_HOLDERS 32     /* threads of a process that may hold a lock: all or none */
#define MAX_AT_ONCE 64     /* threads seized at one time: bounds the memory for copies */
#define NUM_DURATIONS 4096 /* last stops remembered for the median */

struct process {
	pid_t reader; /* whose memory and mappings are read: the main thread or another */
	pid_t pid;
	uint64_t start_ticks;
	struct unwind_space *space;
	struct python *python;     /* NULL: none */
	struct mpi_queues *queues; /* NULL: none, or nobody has asked yet */
	bool has_no_queues;        /* in these maps */
	unsigned take;             /* in which its maps were read */
	unsigned used;             /* the last take that it was part of */
	UT_hash_handle hh;
};

struct subject {
	int rank;
	pid_t pid, tid;
	char state;
	struct process *process;
	struct unwind_result unwound;
	struct message_queues *queues;
	struct blocked *blocked;
	struct sample_wait wait;
	uint64_t stack_pointer;
	uint64_t stopped_ns; /* all its stops together */
	uint64_t when_ns;
	bool is_outside_mpi, is_anybody; /* see lock_look.h */
	bool is_copied;
	struct pdb_error error; /* if it is not */
};

struct sampler {
	struct modules *modules;
	struct callpaths *callpaths;
	struct images *images;
	struct process *processes;
	uint8_t *stacks;                                /* MAX_AT_ONCE of STACK_SIZE */
	struct python_copy *python_copies[MAX_AT_ONCE]; /* made when needed */
	unsigned take;
	uint32_t durations[NUM_DURATIONS];
	struct sampler_cost cost;
	struct unwind_probes probes;
	bool wants_variables;
	struct lock_names *lock_names;
	struct sample_blocked_budget budget; /* left in this take */
};

struct sampler *sampler_create(struct modules *modules, struct callpaths *callpaths)
{
	struct sampler *sampler = xcalloc(1, sizeof(*sampler));

	sampler->modules = modules;
	sampler->callpaths = callpaths;
	sampler->images = images_create(modules);
	sampler->lock_names = lock_names_create();
	sample_blocked_init(&sampler->budget);
	return sampler;
}

static void forget_process(struct sampler *sampler, struct process *process)
{
	HASH_DEL(sampler->processes, process);
	unwind_space_destroy(process->space);
	python_destroy(process->python);
	mpi_queues_destroy(process->queues);
	free(process);
}

void sampler_destroy(struct sampler *sampler)
{
	struct process *process, *next;

	if (!sampler)
		return;
	HASH_ITER(hh, sampler->processes, process, next)
	forget_process(sampler, process);
	images_destroy(sampler->images);
	lock_names_destroy(sampler->lock_names);
	for (size_t i = 0; i < MAX_AT_ONCE; i++)
		free(sampler->python_copies[i]);
	free(sampler->stacks);
	unwind_probes_deinit(&sampler->probes);
	sample_blocked_deinit(&sampler->budget);
	free(sampler);
}

void sampler_set_probes(struct sampler *sampler, const struct code_probe *probes, size_t num)
{
	unwind_probes_deinit(&sampler->probes);
	unwind_probes_init(&sampler->probes, probes, num);
}

void sampler_set_variables(struct sampler *sampler, bool are_wanted)
{
	sampler->wants_variables = are_wanted;
}

/* ---- Processes ---- */

static int read_maps(struct sampler *sampler, struct process *process, struct pdb_error *err)
{
	struct maps *maps = maps_read(process->reader);
	const struct memory memory = {.pid = process->reader};

	if (!maps)
		return procfs_explain(process->pid, errno, "be sampled", err);
	unwind_space_destroy(process->space);
	process->space = unwind_space_create(&memory, maps, sampler->images);
	if (!process->python)
		process->python = python_create(&memory, maps);
	if (process->queues)
		mpi_queues_update(process->queues, &memory, maps);
	process->has_no_queues = false;
	process->take = sampler->take;
	return 0;
}

/* `reader`: a thread that lives, since when the main one has ended it has no memory any more. */
static struct process *get_process(struct sampler *sampler, const struct procfs_stat *stat,
				   pid_t reader, unsigned flags, struct pdb_error *err)
{
	struct process *process;

	HASH_FIND_INT(sampler->processes, &stat->pid, process);
	if (process && process->start_ticks != stat->start_ticks) {
		/* Still in use for another target of this take: a pid listed twice, and reused. */
		if (process->used == sampler->take) {
			error_set(err, ERROR_GONE, "process %d has ended", (int)stat->pid);
			return NULL;
		}
		forget_process(sampler, process);
		process = NULL;
	}
	if (process && process->reader == reader &&
	    (!(flags & SAMPLER_FRESH) || process->used == sampler->take)) {
		process->used = sampler->take;
		return process;
	}
	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->pid = stat->pid;
		process->start_ticks = stat->start_ticks;
		HASH_ADD_INT(sampler->processes, pid, process);
	}
	process->reader = reader;
	if (read_maps(sampler, process, err)) {
		forget_process(sampler, process);
		return NULL;
	}
	process->used = sampler->take;
	return process;
}

/* ---- Choosing threads ---- */

struct subjects {
	struct subject *list;
	size_t num, capacity;
};

static struct subject *add_subject(struct subjects *subjects, const struct sampler_target *target,
				   pid_t tid)
{
	struct subject *subject = XPUSH(subjects->list, subjects->num, subjects->capacity);

	*subject = (struct subject){
		.rank = target->rank,
		.pid = target->pid,
		.tid = tid,
		.state = '?',
		.unwound.path = CALLPATH_NONE,
	};
	return subject;
}

static void add_target(struct sampler *sampler, struct subjects *subjects,
		       const struct sampler_target *target, unsigned flags)
{
	struct procfs_stat stat = {.state = '?'};
	struct process *process = NULL;
	struct pdb_error error;
	struct subject *subject;
	pid_t *tids = NULL;
	size_t num = 1, i;
	bool has_main = procfs_look(target->pid, target->start_ticks, &stat, &error) == 0;

	if (flags & SAMPLER_ALL_THREADS && (has_main || error.code != ERROR_GONE))
		tids = procfs_threads(target->pid, &num);
	if (has_main)
		process = get_process(sampler, &stat, target->pid, flags, &error);
	else if (stat.state == 'Z' && tids && num > 1)
		process = get_process(sampler, &stat, tids[1], flags, NULL);
	for (i = 0; i < (process && tids ? num : 1); i++) {
		subject = add_subject(subjects, target, tids ? tids[i] : target->pid);
		subject->process = i > 0 || has_main ? process : NULL;
		if (!subject->process)
			subject->error = error;
	}
	free(tids);
}

/* ---- Copying and unwinding ---- */

static void note_stop(struct sampler *sampler, struct subject *subject, const struct tracee *tracee)
{
	struct sampler_cost *cost = &sampler->cost;
	uint64_t ns = tracee->stopped_ns;

	subject->stopped_ns += ns;
	subject->when_ns = tracee->when_ns;
	sampler->durations[cost->num_samples % NUM_DURATIONS] =
		ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	cost->num_samples++;
	cost->stopped_ns_total += ns;
	if (ns > cost->stopped_ns_max)
		cost->stopped_ns_max = ns;
}

static void find_lock(struct sampler *sampler, struct subject *subject, const struct tracee *tracee,
		      unsigned flags)
{
	struct lock_look look = {
		.pid = subject->pid,
		.reader = subject->process->reader,
		.tracee = tracee,
		.path = subject->unwound.path,
		.modules = sampler->modules,
		.callpaths = sampler->callpaths,
		.left_ns = &sampler->budget.locks_ns,
	};

	lock_look_take(&look, flags & SAMPLER_BLOCKED ? sampler->lock_names : NULL);
	subject->wait = look.wait;
	subject->is_outside_mpi = look.is_outside_mpi;
	subject->is_anybody = look.is_anybody;
	if (look.blocked) {
		blocked_destroy(subject->blocked);
		subject->blocked = look.blocked;
	}
}

static void explain_failure(struct subject *subject, const struct tracee *tracee)
{
	switch (tracee->result) {
	case TRACEE_COPIED:
		break;
	case TRACEE_REFUSED:
		procfs_explain(subject->pid, tracee->error, "be stopped", &subject->error);
		break;
	case TRACEE_GONE:
		error_set(&subject->error, ERROR_GONE, "%s %d has ended",
			  subject->tid == subject->pid ? "process" : "thread", (int)subject->tid);
		break;
	case TRACEE_TIMEOUT:
		error_set(&subject->error, ERROR_TIMEOUT,
			  "thread %d does not stop: it is in an uninterruptible system call or "
			  "gets no processor",
			  (int)subject->tid);
		break;
	}
}

static void walk(struct sampler *sampler, struct subject *subject, const struct tracee *tracee)
{
	free(subject->unwound.values);
	variables_destroy(subject->unwound.variables);
	sampler->probes.wants_variables = sampler->wants_variables && subject->tid == subject->pid;
	unwind_walk(subject->process->space, tracee, &sampler->probes, sampler->callpaths,
		    &subject->unwound);
}

/* Unwind; once more with new maps if it ended early, since code may have been loaded meanwhile. */
static void unwind(struct sampler *sampler, struct subject *subject, const struct tracee *tracee)
{
	struct process *process = subject->process;

	walk(sampler, subject, tracee);
	if (!subject->unwound.is_complete && !subject->unwound.missing &&
	    process->take != sampler->take && !read_maps(sampler, process, NULL))
		walk(sampler, subject, tracee);
}

/* Where to begin to copy the other place that a walk asked for: some way below, since the next
 * values needed may be saved there. 0 if it is within reach of the stack pointer anyway. */
static uint64_t other_place(const struct subject *subject, const struct tracee *tracee)
{
	uint64_t missing = subject->unwound.missing;
	const struct maps_range *range = maps_find(tracee->maps, missing);

	if (missing - subject->stack_pointer < DEEP_STACK_SIZE - STACK_SIZE)
		return 0;
	return range && missing - range->start < STACK_SIZE ? range->start : missing - STACK_SIZE;
}

/* What is to be copied of the interpreter's frames; NULL if there is none in that thread. */
static struct python_copy *prepare_python(struct python_copy **copy, const struct subject *subject)
{
	if (!subject->process->python)
		return NULL;
	if (!*copy) {
		*copy = xmalloc(sizeof(**copy));
		/* Touched beforehand, so that no page fault prolongs the stop. */
		memset(*copy, 0, sizeof(**copy));
	}
	return python_prepare(subject->process->python, subject->tid, *copy) ? *copy : NULL;
}

static bool is_cut(const struct subject *subject)
{
	return subject->unwound.missing || subject->unwound.is_late;
}

/* The first copy was too short, or had no time for all: take one more of the stack, and of another
 * place if the walk left the stack (a signal handler's own) for another. False: it has ended
 * meanwhile, and the first look stands. */
static bool copy_deeper(struct sampler *sampler, struct subject *subject, unsigned flags)
{
	struct tracee tracee = {.tid = subject->tid,
				.maps = unwind_space_maps(subject->process->space),
				.wants_vectors = sampler->probes.wants_vectors};
	uint8_t *bytes = xmalloc(2 * DEEP_STACK_SIZE);

	/* Touched beforehand, so that no page fault prolongs the stop. */
	memset(bytes, 0, 2 * DEEP_STACK_SIZE);
	tracee.stack.bytes = bytes;
	tracee.other.bytes = bytes + DEEP_STACK_SIZE;
	tracee.stack.capacity = tracee.other.capacity = DEEP_STACK_SIZE;
	tracee.other.address = other_place(subject, &tracee);
	tracee.python = prepare_python(&sampler->python_copies[0], subject);
	tracee_copy(&tracee, 1);
	if (tracee.result == TRACEE_COPIED) {
		note_stop(sampler, subject, &tracee);
		unwind(sampler, subject, &tracee);
		find_lock(sampler, subject, &tracee, flags);
	}
	free(bytes);
	return tracee.result == TRACEE_COPIED;
}

/* It runs while they are read. */
static void read_queues(struct subject *subject)
{
	struct process *process = subject->process;
	const struct memory memory = {.pid = process->reader};

	if (!process->queues && !process->has_no_queues) {
		process->queues = mpi_queues_create(&memory, unwind_space_maps(process->space));
		process->has_no_queues = !process->queues;
	}
	if (process->queues)
		subject->queues = mpi_queues_read(process->queues);
}

static void take_some(struct sampler *sampler, struct subject **subjects, size_t num,
		      unsigned flags)
{
	struct tracee *tracees = xcalloc(num, sizeof(*tracees));
	struct procfs_stat stat;

	for (size_t i = 0; i < num; i++) {
		tracees[i].tid = subjects[i]->tid;
		tracees[i].maps = unwind_space_maps(subjects[i]->process->space);
		tracees[i].stack.bytes = sampler->stacks + i * STACK_SIZE;
		tracees[i].stack.capacity = STACK_SIZE;
		tracees[i].wants_vectors = sampler->probes.wants_vectors;
		if (procfs_stat(subjects[i]->pid, subjects[i]->tid, &stat)) {
			/* It may be another process's thread by now. */
			if (subjects[i]->tid != subjects[i]->pid)
				tracees[i].tid = 0;
			continue;
		}
		subjects[i]->state = stat.state;
		/* Before it is stopped: then its call may begin again under another number. */
		if (flags & SAMPLER_BLOCKED && subjects[i]->tid == subjects[i]->pid)
			subjects[i]->blocked = sample_blocked_before(&sampler->budget,
								     subjects[i]->pid, stat.state);
		/* Another process by now: it is left alone, as no thread has the number 0. */
		if (stat.pid == subjects[i]->pid &&
		    stat.start_ticks != subjects[i]->process->start_ticks)
			tracees[i].tid = 0;
		else
			tracees[i].python = prepare_python(&sampler->python_copies[i], subjects[i]);
	}
	tracee_copy(tracees, num);
	for (size_t i = 0; flags & SAMPLER_QUEUES && i < num; i++)
		if (tracees[i].result == TRACEE_COPIED && subjects[i]->tid == subjects[i]->pid)
			read_queues(subjects[i]);
	for (size_t i = 0; i < num; i++) {
		struct subject *subject = subjects[i];

		if (tracees[i].result != TRACEE_COPIED) {
			explain_failure(subject, &tracees[i]);
			continue;
		}
		subject->is_copied = true;
		/* It may have been seen running as a tracer had just let go of it. */
		if (tracees[i].is_stopped)
			subject->state = 'T';
		/* Another pdb had it just then; a debugger would have it still. */
		else if (subject->state == 't')
			subject->state = '?';
		subject->stack_pointer = tracee_sp(&tracees[i].regs);
		note_stop(sampler, subject, &tracees[i]);
		unwind(sampler, subject, &tracees[i]);
		/* Of one that is copied again only that copy tells. */
		if (!is_cut(subject))
			find_lock(sampler, subject, &tracees[i], flags);
	}
	for (size_t i = 0; i < num; i++)
		if (subjects[i]->is_copied && is_cut(subjects[i]) &&
		    !copy_deeper(sampler, subjects[i], flags))
			find_lock(sampler, subjects[i], &tracees[i], flags);
	for (size_t i = 0; flags & SAMPLER_BLOCKED && i < num; i++)
		if (subjects[i]->is_copied && subjects[i]->tid == subjects[i]->pid &&
		    subjects[i]->is_outside_mpi)
			sample_blocked_after(&sampler->budget, subjects[i]->pid, &tracees[i].regs,
					     &subjects[i]->blocked);
	free(tracees);
}

/* ---- Results ---- */

/* Why outermost frames are missing; NULL: they are not. */
static char *explain_hole(const struct unwind_result *unwound)
{
	const char *why = "no unwind information for the outermost frame shown";

	if (unwound->is_too_deep)
		why = "the stack has more frames than pdb reads; the outermost are missing";
	else if (unwound->is_late)
		why = "pdb could not read the interpreter's functions in the time that it may stop "
		      "a thread";
	else if (unwound->missing)
		why = "the stack is larger than the part that pdb copies; the outermost frames are "
		      "missing";
	return unwound->is_complete ? NULL : xstrdup(why);
}

static void add_sample(struct sampler *sampler, struct subject *subject, struct samples *samples)
{
	struct sample sample = {
		.rank = subject->rank,
		.tid = subject->tid,
		.is_main = subject->tid == subject->pid,
		.path = CALLPATH_NONE,
		.state = subject->state,
		.when_ns = subject->when_ns,
		.stopped_ns = subject->stopped_ns < UINT32_MAX ? (uint32_t)subject->stopped_ns
							       : UINT32_MAX,
		.blocked = subject->blocked,
	};

	subject->blocked = NULL;
	if (!subject->is_copied) {
		sample.status = SAMPLE_FAILED;
		sample.note = xstrdup(subject->error.text);
		sampler->cost.num_failed++;
	} else {
		sample.path = subject->unwound.path;
		sample.wait = subject->wait;
		sample.values = subject->unwound.values;
		sample.num_values = subject->unwound.num_values;
		subject->unwound.values = NULL;
		sample.variables = subject->unwound.variables;
		subject->unwound.variables = NULL;
		sample.queues = subject->queues;
		subject->queues = NULL;
		sample.status = subject->unwound.is_complete ? SAMPLE_COMPLETE : SAMPLE_INCOMPLETE;
		sample.note = explain_hole(&subject->unwound);
	}
	samples_add(samples, &sample);
}

/* One refusal each and nothing else: the reason is the same for all, so it is the answer. */
static int check_all_refused(const struct subjects *subjects, struct pdb_error *err)
{
	if (!subjects->num)
		return 0;
	for (size_t i = 0; i < subjects->num; i++)
		if (subjects->list[i].is_copied || subjects->list[i].error.code != ERROR_PERMISSION)
			return 0;
	return error_set(err, ERROR_PERMISSION, "rank %d: %s", subjects->list[0].rank,
			 subjects->list[0].error.text);
}

/* From the subject `first` on. */
static void take_from(struct sampler *sampler, struct subjects *subjects, size_t first,
		      unsigned flags)
{
	struct subject *some[MAX_AT_ONCE];
	size_t num = 0;

	for (size_t i = first; i < subjects->num; i++) {
		if (subjects->list[i].process)
			some[num++] = &subjects->list[i];
		if (num == MAX_AT_ONCE || (num && i + 1 == subjects->num)) {
			take_some(sampler, some, num, flags);
			num = 0;
		}
	}
}

/* Subjects of one process follow each other, but for those that are added here. */
static bool has_subject(const struct subjects *subjects, size_t of, pid_t tid, size_t first_added)
{
	const struct subject *list = subjects->list;
	size_t begin = of, end = of;

	while (begin > 0 && list[begin - 1].process == list[of].process)
		begin--;
	while (end < subjects->num && list[end].process == list[of].process)
		end++;
	for (size_t i = begin; i < end; i++)
		if (list[i].tid == tid)
			return true;
	for (size_t i = first_added; i < subjects->num; i++)
		if (list[i].process == list[of].process && list[i].tid == tid)
			return true;
	return false;
}

/* Any of the process may be the one that it waits for. */
static void add_holders(struct subjects *subjects, size_t i, size_t asked)
{
	const struct subject of = subjects->list[i];
	const struct sampler_target target = {.rank = of.rank, .pid = of.pid};
	size_t num = 0;
	pid_t *tids = procfs_threads(of.pid, &num);

	for (size_t t = 0; tids && num <= MAX_HOLDERS && t < num; t++)
		if (!has_subject(subjects, i, tids[t], asked))
			add_subject(subjects, &target, tids[t])->process = of.process;
	free(tids);
}

/* Whom those wait for that were looked at, then whom these wait for, ... Each of a thread's chain
 * is in a round of its own, so a process adds no more than there are rounds for each that was asked
 * for, and in the first one those that may hold a lock. */
static void take_awaited(struct sampler *sampler, struct subjects *subjects, unsigned flags)
{
	size_t asked = subjects->num, first = 0;

	for (int round = 0; round < MAX_AWAITED && first < subjects->num; round++) {
		size_t end = subjects->num;

		for (size_t i = first; i < end; i++) {
			const struct subject of = subjects->list[i];
			const struct sampler_target target = {.rank = of.rank, .pid = of.pid};

			if (of.is_copied && of.wait.tid &&
			    !has_subject(subjects, i, of.wait.tid, asked))
				add_subject(subjects, &target, of.wait.tid)->process = of.process;
			else if (of.is_copied && of.is_anybody && round == 0)
				add_holders(subjects, i, asked);
		}
		first = end;
		take_from(sampler, subjects, end, flags);
	}
}

int sampler_take(struct sampler *sampler, const struct sampler_target *targets, size_t num_targets,
		 unsigned flags, struct samples *samples, struct pdb_error *err)
{
	struct subjects subjects = {0};
	size_t i, num;

	if (!sampler->stacks) {
		sampler->stacks = xmalloc(MAX_AT_ONCE * STACK_SIZE);
		memset(sampler->stacks, 0, MAX_AT_ONCE * STACK_SIZE);
	}
	sampler->take++;
	sampler->probes.wants_contents = flags & SAMPLER_CONTENTS;
	for (i = 0; i < num_targets; i++)
		add_target(sampler, &subjects, &targets[i], flags);
	num = subjects.num;
	sample_blocked_begin(&sampler->budget);
	take_from(sampler, &subjects, 0, flags);
	/* Else they are all there. */
	if (flags & SAMPLER_AWAITED && !(flags & SAMPLER_ALL_THREADS))
		take_awaited(sampler, &subjects, flags);
	int result = check_all_refused(&subjects, err);
	for (i = 0; !result && i < subjects.num; i++) {
		struct subject *subject = &subjects.list[i];

		sample_blocked_end(&sampler->budget, subject->pid, subject->blocked);
		/* A thread that ended between list and look is no loss to report. */
		if (subject->is_copied || subject->tid == subject->pid ||
		    subject->error.code != ERROR_GONE)
			add_sample(sampler, subject, samples);
	}
	if (subjects.num > num)
		samples_sort(samples);
	for (i = 0; i < subjects.num; i++) {
		free(subjects.list[i].unwound.values);
		variables_destroy(subjects.list[i].unwound.variables);
		message_queues_destroy(subjects.list[i].queues);
		blocked_destroy(subjects.list[i].blocked);
	}
	free(subjects.list);
	return result;
}

void sampler_add_cost(struct sampler_cost *into, const struct sampler_cost *other)
{
	uint64_t num = into->num_samples + other->num_samples;

	if (num)
		into->stopped_ns_median = (into->stopped_ns_median * into->num_samples +
					   other->stopped_ns_median * other->num_samples) /
					  num;
	if (other->stopped_ns_max > into->stopped_ns_max)
		into->stopped_ns_max = other->stopped_ns_max;
	into->stopped_ns_total += other->stopped_ns_total;
	into->num_samples += other->num_samples;
	into->num_failed += other->num_failed;
}

void sampler_get_cost(const struct sampler *sampler, struct sampler_cost *ret)
{
	uint32_t sorted[NUM_DURATIONS];
	uint64_t num = sampler->cost.num_samples;

	*ret = sampler->cost;
	if (num > NUM_DURATIONS)
		num = NUM_DURATIONS;
	memcpy(sorted, sampler->durations, sizeof(sorted));
	sorted_make(sorted, num, sizeof(*sorted), sorted_compare_u32);
	ret->stopped_ns_median = num ? sorted[num / 2] : 0;
}
