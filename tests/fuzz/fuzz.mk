# SPDX-License-Identifier: BSD-3-Clause
# The readers of untrusted input under libFuzzer (docs/testing.md). Included by ../tests.mk.
#
# Compiled by clang into a folder of their own, by a make of their own: fuzz-programs is what that
# makes. SECONDS_EACH=600: for how long each target runs; TARGETS='segment share': only these.

FUZZ = $(O)/tests/fuzz
FUZZ_TARGETS = $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN = $(FUZZ_TARGETS:%=$(FUZZ)/fuzz_%)
# An offset of 0 to no table at all is what those with nothing in them have.
FUZZ_MAKE = $(MAKE) O=$(O)/fuzz CC=clang SAN=address,undefined,fuzzer-no-link OPTIMIZE='-O1 -gline-tables-only' \
	CFLAGS=-fno-sanitize=pointer-overflow

fuzz-programs: $(FUZZ_BIN) $(FUZZ)/seeds $(FUZZ)/small.so

$(FUZZ_BIN): $(FUZZ)/%: $(FUZZ)/%.o $(FUZZ)/fuzz.o $(O)/model/recorder/elf_name.o \
		$(O)/model/recorder/trace_filter.o $(O)/libfixtures.a $(O)/libpdb.a
	$(call say,FUZZ,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ -lcmocka $(PC_LDLIBS)

$(FUZZ)/seeds: $(FUZZ)/seeds.o $(O)/libfixtures.a $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(PC_LDLIBS)

# A program file to begin with.
$(FUZZ)/small.so: tests/order/order_c.c tests/order/order.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && gcc -O1 -g -shared -fPIC -nostdlib -o $@ $<

-include $(FUZZ_BIN:=.d) $(FUZZ)/fuzz.d $(FUZZ)/seeds.d

# Long. What it finds stays in $(O)/fuzz/corpus, where the next run goes on.
fuzz: | $(O)/.deps-fuzz
	$(Q)+$(FUZZ_MAKE) fuzz-programs
	@bash tests/fuzz/run.sh $(O)/fuzz $(or $(SECONDS_EACH),600) $(or $(TARGETS),$(FUZZ_TARGETS))

# All inputs that are kept, and a second of new ones.
check-fuzz: | $(O)/.deps-fuzz
	$(Q)+$(FUZZ_MAKE) fuzz-programs
	@bash tests/fuzz/run.sh $(O)/fuzz $(or $(SECONDS_EACH),1) $(or $(TARGETS),$(FUZZ_TARGETS))

# Keep what $(O)/fuzz/corpus has beyond tests/fuzz/corpus: as few small files as reach the same code.
fuzz-keep: | $(O)/.deps-fuzz
	@bash tests/fuzz/keep.sh $(O)/fuzz $(or $(TARGETS),$(FUZZ_TARGETS))

.PHONY: fuzz fuzz-programs check-fuzz fuzz-keep
