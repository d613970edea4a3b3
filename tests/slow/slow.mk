# SPDX-License-Identifier: BSD-3-Clause
# Jobs that crawl.

NEEDS_check-slow = $(O)/tests/slow/steps-openmpi
$(NEEDS_check-slow): MPI_FLAGS = -O1 -g $(WARN_TEST)

check-slow: all $(NEEDS_check-slow) | $(O)/.deps-check
	@bash tests/slow/run.sh $(O)

NEEDS_check-slow-hosts = $(NEEDS_check-slow)
check-slow-hosts: all $(NEEDS_check-slow-hosts) | $(O)/.deps-check $(has_hosts)
	@bash tests/slow/run.sh $(O) hosts

.PHONY: check-slow check-slow-hosts
