#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Keep in tests/fuzz/corpus, an archive for each target, what runs of fuzz targets have found: of all
# inputs few that reach all that they reach together, without the largest.
# usage: keep.sh BUILD TARGET...
set -u
build=$1
shift
most=16384 # bytes of one input

mkdir -p tests/fuzz/corpus
for target in "$@"; do
	archive=tests/fuzz/corpus/$target.tar.xz kept=$build/kept/$target new=$build/keep/$target
	rm -rf "$new" "$kept" && mkdir -p "$new" "$kept" || exit 1
	[ ! -e "$archive" ] || tar -xJf "$archive" -C "$kept" || exit 1
	"$build/tests/fuzz/fuzz_$target" -set_cover_merge=1 -timeout=120 "$new" "$kept" \
		"$build/corpus/$target" >"$build/$target.keep" 2>&1 || exit 1
	find "$new" -type f -size "+${most}c" -delete
	tar -cJf "$archive" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$new" . ||
		exit 1
	echo "$target: $(find "$new" -type f | wc -l) inputs, $(stat -c %s "$archive") bytes"
done
