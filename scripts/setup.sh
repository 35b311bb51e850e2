#!/usr/bin/env bash
# scripts/setup.sh [install | onnxruntime | tensorrt | deb | html | style | fuzz | slurm | aarch64]: installs what is needed to
# build and test. For Debian, Ubuntu and their derivatives.
#
# Without an argument: what `make check` and `make demo` need, with ONNX Runtime's shared library, and a link to it
# in the build folder (BUILD, default build). `install`: what `make` and `make install` need; `onnxruntime`: only that
# library. `deb`, `html`, `style` and `fuzz`: what those targets need; `slurm`: what scripts/slurm.sh needs, for
# more tests of `make check`. Existing packages are not changed; when nothing is missing, nothing is installed or
# downloaded. `aarch64`: what `make CROSS=aarch64-linux-gnu check` needs (BUILD is then build-aarch64): a compiler and an
# emulator of this system's, and libraries for aarch64, which are not installed but unpacked into the user's
# cache. `tensorrt`: NVIDIA's libraries that tests/cli/tensorrt_rtx.bats calls: TensorRT-RTX, which parses and builds without a
# GPU, and one lean runtime. pip downloads the two packages of scripts/tensorrt/requirements.txt (140 MB), from the source that its
# configuration names; three of their libraries are kept in the user's cache, compared with their hashes each time, and linked to
# as BUILD/tensorrt. Exit status 3: pip could not download them.
#
# ONNX Runtime is the release that scripts/onnxruntime pins (scripts/pin_onnxruntime.sh moves the pin): from npm, or from PyPI
# if there is a requirements.txt; kept in the user's cache and compared with its hash each time. `pinned` prints its number.
# Another one is used when POLYGRAPHY_ONNXRUNTIME names it; distributions package old releases, or ones
# that fill every log with messages.
set -eu
cd "$(dirname "$0")/.."
purpose=${1:-check}
build=${BUILD:-build}
machine=$(uname -m) # the machine that the libraries are for
if [ "$purpose" = aarch64 ]; then
    machine=aarch64 build=${BUILD:-build-aarch64}
    unset POLYGRAPHY_ONNXRUNTIME # is this machine's
fi
pinned=scripts/onnxruntime
if [ -e $pinned/requirements.txt ]; then
    version=$(sed -n 's/^onnxruntime==\([0-9.]*\).*/\1/p' $pinned/requirements.txt)
else
    version=$(sed -n 's/.*"onnxruntime-node": *"\(.*\)".*/\1/p' $pinned/package.json)
fi
if [ "$purpose" = pinned ]; then
    echo "$version"
    exit
fi
cache=${XDG_CACHE_HOME:-${HOME:-~}/.cache} # the shell knows the home folder also when HOME is not set
cached=$cache/polygraphy/onnxruntime-$version/libonnxruntime.so.1
[ "$machine" = "$(uname -m)" ] || cached=$cache/polygraphy/onnxruntime-$version-$machine/libonnxruntime.so.1
missing=()

# need PACKAGE COMMAND...: the package is missing when the command fails.
need()
{
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

# npm is the only package with hundreds of dependencies. Their number is shown before they are installed.
say_what_npm_brings()
{
    local plan
    [[ " ${missing[*]} " == *' npm '* ]] || return 0
    plan=$(LC_ALL=C apt-get install --assume-no --no-install-recommends -o Debug::NoLocking=1 npm 2>/dev/null |
        sed -nE -e 's/.* ([0-9]+) newly installed.*/\1 packages/p' \
            -e 's/^After this operation, (.*) of additional disk space.*/\1 on disk/p' | paste -sd ' ' | sed 's/ packages /&with /')
    echo "npm, which downloads ONNX Runtime $version, is ${plan:-a large package}; of the download one library is kept"
}

install_packages()
{
    if [ ${#missing[@]} -eq 0 ]; then
        return
    elif ! command -v apt-get >/dev/null; then
        echo "missing: ${missing[*]} (Debian's names); install these with this system's package manager" >&2
        exit 1
    elif [ "$(id -u)" != 0 ]; then
        say_what_npm_brings >&2
        echo "missing packages; run: sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    apt-get update -o DPkg::Lock::Timeout=300 || echo "going on with the package lists that are here" >&2
    say_what_npm_brings
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}"
}

# The path of the pinned library inside its npm package, which is also its name in the list of hashes.
pinned_library()
{
    case "$(uname -s) $machine" in
        'Linux x86_64') echo linux/x64/libonnxruntime.so.1 ;;
        'Linux aarch64') echo linux/arm64/libonnxruntime.so.1 ;;
        *)
            echo "no ONNX Runtime to download for $(uname -s) $machine: set POLYGRAPHY_ONNXRUNTIME to its shared library" >&2
            return 1
            ;;
    esac
}

# is_pinned FILE: whether it is the pinned library.
is_pinned()
{
    local hash _
    read -r hash _ < <(grep -F "  $library" $pinned/SHA256SUMS)
    [ -f "$1" ] && [ "$(sha256sum <"$1")" = "$hash  -" ]
}

# Sets `onnxruntime` to the library that POLYGRAPHY_ONNXRUNTIME names: a file, its folder, or the name of one of the
# system's libraries. Fails when it is not set.
find_named_onnxruntime()
{
    local name=${POLYGRAPHY_ONNXRUNTIME:-} file
    [ -n "$name" ] || return 1
    for file in "$name" "$name"/libonnxruntime.so{.1,} \
        "$(/sbin/ldconfig -p 2>/dev/null | sed -n "s|^[[:blank:]]*$name (.*) => ||p" | head -n 1)"; do
        if [ -f "$file" ]; then
            onnxruntime=$(realpath "$file")
            return
        fi
    done
    echo "POLYGRAPHY_ONNXRUNTIME names '$name', which is neither ONNX Runtime's library nor its folder" >&2
    exit 1
}

# The package, pinned and checked against the hashes in the lock file or in requirements.txt. Only one of its libraries is kept;
# because of the rename at the end it is either complete or missing.
download_onnxruntime()
{
    mkdir -p "$(dirname "$cached")"
    folder=$(mktemp -d "$(dirname "$cached")/download.XXXXXX") # next to its destination: on the same file system, so that it can be renamed
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 130' INT TERM HUP
    echo "downloading ONNX Runtime $version"
    local downloaded
    if [ -e $pinned/requirements.txt ]; then
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
            --python-version 3.13 --platform "manylinux_2_28_$machine" --platform "manylinux_2_27_$machine" \
            --dest "$folder" --requirement $pinned/requirements.txt
        python3 -m zipfile -e "$folder"/*.whl "$folder"
        downloaded=("$folder"/onnxruntime/capi/libonnxruntime.so.1*)
    else
        cp $pinned/package.json $pinned/package-lock.json "$folder"
        (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
        downloaded=("$folder"/node_modules/onnxruntime-node/bin/napi-v*/"$library")
    fi
    if ! is_pinned "${downloaded[0]}"; then
        echo "what was downloaded is not the ONNX Runtime that $pinned/SHA256SUMS names; nothing of it is kept" >&2
        exit 1
    fi
    mv "${downloaded[0]}" "$cached"
}

has_pinned_tensorrt()
{
    [ -d "$1" ] && (cd "$1" && sha256sum --check --quiet --status "$pinned_tensorrt/SHA256SUMS")
}

# pip compares the packages with the hashes in requirements.txt; the libraries that are kept are renamed into place together.
download_tensorrt()
{
    mkdir -p "${tensorrt%/*}"
    folder=$(mktemp -d "${tensorrt%/*}/download.XXXXXX")
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 130' INT TERM HUP
    echo "downloading the packages of scripts/tensorrt/requirements.txt"
    if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
        --dest "$folder" --requirement "$pinned_tensorrt/requirements.txt"; then
        echo "pip could not download NVIDIA's libraries; tests that need them are skipped" >&2
        exit 3
    fi
    mkdir "$folder/unpacked" "$folder/libraries"
    for package in "$folder"/*.whl; do
        python3 -m zipfile -e "$package" "$folder/unpacked"
    done
    while read -r _ library; do
        mv "$folder"/unpacked/*/"$library" "$folder/libraries"
    done <"$pinned_tensorrt/SHA256SUMS"
    if ! has_pinned_tensorrt "$folder/libraries"; then
        echo "the downloaded libraries differ from scripts/tensorrt/SHA256SUMS; none is kept" >&2
        exit 1
    fi
    rm -rf "$tensorrt"
    mv "$folder/libraries" "$tensorrt"
}

# The libraries of a Debian of the same release for aarch64, with all that they need, in a folder that compiler and emulator
# use as a root file system: the package manager works on a separate state, in which nothing is installed yet. So neither is
# root needed, nor is a foreign architecture added to this system, whose mirrors may have no packages for it.
unpack_aarch64()
{
    local packages=(libc6-dev libjansson-dev libpcre2-dev libxxhash-dev zlib1g-dev libcmocka-dev libdnnl-dev libstdc++6)
    local sysroot=$cache/polygraphy/sysroot-aarch64 release=/etc/os-release contents package link target options
    contents="$(cat $release) ${packages[*]}" # what it was made from
    if [ "$(cat "$sysroot/contents" 2>/dev/null)" != "$contents" ]; then
        mkdir -p "${sysroot%/*}"
        folder=$(mktemp -d "$sysroot.XXXXXX")
        trap 'rm -rf "$folder"' EXIT
        trap 'exit 130' INT TERM HUP
        mkdir -p "$folder"/apt/{state/lists,cache/archives}/partial "$folder"/root/usr/{lib,bin,sbin} "$folder"/root/proc
        options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$folder/apt/state"
            -o Dir::State::status=/dev/null -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User=root)
        apt-get "${options[@]}" update || echo "continuing with the package lists that are available" >&2
        if ! apt-get "${options[@]}" install -y --no-install-recommends --download-only "${packages[@]}"; then
            echo "these libraries for arm64 cannot be had from this system's package sources: ${packages[*]}" >&2
            exit 1
        fi
        ln -s usr/lib usr/bin usr/sbin "$folder/root"
        for package in "$folder"/apt/cache/archives/*.deb; do
            dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --no-same-owner -C "$folder/root"
        done
        find "$folder/root" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
            ln -sfnr "$folder/root$target" "$link"
        done
        describe_aarch64 >"$folder/root/proc/cpuinfo"
        printf '%s\n' "$contents" >"$folder/root/contents"
        chmod 755 "$folder/root"
        rm -rf "$sysroot"
        mv "$folder/root" "$sysroot"
        rm -rf "$folder"
        trap - EXIT INT TERM HUP
    fi
    mkdir -p "$build"
    ln -sfn "$sysroot" "$build/sysroot"
}

# A /proc/cpuinfo for programs in the emulator: before its release 8.1 they see this machine's, and ONNX
# Runtime crashes.
describe_aarch64()
{
    local processor processors
    processors=$(getconf _NPROCESSORS_CONF)
    for ((processor = 0; processor < processors; processor++)); do
        printf '%s\t: %s\n' processor $processor BogoMIPS 100.00 Features 'fp asimd aes pmull sha1 sha2 crc32 atomics cpuid' \
            'CPU implementer' 0x41 'CPU architecture' 8 'CPU variant' 0x3 'CPU part' 0xd0c 'CPU revision' 1
        echo
    done
}

if [ "$purpose" = tensorrt ]; then
    if [ "$(uname -s) $machine" != 'Linux x86_64' ]; then
        echo "scripts/tensorrt/requirements.txt pins libraries for Linux on x86-64, not for $(uname -s) on $machine" >&2
        exit 3
    fi
    pinned_tensorrt=$PWD/scripts/tensorrt
    tensorrt=$cache/polygraphy/tensorrt-$(sha256sum <"$pinned_tensorrt/SHA256SUMS" | head -c 16)
    if ! has_pinned_tensorrt "$tensorrt"; then
        need python3-pip python3 -m pip --version
        install_packages
        download_tensorrt
    fi
    mkdir -p "$build"
    ln -sfn "$tensorrt" "$build/tensorrt"
    exit
fi
if [ "$purpose" = slurm ]; then
    PATH=$PATH:/usr/sbin:/sbin # daemons, whose folders are not in a user's path
    need slurm-wlm eval 'command -v slurmctld && command -v slurmd && command -v srun'
    need munge command -v munged
    install_packages
    exit
fi
if [ "$purpose" = aarch64 ]; then
    need make command -v make
    need pkg-config command -v pkg-config
    need gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
    need qemu-user command -v qemu-aarch64
elif [ "$purpose" != onnxruntime ]; then
    need gcc command -v gcc
    need libc6-dev test -e /usr/include/stdio.h
    need make command -v make
    need pkg-config command -v pkg-config
    need libjansson-dev pkg-config --exists jansson
    need libpcre2-dev pkg-config --exists libpcre2-8
    need libxxhash-dev pkg-config --exists libxxhash
    need zlib1g-dev pkg-config --exists zlib
    [ "$purpose" = install ] || need libcmocka-dev pkg-config --exists cmocka
fi
case $purpose in
    check | aarch64)
        [ "$purpose" = aarch64 ] || need libdnnl-dev test -e /usr/include/oneapi/dnnl/dnnl.h
        need bats command -v bats
        need libonnx-testdata test -d /usr/share/libonnx-testdata
        need python3-onnx /usr/bin/python3 -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("onnx"))'
        ;;
    deb)
        need build-essential eval 'dpkg-query --show --showformat="\${db:Status-Status}" build-essential | grep -x installed'
        need dpkg-dev command -v dpkg-buildpackage
        need debhelper command -v dh
        ;;
    html)
        need python3-sphinx command -v sphinx-build
        need python3-myst-parser /usr/bin/python3 -c 'import myst_parser'
        need furo /usr/bin/python3 -c 'import furo'
        ;;
    style)
        need clang-format command -v clang-format
        need codespell command -v codespell
        ;;
    fuzz)
        need clang command -v clang
        need libclang-rt-dev eval 'ls "$(clang --print-runtime-dir)"/libclang_rt.fuzzer*.a'
        ;;
    install | onnxruntime) ;;
    *)
        echo "usage: scripts/setup.sh [install | onnxruntime | tensorrt | deb | html | style | fuzz | slurm | aarch64]" >&2
        exit 2
        ;;
esac
wants_onnxruntime='' uses_pinned=''
case $purpose in
    check | install | onnxruntime | deb | aarch64)
        wants_onnxruntime=yes
        if ! find_named_onnxruntime; then
            library=$(pinned_library)
            onnxruntime=$cached
            uses_pinned=yes
            if ! is_pinned "$cached"; then
                [ ! -e "$cached" ] || echo "'$cached' is not what was downloaded: it is replaced"
                if [ -e $pinned/requirements.txt ]; then
                    need python3-pip python3 -m pip --version
                else
                    need npm command -v npm
                fi
                command -v npm >/dev/null || need ca-certificates test -s /etc/ssl/certs/ca-certificates.crt
            fi
        fi
        ;;
esac
install_packages
[ "$purpose" != aarch64 ] || unpack_aarch64

if [ -n "$wants_onnxruntime" ]; then
    [ -z "$uses_pinned" ] || is_pinned "$cached" || download_onnxruntime
    mkdir -p "$build"
    ln -sfn "$onnxruntime" "$build/libonnxruntime.so.1"
fi
