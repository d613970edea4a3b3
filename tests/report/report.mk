# SPDX-License-Identifier: BSD-3-Clause
# Reports in a browser. check-unit and check-shell look at pages without one: Chromium is large.

NEEDS_check-report = $(O)/tests/unit/test_report
check-report: $(NEEDS_check-report) | $(O)/.deps-report
	@mkdir -p $(O)/report
	@PAGES=$(O)/report $(O)/tests/unit/test_report >$(O)/report/log 2>&1 || { cat $(O)/report/log; exit 1; }
	@$(PYTHON) tests/report/browser.py $(O)/report

.PHONY: check-report
