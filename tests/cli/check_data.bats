# check_data.bats: checks that compare with files, of which parts of a model need more than the whole.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

setup_file()
{
    file_requires_onnxruntime || return 0
    export POLYGRAPHY_TRT=builtin
    cd "$BATS_FILE_TMPDIR" || return
    cp "$models/attention_overflow.onnx" model.onnx
    polygraphy run model.onnx --onnxrt --save-inputs in.json --save-outputs golden.json
    polygraphy run model.onnx --onnxrt --load-inputs in.json --onnx-outputs mark all --save-outputs all.json
    polygraphy data to-input in.json all.json -o layers.json
    polygraphy run "$models/chain17.onnx" --onnxrt --save-outputs others.json
}

# In a folder with the files above, `debug reduce` with these words and a check that ends with the words behind "::".
reduce_with()
{
    local options=()
    cp "$BATS_FILE_TMPDIR"/*.json "$BATS_FILE_TMPDIR/model.onnx" .
    while [ "$1" != :: ]; do
        options+=("$1")
        shift
    done
    shift
    reduce model.onnx -o reduced.onnx --hide-fail-output "${options[@]}" --check polygraphy run polygraphy_debug.onnx \
        --trt --fp16 --atol 0.5 --rtol 0.1 "$@"
}

@test "the example of debug --help does what it says, as it stands there" {
    cp "$models/attention_overflow.onnx" model.onnx
    polygraphy debug --help | sed -n '/^Example:$/,$p' | sed 1d >example.sh
    [ "$(grep -c '^  polygraphy debug reduce ' example.sh)" -eq 1 ]
    run sh -e example.sh
    [ "$status" -eq 0 ]
    logged "^\\[I\\] Reduced 15 nodes to 1: 'scores' \\(MatMul\\)"
    logged '^\[I\] The model is 1-minimal'
    not_logged '^\[W\] The check lacks data'
    run polygraphy inspect model reduced.onnx --show layers
    [ "$(grep -c 'Op: ' <<<"$output")" -eq 1 ]
    logged "scores.*Op: MatMul"
}

@test "golden values of outputs alone: no other tensor is taken for them, and what gives the others is said first" {
    reduce_with :: --load-inputs in.json --load-outputs golden.json
    refused 'the check is inconclusive for every part of the model'
    logged "^\\[W\\] The check lacks data for some subgraphs, which are skipped: 'golden.json' contains 1 of the [0-9]+ possible output tensors of subgraphs, 'in.json' contains 0 of the [0-9]+ possible input tensors\\. .*mark all.*data merge.*--iter-inputs and --iter-golden$"
    not_logged 'Assuming that'
    not_logged 'Buffer name'
    not_logged 'PASSED \| Iteration'
    [ ! -e reduced.onnx ]
    reduce_with --mode minimal :: --load-inputs in.json --load-outputs golden.json
    logged '^\[W\] The check lacks data .*--iter-inputs IN --iter-golden OUT to write both'
}

@test "all files with input data are looked into, and all iterations" {
    local data
    cp "$BATS_FILE_TMPDIR"/*.json .
    /usr/bin/python3 -c 'import json; print(json.dumps(json.load(open("layers.json")) + json.load(open("in.json"))))' >both.json
    for data in 'layers.json in.json' 'in.json layers.json' both.json; do
        reduce_with --max-checks 2 :: --load-inputs $data --load-outputs all.json
        logged "^\\[W\\] The check lacks data for some subgraphs, which are skipped: '(in|both).json' contains 0 of the [0-9]+ possible input tensors of subgraphs"
    done
}

@test "the data of all layers are all that is needed" {
    reduce_with :: --load-inputs layers.json --load-outputs all.json
    worked
    not_logged 'lacks data'
    logged "^\\[I\\] Reduced 15 nodes to 1: 'scores' \\(MatMul\\)"
}

@test "without input data inputs are not cut, as what is made up belongs to no golden value" {
    reduce_with :: --load-outputs all.json
    worked
    logged '^\[W\] Inputs are not cut: the check compares with --load-outputs but generates its input data'
    not_logged 'Marking model inputs'
    reduce_with --no-reduce-inputs :: --load-outputs all.json
    worked
    not_logged 'Inputs are not cut'
    reduce_with --mode minimal --iter-golden each.json :: --load-outputs each.json
    refused '--check: it compares with --load-outputs but generates its input data, '
    [[ $stderr == *'Pass --iter-inputs in.json here, and --load-inputs in.json in the check' ]]
    [ "$(ls -- *.onnx)" = "model.onnx
reduced.onnx" ]
}

@test "a file of another model is refused before the first check" {
    reduce_with :: --load-inputs in.json --load-outputs others.json
    [ "$status" -eq 1 ]
    grep -q "^\\[!\\] --check: 'others.json' contains none of the outputs of '.*model.onnx' (\\[.y.\\])" <<<"$stderr"
    not_logged 'Running check command'
    cp "$BATS_FILE_TMPDIR"/*.json .
    reduce "$BATS_FILE_TMPDIR/model.onnx" -o reduced.onnx \
        --check "polygraphy run polygraphy_debug.onnx --onnxrt --load-inputs in.json --load-outputs others.json"
    [ "$status" -eq 1 ]
    grep -q "^\\[!\\] --check: 'others.json' contains none of the outputs" <<<"$stderr"
    not_logged 'Running check command'
}

@test "checks that are something else are left alone" {
    cp "$BATS_FILE_TMPDIR"/*.json "$BATS_FILE_TMPDIR/model.onnx" .
    printf '#!/bin/sh\nexit 1\n' >polygraphy.sh
    chmod +x polygraphy.sh
    local check
    for check in "./polygraphy.sh run polygraphy_debug.onnx --onnxrt --load-outputs others.json" \
        "polygraphy run polygraphy_debug.onnx --onnxrt --load-outputs others.json; exit 1"; do
        reduce model.onnx -o reduced.onnx --hide-fail-output --check "$check"
        not_logged 'lacks data|Inputs are not cut'
        logged 'Running check command'
    done
}
