# debug_trtexec.bats: what the debug tools do where engines are TensorRT's. tests/programs/trtexec_stand_in stands in for
# trtexec, so nothing here was seen on a GPU.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
unset POLYGRAPHY_TRT
export POLYGRAPHY_TRTEXEC=$POLYGRAPHY_TEST_PROGRAMS/trtexec_stand_in

setup_file()
{
    file_requires_onnxruntime || return 0
}

on_version()
{
    export TRTEXEC_STAND_IN_VERSION=$1 XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache-$1
}

@test "a replay pins a build by the timing cache beside it, also after both were sorted" {
    local replay
    on_version 10.16
    export TRTEXEC_STAND_IN_SEED=1
    run polygraphy debug build "$models/convolutions.onnx" --until 1 --save-tactics replay.json --save-layer-info layers.json \
        --artifacts replay.json layers.json polygraphy_debug.engine --art-dir sorted --trt-opt-shapes x:[1,3,12,11] \
        --check test -s polygraphy_debug.engine
    [ "$status" -eq 0 ]
    [ "$(ls sorted/good | wc -l)" -eq 4 ]
    [ "$(head -c 4 sorted/good/*.engine)" = ftrt ]
    replay=$(echo sorted/good/replay_*.json)
    [ -s "$replay.timing_cache" ]
    [[ "$(polygraphy inspect tactics "$replay")" = *"Pinned by the timing cache $replay.timing_cache"* ]]
    run polygraphy convert "$models/convolutions.onnx" -o pinned.engine --load-tactics "$replay" --trt-opt-shapes x:[1,3,12,11]
    [ "$status" -eq 0 ]
    logged "^\[I\] All 4 layers have the tactics of '$replay'$"

    export TRTEXEC_STAND_IN_TRAPS=timing-cache-miss
    run polygraphy convert "$models/convolutions.onnx" -o other.engine --load-tactics "$replay" --trt-opt-shapes x:[1,3,12,11]
    [ "$status" -eq 1 ]
    [[ "$output" = *"Timing cache miss"* ]]
    on_version 8.6 # which has no --errorOnTimingCacheMiss
    export TRTEXEC_STAND_IN_TRAPS=unpinned TRTEXEC_STAND_IN_SEED=2
    run polygraphy convert "$models/convolutions.onnx" -o other.engine --load-tactics "$replay" --trt-opt-shapes x:[1,3,12,11]
    [ "$status" -eq 1 ]
    logged "^\[!\] .*the tactics of '$replay' were not forced: TensorRT chose other ones for '"
    unset TRTEXEC_STAND_IN_TRAPS TRTEXEC_STAND_IN_SEED
    rm "$replay.timing_cache"
    run polygraphy convert "$models/convolutions.onnx" -o other.engine --load-tactics "$replay"
    [ "$status" -eq 1 ]
    logged "^\[!\] --load-tactics: the timing cache '$replay.timing_cache', .* is not there"
    [ ! -e other.engine ]
}
