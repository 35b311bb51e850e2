# runner.bats: models that a command of the user's runs, however it behaves.

load debug_helper

model=$POLYGRAPHY_ROOT/tests/models/identity.onnx

# A runner of the model, whose file of inputs becomes that of outputs under the output's name.
good='sed s/\"x\"/\"y\"/ {inputs} >{outputs}'

# fails REASON WORD...: the command of --runner WORD... fails, which is an error for REASON, and in a check no difference.
fails()
{
    local reason=$1
    shift
    POLYGRAPHY_ITERATION=0 run polygraphy run "$model" --onnxrt --runner "$@"
    [ "$status" -eq 3 ] || { echo "ends with $status: ${output: -800}"; return 1; }
    grep -F "$reason" <<<"$output" || { echo "no '$reason' in: ${output: -800}"; return 1; }
    [[ $output != *'| Accuracy Comparison |'* ]]
}

@test "runners have an order, names and formats, and are compared with others" {
    run polygraphy run "$model" --runner "$good" --onnxrt --runner "mine=$good" --iterations 2 --save-outputs out.safetensors
    [ "$status" -eq 0 ]
    [[ $output == *'Accuracy Comparison | command-runner-N0'*' vs. onnxrt-runner-N0'*'Accuracy Comparison | onnxrt-runner-N0'*' vs. mine'* ]]

    polygraphy run "$model" --onnxrt --save-outputs saved.json
    run polygraphy run "$model" --onnxrt --runner 'cp saved.json {outputs:json}; test -s {inputs:json}'
    [ "$status" -eq 0 ]
}

@test "a command that fails is no difference" {
    fails "it ended with exit code 7; its last line: oh dear" 'echo oh dear >&2; exit 7'
    fails "signal 11" 'kill -SEGV $$'
    fails "left nothing at {outputs}" true
    fails "header is missing or cut off" 'head -c 6 {inputs} >{outputs}'
    fails "what it left cannot be read" 'head -c 90 {inputs} >{outputs}'
    fails "it left no output 'y'; came: 'x'; expected: 'y'" 'cp {inputs} {outputs}'
    fails "with shape (2, 2, 1, 1); the model says (1, 1, 2, 2)" "$good; sed -i s/1,1,2,2/2,2,1,1/ {outputs}"
}

@test "a command that cannot be run says nothing about the model" {
    POLYGRAPHY_ITERATION=0 run polygraphy run "$model" --runner 'no_such_program {model}'
    [ "$status" -eq 125 ]
    [[ $output == *"no such program"* ]]
    POLYGRAPHY_ITERATION=0 run polygraphy run "$model" --runner 'exit 125'
    [ "$status" -eq 125 ]
    run polygraphy run "$model" --runner './run {engine}'
    [ "$status" -eq 1 ]
    [[ $output == *"--runner-build"* ]]
}

@test "a command that hangs ends with all that it has started, in sessions of their own too" {
    fails "after 0.3 s" 'setsid sleep 300 & (sleep 300 & sleep 300)' --runner-timeout 0.3
    # What a command leaves behind, holding its output, ends with it.
    run polygraphy run "$model" --runner "setsid sleep 300 & $good"
    [ "$status" -eq 0 ]
}

@test "NaN are values, and what a command writes is bounded" {
    feeds in.json '[{"x": f32([[[[1, nan], [inf, 1]]]])}]'
    run polygraphy run "$model" --onnxrt --runner "$good" --load-inputs in.json --validate
    [ "$status" -eq 1 ]
    [[ $output == *'FAILED | Output Validation'* ]]
    run polygraphy run "$model" --runner "yes | head -c 200000000; $good" -v
    [ "$status" -eq 0 ]
    [ "${#output}" -lt 3000000 ]
    [[ $output == *'bytes left out'* ]]
}

@test "an engine is built once for a model, and marked outputs are in the model that a command gets" {
    run polygraphy run "$model" --iterations 3 --runner-build 'cp {model} {engine}; echo built >>log' \
        --runner "cmp {model} {engine} && $good"
    [ "$status" -eq 0 ]
    [ "$(wc -l <log)" -eq 1 ]
    run polygraphy run "$POLYGRAPHY_ROOT/tests/models/identity_identity.onnx" --onnxrt --first-divergence \
        --runner "polygraphy run {model} --onnxrt --load-inputs {inputs} --save-outputs {outputs}"
    [ "$status" -eq 0 ]
    [[ $output == *'No tensor of the model differs'* ]]
}
