# SPDX-License-Identifier: BSD-3-Clause
# Core files.

NEEDS_check-cores = $(call under_each_mpi,cores/crash)
$(NEEDS_check-cores): MPI_FLAGS = -O1 -g $(WARN_TEST)

check-cores: all $(NEEDS_check-cores) | $(O)/.deps-check
	@bash tests/cores/run.sh $(O)

.PHONY: check-cores
