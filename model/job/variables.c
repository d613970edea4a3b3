/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/job/variables.h"

struct variables *variables_create(void)
{
	return xcalloc(1, sizeof(struct variables));
}

void variables_cut(struct variables *variables, size_t num)
{
	while (variables->num > num) {
		struct variable *last = &variables->list[--variables->num];

		free(last->name);
		free(last->type);
		free(last->text);
	}
}

void variables_destroy(struct variables *variables)
{
	if (!variables)
		return;
	variables_cut(variables, 0);
	free(variables->list);
	free(variables);
}

void variables_add(struct variables *variables, const struct variable *variable)
{
	struct variable *copy = XPUSH(variables->list, variables->num, variables->capacity);

	*copy = *variable;
	copy->name = xstrdup(variable->name);
	copy->type = variable->type ? xstrdup(variable->type) : NULL;
	copy->text = xstrdup(variable->text);
}

const struct variable *variables_find(const struct variables *variables, uint32_t depth,
				      const char *name)
{
	for (size_t i = 0; variables && i < variables->num; i++) {
		const struct variable *variable = &variables->list[i];

		if (variable->depth == depth && variable->kind != VARIABLE_GLOBAL &&
		    !strcmp(variable->name, name))
			return variable;
	}
	return NULL;
}

const struct variable *variables_find_global(const struct variables *variables, const char *name)
{
	for (size_t i = 0; variables && i < variables->num; i++)
		if (variables->list[i].kind == VARIABLE_GLOBAL &&
		    !strcmp(variables->list[i].name, name))
			return &variables->list[i];
	return NULL;
}

bool variables_has_frame(const struct variables *variables, uint32_t depth)
{
	for (size_t i = 0; variables && i < variables->num; i++)
		if (variables->list[i].depth == depth)
			return true;
	return false;
}
