# SPDX-License-Identifier: BSD-3-Clause
# Real MPI jobs (docs/testing.md).
# TEST='words' selects tests by their names, REPEAT=10 runs each so often, SEED=2 picks other ranks
# and moments, SAMPLES=200 is how often check-healthy looks at a correct program, JOBS_MPI=mpich
# runs only that MPI, SIZES=all the programs with all their numbers of ranks under each MPI,
# WORKERS=1 one test at a time, HOSTS=2 runs the jobs over so many hosts (check-jobs),
# RECORDER=no many runs without the recorder (check-programs).

JOBS_ARGS = --build $(O) $(if $(JOBS_MPI),--mpi $(JOBS_MPI))

NEEDS_check-jobs = $(FAULTS)
check-jobs: all $(NEEDS_check-jobs) | $(O)/.deps-check $(if $(HOSTS),$(O)/.deps-hosts)
	@$(RUN) tests/jobs/run.py $(JOBS_ARGS) $(if $(HOSTS),--hosts $(HOSTS))

# One program of each kind.
NEEDS_check-kinds = $(FAULTS)
check-kinds: all $(NEEDS_check-kinds) | $(O)/.deps-check
	@$(RUN) tests/jobs/run.py $(JOBS_ARGS) --short

check-healthy: all | $(O)/.deps-check
	@$(RUN) tests/jobs/run_healthy.py $(JOBS_ARGS)

NEEDS_check-programs = $(O)/inject $(O)/libfault-openmpi.so
check-programs: all $(NEEDS_check-programs) | $(O)/.deps-check
	@$(RUN) tests/jobs/run_programs.py --build $(O) $(if $(filter no,$(RECORDER)),--no-recorder)

check-trouble: all | $(O)/.deps-check
	@$(RUN) tests/jobs/run_trouble.py $(JOBS_ARGS)

.PHONY: check-jobs check-kinds check-healthy check-programs check-trouble
