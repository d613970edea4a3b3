#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A real Slurm on hosts that tests/hosts/hosts.sh makes: slurmctld on host a, slurmd on all of them.
#
# usage: slurm.sh [-x] NUMBER [COMMAND [ARGUMENT...]]
#
# Makes NUMBER hosts, starts Slurm on them, runs the command on a (without one: a shell) when all
# nodes are idle, and removes everything when it ends, however it ends. With -x the command runs
# outside of the hosts (see hosts.sh). The nodes are named as the hosts and claim to have 16
# processors each. A program must be in the tree, as each host has its own /tmp:
#	sh tests/slurm/slurm.sh 2 srun -N 2 -n 4 --mpi=pmix_v4 build/tests/mpi/nested-openmpi
# Slurm's files are in /run/slurm of each host and its settings in /etc/slurm, both mounted in the
# hosts only. A Slurm that this machine itself runs is not touched.
# Status: the command's; 77 when hosts cannot be made here, and why is said.
set -eu

PATH=$PATH:/usr/sbin:/sbin
self=$(realpath "$0")
state=/run/slurm

say() { echo "slurm: $*" >&2; }
fail() { say "$*"; exit 1; }
usage() { sed -n '/^# usage:/,/^#$/s/^# \{0,1\}//p' "$0" >&2; exit 2; }

host_names() { awk '$2 != "localhost" { print $2 }' /etc/hosts; }

# ---- On each host -----------------------------------------------------------------------------

write_settings() {
	mount -t tmpfs -o mode=755 tmpfs /etc/slurm
	# Slurm 22 cannot do without control groups: these are a folder that means nothing.
	mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
	echo CgroupPlugin=cgroup/v1 >/etc/slurm/cgroup.conf
	cat >/etc/slurm/slurm.conf <<-END
		ClusterName=pdb
		SlurmctldHost=$(host_names | head -n 1)
		SlurmUser=root
		AuthType=auth/munge
		StateSaveLocation=$state/controller
		SlurmdSpoolDir=$state/spool
		SlurmctldPidFile=$state/slurmctld.pid
		SlurmdPidFile=$state/slurmd.pid
		SlurmctldLogFile=$state/slurmctld.log
		SlurmdLogFile=$state/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		MpiDefault=none
		ReturnToService=2
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SlurmdParameters=config_overrides
		# A loaded machine is no broken network.
		TCPTimeout=30
		MessageTimeout=60
		KillWait=5
		NodeName=$(host_names | paste -sd,) CPUs=16 State=UNKNOWN
		PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
}

# The key that all hosts share comes from standard input.
start_node() {
	mkdir -p $state /run/munge
	write_settings
	(umask 077 && cat >$state/munge.key)
	munged --force --key-file=$state/munge.key --seed-file=$state/munge.seed \
		--log-file=$state/munged.log --pid-file=$state/munged.pid
	[ "$(hostname)" != "$(host_names | head -n 1)" ] || slurmctld
	slurmd
}

# ---- On the first host ------------------------------------------------------------------------

are_idle() { [ "$(sinfo -h -o '%D %t' 2>/dev/null)" = "$(host_names | wc -l) idle" ]; }

show_logs() {
	for name in $(host_names); do
		echo "--- $name"
		ssh "$name" tail -n 20 $state/slurmctld.log $state/slurmd.log 2>/dev/null
	done >&2
}

start_slurm() {
	key=$(head -c 256 /dev/urandom | base64)
	for name in $(host_names); do
		echo "$key" | ssh "$name" sh "$self" --node || fail "Slurm does not start on host $name"
	done
	tries=600
	until are_idle; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { show_logs; fail "the nodes do not come up"; }
		sleep 0.1
	done
}

place=
case ${1:-} in
--node)
	start_node
	exit ;;
--start)
	start_slurm
	exit ;;
--inside)
	shift
	start_slurm
	exec "$@" ;;
--outside)
	shift
	sh "$(dirname "$self")/../hosts/hosts.sh" on a sh "$self" --start
	exec "$@" ;;
-x)
	place=-x
	shift ;;
esac
case ${1:-} in
"" | *[!0-9]*) usage ;;
esac
number=$1
shift
for program in munged:munge slurmctld:slurmctld slurmd:slurmd srun:slurm-client; do
	command -v "${program%:*}" >/dev/null ||
		fail "${program%:*} is missing: apt-get install ${program#*:}"
done
[ $# -gt 0 ] || set -- "${SHELL:-/bin/sh}"
if [ -n "$place" ]; then
	exec sh "$(dirname "$self")/../hosts/hosts.sh" -x "$number" sh "$self" --outside "$@"
fi
exec sh "$(dirname "$self")/../hosts/hosts.sh" "$number" sh "$self" --inside "$@"
