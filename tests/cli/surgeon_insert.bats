# surgeon_insert.bats: nodes in the middle of models.

load debug_helper
load surgeon_helper

@test "a node between a tensor and what reads it" {
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs add_out_4 --outputs add_out_4 --op Exp --name new
    worked
    lines_are <<'END'
[I] Loading model: reducable.onnx
[I] Saving ONNX model to: out.onnx
END
    holds out.onnx 'input|output|node' <<'END'
input X0 float[1]
input Y0 float[1]
output identity_out_6 float[1]
output identity_out_8 float[1]
node onnx_graphsurgeon_node_1: Identity(X0) -> identity_out_0
node onnx_graphsurgeon_node_3: Identity(Y0) -> identity_out_2
node onnx_graphsurgeon_node_5: Add(identity_out_0,identity_out_2) -> add_out_4
node new: Exp(add_out_4) -> add_out_4_polygraphy_surgeon_insert_output
node onnx_graphsurgeon_node_7: Identity(add_out_4_polygraphy_surgeon_insert_output) -> identity_out_6
node onnx_graphsurgeon_node_9: Identity(add_out_4_polygraphy_surgeon_insert_output) -> identity_out_8
END
    valid_models out.onnx
}

@test "an output of the model keeps its name" {
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs identity_out_6 --outputs identity_out_6 --op Neg
    worked
    old=identity_out_6_polygraphy_surgeon_insert_output
    show out.onnx | grep -qxF "node onnx_graphsurgeon_node_7: Identity(add_out_4) -> $old"
    show out.onnx | grep -qxF "node Neg($old) -> identity_out_6"
    holds out.onnx 'output' <<<$'output identity_out_6 float[1]\noutput identity_out_8 float[1]'
    valid_models out.onnx
}

@test "what made another output before goes, if nothing else needs it" {
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs X0 Y0 --outputs add_out_4 --op Mul
    worked
    holds out.onnx 'input|node' <<'END'
input X0 float[1]
input Y0 float[1]
node Mul(X0,Y0) -> add_out_4
node onnx_graphsurgeon_node_7: Identity(add_out_4) -> identity_out_6
node onnx_graphsurgeon_node_9: Identity(add_out_4) -> identity_out_8
END
    valid_models out.onnx
}

@test "inputs that nothing reads any more stay" {
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs X0 --outputs add_out_4 --op Exp
    worked
    holds out.onnx 'input' <<<$'input X0 float[1]\ninput Y0 float[1]'
    valid_models out.onnx
}

@test "types behind the new node are worked out" {
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs add_out_4 --outputs add_out_4 --op Cast --attrs to=7
    worked
    holds out.onnx 'output' <<<$'output identity_out_6 int64[1]\noutput identity_out_8 int64[1]'
    valid_models out.onnx
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs identity_out_6 --outputs identity_out_6 --op Shape
    worked
    holds out.onnx 'output' <<<$'output identity_out_6 int64[1]\noutput identity_out_8 float[1]'
    valid_models out.onnx
}

@test "an operator that the runtime does not know leaves the types as they were" {
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs add_out_4 --outputs add_out_4 --op MyPlugin
    worked
    logged '^\[W\] Types downstream of the new node are unchanged: .*MyPlugin'
    holds out.onnx 'output' <<<$'output identity_out_6 float[1]\noutput identity_out_8 float[1]'
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs add_out_4 --outputs add_out_4 --op Exp \
        --onnxruntime-lib /nowhere
    worked
    logged '^\[W\] Types downstream of the new node are unchanged: .*/nowhere'
    valid_models out.onnx
}

@test "attributes of every kind" {
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs add_out_4 --outputs add_out_4 --op Op \
        --attrs axis=-1 alpha=0.5 huge=1e3 mode=linear "number='1'" 'perm=[0,2,1]' 'scales=[1,2.5]' 'names=[a, b]' \
        x=y=z axis=2
    worked
    show out.onnx | sed -nE 's/^node Op.*_output //p' | tr ' ' '\n' >attributes
    diff attributes <(printf '%s\n' axis=2 alpha=0.5 huge=1000.0 \
        "mode=b'linear'" "number=b'1'" 'perm=[0,' 2, '1]' 'scales=[1.0,' '2.5]' "names=[b'a'," "b'b']" "x=y=b'z'")
}

@test "the node stands behind what it reads and in front of what reads it" {
    make two_inputs model.onnx
    surgeon insert model.onnx -o out.onnx --inputs a z --outputs z --op Sub --name new
    worked
    holds out.onnx 'node' <<'END'
node neg: Neg(x) -> a
node new: Sub(a,z) -> z_polygraphy_surgeon_insert_output
node add: Add(a,z_polygraphy_surgeon_insert_output) -> y
END
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs identity_out_2 --outputs identity_out_0 --op Exp \
        --name new
    worked
    [ "$(show out.onnx | sed -nE 's/^node ([^:]*):.*/\1/p' | tr '\n' ' ')" = \
        'onnx_graphsurgeon_node_3 new onnx_graphsurgeon_node_5 onnx_graphsurgeon_node_7 onnx_graphsurgeon_node_9 ' ]
    valid_models out.onnx
}

@test "bodies that use the tensor use the new one" {
    surgeon insert "$models/nested_bodies.onnx" -o out.onnx --inputs scale --outputs scale --op Neg --name new
    worked
    [ "$(show out.onnx | sed -nE 's/^node ([^:]*):.*/\1/p' | tr '\n' ' ')" = 'exp new neg loop ' ]
    valid_models out.onnx
    # three rounds of state * -scale + offset
    feeds feed.json '[{"x": f32([0, 1]), "condition": array(True)}]'
    run --separate-stderr polygraphy run out.onnx --onnxrt --load-inputs feed.json --save-outputs results.json
    worked
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" show results.json | grep -E ' y float32 .*0.* -25\.75[67]'
}

@test "functions and metadata survive" {
    make function_and_metadata model.onnx
    surgeon insert model.onnx -o out.onnx --inputs a --outputs a --op Neg
    worked
    diff <(show model.onnx | grep -vE '^node') <(show out.onnx | grep -vE '^node')
    valid_models out.onnx
}

@test "a model that has only operators of others imports ONNX's own, in a version of its time" {
    inserts()
    {
        make "$1" model.onnx
        surgeon insert model.onnx -o out.onnx --inputs y --outputs y --op Exp
        worked
        logged "^\[I\] The model imports no version of ONNX's standard operators, .*: version $2 is added$"
        polygraphy inspect model out.onnx | grep -F "ONNX Opset: $2 |"
        valid_models out.onnx
        polygraphy run out.onnx --onnxrt --silent
    }
    inserts without_own_operators 18
    inserts without_own_operators_of_old 9
    inserts own_operators_in_functions 13
}

@test "impossible nodes are refused, and nothing is written" {
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs nothing --outputs add_out_4 --op Exp
    refused_without 'Tensor: nothing does not exist in the model.' out.onnx
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs add_out_4 --outputs nothing --op Exp
    refused_without 'Tensor: nothing does not exist in the model.' out.onnx
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs X0 --outputs add_out_4 add_out_4 --op Split
    refused_without "the new node cannot produce 'add_out_4' twice" out.onnx
    surgeon insert "$models/reducable.onnx" -o out.onnx --inputs add_out_4 --outputs X0 --op Exp --name new
    refused_without "nodes depend on each other in a cycle: 'onnx_graphsurgeon_node_1' -> " out.onnx
}

@test "malformed attributes are refused with the right form" {
    refuses()
    {
        surgeon insert "$models/reducable.onnx" -o out.onnx --inputs X0 --outputs X0 --op Exp --attrs "$1"
        refused_without "--attrs: '$1' $2" out.onnx
    }
    refuses axis 'is not of the form NAME=VALUE; write axis=1, alpha=0.5, mode=linear, perm=[0,2,1] or names=[a,b]'
    refuses =1 'is not of the form NAME=VALUE'
    refuses 'axes=[]' 'is an empty list, which has no type'
    refuses 'axes=[1,a]' 'mixes numbers and text'
    refuses 'axes=[[1],2]' 'contains a nested list'
}

@test "inputs, outputs and operator are required" {
    for option in '--inputs X0 --outputs X0' '--inputs X0 --op Exp' '--outputs X0 --op Exp'; do
        surgeon insert "$models/reducable.onnx" -o out.onnx $option
        [ "$status" -eq 2 ]
        [[ $stderr == *'the following arguments are required: '* ]]
    done
}
