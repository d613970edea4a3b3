# SPDX-License-Identifier: BSD-3-Clause
# The daemons, a program for each MPI: all of them is compiled once, but what calls MPI. Launchers
# start the guard, which has the name; the daemon itself is the worker.

GUARDS = $(O)/pdbd-openmpi $(O)/pdbd-mpich
WORKER_DAEMONS = $(GUARDS:%=%-worker)
DAEMONS = $(GUARDS) $(WORKER_DAEMONS)
PDBD_OBJ_openmpi = $(PDBD_SRC:%.c=$(O)/%-openmpi.o)
PDBD_OBJ_mpich = $(PDBD_SRC:%.c=$(O)/%-mpich.o)
# The compilers' own options for linking, without those that are for the program as a whole.
PDBD_LIBS = $(filter -L% -l% -Wl%,$(shell mpicc.$* -show))

all: $(DAEMONS)

$(PDBD_OBJ_openmpi): $(O)/%-openmpi.o: %.c $(O)/.kind | $(O)/.deps-build
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(subst -I,-isystem ,$(REC_CPP_openmpi)) -MMD -MP -c -o $@ $<

$(PDBD_OBJ_mpich): $(O)/%-mpich.o: %.c $(O)/.kind | $(O)/.deps-build
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(subst -I,-isystem ,$(REC_CPP_mpich)) -MMD -MP -c -o $@ $<

$(GUARDS): $(O)/attach/daemons/pdbd_guard.o $(O)/attach/daemons/pdbd_end.o
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^

$(O)/pdbd-openmpi-worker: $(PDBD_OBJ_openmpi)
$(O)/pdbd-mpich-worker: $(PDBD_OBJ_mpich)

$(WORKER_DAEMONS): $(O)/pdbd-%-worker: $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(OWN_ONLY) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) \
		$(O)/libpdb.a $(PDBD_LIBS) $(PC_LDLIBS)

-include $(O)/attach/daemons/pdbd_guard.d $(PDBD_OBJ_openmpi:.o=.d) $(PDBD_OBJ_mpich:.o=.d)
