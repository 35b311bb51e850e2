# debug_accuracy_exact.bats: which side is wrong, by the exact value, and what is only magnified.

load debug_helper

bats_require_minimum_version 1.5.0

faults=$POLYGRAPHY_ROOT/examples/faults

# A network of products and functions; one that iterates the logistic map, which is chaotic; and a compiler that scales
# what nodes of an operator, or of a name, make, all of it or each row by a factor.
make_networks()
{
    cat >make.py <<'END'
import random
from onnx_file import constant, field, model, node, tensor
random.seed(1)
nodes, weights, x = [], [], "x"
for k, function in enumerate(["Tanh", "Erf", "Sigmoid", "Erf"]):
    weights.append(constant(f"w{k}", [8, 8], [random.gauss(0, 0.4) for _ in range(64)]))
    nodes.append(node("MatMul", [x, f"w{k}"], [f"m{k}"], f"product{k}"))
    nodes.append(node(function, [f"m{k}"], [f"a{k}"], f"function{k}"))
    x = f"a{k}"
with open("functions.onnx", "wb") as file:
    file.write(model("functions", nodes, [tensor("x", [4, 8])], [tensor(x, [4, 8])], weights))

nodes, x = [node("Sigmoid", ["x"], ["s"], "start")], "s"
for k in range(40):
    nodes += [node("Sub", ["one", x], [f"d{k}"], f"sub{k}"), node("Mul", [x, f"d{k}"], [f"p{k}"], f"mul{k}"),
              node("Mul", [f"p{k}", "r"], [f"s{k}"], f"grow{k}")]
    x = f"s{k}"
with open("chaos.onnx", "wb") as file:
    file.write(model("chaos", nodes, [tensor("x", [4, 8])], [tensor(x, [4, 8])],
                     [constant("one", [], [1.0]), constant("r", [], [3.9])]))

def branch(name, nodes, output):
    graph = b"".join(field(1, item) for item in nodes) + field(2, name) + field(12, tensor(output, [4, 8]))
    return field(5, field(1, name) + field(6, graph) + field(20, 5))

then = branch("then_branch", [node("MatMul", ["x", "w0"], ["m"], "product"), node("Erf", ["m"], ["e"], "function"),
                              node("MatMul", ["e", "w1"], ["o"], "other")], "o")
choice = node("If", ["is_high"], ["y"], "choice") + then + branch("else_branch", [node("Neg", ["x"], ["n"], "neg")], "n")
with open("branches.onnx", "wb") as file:
    file.write(model("branches", [node("ReduceSum", ["x"], ["s"], "sum", keepdims=0),
                                  node("Less", ["low", "s"], ["is_high"], "compare"), choice],
                     [tensor("x", [4, 8])], [tensor("y", [4, 8])], [constant("low", [], [-1e6]), *weights[:2]]))

for scale in (1e-4, 1e-6):
    nodes = [node("Mul", ["x", "less"], ["t"], "tiny"), node("Mul", ["x", "more"], ["b"], "big"),
             node("Concat", ["t", "b"], ["y"], "concat", axis=0)]
    with open(f"scales{scale}.onnx", "wb") as file:
        file.write(model("scales", nodes, [tensor("x", [4, 8])], [tensor("y", [8, 8])],
                         [constant("less", [], [scale]), constant("more", [], [900.0])]))

nodes = [node("Tanh", ["x"], ["t"], "tanh"), node("Hardmax", ["t"], ["h"], "hardmax", axis=-1),
         node("Neg", ["h"], ["y"], "negate")]
with open("hardmax.onnx", "wb") as file:
    file.write(model("hardmax", nodes, [tensor("x", [4, 8])], [tensor("y", [4, 8])], []))
END
    cat >scale.py <<'END'
import sys
from onnx_file import Model, Node, constant, field, fields, node
what, factor = sys.argv[1].split("=")
factors = [float(item) for item in factor.split(",")]
model = Model(sys.argv[2])
for item in list(model.nodes):
    if what not in (item.name, item.op_type):
        continue
    output = item.outputs[0]
    model.add_constant(constant(output + "_factor", [len(factors), 1] if len(factors) > 1 else [], factors))
    model.nodes.insert(model.nodes.index(item) + 1,
                       Node(node("Mul", [output + "_raw", output + "_factor"], [output], output + "_scaled")))
    item.message = b"".join(field(key, output + "_raw" if key == 2 else value) for key, value in fields(item.message))
model.write(sys.argv[3])
END
    export PYTHONPATH=$faults PYTHONDONTWRITEBYTECODE=1
    python3 make.py
}

# investigate NETWORK REFERENCE SUSPECT: WHAT=FACTOR of each.
investigate()
{
    local run="polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}"

    make_networks
    run --separate-stderr polygraphy debug accuracy "$1.onnx" --runner "one=$run" --runner "other=$run" \
        --runner-build "one=python3 scale.py $2 {model} {engine}" \
        --runner-build "other=python3 scale.py $3 {model} {engine}" --builds 1 --runs 1 -o folder --json result.json
    echo "$output"
}

cause()
{
    python3 -c 'import json
cause = json.load(open("result.json"))["cause"]
print(cause["kind"], *cause["nodes"], sep=", ")'
}

@test "the reference is blamed where it is the one that is far from the exact value" {
    investigate functions Erf=1.02 nothing=1
    [ "$status" -eq 0 ]
    [ "$(cause)" = "reference, function1, function3" ]
    logged 'Cause: the reference computes 2 Erf nodes wrongly, each alone'
    logged "exact value of 'a1' \\(float64\\): error of the suspect [0-9.]*e-0[78], of the reference 0.02, .*: the reference is wrong"
    logged "with the suspect's values for what they make the reference agrees with the suspect"
}

@test "NaN that only the reference makes is not the model's" {
    investigate functions function1=nan nothing=1
    [ "$status" -eq 1 ]
    logged "The reference is wrong: its outputs contain NaN, those of --onnxrt --onnxrt-optimization-level none do not"
    [ "$(python3 -c 'import json; print(json.load(open("result.json"))["outcome"])')" = no-question ]
}

@test "the suspect is blamed where it is, and the exact value is evidence" {
    investigate functions nothing=1 function2=1.01
    [ "$status" -eq 0 ]
    [ "$(cause)" = "node, function2" ]
    logged "exact value of 'a2' \\(float64\\): error of the suspect 0.01, of the reference [0-9.]*e-0[78], .*: the suspect is wrong"
}

@test "nodes that each side computes wrongly are told apart" {
    investigate functions function1=1.02 function2=1.01
    [ "$status" -eq 0 ]
    [ "$(cause)" = "reference, function1, function2" ]
    logged "Cause: the reference computes 'function1' \\(Erf\\) wrongly.*; and the suspect computes 'function2' \\(Sigmoid\\) wrongly"
}

@test "rounding that a chaotic network magnifies blames no node" {
    investigate chaos nothing=1 start=1.0000002
    [ "$status" -eq 0 ]
    [[ $(cause) == condition,* ]]
    logged 'Cause: ill-conditioned network behind '
    logged 'the reference itself fails when its own values there are changed by one unit in the last place'
}

@test "an error of small values that the node does not round is no rounding that is magnified" {
    investigate scales0.0001 nothing=1 concat=1.5,1.5,1.5,1.5,1,1,1,1
    [ "$status" -eq 0 ]
    [[ $(cause) == part,\ concat,* ]]
    logged "Cause: 'concat' is computed wrongly, by less than the tolerance of its own outputs: in 'y_slice' the error is 0.5 of the largest magnitude, where rounding makes "
}

@test "values below the rounding of the largest ones are listed as not tested" {
    investigate scales1e-06 nothing=1 concat=1.5,1.5,1.5,1.5,1,1,1,1
    [ "$status" -eq 0 ]
    logged 'Nothing fails'
    logged "Not tested: index [0-3] of axis 0 of output 'y', by its own scale: its error is 0.5 of that, but its largest magnitude, .* is less than 1e-07 of the output's"
}

# All Erf nodes are a little wrong; in a model with MatMul, which they are fused with, function1 is wrong by much more.
@test "nodes whose errors do not explain that of the suspect are not the proven cause" {
    make_networks
    cat >fuse.py <<'END'
import subprocess, sys
from onnx_file import Model
model = Model(sys.argv[1])
producers = {name: item.op_type for item in model.nodes for name in item.outputs}
fused = any(item.name == "function1" and producers.get(item.inputs[0]) == "MatMul" and item.inputs[0] not in model.outputs
            for item in model.nodes)
source = sys.argv[1]
for fault in ["Erf=1.0005"] + fused * ["function1=1.5"]:
    subprocess.run([sys.executable, "scale.py", fault, source, sys.argv[2]], check=True)
    source = sys.argv[2]
END
    run --separate-stderr polygraphy debug accuracy functions.onnx --onnxrt --builds 1 --runs 1 -o folder \
        --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}' \
        --runner-build 'toy=python3 fuse.py {model} {engine}' --json result.json
    echo "$output"
    [ "$status" -eq 1 ]
    logged "Not proven: .*; but that makes an error of .* of the largest magnitude of an output, and the two sides differ by .*: something else is wrong"
}

@test "a node that cannot be evaluated in float64 is said not to be judged" {
    investigate hardmax nothing=1 hardmax=1.01
    [ "$status" -eq 0 ]
    [ "$(cause)" = "node, hardmax" ]
    logged "the suspect and the reference compute 'hardmax' \\(Hardmax\\) differently: .*; which of the two is wrong is not known"
    logged "Not tested: which side is nearer to the exact value of 'hardmax': 'hardmax' \\(Hardmax\\): the operator is not computed"
}

@test "an answer that a second search does not find again is not reproducible, and both are told" {
    make_networks
    cat >turn.py <<'END'
import os, subprocess, sys
fault = "function2=1.01" if os.path.exists("folder/minimal.onnx") else "function1=1.02"
subprocess.run([sys.executable, "scale.py", fault, *sys.argv[1:]], check=True)
END
    run --separate-stderr polygraphy debug accuracy functions.onnx --onnxrt --builds 1 --runs 1 -o folder \
        --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}' \
        --runner-build 'toy=python3 turn.py {model} {engine}' --json result.json
    echo "$output"
    [ "$status" -eq 1 ]
    logged "Not reproducible: a first search found: 'function1' \\(Erf\\) is computed wrongly.*; a second one, with other builds, found: 'function2' \\(Sigmoid\\) is computed wrongly"
}

@test "a tensor that the suspect gives out otherwise among all tensors than alone blames no node" {
    make_networks
    # 'function2' is wrong; 'function0' is so in a model of one node, and among many outputs, and right in the network.
    cat >unreliable.py <<'END'
import subprocess, sys
from onnx_file import Model
model = Model(sys.argv[1])
faults = ["function2=1.01"]
if len(model.outputs) > 2 or len(model.nodes) == 1:
    faults.append("function0=1.5")
source = sys.argv[1]
for fault in faults:
    subprocess.run([sys.executable, "scale.py", fault, source, sys.argv[2]], check=True)
    source = sys.argv[2]
END
    run --separate-stderr polygraphy debug accuracy functions.onnx --onnxrt --builds 1 --runs 1 -o folder \
        --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}' \
        --runner-build 'toy=python3 unreliable.py {model} {engine}' --json result.json
    echo "$output"
    [[ $(cause) != *function0* ]]
    logged "'function0' is wrong alone, but the suspect gives out 'a0' with other values when it is the only output"
}

@test "an overflow of float16 is within the rounding of the type" {
    run --separate-stderr polygraphy debug accuracy "$POLYGRAPHY_ROOT/examples/accuracy/attention.onnx" \
        --onnxrt --trt --fp16 -o why --json result.json
    [ "$status" -eq 0 ]
    [ "$(cause)" = "overflow, scores, scale" ]
    logged "exact value of 'logits' \\(float64\\): error of the suspect inf, .*: it is beyond the range of the suspect's type$"
}

# Erf and Abs have names of the same length, so that a compiler that confuses them, in bodies, too, needs no parser.
@test "the node inside of a branch is named, and the side that computes it wrongly" {
    local run="polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}"

    make_networks
    run --separate-stderr polygraphy debug accuracy branches.onnx --runner "toy=$run" \
        --runner-build 'toy=sed s/Erf/Abs/g {model} >{engine}' --onnxrt --builds 1 --runs 1 -o folder --json result.json
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(cause)" = "reference, function" ]
    logged "Cause: the reference computes 'function' \\(Erf\\) wrongly"
    logged "names of nodes are those of 'folder/inlined.onnx'.*; in the original: the suspect and the reference compute 'choice' \\(If\\) differently: .*; which of the two is wrong is not known"
    [ -s folder/inlined/minimal.onnx ]
    run ! sh folder/reproduce.sh
}

# The compiler makes a mistake in the branch; without branches it makes another one, which explains nothing.
@test "a failure of the inlined model that is another one does not name a node of a branch" {
    local run="polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}"

    make_networks
    printf '%s\n' 'if grep -q then_branch "$1"; then sed s/Erf/Abs/g "$1"; else sed s/Erf/Cos/g "$1"; fi' >compile.sh
    run --separate-stderr polygraphy debug accuracy branches.onnx --onnxrt --runner "toy=$run" \
        --runner-build 'toy=sh compile.sh {model} >{engine}' --builds 1 --runs 1 -o folder --json result.json
    echo "$output"
    logged "Not tested: nodes inside of If, Loop and Scan: with these inlined the suspect fails in another way"
    [[ $(cause) == *", choice" ]]
    [ ! -e folder/inlined ]
}

@test "that nothing fails is said with the absolute tolerance that applies by default" {
    make_networks
    run --separate-stderr polygraphy debug accuracy functions.onnx --norm-tolerance 1e-9 --onnxrt --builds 1 --runs 1 \
        --runner 'plain=polygraphy run {model} --onnxrt --onnxrt-optimization-level none --load-inputs {inputs} --save-outputs {outputs:json}' \
        -o folder
    echo "$output"
    [ "$status" -eq 0 ]
    logged 'Nothing fails: .* by --norm-tolerance 1e-9 --infinities-compare-equal, where an absolute difference of 1e-5 is tolerated, too \(default of --atol\), with errors'
}
