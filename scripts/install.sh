#!/usr/bin/env bash
# scripts/install.sh install | uninstall: does the work of `make install` and `make uninstall`, with the files in BUILD.
#
# contents() below is the only list of installed files. A file in the private folder, `installed`, records which files
# were installed and which folders were created: uninstall removes these, a folder only when it is empty; a
# second install removes files that it no longer contains. Before anything is written, every file to install must exist,
# no other file may be at its destination, and every folder must be writable.
#
# Destinations, with their defaults:
#   DESTDIR                          prefix of every path; never written into a file
#   PREFIX                           /usr/local
#   BINDIR LIBDIR INCLUDEDIR         PREFIX/bin, PREFIX/lib, PREFIX/include
#   DATADIR MANDIR DOCDIR            PREFIX/share, DATADIR/man, DATADIR/doc/polygraphy
#   BASH_COMPLETIONS                 DATADIR/bash-completion/completions
#   ZSH_COMPLETIONS                  DATADIR/zsh/site-functions
#   FISH_COMPLETIONS                 DATADIR/fish/vendor_completions.d
#   SYMBOLS                          apart (default): debug symbols in a separate file, which gdb finds; inside: left
#                                    in the program, for packagers who strip programs themselves
# ONNX Runtime is where the program looks for it: in lib/polygraphy beside its folder, the private folder.
set -euo pipefail
cd "$(dirname "$0")/.."

give_up()
{
    printf '%s\n' "$@" >&2
    exit 1
}

# The place that a variable names, as an absolute path.
place()
{
    realpath -ms "$1"
}

build=${BUILD:-build}
destination=${DESTDIR:-}
prefix=$(place "${PREFIX:-/usr/local}")
bindir=$(place "${BINDIR:-$prefix/bin}")
libdir=$(place "${LIBDIR:-$prefix/lib}")
includedir=$(place "${INCLUDEDIR:-$prefix/include}")
datadir=$(place "${DATADIR:-$prefix/share}")
mandir=$(place "${MANDIR:-$datadir/man}")
docdir=$(place "${DOCDIR:-$datadir/doc/polygraphy}")
bash_completions=$(place "${BASH_COMPLETIONS:-$datadir/bash-completion/completions}")
zsh_completions=$(place "${ZSH_COMPLETIONS:-$datadir/zsh/site-functions}")
fish_completions=$(place "${FISH_COMPLETIONS:-$datadir/fish/vendor_completions.d}")
private=$(place "$bindir/../lib/polygraphy")
installed=$private/installed
[[ $destination$prefix$bindir$libdir$includedir$datadir$mandir$docdir != *$'\n'* ]] ||
    give_up "the name of a folder to install into has a line end in it"

# ---- Contents ----

sources=() modes=() destinations=()

put() # MODE SOURCE DESTINATION: a mode as of chmod, or `link`: a link to SOURCE
{
    modes+=("$1") sources+=("$2") destinations+=("$3")
}

# put_folder SOURCE DESTINATION: all files of a folder, programs as programs. A missing folder is listed as missing itself.
put_folder()
{
    local file mode
    [ -d "$1" ] || put 644 "$1" "$2"
    while IFS= read -r -d '' file; do
        mode=644
        [ ! -x "$1/$file" ] || mode=755
        put "$mode" "$1/$file" "$2/$file"
    done < <(find "$1" -name __pycache__ -prune -o -type f -not -name '.*' -printf '%P\0' 2>/dev/null | LC_ALL=C sort -z)
}

contents()
{
    local file library
    put 755 "$made/polygraphy" "$bindir/polygraphy"
    [ "${SYMBOLS:-apart}" != apart ] || put 644 "$made/polygraphy.debug" "$bindir/.debug/polygraphy.debug"
    put_folder include "$includedir"
    put 644 "$made/libpolygraphy.a" "$libdir/libpolygraphy.a"
    put 644 "$made/polygraphy.pc" "$libdir/pkgconfig/polygraphy.pc"

    # A library of the system is not copied, because it depends on those next to it.
    library=$(realpath -m "$build/libonnxruntime.so.1")
    case $library in
        /usr/lib/*) put link "$library" "$private/libonnxruntime.so.1" ;;
        *)
            put 644 "$library" "$private/libonnxruntime.so.1"
            put 644 scripts/onnxruntime/LICENSE "$docdir/onnxruntime/LICENSE"
            ;;
    esac
    put_folder "$build/man" "$mandir/man1"
    put 644 "$build/completions/polygraphy.bash" "$bash_completions/polygraphy"
    put 644 "$build/completions/_polygraphy" "$zsh_completions/_polygraphy"
    put 644 "$build/completions/polygraphy.fish" "$fish_completions/polygraphy.fish"
    put 644 LICENSE "$docdir/LICENSE"
    put 644 README.md "$docdir/README.md"
    put_folder docs "$docdir/docs"
    put_folder examples "$docdir/examples"
}

# Files made for an installation, in $made: the program without its debug symbols, the symbols, and the file that
# pkg-config reads.
make_files()
{
    local objcopy=${OBJCOPY:-objcopy} escaped=()
    command -v "$objcopy" >/dev/null || give_up "missing: '$objcopy', which takes debug symbols apart: apt-get install binutils"
    if [ "${SYMBOLS:-apart}" = apart ]; then
        "$objcopy" --only-keep-debug "$build/polygraphy" "$made/polygraphy.debug"
        "$objcopy" --strip-unneeded --add-gnu-debuglink="$made/polygraphy.debug" "$build/polygraphy" "$made/polygraphy"
        "$objcopy" --strip-debug --enable-deterministic-archives "$build/public/libpolygraphy.a" "$made/libpolygraphy.a"
    else
        cp "$build/polygraphy" "$build/public/libpolygraphy.a" "$made"
    fi
    # pkg-config splits words at blanks, and \ and & are special to sed.
    for file in "$prefix" "$libdir" "$includedir" "$private"; do
        escaped+=("$(sed -e 's/[ \\]/\\&/g; s/[\\&|]/\\&/g' <<<"$file")")
    done
    sed -e "s|@prefix@|${escaped[0]}|; s|@libdir@|${escaped[1]}|; s|@includedir@|${escaped[2]}|; s|@private@|${escaped[3]}|" \
        -e "s|@version@|$VERSION|; s|@modules@|$MODULES|" scripts/polygraphy.pc.in >"$made/polygraphy.pc"
}

# ---- Existing installation ----

# Reads the files and folders of the existing installation from `installed`: one per line, "file" or "folder" before the name.
# The line "list" has that file's own name: in a list that was moved or copied, the names are those of other files.
old_files=() old_folders=()
read_installed()
{
    local kind name
    [ -f "$destination$installed" ] || return 1
    while IFS=' ' read -r kind name; do
        case $kind in
            file) old_files+=("$name") ;;
            folder) old_folders+=("$name") ;;
            list)
                [ "$destination$name" -ef "$destination$installed" ] ||
                    give_up "nothing was changed: '$destination$installed' lists the files of '$destination$name', because this" \
                        "installation was moved or copied here; to go on, remove that list, and what is here, yourself"
                ;;
        esac
    done <"$destination$installed"
}

# remaining NAME...: those that are not among the destinations.
remaining()
{
    comm -23 <(printf '%s\n' "$@" | LC_ALL=C sort -u) <(printf '%s\n' "${destinations[@]}" | LC_ALL=C sort -u) | grep . || :
}

remove_files()
{
    local name
    for name in "$@"; do
        rm -f "$destination$name"
    done
}

# Deepest first. A folder that is not empty stays, as does a link that has replaced a folder.
remove_empty_folders()
{
    local name
    while IFS= read -r name; do
        [ ! -d "$destination$name" ] || [ -L "$destination$name" ] ||
            rmdir --ignore-fail-on-non-empty "$destination$name"
    done < <(printf '%s\n' "$@" | LC_ALL=C sort -r)
}

# ---- install ----

say_what_is_missing()
{
    local i missing=()
    for i in "${!sources[@]}"; do
        [ -f "${sources[i]}" ] || missing+=("    ${sources[i]}")
    done
    [ ${#missing[@]} -eq 0 ] || give_up "nothing was installed, because this is missing:" "${missing[@]}"
}

refuse_files_of_others()
{
    local name in_the_way=()
    local -A ours=()
    for name in "${old_files[@]}"; do
        ours[$name]=yes
    done
    for name in "${destinations[@]}"; do
        if [ -d "$destination$name" ]; then
            in_the_way+=("    $destination$name")
        elif [ -e "$destination$name" ] || [ -L "$destination$name" ]; then
            [ -n "${ours[$name]:-}" ] || in_the_way+=("    $destination$name")
        fi
    done
    [ ${#in_the_way[@]} -eq 0 ] ||
        give_up "nothing was installed: these are there, and no 'make install' to '$prefix' has put them there; remove them, or" \
            "choose another PREFIX:" "${in_the_way[@]}"
}

# The existing parents of each destination must be writable folders.
refuse_what_cannot_be_written()
{
    local name folder refused=()
    while IFS= read -r folder; do
        name=$destination$folder
        while [ ! -e "$name" ] && [ "${name%/*}" != "$name" ]; do
            name=${name%/*}
        done
        [ -d "${name:-/}" ] && [ -w "${name:-/}" ] || refused+=("${name:-/}")
    done < <(printf '%s\n' "${destinations[@]%/*}" "$private" | LC_ALL=C sort -u)
    [ ${#refused[@]} -eq 0 ] ||
        give_up "nothing was installed: $(id -un) cannot write to these, or they are no folders; use sudo, or choose another PREFIX, as" \
            "in 'make install PREFIX=\$HOME/.local':" "$(printf '    %s\n' "${refused[@]}" | LC_ALL=C sort -u)"
}

# Prints the folders to create for the destinations, parents first.
folders_to_make()
{
    local name
    for name in "${destinations[@]}"; do
        while name=${name%/*} && [ -n "$name" ] && [ ! -d "$destination$name" ]; do
            printf '%s\n' "$name"
        done
    done | LC_ALL=C sort -u
}

# Atomically, also where a program of that name is running.
put_in_place() # MODE SOURCE DESTINATION
{
    part=$3.part
    case $1 in
        link) ln -sfn "$2" "$part" ;;
        *) install -m "$1" "$2" "$part" ;;
    esac
    mv -fT "$part" "$3"
}

remember() # FILE...: records them and the folders for uninstall
{
    {
        printf 'file %s\n' "$@"
        printf 'folder %s\n' "${old_folders[@]}" "${new_folders[@]}"
        printf 'list %s\n' "$installed"
    } | grep -v ' $' | LC_ALL=C sort -u >"$made/installed"
    put_in_place 644 "$made/installed" "$destination$installed"
}

install_all()
{
    local i name new_folders=() gone=()
    [ -z "$destination" ] || mkdir -p "$destination"
    mapfile -t new_folders < <(folders_to_make)
    for name in "${new_folders[@]}"; do
        install -d -m 755 "$destination$name"
    done
    remember "${old_files[@]}" "${destinations[@]}" # first, so that an interrupted installation can be removed
    for i in "${!sources[@]}"; do
        put_in_place "${modes[i]}" "${sources[i]}" "$destination${destinations[i]}"
    done
    mapfile -t gone < <(remaining "${old_files[@]}")
    remove_files "${gone[@]}"
    remove_empty_folders "${old_folders[@]}"
    remember "${destinations[@]}"
    echo "installed ${#sources[@]} files below '$destination$prefix'"
}

case ${1:-} in
    install)
        made=$(mktemp -d) part=
        trap 'rm -rf "$made" ${part:+"$part"}' EXIT
        trap 'exit 130' INT TERM HUP
        make_files
        contents
        say_what_is_missing
        read_installed || :
        refuse_files_of_others
        refuse_what_cannot_be_written
        install_all
        ;;
    uninstall)
        read_installed || give_up "nothing to uninstall: there is no '$destination$installed', which 'make install' leaves there"
        remove_files "${old_files[@]}" "$installed"
        remove_empty_folders "${old_folders[@]}"
        ;;
    *)
        echo "usage: scripts/install.sh install | uninstall" >&2
        exit 2
        ;;
esac
