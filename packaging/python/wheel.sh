#!/usr/bin/env bash
# packaging/python/wheel.sh [MACHINE...]: builds a wheel for each machine (x86_64, aarch64; default: this one) that any Linux
# with glibc 2.28 or later can install, and the source package; they are in BUILD/wheel (default build/wheel). LIBRARIES:
# Debian's packages of the libraries that are linked. `make wheel` calls this.
#
# The compiler is zig, from PyPI, which brings the symbols of that glibc. Other libraries are linked statically, those of
# Debian (for aarch64: scripts/setup.sh aarch64). oneDNN, which is loaded at run time, and what it needs, are copied.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath -m "${BUILD:-build}")
glibc=2.28
onednn=onednn-cpu-gomp==2023.2.0 # the last one with GNU's OpenMP instead of a SYCL runtime of 1 GB
openmp=pykdtree==1.4.3           # a small package that contains GNU's OpenMP for old releases of glibc
export PIP_DISABLE_PIP_VERSION_CHECK=1 SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
[ $# -gt 0 ] || set -- "$(uname -m)"

# install_tools: sets `python`, that of an environment with the pinned tools.
install_tools()
{
    local tools=$build/wheel-tools
    python=$tools/bin/python
    cmp -s packaging/python/requirements.txt "$tools/requirements.txt" && return
    rm -rf "$tools"
    python3 -m venv "$tools" || { echo "missing: python3-venv (apt-get install python3-venv)" >&2 && exit 1; }
    "$python" -m pip install --quiet --requirement packaging/python/requirements.txt
    cp packaging/python/requirements.txt "$tools"
}

# collect_libraries MACHINE FOLDER: copies headers and archives of the libraries that are linked. The system's folder of
# headers has those of another glibc, too.
collect_libraries()
{
    local machine=$1 folder=$2 root='' header archive
    [ "$machine" = "$(uname -m)" ] || root=$PWD/build-$machine/sysroot
    [ -z "$root" ] || [ -e "$root" ] || { echo "missing: libraries for $machine: scripts/setup.sh $machine" >&2 && exit 1; }
    mkdir -p "$folder/include" "$folder/lib"
    for header in jansson.h jansson_config.h pcre2.h xxhash.h xxh3.h zlib.h zconf.h; do
        if [ -f "$root/usr/include/$header" ]; then
            cp "$root/usr/include/$header" "$folder/include"
        else
            cp "$root/usr/include/$machine-linux-gnu/$header" "$folder/include"
        fi
    done
    for archive in libjansson.a libpcre2-8.a libxxhash.a libz.a; do
        cp "$root/usr/lib/$machine-linux-gnu/$archive" "$folder/lib"
    done
}

# fetch_onednn FOLDER: its library for x86_64, and the one of OpenMP that it needs. There is no package of it for aarch64:
# layers run on the program's own kernels.
fetch_onednn()
{
    local package
    "$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$1" $onednn $openmp
    for package in "$1"/*.whl; do
        "$python" -m zipfile --extract "$package" "$1"
    done
    mv "$1"/onednn*.data/data/lib/libdnnl.so.3 "$1"
    mv "$1"/pykdtree.libs/libgomp-*.so.* "$1/libgomp.so.1"
}

# licences FOLDER: of all that the wheel contains besides the program
licences()
{
    local file
    # shellcheck disable=SC2086 # several words
    packaging/licences.sh $LIBRARIES
    for file in "$1"/onednn*.data/data/share/doc/onednn/{LICENSE,THIRD-PARTY-PROGRAMS}; do
        if [ -f "$file" ]; then
            printf '==== oneDNN: %s ====\n\n' "${file##*/}"
            cat "$file"
        fi
    done
    printf '\n==== GNU OpenMP (libgomp) ====\n\nGPL-3.0-or-later WITH GCC-exception-3.1: https://gcc.gnu.org/onlinedocs/libstdc++/manual/license.html\n'
}

# build_wheel MACHINE
build_wheel()
{
    local machine=$1 work=$build/wheel-$1 libraries=
    rm -rf "$work/dist" "$work/onednn" "$work/libraries"
    mkdir -p "$work/dist" "$work/onednn"
    collect_libraries "$machine" "$work/libraries"
    printf '#!/bin/sh\nexec "%s" -m ziglang cc -target %s-linux-gnu.%s "$@"\n' "$python" "$machine" $glibc >"$work/cc"
    chmod +x "$work/cc"
    "$work/cc" -O2 -c -o "$work/older_glibc.o" packaging/python/older_glibc.c
    "$work/cc" -O2 -c -o "$work/own_stdin.o" packaging/python/own_stdin.c
    # -isystem: these headers are not ours to correct
    make BUILD="$work/build" CC="$work/cc" AR="'$python' -m ziglang ar" OBJCOPY=true \
        CFLAGS="-O2 -s -isystem $work/libraries/include" LDFLAGS="-L$work/libraries/lib" LDLIBS="$work/older_glibc.o" SHARED_OBJECTS="$work/own_stdin.o" \
        "$work/build/portable/polygraphy" "$work/build/public/libpolygraphy.so.0"
    if [ "$machine" = x86_64 ]; then
        fetch_onednn "$work/onednn"
        libraries=$work/onednn/libdnnl.so.3
    fi
    licences "$work/onednn" >"$work/THIRD-PARTY-LICENSES"
    POLYGRAPHY_WHEEL_BUILD=$work/build POLYGRAPHY_WHEEL_LIBRARIES=$libraries \
        POLYGRAPHY_WHEEL_LICENCES=$work/THIRD-PARTY-LICENSES \
        POLYGRAPHY_WHEEL_PLATFORM=linux_$machine "$python" -m build --wheel --no-isolation --outdir "$work/dist" .
    PATH=$(dirname "$python"):$PATH LD_LIBRARY_PATH=$work/onednn "$python" -m auditwheel repair --plat auto \
        --wheel-dir "$build/wheel" "$work"/dist/*.whl # the platforms that it knows by name are this machine's
    compgen -G "$build/wheel/*-manylinux_${glibc/./_}_$machine.whl" >/dev/null || { echo "the wheel needs a newer glibc than $glibc" >&2 && exit 1; }
}

mkdir -p "$build/wheel"
rm -f "$build/wheel"/*
install_tools
for machine; do
    build_wheel "$machine"
done
"$python" -m build --sdist --no-isolation --outdir "$build/wheel" .
ls -l "$build/wheel"
