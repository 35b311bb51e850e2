# surgeon_extract.bats: parts of models as models of their own.

load debug_helper
load surgeon_helper

@test "the part between two tensors" {
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs identity_out_0:auto:auto identity_out_2:auto:auto \
        --outputs identity_out_6:auto
    worked
    lines_are <<'END'
[I] RUNNING | Command: polygraphy surgeon extract reducable.onnx -o part.onnx --inputs identity_out_0:auto:auto identity_out_2:auto:auto --outputs identity_out_6:auto
[I] Loading model: reducable.onnx
[I] Running shape inference to derive shapes and/or data types for `auto` arguments.
    To avoid this, you can specify the shapes and data types explicitly.
[I] Saving ONNX model to: part.onnx
[I] PASSED | Runtime: TIME | Command: polygraphy surgeon extract reducable.onnx -o part.onnx --inputs identity_out_0:auto:auto identity_out_2:auto:auto --outputs identity_out_6:auto
END
    holds part.onnx 'input|output|constant|node' <<'END'
input identity_out_0 float[1]
input identity_out_2 float[1]
output identity_out_6 float[1]
node onnx_graphsurgeon_node_5: Add(identity_out_0,identity_out_2) -> add_out_4
node onnx_graphsurgeon_node_7: Identity(add_out_4) -> identity_out_6
END
    valid_models part.onnx
}

@test "the model and the part are shown, and it is said when shapes have to be inferred" {
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs add_out_4:auto:auto --outputs identity_out_6:auto
    worked
    diff <(sed -n '/Original Model/,/Saving/p' <<<"$output" | sed 's/ *$//') - <<'END'
[I] Original Model:
    Name: onnx_graphsurgeon_graph | ONNX Opset: 11

    ---- 2 Graph Input(s) ----
    {X0 [dtype=float32, shape=(1,)],
     Y0 [dtype=float32, shape=(1,)]}

    ---- 2 Graph Output(s) ----
    {identity_out_6 [dtype=float32, shape=(1,)],
     identity_out_8 [dtype=float32, shape=(1,)]}

    ---- 0 Initializer(s) ----

    ---- 5 Node(s) ----

[I] Running shape inference to derive shapes and/or data types for `auto` arguments.
    To avoid this, you can specify the shapes and data types explicitly.
[I] Saving ONNX model to: part.onnx
END
    diff <(sed -n '/New Model/,/Node/p' <<<"$output" | sed 's/ *$//') - <<'END'
[I] New Model:
    Name: onnx_graphsurgeon_graph | ONNX Opset: 11

    ---- 1 Graph Input(s) ----
    {add_out_4 [dtype=float32, shape=(1,)]}

    ---- 1 Graph Output(s) ----
    {identity_out_6 [dtype=float32, shape=(1,)]}

    ---- 0 Initializer(s) ----

    ---- 1 Node(s) ----
END
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs 'add_out_4:[1]:float32' --outputs identity_out_6:auto
    worked
    not_logged 'Running shape inference'
}

@test "without --inputs or --outputs the model's own are taken" {
    surgeon extract "$models/reducable.onnx" -o front.onnx --outputs add_out_4:auto
    worked
    holds front.onnx 'input|output' <<<$'input X0 float[1]\ninput Y0 float[1]\noutput add_out_4 float[1]'
    surgeon extract "$models/reducable.onnx" -o back.onnx --inputs add_out_4:auto:auto
    worked
    holds back.onnx 'output|node' <<'END'
output identity_out_6 float[1]
output identity_out_8 float[1]
node onnx_graphsurgeon_node_7: Identity(add_out_4) -> identity_out_6
node onnx_graphsurgeon_node_9: Identity(add_out_4) -> identity_out_8
END
    not_logged "\[W\] No output depends on the input 'X0'"
    surgeon extract "$models/reducable.onnx" -o all.onnx
    worked
    diff <(show all.onnx) <(show "$models/reducable.onnx")
    valid_models front.onnx back.onnx all.onnx
}

@test "what the model does not say is inferred, symbols included" {
    make chain chain.onnx
    surgeon extract chain.onnx -o part.onnx --inputs a:0:auto:auto --outputs scope/b:auto
    worked
    holds part.onnx 'input|output|node' <<'END'
input a:0 float[n,2]
output scope/b float[n,2]
node abs: Abs(a:0) -> scope/b
END
    not_logged 'Running inference'
    valid_models part.onnx
}

@test "shapes and types that are given overrule the model" {
    make chain chain.onnx
    surgeon extract chain.onnx -o part.onnx --inputs 'a:0:[3,2]:float32' --outputs y:float32
    worked
    holds part.onnx 'input|output' <<<$'input a:0 float[3,2]\noutput y float[n,2]'
    surgeon extract chain.onnx -o part.onnx --inputs 'x:[3,2]:auto' # the model says otherwise: y follows
    worked
    holds part.onnx 'input|output' <<<$'input x float[3,2]\noutput y float[3,2]'
    surgeon extract chain.onnx -o part.onnx --inputs 'a:0:[N,-1]:auto' --outputs y:auto
    worked
    holds part.onnx 'input' <<<'input a:0 float[N,?]'
    surgeon extract chain.onnx -o part.onnx --inputs 'a:0:auto:FLOAT32' --outputs y:auto
    worked
    holds part.onnx 'input' <<<'input a:0 float[n,2]'
    valid_models part.onnx
}

@test "what is given needs no runtime, and neither does what the model says" {
    make chain chain.onnx
    surgeon extract chain.onnx -o given.onnx --inputs 'a:0:[3,2]:float32' --outputs scope/b:float32 \
        --onnxruntime-lib /nowhere
    worked
    holds given.onnx 'input|output' <<<$'input a:0 float[3,2]\noutput scope/b float'
    surgeon extract "$models/nested_bodies.onnx" -o said.onnx --outputs scale:auto --onnxruntime-lib /nowhere
    worked
    surgeon extract chain.onnx -o open.onnx --inputs a:0:auto:auto --onnxruntime-lib /nowhere
    refused_without "the type or shape of 'a:0' is unknown: ONNX Runtime's shared library" open.onnx
    logged "^\[W\] Shape inference is not possible: ONNX Runtime's shared library"
}

@test "a scalar has the shape []" {
    surgeon extract "$models/scalar_chain.onnx" -o part.onnx --inputs "$(show "$models/scalar_chain.onnx" |
        sed -nE '/^node/{s/.*-> //p;q}'):[]:float32"
    worked
    show part.onnx | grep -qE '^input [^ ]+ float\[\]$'
    valid_models part.onnx
}

@test "what cannot be inferred is taken from a run" {
    make unknown_shape model.onnx
    surgeon extract model.onnx -o part.onnx --inputs reshaped:auto:auto
    worked
    logged '^\[I\] Running inference with ONNX-Runtime to determine metadata for intermediate tensors\.$'
    logged '^\[I\] {5}Running fallback shape inference using input metadata:$'
    holds part.onnx 'input' <<<'input reshaped int64[1,2]'
    valid_models part.onnx
}

@test "a forced run makes every shape static, of the inputs that are asked for" {
    surgeon extract "$models/dynamic_identity.onnx" -o part.onnx --force-fallback-shape-inference \
        --model-input-shapes 'X:[1,2,5,5]'
    worked
    logged '^ {8}\{X \[dtype=float32, shape=\(1, 2, 5, 5\)\]'
    holds part.onnx 'input|output' <<<$'input X float[1,2,5,5]\noutput Y float[1,2,5,5]'
}

@test "the run takes the data that are given" {
    make unknown_shape model.onnx
    feeds feed.json '[{"x": f32([0, 7])}]'
    surgeon extract model.onnx -o part.onnx --inputs reshaped:auto:auto --load-inputs feed.json
    worked
    holds part.onnx 'input' <<<'input reshaped int64[1,1]'
}

@test "an output that depends on something left out is an error, and nothing is written" {
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs identity_out_0:auto:auto --outputs add_out_4:auto
    refused_without 'Tensor: Y0 is not produced by a node or marked as a graph input' part.onnx
    logged '^\[E\] FAILED \| Runtime: [0-9.]+s \| Command: '
    echo before >part.onnx
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs Y0:auto:auto --outputs add_out_4:auto
    refused 'Tensor: X0 is not produced by a node or marked as a graph input'
    [ "$(cat part.onnx)" = before ]
}

@test "several missing tensors are all named" {
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs identity_out_8:auto:auto
    refused_without 'Tensor: X0 is not produced by a node or marked as a graph input (nor is Y0), but' part.onnx
}

@test "tensors that bodies use count as inputs" {
    surgeon extract "$models/nested_bodies.onnx" -o part.onnx --inputs x:auto:auto condition:auto:auto
    worked
    surgeon extract "$models/nested_bodies.onnx" -o part.onnx --inputs x:auto:auto condition:auto:auto scale:auto:auto
    worked
    holds part.onnx 'input|node' <<'END'
input x float[2]
input condition bool[]
input scale float[2]
node neg: Neg(x) -> offset
node loop: Loop(trips,condition,x) -> y body=...
END
    valid_models part.onnx
}

@test "an input that nothing uses stays, with a warning" {
    make two_inputs model.onnx
    surgeon extract model.onnx -o part.onnx --outputs a:auto
    worked
    logged "^\[W\] No output depends on the input 'z'$"
    holds part.onnx 'input' <<<$'input x float[2]\ninput z float[2]'
    valid_models part.onnx
}

@test "a constant can become an input, and an output" {
    surgeon extract "$models/default_of_an_input.onnx" -o part.onnx --inputs x:auto:auto w:auto:auto
    worked
    holds part.onnx 'input|constant' <<<$'input x float[2]\ninput w float[2]'
    make function_and_metadata model.onnx
    surgeon extract model.onnx -o weight.onnx --inputs x:auto:auto --outputs w:auto y:auto
    worked
    holds weight.onnx 'output|constant' <<'END'
output w float[4,2]
output y float[1,2]
constant w float[4, 2]
END
    valid_models part.onnx
}

@test "functions, metadata and unknown fields survive" {
    make function_and_metadata model.onnx
    surgeon extract model.onnx -o part.onnx --inputs a:auto:auto
    worked
    diff <(show model.onnx | grep -E '^(made|opset|metadata|function|constant)') \
        <(show part.onnx | grep -E '^(made|opset|metadata|function|constant)')
}

@test "an operator that the runtime does not know is in the way only where types are open" {
    make unknown_operator model.onnx
    surgeon extract model.onnx -o part.onnx --inputs 'b:[2]:float32'
    worked
    not_logged '^\[W\]'
    valid_models part.onnx
    surgeon extract model.onnx -o part2.onnx --inputs b:auto:auto
    refused_without "the type or shape of 'b' is unknown: " part2.onnx
    logged '^\[W\] Shape inference is not possible: .*Mystery'
}

@test "a part that ONNX Runtime refuses is not written, unless it refuses the model as well" {
    make product model.onnx
    surgeon extract model.onnx -o part.onnx --inputs 'x:[2,5]:auto' --outputs a:auto
    refused_without "Node (which makes 'a') Op (MatMul)" part.onnx
    surgeon extract model.onnx -o part.onnx --inputs 'x:[2,3]:auto' --outputs a:auto
    worked
    valid_models part.onnx
    surgeon extract "$models/unknown_operator.onnx" -o same.onnx
    worked
    logged '^\[W\] ONNX Runtime accepts neither the output model nor the original: '
}

@test "sequences cannot be at the cut" {
    surgeon extract "$models/sequence_between.onnx" -o part.onnx --inputs parts:auto:auto y:auto:auto
    refused_without "'parts' is a sequence, map or optional, not a tensor: cut the model elsewhere" part.onnx
}

@test "external data are in reach of the part, or are not looked for" {
    mkdir model
    cp "$models/external_weights.onnx" "$models/weights.data" model/
    surgeon extract model/external_weights.onnx -o part/part.onnx
    worked
    cmp part/weights.data model/weights.data
    [ ! part/weights.data -ef model/weights.data ]
    valid_models part/part.onnx
    rm model/weights.data
    surgeon extract model/external_weights.onnx -o other/part.onnx
    refused_without "cannot find external data" other/part.onnx
    surgeon extract model/external_weights.onnx -o other/part.onnx --ignore-external-data
    worked
    show other/part.onnx | grep -q 'external$'
    [ "$(ls other)" = part.onnx ]
}

@test "weights go into a file of their own when that is asked for" {
    make weights model.onnx
    surgeon extract model.onnx -o part.onnx --inputs a:auto:auto --save-external-data part.weights
    worked
    [ "$(show part.onnx | grep -c 'external$')" -eq 2 ]
    [ -s part.weights ]
    valid_models part.onnx
}

@test "the model itself can be replaced by the part" {
    cp "$models/reducable.onnx" model.onnx
    surgeon extract model.onnx -o model.onnx --inputs add_out_4:auto:auto
    worked
    [ "$(show model.onnx | grep -c '^node')" -eq 2 ]
    valid_models model.onnx
}

@test "tensors that are not there are refused" {
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs nothing:auto:auto
    refused_without 'Tensor: nothing does not exist in the model.' part.onnx
    surgeon extract "$models/reducable.onnx" -o part.onnx --outputs nothing:auto
    refused_without 'Tensor: nothing does not exist in the model.' part.onnx
}

@test "names close to one that is not there are offered" {
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs ad_out_4:auto:auto
    refused_without "Tensor: ad_out_4 does not exist in the model; did you mean 'add_out_4'" part.onnx
    run --separate-stderr polygraphy run "$models/reducable.onnx" --onnxrt --onnx-outputs ad_out_4
    refused "did you mean 'add_out_4'"
    run --separate-stderr polygraphy surgeon sanitize "$models/reducable.onnx" -o part.onnx --override-input-shapes X:[1]
    refused_without "Tensor: X does not exist in the model; did you mean 'X0'?" part.onnx
}

@test "outputs that are inputs are no part, and one of several is mentioned" {
    surgeon extract "$models/reducable.onnx" -o part.onnx --outputs X0:auto
    refused_without "'X0' is an input and the only output, so there is no node between them" part.onnx
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs add_out_4:auto:auto \
        --outputs add_out_4:auto identity_out_6:auto
    worked
    logged "^\[W\] The output 'add_out_4' is also an input: no node of the subgraph produces it$"
}

@test "blanks in a shape do no harm, quoted or not" {
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs 'add_out_4: [1, ]:float32'
    worked
    surgeon extract "$models/reducable.onnx" -o same.onnx --inputs add_out_4: [1, ]:float32
    worked
    cmp part.onnx same.onnx
}

@test "malformed descriptions are refused with the right form" {
    refuses()
    {
        surgeon extract "$models/reducable.onnx" -o part.onnx "$1" "$2"
        refused_without "$3" part.onnx
    }
    refuses --inputs X0 "--inputs: 'X0' is not of the form NAME:SHAPE:TYPE; write x:[1,3]:float32, or x:auto:auto"
    refuses --inputs X0:auto "--inputs: 'X0:auto' is not of the form NAME:SHAPE:TYPE"
    refuses --inputs :auto:auto "--inputs: ':auto:auto' is not of the form NAME:SHAPE:TYPE"
    refuses --outputs X0 "--outputs: 'X0' is not of the form NAME:TYPE; write y:float32, or y:auto"
    refuses --inputs X0:1:float32 \
        "--inputs: 'X0:1:float32': '1' is not a shape; write [1,3], or auto"
    refuses --inputs 'X0:[1,2.5]:float32' "--inputs: 'X0:[1,2.5]:float32': dimension 2 is not valid; write a number of 0 or more"
    refuses --inputs X0:auto:real \
        "--inputs: 'X0:auto:real': 'real' is not a data type; write float32, int64, ..., or auto"
    refuses --outputs add_out_4:real "--outputs: 'add_out_4:real': 'real' is not a data type"
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs X0:auto:auto X0:auto:auto
    refused_without "--inputs: 'X0' is named twice" part.onnx
}

@test "sequences keep their own description" {
    surgeon extract "$models/sequence_output.onnx" -o part.onnx --outputs pair:auto
    worked
    holds part.onnx 'output' <<<'output pair sequence_type'
    surgeon extract "$models/sequence_output.onnx" -o part2.onnx --outputs pair:float32
    refused_without "'pair' has no tensor type (sequence): write auto for its shape and type" part2.onnx
}

@test "a type that the model contradicts is refused" {
    surgeon extract "$models/reducable.onnx" -o part.onnx --inputs X0:auto:int64 Y0:auto:auto
    refused_without "'X0' is float32 in the model, not int64: no runtime would load that subgraph" part.onnx
    surgeon extract "$models/reducable.onnx" -o part.onnx --outputs identity_out_6:float16
    refused_without "'identity_out_6' is float32 in the model, not float16" part.onnx
}

@test "small types are told apart" {
    for type in float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz; do
        surgeon extract "$models/every_type.onnx" -o part.onnx --inputs "$type:[5]:$type" --outputs "${type}_out:auto"
        worked
        run --separate-stderr polygraphy inspect model part.onnx
        worked
        logged "^ *\\{${type}_out \\[dtype=$type, shape=\\(5,\\)\\]\\}$"
    done
}

@test "files that are not there or not ONNX are refused" {
    surgeon extract missing.onnx -o part.onnx
    refused_without "missing.onnx" part.onnx
    logged '^\[W\] Model path does not exist: missing.onnx$'
    echo 'not a model' >bad.onnx
    surgeon extract bad.onnx -o part.onnx
    refused_without 'bad.onnx: ' part.onnx
    surgeon extract "$models/reducable.onnx"
    [ "$status" -eq 2 ]
    [[ $stderr == *'the following arguments are required: -o/--output'* ]]
}

@test "a script reads the result through the temporary file that it has made" {
    python3 - "$models/reducable.onnx" <<'END'
import subprocess, sys, tempfile

with tempfile.NamedTemporaryFile(suffix=".onnx") as file, tempfile.NamedTemporaryFile(suffix=".json") as outputs:
    subprocess.run(["polygraphy", "surgeon", "extract", sys.argv[1], "-o", file.name, "--outputs", "identity_out_0:auto"],
                   check=True)
    subprocess.run(["polygraphy", "run", file.name, "--onnxrt", "--save-outputs", outputs.name], check=True)
    assert b"identity_out_0" in file.read()
    assert b"identity_out_0" in outputs.read()
END
}

@test "--inputs without names extracts a subgraph of constants" {
    surgeon extract "$models/constants_of_every_form.onnx" -o part.onnx --inputs --outputs tensor:auto
    worked
    holds part.onnx 'input' </dev/null
    surgeon extract "$models/constants_of_every_form.onnx" -o other.onnx --inputs --outputs y:auto
    refused 'Tensor: x is not produced by a node or marked as a graph input'
}
