# engine_branches.bats: If nodes whose branch a sample decides (--decide-branches).

load debug_helper

model=$POLYGRAPHY_ROOT/tests/models/decided_branch.onnx

build_for()
{
    polygraphy convert "$model" --convert-to trt -o model.engine --val-range "flag:[$1,$1]" "${@:2}"
}

@test "without the option, an If is one layer that takes both branches" {
    build_for 1
    run -0 polygraphy inspect model model.engine --show layers
    [[ $output == *"| inner [Kind: other"* ]]
    for condition in 0 1; do
        run -0 polygraphy run model.engine --trt --val-range "flag:[$condition,$condition]"
    done
}

@test "the branch that the sample takes stands in the place of the If" {
    build_for 1 --decide-branches
    run -0 polygraphy inspect model model.engine --show layers
    [[ $output == *"| inner takes its then branch in this engine [Kind: other"* ]]
    [[ $output != *"| inner [Kind"* ]]
    build_for 0 --decide-branches
    run -0 polygraphy inspect model model.engine --show layers
    [[ $output == *"| inner takes its else branch in this engine [Kind: other"* ]]
}

@test "an engine with decided branches computes what ONNX Runtime does" {
    for condition in 0 1; do
        run -0 polygraphy run "$model" --trt --onnxrt --decide-branches --val-range "flag:[$condition,$condition]"
        [[ $output == *"All outputs matched"* ]]
    done
}

@test "inputs that would take the other branch are refused, and the If is named" {
    build_for 1 --decide-branches
    run -0 polygraphy run model.engine --trt --val-range "flag:[1,1]"
    run -1 polygraphy run model.engine --trt --val-range "flag:[0,0]"
    [[ $output == *"[!] layer 'inner takes its then branch in this engine'"* ]]
}
