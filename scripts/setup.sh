#!/usr/bin/env bash
# scripts/setup.sh [style | fuzz | slurm]: makes this machine able to build and test. For Debian, Ubuntu and their relatives.
#
# Without an argument: what `make check` and `make demo` need, with ONNX Runtime's shared library, to which a link is
# put into the build folder (BUILD, default build). `style` and `fuzz`: what those targets need; `slurm`: what
# scripts/slurm.sh needs, with which some more of `make check` runs. What is there already is left alone; when nothing is
# missing, nothing is installed or downloaded.
set -eu
cd "$(dirname "$0")/.."
purpose=${1:-check}
build=${BUILD:-build}
lock=scripts/onnxruntime
version=$(sed -n 's/.*"onnxruntime-node": *"\(.*\)".*/\1/p' $lock/package.json)
cached=${XDG_CACHE_HOME:-$HOME/.cache}/polygraphy/onnxruntime-$version/libonnxruntime.so.1
missing=()

# need PACKAGE COMMAND...: the package is missing when the command fails.
need()
{
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

install_packages()
{
    if [ ${#missing[@]} -eq 0 ]; then
        return
    elif ! command -v apt-get >/dev/null; then
        echo "missing: ${missing[*]} (Debian's names); install these with this system's package manager" >&2
        exit 1
    elif [ "$(id -u)" != 0 ]; then
        echo "missing packages; run: sudo apt-get install -y ${missing[*]}" >&2
        exit 1
    fi
    update_package_lists
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}"
}

lists_updated=
update_package_lists()
{
    if [ -z "$lists_updated" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -o DPkg::Lock::Timeout=300 || echo "going on with the package lists that are here" >&2
        lists_updated=yes
    fi
}

# The library that the user has chosen, that Debian's package has installed, or that an earlier run downloaded.
find_onnxruntime()
{
    local file
    if [ -f "${POLYGRAPHY_ONNXRUNTIME:-}" ]; then
        realpath "$POLYGRAPHY_ONNXRUNTIME"
        return
    fi
    for file in /usr/lib/*-linux-gnu/libonnxruntime.so.1* "$cached"; do
        if [ -f "$file" ]; then
            echo "$file"
            return
        fi
    done
    return 1
}

# Debian 13 and later have a package, with the version in its name (libonnxruntime1.21, say); elsewhere npm fetches it.
need_onnxruntime()
{
    local package
    find_onnxruntime >/dev/null && return
    update_package_lists
    package=$(apt-cache pkgnames libonnxruntime 2>/dev/null | grep -E '^libonnxruntime[0-9.]+$' | sort -V | tail -n 1)
    if [ -n "$package" ]; then
        missing+=("$package")
    else
        need npm command -v npm
    fi
}

# The npm package, pinned and checked against the hashes in the lock file. Only one library of it is kept; the rename at
# the end means that it is there whole or not at all.
download_onnxruntime()
{
    local machine
    case $(uname -sm) in
        'Linux x86_64') machine=linux/x64 ;;
        'Linux aarch64') machine=linux/arm64 ;;
        *)
            echo "no ONNX Runtime to download for $(uname -sm): set POLYGRAPHY_ONNXRUNTIME to its shared library" >&2
            exit 1
            ;;
    esac
    mkdir -p "$(dirname "$cached")"
    folder=$(mktemp -d "$(dirname "$cached")/download.XXXXXX") # beside its destination: one file system, so a rename
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 130' INT TERM HUP
    cp $lock/package.json $lock/package-lock.json "$folder"
    echo "downloading ONNX Runtime $version"
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    mv "$folder/node_modules/onnxruntime-node/bin/napi-v6/$machine/libonnxruntime.so.1" "$cached"
}

if [ "$purpose" = slurm ]; then
    PATH=$PATH:/usr/sbin:/sbin # daemons, which a user has not on his path
    need slurm-wlm eval 'command -v slurmctld && command -v slurmd && command -v srun'
    need munge command -v munged
    install_packages
    exit
fi
need gcc command -v gcc
need libc6-dev test -e /usr/include/stdio.h
need make command -v make
need pkg-config command -v pkg-config
need libjansson-dev pkg-config --exists jansson
need libpcre2-dev pkg-config --exists libpcre2-8
need libxxhash-dev pkg-config --exists libxxhash
need libzip-dev pkg-config --exists libzip
need libcmocka-dev pkg-config --exists cmocka
case $purpose in
    check)
        need libdnnl-dev test -e /usr/include/oneapi/dnnl/dnnl.h
        need bats command -v bats
        need libonnx-testdata test -d /usr/share/libonnx-testdata
        need python3-onnx /usr/bin/python3 -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("onnx"))'
        need_onnxruntime
        ;;
    style) need clang-format command -v clang-format ;;
    fuzz)
        need clang command -v clang
        need libclang-rt-dev eval 'ls "$(clang --print-runtime-dir)"/libclang_rt.fuzzer*.a'
        ;;
    *)
        echo "usage: scripts/setup.sh [style | fuzz | slurm]" >&2
        exit 2
        ;;
esac
install_packages

if [ "$purpose" = check ]; then
    find_onnxruntime >/dev/null || download_onnxruntime
    mkdir -p "$build"
    ln -sfn "$(find_onnxruntime)" "$build/libonnxruntime.so.1"
fi
