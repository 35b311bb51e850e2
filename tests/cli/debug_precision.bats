# debug_precision.bats: which layers have to run in higher precision.

load debug_helper

attention=$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx
export POLYGRAPHY_TRT=builtin

setup_file()
{
    file_requires_onnxruntime || return 0
}

precision()
{
    run --separate-stderr polygraphy debug precision "$@"
}

# Compares the engine, or the model, with what ONNX Runtime makes of the original.
make_golden()
{
    polygraphy run "$1" --onnxrt --save-outputs golden.json >/dev/null
}

tolerance=(--load-outputs golden.json --atol 1e-2 --rtol 1e-2)

# The words for --layer-precisions in result.json, one a line.
answer()
{
    sed -n '/"layer_precisions"/,/\]/s/^ *"\(.*:float[0-9]*\)",\{0,1\}$/\1/p' result.json
}

# Whether an engine with these layers in float32, the rest in float16, passes the check.
passes_with()
{
    polygraphy run "$1" --trt --fp16 --deterministic --precision-constraints obey "${check[@]}" \
        ${2:+--layer-precisions "${@:2}"} >run.log 2>&1
}

# Whether the answer passes, and fails without any one of its layers.
answer_is_minimal()
{
    local words without i
    readarray -t words < <(answer)
    [ ${#words[@]} -gt 0 ] && passes_with "$1" "${words[@]}" || return 1
    for i in "${!words[@]}"; do
        without=("${words[@]}")
        unset "without[i]"
        ! passes_with "$1" "${without[@]}" || {
            echo "${words[i]} is not needed"
            return 1
        }
        grep -q 'Difference exceeds tolerance' run.log || return 1
    done
}

# ---- Answers ----

@test "minimal finds exactly the layers that overflow" {
    make_golden "$attention"
    precision "$attention" --fp16 --mode minimal --json result.json --output-onnx mixed.onnx --hide-fail-output \
        --check polygraphy run polygraphy_debug.engine --trt "${tolerance[@]}"
    worked
    [ "$(answer)" = $'scores:float32\nscale:float32' ]
    logged "^\[I\] To achieve acceptable accuracy, try running these 2 layer\(s\) in higher precision$"
    logged "^\[I\]     scores +'scores'$"
    logged "^\[I\]     Fix: --precision-constraints obey --layer-precisions scores:float32 scale:float32$"
    grep -q '"minimal": true' result.json
    [ ! -e polygraphy_debug.engine ]
    check=("${tolerance[@]}")
    answer_is_minimal "$attention"
}

@test "the answer as an ONNX model has Casts around the layers in float32" {
    make_golden "$attention"
    precision "$attention" --mode minimal --output-onnx mixed.onnx --hide-fail-output \
        --check polygraphy run polygraphy_debug.engine --trt "${tolerance[@]}"
    worked
    polygraphy run mixed.onnx --onnxrt "${tolerance[@]}" >/dev/null
    polygraphy inspect model mixed.onnx --show layers >layers
    grep -A1 '| scores \[Op' layers | grep -q 'q_float32 \[dtype=float32'
    grep -A1 '| softmax \[Op' layers | grep -q 'scaled_float16 \[dtype=float16'
    grep -A1 '| query \[Op' layers | grep -q 'dtype=float16'
}

@test "bisect counts layers from the first one or the last one" {
    make_golden "$attention"
    precision "$attention" --fp16 --hide-fail-output \
        --check polygraphy run polygraphy_debug.engine --trt "${tolerance[@]}"
    worked
    logged 'Selecting first 11 layer\(s\) to run in higher precision$'
    logged '^\[I\] To achieve acceptable accuracy, try running the first 7 layer\(s\) in higher precision$'
    logged '^\[I\] Finished 5 iteration\(s\) \| Passed: 3/5 \| Pass Rate: 60\.0%$'
    precision "$attention" --fp16 --dir reverse --save-debug-replay '' --hide-fail-output \
        --check polygraphy run polygraphy_debug.engine --trt "${tolerance[@]}"
    worked
    logged '^\[I\] To achieve acceptable accuracy, try running the last 6 layer\(s\) in higher precision$'
}

@test "--emit onnx finds the same layers with ONNX Runtime, though that computes float16 in float32" {
    make_golden "$attention"
    precision "$attention" --mode minimal --emit onnx --json result.json --hide-fail-output \
        --check polygraphy run polygraphy_debug.onnx --onnxrt "${tolerance[@]}"
    worked
    [ "$(answer)" = $'scores:float32\nscale:float32' ]
    logged '^\[I\] 2 layer\(s\) exceed the range of the lower precision on these data: values overflow in 2, underflow in 0\. They are tried in higher precision first$'
    logged '^\[I\]     As a typed model: 2 nodes in float32, 13 in the lower precision, 5 Casts\. Nodes read and write 5[0-9] % of the bytes that they do in float32, Casts 8\.5 %$'
    logged '^\[W\] The check passes with all layers in float16, but a runtime without kernels for float16'
    logged '^\[I\]     float32 on values rounded to float16 +y +0\.00[0-9]+ +0\.[0-9]+% +yes$'
    logged '^\[I\]     float16 +y +0\.000[0-9]+ '
    [ "$(ls)" = "$(printf 'golden.json\npolygraphy_debug_replay.json\npolygraphy_debug_replay_skip_current.json\nresult.json')" ]
}

@test "a layer between two that have to be higher is higher, too, where that saves Casts" {
    script check <<'END'
polygraphy inspect model polygraphy_debug.onnx --show layers >layers
for node in scores softmax; do grep -A1 "| $node \[Op" layers | grep -q dtype=float32 || exit 1; done
END
    precision "$attention" --fp16 --mode minimal --emit onnx --json result.json --report page.html --output-onnx mixed.onnx --hide-fail-output --check ./check
    worked
    grep -q 'also passes with 1 more in float32, which saves Casts' page.html
    logged '^\[I\] To achieve acceptable accuracy, try running these 2 layer\(s\) in higher precision$'
    logged 'Evidence: also passes with 1 more in float32, which saves Casts$'
    logged "^\[I\]     scale +'scale'$"
    logged 'As a typed model: 3 nodes in float32, 12 in the lower precision, 5 Casts \(without the layers that save Casts: 2 in float32, 7 Casts\)'
    [ "$(answer)" = $'scores:float32\nscale:float32\nsoftmax:float32' ]
    polygraphy inspect model mixed.onnx --show layers >layers
    [ "$(grep -c '\[Op: Cast' layers)" -eq 5 ]
    grep -A1 '| scale \[Op' layers | grep -q dtype=float32
}

@test "--emit onnx --bf16 tries whether the runtime has kernels, and saves the model in bfloat16" {
    make_golden "$attention"
    precision "$attention" --mode minimal --bf16 --emit onnx --json result.json --output-onnx mixed.onnx \
        --hide-fail-output --check polygraphy run polygraphy_debug.onnx --onnxrt "${tolerance[@]}"
    worked
    logged '^\[W\] ONNX Runtime cannot run the model in bfloat16 on this machine\. In candidates, nodes compute in float32'
    logged 'Not tested: nodes in bfloat16: this runtime refuses the model$'
    run ! grep -q '"form": "bfloat16"' result.json
    [ "$(answer)" = 'stem:float32' ]
    polygraphy inspect model mixed.onnx --show layers >layers
    grep -A1 '| softmax \[Op' layers | grep -q 'scaled \[dtype=bfloat16'
    run polygraphy run mixed.onnx --onnxrt
    [[ $output == *'Could not find an implementation for '* ]]
}

@test "--bf16 says what has no bfloat16 in the operator set of the model" {
    precision "$POLYGRAPHY_ROOT/tests/models/convolutions.onnx" --bf16 --emit onnx --mode minimal \
        --check '[ "$(wc -c <"$POLYGRAPHY_ARTIFACT")" -gt 200 ]'
    worked
    logged '^\[W\] [0-9]* layer\(s\) stay in float32: operator set 21 has no bfloat16 for Conv \(from 22 on\)\. '
}

@test "with -j 4 result, replay and log are those of one check at a time" {
    local mode jobs
    make_golden "$attention"
    for mode in bisect linear minimal; do
        for jobs in 1 4; do
            rm -rf "j$jobs" && mkdir "j$jobs"
            (cd "j$jobs" && polygraphy debug precision "$attention" --mode $mode --emit onnx -j $jobs \
                --json result.json --output-onnx mixed.onnx --hide-fail-output --check polygraphy run '{artifact}' \
                --onnxrt --load-outputs ../golden.json --atol 1e-2 --rtol 1e-2 >log 2>&1) || {
                cat "j$jobs/log"
                return 1
            }
            sed -i -E 's/(Duration|Runtime:) [0-9.e-]+s/\1/; s/ -j [0-9]+ / /; s/( in|;) [0-9.]+ s$//' "j$jobs/log"
        done
        diff -r j1 j4 || return 1
        [ "$(ls j4)" = "$(printf 'log\nmixed.onnx\npolygraphy_debug_replay.json\npolygraphy_debug_replay_skip_current.json\nresult.json')" ]
    done
}

@test "engines are checked several at a time where none is timed, and nothing else is different" {
    local mode jobs
    make_golden "$attention"
    for mode in bisect linear minimal; do
        for jobs in 1 4; do
            rm -rf "j$jobs" && mkdir "j$jobs"
            (cd "j$jobs" && polygraphy debug precision "$attention" --fp16 --deterministic --mode $mode -j $jobs \
                --json result.json --hide-fail-output --check polygraphy run '{artifact}' --trt \
                --load-outputs ../golden.json --atol 1e-2 --rtol 1e-2 >log 2>&1) || {
                cat "j$jobs/log"
                return 1
            }
            sed -i -E 's/(Duration|Runtime:) [0-9.e-]+s/\1/; s/ -j [0-9]+ / /; s/( in|;) [0-9.]+ s\b//' "j$jobs/log"
        done
        diff -r j1 j4 || return 1
    done
}

@test "several checks at a time are refused where engines are timed, or leave a file under one name" {
    precision "$attention" --fp16 -j 2 --check polygraphy run polygraphy_debug.engine --trt
    [ "$status" -eq 1 ]
    [[ $stderr == *'--jobs: parallel checks would distort the tactic timings of engine builds; add --deterministic, or '* ]]
    precision "$attention" --fp16 -j 2 --deterministic --save-tactics replay.json --check polygraphy run polygraphy_debug.engine --trt
    [ "$status" -eq 1 ]
    [[ $stderr == *'--save-tactics: with --jobs, speculatively built engines would overwrite that file'* ]]
    precision "$attention" --emit onnx -j 0 --check true
    [ "$status" -eq 1 ]
    [[ $stderr == *'--jobs: expected 1 to 64'* ]]
}

@test "--emit onnx writes float16 nodes at first" {
    precision "$attention" --emit onnx --artifacts polygraphy_debug.onnx --no-verify --mode linear --check \
        sh -c 'polygraphy inspect model polygraphy_debug.onnx --show layers >layers; ! grep "stem_w \[dtype=float16" layers'
    worked
    logged 'try running the first 1 layer\(s\) in higher precision'
    [ "$(find polygraphy_artifacts/bad polygraphy_artifacts/good -name '*.onnx' | wc -l)" -eq 2 ]
}

# ---- The guide's commands ----

@test "guide: a higher precision alone implies the lower one" {
    cp "$attention" model.onnx
    printf 'import os, sys\nsys.exit(0 if os.path.getsize("polygraphy_debug.engine") > 200 else 1)\n' >validate_precision.py
    precision model.onnx --mode bisect --dir forward --precision float32 --check "python3 validate_precision.py"
    worked
    logged '^\[W\] --fp16 is implied: --precision float32 is the higher precision'
    logged '^\[W\] The check passes with all layers in lower precision: no layer needs higher precision$'
    logged 'try running the first 0 layer\(s\) in higher precision'
}

@test "guide: float16 is higher than int8, and the user is the check" {
    cp "$attention" model.onnx
    precision model.onnx --mode linear --dir reverse --precision float16 <<<$'f\nf\np'
    worked
    logged '^\[W\] --fp16 is implied'
    logged '^\[W\] --int8 is implied'
    not_logged 'Check of all layers'
    logged '^\[I\] To achieve acceptable accuracy, try running the last 2 layer\(s\) in higher precision$'
}

# ---- Outcomes ----

@test "what fails in higher precision, too, is not a matter of precision" {
    precision "$attention" --fp16 --exit-code --check 'wc -c <"$POLYGRAPHY_ARTIFACT"; exit 1'
    [ "$status" -eq 4 ]
    logged '^\[E\] Could not find a configuration that satisfied accuracy requirements\.$'
    not_logged 'Iteration 1'
}

@test "a session that was interrupted goes on with its replay" {
    make_golden "$attention"
    script check <<'END'
echo >>checks
[ "$(wc -l <checks)" -ne 4 ] || kill -INT $PPID
polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-2 --rtol 1e-2
END
    precision "$attention" --fp16 --mode minimal --deterministic --check ./check
    [ "$status" -eq 130 ]
    [ ! -e polygraphy_debug.engine ]
    precision "$attention" --fp16 --mode minimal --deterministic --json result.json --hide-fail-output \
        --load-debug-replay polygraphy_debug_replay.json --check ./check
    worked
    [ "$(answer)" = $'scores:float32\nscale:float32' ]
    logged 'Loading iteration information from debug replay: success=True'
    precision "$attention" --fp16 --mode bisect --load-debug-replay polygraphy_debug_replay.json --check ./check
    refused "belongs to another model, or to other options"
    precision "$attention" --fp16 --mode minimal --deterministic --disable-fusions relu \
        --load-debug-replay polygraphy_debug_replay.json --check ./check
    refused "belongs to another model, or to other options"
}

@test "a network none of whose layers would be in lower precision is refused, with the reason" {
    cp "$POLYGRAPHY_ROOT/tests/models/all_in_an_if.onnx" model.onnx
    for emit in engine onnx; do
        precision model.onnx --fp16 --emit $emit --val-range rate:[8,8] --check true
        refused "no layer can be in float16, so there is nothing to search: all that computes lies inside of 'choice' (If)"
        not_logged 'Check of all layers'
    done
    precision model.onnx --fp16 --decide-branches --val-range rate:[8,8] --check '[ "$(wc -c <"$POLYGRAPHY_ARTIFACT")" -gt 200 ]'
    worked
    logged '^\[I\]  *Built [0-9]+ layers: 1 float16, '
}

@test "a check that does not look at models is told so" {
    precision "$attention" --emit onnx --check true
    refused 'the check passes on the model with all layers in lower precision, but also on a file that is not a valid model'
}

@test "what makes no sense is refused" {
    precision "$attention" --mode minimal --dir reverse --check true
    refused '--dir is for --mode bisect and linear'
    precision "$attention" --precision-constraints none --check true
    refused '--precision-constraints none: layers would not get the precision'
    precision "$attention" --int8 --emit onnx --check true
    refused '--emit onnx: an ONNX model can combine float32 with either float16 or bfloat16'
    cp "$attention" polygraphy_debug.onnx
    precision polygraphy_debug.onnx --emit onnx --check true
    refused "is the input model"
    touch polygraphy_debug.engine
    precision "$attention" --check true
    refused 'already exists, refusing to overwrite'
    precision "$attention" --fp16 --layer-precisions scoress:float16 --intermediate-artifact x.engine --check true
    refused "the network has no layer 'scoress'; did you mean 'scores'?"
    polygraphy convert "$attention" --convert-to trt -o model.engine >/dev/null
    precision model.engine --check true
    refused 'is an engine, whose precisions are fixed'
}

# ---- Real models ----

thorough()
{
    [ -n "$POLYGRAPHY_TEST_THOROUGH" ] || skip "only with POLYGRAPHY_TEST_THOROUGH"
    [ -d "$POLYGRAPHY_TEST_MODELS" ] || skip "POLYGRAPHY_TEST_MODELS is not set"
}

@test "thorough: DenseNet-121 keeps what a tolerance between the errors of both precisions needs" {
    thorough
    model=$POLYGRAPHY_TEST_MODELS/onnx_light/light_densenet121.onnx
    make_golden "$model"
    check=(--load-outputs golden.json --atol 5e-5 --rtol 0)
    precision "$model" --fp16 --deterministic --mode minimal --json result.json --hide-fail-output \
        --check polygraphy run polygraphy_debug.engine --trt "${check[@]}"
    worked
    answer_is_minimal "$model"
}

@test "thorough: so does a speech model with an LSTM" {
    thorough
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/precision_models.py" fix sr 16000 \
        "$POLYGRAPHY_TEST_MODELS/silero/silero_vad.onnx" fixed.onnx || skip "python3-onnx is not there"
    polygraphy surgeon sanitize fixed.onnx --fold-constants --override-input-shapes 'input:[1,512]' \
        'state:[2,1,128]' -o model.onnx
    make_golden model.onnx
    check=(--load-outputs golden.json --atol 1e-4 --rtol 0)
    precision model.onnx --fp16 --deterministic --mode minimal --json result.json --hide-fail-output \
        --check polygraphy run polygraphy_debug.engine --trt "${check[@]}"
    worked
    answer_is_minimal model.onnx
}

@test "what --output-onnx cannot write is said before the search" {
    cd "$BATS_TEST_TMPDIR/here"
    echo 'touch checked' | script check.sh
    run --separate-stderr polygraphy debug precision "$POLYGRAPHY_ROOT/tests/models/constant_in_ir_version_3.onnx" --bf16 \
        --emit engine --output-onnx mixed.onnx --check ./check.sh
    [ "$status" -eq 1 ]
    [[ $stderr == *"--output-onnx: layer '"*"cannot express in the ONNX model"* ]]
    [ ! -e checked ]
}
