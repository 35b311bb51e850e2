# debug_accuracy_precision.bats: which layers need the higher precision, and when it is ordinary rounding.

load debug_helper

bats_require_minimum_version 1.5.0

export POLYGRAPHY_TRT=builtin

make_models()
{
    PYTHONPATH=$POLYGRAPHY_ROOT/examples/faults /usr/bin/python3 -B - <<'END'
import random
from onnx_file import INT64, constant, model, node, tensor
random.seed(11)
left = [random.uniform(-.5, .5) for _ in range(64)]
right = [value + random.uniform(-1, 1) * 1e-4 for value in left]
nodes = [node("MatMul", ["x", "left"], ["a"], "left"), node("MatMul", ["x", "right"], ["b"], "right"),
         node("Sub", ["a", "b"], ["d"], "gap"), node("Mul", ["d", "gain"], ["g"], "gain"),
         node("ArgMax", ["g"], ["label"], "label", axis=1, keepdims=0)]
with open("gap.onnx", "wb") as file:
    file.write(model("gap", nodes, [tensor("x", [64, 8])], [tensor("label", [64], INT64)],
                     [constant("left", [8, 8], left), constant("right", [8, 8], right), constant("gain", [], [3000.])]))
nodes, x = [], "x"
for k in range(4):
    nodes += [node("MatMul", [x, f"w{k}"], [f"h{k}"], f"product{k}"), node("Tanh", [f"h{k}"], [f"a{k}"], f"tanh{k}")]
    x = f"a{k}"
weights = [constant(f"w{k}", [8, 8], [random.uniform(-.5, .5) for _ in range(64)]) for k in range(4)]
with open("chain.onnx", "wb") as file:
    file.write(model("chain", nodes, [tensor("x", [16, 8])], [tensor(x, [16, 8])], weights))
END
}

@test "a cancellation is named however many layers have to stay in float32" {
    make_models
    run --separate-stderr polygraphy debug accuracy gap.onnx --onnxrt --trt --fp16 -o folder --json result.json
    [ "$status" -eq 0 ]
    logged "Cause: cancellation in 'gap' \\(Sub\\): inputs reach .*, the output only "
    run ! grep -q 'norm-tolerance 2' <<<"$output"
    [ "$(python3 -c 'import json; print(json.load(open("result.json"))["cause"]["nodes"])')" = "['gap']" ]
}

@test "ordinary rounding is said of an error that rounding explains, and advice passes" {
    make_models
    run --separate-stderr polygraphy debug accuracy chain.onnx --norm-tolerance 1e-4 --onnxrt --trt --fp16 -o folder
    [ "$status" -eq 0 ]
    logged 'Cause: ordinary rounding of float16: an error of '
    [[ $output =~ 'the model passes with --norm-tolerance '([0-9.e-]+) ]]
    polygraphy run chain.onnx --trt --fp16 --load-inputs folder/inputs.json --load-outputs folder/golden.json --atol 1e-7 \
        --norm-tolerance "${BASH_REMATCH[1]}" --infinities-compare-equal
}

# mul1 and mul2 overflow, each in a branch of its own; no tensor of sums.onnx does, but sums inside of its nodes do.
make_overflows()
{
    export PYTHONPATH=$POLYGRAPHY_ROOT/examples/faults PYTHONDONTWRITEBYTECODE=1
    python3 - <<'END'
from onnx_file import constant, model, node, tensor
nodes = [node("Mul", ["x", "large"], ["a"], "mul1"), node("Mul", ["a", "small"], ["y"], "back1"),
         node("Mul", ["x", "larger"], ["b"], "mul2"), node("Mul", ["b", "small"], ["z"], "back2")]
with open("two.onnx", "wb") as file:
    file.write(model("two", nodes, [tensor("x", [2, 16])], [tensor("y", [2, 16]), tensor("z", [2, 16])],
                     [constant("large", [], [3e5]), constant("larger", [], [4e5]), constant("small", [], [1e-4])]))
nodes = [node("Mul", ["x", "scale"], ["a"], "mul"), node("ReduceMean", ["a"], ["m"], "mean", axes=[1]),
         node("Div", ["a", "m"], ["y"], "div")]
with open("sums.onnx", "wb") as file:
    file.write(model("sums", nodes, [tensor("x", [2, 2048])], [tensor("y", [2, 2048])], [constant("scale", [], [200.0])]))
END
}

@test "independent overflows are listed, each with what it reaches" {
    make_overflows
    run --separate-stderr polygraphy debug accuracy two.onnx --onnxrt --trt --fp16 -o folder
    echo "$output"
    [ "$status" -eq 0 ]
    logged "Cause: float16 overflow in 'mul1' \\(Mul\\): .*; by the values of the reference 1 more overflow begins"
    logged "Evidence: by the values of the reference, an overflow begins in another of these layers, too: float16 overflow in 'mul2' \\(Mul\\)"
}

@test "sums inside of nodes that float16 could not hold are listed as not tested" {
    make_overflows
    run --separate-stderr polygraphy debug accuracy sums.onnx --onnxrt --trt --fp16 -o folder
    echo "$output"
    [ "$status" -eq 0 ]
    logged 'Nothing fails'
    logged "Not tested: an engine that adds up in float16: the sum inside of 'mean' \\(ReduceMean\\) reaches 2[0-9]{5} \\(max 65504\\)"
    run --separate-stderr polygraphy debug accuracy sums.onnx --onnxrt --trt -o folder32
    not_logged 'an engine that adds up'
}

@test "a runner's declared precision is what tolerances are derived from" {
    local half='half=polygraphy run {model} --trt --fp16 --load-inputs {inputs} --save-outputs {outputs}'
    make_models
    run --separate-stderr polygraphy debug accuracy chain.onnx --onnxrt --runner "$half" --runner-precision float16 \
        -o folder --builds 1 --runs 1
    [ "$status" -eq 0 ]
    logged 'Derived: .* the unit roundoff of float16'
    logged 'Nothing fails: '
    run --separate-stderr polygraphy debug accuracy chain.onnx --onnxrt --trt --runner-precision float16
    [ "$status" -eq 1 ]
    [[ $stderr == *'--runner-precision declares the precision of a --runner, but the suspect is --trt'* ]]
}

@test "a precision that no layer of the engine has is listed as not tested" {
    run --separate-stderr polygraphy debug accuracy "$POLYGRAPHY_ROOT/tests/models/all_in_an_if.onnx" --onnxrt --trt --fp16 -o folder
    logged 'Nothing fails'
    logged 'Not tested: float16: no layer of the engine reads or writes it'
    make_models
    run --separate-stderr polygraphy debug accuracy chain.onnx --onnxrt --trt --fp16 -o used
    not_logged 'no layer of the engine'
}

@test "a branch that the data do not take, and a mask that is an infinity in float16, are listed as not tested" {
    PYTHONPATH=$POLYGRAPHY_ROOT/examples/faults python3 -B - <<'END'
from onnx_file import constant, model, node, tensor
nodes = [node("Add", ["x", "mask"], ["masked"], "apply_mask"), node("Softmax", ["masked"], ["y"], "softmax", axis=-1)]
with open("masked.onnx", "wb") as file:
    file.write(model("masked", nodes, [tensor("x", [2, 2])], [tensor("y", [2, 2])],
                     [constant("mask", [2, 2], [0.0, -1e9, 0.0, 0.0])]))
END
    run --separate-stderr polygraphy debug accuracy masked.onnx --onnxrt --trt --fp16 -o folder
    [ "$status" -eq 0 ]
    logged 'Nothing fails'
    logged "Not tested: rows that are masked whole: constant 'mask' of 'apply_mask' \\(Add\\) reaches 1e\\+09, an infinity in float16"
    run --separate-stderr polygraphy debug accuracy masked.onnx --onnxrt --trt -o folder32
    not_logged 'masked whole'
    run --separate-stderr polygraphy debug accuracy "$POLYGRAPHY_ROOT/tests/models/all_in_an_if.onnx" --onnxrt --trt -o bodies
    logged "Not tested: the else branch of '.*' \\(If\\): with these data its condition '.*' is always true. Pass others with --load-inputs"
}
