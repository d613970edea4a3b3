/* SPDX-License-Identifier: BSD-3-Clause
 * The table of processes in the memory of a launcher, which this program plays itself. The bytes
 * are the table's size (4 bytes), how many entries are really there (1 byte), these entries, and
 * texts. Of a pointer with nothing in its upper half the lower one is a place in these bytes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "model/error.h"
#include "model/job/proctable.h"
#include "tests/fuzz/fuzz.h"

struct entry {
	uint64_t host, executable;
	int32_t pid, padding;
};

/* As a launcher has them, so that they are found by name. */
extern struct entry *MPIR_proctable;
extern int MPIR_proctable_size;
struct entry *MPIR_proctable;
int MPIR_proctable_size;

static uint64_t place(uint64_t pointer, const char *texts, size_t size)
{
	return pointer >> 32 || !pointer ? pointer : (uintptr_t)texts + pointer % (size + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct launcher_info launcher = {
		.kind = &launcher_openmpi4, .pid = getpid(), .name = "mpirun"};
	size_t num, most;
	char *texts;
	struct proctable *table;
	struct pdb_error err;

	MPIR_proctable_size = (int)fuzz_take(&bytes, &size, 4);
	num = fuzz_take(&bytes, &size, 1);
	most = size / sizeof(struct entry);
	num = num < most ? num : most;
	texts = malloc(size + 1);
	memcpy(texts, bytes, size);
	texts[size] = '\0';
	MPIR_proctable = calloc(num + 1, sizeof(*MPIR_proctable));
	memcpy(MPIR_proctable, bytes, num * sizeof(*MPIR_proctable));
	for (size_t i = 0; i < num; i++) {
		MPIR_proctable[i].host = place(MPIR_proctable[i].host, texts, size);
		MPIR_proctable[i].executable = place(MPIR_proctable[i].executable, texts, size);
	}
	if (!launcher_read_mpir(&launcher, &table, &err))
		proctable_destroy(table);
	free(MPIR_proctable);
	free(texts);
	return 0;
}
