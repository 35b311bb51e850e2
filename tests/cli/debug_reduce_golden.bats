# debug_reduce_golden.bats: where the values come from that candidates are fed with, compared with, and frozen to.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

# x -> exp0 -> exp1 -> exp2: no two runtimes are likely to agree in every digit. 32 KiB each.
make_model()
{
    /usr/bin/python3 - "$1" <<'EOF'
import sys
import onnx
from onnx import helper, TensorProto
names = ["x", "a", "b", "y"]
nodes = [helper.make_node("Tanh", [names[i]], [names[i + 1]], name=f"tanh{i}") for i in range(3)]
values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8192]) for name in names]
graph = helper.make_graph(nodes, "g", [values[0]], [values[3]])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), sys.argv[1])
EOF
}

@test "either runner can give the values, which agree" {
    make_model model.onnx
    script check.sh <<'EOF'
cp golden.json "golden$POLYGRAPHY_ITERATION.json"
polygraphy run polygraphy_debug.onnx --onnxrt --load-inputs in.json --load-outputs golden.json --atol 1e-5 >> run.log ||
    exit 2
polygraphy inspect model polygraphy_debug.onnx --show layers | grep -q tanh1 && exit 1
exit 0
EOF
    for golden in onnxrt trt; do
        POLYGRAPHY_TRT=builtin reduce model.onnx -o minimal.onnx --mode minimal --golden $golden --iter-inputs in.json \
            --iter-golden golden.json --fail-code 1 --check ./check.sh
        worked
        [ "$(reduce_models show minimal.onnx)" = 'tanh1 [a->b]' ]
        mkdir $golden
        mv golden*.json minimal.onnx $golden/
        run ! grep FAILED run.log
        rm -f polygraphy_debug_replay*
    done
    cmp onnxrt/minimal.onnx trt/minimal.onnx
}

@test "the built-in engine says that it is not TensorRT, and how it got the values" {
    make_model model.onnx
    fails_on_candidates
    reduce model.onnx -o minimal.onnx --mode minimal --golden trt --iter-inputs in.json --check ./fails.sh
    worked
    logged '^\[W\] TensorRT is (not )?installed'
    logged 'Running inference with the built-in engine to determine metadata'
    fails_on_candidates
    reduce model.onnx -o minimal.onnx --mode minimal --iter-inputs in.json --check ./fails.sh
    worked
    not_logged 'TensorRT is'
    logged 'Running inference with ONNX-Runtime to determine metadata'
}

@test "branches are frozen to what the engine computes" {
    script check.sh <<'EOF'
[ "$POLYGRAPHY_ITERATION" -ge 0 ] || exit 0 # a control
cp polygraphy_debug.onnx "candidate$POLYGRAPHY_ITERATION.onnx"
exit 1
EOF
    for golden in onnxrt trt; do
        POLYGRAPHY_TRT=builtin reduce "$models/reducable.onnx" -o reduced.onnx --golden $golden --no-reduce-outputs \
            --no-verify --mode linear --check ./check.sh
        worked
        logged 'Freezing tensor: Variable \(X0\)'
        reduce_models show candidate*.onnx > $golden.txt
        rm -f polygraphy_debug_replay* candidate*
    done
    grep -q 'const [a-z]' trt.txt
    cmp onnxrt.txt trt.txt
}

@test "a session belongs to the runner that gave its values" {
    make_model model.onnx
    fails_on_candidates
    POLYGRAPHY_TRT=builtin reduce model.onnx -o minimal.onnx --golden trt --check ./fails.sh
    worked
    reduce model.onnx -o again.onnx --load-debug-replay polygraphy_debug_replay.json --check ./fails.sh
    refused 'belongs to another model, or to other options'
    rm "$BATS_TEST_TMPDIR/original" # the result is what is checked first now
    POLYGRAPHY_TRT=builtin reduce model.onnx -o again.onnx --golden trt \
        --load-debug-replay polygraphy_debug_replay.json --check ./fails.sh
    worked
}

@test "other runners are refused" {
    make_model model.onnx
    reduce model.onnx -o minimal.onnx --golden tensorflow --check false
    [ "$status" -ne 0 ]
    [[ $stderr == *tensorflow* ]]
    POLYGRAPHY_TRT=tensorrt reduce model.onnx -o minimal.onnx --golden trt --check false
    refused 'POLYGRAPHY_TRT=tensorrt'
}

@test "a disk that is full ends the session with a sentence that helps, and leaves nothing" {
    make_model model.onnx
    small_disk values
    TMPDIR=$PWD/values reduce model.onnx -o minimal.onnx --mode minimal --iter-inputs in.json --iter-golden golden.json \
        --iterations 4 --check true
    refused "to a temporary file in '$PWD/values'"
    [[ $stderr == *'No space left on device' ]]
    [ "$(ls -A values)" = '' ]
    [ "$(df --output=used values | tail -1)" -eq 0 ]
}

@test "a folder for temporary files that is not there is named" {
    make_model model.onnx
    TMPDIR=$PWD/missing reduce model.onnx -o minimal.onnx --mode minimal --iter-inputs in.json --check true
    refused "cannot create a temporary file in '$PWD/missing' (TMPDIR sets another folder)"
}
