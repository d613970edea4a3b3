# SPDX-License-Identifier: BSD-3-Clause
# The recorder libraries, one for each MPI. Included by ../../Makefile.

# Never instrumented: a sanitizer's runtime has no place in somebody else's program.
REC_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(OPTIMIZE) $(WARN) -iquote . -iquote $(O) -fPIC -fexceptions \
	-fvisibility=hidden -fno-semantic-interposition -fno-tree-slp-vectorize $(REC_DEFINES) $(CFLAGS)
# Loaded at run time, not linked (see unwind.h), so its name is asked of the library itself.
REC_DEFINES = -DPDB_LIBUNWIND_SONAME='"$(shell objdump -p $$(pkg-config --variable=libdir \
	libunwind)/libunwind.so | gawk '/SONAME/ {print $$2}')"'

# What needs mpi.h, so is compiled for each MPI, and what does not.
REC_MPI_SRC = $(wildcard model/recorder/wrap_*.c)
REC_SRC = $(filter-out $(REC_MPI_SRC),$(wildcard model/recorder/*.c)) model/segment/segment_sweep.c \
	model/trace/trace_writer.c
REC_OBJ = $(REC_SRC:%.c=$(O)/%.o)
REC_PIC_OBJ = $(REC_SRC:%.c=$(O)/%.op)

REC_WRAPPERS = $(REC_MPIS:%=$(O)/model/recorder/wrappers-%)
REC_CPP_openmpi = $(filter -I%,$(shell mpicc.openmpi -show))
REC_CPP_mpich = $(filter -I%,$(shell mpicc.mpich -show))
REC_CPP_abi = -Imodel/recorder/abi -I$(O)/model/recorder/abi
ABI_PROTOTYPES = $(O)/model/recorder/abi/abi_prototypes.h

$(REC_OBJ): ALL_CFLAGS += $(REC_DEFINES)

$(O)/%.op: %.c | $(O)/.deps-build
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(REC_CFLAGS) -MMD -MP -MF $(@:.op=.op.d) -c -o $@ $<

# Prototypes are the same in every mpi.h, but for types.
$(ABI_PROTOTYPES): model/recorder/prototypes.gawk | $(O)/.deps-build
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)echo '#include <mpi.h>' | $(CC) -E -P -xc $(REC_CPP_mpich) - | \
		gawk -f model/recorder/prototypes.gawk \
		-e '{ text = text " " $$0 } END { print_prototypes(text) }' >$@

$(REC_WRAPPERS:=.c): $(O)/model/recorder/wrappers-%.c: model/recorder/prototypes.gawk \
		model/recorder/wrappers.gawk model/recorder/mpi_calls.def | \
		$(O)/.deps-build
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)echo '#include <mpi.h>' | $(CC) -E -P -xc $(REC_CPP_$*) - >$(@:.c=.i)
	$(Q)gawk -f model/recorder/prototypes.gawk -f model/recorder/wrappers.gawk model/recorder/mpi_calls.def $(@:.c=.i) >$@

# Wrappers, and what they call.
define compile_for_mpi
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(REC_CFLAGS) $(subst -I,-isystem ,$(REC_CPP_$1)) -MMD -MP -MF $(@:.op=.op.d) -c -o $@ $<
endef

REC_MPI_OBJ = $(foreach mpi,$(REC_MPIS),$(REC_MPI_SRC:%.c=$(O)/%-$(mpi).op))
$(filter %-openmpi.op,$(REC_MPI_OBJ)): $(O)/%-openmpi.op: %.c | $(O)/.deps-build
	$(call compile_for_mpi,openmpi)
$(filter %-mpich.op,$(REC_MPI_OBJ)): $(O)/%-mpich.op: %.c | $(O)/.deps-build
	$(call compile_for_mpi,mpich)
$(filter %-abi.op,$(REC_MPI_OBJ)): $(O)/%-abi.op: %.c | $(ABI_PROTOTYPES)
	$(call compile_for_mpi,abi)
$(O)/model/recorder/wrappers-abi.c: $(ABI_PROTOTYPES) model/recorder/abi/mpi.h
$(REC_WRAPPERS:=.op): $(O)/model/recorder/wrappers-%.op: $(O)/model/recorder/wrappers-%.c
	$(call compile_for_mpi,$*)

$(RECORDERS): $(O)/libpdbrec-%.so: $(O)/model/recorder/wrappers-%.op $(REC_MPI_SRC:%.c=$(O)/%-%.op) \
		$(REC_PIC_OBJ) model/recorder/exports.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared $(OPTIMIZE) -Wl,-z,defs -Wl,-z,relro -Wl,-z,now \
		-Wl,--version-script=model/recorder/exports.map $(LDFLAGS) -o $@ $(filter %.op,$^)

-include $(REC_OBJ:.o=.d) $(REC_PIC_OBJ:.op=.op.d) $(REC_WRAPPERS:=.op.d) $(REC_MPI_OBJ:=.d)
