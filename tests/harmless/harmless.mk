# SPDX-License-Identifier: BSD-3-Clause
# Whatever happens to pdb, the job does not notice. KILLS=100 is how often it is killed.

# How long ranks stand still, seen from outside.
NEEDS_check-harmless = $(O)/tests/harmless/stops
check-harmless: all $(NEEDS_check-harmless) | $(O)/.deps-check
	@$(RUN) tests/harmless/run.py $(JOBS_ARGS)

# TRIALS=1000 random accidents of pdb, those of SEED=1; TRIAL=17: only that one. Goes on where it was
# ended: its results are in $(O)/harmless/trials.jsonl.
harmless-campaign: all $(NEEDS_check-harmless) | $(O)/.deps-check $(O)/.deps-demo $(has_hosts)
	@$(RUN) tests/harmless/run_trials.py $(JOBS_ARGS)

.PHONY: check-harmless harmless-campaign
