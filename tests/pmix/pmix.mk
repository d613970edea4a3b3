# SPDX-License-Identifier: BSD-3-Clause
# The PMIx connection to a launcher that serves it: Open MPI 5's.

NEEDS_check-pmix = $(O)/tests/pmix/pmix-ask
check-pmix: $(NEEDS_check-pmix) | $(O)/.deps-check
	@bash tests/pmix/check.sh $(O)/tests/pmix/pmix-ask

.PHONY: check-pmix
