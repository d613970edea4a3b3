# SPDX-License-Identifier: BSD-3-Clause
# The shell: command line, commands on a job, a terminal.

NEEDS_check-shell = $(O)/tests/shell/print_commands
check-shell: all $(NEEDS_check-shell) | $(O)/.deps-check
	@bash tests/shell/run.sh $(O)

# The manual of the commands is made from their table.
docs/commands.md: $(O)/tests/shell/print_commands
	$(call say,DOC,$@)
	$(Q)$(O)/tests/shell/print_commands >$@

.PHONY: check-shell
