# SPDX-License-Identifier: BSD-3-Clause
# Sources without running them. Both compilers' warnings are errors: gcc's of every build, clang's of
# check-fuzz.

# Includes point only the way that docs/architecture.md says, and no files call each other in a circle.
check-rooms: all | $(O)/.deps-check
	@$(PYTHON) tests/lint/rooms.py $(O)

check-lint: all | $(O)/.deps-lint
	@bash tests/lint/run.sh $(O) format cppcheck shell python exports
# All of it: some minutes.
lint: all | $(O)/.deps-lint
	@bash tests/lint/run.sh $(O) format cppcheck shell python exports tidy

format: | $(O)/.deps-lint
	$(Q)git ls-files '*.[ch]' | xargs clang-format-14 -i

.PHONY: check-rooms check-lint lint format
