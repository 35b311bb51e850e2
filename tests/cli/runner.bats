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
    local copy='cp -r {inputs:npy} {outputs:npy} && mv {outputs:npy}/x.npy {outputs:npy}/y.npy'
    run polygraphy run "$model" --runner "$good" --onnxrt --runner "mine=$copy" --iterations 2 --save-outputs saved.json
    [ "$status" -eq 0 ]
    [[ $output == *'Accuracy Comparison | command-runner-N0'*' vs. onnxrt-runner-N0'*'Accuracy Comparison | onnxrt-runner-N0'*' vs. mine'* ]]
    polygraphy run "$model" --onnxrt --save-outputs saved.json
    run polygraphy run "$model" --onnxrt --runner 'test -s {inputs:npz} && cp saved.json {outputs:json}'
    [ "$status" -eq 0 ]
}

@test "inputs that are a file already are not written again, and not to be written to" {
    polygraphy run "$model" --onnxrt --save-inputs in.safetensors --save-outputs out.safetensors
    run polygraphy run "$model" --runner "cmp in.safetensors {inputs} && test {inputs} -ef in.safetensors && $good" \
        --load-inputs in.safetensors --load-outputs out.safetensors
    [ "$status" -eq 0 ]
    run polygraphy run "$model" --runner "rm {inputs}; cp in.safetensors {inputs}; $good" --load-inputs in.safetensors
    [ "$status" -eq 0 ]
    run polygraphy run "$model" --runner "$good; echo >>{inputs}" --load-inputs in.safetensors
    [ "$status" -eq 1 ]
    [[ $output == *"has written to 'in.safetensors', which is the user's"* ]]
}

@test "a command that fails is no difference" {
    fails "it ended with exit code 7; its last line: oh dear" 'echo oh dear >&2; exit 7'
    fails "signal 11" 'kill -SEGV $$'
    fails "left nothing at {outputs}" true
    fails "header is missing or truncated" 'head -c 6 {inputs} >{outputs}'
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
    [[ $output == *'Output validation failed: iteration 0'* ]]
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
    # Parts of a model, too, say what shapes their inputs have, which other engines want to know.
    run polygraphy run "$POLYGRAPHY_ROOT/tests/models/identity_identity.onnx" --onnxrt --first-divergence --output-memory 1K \
        --runner "polygraphy inspect model {model} >>models
                  polygraphy run {model} --onnxrt --load-inputs {inputs} --save-outputs {outputs}"
    [ "$status" -eq 0 ]
    [[ $output == *'No tensor of the model differs'* ]]
    [ "$(grep -A1 'Graph Input' models | grep -c 'shape=(1, 1, 64, 64)')" -eq 3 ] # two parts, then the model as it is
}

@test "the examples run where what they need is installed: OpenCV" {
    /usr/bin/python3 -c 'import cv2' || skip "OpenCV's Python module is not there: apt-get install python3-opencv"
    run polygraphy run "$POLYGRAPHY_ROOT/tests/models/matmul_chain_64.onnx" --onnxrt --rtol 1e-3 \
        --runner "$POLYGRAPHY_ROOT/examples/runners/opencv_dnn.py {model} {inputs:npz} {outputs:npz}"
    [ "$status" -eq 0 ]
}

@test "the examples run where what they need is installed: ONNX Runtime in Node" {
    node -e 'require("onnxruntime-node")' || skip "ONNX Runtime for Node is not where NODE_PATH says: npm install onnxruntime-node"
    run polygraphy run "$POLYGRAPHY_ROOT/tests/models/matmul_chain_64.onnx" --onnxrt --rtol 1e-3 \
        --runner "env TMPDIR=\$(dirname {outputs}) $POLYGRAPHY_ROOT/examples/runners/onnxruntime_node.js {model} {inputs} {outputs}"
    [ "$status" -eq 0 ]
}

@test "a runner that writes to the model, or to its external data, is told, and nothing of it counts" {
    require_onnxruntime
    reduce_models make external m.onnx w.bin
    reduce_models make weights w.bin
    local line
    for line in 'echo x >>{model}' 'mv {model} moved; cp moved {model}' 'rm {model}' 'echo x >>w.bin'; do
        cp m.onnx model.onnx
        cp w.bin w.copy
        run --separate-stderr polygraphy run model.onnx --onnxrt --runner \
            "polygraphy run {model} --onnxrt --load-inputs {inputs:json} --save-outputs {outputs:json} --silent; $line"
        [ "$status" -eq 1 ]
        [[ $stderr == *"has written to '"*"', which is the user's: repair that file, and let the command only read {model}"* ]]
        run ! grep -q 'All outputs matched' <<<"$output"
        mv w.copy w.bin
    done
}

@test "the folder that a killed process has left is removed by the next" {
    require_onnxruntime
    local pid
    polygraphy run "$model" --runner 'touch started; exec sleep 100' --silent 3>&- &
    pid=$!
    until [ -e started ]; do sleep 0.01; done
    kill -KILL $pid
    wait $pid || :
    [ "$(find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'polygraphy-runner.*' | wc -l)" -eq 1 ]
    run polygraphy run "$model" --onnxrt --runner "$good"
    [ "$status" -eq 0 ]
    [ -z "$(ls -A "$TMPDIR")" ]
}
