/* SPDX-License-Identifier: BSD-3-Clause
 * Texts of others: command lines and environments of processes, files that servers write, names of
 * functions, rank lists, filters. The first byte says what it is. */
#include <stdlib.h>
#include <string.h>

#include "attach/launchers/hydra.h"
#include "attach/process/maps.h"
#include "attach/launchers/rankenv.h"
#include "attach/symbols/demangle.h"
#include "model/error.h"
#include "model/job/rankset.h"
#include "model/recorder/trace_filter.h"
#include "model/segment/segment.h"
#include "pmix/rendezvous.h"
#include "shell/options/args.h"
#include "shell/script/macro.h"
#include "tests/fuzz/fuzz.h"

static void take_hydra(char *text, size_t size)
{
	struct hydra_proxy proxy;

	if (hydra_parse(text, size, &proxy))
		hydra_proxy_deinit(&proxy);
}

static void take_rendezvous(char *text, size_t size)
{
	struct rendezvous rendezvous;
	struct pdb_error err;

	(void)size;
	rendezvous_parse(text, &rendezvous, &err);
}

static void take_symbol(char *text, size_t size)
{
	(void)size;
	free(demangle(text));
}

static void take_maps(char *text, size_t size)
{
	struct maps *maps = maps_parse(text);

	(void)size;
	if (maps)
		maps_find(maps, 0x7f0000001000);
	maps_destroy(maps);
}

static void take_environ(char *text, size_t size)
{
	struct rankenv env;

	rankenv_parse(text, size, &env);
}

/* What was read is written the same, and read again. */
static void take_ranks(char *text, size_t size)
{
	struct rankset *set, *again;
	struct pdb_error err;
	char *encoded;

	(void)size;
	if (rankset_decode(text, 1 << 20, &set, &err) < 0)
		return;
	encoded = rankset_encode(set, 0);
	if (rankset_decode(encoded, 1 << 20, &again, &err) < 0 || !rankset_equal(set, again))
		abort();
	rankset_destroy(again);
	rankset_destroy(set);
	free(encoded);
}

static void take_filter(char *text, size_t size)
{
	struct trace_filter filter;

	(void)size;
	trace_filter_parse(&filter, text);
	trace_filter_has_call(&filter, "MPI_Send", SEG_CLASS_SEND);
	trace_filter_has_function(&filter, "solve", "libsolve.so");
}

static void take_words(char *text, size_t size)
{
	struct args *args;
	struct pdb_error err;

	(void)size;
	if (args_parse(text, &args, &err) < 0)
		return;
	free(macro_expand("$arg0 $argc x$arg1 $arg99999999999", args));
	free(macro_expand(text, args));
	args_destroy(args);
}

static void (*const takers[])(char *text, size_t size) = {
	take_hydra,   take_rendezvous, take_symbol, take_maps,
	take_environ, take_ranks,      take_filter, take_words,
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint32_t kind = fuzz_take(&bytes, &size, 1);
	char *text;

	if (kind >= sizeof(takers) / sizeof(takers[0]))
		return 0;
	/* Texts with zero bytes in them have their size; all end with one. */
	text = malloc(size + 1);
	memcpy(text, bytes, size);
	text[size] = '\0';
	takers[kind](text, size);
	free(text);
	return 0;
}
