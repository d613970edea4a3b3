# SPDX-License-Identifier: BSD-3-Clause
# Commands side by side, for the scripts that run tests. Source it. Each is a process group: what a shell
# runs in the background would ignore Ctrl-C, which goes on to all of them here.
beside=()

# beside COMMAND...: start it.
beside() {
	set -m
	"$@" &
	set +m
	beside+=($!)
}

# Until all of them have ended.
wait_beside() {
	wait "${beside[@]}"
	beside=()
}

end_beside() {
	trap - INT TERM
	for group in "${beside[@]}"; do
		kill -INT -- "-$group" 2>/dev/null
	done
	wait
	exit 130
}
trap end_beside INT TERM
