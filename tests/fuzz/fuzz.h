/* SPDX-License-Identifier: BSD-3-Clause
 * What the fuzz targets share. A target, fuzz_NAME.c, is a program with libFuzzer: it gives bytes
 * to a reader as if they were what that reads. What counts is that nothing is read or written where
 * it must not be, nothing is lost, and neither time nor memory is out of proportion to the bytes;
 * docs/testing.md tells how to run them. */
#ifndef PDB_TESTS_FUZZ_H
#define PDB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct job;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A file with these bytes, the same one each time: its descriptor, at its start. */
int fuzz_file(const uint8_t *bytes, size_t size);
/* And the path that it is opened by. */
const char *fuzz_path(const uint8_t *bytes, size_t size);

/* The bytes as zstd frame, as quick as it goes. The caller frees. */
uint8_t *fuzz_compress(const uint8_t *bytes, size_t size, size_t *size_ret);

/* The first bytes of an input, and it moved behind them; zeroes for what is missing. */
uint32_t fuzz_take(const uint8_t **bytes, size_t *size, unsigned int num);

/* The bytes as text. The caller frees. */
char *fuzz_text(const uint8_t *bytes, size_t size);

/* All analyses that verdicts are made by, and who is slow. Those go by what the readers have checked. */
void fuzz_analyse(struct job *job);

#endif
