# python.bats: the Python package, as it lies in the tree, with the built program and the built library.

load debug_helper

setup_file()
{
    /usr/bin/python3 -c 'import sys, numpy; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
        export SKIP_FILE="no Python 3.10 with numpy"
    [ -z "${SANITIZE:-}" ] || export LD_PRELOAD=$(${CC:-cc} -print-file-name=libasan.so)
}

# run_tests CLASS...: those of tests/python/test_polygraphy_native.py
run_tests()
{
    require_onnxruntime
    local test names=()
    for test; do names+=("test_polygraphy_native.$test"); done
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$POLYGRAPHY_ROOT/packaging/python:$POLYGRAPHY_ROOT/tests/python \
        POLYGRAPHY_PROGRAM=$POLYGRAPHY POLYGRAPHY_LIBRARY=${POLYGRAPHY%/*}/public/libpolygraphy.so.0 \
        /usr/bin/python3 -W error::ResourceWarning -m unittest "${names[@]}"
}

@test "a function is a check" {
    run_tests Reduce
}

@test "Ctrl-C ends a call" {
    run_tests Interruption
}

@test "models run, and outputs are arrays" {
    run_tests Run Compare Arrays Assertions
}

@test "scripts of Polygraphy have counterparts" {
    run_tests Comparator Scripts
}

@test "models are extracted, folded and checked" {
    run_tests Models
}

@test "the debug tools find causes" {
    run_tests Debug
}

@test "nothing is printed, and nothing is left" {
    run_tests Processes
}

@test "the package has all types (mypy --strict)" {
    command -v mypy >/dev/null || skip "mypy is not installed"
    mypy --config-file "$POLYGRAPHY_ROOT/pyproject.toml" --cache-dir "$BATS_TEST_TMPDIR/types" "$POLYGRAPHY_ROOT/packaging/python/polygraphy_native"
}
