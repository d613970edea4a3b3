# SPDX-License-Identifier: BSD-3-Clause
# Targets that run things: check, bench, demo. Included by ../Makefile.

# Includes between folders point only the way that docs/architecture.md draws.
check-includes:
	@sh tests/check_includes.sh

check-unit: $(UNIT_BIN) | $(O)/.deps-check
	@sh tests/run_unit.sh $(UNIT_BIN)

check: check-includes check-unit

.PHONY: check-includes check-unit
