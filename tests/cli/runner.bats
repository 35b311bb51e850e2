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

# staying: writes stays.sh, a runner of the model that stays. Each start adds a line to `started`; each inference runs
# the shell words in BEFORE, where a file of that name is there.
staying()
{
    cat >stays.sh <<'END'
exec 3>"$2"
echo $$ >>started
echo '{"version": 1, "engine": "sed 4"}' >&3
while IFS= read -r line; do
    id=${line##*'"id":'}
    id=${id%\}}
    answer="{\"id\": $id}"
    in=${line#*'"inputs":"'}
    out=${line#*'"outputs":"'}
    case $line in
    *'"build"'*)
        built=${line#*'"model":"'}
        built=${built%%\"*}
        ;;
    *'"infer"'*)
        [ ! -e before ] || . ./before
        sed 's/"x"/"y"/' "${in%%\"*}" >"${out%%\"*}"
        ;;
    esac
    echo "$answer" >&3
done <"$1"
echo ended >>started
END
}

stays='./stays.sh {requests} {answers}'

@test "a runner that stays serves all inferences of a session, and ends with it" {
    staying
    run polygraphy run "$model" --onnxrt --runner "sed=bash $stays" --iterations 3 -v
    [ "$status" -eq 0 ]
    [[ $output == *'sed | Process '*' has started: sed 4'*'vs. sed | Passed: 3/3'* ]]
    [ "$(wc -l <started)" -eq 2 ]
    [ "$(tail -n 1 started)" = ended ]
    rm started
    run polygraphy debug repeat --until 3 --check polygraphy run "$model" --onnxrt --runner "sed=bash $stays"
    [ "$status" -eq 0 ]
    [ "$(wc -l <started)" -eq 2 ]
    # What has to be seen in a fresh process is seen in a fresh runner.
    rm started
    echo 'polygraphy run "$built" --onnxrt --load-inputs "${in%%\"*}" --save-outputs "${out%%\"*}" --silent
          echo "$answer" >&3
          continue' >before
    run polygraphy debug accuracy "$model" --onnxrt --runner "bash $stays" -o study
    [ "$status" -eq 0 ]
    [ "$(grep -c ended started)" -eq 1 ]
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "a runner that stays and fails is no difference, and is started again" {
    staying
    run polygraphy run "$model" --runner "bash $stays" --runner 'x {requests}'
    [[ $status -eq 1 && $output == *"add {answers} to the line"* ]]
    run polygraphy run "$model" --runner "bash $stays {model}"
    [[ $status -eq 1 && $output == *"{model} in a line with {requests}"* ]]
    run polygraphy run "$model" --runner "bash $stays" --runner-build 'cp {model} {engine}'
    [[ $status -eq 1 && $output == *"leave --runner-build out"* ]]
    fails "at building: it ended with exit code 5; its last line: no device" 'echo no device; exit 5; {requests} {answers}'
    fails "is not the first line of a runner that stays" 'echo hello >{answers}; sleep 100 <{requests}'
    echo 'kill -SEGV $$' >before
    fails "failed: signal 11" "bash $stays"
    echo 'answer="{\"id\": $id, \"error\": \"too large\"}"' >before
    fails "it answered with an error: too large" "bash $stays"
    echo 'answer="{\"id\": 1}"' >before
    fails 'has not the number of the request' "bash $stays"
    echo 'sleep 300' >before
    fails "after 0.3 s" "bash $stays" --runner-timeout 0.3
    echo 'answer="{\"id\": $id, \"error\": \"no device\", \"untestable\": true}"' >before
    POLYGRAPHY_ITERATION=0 run polygraphy run "$model" --runner "bash $stays"
    [ "$status" -eq 125 ]
    # Errors are told from each other by their kind, in words of the runner or of the message.
    polygraphy surgeon extract "$POLYGRAPHY_ROOT/tests/models/identity_identity.onnx" -o two.onnx
    echo 'answer="{\"id\": $id, \"error\": \"$(wc -c <"$built") bytes\", \"kind\": \"$(grep -c identity_out_0 "$built")\"}"' >before
    run polygraphy debug reduce two.onnx -o reduced.onnx --mode minimal --check polygraphy run {artifact} --runner "bash $stays"
    [ "$status" -eq 0 ]
    [[ $output == *'error '*' of the runner'* ]]
    # One that died in one check is there in the next.
    rm started
    echo '[ -e died ] || { touch died; kill -SEGV $$; }' >before
    run polygraphy debug repeat --until 3 --check polygraphy run "$model" --onnxrt --runner "bash $stays"
    [[ $output == *'signal 11'* ]]
    [ "$(grep -vc ended started)" -eq 2 ]
}

@test "nothing of a runner that stays survives a session, however that ends" {
    staying
    local signal pid runner
    echo 'setsid sleep 299 & touch asked; sleep 299' >before
    for signal in HUP TERM KILL; do
        rm -f started asked
        polygraphy run "$model" --runner "bash $stays" --silent 3>&- &
        pid=$!
        until [ -e asked ]; do sleep 0.01; done
        runner=$(cat started)
        kill -$signal $pid
        wait $pid || :
        while kill -0 "$runner" 2>&-; do sleep 0.01; done
        while pgrep -f '^sleep 299$'; do sleep 0.01; done
        rm -rf "$TMPDIR"/polygraphy-runner.* # that of the killed process
    done
}

@test "the example in C of a runner that stays is compiled, and runs" {
    cc -std=c11 -Wall -Wextra -Werror -o copying "$POLYGRAPHY_ROOT/examples/runners/copying.c"
    run polygraphy run "$model" --onnxrt --runner './copying {requests} {answers} x y' --iterations 2
    [ "$status" -eq 0 ]
    run polygraphy run "$model" --onnxrt --runner './copying {requests} {answers} z y'
    [[ $status -eq 1 && $output == *'it answered with an error: the input is not called like that'* ]]
}

@test "the examples that stay run where what they need is installed" {
    local name packages=0
    for name in openvino:openvino_staying onnx.reference:onnx_reference iree.compiler:iree_staying; do
        python3 -c "import numpy, ${name%:*}" || continue
        # On processors that have bfloat16 OpenVINO computes in it.
        packages=$((packages + 1))
        run polygraphy run "$POLYGRAPHY_ROOT/tests/models/matmul_chain_64.onnx" --onnxrt --rtol 1e-3 --iterations 2 \
            --runner "python3 $POLYGRAPHY_ROOT/examples/runners/${name#*:}.py {requests:npz} {answers} CPU INFERENCE_PRECISION_HINT=f32"
        [ "$status" -eq 0 ] || { echo "$name: $output"; return 1; }
    done
    [ $packages -gt 0 ] || skip "none of the packages openvino, onnx 1.13 and iree is there"
}
