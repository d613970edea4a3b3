# SPDX-License-Identifier: BSD-3-Clause
# The recorder in real MPI programs.

NEEDS_check-recorder = $(O)/tests/recorder/read_segment
check-recorder: $(RECORDERS) $(NEEDS_check-recorder) | $(O)/.deps-check
	@JOBS_MPI='$(JOBS_MPI)' bash tests/recorder/run_all.sh $(O) $(TEST)

# All functions with up to two wrong arguments, a million requests, sanitizers, other people's
# programs; half an hour.
check-recorder-long: $(RECORDERS) | $(O)/.deps-unharmed
	@bash tests/recorder/unharmed.sh $(O) openmpi long $(TEST)
	@bash tests/recorder/unharmed.sh $(O) mpich long $(TEST)

.PHONY: check-recorder check-recorder-long
