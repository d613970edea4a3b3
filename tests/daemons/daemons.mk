# SPDX-License-Identifier: BSD-3-Clause
# The daemons: started and ended in every way, on jobs that count.

# The tree that they answer along, with faults in it.
DAEMONS_TREE = $(O)/tests/daemons/tree-openmpi $(O)/tests/daemons/tree-mpich
DAEMONS_TREE_OBJ = $(DAEMONS_TREE:%=%.o)

$(DAEMONS_TREE_OBJ): $(O)/tests/daemons/tree-%.o: tests/daemons/tree.c | $(O)/.deps-build
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(subst -I,-isystem ,$(REC_CPP_$*)) -MMD -MP -c -o $@ $<

$(O)/tests/daemons/tree-openmpi: $(O)/attach/daemons/pdbd_tree-openmpi.o
$(O)/tests/daemons/tree-mpich: $(O)/attach/daemons/pdbd_tree-mpich.o

$(DAEMONS_TREE): $(O)/tests/daemons/tree-%: $(O)/tests/daemons/tree-%.o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) \
		$(O)/libpdb.a $(PDBD_LIBS) $(PC_LDLIBS)

NEEDS_check-daemons = $(DAEMONS) $(O)/tests/daemons/start $(DAEMONS_TREE)
check-daemons: $(NEEDS_check-daemons) | $(O)/.deps-check
	@bash tests/daemons/check.sh $(O)

.PHONY: check-daemons
-include $(DAEMONS_TREE_OBJ:.o=.d)
