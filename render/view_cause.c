/* SPDX-License-Identifier: BSD-3-Clause
 * cause: where ranks parted. */
#include "analysis/values/value_groups.h"
#include "model/job/job.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "render/caused.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"
#include "render/words/parts.h"

/* Add those of the group that are in `ranks`. */
static bool add_part(const struct value_group *group, const struct rankset *ranks,
		     struct rankset *with)
{
	struct rankset *part SCOPED(rankset) = rankset_copy(group->ranks);

	rankset_keep_set(part, ranks);
	rankset_add_set(with, part);
	return !rankset_is_empty(part);
}

/* "3.1e-09", or of many numbers "4.7e-06 to 5.2e-06". with: is given the ranks that have them. */
static const char *values_text(const struct view *view, const struct value_groups *groups,
			       const struct rankset *ranks, struct rankset *with)
{
	const char *first = NULL, *last = NULL;
	size_t num = groups->are_numbers ? groups->num_values : 0;

	for (size_t i = 0; i < num; i++) {
		if (!add_part(groups->by_number[i], ranks, with))
			continue;
		first = first ?: groups->by_number[i]->text;
		last = groups->by_number[i]->text;
	}
	for (size_t i = 0; !num && i < groups->num_values && !first; i++)
		if (add_part(&groups->groups[i], ranks, with))
			first = last = groups->groups[i].text;
	if (!first)
		return NULL;
	return first == last ? first : text_of(view, "%s to %s", first, last);
}

/* "res is 3.1e-09 in rank 2, 4.7e-06 in ranks 0-1": of ranks whose values are known. */
static const char *value_text_of(const struct view *view, const struct caused *caused,
				 const struct caused_value *value)
{
	struct rankset *with[2] = {rankset_in(view->arena, rankset_create()),
				   rankset_in(view->arena, rankset_create())};
	const char *own, *others, *now = value->may_have_changed ? "now " : "";

	if (!value->groups)
		return NULL;
	own = values_text(view, value->groups, caused->ranks, with[0]);
	others = values_text(view, value->groups, caused->others, with[1]);
	if (own && others && !strcmp(own, others)) {
		if (rankset_equal(with[0], caused->ranks) && rankset_equal(with[1], caused->others))
			return text_of(view, "%s is %s%s in all", value->expression, now, own);
		rankset_add_set(with[0], with[1]);
		others = NULL;
	}
	if (own && others)
		return text_of(view, "%s is %s%s in %s, %s in %s", value->expression, now, own,
			       parts_who(view, with[0]), others, parts_who(view, with[1]));
	if (own || others)
		return text_of(view, "%s is %s%s in %s", value->expression, now, own ?: others,
			       parts_who(view, with[!own]));
	return NULL;
}

static const char *where_text(const struct view *view, const struct caused *caused)
{
	const struct name *name = names_get(view->job->names, caused->node);
	const char *by = caused->source ? text_of(view, " by `%s`", caused->source) : "";

	if (name->file && name->line > 0)
		return text_of(view, "%s:%d%s", name->file, name->line, by);
	return text_of(view, "%s%s", label_place(view, caused->node, LABEL_FULL), by);
}

static const char *function_text(const struct view *view, uint32_t node)
{
	return label_called(view, names_function(view->job->names, node), LABEL_SHORT);
}

static const char *caused_text(const struct view *view, const struct caused *caused)
{
	struct text_list list = {view->arena,
				 text_of(view, "%sparted at %s", caused->is_likely ? "likely " : "",
					 where_text(view, caused))};
	const char *separator = ": ";

	if (caused->kind == CAUSED_BY_POINTER) {
		text_list_add(&list, separator,
			      text_of(view, "%s called %s, %s %s", parts_who(view, caused->ranks),
				      function_text(view, caused->called[0]),
				      parts_who(view, caused->others),
				      function_text(view, caused->called[1])));
		separator = "; ";
	}
	for (size_t i = 0; i < caused->num_values; i++) {
		const char *text = value_text_of(view, caused, &caused->values[i]);

		if (!text)
			continue;
		text_list_add(&list, separator, text);
		separator = "; ";
	}
	if (caused->returned)
		text_list_add(&list, separator,
			      text_of(view, "it goes by what %s() returned", caused->returned));
	return list.text;
}

void view_cause(const struct view *view)
{
	const struct caused_list *list = view->answer->own;

	if (!list->num && !list->is_late)
		text_wrap(view, 0, "Not known: pdb found no branch that surely parted them.");
	for (size_t i = 0; i < list->num; i++) {
		const struct caused *caused = &list->list[i];

		text_wrap(view, 0, "%s and %s %s", parts_who(view, caused->ranks),
			  parts_who(view, caused->others), caused_text(view, caused));
	}
	if (list->is_late)
		text_wrap(
			view, 0,
			"pdb has not looked at all places: that takes too long. Name fewer ranks: "
			"\"cause RANKS\".");
}

static void write_values(const struct view *view, const struct caused *caused)
{
	struct json *json = view->json;

	json_array(json, "values");
	for (size_t i = 0; i < caused->num_values; i++) {
		const struct caused_value *value = &caused->values[i];

		json_object(json, NULL);
		json_text(json, "expression", value->expression);
		json_bool(json, "may_have_changed", value->may_have_changed);
		json_array(json, "groups");
		for (size_t k = 0; value->groups && k < value->groups->num_values; k++) {
			json_object(json, NULL);
			json_text(json, "value", value->groups->groups[k].text);
			json_ranks(json, "ranks", value->groups->groups[k].ranks);
			json_end_object(json);
		}
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_caused(const struct view *view, const struct caused *caused)
{
	static const char *const kinds[] = {"branch", "loop", "switch", "pointer"};
	const struct name *name = names_get(view->job->names, caused->node);
	struct json *json = view->json;

	json_text(json, "kind", kinds[caused->kind]);
	json_bool(json, "likely", caused->is_likely);
	json_ranks(json, "ranks", caused->ranks);
	json_ranks(json, "others", caused->others);
	json_text(json, "function", name->function);
	json_text(json, "file", name->file);
	json_int(json, "line", name->line);
	json_text(json, "source", caused->source);
	json_text(json, "returned", caused->returned);
	json_text(json, "text", caused_text(view, caused));
	write_values(view, caused);
}

/* The one place; NULL: none, or several. */
static const struct caused *find_glance(const struct view *view)
{
	const struct caused_list *list = view->answer ? view->answer->caused : NULL;

	return list && list->num == 1 ? &list->list[0] : NULL;
}

void view_cause_glance(const struct view *view, int indent)
{
	const struct caused *caused = find_glance(view);

	if (caused)
		text_wrap(view, indent, "%s: %s", parts_who(view, caused->ranks),
			  caused_text(view, caused));
}

void view_cause_glance_json(const struct view *view)
{
	const struct caused *caused = find_glance(view);

	if (!caused)
		return;
	json_object(view->json, "parted");
	write_caused(view, caused);
	json_end_object(view->json);
}

void view_cause_json(const struct view *view)
{
	const struct caused_list *list = view->answer->own;

	JSON_OBJECTS(view->json, "causes", i, list->num) {
		write_caused(view, &list->list[i]);
	}
	json_bool(view->json, "complete", !list->is_late);
}
