/* SPDX-License-Identifier: BSD-3-Clause
 * Numbers of the snapshot format (docs/snapshot-format.md). */
#pragma once

#define SNAPSHOT_MAGIC "PDBSNAP\n" /* 8 bytes, then the version (4 bytes, little endian) */
#define SNAPSHOT_VERSION 6

enum { SNAPSHOT_HEADER_SIZE = 12 };
