# debug_releases.bats: debug releases, with releases in a cache that are copies of a library that crashes where its last line
# says (tests/plugins/onnxruntime_that_crashes.c).

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

setup_file()
{
    file_requires_onnxruntime || return 0
    ! ldd "$(command -v polygraphy)" | grep -qE 'lib[a-z]*san' || skip_file "sanitizers tell of crashes themselves"
}

# put_release VERSION PLACE: in the cache of this test; neither python3 nor npm can fetch others.
put_release()
{
    export XDG_CACHE_HOME=$PWD/cache
    export ONNXRUNTIME_REAL=${POLYGRAPHY_ONNXRUNTIME:-$POLYGRAPHY_TEST_PROGRAMS/libonnxruntime.so.1}
    local folder=cache/polygraphy/onnxruntime-$1
    mkdir -p "$folder" bin
    cp "$POLYGRAPHY_TEST_PROGRAMS/plugins/onnxruntime_that_crashes.so" "$folder/libonnxruntime.so.1"
    printf '\nONNXRUNTIME_CRASHES=%s\n%s\n' "$2" "$1" >>"$folder/libonnxruntime.so.1"
    printf '#!/bin/sh\necho no network >&2\nexit 1\n' >bin/python3
    cp bin/python3 bin/npm
    chmod +x bin/*
}

releases()
{
    PATH=$PWD/bin:$PATH run --separate-stderr polygraphy debug releases "$@" --json result.json
}

@test "the first release that crashes is found, with the optimizer and the nodes" {
    put_release 1.90.1 nowhere
    put_release 1.90.2 nowhere
    put_release 1.90.3 has:onnx_graphsurgeon_node_5
    put_release 1.90.10 has:onnx_graphsurgeon_node_5
    releases "$models/reducable.onnx" --releases 1.90.10,1.90.3 1.90.2,1.90.1
    [ "$status" -eq 0 ]
    logged '^\[I\] Cause: ONNX Runtime 1.90.3 is the first release that fails; 1.90.2 passes$'
    logged '^\[I\]     Evidence: the check of 1.90.3: exit status 3: signal 11 \(Segmentation fault\) ended this program while ONNX Runtime loaded a model$'
    logged '^\[I\]     Evidence: both verdicts were repeated in fresh processes$'
    logged "^\[I\]     Evidence: .debug accuracy. with 1.90.3 as the suspect of 1.90.2: Cause: the suspect does not run 'onnx_graphsurgeon_node_5'"
    not_logged 'Not tested: [0-9]* of'
    [ "$(json_value 'it["verdict"], it["outcome"], it["before"], it["after"]')" = "('cause', 'found', '1.90.2', '1.90.3')" ]
    [ "$(json_value '[(r["release"], r["verdict"]) for r in it["releases"]]')" = \
        "[('1.90.1', 'passes'), ('1.90.2', 'passes'), ('1.90.3', 'fails'), ('1.90.10', 'fails')]" ]
}

@test "a release that does not load the operator set is untestable, not bad, and what was not tested is said" {
    put_release 1.90.0 too-new
    put_release 1.90.1 too-new
    put_release 1.90.2 nowhere
    put_release 1.90.4 has:onnx_graphsurgeon_node_5
    put_release 1.90.6 has:onnx_graphsurgeon_node_5
    put_release 1.90.7 has:onnx_graphsurgeon_node_5
    releases "$models/reducable.onnx" --only-release --releases 1.90.0,1.90.1,1.90.2,1.90.3,1.90.4,1.90.6,1.90.7
    [ "$status" -eq 0 ]
    logged '^\[I\] The oldest testable release is 1.90.2: 1.90.0 does not load .*Unsupported model IR version'
    logged '^\[I\] Cause: ONNX Runtime 1.90.4 is the first release that fails; 1.90.2 passes$'
    logged '^\[I\]     Not tested: the verdict changes between 1.90.2 and 1.90.4; untestable between them: 1.90.3$'
    logged '^\[I\]     Not tested: 1 of 7 releases, in which the verdict may change more than once: 1.90.[0-9]$'
    [ "$(json_value '[r["release"] for r in it["releases"] if r["verdict"] == "untestable"]')" = "['1.90.0', '1.90.1', '1.90.3']" ]
}

@test "a release that cannot be fetched is untestable" {
    put_release 1.90.1 nowhere
    put_release 1.90.3 has:onnx_graphsurgeon_node_5
    releases "$models/reducable.onnx" --only-release --releases 1.90.1,1.90.2,1.90.3
    [ "$status" -eq 0 ]
    logged '^\[I\] Release 1.90.2 is untestable: ONNX Runtime 1.90.2 cannot be fetched: python3 failed: no network'
    logged '^\[I\] Cause: ONNX Runtime 1.90.3 is the first release that fails; 1.90.1 passes$'
}

@test "with any check the library is in the environment; a release that passes again is found, too" {
    put_release 1.90.1 has:onnx_graphsurgeon_node_5
    put_release 1.90.2 nowhere
    releases "$models/reducable.onnx" --only-release --releases 1.90.1,1.90.2 --check polygraphy run \
        "$models/reducable.onnx" --onnxrt
    [ "$status" -eq 0 ]
    logged '^\[I\] Cause: ONNX Runtime 1.90.2 is the first release that passes; 1.90.1 fails$'
}

@test "a failure in all releases is no cause" {
    put_release 1.90.1 has:onnx_graphsurgeon_node_5
    put_release 1.90.2 has:onnx_graphsurgeon_node_5
    releases "$models/reducable.onnx" --only-release --releases 1.90.1,1.90.2 --exit-code --check polygraphy run \
        "$models/reducable.onnx" --onnxrt --onnxrt-library '{artifact}'
    [ "$status" -eq 4 ]
    logged '^\[W\] Fails in all releases of ONNX Runtime that were tested: 1.90.1, 1.90.2$'
    put_release 1.90.1 nowhere
    put_release 1.90.2 nowhere
    releases "$models/reducable.onnx" --only-release --releases 1.90.1,1.90.2 --exit-code
    [ "$status" -eq 4 ]
    logged 'Passes in all releases of ONNX Runtime that were tested: 1.90.1, 1.90.2$'
}

@test "what cannot be searched is refused" {
    put_release 1.90.1 too-new
    releases "$models/reducable.onnx" --releases 1.90.1
    refused 'no release is testable. 1.90.1: '
    releases "$models/reducable.onnx"
    refused 'the releases of ONNX Runtime cannot be listed: python3 failed: no network; npm failed: no network. Name them: --releases '
    releases "$models/reducable.onnx" --releases 1.90
    refused "--releases: '1.90' is not the number of a release, such as 1.22.1"
    releases "$models/reducable.onnx" --releases 1.90.1 --onnxrt-library 1.90.1
    refused '--onnxrt-library: debug releases sets the library itself; pass --releases'
}
