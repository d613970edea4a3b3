# SPDX-License-Identifier: BSD-3-Clause
# What "make check" and "make check-all" run: in this order; those joined by a + side by side, those by
# commas one after the other on their side. Every one of them ends with a line "N passed, N failed".

# Before a commit: everything that is quick, and one job of each kind.
CHECKS = check-rooms check-unit+check-docs,check-verdicts,check-lint check-kinds+check-shell

# The rest. Some wait for one job after the other, and the other Debian's are a whole suite: beside them
# there is room for those that keep the processors busy. So that the sides take equally long, some short
# ones of the latter are among those that wait. The ranks of check-order are so nice that busy ones of
# other parts would leave them nothing.
CHECKS_BUSY = check-jobs check-healthy check-programs check-trouble check-harmless check-recorder check-tracing \
	check-campaign check-fuzz
CHECKS_WAITING = check-watch check-watch-trouble check-values check-cause check-sessions check-gdb check-elsewhere check-hosts check-attach \
	check-queues check-daemons check-inject check-traces check-cores check-slow check-instructions check-faults \
	check-namespaces check-report check-mpis
CHECK_OTHER_DEBIAN = $(if $(is_debian13),check-pmix,check-debian13)
in_turn = $(subst $(space),$(comma),$(strip $(1)))
CHECKS_ALL = check-install check-order+check-security,check-identity,check-terminal \
	$(CHECK_OTHER_DEBIAN)+$(call in_turn,$(CHECKS_WAITING))+$(call in_turn,$(CHECKS_BUSY))

# By themselves: they take half an hour each, or install what Debian then starts on the machine.
CHECKS_LONG = lint check-slurm check-package check-recorder-long

# Built before the parts are run, since those side by side must not build the same; what takes longest first.
needs_of = $(foreach part,$(subst $(comma), ,$(subst +, ,$(1))),$(NEEDS_$(part)))
check-needs: all $(call needs_of,$(CHECKS)) | $(O)/.deps-check
check-all-needs: $(filter debian13-needs,$(call needs_of,$(CHECKS_ALL))) all $(call needs_of,$(CHECKS_ALL)) | $(O)/.deps-check

check: check-needs
	@V=$(V) bash tests/suite/check.sh "$(MAKE)" O=$(O) $@ $(CHECKS)

check check-all: export SAMPLES ?= 60
check-all: check-all-needs
	@V=$(V) bash tests/suite/check.sh "$(MAKE)" O=$(O) $@ $(CHECKS_ALL)

check-long: all
	@V=$(V) bash tests/suite/check.sh "$(MAKE)" O=$(O) $@ $(CHECKS_LONG)

.PHONY: check check-needs check-all check-all-needs check-long
