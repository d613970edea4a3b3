# SPDX-License-Identifier: BSD-3-Clause
# Sources without running them. Both compilers' warnings are errors: gcc's of every build, clang's of
# check-fuzz.

# Includes between folders point only the way that docs/architecture.md draws.
check-includes:
	@sh tests/lint/includes.sh

check-lint: all | $(O)/.deps-lint
	@bash tests/lint/run.sh $(O) format cppcheck shell python exports
# All of it: some minutes.
lint: all | $(O)/.deps-lint
	@bash tests/lint/run.sh $(O) format cppcheck shell python exports tidy

format: | $(O)/.deps-lint
	$(Q)git ls-files '*.[ch]' | xargs clang-format-14 -i

.PHONY: check-includes check-lint lint format
