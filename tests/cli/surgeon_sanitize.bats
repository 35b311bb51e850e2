# surgeon_sanitize.bats: folding constants, shapes, order and cleanliness, upper bounds.

load debug_helper
load surgeon_helper

models=$POLYGRAPHY_ROOT/tests/models

sanitize()
{
    run --separate-stderr polygraphy surgeon sanitize "$@"
    [ "$status" -eq 0 ] && [ -z "$stderr" ] || {
        echo "status $status; $stderr"
        echo "$output"
        return 1
    }
}

# The operators of a model's nodes in their order, bodies left out.
operators()
{
    polygraphy inspect model "$1" --show layers |
        sed -nE 's/^ {0,8}(\[I\] )? *Node [0-9]+ .*\[Op: (\w+)\].*/\2/p' | tr '\n' ' '
}

# The operators of all nodes, sorted, with those in bodies and functions.
all_operators()
{
    polygraphy inspect model "$1" --show layers attrs | sed -nE 's/.*Node [0-9]+ .*\[Op: (\w+)\].*/\1/p' | sort | tr '\n' ' '
}

# Whether both models give the same outputs for the same inputs, and the onnx package finds the second one valid.
same_outputs()
{
    local before=$1 after=$2 status=0
    shift 2
    polygraphy run "$before" --onnxrt --iterations 3 --save-outputs expected.json "$@" >/dev/null &&
        polygraphy run "$after" --onnxrt --iterations 3 --load-outputs expected.json --rtol 1e-6 --atol 0 "$@" || return
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/support/check_model.py" "$after" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ]
}

# Folding a second time takes one pass, and changes neither nodes nor constants.
is_settled()
{
    sanitize "$1" -o again.onnx --fold-constants
    logged 'Pass 1'
    not_logged 'Pass 2'
    [ "$(operators "$1")" = "$(operators again.onnx)" ]
}

@test "constants are folded, random numbers and quantisation are not" {
    sanitize "$models/foldable.onnx" -o folded.onnx --fold-constants
    logged '^\[I\] Folding Constants \| Pass 1$'
    logged '^\[I\]     Total Nodes \| Original:    11, After Folding:     7 \|     4 Nodes Folded$'
    logged '^\[I\]     Total Nodes \| Original:     7, After Folding:     7 \|     0 Nodes Folded$'
    [ "$(operators folded.onnx)" = 'Mul Reshape RandomUniform Mul QuantizeLinear DequantizeLinear Add ' ]
    same_outputs "$models/foldable.onnx" folded.onnx
    is_settled folded.onnx
}

@test "known dimensions of a dynamic shape are folded, and arithmetic on the others needs no casts" {
    sanitize "$models/dynamic_shapes.onnx" -o folded.onnx --fold-constants
    [ "$(operators folded.onnx)" = 'Shape Gather Mul Concat Reshape ' ]
    same_outputs "$models/dynamic_shapes.onnx" folded.onnx --input-shapes x:[3,2,4]
    is_settled folded.onnx
}

@test "the model is shown before and after, as Polygraphy does" {
    sanitize "$models/foldable.onnx" -o folded.onnx --fold-constants
    diff <(grep -E '^(\[I\] )?(.* Model:|    ---- .*|Saving .*)$' <<<"$output") - <<'END'
[I] Original Model:
    ---- 1 Graph Input(s) ----
    ---- 2 Graph Output(s) ----
    ---- 4 Initializer(s) ----
    ---- 11 Node(s) ----
[I] Saving ONNX model to: folded.onnx
[I] New Model:
    ---- 1 Graph Input(s) ----
    ---- 2 Graph Output(s) ----
    ---- 6 Initializer(s) ----
    ---- 7 Node(s) ----
END
}

@test "with -v it is said how shapes are inferred" {
    sanitize "$models/foldable.onnx" -o same.onnx
    not_logged 'inference'
    sanitize "$models/foldable.onnx" -o same.onnx -v
    logged '^\[V\] Inferred shapes in the model with `onnxruntime`\.$'
    logged '^\[V\] Shape inference completed successfully$'
    sanitize "$models/foldable.onnx" -o same.onnx -v --no-shape-inference
    not_logged 'Inferred shapes'
}

@test "nothing is inferred, and nothing goes wrong, where there are no nodes" {
    /usr/bin/python3 - <<'END'
import onnx
from onnx import helper, numpy_helper, TensorProto
import numpy
graph = helper.make_graph([], "graph", [], [helper.make_tensor_value_info("w", TensorProto.FLOAT, [2])],
                          [numpy_helper.from_array(numpy.ones(2, numpy.float32), "w")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "no_nodes.onnx")
END
    sanitize no_nodes.onnx -o same.onnx --fold-constants
    not_logged '^\[W\]'
    logged 'Total Nodes \| Original:     0, After Folding:     0 \|     0 Nodes Folded$'
}

@test "--no-fold-shapes leaves shapes alone" {
    sanitize "$models/dynamic_shapes.onnx" -o folded.onnx --fold-constants --no-fold-shapes
    [ "$(operators folded.onnx)" = "$(operators "$models/dynamic_shapes.onnx")" ]
}

@test "an overridden shape makes everything that follows from it constant" {
    sanitize "$models/dynamic_shapes.onnx" -o folded.onnx --fold-constants --override-input-shapes x:[3,2,4]
    [ "$(operators folded.onnx)" = 'Reshape ' ]
    same_outputs "$models/dynamic_shapes.onnx" folded.onnx --input-shapes x:[3,2,4]
}

@test "--force-fallback-shape-inference takes shapes from a run" {
    sanitize "$models/dynamic_shapes.onnx" -o folded.onnx --fold-constants --force-fallback-shape-inference
    [ "$(operators folded.onnx)" = 'Reshape ' ]
}

@test "the branch that is taken replaces an If" {
    sanitize "$models/decided_branch.onnx" -o folded.onnx --fold-constants
    [ "$(operators folded.onnx)" = 'Mul If Identity Add Add ' ]
    for flag in 0 1; do
        same_outputs "$models/decided_branch.onnx" folded.onnx --seed $flag
    done
    is_settled folded.onnx
}

# Whether both models give the same bits, in ONNX Runtime and in the built-in engine, for both values of `flag`.
same_bits()
{
    local flag
    for flag in 0 1; do
        polygraphy run "$1" --onnxrt --trt --deterministic --val-range "flag:[$flag,$flag]" x:[-2,2] --save-outputs expected.json
        polygraphy run "$2" --onnxrt --trt --deterministic --val-range "flag:[$flag,$flag]" x:[-2,2] --load-outputs expected.json \
            --atol 0 --rtol 0 || return
    done
    same_outputs "$1" "$2"
}

@test "constants in bodies are folded, and branches in them decided" {
    sanitize "$models/constants_in_bodies.onnx" -o folded.onnx --fold-constants --json result.json
    logged '^\[I\]     Total Nodes \| Original:    21, After Folding:    10 \|    11 Nodes Folded$'
    logged '^\[I\]     Total Nodes \| Original:    10, After Folding:     9 \|     1 Nodes Folded$'
    same_bits "$models/constants_in_bodies.onnx" folded.onnx
    is_settled folded.onnx
    [ "$(all_operators folded.onnx)" = 'Add Add Add Div Identity If Loop Mul Scan ' ]
    /usr/bin/python3 - <<'END'
import json
folding = json.load(open("result.json"))["folding"]
assert folding["branches"] == 1 and folding["constants"] == 0 and folding["refused"] == 0, folding
END
}

@test "without ONNX Runtime's shapes, and in passes, bodies are folded as far as can be" {
    sanitize "$models/constants_in_bodies.onnx" -o folded.onnx --fold-constants --no-shape-inference --no-fold-shapes
    same_bits "$models/constants_in_bodies.onnx" folded.onnx
    [[ "$(all_operators folded.onnx)" == *' Neg '* ]] # of the branch that is not decided
    sanitize "$models/constants_in_bodies.onnx" -o folded.onnx --fold-constants --num-passes 1
    logged 'After Folding:    10 \|'
    same_bits "$models/constants_in_bodies.onnx" folded.onnx
}

@test "constants in functions are folded, but not what a caller gives" {
    sanitize "$models/constants_in_functions.onnx" -o folded.onnx --fold-constants
    [ "$(all_operators folded.onnx)" = 'Add Cast Constant Constant Mul Scaled ' ]
    same_outputs "$models/constants_in_functions.onnx" folded.onnx
    is_settled folded.onnx
}

@test "in a body, a name means the innermost tensor that has it" {
    /usr/bin/python3 - <<'END'
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
def tensor(name, shape=(2,), type=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, type, shape)
def constant(name, values):
    return numpy_helper.from_array(numpy.array(values, numpy.float32), name)
def branch(name, *constants):
    return helper.make_graph([helper.make_node("Neg", ["k"], [name + "_k"]), helper.make_node("Add", ["x", name + "_k"], [name])],
                             name, [], [tensor(name)], constants)
node = helper.make_node("If", ["flag"], ["y"], then_branch=branch("own", constant("k", [1, 2])), else_branch=branch("outer"))
graph = helper.make_graph([node], "g", [tensor("flag", [], TensorProto.BOOL), tensor("x")], [tensor("y")], [constant("k", [30, 40])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "hidden.onnx")
END
    sanitize hidden.onnx -o folded.onnx --fold-constants
    polygraphy inspect model folded.onnx --show layers attrs weights >layers
    [ "$(grep -cE '\[-1\.? -2\.?\]' layers)" -eq 1 ]
    [ "$(grep -cE '\[-30\.? -40\.?\]' layers)" -eq 1 ]
    run ! grep -q 'Op: Neg' layers
}

@test "a format in which constants of a body are no inputs has them as nodes" {
    /usr/bin/python3 - "$models/constants_in_bodies.onnx" <<'END'
import sys
import onnx
from onnx import TensorProto, helper
model = onnx.load(sys.argv[1])
model.ir_version = 3
for constant in model.graph.initializer:
    model.graph.input.append(helper.make_tensor_value_info(constant.name, constant.data_type, constant.dims))
then = next(attribute.g for attribute in model.graph.node[0].attribute if attribute.name == "then_branch")
then.node.insert(0, helper.make_node("Constant", [], ["own"], value=then.initializer[0]))
del then.initializer[:]
onnx.save(model, "old.onnx")
END
    sanitize old.onnx -o folded.onnx --fold-constants
    same_outputs old.onnx folded.onnx
    /usr/bin/python3 -c '
import onnx
for attribute in onnx.load("folded.onnx").graph.node[0].attribute:
    assert not attribute.g.initializer and "Constant" in [n.op_type for n in attribute.g.node] or attribute.name == "else_branch"'
}

@test "a large constant of a body stays to be computed" {
    /usr/bin/python3 - <<'END'
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
def branch(name, op):
    return helper.make_graph(
        [helper.make_node("ConstantOfShape", ["size"], [name + "_large"]), helper.make_node("ReduceSum", [name + "_large"], [name + "_sum"]),
         helper.make_node(op, ["x", name + "_large"], [name + "_t"]), helper.make_node("Add", [name + "_t", name + "_sum"], [name])],
        name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1000])])
node = helper.make_node("If", ["flag"], ["y"], then_branch=branch("a", "Add"), else_branch=branch("b", "Sub"))
graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("flag", TensorProto.BOOL, []), helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1000])], [numpy_helper.from_array(numpy.array([1000]), "size")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "large.onnx")
END
    for shapes in --no-shape-inference --toposort; do
        sanitize large.onnx -o folded.onnx --fold-constants --fold-size-threshold 1K $shapes
        [ "$(all_operators folded.onnx)" = 'Add Add Add ConstantOfShape ConstantOfShape If Sub ' ]
        same_bits large.onnx folded.onnx
    done
}

@test "a constant that cannot be computed ends folding, or is left out" {
    sanitize "$models/one_constant_fails.onnx" -o whole.onnx --fold-constants
    logged "^\[W\]     Constant folding pass failed, and is the last one: .*'g2'.*"
    not_logged 'Pass 2'
    [ "$(operators whole.onnx)" = "$(operators "$models/one_constant_fails.onnx")" ]

    sanitize "$models/one_constant_fails.onnx" -o halves.onnx --fold-constants --partitioning basic
    [ "$(operators halves.onnx)" = 'Add Add Neg Squeeze Gather Add Neg Squeeze Gather Add ' ]

    sanitize "$models/one_constant_fails.onnx" -o nodes.onnx --fold-constants --partitioning recursive
    logged "^\[W\]     Constant folding: cannot compute 'g2', which stays as it is: "
    [ "$(operators nodes.onnx)" = 'Add Add Gather Add Add ' ]
}

@test "what cannot be computed among thousands of constants costs no other" {
    /usr/bin/python3 - <<'EOF'
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
nodes, before = [], "x"
for i in range(2000): # c -> gathered -> negated -> sum with the one before; three indices are out of bounds
    index = "outside" if i in (7, 900, 1999) else "inside"
    nodes += [helper.make_node("Gather", ["c", index], [f"g{i}"], f"gather{i}"),
              helper.make_node("Neg", [f"g{i}"], [f"n{i}"], f"neg{i}"),
              helper.make_node("Add", [before, f"n{i}"], [f"s{i}"], f"add{i}")]
    before = f"s{i}"
constants = [numpy_helper.from_array(numpy.arange(3, dtype=numpy.float32), "c"),
             numpy_helper.from_array(numpy.array([1]), "inside"), numpy_helper.from_array(numpy.array([9]), "outside")]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
                          [helper.make_tensor_value_info("s1999", TensorProto.FLOAT, [1])], constants)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "many.onnx")
EOF
    sanitize many.onnx -o folded.onnx --fold-constants --partitioning recursive
    logged '^\[I\]     Total Nodes \| Original:  6000, After Folding:  2006 \|  3994 Nodes Folded$'
    [ "$(grep -c "^\[W\]     Constant folding: cannot compute 'gather\(7\|900\|1999\)', which stays" <<<"$output")" -eq 3 ]
    sanitize many.onnx -o same.onnx --fold-constants
    logged "^\[W\]     Constant folding pass failed, and is the last one: .*'gather7'"
    logged '^\[I\]     Total Nodes \| Original:  6000, After Folding:  6000 \|     0 Nodes Folded$'
}

@test "large constants stay to be computed, small ones made from them do not" {
    sanitize "$models/large_constants.onnx" -o folded.onnx --fold-constants --fold-size-threshold 1K
    [ "$(operators folded.onnx)" = 'ConstantOfShape Add Add ' ]
    same_outputs "$models/large_constants.onnx" folded.onnx
    sanitize "$models/large_constants.onnx" -o folded.onnx --fold-constants --fold-size-threshold 4000
    [ "$(operators folded.onnx)" = 'Add Add ' ]
}

@test "large constants whose size only shows when they are computed stay, too" {
    sanitize "$models/large_constants.onnx" -o folded.onnx --fold-constants --fold-size-threshold 1K --no-shape-inference
    [ "$(operators folded.onnx)" = 'ConstantOfShape Add Add ' ]
    same_outputs "$models/large_constants.onnx" folded.onnx
}

@test "--num-passes ends folding early" {
    sanitize "$models/decided_branch.onnx" -o folded.onnx --fold-constants --num-passes 1
    not_logged 'Pass 2'
    sanitize "$models/decided_branch.onnx" -o folded.onnx --fold-constants --num-passes 0
    not_logged 'Pass'
    [ "$(operators folded.onnx)" = "$(operators "$models/decided_branch.onnx")" ]
}

@test "options of folding without --fold-constants are warned of" {
    sanitize "$models/foldable.onnx" -o same.onnx --num-passes 1 --partitioning basic --no-fold-shapes \
        --no-per-pass-shape-inference --fold-size-threshold 1M
    [ "$(grep -c '^\[W\] .* has no effect without --fold-constants$' <<<"$output")" -eq 5 ]
    [ "$(operators same.onnx)" = "$(operators "$models/foldable.onnx")" ]
}

@test "without ONNX Runtime shapes are folded all the same" {
    POLYGRAPHY_ONNXRUNTIME=$PWD/nowhere.so sanitize "$models/dynamic_shapes.onnx" -o folded.onnx --fold-constants
    logged '^\[E\]     Only shapes are folded, because nothing can be computed: '
    [ "$(operators folded.onnx)" = 'Shape Gather Cast Mul Cast ReduceProd Div Concat Reshape ' ]
}

@test "other outputs and --cleanup leave what they need, with their types" {
    sanitize "$models/foldable.onnx" -o cut.onnx --outputs scaled --cleanup
    [ "$(operators cut.onnx)" = 'Constant Add Mul ' ]
    polygraphy inspect model cut.onnx | grep -F 'scaled [dtype=float32, shape=(1, 3)]'
    same_outputs cut.onnx cut.onnx
    sanitize "$models/foldable.onnx" -o cut.onnx --exclude-outputs y --cleanup
    [ "$(operators cut.onnx)" = 'Constant QuantizeLinear DequantizeLinear ' ]
}

@test "--toposort puts nodes in order" {
    sanitize "$models/unsorted_nodes.onnx" -o sorted.onnx --toposort
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/support/check_model.py" sorted.onnx || [ $? -eq 77 ]
    [ "$(operators sorted.onnx)" != "$(operators "$models/unsorted_nodes.onnx")" ]
}

@test "an upper bound stands right behind the node that computes a size" {
    sanitize "$models/sizes_from_data.onnx" -o bounded.onnx --set-unbounded-dds-upper-bound 5
    [ "$(operators bounded.onnx)" = 'ReduceMax Min Range Shape Expand Expand ' ]
    same_outputs "$models/sizes_from_data.onnx" bounded.onnx --val-range '[1,5]'
    polygraphy run "$models/sizes_from_data.onnx" --onnxrt --val-range '[9,9]' --save-outputs nine.json
    run ! polygraphy run bounded.onnx --onnxrt --val-range '[9,9]' --load-outputs nine.json
    logged "Output: 'counted' .*shape=\(5,\)|counted \[dtype=int64, shape=\(5,\)\]"
    sanitize "$models/sizes_from_data.onnx" -o named.onnx --set-unbounded-dds-upper-bound most:5
    [ "$(operators named.onnx)" = 'ReduceMax Min Range Shape Expand Expand ' ]
    sanitize "$models/sizes_from_data.onnx" -o other.onnx --set-unbounded-dds-upper-bound three:5
    logged "^\[W\] --set-unbounded-dds-upper-bound: 'three' does not determine a data-dependent size"
    [ "$(operators other.onnx)" = "$(operators "$models/sizes_from_data.onnx")" ]
}

@test "folded constants can go into a file of external data" {
    sanitize "$models/large_constants.onnx" --fold-constants -o folded.onnx --save-external-data weights.bin
    [ "$(stat -c %s weights.bin)" -eq 4000 ]
    same_outputs "$models/large_constants.onnx" folded.onnx
}

@test "what ONNX Runtime refuses is not written, and the error names the node, even one without a name" {
    make product model.onnx
    surgeon sanitize model.onnx -o fixed.onnx --override-input-shapes x:[2,5]
    refused_without "Node (which makes 'a') Op (MatMul) [ShapeInferenceError] Incompatible dimensions" fixed.onnx
    [[ $stderr == "[!] 'fixed.onnx' is not written: ONNX Runtime accepts the original model"* ]]
    echo old >fixed.onnx
    surgeon sanitize model.onnx -o fixed.onnx --override-input-shapes x:[2,5]
    refused "'fixed.onnx' is not written"
    [ "$(cat fixed.onnx)" = old ]
    sanitize model.onnx -o fixed.onnx --override-input-shapes x:[2,3]
    not_logged 'ONNX Runtime'
    polygraphy run fixed.onnx --onnxrt
}

@test "what ONNX Runtime refuses only once it has folded constants is written with a warning" {
    make known_rank_behind_constants model.onnx
    sanitize model.onnx -o fixed.onnx --override-input-shapes x:[2,3]
    logged '^\[W\] ONNX Runtime accepts the output model only with --onnxrt-optimization-level none: .*Gemm'
    run polygraphy run fixed.onnx --onnxrt
    [ "$status" -eq 1 ]
    sanitize model.onnx -o same.onnx
    not_logged 'only as it is'
}

@test "what ONNX Runtime refuses is written with a warning when it refuses the original as well" {
    sanitize "$models/unknown_operator.onnx" -o same.onnx --cleanup
    logged '^\[W\] ONNX Runtime accepts neither the output model nor the original: .*Secret'
    [ -s same.onnx ]
    sanitize "$models/sparse_weights.onnx" -o same.onnx
    logged '^\[W\] ONNX Runtime on this machine has no kernel for an operator of the output model: .*MatMul'
    sanitize "$models/empty.onnx" -o empty.onnx
    not_logged 'the output model'
}

@test "a model is tried without the numbers of its weights, and not without ONNX Runtime" {
    make product model.onnx
    polygraphy convert model.onnx -o apart.onnx --save-external-data numbers.data
    rm numbers.data
    sanitize apart.onnx -o same.onnx --ignore-external-data
    not_logged 'ONNX Runtime'
    surgeon sanitize apart.onnx -o fixed.onnx --ignore-external-data --override-input-shapes x:[2,5]
    refused_without "Node (which makes 'a') Op (MatMul)" fixed.onnx
    sanitize model.onnx -o same.onnx --onnxruntime-lib /nowhere
    [ "$(grep -c 'was not tested' <<<"$output")" -eq 1 ]
    logged "^\[I\] The output model was not tested with ONNX Runtime: ONNX Runtime's shared library"
}

@test "real models: same outputs, not more nodes, and a second pass changes nothing" {
    [ -d "$POLYGRAPHY_TEST_MODELS" ] || skip 'no real models'
    for model in onnx_light/light_squeezenet silero/silero_vad_half silero/silero_vad polygraphy/loop polygraphy/scan \
        polygraphy/reducable_with_const polygraphy/const_foldable polygraphy/needs_constraints; do
        shapes=()
        case $model in
            */silero_vad) shapes=(--input-shapes 'input:[1,512]' 'state:[2,1,128]' --val-range 'sr:[16000,16000]') ;;
            */silero_vad_half) shapes=(--input-shapes 'input:[1,576]' 'state:[2,1,128]') ;;
        esac
        sanitize "$POLYGRAPHY_TEST_MODELS/$model.onnx" -o folded.onnx --fold-constants
        not_logged ' -[0-9]+ Nodes Folded'
        same_outputs "$POLYGRAPHY_TEST_MODELS/$model.onnx" folded.onnx "${shapes[@]}"
        is_settled folded.onnx
    done
}

@test "silero-vad: most nodes of its two branches go, and both give the same bits" {
    local model=$POLYGRAPHY_TEST_MODELS/silero/silero_vad.onnx rate
    [ -e "$model" ] || skip 'no real models'
    sanitize "$model" -o folded.onnx --fold-constants
    logged 'Total Nodes \| Original:   172, After Folding:   172 \|     0 Nodes Folded$'
    for rate in 8000 16000; do
        polygraphy run "$model" --onnxrt --input-shapes "input:[1,$((rate * 36 / 1000))]" 'state:[2,1,128]' --val-range "sr:[$rate,$rate]" \
            --save-inputs in.json --save-outputs out.json
        polygraphy run folded.onnx --onnxrt --load-inputs in.json --load-outputs out.json --atol 0 --rtol 0
        polygraphy run folded.onnx --onnxrt --trt --deterministic --load-inputs in.json --atol 0 --rtol 0
    done
}

@test "with --force-fallback-shape-inference sequences keep their types" {
    /usr/bin/python3 - <<'EOF'
import onnx
from onnx import TensorProto, helper
nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("SequenceConstruct", ["a", "a"], ["s"]),
         helper.make_node("SequenceConstruct", ["a"], ["inside"]), helper.make_node("SequenceAt", ["inside", "zero"], ["y"])]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
                           helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)],
                          [helper.make_tensor("zero", TensorProto.INT64, [], [0])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "sequences.onnx")
EOF
    run polygraphy surgeon sanitize sequences.onnx -o shapes.onnx --force-fallback-shape-inference
    [ "$status" -eq 0 ]
    run polygraphy inspect model shapes.onnx
    [[ "$output" == *'{y [dtype=float32, shape=(1, 4)]'* ]]
    [[ "$output" == *'s [sequence]'* ]]
}

@test "If, Loop and Scan become what they do on the input data" {
    sanitize "$models/nested_bodies.onnx" -o inlined.onnx --inline-bodies --val-range condition:[1,1]
    logged 'Nodes replaced by their bodies: [0-9]+ \(If, Loop, Scan\)'
    [[ "$(operators inlined.onnx)" == 'Exp Neg Mul Add '* ]]
    [[ ! "$(operators inlined.onnx)" =~ Loop|If ]]
    same_outputs "$models/nested_bodies.onnx" inlined.onnx --val-range condition:[1,1]
    sanitize "$models/scan_with_capture.onnx" -o inlined.onnx --inline-bodies
    [[ "$(operators inlined.onnx)" == 'Neg Gather Add Mul Add '*' Concat ' ]]
    same_outputs "$models/scan_with_capture.onnx" inlined.onnx
}

@test "a Loop whose body ends it is not unrolled by its count" {
    /usr/bin/python3 - <<'EOF'
import onnx
from onnx import TensorProto, helper
info = helper.make_tensor_value_info
body = helper.make_graph(
    [helper.make_node("Add", ["before", "before"], ["after"])], "body",
    [info("i", TensorProto.INT64, []), info("goes_on", TensorProto.BOOL, []), info("before", TensorProto.FLOAT, [1])],
    [info("never", TensorProto.BOOL, []), info("after", TensorProto.FLOAT, [1])],
    [helper.make_tensor("never", TensorProto.BOOL, [], [False])])
graph = helper.make_graph([helper.make_node("Loop", ["count", "", "x"], ["y"], body=body)], "g",
                          [info("x", TensorProto.FLOAT, [1])], [info("y", TensorProto.FLOAT, [1])],
                          [helper.make_tensor("count", TensorProto.INT64, [], [3])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "once.onnx")
EOF
    sanitize once.onnx -o inlined.onnx --inline-bodies
    same_outputs once.onnx inlined.onnx
}

@test "the branch that the input data take is inlined, the other one is gone" {
    sanitize "$models/all_in_an_if.onnx" -o inlined.onnx --inline-bodies --val-range rate:[8,8]
    polygraphy inspect model inlined.onnx --show layers | grep small_matmul
    run ! grep large_matmul <(polygraphy inspect model inlined.onnx --show layers)
    same_outputs "$models/all_in_an_if.onnx" inlined.onnx --val-range rate:[8,8]
}

# Whether both models give the same bits for the same inputs.
same_unoptimized_bits()
{
    polygraphy run "$1" --onnxrt --onnxrt-optimization-level none --iterations 2 --save-inputs inputs.json \
        --save-outputs expected.json "${@:3}" >/dev/null &&
        polygraphy run "$2" --onnxrt --onnxrt-optimization-level none --load-inputs inputs.json \
            --load-outputs expected.json --rtol 0 --atol 0
}

@test "--simplify: exported networks compute the same bits with fewer nodes" {
    local name most nodes
    while read -r name most; do
        sanitize "$models/exported/$name.onnx" -o folded.onnx --fold-constants --cleanup
        sanitize "$models/exported/$name.onnx" -o simple.onnx --simplify
        nodes=$(operators simple.onnx | wc -w)
        echo "$name: $nodes nodes"
        [ "$nodes" -le "$most" ]
        same_unoptimized_bits folded.onnx simple.onnx
    done <<'EOF'
decoder_dynamo 167
decoder_legacy 164
detector 16
diffusion 52
experts 22
gpt2_legacy 114
mamba 97
t5_decoder 161
vision_transformer 42
EOF
}

# Whether each kind of tensor was replaced, by the document of the result.
simplified()
{
    /usr/bin/python3 -c "import json
counts = json.load(open('result.json'))['simplification']
print(*(counts[kind] > 0 for kind in ('neutral', 'equal', 'sizes', 'reshapes')))"
}

# gpt2_shapes BATCH SEQUENCE PAST: shapes of its inputs
gpt2_shapes()
{
    echo "input_ids:[$1,$2] position_ids:[$1,$2] attention_mask:[$1,$(($2 + $3))]"
    echo past_key_values.{0,1}.{key,value}:"[$1,4,$3,4]"
}

@test "--simplify: the result is right for all sizes, and settled" {
    sanitize "$models/exported/gpt2_legacy.onnx" -o folded.onnx --fold-constants --cleanup
    sanitize "$models/exported/gpt2_legacy.onnx" -o simple.onnx --simplify --json result.json
    same_unoptimized_bits folded.onnx simple.onnx --input-shapes $(gpt2_shapes 2 7 3)
    same_unoptimized_bits folded.onnx simple.onnx --input-shapes $(gpt2_shapes 1 1 4)
    same_unoptimized_bits folded.onnx simple.onnx --input-shapes $(gpt2_shapes 3 2 0)
    [ "$(simplified)" = 'True True True True' ]
    sanitize simple.onnx -o again.onnx --simplify --json result.json
    [ "$(simplified)" = 'False False False False' ]
}

@test "--simplify: what bodies use and outputs keep their names" {
    for model in nested_bodies scan_with_capture subgraph_uses_outer_tensors input_and_weight_are_outputs \
        quantization_annotations local_functions default_of_an_input same_input_twice omitted_optional_input; do
        sanitize "$models/$model.onnx" -o simple.onnx --simplify
        same_outputs "$models/$model.onnx" simple.onnx
    done
}
