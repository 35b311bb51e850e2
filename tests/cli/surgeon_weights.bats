# surgeon_weights.bats: models without the values of their weights, and with other values in their place.

load debug_helper
load surgeon_helper

sparse()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/surgeon_models.py" sparse "$1" | tr '\n' ' '
}

@test "weights lose their values and keep everything else" {
    make weights model.onnx
    surgeon weight-strip model.onnx -o stripped.onnx
    worked
    lines_are <<'END'
[I] RUNNING | Command: polygraphy surgeon weight-strip model.onnx -o stripped.onnx
[I] Loading model: model.onnx
[I] Beginning weight stripping...
[W] The model is expected to be constant folded to successfully capture all weights eligible for stripping
[I] Querying Sparse Initializers in the model
[W] 1 floating-point tensor(s) keep their values: 1 are inputs of other operators, small, or listed, and 0 are in bodies, attributes and functions
[I] Finished stripping 3 weights (49152 bytes; 1 with 2:4 sparsity)
[I] Saving ONNX model to: stripped.onnx
[I] PASSED | Runtime: TIME | Command: polygraphy surgeon weight-strip model.onnx -o stripped.onnx
END
    holds stripped.onnx 'constant|about' <<'END'
about TRT_WEIGHTLESS
constant dense float[64, 64] 'TRT_WEIGHTLESS/'
constant sparse float[64, 64] 'TRT_WEIGHTLESS/SPARSE_2_4'
constant scale float[64]
constant indices int64[256]
constant bias float[1, 1]
constant constant float[64, 64] 'TRT_WEIGHTLESS/'
END
    [ "$(stat -c %s stripped.onnx)" -lt 4000 ]
    diff <(show model.onnx | grep -vE '^constant|^node constant:') <(show stripped.onnx | grep -vE '^(constant|about)')
}

@test "Constant nodes that are no weights stay nodes, also when weights are pruned" {
    for tool in weight-strip prune; do
        surgeon "$tool" "$models/constants_of_every_form.onnx" -o out.onnx
        worked
        diff <(show "$models/constants_of_every_form.onnx" | grep -E '^(node|constant) ') <(show out.onnx | grep -E '^(node|constant) ')
        valid_models out.onnx
    done
}

@test "weights inside of bodies keep their values, and it is said how many do" {
    surgeon weight-strip "$models/half_and_bodies.onnx" -o stripped.onnx
    worked
    logged '^\[W\] 2 floating-point tensor\(s\) keep their values: 0 are .*, and 2 are in bodies, attributes and functions$'
}

@test "what is multiplied by is a weight of any size, tables are from 1024 elements on" {
    make weights_of_every_user model.onnx
    surgeon weight-strip model.onnx -o stripped.onnx
    worked
    [ "$(show stripped.onnx | sed -nE "s/^constant ([^ ]+) .*'TRT_WEIGHTLESS\/.*'$/\1/p" | tr '\n' ' ')" = \
        'kernel kernel_bias up gemm gemm_bias quantized int8 table many long large ' ]
    polygraphy surgeon weight-reconstruct stripped.onnx -o proxy.onnx
    diff <(values proxy.onnx many | sort -u) <(printf '%s\n' -1 0)
}

@test "reconstructed weights have the type, shape and pattern of the original, and run" {
    make weights model.onnx
    polygraphy surgeon weight-strip model.onnx -o stripped.onnx
    surgeon weight-reconstruct stripped.onnx -o proxy.onnx
    worked
    lines_are <<'END'
[I] RUNNING | Command: polygraphy surgeon weight-reconstruct stripped.onnx -o proxy.onnx
[I] Loading model: stripped.onnx
[I] Beginning weight reconstruction...
[I] Finished reconstructing 3 weights
[I] Saving ONNX model to: proxy.onnx
[I] PASSED | Runtime: TIME | Command: polygraphy surgeon weight-reconstruct stripped.onnx -o proxy.onnx
END
    diff <(show stripped.onnx) <(show proxy.onnx)
    [ "$(sparse proxy.onnx)" = 'sparse:0 ' ]
    valid_models proxy.onnx
    run --separate-stderr polygraphy run proxy.onnx --onnxrt --validate
    worked
    run ! cmp -s <(values model.onnx dense) <(values proxy.onnx dense)
}

@test "models that Polygraphy or an older version has stripped are reconstructed, with the pattern that they had" {
    for kind in elsewhere by_an_older_version; do
        make "stripped_$kind" stripped.onnx
        surgeon weight-reconstruct stripped.onnx -o proxy.onnx
        worked
        logged '^\[I\] Finished reconstructing 2 weights$'
        holds proxy.onnx 'about|constant' < <(show stripped.onnx | grep -E '^(about|constant) ')
        [ "$(sparse proxy.onnx)" = 'sparse:0 ' ]
        valid_models proxy.onnx
        run --separate-stderr polygraphy run proxy.onnx --onnxrt --validate
        worked
        rm proxy.onnx
    done
}

@test "a mark that nobody here knows is an error" {
    make stripped_in_an_unknown_way stripped.onnx
    surgeon weight-reconstruct stripped.onnx -o proxy.onnx
    refused_without "weight 'dense' has no values, and its mark 'TRT_WEIGHTLESS/SPARSE_1_8' is unknown" \
        proxy.onnx
}

@test "every reconstruction gives the same model" {
    make weights model.onnx
    polygraphy surgeon weight-strip model.onnx -o stripped.onnx
    polygraphy surgeon weight-reconstruct stripped.onnx -o a.onnx
    polygraphy surgeon weight-reconstruct stripped.onnx -o b.onnx
    cmp a.onnx b.onnx
    polygraphy surgeon weight-strip a.onnx -o c.onnx
    cmp c.onnx stripped.onnx
}

@test "weights on the list stay" {
    make weights model.onnx
    printf 'dense\r\n\nnothing\nconstant' >keep.txt
    surgeon weight-strip model.onnx -o stripped.onnx --exclude-list keep.txt
    worked
    logged "^\[W\] The following weights provided by the user to skip stripping were not found in the model: {'nothing'}.$"
    logged '^\[I\] Finished stripping 1 weights \(16384 bytes; 1 with 2:4 sparsity\)$'
    cmp <(values model.onnx dense) <(values stripped.onnx dense)
    surgeon weight-strip model.onnx -o none.onnx --exclude-list missing.txt
    refused_without "--exclude-list: " none.onnx
}

@test "external data are stripped like any other" {
    make weights model.onnx
    polygraphy surgeon extract model.onnx -o external.onnx --save-external-data
    surgeon weight-strip external.onnx -o elsewhere/stripped.onnx
    worked
    logged 'Finished stripping 3 weights \(49152 bytes; 1 with 2:4 sparsity\)$'
    polygraphy surgeon weight-strip model.onnx -o direct.onnx
    diff <(show direct.onnx | grep "'TRT_WEIGHTLESS") <(show elsewhere/stripped.onnx | grep "'TRT_WEIGHTLESS")
}

@test "weights without data are not stripped twice" {
    make weights model.onnx
    polygraphy surgeon weight-strip model.onnx -o stripped.onnx
    surgeon weight-strip stripped.onnx -o again.onnx
    worked
    logged 'Finished stripping 0 weights'
    cmp stripped.onnx again.onnx
}

@test "a stripped model can be looked at and cut, but does not run" {
    make weights model.onnx
    polygraphy surgeon weight-strip model.onnx -o stripped.onnx
    run --separate-stderr polygraphy inspect model stripped.onnx
    worked
    surgeon extract stripped.onnx -o part.onnx --inputs a:auto:auto --outputs b:auto
    worked
    holds part.onnx 'constant' <<<"constant sparse float[64, 64] 'TRT_WEIGHTLESS/SPARSE_2_4'"
    polygraphy surgeon weight-reconstruct part.onnx -o proxy.onnx
    valid_models proxy.onnx
    run --separate-stderr polygraphy run stripped.onnx --onnxrt
    [ "$status" -eq 1 ]
}

@test "a model without stripped weights is saved as it is" {
    surgeon weight-reconstruct "$models/reducable.onnx" -o out.onnx
    worked
    logged '^\[W\] The model has no stripped weights: it is saved unchanged$'
    diff <(show "$models/reducable.onnx") <(show out.onnx)
}

@test "proxies go into external data when that is asked for" {
    make weights model.onnx
    polygraphy surgeon weight-strip model.onnx -o stripped.onnx
    surgeon weight-reconstruct stripped.onnx -o proxy.onnx --save-external-data proxy.weights \
        --external-data-size-threshold 4K
    worked
    [ "$(show proxy.onnx | grep -c ' external')" -eq 3 ]
    valid_models proxy.onnx
    polygraphy surgeon weight-reconstruct stripped.onnx -o inside.onnx
    cmp <(values inside.onnx dense) <(values proxy.onnx dense)
}
