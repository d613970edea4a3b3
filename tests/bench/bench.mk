# SPDX-License-Identifier: BSD-3-Clause
# What pdb costs, beside the alternatives (docs/testing.md, docs/performance.md).

# ---- The recorder: what a call costs ----

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

# ---- Stacks, queues, watching ----

# What a stack sample costs, beside eu-stack and gdb on the same ranks.
bench-sample: $(O)/tests/attach/sample_bench $(call under_each_mpi,attach/blocked)
	@sh tests/attach/bench.sh $(O)

# What reading them takes.
bench-queues: $(O)/tests/attach/print_queues $(call under_each_mpi,attach/queues)
	@sh tests/bench/queues.sh $(O)

# Stacks of many ranks until they are merged: $(RANKS) on this node beside eu-stack and gdb, and a
# million that are simulated.
bench-stacks: $(O)/tests/bench/stacks_bench $(O)/tests/attach/blocked-openmpi
	@sh tests/bench/stacks.sh $(O) $(or $(RANKS),64)

# What watching 64 ranks costs.
bench-watch: all $(WATCH_PROGRAMS) | $(O)/.deps-check
	@bash tests/bench/watch.sh $(O) $(or $(RANKS),64)

# ---- Analysis: merging and analysing the models of many ranks ----

# What daemons send to who watches a job over many nodes, and what that costs.
bench-digests: $(O)/tests/bench/digest_bench
	@$< $(or $(RANKS),1024 4096 16384)

# RANKS='1024 1000000': other sizes; a rank takes about 40 KB.
bench-analysis: $(O)/tests/bench/analysis_bench $(O)/tests/bench/waits_bench
	@$(O)/tests/bench/analysis_bench $(or $(RANKS),1024 16384 65536)
	@$(O)/tests/bench/waits_bench $(or $(RANKS),1024 16384 65536)

# What an event of a trace costs the traced program and how large traces get; what it takes to
# compare those of many ranks, and two long ones.
bench-traces: $(O)/tests/bench/trace_bench $(O)/tests/bench/trace_analysis_bench
	@$(O)/tests/bench/trace_bench
	@$(O)/tests/bench/trace_analysis_bench

# What nodes send, how it is merged up a tree of nodes, and what the result costs.
bench-share: $(O)/tests/bench/share_bench
	@$< $(or $(RANKS),1024 16384)

# The same up to a million ranks, about a minute of one core; docs/scale.* tell what it measured.
bench-scale: $(O)/tests/bench/share_bench
	@$< --tree $(or $(RANKS),1024 16384 131072 1048576) >$(O)/scale.txt
	@cat $(O)/scale.txt
	@$(PYTHON) tests/bench/scale.py docs/scale.md docs/scale.svg <$(O)/scale.txt

# The same by the number of states of a rank, and by how much the ranks differ. With 1,024 ranks and
# 10,000 states, all different, it takes 3 GB.
bench-states: $(O)/tests/bench/states_bench
	@$< 256 10 100 1000 10000 65000
	@$< 1024 10 100 1000 10000

# False alarms and delays in simulated jobs, with the recorder (pace) and without;
# docs/hang-detection.md tells what they measured. HOURS=100000 SEED=1: more of those without, about
# five minutes of one core; PACE_HOURS: of those with the recorder.
bench-hang: $(O)/tests/bench/hang_bench $(O)/tests/bench/pace_bench
	@$(O)/tests/bench/pace_bench $(or $(PACE_HOURS),240) $(or $(SEED),1)
	@echo
	@$(O)/tests/bench/hang_bench $(or $(HOURS),1300) $(or $(SEED),1)

# The link to the daemons, beside a plain socket. MEGABYTES=1000: more of them.
bench-link: $(O)/tests/bench/link_bench
	@$< $(or $(MEGABYTES),100)

# ---- The whole ----

# RANKS='1 16 256': jobs of so many; ASLEEP=yes: ranks sleep while they wait, so that many have room.
ASLEEP_LIBRARY = $(O)/tests/bench/asleep.so

bench-first-answer: all $(ASLEEP_LIBRARY) | $(O)/.deps-check
	@$(RUN) tests/bench/first_answer.py --build $(O) --ranks $(or $(RANKS),64) \
		$(if $(ASLEEP),--asleep $(ASLEEP_LIBRARY))

# What commands cost on a snapshot of RANKS ranks.
bench-commands: all $(O)/tests/bench/write_job | $(O)/.deps-check
	@$(RUN) tests/bench/commands.py --build $(O) --ranks $(or $(RANKS),4096)

# The same on four hosts, with the start of the daemons.
bench-hosts: all | $(O)/.deps-check $(has_hosts)
	@$(RUN) tests/bench/hosts.py --build $(O)

# PROGRAM='HPL,PETSc' JOBS_MPI=openmpi: only these; ROUNDS=10 pairs of runs of each. Pairs that are in the
# log are not made again. Those that "make campaign" installs are measured if they are there.
PROGRAMS_LOG ?= $(O)/bench-programs.jsonl
bench-programs: all $(O)/tests/campaign/petsc | $(O)/.deps-check $(O)/.deps-campaign
	@CAMPAIGN_BUILD=$(O)/tests $(RUN) tests/bench/programs.py --build $(O) --log $(PROGRAMS_LOG) \
		--rounds $(or $(ROUNDS),10) $(if $(PROGRAM),--program '$(PROGRAM)') $(if $(JOBS_MPI),--mpi $(JOBS_MPI))

# One after the other even with -j: they would measure each other.
BENCHES = bench-recorder bench-sample bench-queues bench-stacks bench-analysis bench-traces bench-hang bench-digests bench-link bench-share bench-first-answer bench-hosts bench-programs

bench: all | $(O)/.deps-check
	@for bench in $(BENCHES); do $(MAKE) --no-print-directory O=$(O) $$bench || exit 1; done

# docs/performance.md. ONLY='recorder commands': some of its blocks; ONLY=programs: the one that takes hours.
performance: all | $(O)/.deps-check $(O)/.deps-bench
	@$(PYTHON) tests/bench/performance.py --build $(O) docs/performance.md $(ONLY)

.PHONY: bench performance check-instructions bench-recorder bench-instructions bench-sample bench-queues bench-stacks
.PHONY: bench-watch bench-digests bench-analysis bench-traces bench-share bench-scale bench-states bench-hang bench-link
.PHONY: bench-first-answer bench-commands bench-hosts bench-programs
