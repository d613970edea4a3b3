/* SPDX-License-Identifier: BSD-3-Clause
 * A segment, as a rank may have left it in /dev/shm: copied, looked at, watched, and analysed as
 * the only rank of a job. */
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/segment/segment_reader.h"
#include "model/segment/segment_watch.h"
#include "tests/fuzz/fuzz.h"

enum { LOOKS = 8 };

/* In place of those of the C library: nobody writes, so nothing comes of waiting for him. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)time;
	(void)left;
	return 0;
}

int sched_yield(void)
{
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	int fd = fuzz_file(bytes, size);
	struct segment_look looks[LOOKS];
	struct segment_watch *watch;
	struct segment_pulse pulse;
	struct model *model;
	struct pdb_error err;

	segment_look(fd, looks, LOOKS, &err);
	watch = segment_watch_create(dup(fd), &err);
	if (watch)
		segment_watch_read(watch, &pulse, &err);
	segment_watch_destroy(watch);
	if (!segment_read(fd, &model, &err)) {
		struct job *job = job_create();

		job->model = job_model_create(job->modules, job->callpaths);
		job_model_add(job->model, 0, model, 4711);
		job_model_finish(job->model);
		fuzz_analyse(job);
		job_destroy(job);
	}
	return 0;
}
