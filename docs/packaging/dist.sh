#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The sources as a tarball, the same bytes each time: the files that git knows, as they are in the
# tree, or all but what was built where there is no git. Their time is SOURCE_DATE_EPOCH, or that of
# the last commit, or of the newest file.
# usage: dist.sh NAME FILE.tar.gz; run in the top folder. NAME is the folder in the tarball.
set -eu -o pipefail
name=$1 file=$2

has_git() { [ -e .git ] && git rev-parse HEAD >/dev/null 2>&1; }

# Each with a zero byte behind it.
list() {
	if has_git; then
		git ls-files -z | while IFS= read -r -d '' path; do
			if [ -e "$path" ] || [ -L "$path" ]; then printf '%s\0' "$path"; fi
		done
	else
		find . \( -path './build*' -o -path ./debian -o -path ./.git -o -path ./.pc -o -name __pycache__ \) \
			-prune -o ! -type d -printf '%P\0'
	fi
}

if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
	time=$SOURCE_DATE_EPOCH
elif has_git; then
	time=$(git log -1 --format=%ct)
else
	time=$(list | xargs -0 stat -c %Y | sort -n | tail -n 1)
fi
list | LC_ALL=C sort -z | tar --null --no-recursion -T - --mtime="@$time" --owner=0 --group=0 \
	--numeric-owner --mode=u+rw,go+r,go-w --format=gnu --transform="s,^,$name/,S" -c | gzip -n9 >"$file.part"
mv "$file.part" "$file"
