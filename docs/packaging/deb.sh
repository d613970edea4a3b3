#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian packages of a tarball of "make dist", as OUT/*.deb, with the source package beside them.
# usage: deb.sh VERSION TARBALL OUT. Ends with status 1 if lintian finds an error. The maintainer is
# DEBFULLNAME <DEBEMAIL> if DEBEMAIL is set; the project itself has no address, which .invalid says.
set -eu
version=$1 tarball=$(realpath "$2") out=$3

# Variables of the make that runs this are not for that of the package.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL O PREFIX DESTDIR LIBDIR CFLAGS LDFLAGS
rm -rf "$out"
mkdir -p "$out"
cp "$tarball" "$out/pdb_$version.orig.tar.gz"
cd "$out"
tar -xf "pdb_$version.orig.tar.gz"
cd "pdb-$version"
cp -r docs/packaging/debian debian
[ -z "${DEBEMAIL:-}" ] || sed -i "s/^\(Maintainer: \| -- \)[^<]*<[^>]*>/\1${DEBFULLNAME:-$DEBEMAIL} <$DEBEMAIL>/" \
	debian/control debian/changelog
said=$(dpkg-parsechangelog --show-field Version)
if [ "${said%-*}" != "$version" ]; then
	echo "docs/packaging/debian/changelog is about $said, shell/pdb.h about $version" >&2
	exit 1
fi
dpkg-buildpackage --no-sign -j"$(nproc)" >../build.log 2>&1 || {
	tail -n 30 ../build.log >&2
	exit 1
}
cd ..
rm -rf "pdb-$version"
lintian --fail-on error --allow-root ./*.changes
ls ./*.deb
