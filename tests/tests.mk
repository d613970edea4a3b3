# SPDX-License-Identifier: BSD-3-Clause
# Targets that run things: check, bench, demo. Included by ../Makefile.

# What "make check" runs, in this order. Every one of them ends with a line "N passed, N failed".
CHECKS = check-includes check-unit

check: all unit | $(O)/.deps-check
	@sh tests/check.sh "$(MAKE)" O=$(O) $(CHECKS)

# Includes between folders point only the way that docs/architecture.md draws.
check-includes:
	@sh tests/check_includes.sh

check-unit: $(UNIT_BIN) | $(O)/.deps-check
	@sh tests/run_unit.sh $(UNIT_BIN)

# ---- Real MPI jobs (docs/testing.md) ------------------------------------------------------------
# TEST='words' selects tests by their names, REPEAT=10 runs each so often, SEED=2 picks other ranks
# and moments, KILLS=100 is how often check-harmless kills pdb.

PYTHON = /usr/bin/python3

check-jobs: all | $(O)/.deps-check
	@$(PYTHON) tests/run_jobs.py --build $(O)

check-programs: all inject | $(O)/.deps-check
	@$(PYTHON) tests/run_programs.py --build $(O)

check-trouble: all | $(O)/.deps-check
	@$(PYTHON) tests/run_trouble.py --build $(O)

check-harmless: all | $(O)/.deps-check
	@$(PYTHON) tests/run_harmless.py --build $(O)

bench-first-answer: all | $(O)/.deps-check
	@$(PYTHON) tests/bench_first_answer.py --build $(O)

bench-programs: all | $(O)/.deps-check
	@$(PYTHON) tests/bench_programs.py --build $(O)

.PHONY: check-jobs check-programs check-trouble check-harmless bench-first-answer bench-programs

# ---- The fault injector, Debian roots, the demo -----------------------------------------------

INJECT_OBJ = $(O)/tests/inject/inject.o $(O)/tests/inject/function.o

$(O)/inject: $(INJECT_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -ldw -lelf

inject: $(O)/inject

.PHONY: inject
-include $(INJECT_OBJ:.o=.d)
