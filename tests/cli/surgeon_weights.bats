# surgeon_weights.bats: models without the values of their weights, and with other values in their place.

load debug_helper
load surgeon_helper

sparse()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/surgeon_models.py" sparse "$1" | tr '\n' ' '
}

@test "large weights lose their values and keep everything else" {
    make weights model.onnx
    surgeon weight-strip model.onnx -o stripped.onnx
    worked
    lines_are <<'END'
[I] Loading model: model.onnx
[I] Stripped 3 weight tensor(s) of 49152 bytes; 1 with 2:4 sparsity
[I] Saving ONNX model to: stripped.onnx
END
    holds stripped.onnx 'constant' <<'END'
constant dense float[64, 64] 'polygraphy:stripped'
constant sparse float[64, 64] 'polygraphy:stripped 2:4:0'
constant scale float[64]
constant indices int64[256]
constant bias float[1, 1]
constant constant float[64, 64] 'polygraphy:stripped'
END
    [ "$(stat -c %s stripped.onnx)" -lt 4000 ]
    diff <(show model.onnx | grep -vE '^constant|^node constant:') <(show stripped.onnx | grep -v '^constant')
}

@test "reconstructed weights have the type, shape and pattern of the original, and run" {
    make weights model.onnx
    polygraphy surgeon weight-strip model.onnx -o stripped.onnx
    surgeon weight-reconstruct stripped.onnx -o proxy.onnx
    worked
    lines_are <<'END'
[I] Loading model: stripped.onnx
[I] Reconstructed 3 weight tensor(s)
[I] Saving ONNX model to: proxy.onnx
END
    diff <(show stripped.onnx | sed "s/ 'polygraphy:stripped.*//") <(show proxy.onnx)
    [ "$(sparse proxy.onnx)" = 'sparse:0 ' ]
    valid_models proxy.onnx
    run --separate-stderr polygraphy run proxy.onnx --onnxrt --validate
    worked
    ! cmp -s <(values model.onnx dense) <(values proxy.onnx dense)
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
    logged "^\[W\] --exclude-list: the model has no weight 'nothing'$"
    logged '^\[I\] Stripped 1 weight tensor\(s\) of 16384 bytes; 1 with 2:4 sparsity$'
    cmp <(values model.onnx dense) <(values stripped.onnx dense)
    surgeon weight-strip model.onnx -o none.onnx --exclude-list missing.txt
    refused_without "--exclude-list: " none.onnx
}

@test "external data are stripped like any other" {
    make weights model.onnx
    polygraphy surgeon extract model.onnx -o external.onnx --save-external-data
    surgeon weight-strip external.onnx -o elsewhere/stripped.onnx
    worked
    logged 'Stripped 3 weight tensor\(s\) of 49152 bytes; 1 with 2:4 sparsity$'
    polygraphy surgeon weight-strip model.onnx -o direct.onnx
    diff <(show direct.onnx | grep "'polygraphy") <(show elsewhere/stripped.onnx | grep "'polygraphy")
}

@test "weights without data are not stripped twice" {
    make weights model.onnx
    polygraphy surgeon weight-strip model.onnx -o stripped.onnx
    surgeon weight-strip stripped.onnx -o again.onnx
    worked
    logged 'Stripped 0 weight tensor\(s\)'
    cmp stripped.onnx again.onnx
}

@test "a stripped model can be looked at and cut, but does not run" {
    make weights model.onnx
    polygraphy surgeon weight-strip model.onnx -o stripped.onnx
    run --separate-stderr polygraphy inspect model stripped.onnx
    worked
    surgeon extract stripped.onnx -o part.onnx --inputs a:auto:auto --outputs b:auto
    worked
    holds part.onnx 'constant' <<<"constant sparse float[64, 64] 'polygraphy:stripped 2:4:0'"
    polygraphy surgeon weight-reconstruct part.onnx -o proxy.onnx
    valid_models proxy.onnx
    run --separate-stderr polygraphy run stripped.onnx --onnxrt
    [ "$status" -eq 1 ]
}

@test "a model without stripped weights is saved as it is" {
    surgeon weight-reconstruct "$models/reducable.onnx" -o out.onnx
    worked
    logged '^\[W\] The model has no stripped weights: it is saved as it is$'
    diff <(show "$models/reducable.onnx") <(show out.onnx)
}

@test "proxies go into external data when that is asked for" {
    make weights model.onnx
    polygraphy surgeon weight-strip model.onnx -o stripped.onnx
    surgeon weight-reconstruct stripped.onnx -o proxy.onnx --save-external-data proxy.weights \
        --external-data-size-threshold 4K
    worked
    [ "$(show proxy.onnx | grep -c 'external$')" -eq 3 ]
    valid_models proxy.onnx
    polygraphy surgeon weight-reconstruct stripped.onnx -o inside.onnx
    cmp <(values inside.onnx dense) <(values proxy.onnx dense)
}
