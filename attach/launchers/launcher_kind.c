/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"

/* What is none of the launchers that pdb knows, but has ranks below it. */
const struct launcher_kind launcher_other = {
	.name = "other launcher",
	/* It counts on one node only. */
	.is_rank_doubtful = true,
	.rank_variables = (const char *const[]){"MPI_LOCALRANKID", NULL},
};

const struct launcher_kind *const launcher_kinds[] = {
	&launcher_openmpi4,
	&launcher_prrte,
	&launcher_slurm,
	&launcher_intel,
	&launcher_hydra,
	&launcher_other,
	NULL,
};

static bool begins_with_any(const char *text, const char *const *prefixes)
{
	while (prefixes && *prefixes && strncmp(text, *prefixes, strlen(*prefixes)) != 0)
		prefixes++;
	return prefixes && *prefixes;
}

const struct launcher_kind *launcher_kind_of(const struct launcher_look *look)
{
	for (const struct launcher_kind *const *kind = launcher_kinds; *kind; kind++)
		if ((*kind)->is_one && (*kind)->is_one(look))
			return *kind;
	return NULL;
}

const struct launcher_kind *launcher_kind_of_program(const char *name)
{
	for (const struct launcher_kind *const *kind = launcher_kinds; *kind; kind++)
		for (const char *const *part = (*kind)->programs; part && *part; part++)
			if (strstr(name, *part))
				return *kind;
	return NULL;
}

const struct launcher_kind *launcher_kind_of_library(const char *name)
{
	for (const struct launcher_kind *const *kind = launcher_kinds; *kind; kind++)
		if ((*kind)->library &&
		    strncmp(name, (*kind)->library, strlen((*kind)->library)) == 0)
			return *kind;
	return NULL;
}

bool launcher_kind_has_table(const struct launcher_kind *kind)
{
	return kind->takes_pmix || kind->has_mpir;
}

bool launcher_variables_have(const struct launcher_variables *variables, const char *variable)
{
	return begins_with_any(variable, variables->prefixes) &&
	       !begins_with_any(variable, variables->but);
}

void launcher_read_step(const struct launcher_info *launcher, struct launcher_step *ret)
{
	*ret = (struct launcher_step){.job = ""};
	if (launcher->kind && launcher->kind->read_step)
		launcher->kind->read_step(launcher, ret);
}
