#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What can be said of the sources, and of what is built from them, without running it.
# usage: run.sh BUILD CHECK...: format, cppcheck, shell, python, exports, tidy
# Ends with the line: N passed, N failed.
set -u
build=$1
shift
passed=0 failed=0
folders=(model attach pmix analysis render shell)
report=$build/lint.txt

# The check $1 has failed if there is anything in the report.
finish() {
	if [ -s "$report" ]; then
		echo "FAILED  $1"
		head -n 100 "$report"
		failed=$((failed + 1))
	else
		echo "ok      $1"
		passed=$((passed + 1))
	fi
}

# One version of the tool, since each lays out some things otherwise; Debian 13 has others.
check_format() {
	if ! command -v clang-format-14 >/dev/null; then
		echo "left out: format, which clang-format-14 tells, of Debian 12"
		return
	fi
	git ls-files '*.[ch]' | xargs clang-format-14 --dry-run >"$report" 2>&1
	finish "clang-format: mend with make format"
}

check_cppcheck() {
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --library=posix,gnu \
		--suppressions-list=tests/lint/cppcheck.txt -D__x86_64__ -D_GNU_SOURCE -I . \
		-j "$(nproc)" --template='{file}:{line}: {id}: {message}' "${folders[@]}" >"$report" 2>&1
	finish cppcheck
}

check_shell() {
	git ls-files '*.sh' '*.bash' .ci/run | xargs shellcheck --severity=warning --format=gcc \
		>"$report" 2>&1
	finish shellcheck
}

check_python() {
	git ls-files '*.py' | xargs pyflakes3 >"$report" 2>&1
	finish pyflakes
}

# Programs export nothing of their own: a library could take a function of theirs for one of its own.
# Data of libraries lies in them, and argp_program_version is asked for by the C library.
check_exports() {
	: >"$report"
	for program in pdb pdbd-openmpi pdbd-mpich pdbd-openmpi-worker pdbd-mpich-worker; do
		nm -D --defined-only "$build/$program" |
			awk -v p="$program" '$2 !~ /[BVW]/ && $3 != "argp_program_version" {print p ": " $3}'
	done >>"$report"
	for library in openmpi mpich abi; do
		nm -D --defined-only "$build/libpdbrec-$library.so" | awk -v l="$library" \
			'tolower($3) !~ /^(mpi_|__cyg_profile_func_(enter|exit)$)/ {print "libpdbrec-" l ": " $3}'
	done >>"$report"
	finish exports
}

# Minutes. What MPI's headers are needed for, and the recorder's wrappers, are left out.
check_tidy() {
	local flags=(-std=gnu11 -D_GNU_SOURCE -iquote . -iquote "$build" '-DPDB_LIBDIR_DEFAULT="x"'
		'-DPDB_LIBUNWIND_SONAME="libunwind.so.8"')
	read -ra more < <(pkg-config --cflags readline pmix libdw libgvc libzstd libsodium capstone)
	git ls-files 'model/*.c' 'attach/*.c' 'pmix/*.c' 'analysis/*.c' 'render/*.c' 'shell/*.c' |
		grep -vE '^attach/daemons/pdbd(_first|_tree)?\.c$' |
		xargs -P "$(nproc)" -I '{}' clang-tidy --quiet '{}' -- "${flags[@]}" "${more[@]}" \
			>"$report" 2>/dev/null
	finish clang-tidy
}

mkdir -p "$build"
for check in "$@"; do
	"check_$check"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
