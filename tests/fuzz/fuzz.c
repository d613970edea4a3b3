/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zstd.h>

#include "analysis/slow/slow.h"
#include "model/arena.h"
#include "model/xalloc.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/answers.h"

int fuzz_file(const uint8_t *bytes, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, bytes, size, 0) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET) < 0)
		abort();
	return fd;
}

const char *fuzz_path(const uint8_t *bytes, size_t size)
{
	static char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fuzz_file(bytes, size));
	return path;
}

uint8_t *fuzz_compress(const uint8_t *bytes, size_t size, size_t *size_ret)
{
	size_t bound = ZSTD_compressBound(size);
	uint8_t *frame = xmalloc(bound);

	*size_ret = ZSTD_compress(frame, bound, bytes, size, 1);
	if (ZSTD_isError(*size_ret))
		abort();
	return frame;
}

uint32_t fuzz_take(const uint8_t **bytes, size_t *size, unsigned int num)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i<num && * size> 0; i++) {
		value |= (uint32_t) * *bytes << (8 * i);
		(*bytes)++;
		(*size)--;
	}
	return value;
}

char *fuzz_text(const uint8_t *bytes, size_t size)
{
	return xstrndup((const char *)bytes, size);
}

void fuzz_analyse(struct job *job)
{
	struct answers answers = answers_of(job);
	struct arena *arena = arena_create();

	slow_find(arena, job, answers.progress, answers.evidence->stacks);
	arena_destroy(arena);
	answers_deinit(&answers);
}
