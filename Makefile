# SPDX-License-Identifier: BSD-3-Clause
# pdb: one makefile for everything. "make help" lists the targets.

O ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CC = gcc
FC = gfortran
V ?= 0

# ---- Debian packages, by what needs them ------------------------------------------------------

DEPS_BUILD = gcc libc6-dev make gawk pkg-config libreadline-dev libpmix-dev libunwind-dev \
	libdw-dev libcapstone-dev libroaring-dev uthash-dev libgraphviz-dev libzstd-dev libsodium-dev \
	libopenmpi-dev libmpich-dev
DEPS_CHECK = openmpi-bin mpich gfortran g++ libcmocka-dev gdb graphviz procps tmux strace elfutils zstd \
	mandoc debootstrap python3 python3-jsonschema python3-mpi4py lammps lammps-examples hpcc zsh
DEPS_PETSC = $(if $(is_debian13),libpetsc-real3.22-dev libpetsc3.22-dev-examples,libpetsc-real3.18-dev libpetsc3.18-dev-examples)
# Other people's test programs, which are to do the same with the recorder.
DEPS_UNHARMED = scalapack-mpi-test mumps-test python3-h5py-mpi python3-pytest-mpi $(DEPS_PETSC)
DEPS_DEMO = openmpi-bin procps gdb lammps lammps-examples
# Real programs, and what they are built or prepared with: some 500 MB.
DEPS_CAMPAIGN = elfutils lammps lammps-examples hpcc scalapack-mpi-test mumps-test python3-mpi4py \
	python3-numpy quantum-espresso quantum-espresso-data nwchem-openmpi nwchem-mpich openfoam \
	$(DEPS_PETSC)
DEPS_REPORT = chromium
DEPS_BENCH = valgrind
DEPS_ROOT = debootstrap util-linux
DEPS_PACKAGE = $(DEPS_BUILD) build-essential debhelper lintian
DEPS_FUZZ = clang libclang-rt-dev llvm xz-utils
DEPS_LINT = clang-tidy $(if $(is_debian13),,clang-format-14) cppcheck shellcheck pyflakes3 git
DEPS_SLURM = slurm-wlm munge openssh-server openssh-client iproute2 util-linux procps openmpi-bin mpich
# For MPIs from wheels.
DEPS_MPIS = python3-venv
DEPS_HOSTS = openssh-server openssh-client iproute2 util-linux procps

# ---- Flags ------------------------------------------------------------------------------------

OPTIMIZE = $(if $(DEBUG),-O0 -g3,-O2 -g)
INSTRUMENT = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
	$(if $(COVERAGE),--coverage)
WARN = -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wshadow -Wvla \
	-Wpointer-arith -Wwrite-strings -Wformat=2 -Wno-format-nonliteral \
	-Winit-self -Wold-style-definition -Wredundant-decls -Wundef -Wdate-time \
	$(if $(findstring clang,$(CC)),,$(WARN_GCC))
WARN_GCC = -Wno-format-truncation -Wcast-align -Wlogical-op -Wduplicated-cond -Wduplicated-branches
PC_LIBS = readline pmix libunwind-ptrace libunwind-generic libdw capstone libgvc libzstd libsodium
# The library is called on stacks of others, whose size it does not know.
FRAME = $(if $(INSTRUMENT)$(DEBUG),,-Wframe-larger-than=17000)
# Expanded when a recipe runs, so after the packages are there.
PC_CFLAGS = $(shell pkg-config --cflags $(PC_LIBS) | sed 's/-I/-isystem /g')
# NO_RPATH=1: for systems whose loader finds all of them by itself.
cut_rpath = | sed 's/-Wl,-rpath -Wl,[^ ]*//g'
PC_LDLIBS = $(shell pkg-config --libs $(PC_LIBS) $(if $(NO_RPATH),$(cut_rpath))) -lunwind -lelf -lroaring -lm -ldl -lpthread
# All of it can be in a library, which shows nothing but what shell/pdb.h says.
KIND = $(OPTIMIZE) $(INSTRUMENT) -fPIC -fvisibility=hidden
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARN) $(KIND) -iquote . -iquote $(O) \
	-DPDB_LIBDIR_DEFAULT='"$(PREFIX)/lib/pdb"' $(CFLAGS)

Q = $(if $(filter 0,$(V)),@)
SAY = $(if $(filter 0,$(V)),@printf '  %-6s %s\n')
say = $(if $(filter 0,$(V)),@printf '  %-7s %s\n' $(1) $(2))

# ---- What is built ----------------------------------------------------------------------------

# What needs MPI, so is compiled for each; and what must have no library.
PDBD_SRC = attach/daemons/pdbd.c attach/daemons/pdbd_first.c attach/daemons/pdbd_tree.c
GUARD_SRC = attach/daemons/pdbd_guard.c
LIB_FOLDERS = model model/segment model/job model/wire model/trace attach attach/* pmix analysis analysis/* render render/* shell shell/*
LIB_SRC = $(filter-out shell/main.c $(PDBD_SRC) $(GUARD_SRC),$(foreach d,$(LIB_FOLDERS),$(wildcard $(d)/*.c)))
LIB_OBJ = $(LIB_SRC:%.c=$(O)/%.o)

# No library is to find a function of ours under the name of its own: readline has an xmalloc, too.
OWN_ONLY = -Wl,--exclude-libs,libpdb.a

# The last is MPI's own ABI, whose mpi.h is in model/recorder/abi.
REC_MPIS = openmpi mpich abi
RECORDERS = $(REC_MPIS:%=$(O)/libpdbrec-%.so)

all: $(O)/pdb $(RECORDERS)

$(O)/pdb: $(O)/shell/main.o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(OWN_ONLY) $(LDFLAGS) -o $@ $^ $(PC_LDLIBS)

$(O)/libpdb.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

# Objects of another kind are made anew. The file is only as old as the last change of that.
$(O)/.kind: always
	@mkdir -p $(@D)
	@echo '$(KIND)' | cmp -s - $@ || echo '$(KIND)' >$@

$(O)/%.o: %.c $(O)/.kind | $(O)/.deps-build
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(FRAME) $(PC_CFLAGS) -MMD -MP -c -o $@ $<

# What a report has of style and script.
$(O)/render/report/report.o: render/report/report.css render/report/report.js

# ---- The recorder: a library for each MPI -----------------------------------------------------

include model/recorder/recorder.mk

# ---- The daemons: a program for each MPI ------------------------------------------------------

include attach/daemons/pdbd.mk

# ---- Tests and benchmarks ---------------------------------------------------------------------

include tests/tests.mk

# ---- Packages ---------------------------------------------------------------------------------

# Install what is missing of the packages named, or say what to type when not root. One list at a
# time, whatever make does at once: dpkg lets nobody wait.
define install-packages
	@mkdir -p $(O)
	@exec 9>$(O)/deps.lock; flock 9; missing=; for p in $(1); do \
		dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'install ok' || missing="$$missing $$p"; \
	done; \
	if [ -n "$$missing" ]; then \
		if [ "$$(id -u)" != 0 ]; then \
			echo "make: these packages are missing; as root: apt-get install$$missing" >&2; exit 1; \
		fi; \
		echo "  DEPS   $$missing"; \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get install -qq -y --no-install-recommends $$missing >$(O)/deps.log 2>&1 || \
		{ apt-get update -qq >>$(O)/deps.log 2>&1 && \
		  apt-get install -qq -y --no-install-recommends $$missing >>$(O)/deps.log 2>&1; } || \
		{ tail -n 20 $(O)/deps.log >&2; exit 1; }; \
	fi
	@echo '$(strip $(1))' >$@
endef

# The ssh server is for the hosts that tests make, of namespaces. Debian would start one on this
# machine, too, and at each boot; "systemctl unmask ssh" allows that.
define keep-sshd-off
	@if [ -d /run/systemd/system ] && [ ! -e /usr/sbin/sshd ] && [ "$$(id -u)" = 0 ]; then \
		systemctl --quiet mask ssh.service ssh.socket; \
	fi
endef

$(O)/.deps-build: ; $(call install-packages,$(DEPS_BUILD))
$(O)/.deps-check: | $(O)/.deps-build ; $(call install-packages,$(DEPS_CHECK))
$(O)/.deps-unharmed: | $(O)/.deps-check ; $(call install-packages,$(DEPS_UNHARMED))
$(O)/.deps-demo: | $(O)/.deps-build ; $(call install-packages,$(DEPS_DEMO))
$(O)/.deps-slurm: | $(O)/.deps-build ; $(call install-packages,$(DEPS_SLURM))
$(O)/.deps-mpis: | $(O)/.deps-check ; $(call install-packages,$(DEPS_MPIS))
$(O)/.deps-hosts: | $(O)/.deps-build
	$(keep-sshd-off)
	$(call install-packages,$(DEPS_HOSTS))
$(O)/.deps-campaign: | $(O)/.deps-build ; $(call install-packages,$(DEPS_CAMPAIGN))
$(O)/.deps-report: | $(O)/.deps-check ; $(call install-packages,$(DEPS_REPORT))
$(O)/.deps-bench: | $(O)/.deps-check ; $(call install-packages,$(DEPS_BENCH))
$(O)/.deps-root: ; $(call install-packages,$(DEPS_ROOT))
$(O)/.deps-package: ; $(call install-packages,$(DEPS_PACKAGE))
$(O)/.deps-fuzz: | $(O)/.deps-check ; $(call install-packages,$(DEPS_FUZZ))
$(O)/.deps-lint: | $(O)/.deps-build ; $(call install-packages,$(DEPS_LINT))

# What was installed for a list of packages that has changed since is not enough.
renew-deps = $(if $(filter-out $(file <$(O)/.deps-$(1)),$(2)),$(eval .PHONY: $(O)/.deps-$(1)))
$(call renew-deps,build,$(DEPS_BUILD))
$(call renew-deps,check,$(DEPS_CHECK))
$(call renew-deps,unharmed,$(DEPS_UNHARMED))
$(call renew-deps,demo,$(DEPS_DEMO))
$(call renew-deps,slurm,$(DEPS_SLURM))
$(call renew-deps,mpis,$(DEPS_MPIS))
$(call renew-deps,hosts,$(DEPS_HOSTS))
$(call renew-deps,campaign,$(DEPS_CAMPAIGN))
$(call renew-deps,report,$(DEPS_REPORT))
$(call renew-deps,bench,$(DEPS_BENCH))
$(call renew-deps,root,$(DEPS_ROOT))
$(call renew-deps,package,$(DEPS_PACKAGE))
$(call renew-deps,fuzz,$(DEPS_FUZZ))
$(call renew-deps,lint,$(DEPS_LINT))

deps: $(O)/.deps-build $(O)/.deps-check $(O)/.deps-demo $(O)/.deps-mpis $(O)/.deps-hosts $(O)/.deps-root \
	$(O)/.deps-package $(O)/.deps-fuzz $(O)/.deps-lint

# ---- The library, install, packages -------------------------------------------------------------

include docs/packaging/packaging.mk

clean:
	rm -rf $(O)

help:
	@echo 'make               build pdb and the recorders into $(O)/; installs what that needs'
	@echo 'make check         before a commit: unit tests, one real job of each kind, docs, lint'
	@echo 'make check-all     everything else that is tested on one machine: half an hour'
	@echo 'make check-long    what takes longer still: Slurm, packages, all wrong arguments'
	@echo 'make check-NAME    a part of these: check-unit, check-shell, check-jobs ... (docs/testing.md)'
	@echo 'make format        lay out the C files; make lint: all static checks'
	@echo 'make demo          hang a real program and debug it; MPI=native: with Open MPI of this host'
	@echo 'make campaign      hang real programs in many ways and see what pdb says'
	@echo 'make fuzz          feed the readers of untrusted input for long'
	@echo 'make bench         measure pdb beside the alternatives'
	@echo 'make install       PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=; make uninstall takes it back'
	@echo 'make dist          a tarball of the sources in $(O)/; make deb: Debian packages in $(O)/deb/'
	@echo 'make deps          install every Debian package that any target needs'
	@echo 'make clean         remove $(O)/'
	@echo 'make help-all      all targets, by the file that has them'
	@echo
	@echo 'V=1 shows commands; O=DIR builds elsewhere; DEBUG=1, COVERAGE=1, SAN=address,undefined'

help-all:
	@grep -H '^\.PHONY:' $(filter %.mk,$(MAKEFILE_LIST)) | sed 's|:\.PHONY:|: |'

.PHONY: all always deps clean help help-all
.DELETE_ON_ERROR:

-include $(LIB_OBJ:.o=.d) $(O)/shell/main.d
