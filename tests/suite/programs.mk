# SPDX-License-Identifier: BSD-3-Clause
# How small programs of the tests are built, and what all of tests/*/*.mk share.

PYTHON = /usr/bin/python3
# A runner, which imports from the folders of tests/.
RUN = PYTHONPATH=$(CURDIR)/tests $(PYTHON)

comma := ,
space := $(subst ,, )
is_debian13 := $(shell . /etc/os-release && [ "$$VERSION_CODENAME" = trixie ] && echo yes)
# Without root no hosts can be made, and what they need is not missed.
has_hosts := $(if $(filter 0,$(shell id -u)),$(O)/.deps-hosts)

WARN_TEST = -Wall -Wextra -Werror

# An MPI program NAME-openmpi or NAME-mpich of NAME.c. MPI_FLAGS: others for some of them.
MPI_FLAGS = -O2 -g $(WARN_TEST)
define mpi_program
$(O)/tests/%-$(1): tests/%.c | $(O)/.deps-check
	$$(call say,MPICC,$$@)
	$$(Q)mkdir -p $$(@D) && mpicc.$(1) $$(MPI_FLAGS) -o $$@ $$<
endef
$(foreach mpi,openmpi mpich,$(eval $(call mpi_program,$(mpi))))
under_each_mpi = $(1:%=$(O)/tests/%-openmpi) $(1:%=$(O)/tests/%-mpich)

# The program that hangs, where the harness of tests/jobs does not build it.
NESTED = $(call under_each_mpi,mpi/nested)
$(NESTED): MPI_FLAGS = -O1 -g
$(NESTED): tests/mpi/fault.h

# What is preloaded.
$(O)/tests/%.so: tests/%.c | $(O)/.deps-check
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g $(WARN_TEST) -fPIC -shared -o $@ $<

# A program without anything of pdb's.
PLAIN_PROGRAMS = $(O)/tests/harmless/stops $(O)/tests/security/launcher
$(PLAIN_PROGRAMS): $(O)/tests/%: tests/%.c | $(O)/.deps-check
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g $(WARN_TEST) -D_GNU_SOURCE -rdynamic -o $@ $<

# A program with all of pdb and of the unit tests' fixtures.
TOOLS = $(addprefix $(O)/tests/,shell/print_commands verdicts/replay attach/look attach/print_queues attach/sample_bench \
	daemons/start pmix/pmix-ask recorder/read_segment) $(BENCH_TOOLS)
BENCH_TOOLS = $(patsubst %,$(O)/tests/bench/%,analysis_bench waits_bench share_bench trace_bench digest_bench \
	trace_analysis_bench write_job states_bench stacks_bench hang_bench pace_bench link_bench)
$(TOOLS): %: %.o $(O)/libfixtures.a $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(PC_LDLIBS)
-include $(TOOLS:=.d)
