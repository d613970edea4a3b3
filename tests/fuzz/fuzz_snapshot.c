/* SPDX-License-Identifier: BSD-3-Clause
 * A snapshot that a stranger has sent. The bytes are what is inside the compression, whose checksum
 * would refuse all others. What can be loaded is asked all questions. */
#include <stdio.h>
#include <stdlib.h>

#include "model/error.h"
#include "model/job/rankset.h"
#include "shell/command.h"
#include "shell/session.h"
#include "tests/fuzz/fuzz.h"

static const char *const questions[] = {
	"lp",       "why",         "groups",   "graph",    "waits",       "progress",
	"order",    "bt all",      "tree",     "loops",    "model 0",     "history 0",
	"messages", "collectives", "requests", "info job", "info ranks",  "info hosts",
	"suspects", "lattice",     "similar",  "trace 0",  "order -loop", "info recorder"};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static FILE *nowhere;
	struct session session;
	struct pdb_error err;
	size_t packed;
	uint8_t *frame = fuzz_compress(bytes, size, &packed);

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	session_init(&session);
	session.execute = command_execute;
	session.out = nowhere;
	session.is_batch = true;
	if (!session_load(&session, fuzz_path(frame, packed), &err))
		for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
			command_execute(&session, questions[i], &err);
	session_deinit(&session);
	free(frame);
	return 0;
}
