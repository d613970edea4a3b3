# SPDX-License-Identifier: BSD-3-Clause
# A Debian 13, for Open MPI 5 and its PMIx, where this machine is not one; kept from run to run.
# Status 77: it cannot be made here, and has been told why.

DEBIAN13 = $(O)/debian13
in_debian13 = sh tests/debian/root.sh -p "$(sort $(1))" trixie $(DEBIAN13) \
	make --no-print-directory -j2 O=$(O)/debian13-build

# The checks that the other MPI matters to once more, and what only Open MPI 5 has, a PMIx server. As a
# part of "check-all" those without which nothing works there: the others take as long again.
DEBIAN13_CHECKS ?= check-unit check-recorder+check-watch check-jobs check-hosts+check-sessions check-healthy \
	check-programs check-harmless+check-attach+check-queues+check-pmix+check-traces check-daemons+check-order-hosts+check-tracing-hosts
check-all: export DEBIAN13_CHECKS := check-recorder+check-watch check-jobs check-hosts+check-sessions \
	check-harmless+check-queues+check-pmix check-daemons+check-order-hosts+check-tracing-hosts

DEPS_DEBIAN13 = $(DEPS_BUILD) $(DEPS_CHECK) $(DEPS_HOSTS)

# While this machine's own is built, since much of it is waiting for packages; why it fails the check itself
# will say.
NEEDS_check-debian13 = debian13-needs
debian13-needs: | $(O)/.deps-root
	$(call say,ROOT,$(DEBIAN13))
	@$(call in_debian13,$(DEPS_DEBIAN13)) check-needs CHECKS='$(DEBIAN13_CHECKS)' >$(O)/debian13-needs.log 2>&1 || :

check-debian13: | $(O)/.deps-root
	@$(call in_debian13,$(DEPS_DEBIAN13)) check CHECKS='$(DEBIAN13_CHECKS)' \
		JOBS_MPI=openmpi KILLS=40; status=$$?; \
	if [ $$status -eq 77 ]; then echo "check-debian13 is left out"; echo "0 passed, 0 failed"; \
	else exit $$status; fi

.PHONY: check-debian13 debian13-needs
