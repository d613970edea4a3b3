/* SPDX-License-Identifier: BSD-3-Clause
 * look PID [ROUNDS [threads]]: what attach/ finds out about a job, as lines for scripts to compare.
 *     launcher 4019 Open MPI 4.1.4 mpirun
 *     table MPIR table 8
 *     rank 3 pid 4027 blocked
 *     stack 3 complete _start main wait_for_others MPI_Barrier ...
 * Samples ROUNDS times (1) and shows the last; 0: for ever. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/process/maps.h"
#include "attach/stacks/sampler.h"
#include "attach/symbols/symbols.h"
#include "model/job/callpath.h"
#include "model/error.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/sample.h"
#include "model/xalloc.h"

static void print_path(const struct callpaths *callpaths, struct names *names, uint32_t path)
{
	if (path == CALLPATH_NONE)
		return;
	print_path(callpaths, names, callpaths_get(callpaths, path)->parent);
	printf(" %s", names_get(names, path)->function);
}

static void print_samples(const struct samples *samples, const struct callpaths *callpaths,
			  struct names *names)
{
	static const char *const texts[] = {"complete", "incomplete", "failed"};
	size_t i;

	for (i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		printf("stack %d %s", sample->rank, texts[sample->status]);
		print_path(callpaths, names, sample->path);
		printf("%s%s\n", sample->note ? " " : "", sample->note ? sample->note : "");
	}
}

static int find_table(pid_t pid, struct proctable **table, struct pdb_error *err)
{
	struct launcher_info info;
	size_t i;

	if (launcher_identify(pid, &info, err))
		return -1;
	printf("launcher %d %s\n", (int)info.pid, info.name);
	if (info.kind->has_mpir) {
		if (launcher_read_mpir(&info, table, err))
			return -1;
	} else if (launcher_scan_procfs(&info, table, err)) {
		return -1;
	}
	printf("table %s %d\n", proctable_source_text((*table)->source), (*table)->size);
	for (i = 0; i < (*table)->num_procs; i++) {
		const struct proc *proc = &(*table)->procs[i];

		printf("rank %d pid %d %s\n", proc->rank, (int)proc->pid,
		       maps_base(proc->executable));
	}
	return 0;
}

static int take_samples(const struct proctable *table, int rounds, unsigned flags,
			struct pdb_error *err)
{
	struct modules *modules = modules_create();
	struct callpaths *callpaths = callpaths_create();
	struct symbols *symbols = symbols_create(modules);
	struct names *names = names_create(modules, callpaths, symbols_resolve, symbols);
	struct sampler *sampler = sampler_create(modules, callpaths);
	struct sampler_target *targets = xcalloc(table->num_procs, sizeof(*targets));
	struct samples *samples = samples_create();
	int i, result = 0;
	size_t k;

	for (k = 0; k < table->num_procs; k++)
		targets[k] = (struct sampler_target){table->procs[k].rank, table->procs[k].pid, 0};
	for (i = 0; (i < rounds || !rounds) && !result; i++) {
		samples_destroy(samples);
		samples = samples_create();
		result = sampler_take(sampler, targets, table->num_procs, flags, samples, err);
	}
	print_samples(samples, callpaths, names);
	samples_destroy(samples);
	free(targets);
	sampler_destroy(sampler);
	names_destroy(names);
	symbols_destroy(symbols);
	callpaths_destroy(callpaths);
	modules_destroy(modules);
	return result;
}

int main(int argc, char **argv)
{
	unsigned flags = argc > 3 && !strcmp(argv[3], "threads") ? SAMPLER_ALL_THREADS : 0;
	struct proctable *table = NULL;
	struct pdb_error err;

	if (argc < 2)
		return 2;
	if (find_table(atoi(argv[1]), &table, &err) ||
	    take_samples(table, argc > 2 ? atoi(argv[2]) : 1, flags, &err)) {
		printf("error %s\n", err.text);
		proctable_destroy(table);
		return 1;
	}
	proctable_destroy(table);
	return 0;
}
