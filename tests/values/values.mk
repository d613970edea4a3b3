# SPDX-License-Identifier: BSD-3-Clause
# print and locals: programs whose values are known, optimized or not, under each MPI.
VALUES = $(O)/tests/values
VALUES_JOBS = $(foreach job,openmpi-O2 mpich-O0,\
	$(addsuffix -$(job),$(addprefix $(VALUES)/values_,c cxx f shapes)))

define values_fortran
$(VALUES)/values_$(2)-$(1)-%: tests/values/values_$(2).f90 | $(O)/.deps-check
	$$(call say,MPIFC,$$@)
	$(Q)mkdir -p $$(@D)/$$*-$(1) && mpifort.$(1) -J$$(@D)/$$*-$(1) -$$* -g -o $$@ $$<

endef
define values_programs
$(VALUES)/values_c-$(1)-%: tests/values/values_c.c | $(O)/.deps-check
	$$(call say,MPICC,$$@)
	$(Q)mkdir -p $$(@D) && mpicc.$(1) -$$* -g -o $$@ $$< -lm
$(VALUES)/values_cxx-$(1)-%: tests/values/values_cxx.cc | $(O)/.deps-check
	$$(call say,MPICXX,$$@)
	$(Q)mkdir -p $$(@D) && mpicxx.$(1) -$$* -g -o $$@ $$<
$(foreach program,f shapes,$(call values_fortran,$(1),$(program)))
endef
$(foreach mpi,openmpi mpich,$(eval $(call values_programs,$(mpi))))

NEEDS_check-values = $(VALUES_JOBS)
check-values: all $(NEEDS_check-values)
	@bash tests/values/run.sh $(O)
	@python3 tests/values/against_gdb.py --num 160 $(O) $(VALUES_JOBS)
# All of it: 1,000 expressions, or those of other programs with debug information.
check-values-gdb: all $(VALUES_JOBS)
	@python3 tests/values/against_gdb.py $(O) $(or $(PROGRAMS),$(VALUES_JOBS))
NEEDS_check-values-hosts = $(VALUES_JOBS)
check-values-hosts: all $(NEEDS_check-values-hosts) | $(has_hosts)
	@bash tests/values/run.sh $(O) hosts

.PHONY: check-values check-values-gdb check-values-hosts
