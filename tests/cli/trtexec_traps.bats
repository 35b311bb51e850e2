# trtexec_traps.bats: what trtexec does without saying so, or says without having done it: each time the tool says what is
# wrong, or the right values come out. What stands in for trtexec is tests/programs/trtexec_stand_in.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
trtexec=$POLYGRAPHY_TEST_PROGRAMS/trtexec_stand_in
unset POLYGRAPHY_TRT
export POLYGRAPHY_TRTEXEC=$trtexec

setup_file()
{
    file_requires_onnxruntime || return 0
}

# From here on this version is installed.
install()
{
    export TRTEXEC_STAND_IN_VERSION=$1 XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache-$1
}

# A run of a small model with a trap switched on has to fail with this text, and show no outputs.
falls()
{
    run env TRTEXEC_STAND_IN_TRAPS="$1" polygraphy run "$models/identity.onnx" --trt
    [ "$status" -eq 1 ]
    grep -qF -e "$2" <<<"$output" || {
        echo "$1: $output"
        return 1
    }
    not_logged 'Inference Output'
}

@test "a build that fails is told with its stage and reason, whatever file it leaves" {
    install 10.16
    run env TRTEXEC_STAND_IN_TRAPS=build-fails "$trtexec" --onnx="$models/identity.onnx" --saveEngine=e.plan
    [ "$status" -eq 1 ]
    [ -e e.plan ]
    [ ! -s e.plan ]
    not_logged '&&&& FAILED'
    falls build-fails 'TensorRT could not build an engine: trtexec 10.16.0'
    logged 'Could not find any implementation for node'
    falls parser-fails 'TensorRT does not take the model; `polygraphy surgeon sanitize --fold-constants` may make one'
    falls no-engine 'says that it has built an engine, but what it has left is none'
    falls crash-build 'TensorRT could not build an engine: trtexec 10.16.0'
    logged 'was ended by signal 11'
    run polygraphy run e.plan --trt
    [ "$status" -eq 1 ]
    logged "'.*e.plan': it is empty: a build that fails may leave such a file behind"
}

@test "an engine that is damaged, or another version's, is no success, though trtexec can call it one" {
    install 10.16
    polygraphy convert "$models/convolutions.onnx" -o whole.engine
    head -c 3000 whole.engine >cut.engine
    run "$trtexec" --loadEngine=cut.engine --skipInference
    [ "$status" -eq 0 ]
    logged '&&&& PASSED'
    run polygraphy run cut.engine --trt
    [ "$status" -eq 1 ]
    logged '^\[!\] TensorRT could not run the engine: .*Engine deserialization failed'
    install 11.1
    run polygraphy run whole.engine --trt
    [ "$status" -eq 1 ]
    logged 'was built by TensorRT 10.16.0, which as a rule is the one version that it runs on'
}

@test "outputs that trtexec would not copy are copied" {
    install 11.0
    polygraphy convert "$models/identity.onnx" -o e.engine
    "$trtexec" --loadEngine=e.engine --iterations=1 --warmUp=0 --duration=0 --dumpRawBindingsToFile
    [ "$(od -An -tx1 -N4 y.output.1.1.2.2.fp32.raw)" = ' aa aa aa aa' ]
    run polygraphy run "$models/identity.onnx" --trt --onnxrt
    [ "$status" -eq 0 ]
    logged 'PASSED \| All outputs matched'
}

@test "inputs are those that were asked for: neither made up, nor half of a file of another type" {
    install 10.16
    head -c 32 /dev/zero >double.bin
    polygraphy convert "$models/identity.onnx" -o e.engine
    run "$trtexec" --loadEngine=e.engine --loadInputs=x:double.bin --iterations=1 --warmUp=0 --duration=0
    [ "$status" -eq 0 ]
    falls ignored-inputs "trtexec made values up for input 'x' in place of those that it was given"
    feeds doubles.json '[{"x": array([[[[1.0, 2], [3, 4]]]])}]'
    run polygraphy run e.engine --trt --load-inputs doubles.json --save-outputs out.json
    [ "$status" -eq 0 ]
    logged 'The data are float64, but the model takes float32: converting them'
}

@test "names that no option of trtexec can carry, and sizes that depend on values, make no difference" {
    local version model
    for version in 8.6 11.1; do
        install "$version"
        for model in names_for_no_command_line size_from_values odd_names; do
            run polygraphy run "$models/$model.onnx" --trt --onnxrt
            [ "$status" -eq 0 ]
            logged 'PASSED \| All outputs matched'
        done
    done
}

@test "tensors inside of the engine come out of it, also where CUDA graphs are the default" {
    install 11.1
    # Not in one command: tensors that are marked as outputs are none inside of the engine.
    polygraphy run "$models/odd_names_inside.onnx" --onnxrt --onnx-outputs mark all --save-outputs outputs.json
    run polygraphy run "$models/odd_names_inside.onnx" --trt --mark-unfused-tensors-as-debug-tensors \
        --load-outputs outputs.json
    [ "$status" -eq 0 ]
    logged "All outputs matched \| Outputs: .*'h_'"
    install 8.6
    run polygraphy run "$models/odd_names_inside.onnx" --trt --mark-unfused-tensors-as-debug-tensors
    [ "$status" -eq 1 ]
    logged 'has no --markUnfusedTensorsAsDebugTensors, which is there since TensorRT 10.12'
}

@test "a layer precision that matches nothing is an error, and one that is not obeyed a warning" {
    install 10.16
    set -- polygraphy run "$models/convolutions.onnx" --trt --fp16 --precision-constraints obey --layer-precisions
    run "$@" 'pad*:float32'
    [ "$status" -eq 0 ]
    run "$@" padded:float32 nosuch:float32
    [ "$status" -eq 1 ]
    logged "--layer-precisions: the model has no node 'nosuch'"
    run env TRTEXEC_STAND_IN_TRAPS=ignored-precisions "$@" padded:float32
    [ "$status" -eq 1 ]
    logged "TensorRT has set the precision of 0 of 1 layers, and not that of 'padded'"
    run env TRTEXEC_STAND_IN_TRAPS=non-conforming "$@" padded:float32
    logged '^\[W\] TensorRT did not keep to the precision that was asked for in 1 layer: padded$'
}

@test "what would make numbers up is refused" {
    install 10.16
    run polygraphy run "$models/convolutions.onnx" --trt --int8
    [ "$status" -eq 1 ]
    logged '^\[!\] --int8: trtexec does not calibrate, and would take scales at random'
    run polygraphy run "$models/convolutions.onnx" --trt --int8 --calibration-cache missing.cache
    [ "$status" -eq 1 ]
    logged "^\[!\] --calibration-cache: 'missing.cache' is not there"
    run polygraphy run "$models/convolutions.onnx" --trt --strip-plan
    [ "$status" -eq 1 ]
    logged '^\[!\] --strip-plan: an engine without its weights computes zeros'
    polygraphy convert "$models/convolutions.onnx" -o stripped.engine --strip-plan
    run polygraphy run stripped.engine --trt
    [ "$status" -eq 0 ]
    logged '^\[W\] All outputs are 0 throughout: so are those of an engine whose weights were stripped'
    polygraphy convert "$models/convolutions.onnx" -o whole.engine
    run polygraphy run whole.engine --trt
    not_logged 'throughout'
}

@test "an engine is saved also where nothing can be told of its tactics, and not built for a profile that is none" {
    install 10.16
    run polygraphy convert "$models/identity.onnx" -o e.engine --profiling-verbosity none --save-tactics t.json
    [ "$status" -eq 1 ]
    logged '^\[!\] no tactic is told of any of the'
    [ -s e.engine ]
    run polygraphy run "$models/identity.onnx" --trt --optimization-profile 1 --save-engine other.engine
    [ "$status" -eq 1 ]
    logged '^\[!\] --optimization-profile: there is no profile 1'
    [ ! -e other.engine ]
}

@test "a timing cache pins a build, is missed where it does not, and is never replaced by an empty one" {
    install 10.16
    export TRTEXEC_STAND_IN_SEED=1
    polygraphy convert "$models/convolutions.onnx" -o a.engine --save-timing-cache t.cache --save-layer-info a.json
    export TRTEXEC_STAND_IN_SEED=2
    polygraphy convert "$models/convolutions.onnx" -o b.engine --load-timing-cache t.cache --error-on-timing-cache-miss \
        --save-layer-info b.json
    cmp a.json b.json
    polygraphy convert "$models/convolutions.onnx" -o c.engine --save-layer-info c.json
    run ! cmp a.json c.json
    run env TRTEXEC_STAND_IN_TRAPS=timing-cache-miss polygraphy convert "$models/convolutions.onnx" -o d.engine \
        --load-timing-cache t.cache --error-on-timing-cache-miss
    [ "$status" -eq 1 ]
    logged 'Timing cache miss'
    [ ! -e d.engine ]
    echo notes >notes.txt
    run polygraphy convert "$models/convolutions.onnx" -o d.engine --save-timing-cache notes.txt
    logged "^\[W\] TensorRT has taken no times from 'notes.txt'"
    logged "^\[W\] 'notes.txt' stays as it is"
    [ "$(cat notes.txt)" = notes ]
    run polygraphy convert "$models/convolutions.onnx" -o e.engine --load-timing-cache notes.txt --error-on-timing-cache-miss
    [ "$status" -eq 1 ]
    [ ! -e e.engine ]
}

@test "a replay pins a build by its timing cache, and layers that came out otherwise are named" {
    install 10.16
    export TRTEXEC_STAND_IN_SEED=1
    polygraphy convert "$models/convolutions.onnx" -o a.engine --save-tactics replay.json --save-layer-info a.json
    export TRTEXEC_STAND_IN_SEED=2
    polygraphy convert "$models/convolutions.onnx" -o b.engine --load-tactics replay.json --save-layer-info b.json
    cmp a.json b.json
    run env TRTEXEC_STAND_IN_TRAPS=unpinned polygraphy convert "$models/convolutions.onnx" -o c.engine --load-tactics replay.json
    [ "$status" -eq 1 ]
    logged "^\[!\] .*the tactics of 'replay.json' were not forced: TensorRT chose other ones for "
    [ ! -e c.engine ]
}

@test "megabytes of log are read, and a trtexec that never ends is ended with the program" {
    install 11.1
    run env TRTEXEC_STAND_IN_TRAPS=verbose-flood polygraphy run "$models/identity.onnx" --trt --onnxrt
    [ "$status" -eq 0 ]
    logged 'PASSED \| All outputs matched'
    script trtexec <<'EOF'
case "$*" in
    *--saveEngine*)
        echo >"$BEGINS_TO_BUILD"
        export TRTEXEC_STAND_IN_TRAPS=hang-build
        ;;
esac
exec "$STANDS_FOR_IT" "$@"
EOF
    env --default-signal STANDS_FOR_IT="$trtexec" BEGINS_TO_BUILD="$PWD/begins" POLYGRAPHY_TRTEXEC="$PWD/trtexec" \
        polygraphy run "$models/identity.onnx" --trt >log 2>&1 3>&- &
    local session=$!
    until [ -e begins ]; do
        kill -0 $session
        sleep 0.01
    done
    kill -INT $session
    status=0
    wait $session || status=$?
    [ "$status" -eq 130 ]
    grep -q '^\[W\] Interrupted' log
}

@test "of builds that differ, the tactic that makes some fail is the one that only these have" {
    install 10.16
    export TRTEXEC_STAND_IN_SEED=@$BATS_TEST_TMPDIR/seed
    cp "$models/convolutions.onnx" model.onnx
    script check.sh <<'SCRIPT'
tactic=$(sed -n '/"padded": {/,/"tactic"/s/.*"tactic": \(-*[0-9]*\).*/\1/p' tactics.json)
[ -e ../faulty ] || echo "$tactic" >../faulty
[ "$tactic" != "$(cat ../faulty)" ]
SCRIPT
    run polygraphy debug build model.onnx --until 8 --save-tactics tactics.json --artifacts tactics.json --check ./check.sh
    [ "$status" -eq 0 ]
    [ "$(find polygraphy_artifacts -name '*.timing_cache' | wc -l)" -eq 8 ]
    run polygraphy debug diff-tactics --dir polygraphy_artifacts
    [ "$status" -eq 0 ]
    [ "$(grep -B3 -F "Tactic: $(cat ../faulty))" <<<"$output" | grep -cE 'Bad: ([0-9]+) of \1 builds with it, 0 of [0-9]+ without')" -ge 1 ]
}
