# examples.bats: each command of each page in examples/, and that of README.md, as it stands there, in a fresh copy of the
# folders.

load debug_helper

export POLYGRAPHY_TRT=builtin

setup_file()
{
    file_requires_onnxruntime || return 0
    /usr/bin/python3 -c 'import numpy, onnx' 2>/dev/null || { skip_file "python3-onnx is not there" && return; }
    # The pages say `python3`, and mean the system's.
    mkdir "$BATS_FILE_TMPDIR/bin"
    ln -s /usr/bin/python3 "$BATS_FILE_TMPDIR/bin"
    export PATH=$BATS_FILE_TMPDIR/bin:$PATH
}

@test "each command of the pages says what the page shows" {
    local page failed=
    cp -r "$POLYGRAPHY_ROOT/examples" "$POLYGRAPHY_ROOT/include" .
    for page in examples/*/README.md; do
        # Takes an installed library: library.bats runs it, and compares.
        [ "$page" != examples/reduce_library/README.md ] || continue
        (cd "${page%/*}" && python3 "$POLYGRAPHY_ROOT/tests/cli/guide_page.py" README.md) || failed+=" $page"
    done
    # Asks what the page on accuracy has asked already.
    (cd examples/accuracy && python3 "$POLYGRAPHY_ROOT/tests/cli/guide_page.py" "$POLYGRAPHY_ROOT/README.md") || failed+=" README.md"
    rm -f "$TMPDIR"/polygraphy_gpu*.lock # of launchers, which leave them
    echo "failed:${failed:- none}"
    [ -z "$failed" ]
}

@test "each folder has a page, and a line in the list of examples" {
    cd "$POLYGRAPHY_ROOT/examples"
    diff <(ls -d */ | sed 's|/$||') <(ls -d */README.md | sed 's|/README.md$||')
    diff <(ls -d */ | sed 's|/$||') <(sed -n 's/^- \[\([a-z_0-9]*\)\](\1): .*/\1/p' README.md | LC_ALL=C sort)
}
