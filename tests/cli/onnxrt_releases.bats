# onnxrt_releases.bats: --onnxrt-library, with releases in a cache that are copies of the library of the tests, and one that
# crashes where it is asked to (tests/plugins/onnxruntime_that_crashes.c).

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

setup_file()
{
    file_requires_onnxruntime || return 0
    ! ldd "$(command -v polygraphy)" | grep -qE 'lib[a-z]*san' || skip_file "sanitizers tell of crashes themselves"
}

# put_release VERSION [FILE]: in the cache of this test.
put_release()
{
    export XDG_CACHE_HOME=$PWD/cache
    export ONNXRUNTIME_REAL=${POLYGRAPHY_ONNXRUNTIME:-$POLYGRAPHY_TEST_PROGRAMS/libonnxruntime.so.1}
    mkdir -p "cache/polygraphy/onnxruntime-$1"
    cp "${2:-$ONNXRUNTIME_REAL}" "cache/polygraphy/onnxruntime-$1/libonnxruntime.so.1"
}

@test "two releases are compared in worker processes, and the report has the library of each runner" {
    put_release 1.90.1
    put_release 1.90.2
    run polygraphy run "$models/identity.onnx" --onnxrt --onnxrt-library 1.90.1 --onnxrt --onnxrt-library 1.90.2 \
        --json result.json --report page.html
    [ "$status" -eq 0 ]
    logged "^\[I\] onnxrt-runner-N0.* is ONNX Runtime .* \('$PWD/cache/polygraphy/onnxruntime-1.90.1/libonnxruntime.so.1'\), in a worker process$"
    logged "^\[I\] onnxrt-runner-N1.* is ONNX Runtime .* \('$PWD/cache/polygraphy/onnxruntime-1.90.2/libonnxruntime.so.1'\), in a worker process$"
    logged 'Pass Rate: 100.00%'
    [ "$(json_value '[l["path"].split("/")[-2] for l in it["libraries"]]')" = "['onnxruntime-1.90.1', 'onnxruntime-1.90.2']" ]
    [ "$(json_value '{l["name"] for l in it["libraries"]}')" = "{'ONNX Runtime'}" ]
    grep -q "onnxruntime-1.90.2/libonnxruntime.so.1" page.html
    run polygraphy run "$models/reducable.onnx" --onnxrt --onnxrt-library 1.90.1 --onnxrt --onnxrt-library 1.90.2 \
        --onnx-outputs mark all --first-divergence
    [ "$status" -eq 0 ]
}

@test "a release that crashes is an error that names it" {
    put_release 1.90.1
    put_release 1.90.2 "$POLYGRAPHY_TEST_PROGRAMS/plugins/onnxruntime_that_crashes.so"
    ONNXRUNTIME_CRASHES=load:identity.onnx run polygraphy run "$models/identity.onnx" --onnxrt --onnxrt-library 1.90.1 \
        --onnxrt --onnxrt-library 1.90.2
    [ "$status" -eq 1 ]
    logged '^\[!\] ONNX Runtime [0-9.]* crashes: signal 11 \(Segmentation fault\) ended its process$'
    not_logged 'ended this program'
}

@test "debug accuracy names the node with which one release crashes" {
    put_release 1.90.1
    put_release 1.90.2 "$POLYGRAPHY_TEST_PROGRAMS/plugins/onnxruntime_that_crashes.so"
    ONNXRUNTIME_CRASHES=has:onnx_graphsurgeon_node_5 run polygraphy debug accuracy "$models/reducable.onnx" --onnxrt \
        --onnxrt-library 1.90.1 --onnxrt --onnxrt-library 1.90.2 --json result.json
    [ "$status" -eq 0 ]
    logged "^\[I\] Cause: the suspect does not run 'onnx_graphsurgeon_node_5'"
}

@test "a release of which nothing is in the cache and that cannot be fetched is an error with the command to type" {
    put_release 1.90.1
    mkdir bin
    printf '#!/bin/sh\necho no network >&2\nexit 1\n' >bin/python3
    chmod +x bin/python3
    PATH=$PWD/bin:$PATH run polygraphy run "$models/identity.onnx" --onnxrt --onnxrt-library 1.90.2
    [ "$status" -eq 1 ]
    logged "^\[!\] --onnxrt-library: ONNX Runtime 1.90.2 cannot be fetched: python3 failed: no network\. Where there is a network, type: python3 -m pip download .* onnxruntime==1\.90\.2 && "
    PATH=$PWD/bin:$PATH run polygraphy run "$models/identity.onnx" --onnxrt --onnxrt-library 1.90.1
    [ "$status" -eq 0 ]
}
