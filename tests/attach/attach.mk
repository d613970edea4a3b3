# SPDX-License-Identifier: BSD-3-Clause
# Stacks, symbols and message queues: fixtures of unit tests, and jobs.

ATTACH = $(O)/tests/attach
ATTACH_NAMES = ranges c c-stripped c-split c-wrong c-shared cxx cxx-stripped inline inline-stripped f f-stripped
ATTACH_FIXTURES = $(ATTACH_NAMES:%=$(ATTACH)/names_%.so)

$(O)/tests/unit/test_symbols: | $(ATTACH_FIXTURES)

$(ATTACH)/names_c.so: tests/attach/names_c.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -fPIC -shared -Wl,--build-id -o $@ $<
$(ATTACH)/names_ranges.so: tests/attach/names_ranges.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -fPIC -shared -Wl,--build-id -o $@ $<
$(ATTACH)/names_cxx.so $(ATTACH)/names_inline.so: $(ATTACH)/names_%.so: tests/attach/names_%.cc | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && g++ -O2 -g -fPIC -shared -Wl,--build-id -o $@ $<
$(ATTACH)/names_f.so: tests/attach/names_f.f90 | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(FC) -J$(@D) -O2 -g -fPIC -shared -Wl,--build-id -o $@ $<
$(ATTACH)/names_%-stripped.so: $(ATTACH)/names_%.so
	$(Q)strip -o $@ $<
# The debug information in a file of its own, found by name; and a name that leads to another's.
$(ATTACH)/names_c-split.so: $(ATTACH)/names_c.so
	$(Q)cd $(@D) && objcopy --only-keep-debug names_c.so names_c-split.debug && \
		objcopy --strip-all --add-gnu-debuglink=names_c-split.debug names_c.so $(@F)
# As dwz leaves a file: its strings are in one that it names, with a build-id.
$(ATTACH)/names_c-shared.so: tests/attach/names_c.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -dA -fPIC -S -o $(@:.so=.s) $< && \
		$(CC) -shared -Wl,--build-id=0x0102030405060708 -o $(@:.so=.debug) $(@:.so=.s) && \
		sed -i 's/\.uleb128 0xe\(.*DW_FORM_strp)\)/.uleb128 0x1f21\1/' $(@:.so=.s) && \
		printf '$(basename $(@F)).debug\0\1\2\3\4\5\6\7\10' >$(@:.so=.link) && \
		$(CC) -shared -Wl,--build-id -o $@ $(@:.so=.s) && \
		objcopy --add-section .gnu_debugaltlink=$(@:.so=.link) $@
$(ATTACH)/names_c-wrong.so: $(ATTACH)/names_c.so $(ATTACH)/names_cxx.so
	$(Q)cd $(@D) && objcopy --only-keep-debug names_cxx.so names_c-wrong.debug && \
		objcopy --strip-all --add-gnu-debuglink=names_c-wrong.debug names_c.so $(@F)

# By its name Open MPI's, for its message queues.
$(O)/tests/unit/test_openmpi_queues $(O)/tests/unit/test_daemon_look: | $(ATTACH)/libmpi.so.40
$(ATTACH)/libmpi.so.40: tests/attach/fake_mpi.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -fPIC -shared -o $@ $<
$(O)/tests/unit/test_openmpi_ucx: | $(ATTACH)/libmpi.so.40 $(ATTACH)/mca_pml_ucx.so
$(ATTACH)/mca_pml_ucx.so: tests/attach/fake_pml_ucx.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -fPIC -shared -o $@ $<

# Programs that sleep, for gdb.
$(O)/tests/unit/test_gdb_call: | $(ATTACH)/sleeps_cxx $(ATTACH)/sleeps_f $(ATTACH)/libmpi_sleeps.so

$(ATTACH)/sleeps_cxx: tests/attach/sleeps_cxx.cc | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && g++ -O0 -g -o $@ $<
$(ATTACH)/sleeps_f: tests/attach/sleeps_f.f90 | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(FC) -J$(@D) -O0 -g -o $@ $<
$(ATTACH)/libmpi_sleeps.so: tests/attach/sleeps_mpi.c | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O0 -g -fPIC -shared -o $@ $<

ATTACH_JOBS = $(call under_each_mpi,attach/blocked attach/queues) $(ATTACH)/alone-mpich
$(ATTACH_JOBS): MPI_FLAGS = -O2 -g

NEEDS_check-attach = $(ATTACH)/look $(call under_each_mpi,attach/blocked)
check-attach: $(NEEDS_check-attach)
	@sh tests/attach/run.sh $(O)

# Message queues, as they are in the memory of MPI libraries.
NEEDS_check-queues = $(ATTACH)/print_queues $(call under_each_mpi,attach/queues) $(ATTACH)/alone-mpich
check-queues: $(NEEDS_check-queues)
	@sh tests/attach/queues.sh $(O)

.PHONY: check-attach check-queues
