# SPDX-License-Identifier: BSD-3-Clause
# The daemons, a program for each MPI: all of them is compiled once, but what calls MPI.

DAEMONS = $(O)/pdbd-openmpi $(O)/pdbd-mpich
PDBD_OBJ_openmpi = $(PDBD_SRC:%.c=$(O)/%-openmpi.o)
PDBD_OBJ_mpich = $(PDBD_SRC:%.c=$(O)/%-mpich.o)
# The compilers' own options for linking, without those that are for the program as a whole.
PDBD_LIBS = $(filter -L% -l% -Wl%,$(shell mpicc.$* -show))

$(PDBD_OBJ_openmpi): $(O)/%-openmpi.o: %.c | $(O)/.deps-build
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(subst -I,-isystem ,$(REC_CPP_openmpi)) -MMD -MP -c -o $@ $<

$(PDBD_OBJ_mpich): $(O)/%-mpich.o: %.c | $(O)/.deps-build
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(subst -I,-isystem ,$(REC_CPP_mpich)) -MMD -MP -c -o $@ $<

$(O)/pdbd-openmpi: $(PDBD_OBJ_openmpi)
$(O)/pdbd-mpich: $(PDBD_OBJ_mpich)

$(DAEMONS): $(O)/pdbd-%: $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) \
		$(O)/libpdb.a $(PDBD_LIBS) $(PC_LDLIBS)

-include $(PDBD_OBJ_openmpi:.o=.d) $(PDBD_OBJ_mpich:.o=.d)
