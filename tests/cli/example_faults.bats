# example_faults.bats: each fault of examples/faults shows where it should, and nowhere else. Whether its cause is found is
# up to `make faults`, but for one kernel.

load debug_helper

export POLYGRAPHY_TRT=builtin
examples=$POLYGRAPHY_ROOT/examples/faults

setup_file()
{
    file_requires_onnxruntime || return 0
    export PATH=$(dirname "$POLYGRAPHY"):$PATH FAULTS=$BATS_FILE_TMPDIR
    BUILD=$POLYGRAPHY_TEST_PROGRAMS/.. /usr/bin/python3 "$examples/run.py" -o "$FAULTS" --make-only
}

# The reference and what the words behind the model say.
compare()
{
    run polygraphy run "$FAULTS/$1.onnx" --onnxrt "${@:2}" --rtol ${tolerance:-1e-3} --atol ${tolerance:-1e-3}
}

# The same with the compiler that has the fault $2.
compile()
{
    compare "$1" --runner-build "python3 -B $FAULTS/compiler.py $2 {model} {engine}" "${@:3}" --runner \
        'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}'
}

# Saves inputs and all tensors of the reference: data for parts of the network.
record()
{
    polygraphy run "$FAULTS/$1.onnx" --onnxrt --onnx-outputs mark all --save-inputs in.json --save-outputs all.json
    polygraphy data to-input in.json all.json -o data.json
}

# The part of the network from tensor $2 to tensor $3, with the plug-in $4.
compare_part()
{
    polygraphy surgeon extract "$FAULTS/$1.onnx" -o part.onnx --inputs "$2:auto:auto" --outputs "$3:auto"
    run polygraphy run part.onnx --onnxrt --trt --plugins "$FAULTS/$4" --load-inputs data.json --rtol 1e-3 --atol 1e-3
}

agrees()
{
    [ "$status" -eq 0 ]
    grep -q 'Pass Rate: 100.00%' <<<"$output"
}

differs()
{
    [ "$status" -eq 1 ]
    grep -q 'FAILED | simple | Mismatched outputs' <<<"$output"
}

first_divergence_is()
{
    [ "$status" -eq 1 ]
    [ "$(grep -c 'First divergence: ' <<<"$output")" -eq 1 ]
    grep -q "First divergence: node '$1'" <<<"$output"
}

@test "float16 does not hold what these networks compute, and float32 does" {
    local network tolerance=0.05
    for network in overflow underflow; do
        compare $network --trt
        agrees
        compare $network --trt --fp16
        differs
    done
}

@test "a network makes NaN of itself, in the reference" {
    run polygraphy run "$FAULTS/not_a_number.onnx" --onnxrt --validate --first-divergence
    [ "$status" -eq 1 ]
    grep -q "First NaN or infinity: node 'features/log' (Log)" <<<"$output"
}

@test "a kernel is wrong on widths that are no multiple of 16, alone, too, and right on others" {
    compare kernel_in_one_layer --trt
    agrees
    compare kernel_in_one_layer --trt --plugins "$FAULTS/vector_norm.so" --save-tactics replay.json
    differs
    [ "$(grep -o 'vector_norm:vectors_of_16' replay.json | wc -l)" -eq 13 ]
    polygraphy run "$FAULTS/kernel_in_one_layer.onnx" --trt --plugins "$FAULTS/vector_norm.so" --trt-outputs mark all \
        --save-inputs in.json --save-outputs engine.json
    compare kernel_in_one_layer --load-inputs in.json --load-outputs engine.json --first-divergence
    first_divergence_is block3/inner/normalize
    record kernel_in_five_layers
    compare_part kernel_in_five_layers block6/narrow/add_out block6/inner/normalize_out vector_norm.so
    differs
    compare_part kernel_in_five_layers block7/narrow/add_out block7/inner/normalize_out vector_norm.so
    agrees
}

@test "debug accuracy finds the same nodes twice, and the kernel that computes them wrongly" {
    run --separate-stderr polygraphy debug accuracy "$FAULTS/kernel_in_one_layer.onnx" --onnxrt --trt --plugins "$FAULTS/vector_norm.so" \
        -o folder
    [ "$status" -eq 0 ]
    logged "Cause: the kernel 'vector_norm:vectors_of_16' computes 'block3/inner/normalize' wrongly"
    logged 'Evidence: a second search, with other builds, finds the same'
    logged 'Fix: --exclude-tactics vector_norm:vectors_of_16$'
}

@test "a fused kernel is wrong, and is not there when what lies inside is an output" {
    compare fusion --trt
    agrees
    compare fusion --trt --plugins "$FAULTS/fused_product.so"
    differs
    compare fusion --trt --plugins "$FAULTS/fused_product.so" --trt-outputs gate/sum_out block12/norm/div_out
    agrees
    compile fusion_of_a_compiler fusion
    differs
    compile fusion_of_a_compiler fusion --onnx-outputs block5/sum_out head/add_out
    agrees
    compile fusion_of_a_compiler fusion --first-divergence
    [ "$status" -eq 1 ]
    grep -q 'No tensor of the model differs' <<<"$output"
    grep -q 'The extra outputs hide the difference' <<<"$output"
    compile fusion_of_a_compiler rounding
    agrees
}

@test "halves are rounded away from zero, in the one place where there are some" {
    compile rounding rounding --first-divergence
    first_divergence_is block2/requantize/round
}

@test "a square weight is transposed, and no other" {
    compile weight_layout layout --first-divergence
    first_divergence_is block2/adapt/matmul
}

@test "of two tactics one is wrong, whoever chooses" {
    local tactic
    polygraphy run "$FAULTS/tactic.onnx" --trt --plugins "$FAULTS/unit_length.so" --save-tactics replay.json
    for tactic in plain guarded; do
        sed -E "s/unit_length:[a-z]+/unit_length:$tactic/" replay.json >$tactic.json
        compare tactic --trt --plugins "$FAULTS/unit_length.so" --load-tactics $tactic.json
        [ $tactic = guarded ] || agrees
        [ $tactic = plain ] || differs
    done
}

@test "runs of one engine differ, some of them" {
    polygraphy convert "$FAULTS/race.onnx" -o race.engine --plugins "$FAULTS/running_sum.so"
    polygraphy run "$FAULTS/race.onnx" --onnxrt --save-inputs in.json --save-outputs golden.json
    run polygraphy debug repeat --until 30 --hide-fail-output --check polygraphy run race.engine --trt \
        --plugins "$FAULTS/running_sum.so" --load-inputs in.json --load-outputs golden.json --rtol 1e-3 --atol 1e-3
    [[ $output =~ Passed:\ ([0-9]+)/30 ]]
    [ "${BASH_REMATCH[1]}" -gt 0 ]  # one of 10^13 times not so,
    [ "${BASH_REMATCH[1]}" -lt 30 ] # one of 400,000
}

@test "nothing is wrong with the sound ones" {
    compare sound --trt
    agrees
    tolerance=0.05 compare sound_images --trt --fp16
    agrees
}

# What run.py says of a program that finds the causes given as JSON on standard input, by network.
judge()
{
    cat >found.json
    cat >program <<'END'
#!/bin/sh
# Is called: debug accuracy NETWORK.onnx ... --json FILE
while [ "$1" != --json ]; do
    [ "${1%.onnx}" = "$1" ] || network=${1%.onnx}
    shift
done
exec /usr/bin/python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1]))[sys.argv[2]]))' \
    "$FOUND" "$network" >"$2"
END
    chmod +x program
    FOUND=$PWD/found.json BUILD=$POLYGRAPHY_TEST_PROGRAMS/.. POLYGRAPHY=$PWD/program \
        run /usr/bin/python3 "$examples/run.py" -o faults "$@"
}

@test "a cause is right when its kind, its nodes and its tactic are" {
    judge fusion kernel_in_one_layer overflow sound <<'END'
{"fusion": {"outcome": "cause", "cause": {"kind": "fusion", "nodes": ["gate/matmul", "gate/sum", "gate/relu"]}},
 "kernel_in_one_layer": {"outcome": "cause", "checks": 12, "builds": 3, "cause": {"kind": "tactic",
    "nodes": ["block3/inner/normalize"], "tactic": "vector_norm:vectors_of_16"}},
 "overflow": {"outcome": "cause", "cause": {"kind": "overflow",
    "nodes": ["block2/mlp/norm/mean", "block2/mlp/norm/square"]}},
 "sound": {"outcome": "nothing-fails", "cause": null}}
END
    [ "$status" -eq 0 ]
    [ "$(grep -c '  right$' <<<"$output")" -eq 4 ]
    grep -q '^kernel_in_one_layer .* 12  *3 ' <<<"$output"
    judge fusion kernel_in_one_layer overflow race sound tactic <<'END'
{"fusion": {"outcome": "cause", "cause": {"kind": "fusion", "nodes": ["gate/matmul", "gate/relu"]}},
 "kernel_in_one_layer": {"outcome": "cause", "cause": {"kind": "tactic", "nodes": ["block3/inner/normalize"],
    "tactic": "onednn:lnorm"}},
 "overflow": {"outcome": "cause", "cause": {"kind": "overflow", "nodes": ["block2/mlp/norm/square", "head/add"]}},
 "race": {"outcome": "no-cause", "cause": {"kind": "race", "nodes": ["memory/scan"]}},
 "sound": {"outcome": "cause", "cause": {"kind": "node", "nodes": ["head/add"]}},
 "tactic": {"outcome": "cause", "cause": {"kind": "node", "nodes": ["embed/unit"]}}}
END
    [ "$status" -eq 1 ]
    grep -q '^fusion .* WRONG: without gate/sum$' <<<"$output"
    grep -q '^kernel_in_one_layer .* WRONG: another tactic$' <<<"$output"
    grep -q '^overflow .* WRONG: with head/add$' <<<"$output"
    grep -q '^race .* WRONG: no cause$' <<<"$output"
    grep -q '^sound .* WRONG: nothing is wrong there$' <<<"$output"
    grep -q '^tactic .* WRONG: another kind$' <<<"$output"
}
