/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/codec.h"
#include "model/job/variables.h"
#include "model/wire/variable_bytes.h"

static void variable_fields(struct codec *c, struct variable *variable)
{
	uint64_t bits;

	memcpy(&bits, &variable->number, sizeof(bits));
	CODEC(c, variable->depth);
	CODEC_BELOW(c, variable->kind, VARIABLE_GLOBAL);
	CODEC_FLAGS(c, &variable->has_value, &variable->is_number);
	if (variable->is_number)
		CODEC(c, bits);
	CODEC_TEXT(c, variable->name);
	CODEC_OPTIONAL(c, variable->type);
	CODEC_TEXT(c, variable->text);
	if (c->from && variable->is_number)
		memcpy(&variable->number, &bits, sizeof(bits));
}

void variable_bytes(struct codec *c, struct variables **variables)
{
	struct variables *of = c->to ? *variables : variables_create();

	CODEC_TABLE(c, of->list, of->num, VARIABLES_MAX, 6);
	for (size_t i = 0; i < of->num && codec_goes_on(c); i++)
		variable_fields(c, &of->list[i]);
	*variables = of;
}
