# surgeon_prune.bats: weights with 2:4 sparsity.

load debug_helper
load surgeon_helper

sparse()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/surgeon_models.py" sparse "$1" | tr '\n' ' '
}

@test "weights get the pattern along the axis that is summed over" {
    make prunable model.onnx
    surgeon prune model.onnx -o out.onnx
    worked
    lines_are <<'END'
[I] RUNNING | Command: polygraphy surgeon prune model.onnx -o out.onnx
[I] Loading model: model.onnx
[I] Found: 6 weight tensor(s) eligible for pruning.
[I] Pruning 6 tensors.
[I] Finished pruning 6 tensors.
[I] Saving ONNX model to: out.onnx
[I] PASSED | Runtime: TIME | Command: polygraphy surgeon prune model.onnx -o out.onnx
END
    [ "$(sparse model.onnx)" = '' ]
    [ "$(sparse out.onnx)" = 'kernel:1 plain:0 transb:1 left:0 transposed:1 quantized:0 ' ]
    diff <(values out.onnx plain) - <<'END'
0 0
0 0
0.625 0.75
0.875 1
0 0
0 0
1.625 1.75
1.875 2
END
    diff <(values out.onnx transb) - <<<$'0 0 0.375 0.5 0 0 0.875 1\n0 0 1.375 1.5 0 0 1.875 2'
    for same in odd_one_out bias scale; do
        diff <(values out.onnx $same 2>&1) <(values model.onnx $same 2>&1)
    done
    valid_models out.onnx
}

@test "what inspect sparsity finds afterwards is sparse" {
    make prunable model.onnx
    surgeon prune model.onnx -o out.onnx
    worked
    run polygraphy inspect sparsity out.onnx
    [ "$status" -eq 0 ]
    [ "$(grep -c 'Found sparse tensor: ' <<<"$output")" -eq 6 ]
    not_logged 'Found non-sparse tensor'
    polygraphy surgeon prune out.onnx -o again.onnx
    cmp out.onnx again.onnx
}

@test "bfloat16 magnitudes are told apart to the last bit" {
    make bfloat16_weight model.onnx
    surgeon prune model.onnx -o out.onnx
    worked
    diff <(values out.onnx w) - <<'END'
0 2
-512 0
0 -1.01562
4 0
END
    valid_models out.onnx
}

@test "of equal magnitudes the first ones go; infinities and NaN stay" {
    make ties model.onnx
    surgeon prune model.onnx -o out.onnx
    worked
    diff <(values out.onnx w) - <<'END'
0 0 1 -1
0 3 0 2
5 0 0 0
inf nan 0 0
END
}

@test "opset imports, functions and metadata survive; the producer is named" {
    make function_and_metadata model.onnx
    surgeon prune model.onnx -o out.onnx
    worked
    diff <(show model.onnx | sed 's/^made by someone 1.5$/made by polygraphy surgeon prune 1.5/') <(show out.onnx)
    diff <(values out.onnx w) - <<<$'0 -8\n0 7\n-3 0\n4 0'
    valid_models out.onnx
}

@test "weights in Constant nodes and in external data are pruned, too" {
    make weights model.onnx
    surgeon prune model.onnx -o out.onnx
    worked
    [ "$(sparse out.onnx)" = 'dense:0 sparse:0 constant:0 ' ]
    surgeon extract model.onnx -o external.onnx --save-external-data
    worked
    cp external.onnx.data before
    surgeon prune external.onnx -o out.onnx
    worked
    [ "$(sparse out.onnx)" = 'dense:0 sparse:0 constant:0 ' ]
    cmp before external.onnx.data
    surgeon prune external.onnx -o out2.onnx --save-external-data
    worked
    [ "$(show out2.onnx | grep -c 'external$')" -ge 3 ]
    [ "$(sparse out2.onnx)" = 'dense:0 sparse:0 constant:0 ' ]
    valid_models out.onnx out2.onnx
}

@test "weights that become float16 on the way are pruned as float16" {
    make weights model.onnx
    surgeon prune model.onnx -o out.onnx --fp-to-fp16
    worked
    holds out.onnx 'constant' <<'END'
constant dense float16[64, 64]
constant sparse float16[64, 64]
constant scale float16[64]
constant indices int64[256]
constant bias float16[1, 1]
constant constant float16[64, 64]
END
    [ "$(sparse out.onnx)" = 'dense:0 sparse:0 constant:0 ' ]
    valid_models out.onnx
}

@test "a model without weights is saved as it is" {
    surgeon prune "$models/reducable.onnx" -o out.onnx
    worked
    logged '^\[I\] Found: 0 weight tensor\(s\) eligible for pruning\.$'
    diff <(show "$models/reducable.onnx" | grep -v '^made') <(show out.onnx | grep -v '^made')
}

@test "external data that are not there are an error, and nothing is written" {
    make weights model.onnx
    polygraphy surgeon extract model.onnx -o external.onnx --save-external-data
    rm external.onnx.data
    surgeon prune external.onnx -o out.onnx
    refused_without 'cannot find external data' out.onnx
    truncate -s 100 external.onnx.data
    surgeon prune external.onnx -o out.onnx
    refused_without 'beyond the end of' out.onnx
}
