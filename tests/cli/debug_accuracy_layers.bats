# debug_accuracy_layers.bats: which nodes `debug accuracy` blames, and what it says was seen.

load debug_helper

bats_require_minimum_version 1.5.0

faults=$POLYGRAPHY_ROOT/examples/faults

# Networks of a few nodes for the compiler of examples/faults, and the runner that it makes.
make_networks()
{
    python3 -B - "$faults" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
from make import Network

net = Network("products", "")
x = net.input("x", [1, 4, 8])
for k, (width, to) in enumerate([(8, 6), (6, 8), (8, 8), (8, 6), (6, 8), (8, 8)]):
    x = net.add(f"product {k}", "MatMul", x, net.weight(f"w{k}", [width, to], 0.5))
    x = net.add(f"tanh:{k}", "Tanh", x)
net.output(x, [1, 4, 8])
net.write(".")

net = Network("sums", "")
x = net.input("x", [1, 2, 4, 4])
for k, size in enumerate([3, 1]):
    y = net.add(f"conv{k}", "Conv", x, net.weight(f"w{k}", [2, 2, size, size], 0.5), pads=[size // 2] * 4)
    x = net.add(f"relu{k}", "Relu", net.add(f"sum{k}", "Add", x, y))
net.output(x, [1, 2, 4, 4])
net.write(".")
PYTHON
}

# investigate NETWORK FAULT: the compiler has that fault.
investigate()
{
    make_networks
    run --separate-stderr polygraphy debug accuracy "$1.onnx" --onnxrt \
        --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}' \
        --runner-build "toy=python3 -B '$faults/compiler.py' $2 {model} {engine}" --builds 1 --runs 1 -o folder \
        --json result.json
    echo "$output"
    [ "$status" -eq 0 ]
}

cause()
{
    python3 -c 'import json, sys
cause = json.load(open("result.json"))["cause"]
print(cause["kind"], *cause["nodes"], sep=", ")'
}

@test "two nodes that are wrong are both found, one behind the other" {
    investigate products layout
    [ "$(cause)" = "node, product 2, product 5" ]
    logged 'Cause: 2 MatMul nodes are computed wrongly, each alone'
    logged 'Evidence: what any one of them makes alone, put into the reference, has the outputs of the model differ'
    logged "Evidence: with the reference's values for what they make the whole model agrees"
}

@test "of nodes that are right one by one it says which are fused wrongly, and what keeps them from it" {
    investigate sums fusion
    [ "$(cause)" = "fusion, conv1, sum1, relu1" ]
    logged "Cause: 'conv1' \\(Conv\\), 'sum1' \\(Add\\) and 'relu1' \\(Relu\\) are fused wrongly"
    logged "Evidence: with '(conv1|sum1)_out' as extra output the whole model passes"
}

@test "a mask of infinities is not taken for wrong, nor does it hide what is" {
    cat >make.py <<'END'
from onnx_file import constant, model, node, tensor
mask = constant("mask", [2, 2], [0.0, float("-inf"), 0.0, 0.0])
nodes = [node("Mul", ["x", "x"], ["scores"], "scores"), node("Add", ["scores", "mask"], ["masked"], "apply_mask"),
         node("Softmax", ["masked"], ["weights"], "softmax", axis=-1), node("Neg", ["weights"], ["y"], "negate")]
with open("masked.onnx", "wb") as file:
    file.write(model("masked", nodes, [tensor("x", [2, 2])], [tensor("y", [2, 2])], [mask]))
END
    cat >compile.py <<'END'
import sys
from onnx_file import Model, Node, constant, node
model = Model(sys.argv[1])
for index, item in enumerate(model.nodes):
    if item.op_type == "Softmax":
        model.add_constant(constant("more", [], [0.25]))
        model.nodes.insert(index + 1, Node(node("Add", ["right", "more"], item.outputs, "wrong")))
        item.message = node("Softmax", item.inputs, ["right"], item.name, axis=-1)
        break
model.write(sys.argv[2])
END
    export PYTHONPATH=$POLYGRAPHY_ROOT/examples/faults PYTHONDONTWRITEBYTECODE=1
    /usr/bin/python3 make.py
    PATH=$(dirname "$POLYGRAPHY"):$PATH run --separate-stderr polygraphy debug accuracy masked.onnx --onnxrt \
        --runner-build 'toy=/usr/bin/python3 compile.py {model} {engine}' --builds 1 --runs 1 -o folder \
        --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}'
    [ "$status" -eq 0 ]
    logged "Cause: 'softmax' \\(Softmax\\) is computed wrongly"
}

@test "tensors that the suspect gives out in another layout blame no node" {
    PYTHONPATH=$faults python3 -B - <<'END'
from onnx_file import constant, model, node, tensor
weights = [constant(f"w{k}", [3, 3, 1, 1], [(k + 1) * (i % 5 - 2) / 4 for i in range(9)]) for k in range(2)]
nodes = [node("Conv", ["x", "w0"], ["c0"], "first"), node("Tanh", ["c0"], ["c1"], "tanh"),
         node("Conv", ["c1", "w1"], ["c2"], "second"), node("GlobalAveragePool", ["c2"], ["p"], "pool"),
         node("Flatten", ["p"], ["y"], "flatten")]
with open("layout.onnx", "wb") as file:
    file.write(model("layout", nodes, [tensor("x", [1, 3, 2, 2])], [tensor("y", [1, 3])], weights))
END
    # Outputs of four dimensions come out in the order NHWC, and 'tanh' is another function.
    cat >compile.py <<'END'
import sys
from onnx_file import INT64, Model, Node, constant, field, fields, node
model = Model(sys.argv[1])
model.nodes = [Node(node("Softsign", item.inputs, item.outputs, item.name)) if item.name == "tanh" else item
               for item in model.nodes]
for name in sorted(model.outputs & {"c0", "c1", "c2"}):
    if not any(name in item.outputs for item in model.nodes):
        continue
    for i, item in enumerate(model.nodes):
        names = [[name + "_raw" if each == name else each for each in side] for side in (item.inputs, item.outputs)]
        message = b"".join(field(k + 1, each) for k in (0, 1) for each in names[k])
        model.nodes[i] = Node(message + b"".join(field(key, value) for key, value in fields(item.message) if key > 2))
    model.nodes.append(Node(node("Transpose", [name + "_raw"], [name + "_t"], name + "_t", perm=[0, 2, 3, 1])))
    model.add_constant(constant(name + "_shape", [4], [1, 3, 2, 2], INT64))
    model.nodes.append(Node(node("Reshape", [name + "_t", name + "_shape"], [name], name + "_r")))
model.write(sys.argv[2])
END
    export PYTHONPATH=$faults
    run --separate-stderr polygraphy debug accuracy layout.onnx --onnxrt --builds 1 --runs 1 -o folder \
        --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}' \
        --runner-build "toy=python3 -B compile.py {model} {engine}" --json result.json
    [ "$status" -eq 1 ]
    logged "'first' is wrong alone, but so is an Identity in its place: the suspect reads or writes 'c0' in another layout"
    [ "$(python3 -c 'import json; print(json.load(open("result.json"))["outcome"])')" = no-cause ]
}

# A network in which a product, its bias and an activation stand three times, and a compiler that gets the sum of a product
# and a bias wrong, and Softsign.
make_pattern()
{
    PYTHONPATH=$faults python3 -B - <<'END'
from onnx_file import constant, model, node, tensor
constants, nodes, x = [], [], "x"
for k in range(3):
    constants += [constant(f"w{k}", [4, 4], [(i * 7 + k) % 9 / 8 - 0.5 for i in range(16)]), constant(f"b{k}", [4], [0.5, -0.25, 0.75, 1.0])]
    nodes += [node("MatMul", [x, f"w{k}"], [f"p{k}"], f"product{k}"), node("Add", [f"p{k}", f"b{k}"], [f"s{k}"], f"sum{k}"),
              node("Sigmoid", [f"s{k}"], [f"t{k}"], f"sigmoid{k}")]
    x = f"t{k}"
nodes.append(node("Softsign", [x], ["y"], "softsign"))
with open("pattern.onnx", "wb") as file:
    file.write(model("pattern", nodes, [tensor("x", [3, 4])], [tensor("y", [3, 4])], constants))
END
    cat >compile.py <<'END'
import sys
from onnx_file import Model, Node, constant, node
model = Model(sys.argv[1])
operators = {item.outputs[0]: item.op_type for item in model.nodes}
nodes = []
model.add_constant(constant("factor", [], [1.125]))
for item in model.nodes:
    is_wrong = item.op_type == "Softsign" or (item.op_type == "Add" and operators.get(item.inputs[0]) == "MatMul")
    if is_wrong:
        name = item.outputs[0]
        nodes.append(Node(node(item.op_type, item.inputs, [name + "_right"], item.name)))
        nodes.append(Node(node("Mul", [name + "_right", "factor"], [name], item.name + "_wrong")))
    else:
        nodes.append(item)
model.nodes = nodes
model.write(sys.argv[2])
END
    export PYTHONPATH=$faults
    toy=(--runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}'
        --runner-build 'toy=python3 -B compile.py {model} {engine}' --builds 1 --runs 1 -o folder --json result.json)
}

@test "a pattern that is compiled wrongly wherever it occurs, and a node: each place has its own evidence" {
    make_pattern
    run --separate-stderr polygraphy debug accuracy pattern.onnx --onnxrt "${toy[@]}"
    [ "$status" -eq 0 ]
    [ "$(cause)" = "part, product0, sum0, product1, sum1, product2, sum2, softsign" ]
    logged "'product1' \\(MatMul\\) and 'sum1' \\(Add\\) alone: the two differ; exact value of 's1' .*: the suspect is wrong"
    logged "'softsign' \\(Softsign\\) alone: the two differ"
    logged "with the reference's values for what these 4 parts make, the two agree in all the rest of the model"
}

@test "a reference that compiles a pattern wrongly is blamed in each place, not the condition of the network" {
    make_pattern
    run --separate-stderr polygraphy debug accuracy pattern.onnx "${toy[@]}" --onnxrt
    [ "$status" -eq 0 ]
    [ "$(cause)" = "reference, product0, sum0, product1, sum1, product2, sum2, softsign" ]
    logged "'product2' \\(MatMul\\) and 'sum2' \\(Add\\) alone: the two differ; exact value of 's2' .*: the reference is wrong"
}

@test "outputs that the suspect gives out under each other's names blame no node" {
    PYTHONPATH=$faults python3 -B - <<'END'
from onnx_file import constant, model, node, tensor
nodes = [node("Tanh", ["x"], ["a"], "tanh"), node("Exp", ["x"], ["b"], "exp"), node("Neg", ["x"], ["c"], "neg")]
with open("three.onnx", "wb") as file:
    file.write(model("three", nodes, [tensor("x", [2, 3])], [tensor(name, [2, 3]) for name in "abc"], []))
END
    cat >compile.py <<'END'
import sys
from onnx_file import Model, Node, node
model = Model(sys.argv[1])
other = {"a": "b", "b": "a"} if {"a", "b"} <= model.outputs else {}
model.nodes = [Node(node(item.op_type, item.inputs, [other.get(name, name) for name in item.outputs], item.name))
               for item in model.nodes]
model.write(sys.argv[2])
END
    export PYTHONPATH=$faults
    run --separate-stderr polygraphy debug accuracy three.onnx --onnxrt --builds 1 --runs 1 -o folder \
        --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}' \
        --runner-build "toy=python3 -B compile.py {model} {engine}" --json result.json
    [ "$status" -eq 1 ]
    logged "The suspect gives out outputs under each other's names: in the suspect 'b' has the values that the reference has in 'a', and 'a' has the values that the reference has in 'b'"
    [ "$(python3 -c 'import json; print(json.load(open("result.json"))["cause"])')" = None ]
}

@test "a suspect that computes Neg wrongly does not pass for one that ignores its model" {
    PYTHONPATH=$faults python3 -B - <<'END'
from onnx_file import constant, model, node, tensor
nodes = [node("Neg", ["x"], ["n"], "negate"), node("Sigmoid", ["n"], ["s"], "sigmoid"), node("Exp", ["s"], ["y"], "exp")]
with open("negated.onnx", "wb") as file:
    file.write(model("negated", nodes, [tensor("x", [2, 3])], [tensor("y", [2, 3])], []))
END
    cat >compile.py <<'END'
import sys
from onnx_file import Model, Node, node
model = Model(sys.argv[1])
model.nodes = [Node(node("Identity", item.inputs, item.outputs, item.name)) if item.op_type == "Neg" else item
               for item in model.nodes]
model.write(sys.argv[2])
END
    export PYTHONPATH=$faults
    run --separate-stderr polygraphy debug accuracy negated.onnx --onnxrt --builds 1 --runs 1 -o folder \
        --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}' \
        --runner-build "toy=python3 -B compile.py {model} {engine}" --json result.json
    [ "$status" -eq 0 ]
    [ "$(cause)" = "node, negate" ]
}

@test "an output of another type is said, although its values agree" {
    PYTHONPATH=$faults python3 -B - <<'END'
from onnx_file import constant, model, node, tensor
INT64 = 7
nodes = [node("ArgMax", ["x"], ["y"], "argmax", axis=1), node("Neg", ["x"], ["z"], "negate")]
with open("typed.onnx", "wb") as file:
    file.write(model("typed", nodes, [tensor("x", [2, 3])], [tensor("y", [2, 1], INT64), tensor("z", [2, 3])], []))
END
    cat >narrow.sh <<'END'
set -e
rm -f wide.npz; polygraphy run "$1" --onnxrt --load-inputs "$2" --save-outputs wide.json --silent
polygraphy data merge wide.json -o wide.npz >log.txt
python3 - "$3" <<'PYTHON'
import array, io, struct, sys, zipfile
wide = zipfile.ZipFile("wide.npz")
with zipfile.ZipFile(sys.argv[1], "w") as narrow:
    for name in wide.namelist():
        data = wide.read(name)
        if b"'<i8'" in data:
            size = 10 + struct.unpack("<H", data[8:10])[0]
            values = array.array("q", data[size:])
            data = data[:size].replace(b"'<i8'", b"'<i4'") + array.array("i", values).tobytes()
        narrow.writestr(name, data)
PYTHON
END
    run --separate-stderr polygraphy debug accuracy typed.onnx --onnxrt --builds 1 --runs 1 -o folder \
        --runner 'sh narrow.sh {model} {inputs} {outputs:npz}'
    [ "$status" -eq 0 ]
    logged "output 'y' is int32 in the suspect, int64 in the reference: its values are compared"
    not_logged "output 'z' is "
}
