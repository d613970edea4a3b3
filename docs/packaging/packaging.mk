# SPDX-License-Identifier: BSD-3-Clause
# The library libpdb, and where everything goes. Included by ../../Makefile; docs/installing.md.

LIBDIR ?= $(PREFIX)/lib
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
VERSION := $(shell sed -n 's/^.define PDB_VERSION "\(.*\)"/\1/p' shell/pdb.h)
PACKAGING = docs/packaging

# ---- The library --------------------------------------------------------------------------------
# One object of all that shell/pdb.h needs, in which no other name is left: so the archive has no name
# that a program could have, too. $(O)/libpdb.a is something else: all modules, for programs here.

# It draws nothing and nobody types.
LIBPDB_LIBS = $(filter-out -lreadline -lgvc -lcgraph -lcdt,$(PC_LDLIBS))
LIBPDB_OBJ = $(O)/lib/libpdb.o
LIBPDB_A = $(O)/lib/libpdb.a
LIBPDB_SO = $(O)/lib/libpdb.so.0

all: $(LIBPDB_A) $(LIBPDB_SO)

$(LIBPDB_OBJ): $(O)/shell/pdb.o $(O)/libpdb.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -r -nostdlib -o $@ $^ && objcopy --localize-hidden $@

$(LIBPDB_A): $(LIBPDB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $<

$(LIBPDB_SO): $(LIBPDB_OBJ) $(PACKAGING)/libpdb.map
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script=$(PACKAGING)/libpdb.map \
		$(if $(SAN),,-Wl,-z,defs) -Wl,-z,relro -Wl,-z,now -Wl,--as-needed $(LDFLAGS) -o $@ $< $(LIBPDB_LIBS)
	$(Q)ln -sf $(@F) $(@:.0=)

# ---- Install ------------------------------------------------------------------------------------
# FOLDER MODE FILE... for each folder under DESTDIR: install and uninstall go by the same lists.

PKGLIBDIR = $(PREFIX)/lib/pdb
INSTALL_MADE = $(O)/packaging/pdb.pc $(O)/packaging/modulefile $(O)/packaging/modulefile-recorder
INSTALL_FILES = \
	$(PREFIX)/bin:755:$(O)/pdb \
	$(foreach f,$(RECORDERS),$(PKGLIBDIR):644:$(f)) \
	$(foreach f,$(DAEMONS),$(PKGLIBDIR):755:$(f)) \
	$(LIBDIR):644:$(LIBPDB_SO) \
	$(LIBDIR):644:$(LIBPDB_A) \
	$(LIBDIR)/pkgconfig:644:$(O)/packaging/pdb.pc \
	$(PREFIX)/include:644:shell/pdb.h \
	$(foreach f,$(wildcard docs/man/*),$(PREFIX)/share/man/man$(subst .,,$(suffix $(f))):644:$(f)) \
	$(PREFIX)/share/bash-completion/completions:644:$(PACKAGING)/completion/pdb \
	$(ZSHDIR):644:$(PACKAGING)/completion/_pdb \
	$(PREFIX)/share/pdb:644:$(O)/packaging/modulefile \
	$(PREFIX)/share/pdb:644:$(O)/packaging/modulefile-recorder \
	$(PREFIX)/share/pdb:644:docs/json-schema.json
# FOLDER NAME TARGET. mpidb is a second name for the program: Python's debugger is called pdb, too.
INSTALL_LINKS = \
	$(LIBDIR):libpdb.so:$(notdir $(LIBPDB_SO)) \
	$(PREFIX)/bin:mpidb:pdb \
	$(PREFIX)/share/man/man1:mpidb.1:pdb.1 \
	$(PREFIX)/share/bash-completion/completions:mpidb:pdb
# Only those that nobody else has files in.
INSTALL_FOLDERS = $(PKGLIBDIR) $(PREFIX)/share/pdb

install_part = $(word $(1),$(subst :, ,$(2)))
define install-file
	install -D -m $(call install_part,2,$(1)) $(call install_part,3,$(1)) \
		$(DESTDIR)$(call install_part,1,$(1))/$(notdir $(call install_part,3,$(1)))

endef
install_link = $(DESTDIR)$(call install_part,1,$(1))/$(call install_part,2,$(1))
define install-link
	ln -sf $(call install_part,3,$(1)) $(call install_link,$(1))

endef

# Made each time, as PREFIX may be another one than of the last.
$(INSTALL_MADE): $(O)/packaging/%: $(PACKAGING)/%.in always
	@mkdir -p $(@D)
	@sed 's|@PREFIX@|$(PREFIX)|g; s|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|g; s|@VERSION@|$(VERSION)|g; s|@LIBS@|$(LIBPDB_LIBS)|g' $< >$@

install: all $(INSTALL_MADE)
	$(foreach f,$(INSTALL_FILES),$(call install-file,$(f)))
	$(foreach l,$(INSTALL_LINKS),$(call install-link,$(l)))
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; \
		*) [ -n '$(DESTDIR)' ] || echo 'Now: export PATH=$(PREFIX)/bin:$$PATH' ;; esac

uninstall:
	rm -f $(foreach f,$(INSTALL_FILES),$(DESTDIR)$(call install_part,1,$(f))/$(notdir $(call install_part,3,$(f)))) \
		$(foreach l,$(INSTALL_LINKS),$(call install_link,$(l)))
	-rmdir $(addprefix $(DESTDIR),$(INSTALL_FOLDERS)) 2>/dev/null

.PHONY: install uninstall

# ---- Packages -----------------------------------------------------------------------------------

DIST = $(O)/pdb-$(VERSION).tar.gz

dist:
	@mkdir -p $(O)
	@bash $(PACKAGING)/dist.sh pdb-$(VERSION) $(DIST)
	@echo '$(DIST)'

deb: dist | $(O)/.deps-package
	@sh $(PACKAGING)/deb.sh $(VERSION) $(DIST) $(O)/deb

# Built in a clean Debian root, installed in another. Not of "check": it takes many minutes.
# PACKAGE_SUITE=trixie: of another Debian.
PACKAGE_SUITE ?= $(shell . /etc/os-release && echo "$$VERSION_CODENAME")

check-package: | $(O)/.deps-root
	@bash tests/package/check.sh $(O) $(VERSION) $(PACKAGE_SUITE) "$(DEPS_BUILD)"; status=$$?; \
	if [ $$status -eq 77 ]; then echo "check-package is left out"; else exit $$status; fi

.PHONY: dist deb check-package
