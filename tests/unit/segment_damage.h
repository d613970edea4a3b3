/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes of a segment that are not as they were written. */
#ifndef PDB_TESTS_UNIT_SEGMENT_DAMAGE_H
#define PDB_TESTS_UNIT_SEGMENT_DAMAGE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/job/model.h"
#include "model/segment/segment_reader.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

static inline int read_bytes(const uint8_t *bytes, size_t size, struct model **model,
			     struct pdb_error *err)
{
	int fd = segment_bytes_fd(bytes, size);
	int status = segment_read(fd, model, err);

	close(fd);
	return status;
}

/* The segment is refused wherever its end is missing: a cut at each `step` bytes. */
static inline void assert_needs_all(const struct segment_writer *w, size_t step)
{
	uint8_t *bytes;
	size_t size = segment_writer_bytes(w, &bytes);

	for (size_t cut = 0; cut < size; cut += step) {
		struct pdb_error err = {0};
		struct model *model = NULL;

		if (read_bytes(bytes, cut, &model, &err) == 0)
			fail_msg("%zu of %zu bytes were taken", cut, size);
		assert_int_equal(err.code, ERROR_FORMAT);
	}
	free(bytes);
}

/* Damage one or four bytes from there on, at random. */
static inline void damage(uint8_t *bytes, size_t size, size_t at)
{
	if (random() % 2)
		bytes[at] = (uint8_t)random();
	else
		memset(bytes + at, random() % 2 ? 0xff : 0, size - at < 4 ? size - at : 4);
}

/* Read what was damaged: a valid model or a refusal. Whether it was taken. */
static inline bool is_taken(const uint8_t *bytes, size_t size)
{
	const struct seg_header *header = (const void *)bytes;
	struct pdb_error err = {0};
	struct model *model;

	if (read_bytes(bytes, size, &model, &err) == 0) {
		assert_int_equal(model_validate(model, &err), 0);
		model_destroy(model);
		return true;
	}
	if (err.code != ERROR_VERSION || header->version == PDB_SEGMENT_VERSION)
		assert_int_equal(err.code, ERROR_FORMAT);
	return false;
}

#endif
