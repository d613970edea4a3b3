# SPDX-License-Identifier: BSD-3-Clause
# Targets that run things: check, bench, demo. Included by ../Makefile.

# What "make check" runs, in this order; those joined by a + side by side. Every one of them ends with a
# line "N passed, N failed". Some wait for one job after the other, and the other Debian's are a whole
# suite: beside them there is room for those that keep the processors busy. So that the sides take equally long,
# some short ones of the latter are among those that wait. The ranks of check-order are so
# nice that busy ones of other parts would leave them nothing.
CHECKS_BUSY = check-jobs check-healthy check-programs check-trouble check-harmless check-recorder check-tracing \
	check-campaign check-fuzz
CHECKS_WAITING = check-watch check-watch-trouble check-sessions check-gdb check-elsewhere check-hosts check-attach \
	check-queues check-daemons check-inject check-traces check-cores check-lint check-instructions
comma := ,
space := $(subst ,, )
in_turn = $(subst $(space),$(comma),$(strip $(1)))
CHECKS = check-includes check-unit+check-docs,check-install check-order+check-security,check-identity,check-terminal,check-shell \
	$(CHECK_OTHER_DEBIAN)+$(call in_turn,$(CHECKS_WAITING))+$(call in_turn,$(CHECKS_BUSY))

check: check-needs
	@V=$(V) bash tests/check.sh "$(MAKE)" O=$(O) $(CHECKS)

# Includes between folders point only the way that docs/architecture.md draws.
check-includes:
	@sh tests/check_includes.sh

NEEDS_check-unit = $(UNIT_BIN)
check-unit: $(NEEDS_check-unit) | $(O)/.deps-check
	@sh tests/run_unit.sh $(UNIT_BIN)

# ---- The shell: command line, commands on a job, a terminal -------------------------------------

NEEDS_check-shell = $(O)/tests/shell/print_commands
check-shell: all $(NEEDS_check-shell) | $(O)/.deps-check
	@bash tests/run_shell.sh $(O)

$(O)/tests/shell/print_commands: tests/shell/print_commands.c $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(PC_CFLAGS) -MMD -MP -o $@ $< $(O)/libpdb.a $(PC_LDLIBS)

# The manual of the commands is made from their table.
docs/commands.md: $(O)/tests/shell/print_commands
	$(call say,DOC,$@)
	$(Q)$(O)/tests/shell/print_commands >$@

# The pages: transcripts are replayed on the snapshots in docs/snapshots, links lead somewhere.
docs/messages.md: tests/check_docs.py $(LIB_SRC)
	$(call say,DOC,$@)
	$(Q)$(PYTHON) tests/check_docs.py $(O) --messages >$@

check-docs: all docs/messages.md | $(O)/.deps-check
	@$(PYTHON) tests/check_docs.py $(O)

docs-transcripts: all docs/messages.md
	@$(PYTHON) tests/check_docs.py $(O) --write

.PHONY: check-shell check-docs docs-transcripts
-include $(O)/tests/shell/print_commands.d

# ---- What is installed, and the library ----------------------------------------------------------

check-install: all | $(O)/.deps-check
	@bash tests/install/run.sh $(O) "$(MAKE)" $(INSTRUMENT)

.PHONY: check-install

# ---- Reports in a browser -----------------------------------------------------------------------
# Not of "check", whose check-unit and check-shell look at pages without one: Chromium is large.

check-report: $(O)/tests/unit/test_report | $(O)/.deps-report
	@mkdir -p $(O)/report
	@PAGES=$(O)/report $(O)/tests/unit/test_report >$(O)/report/log 2>&1 || { cat $(O)/report/log; exit 1; }
	@$(PYTHON) tests/report/browser.py $(O)/report

.PHONY: check-report

# ---- Core files ---------------------------------------------------------------------------------

CRASH_PROGRAMS = $(O)/tests/cores/crash-openmpi $(O)/tests/cores/crash-mpich

$(CRASH_PROGRAMS): $(O)/tests/cores/crash-%: tests/cores/crash.c | $(O)/.deps-check
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.$* -O1 -g -Wall -Wextra -Werror -o $@ $<

NEEDS_check-cores = $(CRASH_PROGRAMS)
check-cores: all $(NEEDS_check-cores) | $(O)/.deps-check
	@bash tests/cores/run.sh $(O)

.PHONY: check-cores

# ---- Real MPI jobs (docs/testing.md) ------------------------------------------------------------
# TEST='words' selects tests by their names, REPEAT=10 runs each so often, SEED=2 picks other ranks
# and moments, KILLS=100 is how often check-harmless kills pdb, SAMPLES=200 how often check-healthy
# looks at a correct program, JOBS_MPI=mpich runs only that MPI, SIZES=all the programs with all their
# numbers of ranks under each MPI, WORKERS=1 one test at a time, HOSTS=2 runs the
# jobs over so many hosts (check-jobs), RECORDER=no many runs without the recorder (check-programs).

PYTHON = /usr/bin/python3
JOBS_ARGS = --build $(O) $(if $(JOBS_MPI),--mpi $(JOBS_MPI))
check: export SAMPLES ?= 60

check-jobs: all | $(O)/.deps-check $(if $(HOSTS),$(O)/.deps-hosts)
	@$(PYTHON) tests/run_jobs.py $(JOBS_ARGS) $(if $(HOSTS),--hosts $(HOSTS))

check-healthy: all | $(O)/.deps-check
	@$(PYTHON) tests/run_healthy.py $(JOBS_ARGS)

check-programs: all inject $(O)/libfault-openmpi.so | $(O)/.deps-check
	@$(PYTHON) tests/run_programs.py --build $(O) $(if $(filter no,$(RECORDER)),--no-recorder)

# What a bad run does otherwise than a good one, by their traces.
NEEDS_check-traces = $(O)/inject
check-traces: all $(NEEDS_check-traces) | $(O)/.deps-check
	@$(PYTHON) tests/run_traces.py $(JOBS_ARGS)

.PHONY: check-traces

check-trouble: all | $(O)/.deps-check
	@$(PYTHON) tests/run_trouble.py $(JOBS_ARGS)

# How long ranks stand still, seen from outside.
$(O)/tests/harmless/stops: tests/harmless/stops.c | $(O)/.deps-check
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -o $@ $<

NEEDS_check-harmless = $(O)/tests/harmless/stops
check-harmless: all $(NEEDS_check-harmless) | $(O)/.deps-check
	@$(PYTHON) tests/run_harmless.py $(JOBS_ARGS)

# TRIALS=1000 random accidents of pdb, those of SEED=1; TRIAL=17: only that one. Goes on where it was
# ended: its results are in $(O)/harmless/trials.jsonl.
harmless-campaign: all $(NEEDS_check-harmless) | $(O)/.deps-check $(O)/.deps-demo $(has_hosts)
	@$(PYTHON) tests/run_accidents.py $(JOBS_ARGS)

.PHONY: harmless-campaign

# MINUTES=60 of two pdb beside a job of RANKS=256 ranks.
$(O)/tests/load/late-%: tests/load/late.c | $(O)/.deps-check
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.$* -O2 -g -Wall -Wextra -Werror -o $@ $<

load: all $(O)/tests/load/late-openmpi
	@$(PYTHON) tests/run_load.py --build $(O)

.PHONY: load

# Jobs that are watched until they end or hang.
UNEVEN_PROGRAMS = $(O)/tests/watch/uneven-openmpi $(O)/tests/watch/uneven-mpich
WATCH_PROGRAMS = $(O)/tests/watch/phases-openmpi $(O)/tests/watch/phases-mpich $(UNEVEN_PROGRAMS)

$(O)/tests/watch/%-openmpi: tests/watch/%.c | $(O)/.deps-check
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.openmpi -O2 -g -Wall -Wextra -Werror -o $@ $<

$(O)/tests/watch/%-mpich: tests/watch/%.c | $(O)/.deps-check
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.mpich -O2 -g -Wall -Wextra -Werror -o $@ $<

NEEDS_check-watch = $(WATCH_PROGRAMS)
check-watch: all $(NEEDS_check-watch) | $(O)/.deps-check
	@bash tests/watch/run.sh $(O) $(JOBS_MPI)

# Preloaded into pdb only.
$(O)/tests/watch/jump.so: tests/watch/jump.c | $(O)/.deps-build
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -Wall -Wextra -Werror -fPIC -shared -o $@ $<

NEEDS_check-watch-trouble = $(WATCH_PROGRAMS) $(O)/tests/watch/jump.so
check-watch-trouble: all $(NEEDS_check-watch-trouble) | $(O)/.deps-check
	@bash tests/watch/trouble.sh $(O) $(JOBS_MPI)

check-elsewhere: all | $(O)/.deps-check
	@bash tests/watch/elsewhere.sh $(O)

# What watching 64 ranks costs.
bench-watch: all $(WATCH_PROGRAMS) | $(O)/.deps-check
	@bash tests/bench/watch.sh $(O) $(or $(RANKS),64)

.PHONY: check-watch check-watch-trouble check-elsewhere bench-watch

# Not of "check": it needs root, and installs Slurm, which Debian starts on the machine, too.
SLURM_PROGRAMS = $(foreach program,nested count,$(O)/tests/slurm/$(program)-openmpi $(O)/tests/slurm/$(program)-mpich)

$(O)/tests/slurm/nested-%: tests/mpi/nested.c tests/mpi/fault.h | $(O)/.deps-slurm
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.$* -O2 -g -o $@ $<

$(O)/tests/slurm/count-%: tests/slurm/count.c | $(O)/.deps-slurm
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.$* -O2 -g -Wall -Wextra -Werror -o $@ $<

check-slurm: all $(SLURM_PROGRAMS) $(WATCH_PROGRAMS) | $(O)/.deps-check
	@bash tests/slurm/check.sh $(O)
	@bash tests/slurm/nodes.sh $(O)
	@bash tests/slurm/batch.sh $(O)
	@sh tests/slurm.sh -x 2 $(PYTHON) tests/run_jobs.py $(JOBS_ARGS) --srun 2

# Are the hosts of tests/hosts.sh apart where they must be? Not of "check", which only uses them.
HOSTS_WHERE = $(O)/tests/hosts/where-openmpi $(O)/tests/hosts/where-mpich

$(HOSTS_WHERE): $(O)/tests/hosts/where-%: tests/hosts/where.c | $(O)/.deps-hosts
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.$* -O2 -g -Wall -Wextra -Werror -o $@ $<

# Without root no hosts can be made, and what they need is not missed.
has_hosts := $(if $(filter 0,$(shell id -u)),$(O)/.deps-hosts)

# The program that hangs on two hosts.
HOSTS_NESTED = $(O)/tests/hosts/nested-openmpi $(O)/tests/hosts/nested-mpich

$(HOSTS_NESTED): $(O)/tests/hosts/nested-%: tests/mpi/nested.c tests/mpi/fault.h | $(O)/.deps-check $(has_hosts)
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.$* -O1 -g -o $@ $<

check-namespaces: $(HOSTS_WHERE) | $(O)/.deps-hosts
	@bash tests/hosts/check.sh $(O)

# Jobs over several hosts: a program of each kind, HOSTS=4 on so many; a session, on two and on one; gdb on
# a rank of the other host; and, not of "check", what may go wrong with daemons and networks.

check-hosts: all | $(O)/.deps-check $(has_hosts)
	@$(PYTHON) tests/run_jobs.py --build $(O) --mpi openmpi --hosts $(or $(HOSTS),2) --short

NEEDS_check-sessions = $(HOSTS_NESTED)
check-sessions: all $(NEEDS_check-sessions) | $(O)/.deps-check
	@JOBS_MPI='$(JOBS_MPI)' bash tests/hosts/debug.sh $(O)

NEEDS_check-gdb = $(HOSTS_NESTED)
check-gdb: all $(NEEDS_check-gdb) | $(O)/.deps-check
	@bash tests/hosts/gdb.sh $(O)

check-faults: all $(HOSTS_NESTED) | $(O)/.deps-check
	@bash tests/hosts/faults.sh $(O) 4

# RANKS='1 16 256': jobs of so many; ASLEEP=yes: ranks sleep while they wait, so that many have room.
ASLEEP_LIBRARY = $(O)/tests/bench/asleep.so

$(ASLEEP_LIBRARY): tests/bench/asleep.c | $(O)/.deps-check
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -Wall -Wextra -Werror -fPIC -shared -o $@ $<

bench-first-answer: all $(ASLEEP_LIBRARY) | $(O)/.deps-check
	@$(PYTHON) tests/bench_first_answer.py --build $(O) --ranks $(or $(RANKS),64) \
		$(if $(ASLEEP),--asleep $(ASLEEP_LIBRARY))

# What commands cost on a snapshot of RANKS ranks.
bench-commands: all $(O)/tests/bench/write_job | $(O)/.deps-check
	@$(PYTHON) tests/bench_commands.py --build $(O) --ranks $(or $(RANKS),4096)

# The same on four hosts, with the start of the daemons.
bench-hosts: all | $(O)/.deps-check $(has_hosts)
	@$(PYTHON) tests/bench_hosts.py --build $(O)

# PROGRAM='HPL,PETSc' JOBS_MPI=openmpi: only these; ROUNDS=10 pairs of runs of each. Pairs that are in the
# log are not made again. Those that "make campaign" installs are measured if they are there.
PROGRAMS_LOG ?= $(O)/bench-programs.jsonl
bench-programs: all $(O)/tests/campaign/petsc | $(O)/.deps-check $(O)/.deps-campaign
	@CAMPAIGN_BUILD=$(O)/tests $(PYTHON) tests/bench_programs.py --build $(O) --log $(PROGRAMS_LOG) \
		--rounds $(or $(ROUNDS),10) $(if $(PROGRAM),--program '$(PROGRAM)') $(if $(JOBS_MPI),--mpi $(JOBS_MPI))

# One after the other even with -j: they would measure each other.
BENCHES = bench-recorder bench-sample bench-queues bench-stacks bench-analysis bench-traces bench-hang bench-digests bench-link bench-share bench-first-answer bench-hosts bench-programs

bench: all | $(O)/.deps-check
	@for bench in $(BENCHES); do $(MAKE) --no-print-directory O=$(O) $$bench || exit 1; done

# docs/performance.md. ONLY='recorder commands': some of its blocks; ONLY=programs: the one that takes hours.
performance: all | $(O)/.deps-check $(O)/.deps-bench
	@$(PYTHON) tests/bench/performance.py --build $(O) docs/performance.md $(ONLY)

.PHONY: performance bench-commands
.PHONY: check-jobs check-healthy check-programs check-trouble check-harmless check-slurm check-namespaces check-hosts check-sessions check-gdb check-faults bench-first-answer bench-hosts bench-programs

# ---- The fault injector, Debian roots, the demo -----------------------------------------------

INJECT_OBJ = $(O)/tests/inject/inject.o $(O)/tests/inject/function.o

$(O)/inject: $(INJECT_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -ldw -lelf

inject: $(O)/inject

$(O)/victim: tests/inject/victim.cpp | $(O)/.deps-check
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)g++ -O2 -Wall -Wextra -Werror -o $@ $< -lpthread

# Faults of communication in real programs, most of which Debian builds for Open MPI.
FAULT_SRC = tests/fault/fault.c tests/fault/fault_fortran.c
FAULTS = $(O)/libfault-openmpi.so $(O)/libfault-mpich.so

$(FAULTS): $(O)/libfault-%.so: $(FAULT_SRC) tests/fault/fault.h | $(O)/.deps-check
	$(call say,MPICC,$@)
	$(Q)mpicc.$* -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -fPIC -shared -iquote . -o $@ \
		$(FAULT_SRC) -ldl

# ---- The fault campaign: real programs, one fault each (docs/testing.md) -------------------------
# RUNS=0-499 which runs of SEED=1 are made (those in the file of raw data are not made again), SIZES=4,8
# numbers of ranks, PROGRAM='LAMMPS pair' FAULT=loop JOBS_MPI=mpich only these, WATCH=recorder and
# WATCH=stacks: the hangs are found by pdb watch. "make accuracy" makes
# docs/accuracy.md of the raw data that is kept in tests/campaign/log; ACCURACY_DATA=... of other.

CAMPAIGN_DATA ?= $(O)/campaign/runs.jsonl
ACCURACY_DATA ?= $(sort $(wildcard tests/campaign/log/*.jsonl))
CAMPAIGN_ARGS = --build $(O) --data $(CAMPAIGN_DATA) $(if $(JOBS_MPI),--mpi $(JOBS_MPI)) --version "$$(git describe --always 2>/dev/null)"
CAMPAIGN_CHOICE = $(if $(SEED),--seed $(SEED)) $(if $(RUNS),--runs $(RUNS)) $(if $(SIZES),--sizes $(SIZES)) \
	$(if $(PROGRAM),--program '$(PROGRAM)') $(if $(FAULT),--fault $(FAULT)) \
	$(if $(WATCH),--watch $(WATCH))

$(O)/tests/campaign/petsc: | $(O)/.deps-campaign
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)cd /usr/share/petsc/*/share/petsc/examples/src/ts/tutorials/advection-diffusion-reaction && \
		mpicc.openmpi -O2 -o $(abspath $@) ex5.c reaction_diffusion.c $$(pkg-config --cflags --libs petsc) -lm

campaign: all inject $(FAULTS) $(O)/tests/campaign/petsc $(UNEVEN_PROGRAMS) | $(O)/.deps-check $(O)/.deps-campaign
	@CAMPAIGN_BUILD=$(O)/tests $(PYTHON) tests/run_campaign.py $(CAMPAIGN_ARGS) $(CAMPAIGN_CHOICE)

# The same with Open MPI 5, in the Debian 13 root, which installs the programs for itself.
campaign-debian13: | $(O)/.deps-root
	@$(call in_debian13,$(DEPS_BUILD) $(DEPS_CHECK)) campaign \
		$(foreach name,SEED RUNS SIZES PROGRAM FAULT WATCH,$(if $($(name)),$(name)='$($(name))'))

# Three runs of what check-programs has as well; right answers are expected.
NEEDS_check-campaign = $(O)/inject $(FAULTS)
check-campaign: all $(NEEDS_check-campaign) | $(O)/.deps-check
	@mkdir -p $(O)/check
	@$(PYTHON) tests/check_verdicts.py
	@$(PYTHON) tests/run_campaign.py --build $(O) --data $(O)/check/campaign.jsonl --again --strict --sizes 4 \
		--mpi openmpi --program 'LAMMPS pair' --fault loop,stop,healthy --runs 0-2

accuracy:
	@$(PYTHON) tests/accuracy.py --out docs $(ACCURACY_DATA)

.PHONY: campaign campaign-debian13 check-campaign accuracy

NEEDS_check-inject = $(O)/inject $(O)/victim
check-inject: $(NEEDS_check-inject)
	@bash tests/inject/check.sh $(O)/inject $(O)/victim

# A Debian 13, for Open MPI 5 and its PMIx, where this machine is not one; kept from run to run.
# Status 77: it cannot be made here, and has been told why.
DEBIAN13 = $(O)/debian13
is_debian13 := $(shell . /etc/os-release && [ "$$VERSION_CODENAME" = trixie ] && echo yes)
in_debian13 = sh tests/debian_root.sh -p "$(sort $(1))" trixie $(DEBIAN13) \
	make --no-print-directory -j2 O=$(O)/debian13-build

# The checks that the other MPI matters to once more; and what only Open MPI 5 has, a PMIx server. As a part of
# "check" those without which nothing works there: the others take as long again.
CHECK_OTHER_DEBIAN = $(if $(is_debian13),check-pmix,check-debian13)
DEBIAN13_CHECKS ?= check-unit check-recorder+check-watch check-jobs check-hosts+check-sessions check-healthy \
	check-programs check-harmless+check-attach+check-queues+check-pmix+check-traces check-daemons+check-order-hosts+check-tracing-hosts
check: export DEBIAN13_CHECKS := check-recorder+check-watch check-jobs check-hosts+check-sessions \
	check-harmless+check-queues+check-pmix check-daemons+check-order-hosts+check-tracing-hosts

DEPS_DEBIAN13 = $(DEPS_BUILD) $(DEPS_CHECK) $(DEPS_HOSTS)

# While this machine's own is built, since much of it is waiting for packages; why it fails the check itself
# will say.
NEEDS_check-debian13 = debian13-needs
debian13-needs: | $(O)/.deps-root
	$(call say,ROOT,$(DEBIAN13))
	@$(call in_debian13,$(DEPS_DEBIAN13)) check-needs CHECKS='$(DEBIAN13_CHECKS)' >$(O)/debian13-needs.log 2>&1 || :

check-debian13: | $(O)/.deps-root
	@$(call in_debian13,$(DEPS_DEBIAN13)) check CHECKS='$(DEBIAN13_CHECKS)' \
		JOBS_MPI=openmpi KILLS=40; status=$$?; \
	if [ $$status -eq 77 ]; then echo "check-debian13 is left out"; echo "0 passed, 0 failed"; \
	else exit $$status; fi

$(O)/pmix-ask: $(O)/tests/pmix/ask.o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PC_LDLIBS)

NEEDS_check-pmix = $(O)/pmix-ask
check-pmix: $(NEEDS_check-pmix) | $(O)/.deps-check
	@bash tests/pmix/check.sh $(O)/pmix-ask

# ---- The daemons: started and ended in every way, on jobs that count -----------------------------

DAEMONS_START = $(O)/tests/daemons/start

$(DAEMONS_START): $(DAEMONS_START).o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PC_LDLIBS)

# The tree that they answer along, with faults in it.
DAEMONS_TREE = $(O)/tests/daemons/tree-openmpi $(O)/tests/daemons/tree-mpich
DAEMONS_TREE_OBJ = $(DAEMONS_TREE:%=%.o)

$(DAEMONS_TREE_OBJ): $(O)/tests/daemons/tree-%.o: tests/daemons/tree.c | $(O)/.deps-build
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(subst -I,-isystem ,$(REC_CPP_$*)) -MMD -MP -c -o $@ $<

$(O)/tests/daemons/tree-openmpi: $(O)/attach/daemons/pdbd_tree-openmpi.o
$(O)/tests/daemons/tree-mpich: $(O)/attach/daemons/pdbd_tree-mpich.o

$(DAEMONS_TREE): $(O)/tests/daemons/tree-%: $(O)/tests/daemons/tree-%.o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) \
		$(O)/libpdb.a $(PDBD_LIBS) $(PC_LDLIBS)

NEEDS_check-daemons = $(DAEMONS) $(DAEMONS_START) $(DAEMONS_TREE)
check-daemons: $(NEEDS_check-daemons) | $(O)/.deps-check
	@bash tests/daemons/check.sh $(O)

.PHONY: check-daemons
-include $(DAEMONS_START).d $(DAEMONS_TREE_OBJ:.o=.d)

# MPI=native: with the Open MPI that this machine has.
ifneq ($(filter native,$(MPI))$(is_debian13),)
DEMO_SAID = $(O)/demo.said
demo: all inject | $(O)/.deps-demo $(has_hosts)
	@sh tests/demo.sh $(O)
else
DEMO_SAID = $(O)/debian13-build/demo.said
demo: | $(O)/.deps-root
	@$(call in_debian13,$(DEPS_BUILD) $(DEPS_DEMO) $(DEPS_HOSTS)) MPI=native demo
endif

# README.md's transcript is of what it says.
docs-demo: demo | $(O)/.deps-check
	@$(PYTHON) tests/check_docs.py $(O) --demo $(DEMO_SAID)

.PHONY: docs-demo

.PHONY: inject check-inject check-debian13 debian13-needs check-pmix
-include $(INJECT_OBJ:.o=.d) $(O)/tests/pmix/ask.d

# ---- attach/: fixtures of its unit tests, job tests, the sampling benchmark --------------------

ATTACH = $(O)/tests/attach
ATTACH_NAMES = ranges c c-stripped c-split c-wrong c-shared cxx cxx-stripped inline inline-stripped f f-stripped
ATTACH_FIXTURES = $(ATTACH_NAMES:%=$(ATTACH)/names_%.so)

$(O)/tests/unit/test_symbols: | $(ATTACH_FIXTURES)

$(ATTACH)/names_c.so: tests/attach/names_c.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -fPIC -shared -Wl,--build-id -o $@ $<
$(ATTACH)/names_ranges.so: tests/attach/names_ranges.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -fPIC -shared -Wl,--build-id -o $@ $<
$(ATTACH)/names_cxx.so $(ATTACH)/names_inline.so: $(ATTACH)/names_%.so: tests/attach/names_%.cc | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && g++ -O2 -g -fPIC -shared -Wl,--build-id -o $@ $<
$(ATTACH)/names_f.so: tests/attach/names_f.f90 | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(FC) -J$(@D) -O2 -g -fPIC -shared -Wl,--build-id -o $@ $<
$(ATTACH)/names_%-stripped.so: $(ATTACH)/names_%.so
	$(Q)strip -o $@ $<
# The debug information in a file of its own, found by name; and a name that leads to another's.
$(ATTACH)/names_c-split.so: $(ATTACH)/names_c.so
	$(Q)cd $(@D) && objcopy --only-keep-debug names_c.so names_c-split.debug && \
		objcopy --strip-all --add-gnu-debuglink=names_c-split.debug names_c.so $(@F)
# As dwz leaves a file: its strings are in one that it names, with a build-id.
$(ATTACH)/names_c-shared.so: tests/attach/names_c.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -dA -fPIC -S -o $(@:.so=.s) $< && \
		$(CC) -shared -Wl,--build-id=0x0102030405060708 -o $(@:.so=.debug) $(@:.so=.s) && \
		sed -i 's/\.uleb128 0xe\(.*DW_FORM_strp)\)/.uleb128 0x1f21\1/' $(@:.so=.s) && \
		printf '$(basename $(@F)).debug\0\1\2\3\4\5\6\7\10' >$(@:.so=.link) && \
		$(CC) -shared -Wl,--build-id -o $@ $(@:.so=.s) && \
		objcopy --add-section .gnu_debugaltlink=$(@:.so=.link) $@
$(ATTACH)/names_c-wrong.so: $(ATTACH)/names_c.so $(ATTACH)/names_cxx.so
	$(Q)cd $(@D) && objcopy --only-keep-debug names_cxx.so names_c-wrong.debug && \
		objcopy --strip-all --add-gnu-debuglink=names_c-wrong.debug names_c.so $(@F)

# By its name Open MPI's, for its message queues.
$(O)/tests/unit/test_openmpi_queues $(O)/tests/unit/test_daemon_look: | $(ATTACH)/libmpi.so.40
$(ATTACH)/libmpi.so.40: tests/attach/fake_mpi.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -fPIC -shared -o $@ $<
$(O)/tests/unit/test_openmpi_ucx: | $(ATTACH)/libmpi.so.40 $(ATTACH)/mca_pml_ucx.so
$(ATTACH)/mca_pml_ucx.so: tests/attach/fake_pml_ucx.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -fPIC -shared -o $@ $<

# Programs that sleep, for gdb.
$(O)/tests/unit/test_gdb_call: | $(ATTACH)/sleeps_cxx $(ATTACH)/sleeps_f $(ATTACH)/libmpi_sleeps.so

$(ATTACH)/sleeps_cxx: tests/attach/sleeps_cxx.cc | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && g++ -O0 -g -o $@ $<
$(ATTACH)/sleeps_f: tests/attach/sleeps_f.f90 | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(FC) -J$(@D) -O0 -g -o $@ $<
$(ATTACH)/libmpi_sleeps.so: tests/attach/sleeps_mpi.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O0 -g -fPIC -shared -o $@ $<

# Loops and branches at each level of optimization, for the temporal order.
ORDER = $(O)/tests/order
ORDER_LEVELS = O0 O1 O2 O3
ORDER_PROGRAMS = $(ORDER_LEVELS:%=$(ORDER)/order-%) $(ORDER)/order-fixed $(ORDER)/order-static \
	$(ORDER)/order-stripped

$(O)/tests/unit/test_order: | $(ORDER_PROGRAMS)

$(ORDER)/main.o: tests/order/order_main.c tests/order/order.h | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -Wall -Wextra -Werror -c -o $@ $<
$(ORDER)/c-%.o: tests/order/order_c.c tests/order/order.h | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -$* -g -Wall -Wextra -Werror -c -o $@ $<
$(ORDER)/traps-%.o: tests/order/order_traps.c tests/order/order.h | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -$* -g -Wall -Wextra -Werror -c -o $@ $<
$(ORDER)/cxx-%.o: tests/order/order_cxx.cc tests/order/order.h | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CXX) -$* -g -Wall -Wextra -Werror -c -o $@ $<
$(ORDER)/f-%.o: tests/order/order_f.f90 | $(O)/.deps-check
	$(Q)mkdir -p $(@D)/$* && $(FC) -J$(@D)/$* -$* -g -c -o $@ $<
$(ORDER)/order-O%: $(ORDER)/main.o $(ORDER)/c-O%.o $(ORDER)/traps-O%.o $(ORDER)/cxx-O%.o $(ORDER)/f-O%.o
	$(call say,LD,$@)
	$(Q)$(FC) -o $@ $^ -lstdc++
# Without position-independent code, with the tables of switches that go with that.
$(ORDER)/order-fixed: tests/order/order_main.c tests/order/order_c.c tests/order/order_traps.c \
		$(ORDER)/cxx-O2.o tests/order/order_f.f90 | $(O)/.deps-check
	$(call say,LD,$@)
	$(Q)mkdir -p $(ORDER)/fixed && cd $(ORDER)/fixed && \
		$(CC) -O2 -g -fno-pie -c $(addprefix $(CURDIR)/,$(filter %.c,$^)) && \
		$(FC) -O2 -g -fno-pie -no-pie -o ../$(@F) $(CURDIR)/tests/order/order_f.f90 *.o \
			../cxx-O2.o -lstdc++
$(ORDER)/order-static: $(ORDER)/main.o $(ORDER)/c-O2.o $(ORDER)/traps-O2.o $(ORDER)/cxx-O2.o $(ORDER)/f-O2.o
	$(call say,LD,$@)
	$(Q)$(FC) -static -Wl,--eh-frame-hdr -o $@ $^ -lstdc++
$(ORDER)/order-stripped: $(ORDER)/order-O2
	$(Q)strip -o $@ $<

# Under each MPI.
ORDER_JOBS = $(foreach mpi,openmpi mpich,$(ORDER)/counting-$(mpi) \
	$(foreach level,O0 O2,$(ORDER)/poisson-$(mpi)-$(level) $(ORDER)/poisson_f-$(mpi)-$(level)))

define order_programs
$(ORDER)/poisson-$(1)-%: tests/order/poisson.c tests/mpi/fault.h | $(O)/.deps-check
	$$(call say,MPICC,$$@)
	$(Q)mkdir -p $$(@D) && mpicc.$(1) -$$* -g -iquote tests/mpi -o $$@ $$< -lm
$(ORDER)/poisson_f-$(1)-%: tests/order/poisson_f.f90 | $(O)/.deps-check
	$$(call say,MPIFC,$$@)
	$(Q)mkdir -p $$(@D)/$$*-$(1) && mpifort.$(1) -J$$(@D)/$$*-$(1) -$$* -g -fno-inline -o $$@ $$<
$(ORDER)/counting-$(1): tests/order/counting.c | $(O)/.deps-check
	$$(call say,MPICC,$$@)
	$(Q)mkdir -p $$(@D) && mpicc.$(1) -O0 -g -o $$@ $$<
endef
$(foreach mpi,openmpi mpich,$(eval $(call order_programs,$(mpi))))

NEEDS_check-order = $(ORDER_JOBS)
check-order: all $(NEEDS_check-order)
	@bash tests/order/run.sh $(O)
NEEDS_check-order-hosts = $(ORDER_JOBS)
check-order-hosts: all $(NEEDS_check-order-hosts) | $(has_hosts)
	@bash tests/order/run.sh $(O) hosts

.PHONY: check-order check-order-hosts

# ---- Traces of real jobs -------------------------------------------------------------------------

check-tracing: all | $(O)/.deps-check
	@bash tests/tracing/run.sh $(O)
check-tracing-hosts: all | $(has_hosts)
	@bash tests/tracing/run.sh $(O) hosts

.PHONY: check-tracing check-tracing-hosts
.SECONDARY: $(foreach part,c traps cxx f,$(ORDER_LEVELS:%=$(ORDER)/$(part)-%.o))

$(ATTACH)/look $(ATTACH)/print_queues $(ATTACH)/sample_bench: $(ATTACH)/%: $(ATTACH)/%.o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PC_LDLIBS)
$(ATTACH)/blocked-%: tests/attach/blocked.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && mpicc.$* -O2 -g -o $@ $<

$(ATTACH)/queues-%: tests/attach/queues.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && mpicc.$* -O2 -g -o $@ $<

$(ATTACH)/alone-%: tests/attach/alone.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && mpicc.$* -O2 -g -o $@ $<

NEEDS_check-attach = $(ATTACH)/look $(ATTACH)/blocked-openmpi $(ATTACH)/blocked-mpich
check-attach: $(NEEDS_check-attach)
	@sh tests/attach/run.sh $(O)

# Message queues, as they are in the memory of MPI libraries.
NEEDS_check-queues = $(ATTACH)/print_queues $(ATTACH)/queues-openmpi $(ATTACH)/queues-mpich $(ATTACH)/alone-mpich
check-queues: $(NEEDS_check-queues)
	@sh tests/attach/queues.sh $(O)

# What a stack sample costs, beside eu-stack and gdb on the same ranks.
bench-sample: $(ATTACH)/sample_bench $(ATTACH)/blocked-openmpi $(ATTACH)/blocked-mpich
	@sh tests/attach/bench.sh $(O)

# What reading them takes.
bench-queues: $(ATTACH)/print_queues $(ATTACH)/queues-openmpi $(ATTACH)/queues-mpich
	@sh tests/bench/queues.sh $(O)

.PHONY: check-attach check-queues bench-sample bench-queues
-include $(ATTACH)/look.d $(ATTACH)/print_queues.d $(ATTACH)/sample_bench.d

# ---- The recorder in real MPI programs, and what a call costs ------------------------------------

READ_SEGMENT = $(O)/tests/recorder/read_segment

$(READ_SEGMENT): $(READ_SEGMENT).o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PC_LDLIBS)

-include $(READ_SEGMENT).d

check-recorder: $(RECORDERS) $(READ_SEGMENT) | $(O)/.deps-check
	@JOBS_MPI='$(JOBS_MPI)' bash tests/run_recorder.sh $(O) $(TEST)

# Not of "check": all functions with up to two wrong arguments, a million requests, sanitizers, other people's
# programs; half an hour.
check-recorder-long: $(RECORDERS) | $(O)/.deps-unharmed
	@bash tests/recorder/unharmed.sh $(O) openmpi long $(TEST)
	@bash tests/recorder/unharmed.sh $(O) mpich long $(TEST)

RECORDER_BENCH = $(O)/tests/bench/recorder_bench-openmpi $(O)/tests/bench/recorder_bench-mpich

$(RECORDER_BENCH): $(O)/tests/bench/recorder_bench-%: $(wildcard tests/bench/recorder_bench*.[ch]) \
		tests/bench/recorder_bench_f.f90 | $(O)/.deps-check
	$(call say,MPICC,$@)
	$(Q)mkdir -p $@.dir && cd $@.dir && mpicc.$* -O2 -g -Wno-stringop-overflow -c $(filter %.c,$(abspath $^))
	$(Q)cd $@.dir && mpifort.$* -O2 -g -o ../$(@F) $(filter %.f90,$(abspath $^)) *.o

# Set beside the recorder: a library that only counts, and one that asks backtrace() for each stack.
PMPI_LIBRARIES = $(foreach mpi,openmpi mpich,$(O)/tests/bench/pmpi_count-$(mpi).so $(O)/tests/bench/pmpi_backtrace-$(mpi).so)

$(O)/tests/bench/pmpi_count-%.so: tests/bench/pmpi_count.c | $(O)/.deps-check
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.$* -O2 -g -Wall -Wextra -Werror -fPIC -shared -o $@ $<
$(O)/tests/bench/pmpi_backtrace-%.so: tests/bench/pmpi_count.c | $(O)/.deps-check
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.$* -O2 -g -Wall -Wextra -Werror -DBACKTRACE -fPIC -shared -o $@ $<

# RUNS=3: fewer than seven of each kind.
bench-recorder: $(RECORDERS) $(RECORDER_BENCH) $(PMPI_LIBRARIES)
	@sh tests/bench/recorder_bench.sh $(O) $(or $(RUNS),7)

# For a change of the recorder on a busy machine. BEFORE=DIR: beside those of another build.
bench-instructions: $(RECORDERS) $(RECORDER_BENCH) | $(O)/.deps-bench
	@bash tests/bench/recorder_instructions.sh $(O) $(or $(BEFORE),-) $(TEST)

# Says what differs from the kept figures, which are of Debian 12's compiler, and fails only where the
# recorder was not there. After a change that is meant:
#	make bench-instructions >tests/bench/recorder_instructions.txt
NEEDS_check-instructions = $(RECORDERS) $(RECORDER_BENCH)
check-instructions: $(NEEDS_check-instructions) | $(O)/.deps-bench
	@bash tests/bench/recorder_instructions.sh $(O) tests/bench/recorder_instructions.txt

.PHONY: check-recorder check-recorder-long bench-recorder bench-instructions check-instructions

# ---- analysis/: merging and analysing the models of many ranks ---------------------------------

ANALYSIS_BENCH = $(O)/tests/bench/analysis_bench
WAITS_BENCH = $(O)/tests/bench/waits_bench
SHARE_BENCH = $(O)/tests/bench/share_bench
TRACE_BENCH = $(O)/tests/bench/trace_bench
DIGEST_BENCH = $(O)/tests/bench/digest_bench
TRACE_ANALYSIS_BENCH = $(O)/tests/bench/trace_analysis_bench
WRITE_JOB = $(O)/tests/bench/write_job
STATES_BENCH = $(O)/tests/bench/states_bench

$(ANALYSIS_BENCH) $(WAITS_BENCH) $(SHARE_BENCH) $(TRACE_BENCH) $(TRACE_ANALYSIS_BENCH) $(DIGEST_BENCH) $(WRITE_JOB) $(STATES_BENCH): \
		$(O)/tests/bench/%: tests/bench/%.c $(O)/libfixtures.a $(O)/libpdb.a | $(O)/.deps-check
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(PC_CFLAGS) -MMD -MP -o $@ $< $(O)/libfixtures.a $(O)/libpdb.a \
		$(PC_LDLIBS)

-include $(ANALYSIS_BENCH).d $(WAITS_BENCH).d $(SHARE_BENCH).d $(TRACE_BENCH).d $(TRACE_ANALYSIS_BENCH).d $(DIGEST_BENCH).d $(WRITE_JOB).d $(STATES_BENCH).d

# What daemons send to who watches a job over many nodes, and what that costs.
bench-digests: $(DIGEST_BENCH)
	@$(DIGEST_BENCH) $(or $(RANKS),1024 4096 16384)

# RANKS='1024 1000000': other sizes; a rank takes about 40 KB.
bench-analysis: $(ANALYSIS_BENCH) $(WAITS_BENCH)
	@$(ANALYSIS_BENCH) $(or $(RANKS),1024 16384 65536)
	@$(WAITS_BENCH) $(or $(RANKS),1024 16384 65536)

# What an event of a trace costs the traced program and how large traces get; what it takes to
# compare those of many ranks, and two long ones.
bench-traces: $(TRACE_BENCH) $(TRACE_ANALYSIS_BENCH)
	@$(TRACE_BENCH)
	@$(TRACE_ANALYSIS_BENCH)

# What nodes send, how it is merged up a tree of nodes, and what the result costs.
bench-share: $(SHARE_BENCH)
	@$(SHARE_BENCH) $(or $(RANKS),1024 16384)

# The same up to a million ranks, about a minute of one core; docs/scale.* tell what it measured.
bench-scale: $(SHARE_BENCH)
	@$(SHARE_BENCH) --tree $(or $(RANKS),1024 16384 131072 1048576) >$(O)/scale.txt
	@cat $(O)/scale.txt
	@$(PYTHON) tests/bench/scale.py docs/scale.md docs/scale.svg <$(O)/scale.txt

# The same by the number of states of a rank, and by how much the ranks differ. With 1,024 ranks and
# 10,000 states, all different, it takes 3 GB.
bench-states: $(STATES_BENCH)
	@$(STATES_BENCH) 256 10 100 1000 10000 65000
	@$(STATES_BENCH) 1024 10 100 1000 10000

# Stacks of many ranks until they are merged: $(RANKS) on this node beside eu-stack and gdb, and a
# million that are simulated.
STACKS_BENCH = $(O)/tests/bench/stacks_bench

$(STACKS_BENCH): $(STACKS_BENCH).o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PC_LDLIBS)

-include $(STACKS_BENCH).d

bench-stacks: $(STACKS_BENCH) $(O)/tests/attach/blocked-openmpi
	@sh tests/bench/stacks.sh $(O) $(or $(RANKS),64)

.PHONY: bench-analysis bench-states bench-digests bench-traces bench-share bench-stacks bench-scale

# False alarms and delays in simulated jobs, with the recorder (pace) and without;
# docs/hang-detection.md tells what they measured. HOURS=100000 SEED=1: more of those without, about
# five minutes of one core; PACE_HOURS: of those with the recorder.
HANG_BENCH = $(O)/tests/bench/hang_bench
PACE_BENCH = $(O)/tests/bench/pace_bench

$(HANG_BENCH) $(PACE_BENCH): %: %.o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PC_LDLIBS)

-include $(HANG_BENCH).d $(PACE_BENCH).d

bench-hang: $(HANG_BENCH) $(PACE_BENCH)
	@$(PACE_BENCH) $(or $(PACE_HOURS),240) $(or $(SEED),1)
	@echo
	@$(HANG_BENCH) $(or $(HOURS),1300) $(or $(SEED),1)

.PHONY: bench-hang

# ---- The link to the daemons, beside a plain socket ---------------------------------------------

LINK_BENCH = $(O)/tests/bench/link_bench

$(LINK_BENCH): $(LINK_BENCH).o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PC_LDLIBS)

-include $(LINK_BENCH).d

# MEGABYTES=1000: more of them.
bench-link: $(LINK_BENCH)
	@$(LINK_BENCH) $(or $(MEGABYTES),100)

.PHONY: bench-link

# ---- Other users of the machine -----------------------------------------------------------------

$(O)/tests/security/names: tests/security/names.c | $(O)/.deps-check
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.mpich -O2 -g -Wall -Wextra -Werror -o $@ $<

$(O)/tests/security/launcher: tests/security/launcher.c | $(O)/.deps-check
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -rdynamic -o $@ $<

NEEDS_check-security = $(O)/tests/security/names
check-security: all $(NEEDS_check-security)
	@bash tests/security/run.sh $(O)

NEEDS_check-identity = $(NEEDS_check-security) $(O)/tests/security/launcher $(O)/tests/watch/phases-mpich
check-identity: all $(NEEDS_check-identity)
	@bash tests/security/identity.sh $(O)

# What reaches a terminal.
NEEDS_check-terminal = $(O)/tests/security/names $(O)/tests/security/launcher
check-terminal: all $(NEEDS_check-terminal)
	@bash tests/security/terminal.sh $(O)

.PHONY: check-security check-identity check-terminal

# ---- Sources without running them ------------------------------------------------------------------
# Both compilers' warnings are errors: gcc's of every build, clang's of check-fuzz.

check-lint: all | $(O)/.deps-lint
	@bash tests/lint/run.sh $(O) format cppcheck shell python exports
# All of it: some minutes.
lint: all | $(O)/.deps-lint
	@bash tests/lint/run.sh $(O) format cppcheck shell python exports tidy

format: | $(O)/.deps-lint
	$(Q)git ls-files '*.[ch]' | xargs clang-format-14 -i

.PHONY: check-lint lint format

# ---- Fuzzing -------------------------------------------------------------------------------------

include tests/fuzz/fuzz.mk

# ---- Built before the parts are run, since those side by side must not build the same ------------

NEEDS = $(foreach part,$(subst $(comma), ,$(subst +, ,$(CHECKS))),$(NEEDS_$(part)))
# What takes longest first.
check-needs: $(filter debian13-needs,$(NEEDS)) all $(NEEDS) | $(O)/.deps-check
.PHONY: check-needs
