# cross_build.bats: a program for another machine writes what this machine's writes, byte for byte. POLYGRAPHY_CROSS names it:
#
#   scripts/setup.sh aarch64 && make CROSS=aarch64-linux-gnu all build-aarch64/emulated/polygraphy
#   make POLYGRAPHY_CROSS=$PWD/build-aarch64/emulated/polygraphy ONLY=cli/cross_build check

load debug_helper

setup_file()
{
    [ -n "${POLYGRAPHY_CROSS:-}" ] || { skip_file "POLYGRAPHY_CROSS names no program for another machine" && return; }
}

# both WORD...: the same command in the folders `here` and `there`, each with its program.
both()
{
    mkdir -p here there
    (cd here && "$POLYGRAPHY" "$@")
    (cd there && "$POLYGRAPHY_CROSS" "$@")
}

@test "a reduction gives the same model, whatever the machine" {
    both debug reduce "$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" -o reduced.onnx --mode bisect --min-good good.onnx \
        --check sh -c '! grep -q Softmax polygraphy_debug.onnx'
    [ -s here/reduced.onnx ]
    diff -r here there
}

@test "a conversion to float16 gives the same model, whatever the machine" {
    both convert "$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" -o half.onnx --fp-to-fp16
    [ -s here/half.onnx ]
    diff -r here there
}

@test "input data are made up in the same way, whatever the machine" {
    both run "$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" --onnxrt --save-inputs inputs.json
    [ -s here/inputs.json ]
    diff -r here there
}
