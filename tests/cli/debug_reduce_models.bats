# debug_reduce_models.bats: models with one peculiarity each, and what becomes of it in candidates and results.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes

# reduce_to NODE MODEL OPTION...: with a check that fails on the node.
reduce_to()
{
    reduce "$2" -o reduced.onnx "${@:3}" --check "$check_nodes" polygraphy_debug.onnx --fail-node "$1"
}

@test "all that is written of peculiar models is valid and loads" {
    for model in reducable reducable_with_const chain17 scalar_chain omitted_optional_input omitted_optional_output \
        same_input_twice subgraph_uses_outer_tensors nested_bodies scan_with_capture local_functions \
        constant_in_ir_version_3 quantization_annotations dynamic_quantization default_of_an_input \
        branches symbolic_dimensions weights_of_many_sizes matmul_chain_64; do
        nodes=$(reduce_models show "$models/$model.onnx" | sed 's/ \[.*//')
        for node in ${nodes%% *} ${nodes##* }; do
            for mode in bisect linear; do
                mkdir -p "$node-$mode"
                reduce_to "$node" "$models/$model.onnx" --min-good good.onnx --mode $mode --artifacts polygraphy_debug.onnx \
                    --art-dir "$node-$mode" --hide-fail-output
                [ ! -e reduced.onnx ] || worked
                # A Constant is an initializer by then, and so no candidate has such a node.
                [ -e reduced.onnx ] || refused 'the original model does not fail the check'
                [ ! -e reduced.onnx ] || mv reduced.onnx "$node-$mode"
                [ ! -e good.onnx ] || mv good.onnx "$node-$mode"
            done
        done
        find . -mindepth 2 -name '*.onnx' -exec cksum {} + | sort -u -k 1,1 | cut -d ' ' -f 3- >different
        readarray -t files <different
        echo "$model: ${#files[@]} models"
        valid_models "${files[@]}"
        find . -mindepth 1 -maxdepth 1 -type d -exec rm -r {} +
    done
}

@test "a node that uses one tensor twice gets one input" {
    reduce_to b "$models/same_input_twice.onnx" --mode linear
    worked
    [ "$(reduce_models show reduced.onnx)" = 'b [t->u]' ]
    valid_models reduced.onnx
}

@test "optional inputs and outputs that are left out are no tensors" {
    for model in omitted_optional_input omitted_optional_output; do
        nodes=$(reduce_models show "$models/$model.onnx" | sed 's/ \[.*//')
        for node in $nodes; do
            reduce_to "$node" "$models/$model.onnx" --mode linear
            worked
            [[ "$(reduce_models show reduced.onnx)" == "$node ["*']'* ]]
            [[ ! "$(reduce_models show reduced.onnx)" =~ \[,|,,|,-\>|-\>,|,\] ]]
            not_logged 'Variable \(\)'
        done
    done
}

@test "tensors that only a body uses are inputs of its node" {
    reduce_to b "$models/subgraph_uses_outer_tensors.onnx" --mode linear
    worked
    [ "$(reduce_models show reduced.onnx)" = 'b [cnd,t,c->u]' ]
    valid_models reduced.onnx
    reduce_to loop "$models/nested_bodies.onnx" --mode linear
    worked
    [ "$(reduce_models show reduced.onnx)" = 'loop [condition,x,scale,offset->y] const trips' ]
    valid_models reduced.onnx
}

@test "functions of the model stay with it" {
    reduce_to halved "$models/local_functions.onnx" --mode linear
    worked
    [ "$(reduce_models show reduced.onnx)" = 'halved [t->y]' ]
    valid_models reduced.onnx
    polygraphy run reduced.onnx --onnxrt
}

@test "a model of IR version 3 keeps its constants among the inputs" {
    reduce_to mul "$models/constant_in_ir_version_3.onnx" --mode linear
    worked
    [ "$(reduce_models show reduced.onnx)" = 'mul [t->y] const w' ]
    reduce_models shapes reduced.onnx | grep -qx 'w float \[2\]'
    valid_models reduced.onnx
}

@test "a model is not cut at a sequence, and that is no candidate that passed" {
    for mode in bisect linear; do
        reduce_to at "$models/sequence_between.onnx" --mode $mode --min-good good.onnx
        worked
        logged "^\[W\]         'parts' is not a tensor, so it can be neither fed nor compared: the model is not cut here$"
        [[ "$(reduce_models show reduced.onnx)" == *'split at ['* ]]
        [ ! -e good.onnx ] || [[ "$(reduce_models show good.onnx)" != *parts* ]]
        "$POLYGRAPHY_TEST_PROGRAMS/load_models" reduced.onnx
    done
}

@test "an input of unknown rank stays what it is" {
    reduce "$models/scalar_and_unknown_shape.onnx" -o reduced.onnx --mode linear --no-reduce-inputs <<<$'f\np'
    worked
    [ "$(reduce_models shapes reduced.onnx | head -n 1)" = 'unknown float unknown' ]
}

# ---- Frozen branches ----

# Which tensors were frozen, and what the inputs of the result are.
frozen()
{
    grep -oE 'Freezing tensor: Variable \([A-Za-z0-9]+' <<<"$output" | sed 's/.*(//' | sort -u | tr '\n' ' '
}

@test "a branch is frozen to values that are the same in all samples, and fed when they differ" {
    feeds same.json '[{"X0": f32([1]), "Y0": f32([5])}, {"X0": f32([2]), "Y0": f32([5])}]'
    feeds differ.json '[{"X0": f32([1]), "Y0": f32([5])}, {"X0": f32([2]), "Y0": f32([6])}]'
    feeds one.json '[{"X0": f32([1]), "Y0": f32([5])}]'
    feeds other.json '[{"X0": f32([1]), "Y0": f32([6])}]'
    options=(--mode linear --no-reduce-outputs)
    reduce_to onnx_graphsurgeon_node_1 "$models/reducable.onnx" "${options[@]}" --load-inputs same.json
    worked
    [ "$(frozen)" = 'Y0 ' ] # X0 differs
    [ "$(reduce_models show reduced.onnx | grep -oE '\[.*' )" = '[X0->identity_out_6,identity_out_8] const identity_out_2' ]
    reduce_to onnx_graphsurgeon_node_1 "$models/reducable.onnx" "${options[@]}" --load-inputs differ.json
    worked
    [ -z "$(frozen)" ]
    logged '^\[W\]         Some tensors that would be frozen to constants differ between the samples of the input data\.'
    [ "$(reduce_models show reduced.onnx | grep -oE '\[.*' )" = '[Y0,X0->identity_out_6,identity_out_8]' ]
    reduce_to onnx_graphsurgeon_node_1 "$models/reducable.onnx" "${options[@]}" --load-inputs one.json other.json
    worked
    [[ "$(frozen)" != *Y0* ]]
}

@test "random samples differ, too" {
    reduce_to onnx_graphsurgeon_node_1 "$models/reducable.onnx" --mode linear --no-reduce-outputs --iterations 3
    worked
    [ -z "$(frozen)" ]
    reduce_to onnx_graphsurgeon_node_1 "$models/reducable.onnx" --mode linear --no-reduce-outputs --iterations 3 \
        --val-range 'Y0:[7,7]'
    worked
    [ "$(frozen)" = 'Y0 ' ]
}

@test "a value that holds an infinity is not frozen: that would hide who made it" {
    reduce_models make infinite_branch model.onnx
    reduce_to max model.onnx --no-reduce-outputs --mode linear --artifacts polygraphy_debug.onnx
    worked
    logged '^\[W\]         Some tensors that would be frozen to constants contain infinities or NaN\. '
    for candidate in polygraphy_artifacts/*/*.onnx; do
        [[ "$(reduce_models show "$candidate")" != *const*infinity* ]]
    done
    valid_models polygraphy_artifacts/*/*.onnx
}

# ---- Models that ONNX Runtime does not take ----

@test "a model that the runtime refuses is cut down to the node that it refuses" {
    reduce_models make invalid model.onnx
    for mode in bisect linear; do
        reduce model.onnx -o reduced.onnx --min-good good.onnx --mode $mode --check \
            polygraphy run polygraphy_debug.onnx --onnxrt
        worked
        logged '^\[W\]         Shape inference is not possible: '
        [[ "$(reduce_models show reduced.onnx)" == 'matmul [b->c]' ]]
        [ "$(reduce_models shapes reduced.onnx | head -n 1)" = 'b float [2, 3]' ]
        "$POLYGRAPHY_TEST_PROGRAMS/load_models" good.onnx
    done
}

@test "where the model cannot be run, branches are frozen as long as what makes them can" {
    reduce_models make unknown_operator model.onnx
    reduce_to abs model.onnx --no-reduce-outputs --mode linear --artifacts polygraphy_debug.onnx
    worked
    not_logged 'There are no values'
    [ "$(reduce_models show reduced.onnx)" = 'abs mystery exp [y->z] const a' ]
}

@test "where that cannot be run either, branches are fed instead of frozen" {
    reduce_models make unknown_branch model.onnx
    reduce_to abs model.onnx --no-reduce-outputs --mode linear --artifacts polygraphy_debug.onnx
    worked
    [ "$(grep -c '^\[W\]         There are no values to freeze tensors to: ' <<<"$output")" -eq 1 ]
    [ "$(reduce_models show reduced.onnx)" = 'mystery abs add exp [y,x->z]' ]
    [ "$(frozen)" = 'y ' ]
}

@test "given data that cannot be used are an error all the same" {
    feeds data.json '[{"X0": f32([1])}]'
    reduce_to onnx_graphsurgeon_node_1 "$models/reducable.onnx" --no-reduce-outputs --mode linear --load-inputs data.json
    refused "input 'Y0'"
    [ ! -e reduced.onnx ]
    [ ! -e polygraphy_debug.onnx ]
}

@test "without ONNX Runtime a model that tells its types is reduced, and another ends in one clear error" {
    export POLYGRAPHY_ONNXRUNTIME=/missing/libonnxruntime.so.1
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" model.onnx 9 0 branches
    reduce_to node_4 model.onnx --mode linear
    worked
    [ "$(reduce_models show reduced.onnx)" = 'node_4 [t2->t4]' ]
    reduce_to onnx_graphsurgeon_node_9 "$models/reducable.onnx"
    [ "$status" -eq 1 ]
    [[ $stderr == '[!] '*'/missing/libonnxruntime.so.1'* ]]
    [ ! -e polygraphy_debug.onnx ]
}

# A check that fails on each model with the operator, wherever it is.
reduce_to_operator()
{
    reduce "$2" -o reduced.onnx "${@:3}" --check sh -c "! grep -q $1 polygraphy_debug.onnx"
}

@test "a node inside of a branch or a loop is found" {
    for mode in bisect minimal; do
        reduce_to_operator Tanh "$models/all_in_an_if.onnx" --mode $mode --val-range rate:[8,8]
        worked
        logged 'Bodies of If, Loop and Scan are inlined, as the input data run through them: 3 nodes instead of 2'
        logged "Reduced 3 nodes to 1: 'small_tanh' \\(Tanh\\)"
        valid_models reduced.onnx
    done
    reduce_to_operator Mul "$models/scan_with_capture.onnx" --mode minimal
    worked
    logged 'Reduced 1[0-9] nodes to 1: .* \(Mul\)'
}

@test "what fails only as control flow is searched as it is" {
    reduce_to_operator If "$models/all_in_an_if.onnx" --mode minimal --val-range rate:[8,8]
    worked
    logged 'With the bodies of If, Loop and Scan inlined the model does not fail'
    logged "Reduced 2 nodes to 1: 'choice' \\(If\\)"
}
