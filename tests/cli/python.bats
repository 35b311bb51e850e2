# python.bats: the Python package, as it lies in the tree, with the built program and the built library.

load debug_helper

setup_file()
{
    /usr/bin/python3 -c 'import sys, numpy; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
        export SKIP_FILE="no Python 3.10 with numpy"
}

# Python with the package. The sanitizers' library has to be loaded first, and the one whose exceptions it watches; what Python
# itself does not free is not looked at.
python()
{
    local sanitizer=
    [ -z "${SANITIZE:-}" ] || sanitizer="$(${CC:-cc} -print-file-name=libasan.so) $(${CC:-cc} -print-file-name=libstdc++.so.6)"
    LD_PRELOAD=$sanitizer ASAN_OPTIONS=${ASAN_OPTIONS:-}${SANITIZE:+:detect_leaks=0} PYTHONDONTWRITEBYTECODE=1 \
        PYTHONPATH=$POLYGRAPHY_ROOT/packaging/python:$POLYGRAPHY_ROOT/tests/python \
        POLYGRAPHY_PROGRAM=$POLYGRAPHY POLYGRAPHY_LIBRARY=${POLYGRAPHY%/*}/public/libpolygraphy.so.0 \
        /usr/bin/python3 "$@"
}

# run_tests CLASS...: those of tests/python/test_polygraphy_native.py
run_tests()
{
    require_onnxruntime
    local test names=()
    for test; do names+=("test_polygraphy_native.$test"); done
    python -W error::ResourceWarning -m unittest "${names[@]}"
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

@test "the notebook finds the cause, and verifies the fix" {
    require_onnxruntime
    /usr/bin/python3 -c 'import nbclient, ipykernel' 2>/dev/null || skip "nbclient or ipykernel is not installed"
    [ -z "${SANITIZE:-}" ] || skip "takes minutes with sanitizers"
    cp "$POLYGRAPHY_ROOT"/examples/python/decoder.* .
    mkdir tmp # Jupyter leaves files there
    HOME=$PWD/tmp TMPDIR=$PWD/tmp POLYGRAPHY_TRT=builtin python "$POLYGRAPHY_ROOT/tests/python/run_notebook.py" decoder.ipynb >output
    [ -z "$(find tmp -name 'polygraphy*')" ]
    rm -r tmp
    grep -F "float16 overflow in 'node_pow_1' (Pow): output 'pow_1' reaches" output
    grep -F 'text/html: <iframe srcdoc=' output
    grep -x '5 comparisons match' output
    grep -F "first wrong node: 'node_pow_1' (Pow)" output
}

@test "the package has all types (mypy --strict)" {
    command -v mypy >/dev/null || skip "mypy is not installed"
    mypy --config-file "$POLYGRAPHY_ROOT/pyproject.toml" --cache-dir "$BATS_TEST_TMPDIR/types" "$POLYGRAPHY_ROOT/packaging/python/polygraphy_native"
}
