# SPDX-License-Identifier: BSD-3-Clause
# One cmocka program for each module.

UNIT_SRC = $(wildcard tests/unit/test_*.c)
UNIT_BIN = $(UNIT_SRC:tests/unit/%.c=$(O)/tests/unit/%)
FIXTURE_SRC = $(wildcard tests/fixtures/*.c) $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
FIXTURE_OBJ = $(FIXTURE_SRC:%.c=$(O)/%.o)

# What unit tests build their inputs with; only what a test uses is linked.
$(O)/libfixtures.a: $(FIXTURE_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(O)/tests/unit/%: tests/unit/%.c $(O)/libfixtures.a $(O)/libpdb.a | $(O)/.deps-check
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(PC_CFLAGS) -MMD -MP -o $@ $< $(O)/libfixtures.a $(O)/libpdb.a \
		-lcmocka $(PC_LDLIBS)

# The recorder's own code in unit tests, instrumented as they are.
REC_TESTS = $(filter $(O)/tests/unit/test_recorder_%,$(UNIT_BIN))

$(REC_TESTS): $(O)/tests/unit/%: tests/unit/%.c $(REC_OBJ) | $(O)/.deps-check
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(REC_OBJ) -lcmocka -lpthread

unit: $(UNIT_BIN)

NEEDS_check-unit = $(UNIT_BIN)
check-unit: $(NEEDS_check-unit) | $(O)/.deps-check
	@sh tests/unit/run.sh $(UNIT_BIN)

.PHONY: unit check-unit
-include $(FIXTURE_OBJ:.o=.d) $(UNIT_BIN:=.d)
