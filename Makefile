# Builds, tests and installs polygraphy. `make help` lists what can be asked for.

CROSS        ?= # the prefix of a cross compiler, as aarch64-linux-gnu: docs/portability.md
machine      := $(firstword $(subst -, ,$(CROSS)))
BUILD        ?= build$(addprefix -,$(machine))$(if $(SANITIZE),-sanitize)
CFLAGS       ?= -O2 -g
OBJCOPY      ?= objcopy
NPM_FOLDER   ?= $(BUILD)/npm
FUZZ_CC      ?= clang
FUZZ_SECONDS ?= 60

# The other machine's libraries are those of a folder, and its programs start in an emulator.
pkg_config := pkg-config
ifneq ($(machine),)
SYSROOT    ?= $(abspath $(BUILD))/sysroot
# A lock of GLib's slices, in which qemu keeps what it has translated, can stay locked in the copy that fork() makes of a
# process with threads, which then hangs; malloc()'s cannot.
EMULATOR   ?= env G_SLICE=always-malloc qemu-$(machine) $(if $(SYSROOT),-L $(SYSROOT))
CC         := $(CROSS)-gcc $(if $(SYSROOT),--sysroot=$(SYSROOT))
AR         := $(CROSS)-ar
OBJCOPY    := $(CROSS)-objcopy
pkg_config := PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_SYSTEM_INCLUDE_PATH=$(SYSROOT)/usr/include \
              PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(CROSS)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig pkg-config
endif
export EMULATOR

# pkg-config's name of each library, and the Debian package that brings it
libraries := jansson:libjansson-dev libpcre2-8:libpcre2-dev libxxhash:libxxhash-dev zlib:zlib1g-dev
modules   := $(foreach library,$(libraries),$(firstword $(subst :, ,$(library))))
library_packages := $(foreach library,$(libraries),$(lastword $(subst :, ,$(library))))
# What the installed library uses of them: tests/cli/library.bats looks whether that is all.
public_modules := jansson libxxhash zlib

# With sanitizers the compiler warns of things that their checks only seem to do: no errors out of those.
warnings := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
            -Wold-style-definition -Wvla -Wwrite-strings $(if $(WERROR),$(if $(SANITIZE),,-Werror))
sanitize := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)

# All objects can be part of a shared library, whose names are those of the public headers.
pic := -fPIC

# Recursive variables: pkg-config is asked when a recipe needs it; `make check` and `make demo` get there after set-up.
# Fused multiply-adds would round results differently from one machine to the next.
compile = -std=c17 -D_XOPEN_SOURCE=700 -ffp-contract=off -Isrc -Iinclude $(warnings) $(module_cflags) $(CPPFLAGS) $(CFLAGS) $(pic)
link    = $(CFLAGS) $(LDFLAGS)
ldlibs  = $(module_libs) -ldl -lm -lpthread $(LDLIBS)
module_cflags = $(eval module_cflags := $(shell $(pkg_config) --cflags $(modules) 2>/dev/null))$(module_cflags)
module_libs   = $(eval module_libs := $(shell $(pkg_config) --libs $(modules) 2>/dev/null))$(module_libs)

sources         := $(sort $(shell find src -name '*.c'))
library_sources := $(filter-out src/cli/%,$(sources))
cli_sources     := $(filter-out src/cli/main.c,$(filter src/cli/%,$(sources)))
support_sources := $(sort $(wildcard tests/support/*.c))
unit_sources    := $(sort $(if $(wildcard tests/unit),$(shell find tests/unit -name 'test_*.c')))
program_sources := $(sort $(wildcard tests/programs/*.c))
fuzz_sources    := $(sort $(wildcard tests/fuzz/fuzz_*.c))
bench_sources   := $(sort $(wildcard bench/*.c))
public_headers  := $(wildcard include/polygraphy/*.h)
example_plugins := $(patsubst examples/tactic_plugin/%.c,$(BUILD)/examples/%.so,$(wildcard examples/tactic_plugin/*.c)) \
                   $(patsubst %.c,$(BUILD)/%.so,$(wildcard examples/faults/*.c examples/fused_kernel/*.c))
tensorrt_sources := $(filter-out %/cudart.c,$(sort $(wildcard tests/tensorrt_stand_in/*.c)))
test_plugins    := $(patsubst tests/plugins/%.c,$(BUILD)/tests/plugins/%.so,$(wildcard tests/plugins/*.c))

library  := $(BUILD)/libpolygraphy.a
cli      := $(BUILD)/libcli.a
program  := $(BUILD)/polygraphy
portable := $(BUILD)/portable/polygraphy
public   := $(BUILD)/public/libpolygraphy.a
shared   := $(BUILD)/public/libpolygraphy.so.0
units    := $(unit_sources:%.c=$(BUILD)/%)
helpers  := $(program_sources:tests/programs/%.c=$(BUILD)/tests/%)
tensorrt := $(BUILD)/tests/tensorrt/complete
replays  := $(fuzz_sources:%.c=$(BUILD)/%)
benches  := $(bench_sources:%.c=$(BUILD)/%)
fuzzers  := $(fuzz_sources:tests/fuzz/%.c=$(BUILD)/fuzzers/%)
emulated := $(if $(EMULATOR),$(patsubst %,$(BUILD)/emulated/%,$(notdir $(program) $(helpers))))
objects_of = $(1:%.c=$(BUILD)/%.o)
quiet      = $(if $(V),,@)

version    = $(shell sed -n 's/^\#define POLYGRAPHY_VERSION "\(.*\)"/\1/p' src/base/system.h)

# What programs started from here need to find each other; see tests/run.sh for the rest.
export POLYGRAPHY := $(abspath $(if $(EMULATOR),$(BUILD)/emulated/polygraphy,$(program)))
export POLYGRAPHY_TEST_PROGRAMS := $(abspath $(BUILD)/$(if $(EMULATOR),emulated,tests))
export POLYGRAPHY_TEST_MODELS := $(abspath $(or $(POLYGRAPHY_TEST_MODELS),../shared/models))
export POLYGRAPHY_ROOT := $(CURDIR)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all demo check fresh examples faults bench bench-compare bench-peer compare bench-optimizers fuzz style strings manuals html completions install uninstall deb npm wheel clean help setup FORCE

all: $(library) $(program) ## build the program and the library (the default)

demo: all ## show what it does on an example
	@scripts/demo.sh $(BUILD)

check: all $(public) $(if $(EMULATOR),,$(shared)) $(if $(SANITIZE),,$(portable)) $(emulated) $(units) $(helpers) $(tensorrt) $(replays) $(benches) $(example_plugins) $(test_plugins) ## set up, build, run all tests; ONLY=text: files with text in their path
	@tests/run.sh $(BUILD) $(ONLY)

fresh: ## demo, check, install, deb and npm on fresh systems of Debian 12 and 13, as root and as a user; takes root, and hours
	@scripts/fresh.sh

examples: all $(example_plugins) ## build the example plug-ins

faults: all $(example_plugins) ## look for the causes of the faults of examples/faults, and say which were found
	@BUILD='$(BUILD)' examples/faults/run.py -o $(BUILD)/faults

bench: all $(benches) $(tensorrt) $(BUILD)/tests/make_chain ## measure; fails if a target is missed
	@bench/run.sh $(BUILD)

bench-compare: ## measure here and in OLD=path/to/another/tree, and show both results side by side
	-@$(MAKE) -C '$(OLD)' bench
	-@$(MAKE) bench
	@bench/compare.py '$(OLD)/build/bench.json' $(BUILD)/bench.json

bench-peer: all ## measure this program and Polygraphy in Python; PEER=path/to/its/virtual/environment
	@'$(PEER)'/bin/python scripts/compare_polygraphy.py $(program) '$(PEER)'/bin/polygraphy --times 3

# OLD is the program of another tree: `git worktree add FOLDER COMMIT && make -C FOLDER` builds it.
compare: all $(helpers) $(tensorrt) $(BUILD)/bench/quantize_model $(example_plugins) $(test_plugins) ## compare the outputs of OLD=path/to/polygraphy with this program's; ONLY=text: cases with text in their name
	@scripts/compare_programs.py '$(OLD)' $(program) --build $(BUILD) --only '$(ONLY)' $(if $(EXCEPT),--except $(EXCEPT))

bench-optimizers: all $(benches) ## measure what ONNX Runtime's optimizers do to outputs: the tables of docs/optimizers.md
	@bench/optimizer_effects.sh $(BUILD)

fuzz: $(fuzzers) ## fuzz every parser for FUZZ_SECONDS each; new finds go to the build folder
	@for fuzzer in $(notdir $(fuzzers)); do \
	    finds=$(BUILD)/fuzz-corpus/$$fuzzer; mkdir -p $$finds; \
	    ASAN_OPTIONS=allocator_may_return_null=1 $(BUILD)/fuzzers/$$fuzzer -max_total_time=$(FUZZ_SECONDS) \
	        -artifact_prefix=$$finds/ $$finds tests/fuzz/corpus/$$fuzzer || exit 1; \
	done

style: setup-style ## check layout, layers, sizes, banned functions and expressions, and spelling
	@scripts/style.sh

strings: ## list every text of the program that users read, with file and line; ONLY=text: files with text in their path
	@scripts/strings.py $(ONLY)

manuals: $(BUILD)/man/polygraphy.1 ## write the manuals, man/*.1 in the build folder

$(BUILD)/man/polygraphy.1: $(program) $(emulated)
	@rm -rf $(@D)
	$(quiet)'$(POLYGRAPHY)' help --write-manuals $(@D)

# Under the names that shells look for. The program prints the same.
completions: ## put the completion scripts for bash, zsh and fish into the build folder
	@mkdir -p $(BUILD)/completions
	@cp src/cli/completion/polygraphy.bash src/cli/completion/polygraphy.fish $(BUILD)/completions
	@cp src/cli/completion/polygraphy.zsh $(BUILD)/completions/_polygraphy

html: all setup-html ## make a website of README, documents and manuals, html/ in the build folder
	@BUILD='$(BUILD)' scripts/website/make.sh

# Files that `sudo make install` creates in a user's build folder belong to that user, and so do downloaded libraries: what
# is in root's cache, others may not read.
keep_for_owner = [ -O $(BUILD) ] || export XDG_CACHE_HOME='$(abspath $(BUILD))/cache';

# scripts/install.sh describes the destinations and the variables that change them.
install: all $(public) manuals completions ## install into PREFIX (default /usr/local), below DESTDIR if given
	@[ -f $(BUILD)/libonnxruntime.so.1 ] || { $(keep_for_owner) BUILD='$(BUILD)' scripts/setup.sh $(or $(machine),onnxruntime); }
	@[ "$$(id -u)" != 0 ] || chown -Rh --reference=$(BUILD) $(BUILD)
	@BUILD='$(BUILD)' OBJCOPY='$(OBJCOPY)' VERSION='$(version)' MODULES='$(public_modules)' scripts/install.sh install

uninstall: ## remove from PREFIX what install has put there
	@scripts/install.sh uninstall

deb: ## build Debian packages; they are in the build folder, below deb
	@BUILD='$(BUILD)' scripts/deb.sh

npm: $(portable) manuals completions ## make the npm package, with programs for ARCHITECTURES (default: x64 arm64)
	@BUILD='$(BUILD)' VERSION='$(version)' LIBRARIES='$(library_packages)' \
	    packaging/npm/pack.sh '$(NPM_FOLDER)' $(ARCHITECTURES)

wheel: ## make Python's packages, for pip, for MACHINES (default: this one); they are in the build folder, below wheel
	@BUILD='$(BUILD)' LIBRARIES='$(library_packages)' \
	    packaging/python/wheel.sh $(MACHINES)

clean: ## remove the build folder
	rm -rf $(BUILD)

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18
	@echo 'Variables: BUILD=folder CC=clang CFLAGS= WERROR=1 SANITIZE=address,undefined V=1 (show commands) PREFIX=/usr DESTDIR=folder'

# --- set-up -----------------------------------------------------------------------------------------------------------

# `make check` and `make demo` install what is missing before anything is built; a plain `make` only says what is.
setup:
	@BUILD='$(BUILD)' scripts/setup.sh $(machine)

setup-%: FORCE
	@scripts/setup.sh $*

$(BUILD)/flags: | $(if $(filter check demo,$(MAKECMDGOALS)),setup) $(if $(filter fuzz,$(MAKECMDGOALS)),setup-fuzz)

# Remembers the compiler and its flags: objects depend on it, so a change of either rebuilds them.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@missing=; for library in $(libraries); do \
	    $(pkg_config) --exists $${library%:*} || missing="$$missing $${library#*:}"; \
	done; \
	command -v pkg-config >/dev/null || missing=" pkg-config$$missing"; \
	if [ -n "$$missing" ]; then \
	    echo "missing: $(if $(machine),for $(machine):,apt-get install)$$missing    ($(strip scripts/setup.sh $(machine))" \
	        "installs everything)" >&2; exit 1; \
	fi
	@echo '$(CC) $(compile) $(sanitize) | $(link) $(ldlibs)' | cmp -s - $@ || \
	    echo '$(CC) $(compile) $(sanitize) | $(link) $(ldlibs)' > $@

# Remembers which sources there are: an archive is made again when one is gone.
$(BUILD)/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(sources) $(support_sources)' | cmp -s - $@ || echo '$(sources) $(support_sources)' > $@
FORCE:

# --- compiling and linking --------------------------------------------------------------------------------------------

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo 'CC   $<'
	$(quiet)$(CC) $(compile) $(sanitize) -MMD -MP -c -o $@ $<

# Hold these files.
$(BUILD)/src/report/page.o $(BUILD)/fuzzers/src/report/page.o: $(wildcard src/report/page/*)
$(BUILD)/src/cli/completion/command.o $(BUILD)/fuzzers/src/cli/completion/command.o: $(wildcard src/cli/completion/polygraphy.*)

# cmocka hands every test a `state` that few of them use.
$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo 'CC   $<'
	$(quiet)$(CC) $(compile) $(sanitize) -Itests -Wno-unused-parameter -MMD -MP -c -o $@ $<

$(library): $(call objects_of,$(library_sources)) $(BUILD)/sources
	@rm -f $@
	@echo 'AR   $@'
	$(quiet)$(AR) rcs $@ $(filter %.o,$^)

# What programs of others link: the objects that the public functions need, as one, in which no other name is global. Nothing
# of ours can then meet a function of theirs.
$(public): $(library)
	@mkdir -p $(@D)
	@rm -f $@
	@echo 'AR   $@'
	$(quiet)$(CC) -r -nostdlib -o $(@:.a=.all.o) $(filter $(BUILD)/src/library/%,$(call objects_of,$(library_sources))) $<
	$(quiet)$(OBJCOPY) --wildcard --keep-global-symbol='polygraphy_*' $(@:.a=.all.o) $(@:.a=.o)
	$(quiet)$(AR) rcs $@ $(@:.a=.o)

# The same for programs that load it, such as Python. SHARED_OBJECTS: what it needs where its libraries are archives.
$(shared): $(library) src/library/exports.map
	@mkdir -p $(@D)
	@echo 'SO   $@'
	$(quiet)$(CC) $(link) $(sanitize) -shared -Wl,-soname,$(@F),--version-script=src/library/exports.map,-Bsymbolic,--as-needed \
	    -o $@ $(filter $(BUILD)/src/library/%,$(call objects_of,$(library_sources))) $(SHARED_OBJECTS) $(library) $(ldlibs)

# All of the program but main(), for it and for the tests.
$(cli): $(call objects_of,$(cli_sources)) $(BUILD)/sources
	@rm -f $@
	@echo 'AR   $@'
	$(quiet)$(AR) rcs $@ $(filter %.o,$^)

# By the build id, debuggers know debug symbols that have been taken apart.
$(program): $(BUILD)/src/cli/main.o $(cli) $(library)
	@echo 'LINK $@'
	$(quiet)$(CC) $(link) -Wl,--build-id $(sanitize) -o $@ $^ $(ldlibs)

# The program for other systems than this one: all libraries are inside but the C library, which any newer one can stand for.
$(portable): $(BUILD)/src/cli/main.o $(cli) $(library)
	@mkdir -p $(@D)
	@echo 'LINK $@'
	$(quiet)$(CC) $(link) $(sanitize) -o $@ $^ -Wl,-Bstatic $(module_libs) -Wl,-Bdynamic -ldl -lm -lpthread $(LDLIBS)
	$(quiet)$(OBJCOPY) --strip-all $@

$(units): %: %.o $(call objects_of,$(support_sources)) $(cli) $(library) $(BUILD)/sources
	@echo 'LINK $@'
	$(quiet)$(CC) $(link) $(sanitize) -o $@ $(filter %.o,$^) $(cli) $(library) $(ldlibs) -lcmocka

$(helpers): $(BUILD)/tests/%: $(BUILD)/tests/programs/%.o $(library)
	@echo 'LINK $@'
	$(quiet)$(CC) $(link) $(sanitize) -Wl,--as-needed -o $@ $(filter %.o,$^) $(library) $(ldlibs)


# What stands in for TensorRT's libraries has the whole archive inside of it, whose names it keeps to itself.
$(BUILD)/tests/tensorrt_stand_in/library.so: $(call objects_of,$(tensorrt_sources)) tests/tensorrt_stand_in/exports.map $(library)
	@echo 'SO   $@'
	$(quiet)$(CC) $(link) $(sanitize) -shared -Wl,-Bsymbolic,--version-script=tests/tensorrt_stand_in/exports.map \
	    -Wl,--as-needed -o $@ $(filter %.o,$^) $(library) $(ldlibs)

$(BUILD)/tests/tensorrt_stand_in/cudart.so: $(BUILD)/tests/tensorrt_stand_in/cudart.o
	@echo 'SO   $@'
	$(quiet)$(CC) $(link) $(sanitize) -shared -o $@ $^

# A folder for each release, with the names that its libraries have. By its folder the stand-in knows which one it is.
$(tensorrt): $(BUILD)/tests/tensorrt_stand_in/library.so $(BUILD)/tests/tensorrt_stand_in/cudart.so
	$(quiet)tests/tensorrt_stand_in/folders.sh $(@D) $^
	@touch $@

# Programs of another machine cannot be started by name; these can. Plug-ins lie beside test programs.
$(emulated): FORCE
	@mkdir -p $(@D) && ln -sfn ../tests/plugins $(@D)/plugins
	@printf '#!/bin/sh\nexec %s "%s" "$$@"\n' '$(EMULATOR)' \
	    '$(abspath $(if $(filter polygraphy,$(@F)),$(program),$(BUILD)/tests/$(@F)))' > $@
	@chmod +x $@

# Plug-ins know nothing of the program but the public header.
$(BUILD)/examples/%.so: examples/tactic_plugin/%.c $(public_headers) $(BUILD)/flags
	@mkdir -p $(@D)
	@echo 'SO   $@'
	$(quiet)$(CC) -std=c11 -Iinclude $(warnings) $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $<

$(BUILD)/tests/plugins/provider_with_faults.so: tests/plugins/faulty_operators.h tests/plugins/onnxrt_provider.h

$(BUILD)/%.so: %.c $(public_headers) $(BUILD)/flags
	@mkdir -p $(@D)
	@echo 'SO   $@'
	$(quiet)$(CC) -std=c11 -D_XOPEN_SOURCE=700 -Iinclude $(warnings) $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $< -lm

# What a measured program does not use must not cost it time to load.
$(benches): %: %.o $(library)
	@echo 'LINK $@'
	$(quiet)$(CC) $(link) $(sanitize) -Wl,--as-needed -o $@ $(filter %.o,$^) $(library) $(ldlibs)

$(BUILD)/bench/search_table: $(call objects_of,$(addprefix tests/support/,block_graph.c simulated_jobs.c simulated_reduction.c))
$(BUILD)/bench/decision_speed: $(BUILD)/tests/support/block_graph.o
$(BUILD)/bench/quantize_model: $(call objects_of,$(wildcard bench/quantize/*.c))

$(replays): %: %.o $(BUILD)/tests/fuzz/replay_driver.o $(cli) $(library)
	@echo 'LINK $@'
	$(quiet)$(CC) $(link) $(sanitize) -o $@ $^ $(ldlibs)

# Fuzzers are a build of their own: clang only, everything instrumented.
fuzz_sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

$(BUILD)/fuzzers/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo 'CC   $<'
	$(quiet)$(FUZZ_CC) $(compile) $(fuzz_sanitize) -fsanitize=fuzzer-no-link -Itests -MMD -MP -c -o $@ $<

$(BUILD)/fuzzers/all.a: $(patsubst %.c,$(BUILD)/fuzzers/%.o,$(cli_sources) $(library_sources)) $(BUILD)/sources
	@rm -f $@
	@echo 'AR   $@'
	$(quiet)$(AR) rcs $@ $(filter %.o,$^)

$(fuzzers): $(BUILD)/fuzzers/%: $(BUILD)/fuzzers/tests/fuzz/%.o $(BUILD)/fuzzers/all.a
	@echo 'LINK $@'
	$(quiet)$(FUZZ_CC) $(link) $(fuzz_sanitize) -fsanitize=fuzzer -o $@ $^ $(ldlibs)

-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)
