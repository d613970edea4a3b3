# SPDX-License-Identifier: BSD-3-Clause
# Recorded hangs, replayed (docs/testing.md): what pdb answers of the snapshots in tests/verdicts/corpus.
# "make verdicts-keep" keeps the answers of now in tests/verdicts/answers.txt. "make verdicts-add" adds the
# snapshots of a campaign, KEPT=folder of the raw data CAMPAIGN_DATA=file; "make verdicts-unpack" makes files
# of them in build/verdicts, "make verdicts-pack" the corpus of these files. "make accuracy" makes docs/accuracy.md.

VERDICTS = $(RUN) tests/verdicts/run.py --build $(O)

NEEDS_check-verdicts = $(O)/tests/verdicts/replay
check-verdicts: $(NEEDS_check-verdicts) | $(O)/.deps-check
	@$(VERDICTS) check

verdicts-keep: $(NEEDS_check-verdicts) | $(O)/.deps-check
	@$(VERDICTS) keep
	@$(RUN) tests/verdicts/accuracy.py

# docs/accuracy.md, of the answers that are kept.
accuracy:
	@$(RUN) tests/verdicts/accuracy.py

# Snapshots of small programs that hang: of those in tests/mpi, or SOURCES=folder.
verdicts-programs: all | $(O)/.deps-check
	@$(RUN) tests/verdicts/gather.py --build $(O) --data $(CAMPAIGN_DATA) --keep $(KEPT) \
		--version "$$(git describe --always 2>/dev/null)" $(if $(SOURCES),--sources $(SOURCES))

KEPT ?= $(O)/campaign/snapshots
verdicts-add: $(NEEDS_check-verdicts) | $(O)/.deps-check
	@$(VERDICTS) add $(KEPT) $(CAMPAIGN_DATA)

verdicts-unpack verdicts-pack: verdicts-%: | $(O)/.deps-check
	@$(VERDICTS) $*

.PHONY: accuracy check-verdicts verdicts-keep verdicts-programs verdicts-add verdicts-unpack verdicts-pack
