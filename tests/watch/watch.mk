# SPDX-License-Identifier: BSD-3-Clause
# Jobs that are watched until they end or hang.

UNEVEN_PROGRAMS = $(call under_each_mpi,watch/uneven)
WATCH_PROGRAMS = $(call under_each_mpi,watch/phases) $(UNEVEN_PROGRAMS)

NEEDS_check-watch = $(WATCH_PROGRAMS)
check-watch: all $(NEEDS_check-watch) | $(O)/.deps-check
	@bash tests/watch/run.sh $(O) $(JOBS_MPI)

NEEDS_check-watch-trouble = $(WATCH_PROGRAMS) $(O)/tests/watch/jump.so
check-watch-trouble: all $(NEEDS_check-watch-trouble) | $(O)/.deps-check
	@bash tests/watch/trouble.sh $(O) $(JOBS_MPI)

check-elsewhere: all | $(O)/.deps-check
	@bash tests/watch/elsewhere.sh $(O)

.PHONY: check-watch check-watch-trouble check-elsewhere
