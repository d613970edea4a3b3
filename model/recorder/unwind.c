/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/unwind.h"

#include <dlfcn.h>
#include <string.h>

/* More own frames than this are never between the wrapper and here. */
enum { MAX_OWN_FRAMES = 16 };

static const struct unwinder *unwinder;

bool unwind_load(const struct unwinder *u)
{
	void *handle = dlopen(u->library, RTLD_NOW | RTLD_LOCAL);

	for (unsigned i = 0; handle && i < u->num_symbols; i++) {
		void *address = dlsym(handle, u->symbols[i].name);

		if (!address)
			return false;
		memcpy(u->symbols[i].to, &address, sizeof(address));
	}
	return handle;
}

const char *unwind_init(void)
{
#ifdef __x86_64__
	if (unwind_load(&unwinder_gcc))
		unwinder = &unwinder_gcc;
#endif
	if (!unwinder && unwind_load(&unwinder_libunwind))
		unwinder = &unwinder_libunwind;
	return unwinder ? NULL : PDB_LIBUNWIND_SONAME " is not installed, or lacks a function";
}

void unwind_flush(void)
{
	if (unwinder->flush)
		unwinder->flush();
}

/* Place of frame number `n` (0: innermost) in slots[]: the outer half is a ring. */
static uint32_t place(uint32_t n)
{
	return n < PATH_HALF ? n : PATH_HALF + (n - PATH_HALF) % PATH_HALF;
}

static void reverse(struct path_slot *slots, uint32_t from, uint32_t to)
{
	for (; from + 1 < to; from++, to--) {
		struct path_slot slot = slots[from];
		slots[from] = slots[to - 1];
		slots[to - 1] = slot;
	}
}

/* Bring the ring of the outer half into order: rotate it left by `n`. */
static void unroll(struct path_slot *slots, uint32_t n)
{
	reverse(slots, 0, n);
	reverse(slots, n, PATH_HALF);
	reverse(slots, 0, PATH_HALF);
}

struct walk {
	uintptr_t ra, cfa;
	uint32_t num_own, num; /* frames: of the recorder, outside it */
	struct call_path *path;
	const struct call_path *known; /* NULL: none */
	uint32_t at;                   /* the first of its frames that may be met yet */
};

/* The first of the path's frames, from this one on, behind which all still hold. */
static uint32_t first_that_holds(const struct call_path *path, uint32_t from)
{
	uint32_t i = path->num_frames;

	while (i > from && *path->slots[i - 1].at == path->slots[i - 1].value)
		i--;
	return i;
}

/* If the walk has met the known path, takes the rest from there. Slots farther out lie higher. */
static bool take_known(struct walk *w, const struct path_slot *slot)
{
	const struct call_path *known = w->known;

	while (w->at < known->num_frames && known->slots[w->at].at < slot->at)
		w->at++;
	if (w->at == known->num_frames || known->slots[w->at].at != slot->at)
		return false;
	uint32_t rest = known->num_frames - w->at, first = first_that_holds(known, w->at);
	if (first != w->at || w->num + rest > PATH_MAX_FRAMES) {
		w->at = first; /* farther in nothing can be taken */
		return false;
	}
	memcpy(w->path->slots + w->num, known->slots + w->at, rest * sizeof(*slot));
	w->num += rest;
	return true;
}

static bool take(void *arg, uintptr_t ip, uintptr_t sp, const uintptr_t *at)
{
	struct walk *w = arg;

	if (w->num == 0 && (ip != w->ra || sp != w->cfa))
		return ++w->num_own < MAX_OWN_FRAMES;
	const struct path_slot slot = {.at = at, .value = ip};
	if (at && w->known && take_known(w, &slot))
		return false;
	w->path->cacheable &= at != NULL;
	w->path->slots[place(w->num++)] = slot;
	return w->num < PATH_MAX_STEPS;
}

void unwind_call_path(uintptr_t ra, uintptr_t cfa, uintptr_t low, uintptr_t high,
		      const struct call_path *known, struct call_path *ret)
{
	struct walk w = {.ra = ra, .cfa = cfa, .path = ret};

	if (known && known->cacheable && known->elided_at == 0)
		w.known = known;
	ret->elided_at = 0;
	ret->cacheable = cfa >= low && cfa < high && high - cfa <= INT32_MAX;
	unwinder->walk(low, high, take, &w);
	ret->num_frames = w.num;
	if (w.num == 0) {
		ret->slots[0] = (struct path_slot){.value = ra};
		ret->num_frames = 1;
		ret->cacheable = false;
	} else if (w.num > PATH_MAX_FRAMES) {
		ret->elided_at = PATH_HALF;
		ret->num_frames = w.num < PATH_MAX_STEPS ? PATH_MAX_FRAMES : PATH_HALF;
		unroll(ret->slots + PATH_HALF, (w.num - PATH_HALF) % PATH_HALF);
	}
}
