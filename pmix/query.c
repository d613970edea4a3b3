/* SPDX-License-Identifier: BSD-3-Clause
 * A PRRTE server lists as namespaces its jobs ("prterun-login1-4019@1") and every tool that is
 * connected to it, us included. Only jobs have a process table. */
#include <pmix_tool.h>

#include "model/job/proctable.h"
#include "pmix/query.h"
#include "pmix/rendezvous.h"

#define NUM_DIRECTIVES 4 /* of a spawn */

static int set_pmix_error(struct pdb_error *err, const char *what, pmix_status_t status)
{
	enum error_code code = ERROR_SYSTEM;

	switch (status) {
	case PMIX_ERR_TIMEOUT:
		code = ERROR_TIMEOUT;
		break;
	case PMIX_ERR_NOT_FOUND:
		code = ERROR_NOT_FOUND;
		break;
	case PMIX_ERR_NO_PERMISSIONS:
#ifdef PMIX_ERR_INVALID_CRED
	case PMIX_ERR_INVALID_CRED:
#endif
		code = ERROR_PERMISSION;
		break;
	case PMIX_ERR_UNREACH:
	case PMIX_ERR_LOST_CONNECTION:
		code = ERROR_GONE;
		break;
	}
	return error_set(err, code, "%s: PMIx says %s", what, PMIx_Error_string(status));
}

static int connect_to(const struct rendezvous *server, pmix_proc_t *self_ret, struct pdb_error *err)
{
	pmix_info_t info[4];
	size_t num_info = 0;
	pmix_status_t status;

#ifdef PMIX_TOOL_ATTACHMENT_FILE
	PMIX_INFO_LOAD(&info[num_info++], PMIX_TOOL_ATTACHMENT_FILE, server->path, PMIX_STRING);
#else
	PMIX_INFO_LOAD(&info[num_info++], PMIX_SERVER_PIDINFO, &server->pid, PMIX_PID);
#endif
#ifdef PMIX_CONNECT_MAX_RETRIES
	uint32_t retries = 1;
	PMIX_INFO_LOAD(&info[num_info++], PMIX_CONNECT_MAX_RETRIES, &retries, PMIX_UINT32);
#endif
#ifdef PMIX_IOF_LOCAL_OUTPUT
	/* The job's output belongs to mpirun's terminal, not here. */
	bool local_output = false;
	PMIX_INFO_LOAD(&info[num_info++], PMIX_IOF_LOCAL_OUTPUT, &local_output, PMIX_BOOL);
#endif
	status = PMIx_tool_init(self_ret, info, num_info);
	for (size_t i = 0; i < num_info; i++)
		PMIX_INFO_DESTRUCT(&info[i]);
	if (status == PMIX_ERR_UNREACH)
		return error_set(err, ERROR_GONE,
				 "nobody answers at the address that %s names: process %d is "
				 "ending, or has just started; run pdb again in a few seconds",
				 server->path, server->pid);
	if (status != PMIX_SUCCESS)
		return set_pmix_error(err, "cannot connect to the launcher as a tool", status);
	return 0;
}

static pmix_status_t ask(const char *key, const char *nspace, pmix_info_t **results_ret,
			 size_t *num_results_ret)
{
	pmix_query_t query;
	pmix_status_t status;

	PMIX_QUERY_CONSTRUCT(&query);
	PMIX_ARGV_APPEND(status, query.keys, key);
	if (nspace) {
		PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
		PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_NSPACE, nspace, PMIX_STRING);
	}
	*results_ret = NULL;
	*num_results_ret = 0;
	status = PMIx_Query_info(&query, 1, results_ret, num_results_ret);
	PMIX_QUERY_DESTRUCT(&query);
	/* Some servers call an answer to the only question asked a partial success. */
	return status == PMIX_QUERY_PARTIAL_SUCCESS ? PMIX_SUCCESS : status;
}

/* The comma-separated names of all namespaces, tools' included; the caller frees it. */
static int ask_namespaces(char **ret, struct pdb_error *err)
{
	pmix_info_t *results;
	size_t num_results;
	char *names = NULL;
	pmix_status_t status = ask(PMIX_QUERY_NAMESPACES, NULL, &results, &num_results);

	if (status != PMIX_SUCCESS)
		return set_pmix_error(err, "cannot ask the launcher for its jobs", status);
	for (size_t i = 0; i < num_results && !names; i++)
		if (results[i].value.type == PMIX_STRING && results[i].value.data.string)
			names = xstrdup(results[i].value.data.string);
	PMIX_INFO_FREE(results, num_results);
	*ret = names ? names : xstrdup("");
	return 0;
}

/* Answers may be wrapped once more, in an array of infos. NULL: no process table in there. */
static const pmix_data_array_t *find_table(const pmix_info_t *results, size_t num_results)
{
	for (size_t i = 0; i < num_results; i++) {
		const pmix_data_array_t *array = results[i].value.data.darray;

		if (results[i].value.type != PMIX_DATA_ARRAY || !array)
			continue;
		if (array->type == PMIX_INFO)
			array = find_table(array->array, array->size);
		if (array && array->type == PMIX_PROC_INFO)
			return array;
	}
	return NULL;
}

/* NULL if the namespace has no process table, so is no job. Sets whether any process lives. */
static struct proctable *ask_table(const char *nspace, bool *is_alive_ret)
{
	pmix_info_t *results;
	size_t num_results;
	struct proctable *table = NULL;
	pmix_status_t status = ask(PMIX_QUERY_PROC_TABLE, nspace, &results, &num_results);
	const pmix_data_array_t *array =
		status == PMIX_SUCCESS ? find_table(results, num_results) : NULL;

	*is_alive_ret = false;
	if (array && array->size > 0) {
		const pmix_proc_info_t *infos = array->array;

		table = proctable_create();
		table->job = xstrdup(nspace);
		for (size_t i = 0; i < array->size; i++) {
			bool is_alive = infos[i].state < PMIX_PROC_STATE_UNTERMINATED;
			const struct proc proc = {
				.rank = infos[i].proc.rank,
				.pid = infos[i].pid > 0 ? infos[i].pid : 0,
				.host = infos[i].hostname,
				.executable = infos[i].executable_name,
				.has_ended = !is_alive,
			};

			proctable_add_like(table, &proc);
			*is_alive_ret |= is_alive;
		}
	}
	if (results)
		PMIX_INFO_FREE(results, num_results);
	return table;
}

/* Names of jobs end in "@" and a number that counts up. */
static unsigned long number_of(const char *name)
{
	const char *number = strrchr(name, '@');

	return number ? strtoul(number + 1, NULL, 10) : 0;
}

/* Is job `a` rather meant than job `b`? An mpirun has one job, which may have spawned the others;
 * who starts jobs in a launcher that stays asks for the latest. */
static bool is_rather_meant(const char *a, const char *b)
{
	bool has_one = strncmp(a, "prterun-", strlen("prterun-")) == 0;

	return has_one ? number_of(a) < number_of(b) : number_of(a) > number_of(b);
}

/* Ask for the tables of all namespaces and keep the one wanted. */
static struct proctable *choose_job(char *namespaces, const char *self, const char *wanted,
				    int *num_jobs_ret)
{
	struct proctable *chosen = NULL;
	bool chosen_alive = false;
	char *save;

	*num_jobs_ret = 0;
	for (char *name = strtok_r(namespaces, ",", &save); name;
	     name = strtok_r(NULL, ",", &save)) {
		bool is_alive;

		if (strcmp(name, self) == 0 || (wanted && strcmp(name, wanted) != 0))
			continue;
		struct proctable *table = ask_table(name, &is_alive);
		if (!table)
			continue;
		if (proctable_is_daemons(table)) {
			proctable_destroy(table);
			continue;
		}
		++*num_jobs_ret;
		if (!chosen || (is_alive && !chosen_alive) ||
		    (is_alive == chosen_alive && is_rather_meant(name, chosen->job))) {
			proctable_destroy(chosen);
			chosen = table;
			chosen_alive = is_alive;
		} else {
			proctable_destroy(table);
		}
	}
	return chosen;
}

int query_proctable(const struct rendezvous *server, const char *nspace, struct proctable **ret,
		    struct pdb_error *err)
{
	pmix_proc_t self;
	char *namespaces = NULL;
	int num_jobs = 0;

	if (connect_to(server, &self, err) != 0 || ask_namespaces(&namespaces, err) != 0)
		return -1;
	struct proctable *table = choose_job(namespaces, self.nspace, nspace, &num_jobs);
	free(namespaces);
	if (!table && nspace)
		return error_set(err, ERROR_NOT_FOUND, "process %d has no job %s", server->pid,
				 nspace);
	if (!table)
		return error_set(err, ERROR_NOT_FOUND,
				 "process %d has no job yet; if it has just started, run pdb again "
				 "in a few seconds",
				 server->pid);
	if (num_jobs > 1)
		table->source_note = xasprintf("one of %d jobs that the launcher has", num_jobs);
	*ret = table;
	return 0;
}

/* Daemons of a debugger are no part of the job: the server counts no slots for them. A daemon that
 * dies is to be nobody's failure: without "recoverable" Open MPI 5.0.7 reports one that was killed
 * on the job's terminal, ends the others, and returns its status as that of a job that ended
 * well. */
static void load_spawn_directives(pmix_info_t info[NUM_DIRECTIVES], const char *nspace)
{
	pmix_proc_t target;
	uint16_t num_per_node = 1;
	bool yes = true;

	PMIX_LOAD_PROCID(&target, nspace, PMIX_RANK_WILDCARD);
	PMIX_INFO_LOAD(&info[0], PMIX_DEBUGGER_DAEMONS, &yes, PMIX_BOOL);
	PMIX_INFO_LOAD(&info[1], PMIX_DEBUG_TARGET, &target, PMIX_PROC);
	PMIX_INFO_LOAD(&info[2], PMIX_DEBUG_DAEMONS_PER_NODE, &num_per_node, PMIX_UINT16);
	PMIX_INFO_LOAD(&info[3], PMIX_JOB_RECOVERABLE, &yes, PMIX_BOOL);
}

int query_spawn(const struct rendezvous *server, const char *nspace, const char *program,
		const char *const *environment, char **ret, struct pdb_error *err)
{
	pmix_proc_t self;
	pmix_nspace_t spawned;
	pmix_app_t app;
	pmix_info_t info[NUM_DIRECTIVES];
	pmix_status_t status;

	if (connect_to(server, &self, err) != 0)
		return -1;
	PMIX_APP_CONSTRUCT(&app);
	app.cmd = strdup(program); /* freed by PMIx */
	PMIX_ARGV_APPEND(status, app.argv, program);
	for (; *environment; environment++)
		PMIX_ARGV_APPEND(status, app.env, *environment);
	app.maxprocs = 0; /* one per node, as directed */
	load_spawn_directives(info, nspace);
	status = PMIx_Spawn(info, NUM_DIRECTIVES, &app, 1, spawned);
	for (int i = 0; i < NUM_DIRECTIVES; i++)
		PMIX_INFO_DESTRUCT(&info[i]);
	PMIX_APP_DESTRUCT(&app);
	if (status != PMIX_SUCCESS)
		return set_pmix_error(err, "the launcher cannot start daemons", status);
	*ret = xstrdup(spawned);
	return 0;
}

void query_disconnect(void)
{
	PMIx_tool_finalize(); /* refuses politely when not initialized */
}
