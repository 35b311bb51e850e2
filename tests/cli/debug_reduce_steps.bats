# debug_reduce_steps.bats: decoders of which one step fails are reduced with the values of that step.

load debug_helper

exported=$POLYGRAPHY_ROOT/tests/models/exported
decoder=$exported/decoder_legacy.onnx

setup_file()
{
    file_requires_onnxruntime || return 0
    export PATH=$(dirname "$POLYGRAPHY"):$PATH
}

# reduce_steps FAULT [OPTION...]: the check compiles the candidate with the fault, and compares it with the original.
reduce_steps()
{
    cat >check.sh <<END
#!/bin/sh
/usr/bin/python3 -B "$POLYGRAPHY_ROOT/tests/cli/decoder_faults.py" $1 polygraphy_debug.onnx bad.onnx || exit 2
exec polygraphy run bad.onnx --onnxrt --load-inputs in.json --load-outputs golden.json --atol 1e-4 --rtol 1e-4
END
    chmod +x check.sh
    run --separate-stderr polygraphy debug reduce "$decoder" -o small.onnx --mode minimal --iter-inputs in.json \
        --iter-golden golden.json --json result.json --steps 8 "${@:2}" --check ./check.sh
}

@test "a table of positions that is too short is reduced to its reader, with the values of step 7" {
    reduce_steps clip --save-step-inputs step.json
    worked
    logged "Decoder: a prefill and 8 step\(s\) .* 4 cache\(s\), by name"
    logged 'PASSED \| Check of the original model in step 6 '
    logged 'FAILED \| Check of the original model in step 7 '
    logged "Reduced 571 nodes to 1: '/model/model/rotary_emb/Unsqueeze' \(Unsqueeze\)"
    logged 'First failing step: 7 of the decoder'
    [ "$(json_value 'it["step"], it["nodes"][0]["name"], it["one_minimal"]')" = \
        "(7, '/model/model/rotary_emb/Unsqueeze', True)" ]
    run polygraphy inspect data step.json --show-values
    logged '^ +position_ids \[dtype=int64, shape=\(1, 1\)\]'
    logged '^ +\[\[22\]\]'
}

@test "positions behind the prefill that are off by one are reduced with the values of step 1" {
    reduce_steps shift
    worked
    logged "Reduced 571 nodes to 1: '/model/model/rotary_emb/Unsqueeze' \(Unsqueeze\)"
    [ "$(json_value 'it["step"]')" = 1 ]
}

@test "a cache of the wrong layer is reduced to the two nodes that read it, with the values of step 1" {
    reduce_steps layer
    worked
    [ "$(json_value 'it["step"], sorted(node["name"] for node in it["nodes"])')" = \
        "(1, ['/model/model/layers.0/self_attn/Concat_6', '/model/model/layers.1/self_attn/Concat_6'])" ]
}

@test "a session in steps is resumed in the same step" {
    reduce_steps clip --max-checks 10
    logged 'FAILED \| Check of the original model in step 7 '
    reduce_steps clip --load-debug-replay polygraphy_debug_replay.json
    worked
    for step in 0 7; do
        grep -A1 "RUNNING | Check of the original model in step $step" <<<"$output" | grep -q 'Loading iteration information'
    done
    logged "Reduced 571 nodes to 1: '/model/model/rotary_emb/Unsqueeze' \(Unsqueeze\)"
    [ "$(json_value 'it["step"]')" = 7 ]
}

@test "a decoder of which no step fails is not reduced, and a file of an earlier run is removed" {
    touch step.json
    reduce_steps none --save-step-inputs step.json --exit-code
    [ "$status" -eq 4 ]
    logged 'No step of the decoder fails: 9 were checked'
    [ ! -e step.json ]
    [ "$(json_value 'it["step"], it["outcome"]')" = "(None, 'original does not fail')" ]
}

@test "steps need data for each candidate, and a decoder" {
    run --separate-stderr polygraphy debug reduce "$decoder" -o small.onnx --steps 8 --check true
    refused '--steps needs --mode minimal and --iter-inputs'
    run --separate-stderr polygraphy debug reduce "$decoder" -o small.onnx --steps 8 --mode minimal \
        --iter-inputs in.json --no-verify --check true
    refused '--no-verify is not supported with --steps'
    run --separate-stderr polygraphy debug reduce "$exported/experts.onnx" -o small.onnx --steps 8 --mode minimal \
        --iter-inputs in.json --check true
    [ "$status" -eq 1 ]
    [[ $stderr == *'cannot record the steps of the decoder'*'pass the pairs of the cache to --cache'* ]]
}
