# SPDX-License-Identifier: BSD-3-Clause
# The shell: command line, commands on a job, a terminal.

NEEDS_check-shell = $(O)/tests/shell/print_commands
check-shell: all $(NEEDS_check-shell) | $(O)/.deps-check
	@bash tests/shell/run.sh $(O)

# The manual of the commands is made from their table.
docs/commands.md: $(O)/tests/shell/print_commands
	$(call say,DOC,$@)
	$(Q)$(O)/tests/shell/print_commands >$@

# So are the options in the man page.
docs/man/pdb.1: docs/packaging/pdb.1.in $(O)/tests/shell/print_commands
	$(call say,DOC,$@)
	$(Q)$(O)/tests/shell/print_commands man <$< >$@

.PHONY: check-shell
