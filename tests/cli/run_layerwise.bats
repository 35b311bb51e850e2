# run_layerwise.bats: all tensors of a model, in groups that fit into a bound.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

passes()
{
    run polygraphy run "$@"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

mask()
{
    sed -E 's#[0-9]{2}/[0-9]{2}/[0-9]{2}-[0-9:]{8}#CLOCK#g
            s#in [0-9.e-]+ ms \| Average inference time: [0-9.e-]+ ms#in TIME#
            s#Runtime: [0-9.]+s#Runtime: TIME#
            s#Command: .*#Command#'
}

# Peak memory of a command, in kilobytes.
peak()
{
    /usr/bin/python3 - "$@" <<'END'
import resource, subprocess, sys
result = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(result.returncode)
END
}

@test "groups change neither log nor outputs" {
    for model in reducable nested_bodies sequence_between subgraph_uses_outer_tensors dynamic_identity \
        scan_with_capture matmul_chain_64; do
        passes "$models/$model.onnx" --onnxrt --onnxrt --iterations 2 --onnx-outputs mark all --output-memory 0 \
            --validate --save-outputs whole.safetensors
        mask <<<"$output" >whole.log
        passes "$models/$model.onnx" --onnxrt --onnxrt --iterations 2 --onnx-outputs mark all --output-memory 1 \
            --validate --save-outputs grouped.safetensors
        mask <<<"$output" >grouped.log
        sort whole.log >whole.sorted # the runtime's warnings may come elsewhere
        sort grouped.log >grouped.sorted
        diff <(grep -v 'grouped\|whole' whole.sorted) <(grep -v 'grouped\|whole' grouped.sorted)
        diff <(grep -E 'Comparing|Validating|PASSED|FAILED' whole.log) \
            <(grep -E 'Comparing|Validating|PASSED|FAILED' grouped.log)
        passes --load-outputs whole.safetensors grouped.safetensors --atol 0 --rtol 0 --require-all
    done
}

@test "groups are compared with loaded results, whatever their names" {
    passes "$models/reducable.onnx" --onnxrt --onnx-outputs mark all --save-outputs golden.json --save-inputs in.json
    passes "$models/reducable.onnx" --onnxrt --onnx-outputs mark all --load-inputs in.json --output-memory 1 \
        --load-outputs golden.json --require-all
    sed -i 's/"identity_out_/"renamed_identity_out_/' golden.json
    passes "$models/reducable.onnx" --onnxrt --onnx-outputs mark all --load-inputs in.json --output-memory 1 \
        --load-outputs golden.json
    logged 'Assuming that .renamed_identity_out_0. is its counterpart'
}

@test "memory does not grow with the number of tensors" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" chain.onnx 60 0 chain 2000000 # 8 MB each
    whole=$(peak "$POLYGRAPHY" run chain.onnx --onnxrt --onnxrt --onnx-outputs mark all --output-memory 0 -q)
    grouped=$(peak "$POLYGRAPHY" run chain.onnx --onnxrt --onnxrt --onnx-outputs mark all --output-memory 16M -q)
    echo "$whole $grouped"
    [ $((whole)) -gt $((3 * grouped)) ]
}

@test "outputs that no node makes are compared, too" {
    for memory in 0 1G; do
        run polygraphy run "$models/input_and_weight_are_outputs.onnx" --onnxrt --onnxrt --onnx-outputs mark all \
            --output-memory $memory
        [ "$status" -eq 0 ]
        [[ $output == *"All outputs matched | Outputs: ['sum', 'x', 'weight']"* ]]
        run polygraphy run "$models/no_nodes.onnx" --onnxrt --onnxrt --onnx-outputs mark all --output-memory $memory
        [ "$status" -eq 0 ]
        [[ $output == *"All outputs matched | Outputs: ['w']"* ]]
    done
}
