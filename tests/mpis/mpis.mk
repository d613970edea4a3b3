# SPDX-License-Identifier: BSD-3-Clause
# MPIs that Debian does not have, from wheels (docs/testing.md). They are kept below build/mpis.

check-mpis: all | $(O)/.deps-mpis
	@$(RUN) tests/mpis/run.py --build $(O)

.PHONY: check-mpis
