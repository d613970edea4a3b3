#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Several hosts on this one machine, to run MPI jobs over: made of namespaces, gone without a trace.
#
# usage: hosts.sh [-x] NUMBER [COMMAND [ARGUMENT...]]
#        hosts.sh [-w WORLD] on HOST COMMAND [ARGUMENT...]
#        hosts.sh [-w WORLD] cut | join | kill HOST
#        hosts.sh [-w WORLD] status
#
# Makes NUMBER hosts, named a, b, c..., runs the command on a (without one: a shell) in the present
# directory and removes the hosts when it ends, however it ends. Each has an address, host name,
# /proc, /dev/shm, /tmp, /run, System V IPC and sshd of its own; everything else, this script's tree
# among it, is the same on all, as if on a network file system. ssh from any to any needs no
# password, so "mpirun --host a:2,b:2 -n 4 PROGRAM" works. No network leads out of the hosts, and
# nothing of this machine is changed: keys, settings and /etc/hosts are mounted in the hosts only.
# The root file system is the one that this script runs in, that of debian/root.sh for example.
#
# With -x the command runs outside the hosts, where it sees the processes of all of them under
# other pids, and this machine's own /tmp and /dev/shm. There, and in another terminal:
#   on      runs a command on a host; cut and join pull a host's network cable and plug it in again;
#   kill    ends a host at once with all that runs on it;
#   status  shows the hosts, and which world they are of. The hosts of one call are a world, told
#           from others by the pid of its first process; WORLD is needed if there are several.
# Status: the command's; 77 when hosts cannot be made here, and why is said.
set -eu

names="a b c d e f g h i j k l m n o p"
state=/run/hosts
PATH=$PATH:/usr/sbin:/sbin

say() { echo "hosts: $*" >&2; }
refuse() { say "$*"; exit 77; }
fail() { say "$*"; exit 1; }
usage() { sed -n '/^# usage:/,/^#$/s/^# \{0,1\}//p' "$0" >&2; exit 2; }

host_names() { echo "$names" | cut -d' ' -f-"$1"; }

# ---- A host -----------------------------------------------------------------------------------

# A directory of its own in place of the one that all share; the tree stays where it is.
cover() {
	case $tree/ in
	"$1"/*)
		mkdir /run/tree
		mount --rbind "$tree" /run/tree
		mount -t tmpfs -o "mode=$2" tmpfs "$1"
		mkdir -p "$tree"
		mount --move /run/tree "$tree"
		rmdir /run/tree ;;
	*) mount -t tmpfs -o "mode=$2" tmpfs "$1" ;;
	esac
}

# Process 1 of a host. Says "made PID", with its pid outside, and then "listens" to the world.
host() {
	read -r pid _ </proc/self/stat
	cd /
	mount -t proc proc /proc
	mount -t tmpfs -o mode=755 tmpfs /run
	cover /tmp 1777
	cover /dev/shm 1777
	hostname "$name"
	ip link set dev lo up
	mkdir -p /run/lock /run/sshd
	echo "$name made $pid" >&4
	# What is orphaned here becomes a child of this shell, which reaps it while it waits.
	/usr/sbin/sshd -D -e 2>&1 4>&- | while IFS= read -r line; do
		echo "$line" >>/run/sshd.log
		case $line in
		"Server listening on"*) echo "$name listens" >&4 ;;
		esac
	done
	cat /run/sshd.log >&2
	exit 1
}

# ---- The world: all hosts of one call and the network between them ----------------------------

# Variables that MPI wants of root, for the command and for what ssh starts.
mpi_variables() {
	for variable in OMPI PRTE; do
		echo "${variable}_ALLOW_RUN_AS_ROOT=1 ${variable}_ALLOW_RUN_AS_ROOT_CONFIRM=1"
	done
}

# Keys and settings for ssh to and from root, in place of this machine's.
make_ssh() {
	mount -t tmpfs -o mode=755 tmpfs /etc/ssh
	for key in user host; do
		ssh-keygen -q -t ed25519 -N '' -C "$key" -f "/etc/ssh/${key}_key"
	done
	echo "* $(cat /etc/ssh/host_key.pub)" >/etc/ssh/ssh_known_hosts
	cat >/etc/ssh/ssh_config <<-END
		IdentityFile /etc/ssh/user_key
		IdentitiesOnly yes
		UserKnownHostsFile /dev/null
		StrictHostKeyChecking yes
		BatchMode yes
	END
	cat >/etc/ssh/sshd_config <<-END
		AddressFamily inet
		HostKey /etc/ssh/host_key
		AuthorizedKeysFile /etc/ssh/user_key.pub
		PermitRootLogin prohibit-password
		PasswordAuthentication no
		UsePAM yes
		PidFile none
		MaxStartups 100
		SetEnv LC_ALL=C.UTF-8 $(mpi_variables | tr '\n' ' ')
	END
	# Root may be locked, or have settings of its own.
	printf '%s required pam_permit.so\n' account session >/etc/ssh/pam
	mount --bind /etc/ssh/pam /etc/pam.d/sshd
	[ ! -d ~root/.ssh ] || mount -t tmpfs -o mode=700 tmpfs ~root/.ssh
	# Shells that sshd starts read it, which may take longer than the rest of an ssh.
	[ ! -e ~root/.bashrc ] || mount --bind /dev/null ~root/.bashrc
}

make_names() {
	{
		echo "127.0.0.1 localhost"
		number=0
		for name in $hosts; do
			number=$((number + 1))
			echo "10.0.0.$number $name"
		done
	} >$state/hosts
	mount --bind $state/hosts /etc/hosts
}

start_host() {
	{
		unshare --net --uts --ipc --mount --pid --fork --kill-child -- \
			sh "$self" --host "$1" "$tree" 3<&- || :
		echo "$1 ended" >$state/news
	} </dev/null &
}

# wire HOST PID: a cable from the host to the world's bridge.
wire() {
	address=$(sed -n "s/ $1\$//p" $state/hosts)
	echo "$2" >"$state/$1.pid"
	ip link add name "$1" type veth peer name eth0 netns "$2"
	ip link set dev "$1" master switch up
	nsenter --target "$2" --net sh -c \
		'echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6 2>/dev/null
		 ip address add "$0/24" dev eth0 && ip link set dev eth0 up' "$address"
}

make_hosts() {
	ip link set dev lo up
	ip link add name switch type bridge 2>$state/error && ip link set dev switch up ||
		refuse "no network between hosts: $(cat $state/error)"
	mkfifo $state/news
	# For reading and writing: it is open however few hosts have it open.
	exec 4<>$state/news
	for name in $hosts; do
		start_host "$name"
	done
	missing=$#
	while [ "$missing" -gt 0 ]; do
		read -r name what pid <&4
		case $what in
		made) wire "$name" "$pid" ;;
		listens) missing=$((missing - 1)) ;;
		ended) refuse "host $name cannot be made" ;;
		esac
	done
}

# Process 1 of the world: ignores signals that it does not catch, and reaps what is orphaned.
world() {
	trap 'exit 130' INT TERM HUP
	exec 3<&0 # a command in the background would have no standard input
	# This machine's /run has no part in it, not even mount's own notes in /run/mount.
	mount -n -t tmpfs -o mode=755 tmpfs /run
	mount -t proc proc /proc
	mkdir $state
	hosts=$(host_names "$number")
	make_ssh
	make_names
	# shellcheck disable=SC2086
	make_hosts $hosts
	: >$state/ready
	[ "$place" = outside ] || set -- sh "$self" on a "$@"
	# What a shell runs in the background ignores Ctrl-C, and would hand that on.
	env --default-signal=INT,QUIT "$@" <&3 3<&- 4<&- &
	wait $!
}

# The chain of deaths: this script's ends unshare, whose ends the world's process 1, whose ends all.
make_world() {
	[ "$(id -u)" = 0 ] || refuse "hosts are made of namespaces, which takes root"
	for program in ip:iproute2 sshd:openssh-server ssh:openssh-client setpriv:util-linux; do
		command -v "${program%:*}" >/dev/null ||
			refuse "${program%:*} is missing: apt-get install ${program#*:}"
	done
	why=$(unshare --mount --pid --net --uts --ipc --fork mount -t proc proc /proc 2>&1) ||
		refuse "no namespaces here: $why"
	[ $# -gt 0 ] || set -- "${SHELL:-/bin/sh}"
	setpriv --pdeathsig KILL unshare --mount --pid --net --fork --kill-child -- \
		sh "$self" --world "$place" "$number" "$tree" "$@"
}

# ---- What is done to hosts that are there -----------------------------------------------------

# The worlds that can be seen from here: the pid of the process 1 of each.
list_worlds() {
	grep -lszx -e --world /proc/[0-9]*/cmdline | while IFS=/ read -r _ _ pid _; do
		# Not what it forked, nor this grep: it is the first of a pid namespace below ours, or ours.
		[ "$(sed -n 's/^NSpid:.*[^0-9]//p' "/proc/$pid/status" 2>/dev/null)" != 1 ] || echo "$pid"
	done
}

# Do in the world what was asked here. In a world's own pid namespace it is process 1.
enter_world() {
	[ -n "$world" ] || world=$(list_worlds)
	case $world in
	"") fail "no hosts can be seen from here" ;;
	1) return ;;
	*[!0-9]*)
		# shellcheck disable=SC2086
		[ "$1" = status ] || fail "there are several worlds, choose one: -w" $world
		for world in $world; do
			sh "$self" -w "$world" status
		done
		exit ;;
	esac
	list_worlds | grep -qx "$world" || fail "$world is not a world of hosts"
	[ "$1" != status ] || echo "world $world"
	exec nsenter --target "$world" --all --root --wd="$PWD" \
		setpriv --pdeathsig TERM sh "$self" -w 1 "$@"
}

check_host() {
	[ -e "$state/$1.pid" ] || fail "there is no host $1"
	read -r pid <"$state/$1.pid"
	# A host that has ended may have left its pid to another process.
	[ "$(sed -n 's/^NSpid:.*[^0-9]//p' "/proc/$pid/status" 2>/dev/null)" = 1 ] ||
		fail "host $1 has ended"
}

# What runs on a host ends, by SIGTERM, when this script does.
on() {
	check_host "$1"
	shift
	# shellcheck disable=SC2046
	exec nsenter --target "$pid" --all --root --wd -- \
		setpriv --pdeathsig TERM env --unset=TMPDIR $(mpi_variables) \
		sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
}

cable() { # HOST up|down
	check_host "$1"
	ip link set dev "$1" "$2"
}

kill_host() {
	check_host "$1"
	kill -KILL "$pid"
	while (check_host "$1") 2>/dev/null; do
		sleep 0.1
	done
}

status() {
	while read -r address name; do
		[ "$name" != localhost ] || continue
		if ! (check_host "$name") 2>/dev/null; then
			echo "host $name, $address: ended"
			continue
		fi
		read -r pid <"$state/$name.pid"
		case $(ip link show dev "$name") in
		*[\<,]UP[,\>]*) link='joined' ;;
		*) link='cut' ;;
		esac
		echo "host $name, $address: $link"
	done <$state/hosts
}

self=$(realpath "$0")
tree=$(realpath "$(dirname "$self")/../..")
place=inside world=
case ${1:-} in
--world)
	place=$2 number=$3 tree=$4
	shift 4
	world "$@"
	exit ;;
--host)
	name=$2 tree=$3
	host
	exit ;;
-x)
	place=outside
	shift ;;
-w)
	world=${2:-}
	shift 2 || usage ;;
esac
case ${1:-} in
"") usage ;;
on) [ $# -ge 3 ] || usage ;;
cut | join | kill) [ $# -eq 2 ] || usage ;;
status) [ $# -eq 1 ] || usage ;;
*[!0-9]*) usage ;;
*)
	number=$1
	shift
	[ "$number" -ge 1 ] && [ -n "$(echo "$names" | cut -d' ' -f"$number")" ] || usage
	make_world "$@"
	exit ;;
esac
enter_world "$@"
[ -e $state/ready ] || fail "the hosts are not made yet"
action=$1
shift
case $action in
on) on "$@" ;;
cut) cable "$1" down ;;
join) cable "$1" up ;;
kill) kill_host "$1" ;;
status) status ;;
esac
