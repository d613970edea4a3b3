# SPDX-License-Identifier: BSD-3-Clause
# Other users of the machine, and what reaches a terminal.

NEEDS_check-security = $(O)/tests/security/names-mpich
check-security: all $(NEEDS_check-security)
	@bash tests/security/run.sh $(O)

NEEDS_check-identity = $(O)/tests/security/names-mpich $(O)/tests/security/launcher $(O)/tests/watch/phases-mpich
check-identity: all $(NEEDS_check-identity)
	@bash tests/security/identity.sh $(O)

NEEDS_check-terminal = $(O)/tests/security/names-mpich $(O)/tests/security/launcher
check-terminal: all $(NEEDS_check-terminal)
	@bash tests/security/terminal.sh $(O)

.PHONY: check-security check-identity check-terminal
