# SPDX-License-Identifier: BSD-3-Clause
# MPI=native: with the Open MPI that this machine has.

ifneq ($(filter native,$(MPI))$(is_debian13),)
DEMO_SAID = $(O)/demo.said
demo: all inject | $(O)/.deps-demo $(has_hosts)
	@sh tests/demo/demo.sh $(O)
else
DEMO_SAID = $(O)/debian13-build/demo.said
demo: | $(O)/.deps-root
	@$(call in_debian13,$(DEPS_BUILD) $(DEPS_DEMO) $(DEPS_HOSTS)) MPI=native demo
endif

.PHONY: demo
