# SPDX-License-Identifier: BSD-3-Clause
# What a bad run does otherwise than a good one, by their traces.

NEEDS_check-traces = $(O)/inject
check-traces: all $(NEEDS_check-traces) | $(O)/.deps-check
	@$(RUN) tests/traces/run.py $(JOBS_ARGS)

.PHONY: check-traces
