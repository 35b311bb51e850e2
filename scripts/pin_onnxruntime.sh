#!/usr/bin/env bash
# scripts/pin_onnxruntime.sh [--dry-run] [--compare [TEXT]] VERSION: makes VERSION the release of ONNX Runtime that
# scripts/setup.sh downloads, and says what changes.
#
# The release is taken from npm's package onnxruntime-node if that has it, else from PyPI's wheel of onnxruntime. Written are
# scripts/onnxruntime/SHA256SUMS, the hashes of its libraries for both processors, and package.json and package-lock.json, or
# requirements.txt with the hashes of the wheels. (The program's own npm package keeps the release of package.json.)
#
# --dry-run: shows the differences of these files, and writes none. --compare: runs the command lines of `make compare` (those
# of cases with TEXT in their name) with the built program, once with the old library and once with the new one, and shows the
# differences. Before the new pin is committed, `make check` has to pass with it.
set -eu
cd "$(dirname "$0")/.."
pinned=scripts/onnxruntime
dry_run='' compare='' cases='' version=''
while [ $# -gt 0 ]; do
    case $1 in
        --dry-run) dry_run=yes ;;
        --compare)
            compare=yes
            [ $# -lt 3 ] || { cases=$2 && shift; }
            ;;
        [0-9]*) version=$1 ;;
        *) version='' && break ;;
    esac
    shift
done
if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
    echo "usage: scripts/pin_onnxruntime.sh [--dry-run] [--compare [TEXT]] VERSION" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$work/pin" "$work/package"
libraries=$work/libraries # linux/x64/libonnxruntime.so.1, and the same for arm64
mkdir -p "$libraries/linux/x64" "$libraries/linux/arm64"

# The libraries, and the files of the pin, from npm. Fails if npm does not have the release.
take_from_npm()
{
    [ "$(npm view "onnxruntime-node@$version" version 2>/dev/null)" = "$version" ] || return 1
    sed "s|\"onnxruntime-node\": *\".*\"|\"onnxruntime-node\": \"$version\"|" $pinned/package.json >"$work/pin/package.json"
    (cd "$work/pin" && npm install --package-lock-only --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
    (cd "$work/package" && npm pack "onnxruntime-node@$version" --silent >/dev/null && tar -xzf ./*.tgz)
    local processor
    for processor in x64 arm64; do
        mv "$work"/package/package/bin/napi-v*/linux/$processor/libonnxruntime.so.1* "$libraries/linux/$processor/libonnxruntime.so.1"
    done
}

# The same from PyPI. The wheels for one release of Python do: the library is independent of it.
take_from_pypi()
{
    local machine processor wheel
    printf 'onnxruntime==%s' "$version" >"$work/pin/requirements.txt"
    for machine in x86_64:x64 aarch64:arm64; do
        processor=${machine#*:}
        mkdir "$work/package/$processor"
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version 3.13 \
            --platform "manylinux_2_28_${machine%:*}" --platform "manylinux_2_27_${machine%:*}" \
            --dest "$work/package/$processor" "onnxruntime==$version" >&2
        wheel=("$work/package/$processor"/*.whl)
        printf ' \\\n    --hash=sha256:%s' "$(sha256sum <"${wheel[0]}" | head -c 64)" >>"$work/pin/requirements.txt"
        python3 -m zipfile -e "${wheel[0]}" "$work/package/$processor"
        mv "$work/package/$processor"/onnxruntime/capi/libonnxruntime.so.1* "$libraries/linux/$processor/libonnxruntime.so.1"
    done
    echo >>"$work/pin/requirements.txt"
}

if take_from_npm; then
    source=npm
else
    source=PyPI
    take_from_pypi
fi
(cd "$libraries" && sha256sum linux/arm64/libonnxruntime.so.1 linux/x64/libonnxruntime.so.1) >"$work/pin/SHA256SUMS"
old=$(scripts/setup.sh pinned)
echo "ONNX Runtime $old -> $version, from $source"
for file in package.json package-lock.json requirements.txt SHA256SUMS; do
    if [ -e "$work/pin/$file" ]; then
        diff -u --label "$pinned/$file" --label "$pinned/$file" "$pinned/$file" "$work/pin/$file" 2>/dev/null ||
            [ -e "$pinned/$file" ] || sed 's/^/+/' "$work/pin/$file"
    elif [ "$file" = requirements.txt ] && [ -e $pinned/$file ]; then
        echo "$pinned/$file is removed"
    fi
done
if [ -n "$compare" ]; then
    case $(uname -m) in aarch64) processor=arm64 ;; *) processor=x64 ;; esac
    for side in old new; do
        mkdir "$work/$side"
        cp build/polygraphy "$work/$side"
    done
    ln -s "$(realpath build/libonnxruntime.so.1)" "$work/old/libonnxruntime.so.1"
    ln -s "$libraries/linux/$processor/libonnxruntime.so.1" "$work/new/libonnxruntime.so.1"
    scripts/compare_programs.py "$work/old/polygraphy" "$work/new/polygraphy" --build build --only "$cases" ||
        echo "the differences above come with the new release"
fi
if [ -z "$dry_run" ]; then
    [ "$source" != npm ] || rm -f $pinned/requirements.txt
    cp "$work"/pin/* $pinned
    echo "written; next: BUILD=build scripts/setup.sh onnxruntime && make check"
fi
