#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Build the Debian packages in a clean Debian root, install them in another one that has nothing but
# Open MPI, and do there what the README says.
# usage: check.sh BUILD VERSION SUITE "PACKAGE..."; the packages are what the build needs. Ends with
# the line: N passed, N failed. Status 77: no roots can be made here.
set -u
build=$(realpath "$1") version=$2 suite=$3 needed=$4
. tests/suite/checks.bash
out=$build/package
mkdir -p "$out"
explain() { tail -n 20 "$out/said"; }

# in_root NAME PACKAGES COMMAND...
in_root() {
	sh tests/debian/root.sh -p "$2" "$suite" "$build/package-$suite-$1" "${@:3}" >"$out/said" 2>&1
	local status=$?
	[ $status -ne 77 ] || { cat "$out/said" >&2; echo '0 passed, 0 failed'; exit 77; }
	return $status
}

check 'the tarball is made' bash docs/packaging/dist.sh "pdb-$version" "$out/pdb-$version.tar.gz"
check 'the packages are built, lintian finds no error' in_root builder "$needed build-essential debhelper lintian" \
	sh docs/packaging/deb.sh "$version" "$out/pdb-$version.tar.gz" "$out/deb"
cp "$out/said" "$out/lintian"
for name in pdb libpdb0 libpdb-dev; do
	check "there is a package $name" test -n "$(ls "$out/deb/${name}"_*.deb 2>/dev/null)"
done
check 'and a source package' test -f "$out/deb/pdb_$version-1.dsc"
check 'a program is compiled with libpdb-dev' in_root builder '' sh tests/package/compile.sh "$out"
check 'the quick start, in the other root' in_root user 'openmpi-bin procps' bash tests/package/quick_start.sh "$out"
grep -E '^FAILED|^(ok|[0-9]+ passed)' "$out/said"
finish_checks
