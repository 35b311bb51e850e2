# install.bats: `make install` and `make uninstall`: what goes where, what is in the way, what is left.

load debug_helper
load install_helper

# The installation that some tests only look at is in $installed.
setup_file()
{
    stage="$BATS_FILE_TMPDIR/a stage"
    export installed=$stage/opt/somewhere stage
    make_into install DESTDIR="$stage" PREFIX=/opt/somewhere
}

# Every name below a folder, with what kind of thing it is, its mode, and where a link leads.
tree()
{
    find "$1" -mindepth 1 -printf '%P %y %m %l\n' | LC_ALL=C sort
}

@test "install goes below DESTDIR, and files name PREFIX alone" {
    [ -x "$installed/bin/polygraphy" ]
    grep -qx 'prefix=/opt/somewhere' "$installed/lib/pkgconfig/polygraphy.pc"
    run ! grep -rlI "$BATS_FILE_TMPDIR" "$stage"
    PKG_CONFIG_PATH=$installed/lib/pkgconfig run pkg-config --variable=onnxruntime polygraphy
    [ "$output" = /opt/somewhere/lib/polygraphy/libonnxruntime.so.1 ]
}

@test "each kind of file can have a folder of its own" {
    make_into install DESTDIR="$PWD/stage" PREFIX=/usr BINDIR=/opt/bin LIBDIR=/usr/lib/machine INCLUDEDIR=/usr/include/apart \
        DOCDIR=/usr/share/doc/other SYMBOLS=inside
    for folder in opt/bin opt/lib/polygraphy usr/lib/machine/pkgconfig usr/include/apart/polygraphy usr/share/doc/other/docs \
        usr/share/man/man1 usr/share/zsh/site-functions; do
        [ -d "stage/$folder" ]
    done
    [ ! -e stage/opt/bin/.debug ]
    readelf --section-headers --wide stage/opt/bin/polygraphy | grep -q ' \.debug_info '
    PKG_CONFIG_PATH=stage/usr/lib/machine/pkgconfig run pkg-config --cflags --libs-only-L polygraphy
    [[ $output == *'-I/usr/include/apart'*'-L/usr/lib/machine'* ]]
}

@test "an installed program needs nothing of its environment, and a debugger finds its symbols" {
    require_onnxruntime
    env -i "$installed/bin/polygraphy" run "$installed/share/doc/polygraphy/examples/overflow/detector.onnx" --onnxrt >log 2>&1
    grep -q 'onnxrt-runner' log
    readelf --section-headers --wide "$installed/bin/polygraphy" >sections
    grep -q ' \.gnu_debuglink ' sections
    run ! grep -q ' \.debug_info ' sections
    command -v gdb >/dev/null || skip "there is no gdb"
    [[ $(env -i HOME="$PWD" gdb -nx -batch -ex 'info line main' "$installed/bin/polygraphy" 2>&1) == *'src/cli/main.c'* ]]
}

@test "installed manuals and completions are found by those who look for them" {
    bash --norc -c 'shopt -s progcomp; . "$installed/share/bash-completion/completions/polygraphy" &&
        complete -p polygraphy' >complete
    grep -q ' polygraphy$' complete
    grep -q '^#compdef polygraphy' "$installed/share/zsh/site-functions/_polygraphy"
    grep -q 'complete .*polygraphy' "$installed/share/fish/vendor_completions.d/polygraphy.fish"
    command -v man >/dev/null || skip "there is no man"
    for page in polygraphy polygraphy-debug-reduce; do
        [ "$(MANPATH=$installed/share/man man -w "$page")" = "$installed/share/man/man1/$page.1" ]
        man --warnings -l "$installed/share/man/man1/$page.1" >text 2>warnings
        [ ! -s warnings ]
        grep -q '^NAME' text
    done
}

@test "a second install takes away what it no longer brings, and uninstall leaves a folder as it was" {
    mkdir -p there/bin/.debug there/include/polygraphy there/lib/pkgconfig there/share/doc
    echo mine >there/include/polygraphy/mine.h
    echo mine >there/lib/libmine.a
    tree there >before
    make_into install PREFIX="$PWD/there" DESTDIR=
    [ "$(tree there | comm -13 before - | wc -l)" -gt 40 ]
    tree there >after
    mkdir there/share/old
    echo old >there/share/old/page
    printf '%s\n' "file $PWD/there/share/old/page" "folder $PWD/there/share/old" >>there/lib/polygraphy/installed
    make_into install PREFIX="$PWD/there" DESTDIR=
    tree there | diff after -

    echo mine >there/lib/polygraphy/mine
    make_into uninstall PREFIX="$PWD/there" DESTDIR=
    rm there/lib/polygraphy/mine
    rmdir there/lib/polygraphy
    tree there | diff before -
    run make_into uninstall PREFIX="$PWD/there" DESTDIR=
    [ "$status" -ne 0 ]
    [[ $output == *"nothing to uninstall: there is no '$PWD/there/lib/polygraphy/installed'"* ]]
}

@test "install overwrites nothing that is not its own" {
    mkdir -p there/bin there/include/polygraphy/reduce.h
    echo 'another polygraphy' >there/bin/polygraphy
    tree there >before
    run make_into install PREFIX="$PWD/there" DESTDIR=
    [ "$status" -ne 0 ]
    [[ $output == *"nothing was installed: these are there"*"    $PWD/there/bin/polygraphy"*"    $PWD/there/include/polygraphy/reduce.h"* ]]
    tree there | diff before -
    [ "$(<there/bin/polygraphy)" = 'another polygraphy' ]
}

@test "install says what it cannot write to before it has written anything" {
    mkdir there
    echo mine >there/lib
    tree there >before
    run make_into install PREFIX="$PWD/there" DESTDIR=
    [ "$status" -ne 0 ]
    [[ $output == *"nothing was installed: "*"make install PREFIX=\$HOME/.local"*"    $PWD/there/lib"* ]]
    tree there | diff before -
}

@test "uninstall of a copy leaves the original alone" {
    make_into install PREFIX="$PWD/there" DESTDIR=
    tree there >before
    cp -a there copy
    run make_into uninstall PREFIX="$PWD/copy" DESTDIR=
    [ "$status" -ne 0 ]
    [[ $output == *"lists the files of '$PWD/there/lib/polygraphy/installed'"* ]]
    tree there | diff before -
    tree copy | diff before -
    mv there elsewhere
    ln -s elsewhere there
    make_into uninstall PREFIX="$PWD/elsewhere" DESTDIR=
    [ -z "$(ls -A elsewhere)" ]
}

# A build without a library beside the program, as `make` leaves it in a fresh clone, with an empty cache. What has been
# built is old enough for `make`: it is not made again.
fresh_build()
{
    mkdir -p build/public
    ln -s "$POLYGRAPHY" build/polygraphy
    ln -s "$(dirname "$POLYGRAPHY")/public/libpolygraphy.a" build/public/
    export XDG_CACHE_HOME=$PWD/cache
    unset POLYGRAPHY_ONNXRUNTIME
    fresh=(make -s -C "$POLYGRAPHY_ROOT" BUILD="$PWD/build" PREFIX="$PWD/there" DESTDIR= -o all
        -o "$PWD/build/polygraphy" -o "$PWD/build/public/libpolygraphy.a" install)
}

# What `npm ci` does, with the file given in place of the download.
npm_that_brings()
{
    mkdir -p bin
    script bin/npm <<END
for machine in x64 arm64; do
    mkdir -p node_modules/onnxruntime-node/bin/napi-v6/linux/\$machine
    cp '$1' node_modules/onnxruntime-node/bin/napi-v6/linux/\$machine/libonnxruntime.so.1
done
END
    PATH=$PWD/bin:$PATH
}

# A fresh build, and $library: the pinned ONNX Runtime, which npm seems to bring.
fresh_build_with_npm()
{
    require_onnxruntime
    library=$(realpath "$(dirname "$POLYGRAPHY")/libonnxruntime.so.1")
    grep -q "^$(sha256sum <"$library" | cut -d ' ' -f 1) " "$POLYGRAPHY_ROOT/scripts/onnxruntime/SHA256SUMS" ||
        skip "the build uses another ONNX Runtime than the pinned one"
    fresh_build
    npm_that_brings "$library"
}

@test "install from a fresh clone brings ONNX Runtime with it" {
    fresh_build_with_npm
    "${fresh[@]}"
    cmp "$library" there/lib/polygraphy/libonnxruntime.so.1
    [ ! -L there/lib/polygraphy/libonnxruntime.so.1 ]
    there/bin/polygraphy run "$POLYGRAPHY_ROOT/tests/models/identity.onnx" --onnxrt
    cmp "$library" cache/polygraphy/*/libonnxruntime.so.1
    [ "$(ls cache/polygraphy/*)" = libonnxruntime.so.1 ]
}

@test "install without ONNX Runtime says why, and installs nothing" {
    fresh_build
    echo 'something else' >other
    npm_that_brings "$PWD/other"
    run "${fresh[@]}"
    [ "$status" -ne 0 ]
    [[ $output == *'what was downloaded is not the ONNX Runtime that scripts/onnxruntime/SHA256SUMS names'* ]]
    [ ! -e there ]
    [ -z "$(find cache -type f)" ]

    script bin/npm <<<'echo "npm ERR! network" >&2; exit 1'
    run "${fresh[@]}"
    [ "$status" -ne 0 ]
    [[ $output == *'npm ERR! network'* ]]
    [ ! -e there ]
}

@test "install without what else belongs to it says what is missing, and installs nothing" {
    mkdir -p build/public
    cp "$POLYGRAPHY" build/polygraphy
    touch build/public/libpolygraphy.a build/libonnxruntime.so.1
    BUILD=$PWD/build PREFIX=$PWD/there VERSION=1 MODULES='' SYMBOLS=inside run "$POLYGRAPHY_ROOT/scripts/install.sh" install
    [ "$status" -ne 0 ]
    [[ $output == *"nothing was installed, because this is missing:"*"$PWD/build/man"*"$PWD/build/completions/polygraphy.bash"* ]]
    [ ! -e there ]
}

@test "install takes the ONNX Runtime that is named" {
    fresh_build
    echo 'my own' >libmine.so
    env -u HOME -u XDG_CACHE_HOME POLYGRAPHY_ONNXRUNTIME="$PWD/libmine.so" "${fresh[@]}"
    cmp libmine.so there/lib/polygraphy/libonnxruntime.so.1

    make_into uninstall PREFIX="$PWD/there" DESTDIR=
    [ ! -e there ]
    rm build/libonnxruntime.so.1
    POLYGRAPHY_ONNXRUNTIME=$PWD/nowhere.so run "${fresh[@]}"
    [ "$status" -ne 0 ]
    [[ $output == *"POLYGRAPHY_ONNXRUNTIME names '$PWD/nowhere.so', which is neither ONNX Runtime's library nor its folder"* ]]
    [ ! -e there ]
}

@test "a library in the cache that is not the pinned one is replaced" {
    fresh_build_with_npm
    BUILD=$PWD/build "$POLYGRAPHY_ROOT/scripts/setup.sh" onnxruntime
    echo broken >>cache/polygraphy/*/libonnxruntime.so.1
    BUILD=$PWD/build run "$POLYGRAPHY_ROOT/scripts/setup.sh" onnxruntime
    [ "$status" -eq 0 ]
    [[ $output == *"libonnxruntime.so.1' is not what was downloaded: it is replaced"* ]]
    cmp "$library" cache/polygraphy/*/libonnxruntime.so.1
}
