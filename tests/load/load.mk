# SPDX-License-Identifier: BSD-3-Clause
# MINUTES=60 of two pdb beside a job of RANKS=256 ranks.

load: all $(O)/tests/load/late-openmpi
	@$(RUN) tests/load/run.py --build $(O)

.PHONY: load
