# SPDX-License-Identifier: BSD-3-Clause
# What is installed, and the library.

check-install: all | $(O)/.deps-check
	@bash tests/install/run.sh $(O) "$(MAKE)" $(INSTRUMENT)

.PHONY: check-install
