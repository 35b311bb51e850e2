# plan_files.bats: plan files of the built-in engine that are damaged, foreign or need what is not there: one clear error each.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

export POLYGRAPHY_TRT=builtin

build()
{
    polygraphy convert "$models/matmul_chain_64.onnx" -o a.engine --deterministic "$@" >/dev/null
}

# `run --trt FILE` ends with this message, and nothing else goes wrong.
refused()
{
    local file=$1 message=$2
    shift 2
    run --separate-stderr polygraphy run "$file" --trt "$@"
    [ "$status" -eq 1 ] && [[ $stderr == *"$message"* ]] && [ "${#stderr_lines[@]}" -eq 1 ] || {
        echo "status $status; $stderr"
        echo "$output"
        return 1
    }
}

@test "a plan file is moved to another folder and runs there, with what it had" {
    build
    mkdir elsewhere
    mv a.engine elsewhere/b.engine
    run polygraphy run elsewhere/b.engine --trt --save-outputs from_plan.json
    [ "$status" -eq 0 ]
    run polygraphy run "$models/matmul_chain_64.onnx" --onnxrt --load-outputs from_plan.json
    [ "$status" -eq 0 ]
}

@test "a plan file that is cut short is refused" {
    build
    head -c 1000 a.engine >short.engine
    refused short.engine "/short.engine': it is cut short or damaged: 1000 bytes instead of "
    head -c 30 a.engine >header.engine
    refused header.engine "/header.engine': it is cut short: it ends inside of its header"
    : >empty.engine
    refused empty.engine "/empty.engine': it is empty, and no plan file"
}

@test "a plan file with a changed weight is refused" {
    build
    size=$(wc -c <a.engine)
    printf '\377' | dd of=a.engine bs=1 seek=$((size / 2)) conv=notrunc status=none
    refused a.engine "/a.engine': its model is damaged: its checksum is wrong"
}

@test "a plan file of another version is refused" {
    build
    printf '\007' | dd of=a.engine bs=1 seek=8 conv=notrunc status=none
    refused a.engine "/a.engine': it is a plan file of version 7, and this program reads version 1: build it again"
}

@test "an engine of TensorRT is called one" {
    { printf 'ftrt\0\0\0\0' && head -c 16 /dev/zero && printf '\12\20\0\0' && head -c 100 /dev/zero; } >theirs.engine
    POLYGRAPHY_TRT=builtin refused theirs.engine "theirs.engine' is an engine of TensorRT 10.16.0, which the built-in engine"
    printf 'ftrt\001\002\003' >theirs.engine
    refused theirs.engine "theirs.engine': it is cut short: it ends inside of its header"
}

@test "a file that is no plan is called none" {
    echo '{"a": 1}' >x.engine
    refused x.engine "/x.engine': it is no plan file: it does not begin with 'PLGRPLAN'"
}

@test "a plan names the provider that it lacks" {
    build --tactic-sources onnxrt
    refused a.engine "needs a tactic of the provider 'onnxrt', which is not there or was not asked for" \
        --tactic-sources onednn
}

@test "an engine in place of an ONNX model is called an engine, whatever its name" {
    polygraphy convert "$models/convolutions.onnx" -o plan.engine >log
    cp plan.engine named.onnx
    for file in plan.engine named.onnx; do
        for tool in 'debug reduce -o o.onnx' 'surgeon extract -o o.onnx' 'surgeon sanitize -o o.onnx' \
            'surgeon insert -o o.onnx --inputs x --outputs y --op Relu' 'surgeon prune -o o.onnx' \
            'surgeon weight-strip -o o.onnx' 'surgeon weight-reconstruct -o o.onnx' 'check lint' \
            'inspect capability' 'inspect sparsity' 'convert -o o.onnx' 'run --onnxrt' 'debug build --until good' \
            'debug precision --fp16'; do
            # shellcheck disable=SC2086
            run --separate-stderr polygraphy $tool "$file" </dev/null
            [ "$status" -eq 1 ] || {
                echo "$tool: status $status; $output"
                return 1
            }
            [[ $stderr == "[!] '"*"/$file' is an engine"*' the ONNX model'* ]]
            [ ! -e o.onnx ]
        done
    done
    run --separate-stderr polygraphy inspect model named.onnx
    [ "$status" -eq 0 ]
    logged 'Built-in Engine'
}
