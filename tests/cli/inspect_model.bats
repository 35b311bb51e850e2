# inspect_model.bats: what `inspect model` shows, and its JSON.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
golden=$POLYGRAPHY_ROOT/tests/golden
theirs=$POLYGRAPHY_TEST_MODELS/polygraphy

inspect()
{
    run --separate-stderr polygraphy inspect model "$@"
    [ "$status" -eq 0 ] && [ -z "$stderr" ] || {
        echo "status $status; $stderr; $output"
        return 1
    }
}

# A log without folders.
mask()
{
    sed -E 's#(<models>|/[^ ]*)/##' "$@"
}

# Polygraphy shows shapes that are not known as (), which is a scalar's; they are left out here. There is no scalar
# in the models of its logs.
known_shapes()
{
    mask "$@" | sed 's/, shape=()\]/]/'
}

# An expression of Python over the file's content, `m`.
json()
{
    /usr/bin/python3 -c 'import json, sys; m = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

@test "summary and layers are Polygraphy's, but for shapes that are not known" {
    inspect "$models/reducable.onnx"
    diff <(mask <<<"$output") <(mask "$golden/logs/inspect_model_short.log")
    inspect "$models/reducable.onnx" --show layers
    diff <(mask <<<"$output") <(known_shapes "$golden/logs/inspect_model_reducable.log")
}

@test "attributes and bodies are Polygraphy's" {
    [ -d "$theirs" ] || skip 'the models of Polygraphy are not there'
    inspect "$theirs/conv.onnx" --show layers attrs
    diff <(mask <<<"$output") <(known_shapes "$golden/logs/inspect_model_conv.log")
    inspect "$theirs/scan.onnx" --show layers attrs
    # The log of the sample lacks the two lines on the tensor `x`.
    diff <(mask <<<"$output" | grep -vE '^ +x \[dtype=float32, shape=\(3, 2\)\]}$') \
        <(mask "$golden/logs/inspect_model_scan.log")
    [ "$(grep -cE '^ +x \[dtype=float32, shape=\(3, 2\)\]}$' <<<"$output")" -eq 2 ]
}

@test "a scalar and a tensor of unknown shape can be told apart" {
    inspect "$models/scalar_and_unknown_shape.onnx"
    logged '^    \{scalar \[dtype=float32, shape=\(\)\],$'
    logged '^     unknown \[dtype=float32\]\}$'
    inspect "$models/scalar_and_unknown_shape.onnx" --json m.json
    [ "$(json m.json '[(i["name"], i["shape"]) for i in m["inputs"]]')" = "[('scalar', []), ('unknown', None)]" ]
}

@test "bodies inside of bodies are shown with the types of the tensors around them" {
    inspect "$models/nested_bodies.onnx" --show layers attrs --json m.json
    logged '^        loop\.body = $'
    logged '^                            Node 0    \|  \[Op: Neg\]$'
    logged '^                                \{scaled \[dtype=float32, shape=\(2,\)\]\}$'
    [[ $output == *'going_on_out [dtype=bool, shape=()]}' ]]
    [ "$(json m.json 'm["nodes"][2]["attributes"]["body"]["nodes"][1]["attributes"]["then_branch"]["nodes"][0]["inputs"]')" \
        = "['scaled', 'offset']" ]
}

@test "functions of the model are shown" {
    inspect "$models/local_functions.onnx" --show layers attrs --json m.json
    logged "^    Name: graph \| ONNX Opset: 15 \| Other Opsets: \{'local': 1\}$"
    logged '^    ---- 2 Function\(s\) ----$'
    logged '^    Function 1    \| Halved \[Domain: local\]$'
    logged '^            value = Tensor: \[dtype=float32, shape=\[\]\]$'
    logged '^            \{\} -> \{[a-z_]+\}$'
    [ "$(json m.json '[(f["name"], f["nodes"][-1]["op"]) for f in m["functions"]]')" = "[('Doubled', 'Add'), ('Halved', 'Div')]" ]
}

@test "omitted inputs keep their place" {
    inspect "$models/omitted_optional_input.onnx" --show layers --json m.json
    logged "^         '',$"
    [ "$(json m.json 'm["nodes"][1]["inputs"]')" = "['t', None, 'mx']" ]
}

@test "weights are shown with their values, also those in other files" {
    inspect "$models/external_weights_and_others.onnx" --show weights --json m.json
    logged '^    Initializer \| weights \[dtype=float32, shape=\[6\]\] \| Values:$'
    logged '^        \[0\. 1\. 2\. 3\. 4\. 5\.\]$'
    logged '^        \[1\. 2\. 3\.\]$'
    [ "$(json m.json 'm["initializers"][0]["values"]')" = '[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]' ]
}

@test "a file of weights that is not there matters only when its values are wanted" {
    cp "$models/external_weights.onnx" .
    inspect external_weights.onnx --show layers
    run --separate-stderr polygraphy inspect model external_weights.onnx --show weights
    refused 'weights.data'
}

@test "with --ignore-external-data, the weights that are in the model are shown with their values" {
    cp "$models/external_weights_and_others.onnx" model.onnx
    inspect model.onnx --ignore-external-data --show layers weights --json m.json
    logged "^    Initializer \\| weights \\[dtype=float32, shape=\\[6\\]\\] \\| Values: in 'weights\\.data', not read$"
    logged '^        \[1\. 2\. 3\.\]$'
    [ "$(json m.json '[i["name"] for i in m["initializers"] if "values" not in i]')" = "['weights']" ]
}

@test "a node without inputs, and a tensor among its attributes, are shown as by Polygraphy" {
    [ -d "$theirs" ] || skip 'the models of Polygraphy are not there'
    inspect "$theirs/tensor_attr.onnx" --show layers attrs weights
    diff <(tail -n +3 <<<"$output" | head -20 | sed 's/ *$//') - <<'END'
    Name: onnx_graphsurgeon | ONNX Opset: 11

    ---- 0 Graph Input(s) ----
    {}

    ---- 1 Graph Output(s) ----
    {const_out [dtype=float32, shape=(14, 14)]}

    ---- 0 Initializer(s) ----
    {}

    ---- 1 Node(s) ----
    Node 0    |  [Op: Constant]
        {} -> {const_out [dtype=float32, shape=(14, 14)]}
        ---- Attributes ----
        value = Tensor: [dtype=float32, shape=[14, 14]] | Values:
            [[1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1.]
             [1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1.]
             [1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1.]
             [1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1. 1.]
END
}

@test "shape inference adds what the model does not say" {
    inspect "$models/omitted_optional_input.onnx" --show layers --shape-inference
    logged '^         -> \{u \[dtype=float32, shape=\(2,\)\]\}$'
}

@test "sizes without a bound are listed" {
    inspect "$models/sizes_from_data.onnx" --list-unbounded-dds --json m.json
    logged "^\\[I\\] Found tensors with unbounded DDS: \\['most'\\]$"
    [ "$(json m.json 'm["unbounded_dds"]')" = "['most']" ]
    inspect "$models/reducable.onnx" --list-unbounded-dds
    logged '^\[I\] Found tensors with unbounded DDS: \[\]$'
}

@test "a size that a Min bounds is not listed" {
    polygraphy surgeon sanitize "$models/sizes_from_data.onnx" -o bounded.onnx --set-unbounded-dds-upper-bound 1000 >log
    inspect bounded.onnx --list-unbounded-dds
    logged '^\[I\] Found tensors with unbounded DDS: \[\]$'
}

@test "what cannot be shown is refused" {
    head -c 100 "$models/reducable.onnx" >damaged.onnx
    run --separate-stderr polygraphy inspect model damaged.onnx
    refused 'damaged.onnx'
    : >plan.engine
    run --separate-stderr polygraphy inspect model plan.engine
    refused 'plan.engine'
    run --separate-stderr polygraphy inspect model "$models/reducable.onnx" --show everything
    [ "$status" -eq 2 ]
}

@test "weights that become float16 are shown as such" {
    run polygraphy inspect model "$POLYGRAPHY_ROOT/tests/models/convolutions.onnx" --fp-to-fp16 --show weights --json model.json
    [ "$status" -eq 0 ]
    grep -q 'dtype=float16.* | Values:' <<<"$output"
    /usr/bin/python3 - <<'END'
import json
halves = [i for i in json.load(open("model.json"))["initializers"] if i["dtype"] == "float16"]
assert halves and all(len(i["values"]) > 0 for i in halves), halves
END
}

@test "a name in a model cannot steer the terminal" {
    /usr/bin/python3 - "$BATS_TEST_TMPDIR/m.onnx" <<'END'
import sys
import onnx
from onnx import TensorProto, helper
name = "evil\x1b]0;owned\x07\x1b[2J\x1b[31mred"
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
y = helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])
onnx.save(helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], [name])], "g", [x], [y])), sys.argv[1])
END
    inspect "$BATS_TEST_TMPDIR/m.onnx" --show layers
    [[ $output == *'evil\x1b]0;owned\x07\x1b[2Jred'* ]]
    [[ $output != *$'\x1b'* && $output != *$'\x07'* ]]
}

@test "the network of the built-in engine has the layers that an engine gets" {
    local names='[layer["name"] for layer in m["layers"]]'
    export POLYGRAPHY_TRT=builtin
    inspect "$models/convolutions.onnx" --display-as=trt --show layers attrs --json network.json
    [[ $output == *'==== Network of the Built-in Engine ===='* ]]
    [[ $output == *'---- 1 Network Input(s) ----'*"{x [dtype=float32, shape=('n', 3, 12, 11)]}"*'---- 4 Layer(s) ----'* ]]
    [[ $output == *'Layer 3    | pointwise + relu [Kind: convolution]'*'Nodes: pointwise [Op: Conv], relu [Op: Relu]'* ]]
    [[ $output == *'grouped.strides = [2, 1]'* ]]
    polygraphy convert "$models/convolutions.onnx" --convert-to trt -o model.engine
    inspect model.engine --json engine.json
    [ "$(json network.json "$names")" = "$(json engine.json "$names")" ]
}
