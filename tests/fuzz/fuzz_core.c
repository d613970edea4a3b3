/* SPDX-License-Identifier: BSD-3-Clause
 * A core file, made a job: its notes, stacks, environment, and the unwinding of what it holds. */
#include "attach/cores/core_file.h"
#include "attach/cores/cores.h"
#include "attach/launchers/words.h"
#include "model/error.h"
#include "model/job/job.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *path = (char *)fuzz_path(bytes, size);
	struct words notes = {.words = NULL};
	struct job *job = job_create();
	struct cores *cores = NULL;
	struct pdb_error err;

	if (!cores_load(&path, 1, job, &notes, &cores, &err)) {
		cores_read_values(cores, job);
		fuzz_analyse(job);
	}
	words_free(notes.words);
	cores_destroy(cores);
	job_destroy(job);
	return 0;
}
