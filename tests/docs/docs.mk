# SPDX-License-Identifier: BSD-3-Clause
# The pages: transcripts are replayed on the snapshots in docs/snapshots, links lead somewhere.

check-docs: all | $(O)/.deps-check
	@$(PYTHON) tests/docs/check.py $(O)

docs-transcripts: all
	@$(PYTHON) tests/docs/check.py $(O) --write

# README.md's picture.
docs-picture: all
	@$(PYTHON) docs/picture/session.py $(O) >$(O)/session.svg
	@cp $(O)/session.svg docs/picture/session.svg

# The transcript of a running job in docs/hunting-a-hang.md is of what it says.
docs-demo: demo | $(O)/.deps-check
	@$(PYTHON) tests/docs/check.py $(O) --demo $(DEMO_SAID)

.PHONY: check-docs docs-transcripts docs-picture docs-demo
