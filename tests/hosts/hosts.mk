# SPDX-License-Identifier: BSD-3-Clause
# Jobs over several hosts: a program of each kind, HOSTS=4 on so many; a session, on two and on one; gdb on
# a rank of the other host; what may go wrong with daemons and networks.

check-hosts: all | $(O)/.deps-check $(has_hosts)
	@$(RUN) tests/jobs/run.py --build $(O) --mpi openmpi --hosts $(or $(HOSTS),2) --short

NEEDS_check-sessions = $(NESTED)
check-sessions: all $(NEEDS_check-sessions) | $(O)/.deps-check $(has_hosts)
	@JOBS_MPI='$(JOBS_MPI)' bash tests/hosts/debug.sh $(O)

NEEDS_check-gdb = $(NESTED)
check-gdb: all $(NEEDS_check-gdb) | $(O)/.deps-check $(has_hosts)
	@bash tests/hosts/gdb.sh $(O)

NEEDS_check-faults = $(NESTED)
check-faults: all $(NEEDS_check-faults) | $(O)/.deps-check $(has_hosts)
	@bash tests/hosts/faults.sh $(O) 4

# Are the hosts of hosts.sh apart where they must be?
NEEDS_check-namespaces = $(call under_each_mpi,hosts/where)
check-namespaces: $(NEEDS_check-namespaces) | $(O)/.deps-hosts
	@bash tests/hosts/check.sh $(O)

.PHONY: check-hosts check-sessions check-gdb check-faults check-namespaces
