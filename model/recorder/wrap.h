/* SPDX-License-Identifier: BSD-3-Clause
 * The parts of the generated wrappers; included by nothing else. */
#pragma once

#include "model/recorder/wrap_looks.h"

/* What is exported; then begins its wrapper. */
#define WRAP_EXPORT(symbol_, name_, class_, language_, ierror_)                                    \
	__attribute__((visibility("hidden"))) void jump_first_##symbol_(void);                     \
	extern __attribute__((visibility("hidden"))) struct recorder_function jump_##symbol_;      \
	struct recorder_function jump_##symbol_ = {                                                \
		.go = (void *)jump_first_##symbol_,                                                \
		.name = name_,                                                                     \
		.class_id = SEG_CLASS_##class_,                                                    \
		.language = SEG_LANGUAGE_##language_,                                              \
	};                                                                                         \
	JUMP(symbol_, ierror_)
#define WRAP_BODY(symbol_) __attribute__((visibility("hidden"))) recorded_##symbol_
#define WRAP_FUNCTION(symbol_, language_)                                                          \
	__attribute__((unused)) const enum seg_language wrap_language = SEG_LANGUAGE_##language_;  \
	struct recorder_function *const function = &jump_##symbol_

/* The wrapper's own return address and stack pointer at the call: they name the call site. What
 * hooks leave for each other is not there yet. */
#define WRAP_BEGIN(status_)                                                                        \
	struct wrap_call wrap;                                                                     \
	wrap.lane = recorder_begin(function, (uintptr_t)__builtin_return_address(0),               \
				   (uintptr_t)__builtin_dwarf_cfa());                              \
	wrap.status = status_;                                                                     \
	wrap.is_fortran = wrap_language == SEG_LANGUAGE_FORTRAN

/* Call a Fortran function; its error code. */
#define WRAP_FORTRAN_CALL(next_, ...)                                                              \
	({                                                                                         \
		(next_)(__VA_ARGS__);                                                              \
		ierror ? *ierror : MPI_SUCCESS;                                                    \
	})
