# SPDX-License-Identifier: BSD-3-Clause
# The fault campaign: real programs, one fault each (docs/testing.md).
# RUNS=0-499 which runs of SEED=1 are made (those in the file of raw data are not made again), SIZES=4,8
# numbers of ranks, PROGRAM='LAMMPS pair' FAULT=loop JOBS_MPI=mpich only these, WATCH=recorder and
# WATCH=stacks: the hangs are found by pdb watch. Each run that is not
# watched leaves snapshots in build/campaign/snapshots, which "make verdicts-add" keeps.

CAMPAIGN_DATA ?= $(O)/campaign/runs.jsonl
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
	@CAMPAIGN_BUILD=$(O)/tests $(RUN) tests/campaign/run.py $(CAMPAIGN_ARGS) $(CAMPAIGN_CHOICE)

# The same with Open MPI 5, in the Debian 13 root, which installs the programs for itself.
campaign-debian13: | $(O)/.deps-root
	@$(call in_debian13,$(DEPS_BUILD) $(DEPS_CHECK)) campaign \
		$(foreach name,SEED RUNS SIZES PROGRAM FAULT WATCH,$(if $($(name)),$(name)='$($(name))'))

# Three runs of what check-programs has as well; right answers are expected.
NEEDS_check-campaign = $(O)/inject $(FAULTS)
check-campaign: all $(NEEDS_check-campaign) | $(O)/.deps-check
	@mkdir -p $(O)/check
	@$(RUN) tests/campaign/run.py --build $(O) --data $(O)/check/campaign.jsonl --again --strict --sizes 4 \
		--mpi openmpi --program 'LAMMPS pair' --fault loop,stop,healthy --runs 0-2

.PHONY: campaign campaign-debian13 check-campaign
