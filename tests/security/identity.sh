#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Root looks at jobs of user 65534, whose launchers say what is to be started and where: nothing of it is.
# To the user himself pdb obeys, as far as it knows the words.
# usage: identity.sh BUILD. Ends with the line: N passed, N failed.
set -u
build=$(realpath "$1")
. tests/suite/checks.bash
skip() { echo "skip: $*"; echo "0 passed, 0 failed"; exit 0; }
{ [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; } || skip "this takes root, to be another user"
# Whose job is the only one here is to be known; and all of them end with this script.
alone=(unshare --fork --pid --mount --ipc --mount-proc --kill-child=KILL)
if [ -z "${is_alone-}" ]; then
	"${alone[@]}" true 2>/dev/null || skip "there can be no namespaces here"
	is_alone=yes exec "${alone[@]}" bash "$0" "$@"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/owner" "$work/root" "$work/bin"
chmod 755 "$work" && chown 65534:65534 "$work/owner"
cp "$build/pdb" "$build"/pdbd-* "$build"/libpdbrec-*.so "$work/"
cp "$build/tests/security/launcher" "$work/owner/mpirun" && cp "$work/owner/mpirun" "$work/owner/srun"
cp "$build/tests/security/names-mpich" "$work/owner/names" && cp "$build/tests/watch/phases-mpich" "$work/owner/phases"
truncate -s 4096 "$work/owner/libopen-rte.so.40" "$work/owner/libslurm.so.38"
chown -R 65534:65534 "$work/owner"
user=$(id -un 65534)

as() {
	local user=$1
	shift
	setpriv --reuid="$user" --regid="$user" --clear-groups env -u XDG_RUNTIME_DIR HOME="$work/owner" \
		TMPDIR="$work/owner" PDB_SEGMENT_DIR="$work/owner" PATH="$work/bin:$PATH" "$@"
}
pdb_as() {
	local user=$1
	shift
	HOME=$work/root PATH="$work/bin:$PATH" timeout -s INT "${seconds-30}" \
		$([ "$user" = 0 ] || echo setpriv "--reuid=$user" "--regid=$user" --clear-groups env HOME="$work/owner") \
		"$work/pdb" "$@" >"$work/said" 2>&1 </dev/null
}
says() { grep -Eq -e "$1" "$work/said"; }
explain() { tail -n 20 "$work/said" "$work/server" "$work"/owner/*.ran 2>/dev/null | cat -v; echo; }
one_line() { tr '\n' ' ' <"$work/said" | tr -s ' ' >"$work/line" && mv "$work/line" "$work/said"; }
none_left() { ! pgrep -f "$work/owner/" >/dev/null; }
end_job() {
	pkill -KILL -f "$work/owner/"
	wait_for none_left
	rm -f "$work"/owner/*.ran
}

# ---- A made-up launcher ---------------------------------------------------------------------------

# make_up NAME LIBRARY HOST [PROGRAM...]: sets $launcher.
make_up() {
	: >"$work/out"
	as 65534 setsid "$work/owner/$1" "$work/owner/$2" "${@:3}" >"$work/out" 2>&1 &
	wait_for grep -q ready "$work/out"
	launcher=$(pgrep -o -f "^$work/owner/$1 ")
}
has_not_run() { [ ! -e "$work/owner/$1.ran" ]; }
has_run_as() { [ "$(sort -u "$work/owner/$1.ran" 2>/dev/null)" = "uid $2" ]; }

cd "$work/root" || exit 1
make_up mpirun libopen-rte.so.40 elsewhere
pdb_as 0 --pid "$launcher" --batch -ex "info job" -ex "info ranks" -ex "bt all" -ex "gdb 1 -ex bt"
check "root's pdb does not run a user's launcher" has_not_run mpirun
check "and sees the rank of this host" says "sleep"
one_line
check "it says whose job it is" says "belongs to $user, .*; run pdb as $user"
check "and which rank is a hole for that" says "rank 1: on host elsewhere: the job belongs to $user"
seconds=4 pdb_as 0 watch --pid "$launcher"
check "nor does watching" has_not_run mpirun
check "which watches what is here" says "watch"
pdb_as 0 --batch -ex "info ranks"
check "root's pdb alone does not go to a user's job" says "another user's: choose it with --pid $launcher"
check "and shows it" says "$launcher +$user +"
check "and nothing of it" has_not_run mpirun
pdb_as 65534 --batch -ex "info ranks"
check "its own user's pdb does, and obeys the launcher" has_run_as mpirun 65534
end_job

# A user of several ids is not one of them.
as_two() { setpriv --ruid=65534 --euid=0 --rgid=65534 --clear-groups --bounding-set=-all "$@"; }
: >"$work/out"
as_two "$work/owner/mpirun" "$work/owner/libopen-rte.so.40" elsewhere >"$work/out" 2>&1 &
wait_for grep -q ready "$work/out"
launcher=$(pgrep -o -f "^$work/owner/mpirun ")
pdb_as 0 --pid "$launcher" --batch -ex "info ranks"
check "nor is one that has a user's rights beside root's" has_not_run mpirun
end_job

# A rank of a user's is no process of root's, whatever his table says.
OMPI_COMM_WORLD_RANK=1 sleep 999 &
victim=$!
RANK_1=$victim make_up mpirun libopen-rte.so.40 localhost
pdb_as 0 --pid "$launcher" --batch -ex "info job" -ex "info ranks" -ex "bt all" -ex "gdb 1 -ex bt"
one_line
check "root's pdb does not take a process of root's for a user's rank" says "1 ranks have pids of other users' processes"
check "nor puts gdb on it" says "rank 1: process id not known"
untouched() { ! says "process $victim"; }
check "nor looks at it" untouched
kill "$victim"
end_job
# The pid may be the next one that a process of root's gets.
RANK_1=$(($(cat /proc/sys/kernel/pid_max) - 1)) make_up mpirun libopen-rte.so.40 localhost
pdb_as 0 --pid "$launcher" --batch -ex "info ranks"
one_line
check "nor keeps a pid that is nobody's yet" says "rank 1: process id not known"
end_job

# ---- Names of hosts --------------------------------------------------------------------------------

for host in -oProxyCommand=date "a,b" "127.0.0.1 -x" "b:9" "b;date" "b b" $'b\n' .; do
	make_up mpirun libopen-rte.so.40 "$host"
	pdb_as 65534 --pid "$launcher" --batch -ex "info job"
	check "no launcher is told of the host $(printf %q "$host")" has_not_run mpirun
	one_line
	check "that is said" says "no name of a host"
	end_job
done

# ---- A step of Slurm's -----------------------------------------------------------------------------

cat >"$work/bin/scancel" <<END
#!/bin/sh
echo "uid \$(id -u)" >>$work/owner/scancel.ran
pkill -KILL -f "^$work/owner/srun "
END
chmod 755 "$work/bin/scancel"
watch() {
	make_up srun libslurm.so.38 "" env LD_PRELOAD="$work/libpdbrec-mpich.so" "$work/owner/phases" deadlock 1 0
	pdb_as "$1" watch --kill --max-wait 2s --pid "$launcher"
}
watch 0
check "root's pdb cancels no step that a user names" has_not_run scancel
check "but ends his hung job" says "the launcher has ended the job"
end_job
watch 65534
check "the user's own does" has_run_as scancel 65534
end_job

# ---- MPICH -----------------------------------------------------------------------------------------

cat >"$work/owner/reach" <<END
#!/bin/sh
echo "uid \$(id -u)" >>$work/owner/reach.ran
while [ \$# -gt 0 ] && [ "\${1%hydra_pmi_proxy*}" = "\$1" ]; do shift; done
eval "\$*"
END
chmod 755 "$work/owner/reach"
as 65534 setsid mpiexec.mpich -hosts localhost,elsewhere -launcher-exec "$work/owner/reach" -n 2 \
	"$work/owner/names" >"$work/out" 2>&1 &
is_ready() { [ "$(grep -c ready "$work/out")" = 2 ]; }
check "an mpiexec is there that reaches hosts by a script" wait_for is_ready
launcher=$(pgrep -o -u 65534 -f '^mpiexec.mpich')
rm -f "$work/owner/reach.ran"
pdb_as 0 --pid "$launcher" --batch -ex "bt all" -ex "info job"
check "root's pdb does not run the script" has_not_run reach
check "and sees ranks here" says "Barrier|pause"
one_line
check "it says whose that job is" says "belongs to $user, .*; run pdb as $user"
pdb_as 65534 --pid "$launcher" --batch -ex "info job"
check "the user's own pdb runs it" has_run_as reach 65534
end_job

# Who looks like a proxy, and whose parent is root's.
cat >"$work/parent" <<END
setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'echo ready; sleep 1000; :' \\
	ssh -x elsewhere hydra_pmi_proxy --control-port a:1 --pgid 0 --launcher ssh
:
END
bash "$work/parent" >"$work/out" 2>/dev/null &
parent=$!
wait_for grep -q ready "$work/out"
pdb_as 0 --pid "$parent" --batch -ex "info job"
check "a process of root's is no launcher since a child of it looks like one's" says "no MPI launcher"
pdb_as 0 --batch -ex "info job"
check "nor is it found" says "no MPI job"
pkill -KILL -P "$parent"
wait "$parent" 2>/dev/null

# ---- PMIx ------------------------------------------------------------------------------------------

# A server that only hears who connects; its user says in the file that root's group is his.
cat >"$work/server.py" <<'END'
import glob, os, socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
connection = server.accept()[0]
for process in glob.glob("/proc/[0-9]*"):
    words = {line.split()[0]: line.split()[1:] for line in open(process + "/status")}
    if words["Name:"] == ["pdb"] and words["PPid:"] == ["1"]:
        print("tool", *words["Uid:"], *words["Gid:"], *words["Groups:"], words["CapPrm:"][0], os.readlink(process + "/cwd"),
              os.stat(process + "/environ").st_uid, flush=True)
END
truncate -s 4096 "$work/owner/libprrte.so.2"
make_up mpirun libprrte.so.2 elsewhere
/usr/bin/python3 "$work/server.py" >"$work/server" 2>&1 &
server=$!
wait_for test -s "$work/server"
file=$work/owner/pmix.h.tool.$launcher
printf 'prterun-h-1@0.0;tcp4://127.0.0.1:%s\n5.0.7\n%d\n65534:0\nFri\n' "$(cat "$work/server")" "$launcher" >"$file"
chown 65534:65534 "$file"
pdb_as 0 --pid "$launcher" --batch -ex "info job"
tool="tool 65534 65534 65534 65534 65534 65534 65534 65534 0000000000000000 / 0"
check "root's PMIx tool is wholly the user's" grep -qx "$tool" "$work/server"
check "and runs nothing" has_not_run mpirun
kill "$server" 2>/dev/null
end_job

# ---- gdb -------------------------------------------------------------------------------------------

# What a program has in it and beside it, and what root's own settings let gdb do for root's programs.
cd "$work/owner" || exit 1
echo "shell id -u >>$work/owner/gdb.ran" >names-gdb.gdb
echo "open('$work/owner/gdb.ran', 'w')" | tee names-gdb.py script.py >/dev/null
printf '\004inline\n%s\n\0\001%s/script.py\0' "$(cat script.py)" "$work/owner" >section
objcopy --add-section .debug_gdb_scripts=section \
	--set-section-flags .debug_gdb_scripts=readonly,debug names && chown 65534:65534 ./*
echo "set auto-load safe-path /" >"$work/root/.gdbinit"
cd "$work/root" || exit 1
as 65534 setsid mpiexec.mpich -n 2 "$work/owner/names" >"$work/out" 2>&1 &
wait_for is_ready
launcher=$(pgrep -o -u 65534 -f '^mpiexec.mpich')
pdb_as 0 --pid "$launcher" --batch -ex "gdb 0 -ex bt"
check "root's gdb is on a user's rank" says "#1 .*main"
check "and runs no script of it" has_not_run gdb
end_job
finish_checks
