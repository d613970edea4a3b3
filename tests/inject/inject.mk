# SPDX-License-Identifier: BSD-3-Clause
# The fault injector, and the library that makes faults of communication.

INJECT_OBJ = $(O)/tests/inject/inject.o $(O)/tests/inject/function.o

$(O)/inject: $(INJECT_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -ldw -lelf

inject: $(O)/inject

$(O)/victim: tests/inject/victim.cpp | $(O)/.deps-check
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)g++ -O2 $(WARN_TEST) -o $@ $< -lpthread

NEEDS_check-inject = $(O)/inject $(O)/victim
check-inject: $(NEEDS_check-inject)
	@bash tests/inject/check.sh $(O)/inject $(O)/victim

# In real programs, most of which Debian builds for Open MPI.
FAULT_SRC = tests/fault/fault.c tests/fault/fault_fortran.c
FAULTS = $(O)/libfault-openmpi.so $(O)/libfault-mpich.so

$(FAULTS): $(O)/libfault-%.so: $(FAULT_SRC) tests/fault/fault.h | $(O)/.deps-check
	$(call say,MPICC,$@)
	$(Q)mpicc.$* -D_GNU_SOURCE -O2 $(WARN_TEST) -fPIC -shared -iquote . -o $@ $(FAULT_SRC) -ldl

.PHONY: inject check-inject
-include $(INJECT_OBJ:.o=.d)
