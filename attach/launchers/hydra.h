/* SPDX-License-Identifier: BSD-3-Clause
 * Hydra, MPICH's launcher. It keeps no table that could be read, but it starts one proxy on each
 * host, with a command line such as
 *
 *	ssh -x b "hydra_pmi_proxy" --control-port a:37763 --launcher ssh ... --pgid 0 ...
 *
 * on its own host without ssh, under Slurm by one srun for all. The control port, where mpiexec
 * listens, is the same for all proxies of a job and no other's as long as the job lives; pgid
 * counts its programs: 0, and others that it spawns. The ranks are below the proxies. */
#pragma once

#include "model/base.h"

struct daemon_site;
struct launcher_look;
struct words;

/* One on each host. Some hydras have one more on each other host, which starts it. */
#define HYDRA_PROXY "hydra_pmi_proxy"
#define HYDRA_FIRST_PROXY "hydra_bstrap_proxy"

/* Of a process that is a proxy or starts one. The texts belong to the caller. */
struct hydra_proxy {
	char *hosts;    /* where it is started: "b" or "n1,n2"; "": on this host; "?": not known */
	char *control;  /* "a:37763" */
	char *launcher; /* how proxies are started: "ssh", "slurm"; "": not known */
	int group;      /* pgid */
};

/* From a command line as in /proc/PID/cmdline: words, each with a zero byte behind it. What a shell
 * would take for several words is several. False if it has nothing to do with a proxy, or lacks
 * what tells its job from others. */
bool hydra_parse(const char *cmdline, size_t size, struct hydra_proxy *ret);
void hydra_proxy_deinit(struct hydra_proxy *proxy);

/* Does the process have such a child of the same user? One that runs the proxies of other hosts is
 * to count: there may be none on this one. */
bool hydra_has_child(const struct launcher_look *look, bool (*is)(pid_t pid));

/* .plan and .preload (launcher_kind.h) of all hydras. They hand their whole environment to the
 * ranks. */
int hydra_plan(const struct daemon_site *site, const char *hosts, size_t num, struct words *argv,
	       struct pdb_error *err);
void hydra_preload(struct words *argv, const char *value, const char *const *others);
