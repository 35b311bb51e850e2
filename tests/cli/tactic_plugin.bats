# tactic_plugin.bats: plug-ins of the built-in engine, as users load and write them.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
header=$POLYGRAPHY_ROOT/include/polygraphy/tactic_plugin.h
export POLYGRAPHY_TRT=builtin

plugin()
{
    echo "$POLYGRAPHY_TEST_PROGRAMS/plugins/$1.so"
}

require_onnxruntime()
{
    polygraphy run "$models/identity.onnx" --onnxrt >/dev/null 2>&1 || skip "ONNX Runtime is not there"
}

@test "the header compiles alone, as C11 and as C++" {
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$header"
    command -v c++ >/dev/null || skip "there is no C++ compiler"
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ "$header"
}

@test "the example computes the convolutions of a model, and the results match" {
    require_onnxruntime
    run polygraphy run "$models/convolutions.onnx" --trt --onnxrt --input-shapes x:[2,3,12,11] --atol 1e-4 -v \
        --plugins "$POLYGRAPHY_TEST_PROGRAMS/../examples/direct_convolution.so" \
        --tactic-sources direct_convolution onnxrt --deterministic
    [ "$status" -eq 0 ]
    grep -q "Layer 'padded': direct_convolution:direct" <<<"$output"
    grep -q "Layer 'pointwise + relu': onnxrt:" <<<"$output" # fused: not for plug-ins
}

@test "an engine with a plug-in's tactic needs the plug-in to run" {
    require_onnxruntime
    local with=(--plugins "$(plugin wrong_on_one_shape)")
    run polygraphy convert "$models/pointwise_convolutions.onnx" -o it.engine "${with[@]}" --deterministic
    [ "$status" -eq 0 ]
    run polygraphy run it.engine --trt "${with[@]}"
    [ "$status" -eq 0 ]
    run --separate-stderr polygraphy run it.engine --trt
    [ "$status" -eq 1 ]
    [[ $stderr == *pointwise* ]]
}

# One line that names the plug-in's path and the fault.
refused_plugin()
{
    run --separate-stderr polygraphy run "$models/identity.onnx" --trt --plugins "$1"
    [ "$status" -eq 1 ]
    [ "$(grep -c '^\[!\]' <<<"$stderr")" -eq 1 ]
    [[ $stderr == *"$1"* ]]
    [[ $stderr == *"$2"* ]]
}

@test "what is no plug-in is refused with one line" {
    require_onnxruntime
    refused_plugin nothing.so 'No such file'
    echo 'not a library' >text.so
    refused_plugin "$PWD/text.so" 'cannot be loaded'
    head -c 1000 "$(plugin misbehaving)" >truncated.so
    refused_plugin "$PWD/truncated.so" 'the file is damaged, or a part of one'
    refused_plugin "$(plugin no_plugin)" 'has no symbol polygraphy_tactic_plugin'
    POLYGRAPHY_TEST_PLUGIN='future version' refused_plugin "$(plugin misbehaving)" 'was made for version 99'
    POLYGRAPHY_TEST_PLUGIN='no run' refused_plugin "$(plugin misbehaving)" 'lacks run()'
}

@test "an unknown tactic source is an error that lists those that there are" {
    require_onnxruntime
    run --separate-stderr polygraphy run "$models/identity.onnx" --trt --tactic-sources nobody
    [ "$status" -eq 1 ]
    [[ $stderr == *"there is no tactic source 'nobody'; there are: onednn, onnxrt"* ]]
}
