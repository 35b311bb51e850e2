# tactic_plugin.bats: plug-ins of the built-in engine, as users load and write them.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
header=$POLYGRAPHY_ROOT/include/polygraphy/tactic_plugin.h
export POLYGRAPHY_TRT=builtin

plugin()
{
    echo "$POLYGRAPHY_TEST_PROGRAMS/plugins/$1.so"
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
    grep -q "Layer 'pointwise + relu': direct_convolution:direct (" <<<"$output" # it knows what is fused
}

# Pointwise convolutions, each with something else behind it that is fused with it.
make_fused_model()
{
    /usr/bin/python3 - <<'END'
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
random = numpy.random.RandomState(1)
nodes, weights, value = [], [], "x"
def constant(name, values):
    weights.append(numpy_helper.from_array(numpy.asarray(values, numpy.float32), name))
    return name
def node(op, inputs, output, **attributes):
    nodes.append(helper.make_node(op, inputs, [output], output, **attributes))
    return output
def activation(op, **attributes):
    return lambda c, i: node(op, [c], f"a{i}", **attributes)
forms = [activation("Relu"), activation("LeakyRelu", alpha=0.2), activation("Sigmoid"), activation("Tanh"),
         activation("Elu", alpha=0.7), activation("HardSwish"),
         lambda c, i: node("Clip", [c, constant(f"low{i}", -0.5), constant(f"high{i}", 0.5)], f"a{i}"),
         lambda c, i: node("Mul", [c, node("Sigmoid", [c], f"s{i}")], f"a{i}"),
         lambda c, i: node("Mul", [node("Mul", [c, node("Add", [node("Erf", [node("Div", [c, constant(f"r{i}", 2 ** 0.5)],
                           f"d{i}")], f"e{i}"), constant(f"one{i}", 1)], f"p{i}")], f"m{i}"), constant(f"h{i}", 0.5)], f"a{i}"),
         lambda c, i: node("Relu", [node("Add", [c, f"a{i - 1}"], f"sum{i}")], f"a{i}"),
         lambda c, i: node("Tanh", [node("Add", [c, constant(f"b{i}", random.rand(1, 4, 1, 1))], f"sum{i}")], f"a{i}")]
for i, form in enumerate(forms):
    value = form(node("Conv", [value, constant(f"w{i}", random.rand(4, 4, 1, 1) - 0.4)], f"c{i}"), i)
shape = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4, 3, 5])
graph = helper.make_graph(nodes, "fused", [shape("x")], [shape(value)], weights)
onnx.save(onnx.shape_inference.infer_shapes(
    helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)), "fused.onnx")
END
}

@test "a plug-in that computes single nodes gets those of fused layers, and the rest is done behind them" {
    require_onnxruntime
    make_fused_model
    run polygraphy run fused.onnx --trt --onnxrt --val-range [-2,2] --atol 1e-5 --rtol 1e-5 -v --plugins "$(plugin wrong_on_one_shape)" \
        --tactic-sources pointwise onnxrt --deterministic --save-tactics replay.json
    [ "$status" -eq 0 ]
    [ "$(grep -c "Layer 'c.* + .*': pointwise:careful + rest" <<<"$output")" -eq 11 ]
    grep -q 'Built 11 layers: 11 float32; 11 with pointwise' <<<"$output"
    run polygraphy convert fused.onnx -o fused.engine --plugins "$(plugin wrong_on_one_shape)" --load-tactics replay.json
    [ "$status" -eq 0 ]
    polygraphy run fused.onnx --onnxrt --val-range [-2,2] --save-inputs in.json --save-outputs golden.json
    run polygraphy run fused.engine --trt --plugins "$(plugin wrong_on_one_shape)" --load-inputs in.json \
        --load-outputs golden.json --atol 1e-5 --rtol 1e-5
    [ "$status" -eq 0 ]
}

@test "a plug-in that was passed over is named, and why" {
    require_onnxruntime
    run polygraphy run "$models/all_in_an_if.onnx" --trt --val-range rate:[8,8] --plugins "$(plugin wrong_on_one_shape)"
    [ "$status" -eq 0 ]
    grep -q "^\[I\] Tactic source 'pointwise' has tactics for 0 of 2 layers, and none was taken; 1 were not shown to it: 'choice' has a body$" <<<"$output"
    run polygraphy run "$models/pointwise_convolutions.onnx" --trt --plugins "$(plugin wrong_on_one_shape)" --deterministic
    [ "$status" -eq 0 ]
    [[ $output != *"Tactic source"* ]]
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

@test "--exclude-tactics keeps a kernel out of all layers, and an engine that has it is refused" {
    require_onnxruntime
    local with=(--plugins "$(plugin wrong_on_one_shape)" --tactic-sources pointwise onnxrt --deterministic)
    polygraphy convert "$models/pointwise_convolutions.onnx" -o it.engine "${with[@]}" --save-tactics replay.json
    grep -q '"name": "pointwise:careful' replay.json
    polygraphy convert "$models/pointwise_convolutions.onnx" -o other.engine "${with[@]}" --load-tactics replay.json \
        --exclude-tactics pointwise:careful -v >log.txt
    run ! grep -q "^.V. Layer .*: pointwise:careful" log.txt
    grep -q "^.V. Layer .*: pointwise:hasty" log.txt
    grep -q 'layers have another tactic than in the replay' log.txt
    run --separate-stderr polygraphy run it.engine --trt --exclude-tactics pointwise:careful
    [ "$status" -eq 1 ]
    [[ $stderr == *"/it.engine', which is already an engine"* ]]
    run --separate-stderr polygraphy convert "$models/pointwise_convolutions.onnx" -o no.engine "${with[@]}" \
        --exclude-tactics 'pointwise:*' 'onnxrt'
    [ "$status" -eq 1 ]
    [[ $stderr == *"--exclude-tactics leaves no tactic"* ]]
    [ ! -e no.engine ]
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
    POLYGRAPHY_TEST_PLUGIN='future version' refused_plugin "$(plugin misbehaving)" 'uses version 99'
    POLYGRAPHY_TEST_PLUGIN='no run' refused_plugin "$(plugin misbehaving)" 'lacks run()'
}

@test "an unknown tactic source is an error that lists those that there are" {
    require_onnxruntime
    run --separate-stderr polygraphy run "$models/identity.onnx" --trt --tactic-sources nobody
    [ "$status" -eq 1 ]
    [[ $stderr == *"unknown tactic source 'nobody'; available: onednn, onnxrt"* ]]
}
