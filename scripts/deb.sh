#!/usr/bin/env bash
# scripts/deb.sh: builds the Debian packages, in a copy of the tree below BUILD (default build), and leaves them in
# BUILD/deb, in place of earlier ones. scripts/setup.sh installs missing packages, or names them. Each file is, byte for
# byte, the same in every build of the same tree with the same compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}

version=$(sed -n 's/^#define POLYGRAPHY_VERSION "\(.*\)"/\1/p' src/base/system.h)
packaged=$(sed -n '1s/^polygraphy (\(.*\)) .*/\1/p' debian/changelog)
[ "$packaged" = "$version" ] || {
    echo "debian/changelog begins with version '$packaged', the program is '$version': add an entry for it" >&2
    exit 1
}

rm -rf "$build/deb" "$build/deb.part"
mkdir -p "$build/deb.part"
work=$(realpath "$build/deb.part")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# Uses the pinned ONNX Runtime, not the one that this machine uses.
env -u POLYGRAPHY_ONNXRUNTIME BUILD="$work" scripts/setup.sh deb

tree=$work/polygraphy-$version
mkdir -p "$tree/debian/onnxruntime"
tar -c --exclude-vcs --exclude='./build*' --exclude=__pycache__ . | tar -x -C "$tree"
cp -L "$work/libonnxruntime.so.1" "$tree/debian/onnxruntime/"

# Settings of another build do not apply to this one.
(cd "$tree" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u BUILD -u DESTDIR -u PREFIX -u CC -u CFLAGS -u CPPFLAGS -u LDFLAGS \
    DEB_BUILD_OPTIONS="parallel=$(nproc)" dpkg-buildpackage --build=binary --unsigned-changes --unsigned-buildinfo)
rm -rf "$tree" "$work/libonnxruntime.so.1"
mv "$work" "$build/deb"
ls -l "$build/deb"
