# SPDX-License-Identifier: BSD-3-Clause
# MPIs that Debian does not have, from wheels (docs/testing.md). They are kept below build/mpis.

NEEDS_check-mpis = $(ATTACH)/print_queues $(O)/tests/recorder/read_segment
check-mpis: all $(NEEDS_check-mpis) | $(O)/.deps-mpis
	@$(RUN) tests/mpis/run.py --build $(O)

.PHONY: check-mpis
