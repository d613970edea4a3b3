# SPDX-License-Identifier: BSD-3-Clause
# A Slurm of hosts, a part of "check-long": it installs Slurm, which Debian starts on the machine, too.

SLURM_PROGRAMS = $(NESTED) $(call under_each_mpi,slurm/count)

check-slurm: all $(SLURM_PROGRAMS) $(WATCH_PROGRAMS) | $(O)/.deps-check $(O)/.deps-slurm
	@bash tests/slurm/check.sh $(O)
	@bash tests/slurm/nodes.sh $(O)
	@bash tests/slurm/batch.sh $(O)
	@sh tests/slurm/slurm.sh -x 2 env $(RUN) tests/jobs/run.py $(JOBS_ARGS) --srun 2

.PHONY: check-slurm
