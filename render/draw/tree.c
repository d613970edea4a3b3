/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/draw/tree.h"
#include "render/text/text.h"
#include "render/view.h"

enum { STEP = 4 }; /* columns of a line to a child */

#define ARROW "  <-"

struct node {
	const char *text;
	bool is_marked, is_pointed_at;
	uint32_t parent, first, last, next; /* children and next sibling; TREE_ROOT: none */
};

struct tree {
	struct arena *arena;
	struct node *nodes;
	size_t num_nodes, capacity;
	uint32_t first, last; /* outermost nodes */
};

/* The text left of a node's line; grows and shrinks on the way through the tree. */
struct prefix {
	char text[512];
	int columns;
};

struct tree *tree_create(struct arena *arena)
{
	struct tree *tree = arena_alloc(arena, sizeof(*tree));

	*tree = (struct tree){.arena = arena, .first = TREE_ROOT, .last = TREE_ROOT};
	return tree;
}

uint32_t tree_add(struct tree *tree, uint32_t parent, const char *text)
{
	uint32_t self = (uint32_t)tree->num_nodes, *first, *last;

	*ARENA_PUSH(tree->arena, tree->nodes, tree->num_nodes, tree->capacity) = (struct node){
		.text = text,
		.parent = parent,
		.first = TREE_ROOT,
		.last = TREE_ROOT,
		.next = TREE_ROOT,
	};
	first = parent == TREE_ROOT ? &tree->first : &tree->nodes[parent].first;
	last = parent == TREE_ROOT ? &tree->last : &tree->nodes[parent].last;
	if (*first == TREE_ROOT)
		*first = self;
	else
		tree->nodes[*last].next = self;
	*last = self;
	return self;
}

void tree_mark(struct tree *tree, uint32_t node)
{
	tree->nodes[node].is_marked = true;
}

void tree_point(struct tree *tree, uint32_t node)
{
	tree->nodes[node].is_pointed_at = true;
}

/* Print a line: the prefix, then as much of the node's text as fits. */
static void print_node(const struct view *view, const struct prefix *prefix, const char *branch,
		       const struct node *node)
{
	const char *arrow = node->is_pointed_at ? ARROW : "";
	int room = view->width - prefix->columns - (int)text_columns(branch) - (int)strlen(arrow);
	const char *fit =
		text_fit(view->arena, node->text, room > 0 ? (size_t)room : 0, view->use_unicode);

	fprintf(view->out, "%s%s", prefix->text, branch);
	if (node->is_marked)
		text_color(view, TEXT_CULPRIT);
	fprintf(view->out, "%s%s", fit, arrow);
	if (node->is_marked)
		text_color(view, TEXT_PLAIN);
	fputc('\n', view->out);
}

/* The node after `node` in the order of printing, without leaving the subtree of `top`. */
static uint32_t next_below(const struct tree *tree, uint32_t node, uint32_t top)
{
	if (tree->nodes[node].first != TREE_ROOT)
		return tree->nodes[node].first;
	while (node != top && tree->nodes[node].next == TREE_ROOT)
		node = tree->nodes[node].parent;
	return node == top ? TREE_ROOT : tree->nodes[node].next;
}

static void print_rest(const struct tree *tree, const struct view *view, uint32_t top,
		       const struct prefix *prefix)
{
	struct node rest = {.text = NULL};
	size_t number = 0;

	for (uint32_t n = next_below(tree, top, top); n != TREE_ROOT; n = next_below(tree, n, top))
		number++;
	rest.text = text_of(view, "... %zu more below", number);
	print_node(view, prefix, "", &rest);
}

/* The width of lines limits recursion; chains of only children do not recurse. */
static void print_subtree(const struct tree *tree, const struct view *view, uint32_t top,
			  struct prefix *prefix)
{
	size_t length = strlen(prefix->text);
	uint32_t first = tree->nodes[top].first;

	while (first != TREE_ROOT && tree->nodes[first].next == TREE_ROOT) {
		print_node(view, prefix, "", &tree->nodes[first]);
		top = first;
		first = tree->nodes[top].first;
	}
	if (first == TREE_ROOT)
		return;
	if (prefix->columns + STEP > view->width / 2 || length + 16 > sizeof(prefix->text)) {
		print_rest(tree, view, top, prefix);
		return;
	}
	for (uint32_t n = first; n != TREE_ROOT; n = tree->nodes[n].next) {
		bool is_last = tree->nodes[n].next == TREE_ROOT;
		const char *branch = is_last ? "`-- " : "|-- ", *below = is_last ? "    " : "|   ";

		if (view->use_unicode) {
			branch = is_last ? "\u2514\u2500\u2500 " : "\u251c\u2500\u2500 ";
			below = is_last ? "    " : "\u2502   ";
		}
		print_node(view, prefix, branch, &tree->nodes[n]);
		strcpy(prefix->text + length, below);
		prefix->columns += STEP;
		print_subtree(tree, view, n, prefix);
		prefix->columns -= STEP;
		prefix->text[length] = '\0';
	}
}

void tree_print_indented(const struct tree *tree, const struct view *view, int indent)
{
	struct prefix prefix = {.columns = indent};

	memset(prefix.text, ' ', (size_t)indent);
	for (uint32_t n = tree->first; n != TREE_ROOT; n = tree->nodes[n].next) {
		print_node(view, &prefix, "", &tree->nodes[n]);
		print_subtree(tree, view, n, &prefix);
	}
}

void tree_print(const struct tree *tree, const struct view *view)
{
	tree_print_indented(tree, view, 0);
}
