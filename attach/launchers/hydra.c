/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "attach/launchers/daemon_plan.h"
#include "attach/launchers/hydra.h"
#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/words.h"
#include "attach/process/maps.h"
#include "attach/process/procfs.h"
#include "model/job/proctable.h"

/* ---- Command lines ---- */

/* One name, or several with a comma between two. */
static bool are_hosts(const char *text)
{
	char *copy = xstrdup(text), *save, *name = strtok_r(copy, ",", &save);
	bool are = name;

	for (; name && are; name = strtok_r(NULL, ",", &save))
		are = host_is_name(name);
	free(copy);
	return are;
}

/* What words[proxy], the proxy's program, is started on. */
static const char *find_hosts(char **words, size_t proxy, bool is_slurm)
{
	const char *hosts, *user;

	if (proxy == 0)
		return "";
	if (is_slurm) {
		words[proxy] = NULL;
		hosts = words_value(words, "--nodelist");
	} else {
		/* The remote shell, its options, the host, perhaps a "--". */
		size_t i = proxy - 1;

		while (i > 0 && words[i][0] == '-')
			i--;
		hosts = i > 0 ? words[i] : NULL;
	}
	user = hosts ? strchr(hosts, '@') : NULL;
	hosts = user ? user + 1 : hosts;
	return hosts && are_hosts(hosts) ? hosts : "?";
}

bool hydra_parse(const char *cmdline, size_t size, struct hydra_proxy *ret)
{
	char *text = xmalloc(size + 1);
	const char *control, *group, *launcher;
	size_t proxy = 0;

	memcpy(text, cmdline, size);
	text[size] = '\0';
	/* What a shell splits. */
	for (size_t i = 0; i < size; i++)
		if (strchr(" \t\n\"'", text[i]))
			text[i] = '\0';
	char **words = words_split(text, size, true);
	while (words[proxy] && strcmp(maps_base(words[proxy]), HYDRA_PROXY) != 0)
		proxy++;
	control = words_value(words + proxy, "--control-port");
	group = words_value(words + proxy, "--pgid");
	launcher = words_value(words + proxy, "--launcher");
	bool is_one = control && strchr(control, ':');
	if (is_one) {
		ret->control = xstrdup(control);
		ret->launcher = xstrdup(launcher ? launcher : "");
		ret->group = group ? atoi(group) : 0;
		ret->hosts = xstrdup(find_hosts(words, proxy, strcmp(ret->launcher, "slurm") == 0));
	}
	free(words);
	free(text);
	return is_one;
}

void hydra_proxy_deinit(struct hydra_proxy *proxy)
{
	free(proxy->hosts);
	free(proxy->control);
	free(proxy->launcher);
}

/* A child of another user does not count: whose parent has ended is a child of process 1. */
static bool is_child(const struct procfs_stat *process, pid_t pid)
{
	return process->ppid == pid && procfs_same_user(process->pid, pid);
}

static bool parse_process(pid_t pid, struct hydra_proxy *ret)
{
	size_t size;
	char *cmdline = procfs_read(pid, "cmdline", &size);
	bool is = cmdline && hydra_parse(cmdline, size, ret);

	free(cmdline);
	return is;
}

/* ---- Hosts ---- */

/* Children of one mpiexec have one control port. In an allocation mpiexec names no nodes to the
 * srun that starts its proxies, but that one keeps a table of them. */
static void add_proxy(struct launcher_hosts *to, struct words *names, struct hydra_proxy *proxy,
		      pid_t pid, const char *here, launcher_table_hosts *srun_hosts)
{
	if (proxy->group != 0)
		return;
	if (!to->mark) {
		to->mark = xasprintf("--control-port %s --pgid 0", proxy->control);
		to->launcher = xstrdup(proxy->launcher);
	}
	if (!*proxy->hosts) {
		free(proxy->hosts);
		proxy->hosts = xstrdup(here);
	} else if (strcmp(proxy->hosts, "?") == 0 && strcmp(proxy->launcher, "slurm") == 0) {
		free(proxy->hosts);
		proxy->hosts = srun_hosts(pid);
	}
	if (!proxy->hosts || !are_hosts(proxy->hosts))
		return;
	for (char *save, *name = strtok_r(proxy->hosts, ",", &save); name;
	     name = strtok_r(NULL, ",", &save))
		words_add(names, name);
}

/* Each once, and none if there is only this one. */
static void finish(struct launcher_hosts *hosts, const struct words *names)
{
	bool has_others = false;

	hosts->names = names->words;
	if (names->num > 0)
		qsort(names->words, names->num, sizeof(*names->words), words_compare);
	for (size_t i = 0; i < names->num; i++) {
		char *name = names->words[i];

		if (hosts->num > 0 && strcmp(name, hosts->names[hosts->num - 1]) == 0) {
			free(name);
			continue;
		}
		hosts->names[hosts->num++] = name;
		has_others |= !host_is_local(name);
	}
	if (!has_others)
		launcher_hosts_deinit(hosts);
}

static void find_job_hosts(pid_t pid, launcher_table_hosts *srun_hosts, struct launcher_hosts *ret)
{
	struct launcher_hosts hosts = {.names = NULL};
	struct words names = {.words = NULL};
	size_t num;
	struct procfs_stat *list = procfs_list(&num);
	char here[256] = "";

	gethostname(here, sizeof(here) - 1);
	for (size_t i = 0; i < num; i++) {
		struct hydra_proxy proxy;

		if (!is_child(&list[i], pid) || !parse_process(list[i].pid, &proxy))
			continue;
		add_proxy(&hosts, &names, &proxy, list[i].pid, here, srun_hosts);
		hydra_proxy_deinit(&proxy);
	}
	free(list);
	finish(&hosts, &names);
	*ret = hosts;
}

/* ---- What it is ---- */

static bool is_proxy(pid_t pid)
{
	struct hydra_proxy proxy;
	char path[512];

	if (procfs_executable(pid, path, sizeof(path)) &&
	    (strncmp(maps_base(path), HYDRA_PROXY, strlen(HYDRA_PROXY)) == 0 ||
	     strncmp(maps_base(path), HYDRA_FIRST_PROXY, strlen(HYDRA_FIRST_PROXY)) == 0))
		return true;
	if (!parse_process(pid, &proxy))
		return false;
	hydra_proxy_deinit(&proxy);
	return true;
}

bool hydra_has_child(const struct launcher_look *look, bool (*is)(pid_t pid))
{
	for (size_t i = 0; i < look->num_list; i++)
		if (is_child(&look->list[i], look->pid) && is(look->list[i].pid))
			return true;
	return false;
}

static bool is_one(const struct launcher_look *look)
{
	return hydra_has_child(look, is_proxy);
}

/* ---- Daemons ---- */

/* What mpiexec was told of how to reach the nodes, and over which network. */
static const char *const hydra_options[] = {"-launcher-exec", "--launcher-exec", "-bootstrap-exec",
					    "-iface",         "--iface",         NULL};
static const char *const hydra_launchers[] = {"-launcher", "--launcher", "-bootstrap", NULL};
static const char *const hydra_variables[] = {
	"HYDRA_LAUNCHER",
	"HYDRA_LAUNCHER_EXEC",
	"HYDRA_LAUNCHER_EXTRA_ARGS",
	"HYDRA_LAUNCHER_AUTOFORK",
	"HYDRA_LAUNCHER_SSH_LIMIT",
	"HYDRA_LAUNCHER_SSH_LIMIT_TIME",
	"HYDRA_LAUNCHER_SSH_ENABLE_WARNINGS",
	"HYDRA_BOOTSTRAP",
	"HYDRA_BOOTSTRAP_EXEC",
	"HYDRA_IFACE",
	NULL,
};

int hydra_plan(const struct daemon_site *site, const char *hosts, size_t num, struct words *argv,
	       struct pdb_error *err)
{
	(void)err;
	words_add(argv, site->launcher_path);
	words_add_all(argv, (const char *const[]){"-hosts", hosts, "-ppn", "1", "-n", NULL});
	words_add_owned(argv, xasprintf("%zu", num));
	/* Which one it has found by itself may depend on variables that pdb does not have. */
	if (site->hosts && site->hosts->launcher && *site->hosts->launcher)
		words_add_all(argv,
			      (const char *const[]){"-launcher", site->hosts->launcher, NULL});
	else
		words_add_options(argv, site->launcher_argv, hydra_launchers);
	words_add_options(argv, site->launcher_argv, hydra_options);
	return 0;
}

void hydra_preload(struct words *argv, const char *value, const char *const *others)
{
	(void)others;
	words_add_all(argv, (const char *const[]){"-genv", "LD_PRELOAD", value, NULL});
}

const struct launcher_kind launcher_hydra = {
	.name = "MPICH mpiexec (hydra)",
	.is_one = is_one,
	.find_hosts = find_job_hosts,
	.rank_variables = (const char *const[]){"PMI_RANK", "MV2_COMM_WORLD_RANK", NULL},
	.size_variables = (const char *const[]){"PMI_SIZE", "MV2_COMM_WORLD_SIZE", NULL},
	.mpi = "mpich",
	.plan = hydra_plan,
	.variable_prefix = "",
	.variables = hydra_variables,
	.identity.prefixes = (const char *const[]){"PMI_", NULL},
	.programs = (const char *const[]){"hydra", "mpich", NULL},
	.preload = hydra_preload,
};
