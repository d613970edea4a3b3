/* SPDX-License-Identifier: BSD-3-Clause
 * What nearly every file is made of: the C library's types, memory and text, errors as values,
 * arenas, sorting, and the names of what is passed around most. All headers include it, but those
 * that the recorder has, too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "model/arena.h"
#include "model/error.h"
#include "model/sorted.h"
#include "model/xalloc.h"

struct buffer;
struct callpaths;
struct job;
struct job_model;
struct model;
struct modules;
struct proctable;
struct rankset;
struct sample;
struct samples;
