# debug_models.bats: two models that should be equal: what differs, and which difference makes the outputs differ.

load debug_helper

# Makes the reference, and a model with these changes.
make_pair()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/equal_models.py" A a.onnx
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/equal_models.py" "$@" b.onnx
}

# What a program reads of the result.
result()
{
    /usr/bin/python3 -c 'import json, sys
value = json.load(open("result.json"))
print(eval(sys.argv[1], {"result": value}))' "$1"
}

# The command finds `sentence` as the only cause in a model with these changes, and the model that it saves agrees.
finds()
{
    local sentence=$1
    shift
    make_pair "$@"
    run polygraphy debug models a.onnx b.onnx --json result.json -o fixed.onnx
    [ "$status" -eq 0 ]
    logged "Cause: $sentence"
    [ "$(result 'result["verdict"], result["outcome"], len(result["causes"])')" = "('cause', 'cause', 1)" ]
    [ "$(result 'result["error"] > result["tolerance"] > result["error_with_parts"]')" = True ]
    run polygraphy debug models a.onnx fixed.onnx
    [ "$status" -eq 0 ]
    logged 'The outputs agree'
}

@test "a weight: transposed, scaled, one channel, in another order, of another node" {
    finds "'w_up' of 'up' .MatMul. is transposed" transposed
    finds "'w_k' of 'key' .MatMul. is 2 times A's" scaled
    finds "'w_down' of 'down' .MatMul. differs in channel 5 of axis 1: 4 times A's" channel
    finds "'w_up' of 'up' .MatMul. has A's channels of axis 1 in another order" permuted
    finds "'w_k' of 'query' .MatMul. is A's 'w_k', not 'w_q'" other_weight
}

@test "an attribute" {
    finds "epsilon 0.5, not 1e-12, in 'norm' .LayerNormalization." epsilon
    finds "axis 1, not -1, in 'softmax' .Softmax." axis
}

@test "inputs that are exchanged, a node that is missing, one too many, another operator" {
    finds "'subtract' .Sub. has its two inputs exchanged" swapped
    finds "'halve' .Div. has its two inputs exchanged" swapped_constant
    finds "'softmax' .Softmax. reads 'scores', not A's 'masked', the output of 'add_mask' .Add." no_mask
    finds "'up' .MatMul. reads 'cut', not 'difference'" extra_relu
    finds "'active' is the output of 'tanh' .Sigmoid., not of 'tanh' .Tanh." other_operator
}

@test "names are random words, and nodes and inputs are in another order" {
    finds "'[a-z]*' of '[a-z]*' .MatMul. is transposed" transposed shuffled renamed
    finds "epsilon 0.5, not 1e-12" epsilon shuffled renamed
    finds "axis 1, not -1" axis shuffled renamed
    finds "'[a-z]*' .Sub. has its two inputs exchanged" swapped shuffled renamed
    finds "'[a-z]*' .Softmax. reads '[a-z]*', not A's 'masked'" no_mask shuffled renamed
    finds "'[a-z]*' of '[a-z]*' .MatMul. differs in channel 5 of axis 1: 4 times A's" channel shuffled renamed
}

@test "models that are equal: renamed, in single operators, with a weight in float16" {
    local changes
    for changes in 'shuffled renamed' 'decomposed' 'decomposed shuffled renamed' 'half'; do
        make_pair $changes
        run polygraphy debug models a.onnx b.onnx --json result.json
        [ "$status" -eq 0 ]
        logged 'The outputs agree: largest difference'
        [ "$(result 'result["verdict"], result["causes"], result["error"] <= result["tolerance"]')" = "('passed', [], True)" ]
    done
}

@test "the part of A that one operator has and B in several" {
    finds "'normed' is the output of 'norm_normed' .Add., not of 'norm' .LayerNormalization." decomposed large_epsilon
}

@test "several causes are found together, and each is necessary" {
    make_pair transposed epsilon no_mask renamed
    run polygraphy debug models a.onnx b.onnx --json result.json -o fixed.onnx
    [ "$status" -eq 0 ]
    logged 'Causes: epsilon 0.5'
    logged 'Evidence: without any one of these parts it does not'
    [ "$(result 'sorted(cause["kind"] for cause in result["causes"])')" = "['attribute', 'input', 'weight']" ]
    run polygraphy debug models a.onnx fixed.onnx
    logged 'The outputs agree'
}

@test "a model with other nodes has no cause, and nothing that is not known is claimed" {
    make_pair unrelated
    run polygraphy debug models a.onnx b.onnx --json result.json -o fixed.onnx
    [ "$status" -eq 1 ]
    logged 'no nodes could be paired'
    [ "$(result 'result["verdict"], result["outcome"], result["causes"]')" = "('failed', 'differ', [])" ]
    [ ! -e fixed.onnx ]
}

@test "a tolerance of one's own; inputs that A does not have" {
    make_pair scaled
    run polygraphy debug models a.onnx b.onnx --norm-tolerance 0.5
    [ "$status" -eq 0 ]
    logged 'The outputs agree'
    run polygraphy debug models a.onnx b.onnx --norm-tolerance 0
    [ "$status" -eq 1 ]
    run polygraphy debug models "$POLYGRAPHY_ROOT/tests/models/sequence_output.onnx" \
        "$POLYGRAPHY_ROOT/tests/models/sequence_output.onnx"
    [ "$status" -eq 0 ]
    logged 'Not tested: 1 of 2 outputs of B'
    make_pair no_mask_input
    run polygraphy debug models b.onnx a.onnx
    [ "$status" -eq 1 ]
    [[ $output == *"input 'mask' of B has no counterpart in A"* ]]
}

@test "a decoder of two exporters; quantizers that both models have do not widen the tolerance" {
    local exported=$POLYGRAPHY_ROOT/tests/models/exported
    run polygraphy debug models "$exported/decoder_legacy.onnx" "$exported/decoder_dynamo.onnx"
    [ "$status" -eq 0 ]
    logged 'The outputs agree: largest difference'
    run polygraphy debug models "$exported/genai_int4.onnx" "$exported/genai_int4.onnx" --json result.json
    [ "$status" -eq 0 ]
    [ "$(result 'result["tolerance"] < 1e-3')" = True ]
}

@test "inspect diff-models lists differences and nodes of one model, and runs nothing" {
    make_pair transposed epsilon renamed
    run polygraphy inspect diff-models a.onnx b.onnx --json result.json
    [ "$status" -eq 0 ]
    logged '15 of 15 nodes of A and 15 of B are paired; 2 of their weights, attributes or inputs differ'
    [ "$(result '[difference["kind"] for difference in result["differences"]]')" = "['attribute', 'weight']" ]
    make_pair extra_relu
    polygraphy inspect diff-models a.onnx b.onnx --json result.json
    [ "$(result '[node["op_type"] for node in result["only_in_b"]], result["only_in_a"]')" = "(['Relu'], [])" ]
    make_pair shuffled renamed
    run polygraphy inspect diff-models a.onnx b.onnx
    logged 'All 15 nodes are paired, and equal in weights, attributes and inputs'
}

@test "nodes of a model in float16 are paired behind its casts" {
    make_pair A
    polygraphy convert a.onnx --convert-to onnx --fp-to-fp16 -o half.onnx
    run polygraphy inspect diff-models a.onnx half.onnx
    [ "$status" -eq 0 ]
    logged '15 of 15 nodes of A and 18 of B are paired'
    run polygraphy debug models a.onnx half.onnx
    [ "$status" -eq 0 ]
    logged 'The outputs agree'
}

@test "a weight with equal elements in another shape is a cause, and listed as a difference" {
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/equal_models.py" square a.onnx
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/equal_models.py" square column b.onnx
    run polygraphy debug models a.onnx b.onnx
    [ "$status" -eq 0 ]
    logged "Cause: 'row' of 'add_row' .Add. has the shape .4, 1., not .4,."
    run polygraphy inspect diff-models a.onnx b.onnx
    logged '1 of their weights, attributes or inputs differ, 1 of these in shape or type only'
}

@test "integers that differ are counted; inputs of other names, random nodes and NaN are reported" {
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/equal_models.py" largest a.onnx
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/equal_models.py" largest transposed renamed b.onnx
    run polygraphy debug models a.onnx b.onnx
    [ "$status" -eq 0 ]
    logged "Evidence: output '[a-z]*' differs from A's in [1-4] of 4 elements"
    logged "inputs of B paired with those of A that have other names: '[a-z]*' and A's 'x', '[a-z]*' and A's 'mask'"
    make_pair noise
    run polygraphy debug models a.onnx b.onnx
    [ "$status" -eq 0 ]
    logged "Cause: 'norm' .LayerNormalization. reads 'noisy', not 'x'"
    logged "B's node 'noise' .RandomNormalLike. produces random values"
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/equal_models.py" more_outputs c.onnx
    run polygraphy debug models c.onnx c.onnx
    [ "$status" -eq 0 ]
    logged '1 output of A with NaN or infinities'
    run polygraphy debug models c.onnx a.onnx
    logged 'Not tested: 1 of 2 outputs of A'
}

@test "external data: each model has its own folder, and weights that cannot be read are an error" {
    make_pair scaled
    mkdir a b
    for name in a b; do
        /usr/bin/python3 -c 'import onnx, sys
onnx.save(onnx.load(sys.argv[1]), sys.argv[2], save_as_external_data=True, location="w.bin", size_threshold=0)' \
            $name.onnx $name/m.onnx
    done
    run polygraphy debug models a/m.onnx b/m.onnx --external-data-dir a
    [ "$status" -eq 0 ]
    logged "Cause: 'w_k' of 'key' .MatMul. is 2 times A's"
    rm b/w.bin
    run polygraphy inspect diff-models b/m.onnx b/m.onnx
    [ "$status" -eq 1 ]
    [[ $output == *"cannot find external data"* ]]
}

# ---- The tensors of another program ----

# Records the tensors of a model with these changes in tensors.safetensors: all of them, or outputs only.
record()
{
    local marks=$1
    shift
    make_pair "$@"
    polygraphy run a.onnx --onnxrt --save-inputs in.safetensors --silent
    polygraphy run b.onnx --onnxrt --onnxrt-optimization-level none --load-inputs in.safetensors $marks \
        --save-outputs tensors.safetensors --silent
}

@test "of another program its tensors tell where it first differs" {
    record '--onnx-outputs mark all' epsilon
    run polygraphy debug models a.onnx --load-inputs in.safetensors --load-outputs tensors.safetensors --json result.json
    [ "$status" -eq 1 ]
    logged "The outputs differ; B first diverges from A at 'norm' .LayerNormalization."
    logged "Not tested: which of these nodes B computes wrongly"
    [ "$(result 'result["outcome"], result["first_divergence"]')" = "('differ', 'norm')" ]
    record '' other_operator
    run polygraphy debug models a.onnx --load-inputs in.safetensors --load-outputs tensors.safetensors
    [ "$status" -eq 1 ]
    logged "The outputs differ; B first diverges from A in one of [0-9]* nodes: "
}

@test "tensors with other names are found by their values" {
    record '--onnx-outputs mark all' A renamed
    run polygraphy debug models a.onnx --load-inputs in.safetensors --load-outputs tensors.safetensors --json result.json
    [ "$status" -eq 0 ]
    logged 'The outputs agree'
    logged 'Evidence: 15 of the tensors that nodes of A compute have an equal counterpart in B, of 15'
}

@test "B is a model or tensors, and tensors need their inputs" {
    make_pair epsilon
    run polygraphy debug models a.onnx
    [ "$status" -eq 1 ]
    logged 'B is either a second model, or the tensors of --load-outputs: name one of the two$'
    run polygraphy debug models a.onnx --load-outputs none.json
    [ "$status" -eq 1 ]
    logged 'the inputs that these were computed from are needed: --load-inputs$'
    echo '[]' >none.json
    run polygraphy debug models a.onnx --load-inputs none.json --load-outputs none.json
    [ "$status" -eq 1 ]
}
