/* SPDX-License-Identifier: BSD-3-Clause
 * A site is a call in a function: its line and what is called. Sites of one function are a
 * group. First all sites of both runs are collected, then those of each group get common numbers,
 * then a call path is the sequence of its sites' numbers. */
#include "analysis/traces/trace_match.h"
#include "analysis/traces/lcs.h"
#include "model/blobs.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/sorted.h"
#include "model/arena.h"

/* More pairs of sites than that are not tried: lines are taken as they are. */
enum { MOST_PAIRS = 1 << 20 };

struct site {
	uint32_t group; /* of texts: function and file */
	uint32_t run;
	int line;                    /* 0: not known */
	uint64_t offset;             /* in its module */
	uint32_t callee;             /* of texts */
	const struct module *module; /* NULL: in none */
	uint32_t index;              /* when it was added */
	uint32_t number;             /* common to both runs; TRACE_NONE: not yet */
};

struct matching {
	struct arena *arena;
	const struct trace_run *runs;
	enum trace_detail detail;
	struct blobs *texts; /* functions with files, called functions */
	struct blobs *keys;  /* of sites, by index */
	struct blobs *ways;  /* sequences of numbers: what symbols are */
	struct site *sites;
	size_t num_sites, capacity;
	uint32_t num_numbers;
	uint32_t *frames; /* of one path, the outermost first */
	size_t num_frames, frames_capacity;
};

static uint32_t intern_text(struct matching *m, const char *text)
{
	return blobs_intern(m->texts, text, strlen(text) + 1);
}

/* What is in no function that has a name is known by its module. */
static uint32_t intern_function(struct matching *m, const struct name *name,
				const struct module *module)
{
	const char *slash = module ? strrchr(module->path, '/') : NULL;

	if (!name->is_symbol)
		return intern_text(m, !module ? "?" : slash ? slash + 1 : module->path);
	return intern_text(
		m, arena_printf(m->arena, "%s\n%s", name->function, name->file ? name->file : ""));
}

static const struct module *module_of(const struct job *job, uint32_t node)
{
	uint32_t module = callpaths_get(job->callpaths, node)->module;

	return module == MODULE_NONE ? NULL : modules_get(job->modules, module);
}

/* The frames of a path that are the program's own code. */
static void take_frames(struct matching *m, const struct job *job, uint32_t path)
{
	m->num_frames = 0;
	for (; path != CALLPATH_NONE; path = callpaths_get(job->callpaths, path)->parent) {
		const struct module *module = module_of(job, path);

		if (!module || module->kind != MODULE_PROGRAM)
			continue;
		*ARENA_PUSH(m->arena, m->frames, m->num_frames, m->frames_capacity) = path;
	}
	for (size_t i = 0; i < m->num_frames / 2; i++) {
		uint32_t frame = m->frames[i];

		m->frames[i] = m->frames[m->num_frames - 1 - i];
		m->frames[m->num_frames - 1 - i] = frame;
	}
}

/* The site of frame `node` that calls `callee`: its index. */
static uint32_t intern_site(struct matching *m, uint32_t run, uint32_t node, uint32_t callee)
{
	const struct job *job = m->runs[run].job;
	const struct callpath_node *frame = callpaths_get(job->callpaths, node);
	const struct module *module = module_of(job, node);
	const struct name *name = names_get(job->names, node);
	const uint64_t key[] = {run, frame->module, frame->offset, callee};
	uint32_t index = blobs_intern(m->keys, key, sizeof(key));

	if (index < m->num_sites)
		return index;
	*ARENA_PUSH(m->arena, m->sites, m->num_sites, m->capacity) = (struct site){
		.run = run,
		.group = intern_function(m, name, module),
		.line = name->line,
		.offset = frame->offset,
		.callee = callee,
		.module = module,
		.index = index,
		.number = TRACE_NONE,
	};
	return index;
}

/* The site of each of m->frames, of a call of `name`. */
static uint32_t site_of_frame(struct matching *m, uint32_t run, size_t at, const char *name)
{
	const struct job *job = m->runs[run].job;
	uint32_t next;

	if (at + 1 == m->num_frames)
		return intern_site(m, run, m->frames[at], intern_text(m, name));
	next = m->frames[at + 1];
	return intern_site(m, run, m->frames[at],
			   intern_function(m, names_get(job->names, next), module_of(job, next)));
}

static void collect_sites(struct matching *m, uint32_t run)
{
	const struct traces *traces = m->runs[run].traces;

	for (size_t s = 0; s < traces->num_symbols; s++) {
		const struct traces_symbol *symbol = &traces->symbols[s];

		if (symbol->kind != SEG_TRACE_CALL || !symbol->name)
			continue;
		take_frames(m, m->runs[run].job, symbol->path);
		for (size_t f = 0; f < m->num_frames; f++)
			site_of_frame(m, run, f, symbol->name);
	}
}

SORTED_BY(compare_sites, struct site, group, run, line, callee, offset, index)

SORTED_BY(compare_indexes, struct site, index)

/* The sites of one function in two runs, each by line, then by what is called. */
struct group {
	struct site *left, *right;
	size_t num_left, num_right;
};

static bool is_same_code(const struct group *g)
{
	const struct module *a = g->left[0].module, *b = g->right[0].module;

	return a && b && a->build_id_size > 0 && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

static void match_offsets(const struct group *g)
{
	for (size_t l = 0; l < g->num_left; l++)
		for (size_t r = 0; r < g->num_right; r++)
			if (g->left[l].offset == g->right[r].offset &&
			    g->left[l].callee == g->right[r].callee)
				g->right[r].number = g->left[l].number;
}

/* How many sites are the same if the right is `shift` lines further down; `unites` them. */
static size_t match_shifted(const struct group *g, int shift, bool unites)
{
	size_t l = 0, r = 0, matches = 0;

	while (l < g->num_left && r < g->num_right) {
		const struct site *left = &g->left[l], *right = &g->right[r];
		int line = left->line + shift;

		if (line < right->line || (line == right->line && left->callee < right->callee)) {
			l++;
		} else if (line > right->line || left->callee != right->callee) {
			r++;
		} else {
			if (unites)
				g->right[r].number = g->left[l].number;
			matches++;
			l++;
			r++;
		}
	}
	return matches;
}

/* The shift by which most are the same; of as many the smallest. */
static int find_shift(const struct group *g)
{
	size_t most = match_shifted(g, 0, false);
	int best = 0;

	if (g->num_left * g->num_right > MOST_PAIRS)
		return 0;
	for (size_t l = 0; l < g->num_left; l++) {
		for (size_t r = 0; r < g->num_right; r++) {
			int shift = g->right[r].line - g->left[l].line;
			size_t matches;

			if (g->left[l].callee != g->right[r].callee || shift == best)
				continue;
			matches = match_shifted(g, shift, false);
			if (matches > most || (matches == most && abs(shift) < abs(best))) {
				most = matches;
				best = shift;
			}
		}
	}
	return best;
}

/* Between sites that are the same: what is called in the same order. */
static void match_gap(struct arena *arena, const struct group *gap)
{
	size_t least = gap->num_left < gap->num_right ? gap->num_left : gap->num_right;
	uint64_t *left = arena_array(arena, gap->num_left, sizeof(*left));
	uint64_t *right = arena_array(arena, gap->num_right, sizeof(*right));
	struct lcs_match *matches = arena_array(arena, least, sizeof(*matches));
	size_t num;

	for (size_t i = 0; i < gap->num_left; i++)
		left[i] = gap->left[i].callee;
	for (size_t i = 0; i < gap->num_right; i++)
		right[i] = gap->right[i].callee;
	num = least > 0 ? lcs_find(left, gap->num_left, right, gap->num_right, matches) : 0;
	for (size_t i = 0; i < num; i++)
		gap->right[matches[i].b].number = gap->left[matches[i].a].number;
}

static void match_gaps(struct arena *arena, const struct group *g)
{
	struct group gap = {g->left, g->right, 0, 0};

	for (size_t r = 0; r < g->num_right; r++) {
		size_t l = (size_t)(gap.left - g->left);

		if (g->right[r].number == TRACE_NONE) {
			gap.num_right++;
			continue;
		}
		while (l < g->num_left && g->left[l].number != g->right[r].number)
			l++;
		gap.num_left = (size_t)(&g->left[l] - gap.left);
		match_gap(arena, &gap);
		gap = (struct group){&g->left[l] + 1, &g->right[r] + 1, 0, 0};
	}
	gap.num_left = (size_t)(g->left + g->num_left - gap.left);
	match_gap(arena, &gap);
}

static void number_sites(struct matching *m, struct site *sites, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (sites[i].number == TRACE_NONE)
			sites[i].number = m->num_numbers++;
}

static void match_group(struct matching *m, struct site *sites, size_t num)
{
	struct group g = {.left = sites};

	while (g.num_left < num && sites[g.num_left].run == 0)
		g.num_left++;
	g.right = sites + g.num_left;
	g.num_right = num - g.num_left;
	number_sites(m, g.left, g.num_left);
	if (g.num_left > 0 && g.num_right > 0 && is_same_code(&g)) {
		match_offsets(&g);
	} else if (g.num_left > 0 && g.num_right > 0) {
		match_shifted(&g, find_shift(&g), true);
		match_gaps(m->arena, &g);
	}
	number_sites(m, g.right, g.num_right);
}

static void match_sites(struct matching *m)
{
	sorted_make(m->sites, m->num_sites, sizeof(*m->sites), compare_sites);
	for (size_t begin = 0, end; begin < m->num_sites; begin = end) {
		for (end = begin + 1; end < m->num_sites; end++)
			if (m->sites[end].group != m->sites[begin].group)
				break;
		match_group(m, &m->sites[begin], end - begin);
	}
	sorted_make(m->sites, m->num_sites, sizeof(*m->sites), compare_indexes);
}

/* Put what a symbol is known by into `way`, with room for the frames and three more; how many. */
static size_t describe(struct matching *m, uint32_t run, const struct traces_symbol *symbol,
		       uint32_t *way)
{
	const struct job *job = m->runs[run].job;
	size_t num = 0;
	uint32_t last;

	way[num++] = symbol->kind;
	if (symbol->kind != SEG_TRACE_CALL || !symbol->name) {
		if (symbol->path != CALLPATH_NONE)
			way[num++] = intern_function(m, names_function(job->names, symbol->path),
						     module_of(job, symbol->path));
		return num;
	}
	way[num++] = intern_text(m, symbol->name);
	if (m->num_frames == 0 || m->detail == TRACE_BY_CALL)
		return num;
	last = m->frames[m->num_frames - 1];
	if (m->detail == TRACE_BY_FUNCTION) {
		way[num++] = intern_function(m, names_get(job->names, last), module_of(job, last));
		return num;
	}
	for (size_t f = m->detail == TRACE_BY_LINE ? m->num_frames - 1 : 0; f < m->num_frames; f++)
		way[num++] = m->sites[site_of_frame(m, run, f, symbol->name)].number;
	return num;
}

static uint32_t *number_symbols(struct matching *m, uint32_t run)
{
	const struct traces *traces = m->runs[run].traces;
	uint32_t *numbers = arena_array(m->arena, traces->num_symbols, sizeof(*numbers));

	for (size_t s = 0; s < traces->num_symbols; s++) {
		const struct traces_symbol *symbol = &traces->symbols[s];
		uint32_t *way;
		size_t num;

		m->num_frames = 0;
		if (symbol->kind == SEG_TRACE_CALL)
			take_frames(m, m->runs[run].job, symbol->path);
		way = arena_array(m->arena, m->num_frames + 3, sizeof(*way));
		num = describe(m, run, symbol, way);
		numbers[s] = blobs_intern(m->ways, way, num * sizeof(*way));
	}
	return numbers;
}

uint32_t trace_match(struct arena *arena, const struct trace_run *runs, size_t num_runs,
		     enum trace_detail detail, uint32_t **numbers)
{
	struct matching m = {
		.arena = arena,
		.runs = runs,
		.detail = detail,
		.texts = blobs_in(arena),
		.keys = blobs_in(arena),
		.ways = blobs_in(arena),
	};

	for (uint32_t r = 0; r < num_runs; r++)
		collect_sites(&m, r);
	match_sites(&m);
	for (uint32_t r = 0; r < num_runs; r++)
		numbers[r] = number_symbols(&m, r);
	return (uint32_t)m.ways->num;
}
