# SPDX-License-Identifier: BSD-3-Clause
# Traces of real jobs.

check-tracing: all | $(O)/.deps-check
	@bash tests/tracing/run.sh $(O)
check-tracing-hosts: all | $(has_hosts)
	@bash tests/tracing/run.sh $(O) hosts

.PHONY: check-tracing check-tracing-hosts
