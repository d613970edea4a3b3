#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A Debian root directory to run things in: made once by debootstrap, kept for the next time.
#
# usage: root.sh [-p "PACKAGE..."] SUITE DIR [COMMAND [ARGUMENT...]]
#
# Makes DIR a root of Debian SUITE (bookworm, trixie) if it is not one yet, installs what is missing
# of the packages, and runs the command in it, in the present directory: the tree that this script
# belongs to appears in the root at its own path. The command sees only its own processes and its
# own /dev/shm and /tmp, and nothing of it is left running or mounted when it ends, however it ends.
# Packages come from the Debian mirror that this machine's own apt is set up with; PDB_MIRROR names
# another. Status: that of the command; 77 when a root cannot be made here (not root, no network).
set -eu

say() { echo "debian/root.sh: $*" >&2; }
refuse() { say "$*"; exit 77; }

# "URI suite" of each binary source of apt, from both formats of its files.
list_sources() {
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -r "$file" ] && sed -n 's/\[[^]]*\]//; s/^[ \t]*deb[ \t][ \t]*//p' "$file"
	done | awk '{ print $1, $2 }'
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -r "$file" ] && { grep -v '^#' "$file"; echo; }
	done | awk '
		function flush(   i, j, uri, suite, n, m) {
			n = split(uris, uri, " "); m = split(suites, suite, " ")
			if (enabled && types ~ /(^| )deb( |$)/)
				for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) print uri[i], suite[j]
			uris = suites = types = ""; enabled = 1
		}
		BEGIN { enabled = 1 }
		/^[ \t]*$/ { flush(); next }
		/^[ \t]/ { if (key == "uris:") uris = uris " " $0; if (key == "suites:") suites = suites " " $0
			     next }
		{ key = tolower($1); value = $0; sub(/^[^:]*:[ \t]*/, "", value) }
		key == "types:" { types = value }
		key == "uris:" { uris = value }
		key == "suites:" { suites = value }
		key == "enabled:" && tolower(value) ~ /^(no|false|0)/ { enabled = 0 }
		END { flush() }'
}

# The mirror of the main archive: where this Debian's own release comes from.
find_mirror() {
	[ -n "${PDB_MIRROR:-}" ] && { echo "$PDB_MIRROR"; return; }
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	{ list_sources
	  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Identifier: Packages' 2>/dev/null || :
	} | while read -r uri suite; do
		case $suite in
		"$codename" | stable | oldstable | testing | unstable | sid) ;;
		*) continue ;;
		esac
		case $uri in
		mirror+file:*) sed -n '/^[a-z]*:/{s/[ \t].*//;p;q}' "${uri#mirror+file:}" ;;
		mirror*) continue ;;
		*) echo "$uri" ;;
		esac
		break
	done
}

bootstrap() {
	command -v debootstrap >/dev/null || refuse "debootstrap is missing: apt-get install debootstrap"
	mirror=$(find_mirror)
	[ -n "$mirror" ] || refuse "apt's sources name no Debian mirror; set PDB_MIRROR to one"
	say "making a $suite root in $dir (once; kept for the next time)"
	rm -rf --one-file-system "$dir.part" "$dir"
	mkdir -p "$dir.part"
	proxy=$(apt-config dump 2>/dev/null | sed -n 's/^Acquire::http::Proxy "\(.*\)";$/\1/p')
	http_proxy=${http_proxy:-$proxy} debootstrap --variant=minbase "$suite" "$dir.part" "$mirror" \
		>"$dir.log" 2>&1 || {
		tail -n 5 "$dir.log" >&2
		refuse "debootstrap failed, no network or mirror without $suite? ($dir.log)"
	}
	[ -z "$proxy" ] || echo "Acquire::http::Proxy \"$proxy\";" >"$dir.part/etc/apt/apt.conf.d/10proxy"
	# No service is started in the root, no package's documentation is wanted, but examples are.
	printf '#!/bin/sh\nexit 101\n' >"$dir.part/usr/sbin/policy-rc.d"
	chmod 755 "$dir.part/usr/sbin/policy-rc.d"
	# Nobody needs it after a power failure.
	echo force-unsafe-io >"$dir.part/etc/dpkg/dpkg.cfg.d/unsafe-io"
	# Another one that waits for it may have made the empty directory again.
	mv -T "$dir.part" "$dir"
}

# Runs in namespaces of its own: mount what programs need and enter the root.
enter() {
	mount --bind "$dir" "$dir"
	mount -t proc proc "$dir/proc"
	mount --rbind /sys "$dir/sys"
	mount --rbind /dev "$dir/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$dir/dev/shm"
	# Process ids start again from 1 each time, so a session directory that mpirun left behind by
	# a crash would bear the name of the next one's.
	mount -t tmpfs -o mode=1777 tmpfs "$dir/tmp"
	cp -L /etc/resolv.conf "$dir/etc/resolv.conf" 2>/dev/null || :
	{ echo "127.0.0.1 localhost"; echo "127.0.1.1 $(hostname)"; } >"$dir/etc/hosts"
	mkdir -p "$dir$tree"
	mount --bind "$tree" "$dir$tree"
	# A root kept inside the tree would show itself in itself, without end for what walks /.
	case $dir in
	"$tree"/*) mount -t tmpfs -o size=4k,mode=555 tmpfs "$dir$dir" ;;
	esac
	# Process 1 of the namespace ignores signals that it does not catch, and reaps the others.
	trap 'exit 130' INT TERM HUP
	exec 3<&0 # a command in the background would have no standard input
	# What a shell runs in the background ignores Ctrl-C, and would hand that on.
	env -i --default-signal=INT,QUIT \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive PDB_ROOT_DIR="$PWD" \
		OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		chroot "$dir" /bin/sh -c 'cd "$PDB_ROOT_DIR" && unset PDB_ROOT_DIR && exec "$@"' \
		sh "$@" <&3 3<&- &
	wait $!
}

# The chain of deaths: this script's ends unshare, whose ends process 1, whose ends all the others.
run() {
	setpriv --pdeathsig KILL unshare --mount --pid --ipc --fork --kill-child -- \
		sh "$self" --enter "$dir" "$tree" "$@"
}

install_packages() {
	missing=
	for package in $packages; do
		grep -q "^$package\$" "$dir/.packages" 2>/dev/null || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	say "installing in $dir:$missing"
	# What an interrupted run has left half-installed comes first.
	# shellcheck disable=SC2086
	if ! run sh -c 'dpkg --configure -a && apt-get update -qq &&
		apt-get install -qq -y --no-install-recommends "$@" && apt-get clean' \
		sh $missing >"$dir.log" 2>&1; then
		tail -n 5 "$dir.log" >&2
		refuse "apt-get in $dir failed: no network? ($dir.log)"
	fi
	for package in $missing; do echo "$package"; done >>"$dir/.packages"
}

self=$(realpath "$0")
if [ "${1:-}" = --enter ]; then
	dir=$2 tree=$3
	shift 3
	enter "$@"
	exit
fi
packages=
if [ "${1:-}" = -p ]; then
	packages=$2
	shift 2
fi
[ $# -ge 2 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
[ "$(id -u)" = 0 ] || refuse "making and entering a Debian root takes root: run this as root"
suite=$1
mkdir -p "$2"
dir=$(realpath "$2")
tree=$(realpath "$(dirname "$self")/../..")
shift 2
[ "$dir" != / ] || { say "refusing to touch /"; exit 2; }

# One at a time may make or change it; any number may use it.
exec 9>"$dir.lock"
flock 9
if [ ! -f "$dir/.packages" ]; then
	bootstrap
	: >"$dir/.packages"
fi
install_packages
flock -u 9
exec 9>&-
[ $# -eq 0 ] || run "$@"
