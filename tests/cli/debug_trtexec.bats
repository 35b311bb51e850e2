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
    logged "^\[!\] TensorRT did not build with the tactics of '$replay'.* other are those of '"
    unset TRTEXEC_STAND_IN_TRAPS TRTEXEC_STAND_IN_SEED
    rm "$replay.timing_cache"
    run polygraphy convert "$models/convolutions.onnx" -o other.engine --load-tactics "$replay"
    [ "$status" -eq 1 ]
    logged "^\[!\] --load-tactics: the timing cache '$replay.timing_cache', .* is not there"
    [ ! -e other.engine ]
}

@test "what trtexec cannot be told is refused before anything is built" {
    on_version 11.0
    run polygraphy debug tactics "$models/identity.onnx" --dir nothing --check false
    [ "$status" -eq 1 ]
    logged "^\[!\] debug tactics builds engines with tactics of two builds, .* cannot be told"
    run polygraphy debug build "$models/identity.onnx" --explore --until 2 --check false
    [ "$status" -eq 1 ]
    logged "^\[!\] --explore: TensorRT cannot be told to draw tactics"
    run polygraphy debug build "$models/identity.onnx" --exclude-tactics some --until 2 --check false
    [ "$status" -eq 1 ]
    logged "^\[!\] --exclude-tactics: trtexec cannot be told which tactics not to take"
    run polygraphy debug build "$models/identity.onnx" --deterministic --until 2 --check false
    [ "$status" -eq 1 ]
    logged "^\[!\] --deterministic: TensorRT always chooses by time"
    run polygraphy debug precision "$models/attention_overflow.onnx" --int8 --check false
    [ "$status" -eq 1 ]
    logged "^\[!\] trtexec 11\.0\.0 .* has no precisions of layers, .* leave out --int8, --precision float16"
    [ -z "$(ls | grep -v replay)" ]
}

@test "debug precision tells layers up to TensorRT 10, and types models from 11 on" {
    local version
    cp "$models/attention_overflow.onnx" model.onnx
    polygraphy run model.onnx --onnxrt --save-inputs in.json --save-outputs out.json
    for version in 10.16 11.0; do
        on_version "$version"
        run polygraphy debug precision model.onnx --fp16 --mode minimal --save-debug-replay $version.json \
            --check polygraphy run polygraphy_debug.engine --trt --load-inputs in.json --load-outputs out.json --atol 1e-2 --rtol 1e-2
        [ "$status" -eq 0 ]
        logged "^\[I\] To achieve acceptable accuracy, try running these 2 layer\(s\) in higher precision$"
        logged "^\[I\]     scale +'scale'$"
    done
    logged "^\[I\] trtexec 11\.0\.0 .* each engine is built of a model in which Casts say what is float16$"
    logged "^\[I\]     Fix: build the model that --output-onnx saves"
}

@test "a precision that no layer got ends the session" {
    on_version 10.16
    export TRTEXEC_STAND_IN_TRAPS=ignored-precisions
    run polygraphy debug precision "$models/attention_overflow.onnx" --fp16 --check false
    [ "$status" -eq 1 ]
    logged "^\[!\] TensorRT has set the precision of 0 of [0-9]+ layers, and not that of 'stem', "
}
