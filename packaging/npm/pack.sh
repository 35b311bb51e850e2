#!/usr/bin/env bash
# packaging/npm/pack.sh FOLDER [ARCHITECTURE...]: makes polygraphy-VERSION.tgz in the folder, with a program for each
# architecture (x64 and arm64).
#
# This machine's program is the one in BUILD; another machine's lies in its cross build's folder. `make npm` calls this
# with VERSION, and LIBRARIES: Debian's packages of the libraries that are inside of the program, whose licences go along.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
folder=${1:?FOLDER is missing}
shift
[ $# -gt 0 ] || set -- x64 arm64
package=$folder/package
pinned=scripts/onnxruntime/package.json

give_up()
{
    printf '%s\n' "$@" >&2
    exit 1
}

# machine_of ARCHITECTURE: what `uname -m` calls it.
machine_of()
{
    case $1 in
        x64) echo x86_64 ;;
        arm64) echo aarch64 ;;
        *) give_up "there are packages for x64 and arm64, not for '$1'" ;;
    esac
}

# find_program MACHINE: sets `program`.
find_program()
{
    local machine=$1 built=$build
    [ "$machine" = "$(uname -m)" ] || built=build-$machine
    program=$built/portable/polygraphy
    [ -f "$program" ] || give_up "'$program', the program for $machine, is missing. To build it:" \
        "    make CROSS=$machine-linux-gnu $program    (needs scripts/setup.sh $machine)" \
        "or make a package without it: make npm ARCHITECTURES=$([ "$machine" = aarch64 ] && echo x64 || echo arm64)"
}

# A program that needs more than the C library would not start elsewhere.
refuse_other_libraries()
{
    local others
    others=$(readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|ld-linux-.*)\.so\.' || :)
    [ -z "$others" ] || give_up "'$1' needs $others, which other systems need not have"
}

# The newest version of glibc that a symbol of these programs asks for.
needed_glibc()
{
    readelf --dyn-syms -W "$@" | grep -oE '@GLIBC_[0-9.]+' | sed 's/@GLIBC_//' | sort -uV | tail -n 1
}

# in_words WORD...: "x64 and arm64"
in_words()
{
    sed 's/ / and /' <<<"$*"
}

# as_json NAME...: strings of an array
as_json()
{
    printf '"%s"\n' "$@" | paste -sd ,
}

command -v npm >/dev/null || give_up "missing: npm, which makes the package: apt-get install npm"

rm -rf "$package"
mkdir -p "$package"/{bin,man,completions}
for architecture in "$@"; do
    machine=$(machine_of "$architecture")
    find_program "$machine"
    refuse_other_libraries "$program"
    install -D "$program" "$package/linux-$architecture/polygraphy"
done
install packaging/npm/polygraphy "$package/bin/polygraphy"
cp LICENSE "$package"
cp -r docs "$package"
# shellcheck disable=SC2086 # several words
packaging/licences.sh $LIBRARIES >"$package/THIRD-PARTY-LICENSES"
manuals=("$build"/man/*.1)
cp "${manuals[@]}" "$package/man"
cp "$build"/completions/* "$package/completions"

onnxruntime=$(sed -n 's/.*"onnxruntime-node": *"\(.*\)".*/\1/p' $pinned)
glibc=$(needed_glibc "$package"/linux-*/polygraphy)
sed -e "s|@version@|$VERSION|; s|@onnxruntime@|$onnxruntime|; s|@processors@|$(as_json "$@")|" \
    -e "s|@manuals@|$(as_json "${manuals[@]/#"$build"\//}")|" packaging/npm/package.json.in >"$package/package.json"
sed -e "s|@version@|$VERSION|g; s|@onnxruntime@|$onnxruntime|; s|@processors@|$(in_words "$@")|; s|@glibc@|$glibc|" \
    packaging/npm/README.md >"$package/README.md"
(cd "$package" && npm pack --loglevel=error --pack-destination=.. >/dev/null)
rm -r "$package"
echo "$folder/polygraphy-$VERSION.tgz: for Linux on $(in_words "$@"), glibc $glibc or later"
