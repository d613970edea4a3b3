# SPDX-License-Identifier: BSD-3-Clause
# Targets that run things, each beside what it runs. Included by ../Makefile.

include tests/suite/programs.mk
include tests/unit/unit.mk
include tests/lint/lint.mk
include tests/docs/docs.mk
include tests/shell/shell.mk
include tests/install/install.mk
include tests/report/report.mk
include tests/attach/attach.mk
include tests/cores/cores.mk
include tests/daemons/daemons.mk
include tests/debian/debian.mk
include tests/fuzz/fuzz.mk
include tests/harmless/harmless.mk
include tests/hosts/hosts.mk
include tests/inject/inject.mk
include tests/jobs/jobs.mk
include tests/load/load.mk
include tests/mpis/mpis.mk
include tests/order/order.mk
include tests/values/values.mk
include tests/cause/cause.mk
include tests/pmix/pmix.mk
include tests/recorder/recorder.mk
include tests/security/security.mk
include tests/traces/traces.mk
include tests/tracing/tracing.mk
include tests/watch/watch.mk
include tests/slow/slow.mk
include tests/slurm/slurm.mk
include tests/campaign/campaign.mk
include tests/verdicts/verdicts.mk
include tests/bench/bench.mk
include tests/demo/demo.mk
# What knows all of them.
include tests/suite/suite.mk
