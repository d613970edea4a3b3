#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In the root that packages are built in: the example with what is in libpdb-dev, and a program that
# hangs. usage: compile.sh OUT
set -eu
out=$1
rm -rf "${out:?}/dev"
dpkg -x "$out"/deb/libpdb-dev_*.deb "$out/dev"
dpkg -x "$out"/deb/libpdb0_*.deb "$out/dev"
pc=$(dirname "$(find "$out/dev" -name pdb.pc)")
# shellcheck disable=SC2046
gcc -Wall -Wextra -Werror -o "$out/least" docs/examples/least.c \
	$(PKG_CONFIG_SYSROOT_DIR=$out/dev PKG_CONFIG_PATH=$pc PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
		PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --cflags --libs pdb)
mpicc.openmpi -g -O1 -iquote . -o "$out/app" tests/mpi/nested.c
