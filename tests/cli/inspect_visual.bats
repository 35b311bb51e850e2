# inspect_visual.bats: a model as a page for a browser, `inspect model --save-visual`.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

# 5,000 nodes in scopes, a weight, and an If with nodes inside.
make_blocks()
{
    /usr/bin/python3 - <<'END'
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
nodes, before = [], "x"
for block in range(100):
    for layer in range(25):
        for op in "Neg", "Relu":
            name = f"block_{block}/layer_{layer}/{op.lower()}"
            nodes.append(helper.make_node(op, [before], [f"{name}_out"], name))
            before = f"{name}_out"
def branch(name):
    return helper.make_graph([helper.make_node("Neg", [before], [f"{name}_inside"], "inside"),
                              helper.make_node("Exp", [f"{name}_inside"], [f"{name}_out"], "exp")], name, [],
                             [helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, [3])])
nodes.append(helper.make_node("If", ["flag"], ["chosen"], "decided", then_branch=branch("then"), else_branch=branch("else")))
nodes.append(helper.make_node("MatMul", ["chosen", "weight"], ["y"], "weighted"))
graph = helper.make_graph(nodes, "blocks", [helper.make_tensor_value_info("flag", TensorProto.BOOL, []),
                                            helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                          [numpy_helper.from_array(numpy.array([1, 2, 3], numpy.float32), "weight")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "blocks.onnx")
END
}

@test "one page draws the model: it needs no other file, and has the layout's licence" {
    run --separate-stderr polygraphy inspect model "$models/nested_bodies.onnx" --save-visual page.html
    [ "$status" -eq 0 ]
    [[ "$output" == *'[I] Report: page.html'* ]]
    run ! grep -E '(src|href)="?https?:' page.html
    grep -q 'Permission is hereby granted' page.html
    grep -Eq '"path": ?"[^"]*nested_bodies.onnx"' page.html
}

@test "without a file the page is a temporary one" {
    mkdir temporary
    TMPDIR=$PWD/temporary run --separate-stderr env -u DISPLAY -u WAYLAND_DISPLAY polygraphy inspect model "$models/identity.onnx" --visual
    [ "$status" -eq 0 ]
    page=$(sed -n 's/^\[I\] Report: //p' <<<"$output")
    [[ "$page" == "$PWD"/temporary/polygraphy-*/model.html ]]
    [ -s "$page" ]
}

@test "an engine has no such page" {
    polygraphy convert "$models/identity.onnx" --convert-to trt -o identity.engine
    run --separate-stderr polygraphy inspect model identity.engine --save-visual page.html
    [ "$status" -eq 1 ]
    [[ "$stderr" == *'--save-visual is for ONNX models'* ]]
    [ ! -e page.html ]
}

@test "in a browser groups and bodies of 5,000 nodes open, and the command cuts out what is chosen" {
    [ -x /usr/bin/chromedriver ] || skip 'no browser'
    make_blocks
    polygraphy inspect model blocks.onnx --save-visual page.html
    hostile='</script>"><img src=x onerror=window.fired=1>'
    /usr/bin/python3 - "$hostile" <<'END'
import sys
import onnx
model = onnx.load("blocks.onnx")
del model.graph.node[:-1]
model.graph.node[0].name = model.graph.name = sys.argv[1]
model.graph.node[0].input[0] = "x"
onnx.save(model, "hostile.onnx")
END
    polygraphy inspect model hostile.onnx --save-visual hostile.html
    polygraphy debug reduce blocks.onnx -o reduced.onnx --mode minimal --report large.html \
        --check sh -c '! grep -q block_77/layer_3/relu_out "$1"' sh polygraphy_debug.onnx
    run /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/report_browser.py" model=page.html hostile-model=hostile.html large=large.html
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "the command of the page works" {
    make_blocks
    polygraphy surgeon extract blocks.onnx -o part.onnx --inputs block_0/layer_0/relu_out:auto:auto --outputs block_0/layer_2/relu_out:auto
    polygraphy run part.onnx --onnxrt
}
