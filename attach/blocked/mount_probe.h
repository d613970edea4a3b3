/* SPDX-License-Identifier: BSD-3-Clause
 * Does a mount answer? A process of its own asks the mount by statfs(), which may never return.
 * Nobody waits for that process, and init collects it. */
#pragma once

#include "model/base.h"

enum mount_answer {
	MOUNT_UNKNOWN, /* it could not be asked, or refuses */
	MOUNT_ANSWERS,
	MOUNT_SILENT,
};

/* An answer may take at most this long. */
#define MOUNT_PROBE_MS 200
/* The name of the process that asks. */
#define MOUNT_PROBE_NAME "pdb-asks-mount"

struct mount_probes;

struct mount_probes *mount_probes_create(void);
void mount_probes_destroy(struct mount_probes *probes); /* NULL is fine */

/* Ask the mount at `point`, as process `pid` sees it. Returns at once. A mount that was silent is
 * not asked again while its process is still there, nor for some seconds. */
void mount_probes_ask(struct mount_probes *probes, pid_t pid, const char *point);

/* The mount's answer, if it was asked as a process in the mount namespace of `pid` sees it. Waits
 * until MOUNT_PROBE_MS after the question. */
enum mount_answer mount_probes_answer(struct mount_probes *probes, pid_t pid, const char *point);
