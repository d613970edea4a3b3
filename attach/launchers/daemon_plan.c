/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/launchers/daemon_plan.h"
#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/words.h"
#include "model/job/proctable.h"

/* The kernel takes no longer word of a command line. */
#define WORD_MAX (128 * 1024 - 1)

const char **daemon_plan_hosts(const struct proctable *table, const struct launcher_hosts *known,
			       size_t *num_ret)
{
	bool is_known = known && known->num > 0;
	size_t num_all = is_known ? known->num : table->num_procs, num = 0;
	const char **hosts = xcalloc(num_all + 1, sizeof(*hosts));

	for (size_t i = 0; i < num_all; i++)
		hosts[i] = is_known ? known->names[i] : table->procs[i].host;
	qsort(hosts, num_all, sizeof(*hosts), words_compare);
	for (size_t i = 0; i < num_all; i++)
		if (num == 0 || strcmp(hosts[i], hosts[num - 1]) != 0)
			hosts[num++] = hosts[i];
	*num_ret = num;
	return hosts;
}

/* Take out those to be avoided (NULL: none); the number left. */
static size_t avoid(const char **hosts, size_t num, const char *const *avoided)
{
	size_t left = 0;

	for (size_t i = 0; i < num; i++)
		if (!avoided || !words_are_one(hosts[i], strlen(hosts[i]), avoided))
			hosts[left++] = hosts[i];
	return left;
}

/* "a:1,b:1" with a suffix of ":1". NULL: too long. */
static char *join_hosts(const char *const *hosts, size_t num, const char *suffix)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < num; i++)
		fprintf(out, "%s%s%s", i > 0 ? "," : "", hosts[i], suffix);
	fclose(out);
	if (size <= WORD_MAX)
		return text;
	free(text);
	return NULL;
}

/* ---- What is taken over from the launcher: what its entry names, and nothing else ---- */

/* The variables whose names, behind the prefix, are of these. */
static void add_variables(struct words *words, const char *const *environment, const char *prefix,
			  const char *const *names)
{
	for (; environment && *environment; environment++) {
		const char *name = *environment + strlen(prefix);

		if (strncmp(*environment, prefix, strlen(prefix)) == 0 && strchr(name, '=') &&
		    words_are_one(name, strcspn(name, "="), names))
			words_add(words, *environment);
	}
}

/* What all daemons are to have. One daemon on a node needs no shared memory, which would leave
 * files behind when it is killed; the network that the ranks compute with is theirs. */
static char **make_environment(const struct daemon_site *site, const struct daemon_plan *plan)
{
	const char *const *theirs = site->launcher_environment;
	struct words words = {.words = NULL};

	/* The daemons' MPI may be another launcher's. */
	for (size_t i = 0; launcher_kinds[i] && plan->way == DAEMONS_COMMAND; i++)
		if (launcher_kinds[i]->variables)
			add_variables(&words, theirs, launcher_kinds[i]->variable_prefix,
				      launcher_kinds[i]->variables);
	if (plan->allocation && plan->allocation != site->kind->allocation) {
		add_variables(&words, theirs, "", plan->allocation->variables);
		words_add(&words, plan->allocation->added);
	}
	words_add_owned(&words, xasprintf(PDBD_ENV_INVITATION "=%s", site->invitation));
	words_add(&words, "PDB_RECORD=0");
	words_add(&words, "LD_PRELOAD=");
	if (strcmp(site->mpi, "openmpi") == 0) {
		words_add(&words, "OMPI_MCA_pml=ob1");
		words_add(&words, "OMPI_MCA_btl=self,tcp");
		words_add(&words, "OMPI_MCA_osc=^ucx");
		words_add(&words, "OMPI_MCA_mpi_yield_when_idle=1");
		/* Open MPI 5 has the launcher say on the job's terminal that a daemon was lost. */
		words_add(&words, "OMPI_MCA_btl_base_warn_peer_error=0");
	} else {
		/* MPICH from 4.2 on; before, it is TCP anyway. */
		words_add(&words, "UCX_TLS=self,tcp");
	}
	return words.words;
}

static int plan_command(const struct daemon_site *site, struct daemon_plan *plan,
			const char *const *hosts, struct pdb_error *err)
{
	const struct launcher_kind *kind = site->kind;
	struct words argv = {.words = NULL};
	char *names;

	if (!kind->plan)
		return error_set(err, ERROR_UNSUPPORTED,
				 "pdb cannot start programs on the nodes of a job of \"%s\"; it "
				 "looks only at the ranks of its own node",
				 kind->name);
	names = join_hosts(hosts, plan->num_hosts, kind->host_suffix ? kind->host_suffix : "");
	if (!names)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the names of %zu hosts do not fit on a command line",
				 plan->num_hosts);
	int result = kind->plan(site, names, plan->num_hosts, &argv, err);
	free(names);
	if (result != 0) {
		words_free(argv.words);
		return -1;
	}
	words_add(&argv, plan->program);
	plan->argv = argv.words;
	return 0;
}

/* That which the launcher is in, or makes. */
static const struct launcher_allocation *find_allocation(const struct daemon_site *site)
{
	for (size_t i = 0; launcher_kinds[i]; i++) {
		const struct launcher_allocation *allocation = launcher_kinds[i]->allocation;

		if (allocation && (site->kind == launcher_kinds[i] ||
				   words_variable(site->launcher_environment, allocation->mark)))
			return allocation;
	}
	return NULL;
}

int daemon_plan_make(const struct daemon_site *site, struct daemon_plan *ret, struct pdb_error *err)
{
	struct daemon_plan plan = {.way = DAEMONS_NONE};
	const char **hosts = daemon_plan_hosts(site->table, site->hosts, &plan.num_hosts);
	bool is_here = !site->hosts || site->hosts->num == 0;
	int result = 0;

	for (size_t i = 0; i < site->table->num_procs; i++)
		is_here &= site->table->procs[i].is_local;
	plan.num_hosts = avoid(hosts, plan.num_hosts, site->avoided);
	if (!is_here) {
		plan.program = xasprintf("%s/" PROCTABLE_DAEMON "%s", site->pdbd_folder, site->mpi);
		plan.kind = site->kind;
		plan.way = site->kind->takes_pmix ? DAEMONS_SPAWN : DAEMONS_COMMAND;
		if (plan.way == DAEMONS_COMMAND)
			plan.allocation = find_allocation(site);
		plan.environment = make_environment(site, &plan);
		if (plan.way == DAEMONS_COMMAND)
			result = plan_command(site, &plan, hosts, err);
	}
	free(hosts);
	if (result != 0)
		daemon_plan_deinit(&plan);
	else
		*ret = plan;
	return result;
}

void daemon_plan_deinit(struct daemon_plan *plan)
{
	free(plan->program);
	words_free(plan->argv);
	words_free(plan->environment);
	*plan = (struct daemon_plan){.way = DAEMONS_NONE};
}
