# SPDX-License-Identifier: BSD-3-Clause
# Generated programs in which ranks part: does cause name the branch?

check-cause: all | $(O)/.deps-check
	@python3 tests/cause/run.py $(O)

# 200 of them; NUMBER=N SEED=S others.
cause-campaign: all | $(O)/.deps-check
	@python3 tests/cause/run.py $(O) --number $(or $(NUMBER),200) --seed $(or $(SEED),1000)

.PHONY: check-cause cause-campaign
