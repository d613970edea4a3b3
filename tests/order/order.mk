# SPDX-License-Identifier: BSD-3-Clause
# Loops and branches at each level of optimization, for the temporal order.
ORDER = $(O)/tests/order
ORDER_LEVELS = O0 O1 O2 O3
ORDER_PROGRAMS = $(ORDER_LEVELS:%=$(ORDER)/order-%) $(ORDER)/order-fixed $(ORDER)/order-static \
	$(ORDER)/order-stripped

$(O)/tests/unit/test_order: | $(ORDER_PROGRAMS)

$(ORDER)/main.o: tests/order/order_main.c tests/order/order.h | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -Wall -Wextra -Werror -c -o $@ $<
$(ORDER)/c-%.o: tests/order/order_c.c tests/order/order.h | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -$* -g -Wall -Wextra -Werror -c -o $@ $<
$(ORDER)/traps-%.o: tests/order/order_traps.c tests/order/order.h | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CC) -$* -g -Wall -Wextra -Werror -c -o $@ $<
$(ORDER)/cxx-%.o: tests/order/order_cxx.cc tests/order/order.h | $(O)/.deps-check
	$(Q)mkdir -p $(@D) && $(CXX) -$* -g -Wall -Wextra -Werror -c -o $@ $<
$(ORDER)/f-%.o: tests/order/order_f.f90 | $(O)/.deps-check
	$(Q)mkdir -p $(@D)/$* && $(FC) -J$(@D)/$* -$* -g -c -o $@ $<
$(ORDER)/order-O%: $(ORDER)/main.o $(ORDER)/c-O%.o $(ORDER)/traps-O%.o $(ORDER)/cxx-O%.o $(ORDER)/f-O%.o
	$(call say,LD,$@)
	$(Q)$(FC) -o $@ $^ -lstdc++
# Without position-independent code, with the tables of switches that go with that.
$(ORDER)/order-fixed: tests/order/order_main.c tests/order/order_c.c tests/order/order_traps.c \
		$(ORDER)/cxx-O2.o tests/order/order_f.f90 | $(O)/.deps-check
	$(call say,LD,$@)
	$(Q)mkdir -p $(ORDER)/fixed && cd $(ORDER)/fixed && \
		$(CC) -O2 -g -fno-pie -c $(addprefix $(CURDIR)/,$(filter %.c,$^)) && \
		$(FC) -O2 -g -fno-pie -no-pie -o ../$(@F) $(CURDIR)/tests/order/order_f.f90 *.o \
			../cxx-O2.o -lstdc++
$(ORDER)/order-static: $(ORDER)/main.o $(ORDER)/c-O2.o $(ORDER)/traps-O2.o $(ORDER)/cxx-O2.o $(ORDER)/f-O2.o
	$(call say,LD,$@)
	$(Q)$(FC) -static -Wl,--eh-frame-hdr -o $@ $^ -lstdc++
$(ORDER)/order-stripped: $(ORDER)/order-O2
	$(Q)strip -o $@ $<

# Under each MPI.
ORDER_JOBS = $(foreach mpi,openmpi mpich,$(ORDER)/counting-$(mpi) $(ORDER)/inlined-$(mpi) \
	$(foreach level,O0 O2,$(ORDER)/poisson-$(mpi)-$(level) $(ORDER)/poisson_f-$(mpi)-$(level)))

define order_programs
$(ORDER)/poisson-$(1)-%: tests/order/poisson.c tests/mpi/fault.h | $(O)/.deps-check
	$$(call say,MPICC,$$@)
	$(Q)mkdir -p $$(@D) && mpicc.$(1) -$$* -g -iquote tests/mpi -o $$@ $$< -lm
$(ORDER)/poisson_f-$(1)-%: tests/order/poisson_f.f90 | $(O)/.deps-check
	$$(call say,MPIFC,$$@)
	$(Q)mkdir -p $$(@D)/$$*-$(1) && mpifort.$(1) -J$$(@D)/$$*-$(1) -$$* -g -fno-inline -o $$@ $$<
$(ORDER)/counting-$(1): tests/order/counting.c | $(O)/.deps-check
	$$(call say,MPICC,$$@)
	$(Q)mkdir -p $$(@D) && mpicc.$(1) -O0 -g -o $$@ $$<
$(ORDER)/inlined-$(1): tests/order/inlined.c | $(O)/.deps-check
	$$(call say,MPICC,$$@)
	$(Q)mkdir -p $$(@D) && mpicc.$(1) -O2 -g -o $$@ $$<
endef
$(foreach mpi,openmpi mpich,$(eval $(call order_programs,$(mpi))))

NEEDS_check-order = $(ORDER_JOBS)
check-order: all $(NEEDS_check-order)
	@bash tests/order/run.sh $(O)
NEEDS_check-order-hosts = $(ORDER_JOBS)
check-order-hosts: all $(NEEDS_check-order-hosts) | $(has_hosts)
	@bash tests/order/run.sh $(O) hosts

.PHONY: check-order check-order-hosts
.SECONDARY: $(foreach part,c traps cxx f,$(ORDER_LEVELS:%=$(ORDER)/$(part)-%.o))
