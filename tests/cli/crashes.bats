# crashes.bats: what is said when other people's code takes a process down.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

# A library that stands for ONNX Runtime, and crashes as soon as it is used.
make_crashing_runtime()
{
    printf '#include <signal.h>\nvoid *OrtGetApiBase(void) { raise(%s); return 0; }\n' "${1:-SIGSEGV}" >runtime.c
    cc -shared -fPIC -o runtime.so runtime.c
}

make_crashing_plugin()
{
    printf '#include <signal.h>\nvoid *polygraphy_tactic_plugin(unsigned v) { raise(SIGFPE); return (void *)(long)v; }\n' >plugin.c
    cc -shared -fPIC -o plugin.so plugin.c
}

skip_under_sanitizers()
{
    ! ldd "$(command -v polygraphy)" | grep -qE 'lib[a-z]*san' || skip "sanitizers tell of crashes themselves"
}

@test "run says which signal has ended it and where, and what may be done about it" {
    skip_under_sanitizers
    make_crashing_runtime
    run polygraphy run "$models/identity.onnx" --onnxrt --onnxruntime-lib ./runtime.so
    [ "$status" -eq 139 ]
    logged '^\[!\] signal 11 \(Segmentation fault\) ended this program while ONNX Runtime started\. .*--onnxrt-optimization-level none.*--use-subprocess'
    make_crashing_runtime SIGABRT
    run polygraphy run "$models/identity.onnx" --onnxrt --onnxruntime-lib ./runtime.so
    [ "$status" -eq 134 ]
    logged '^\[!\] signal 6 \(Aborted\) ended this program while ONNX Runtime started'
}

@test "a plug-in that crashes is named" {
    skip_under_sanitizers
    make_crashing_plugin
    POLYGRAPHY_TRT=builtin run polygraphy run "$models/identity.onnx" --trt --plugins ./plugin.so
    [ "$status" -eq 136 ]
    logged "^\\[!\\] signal 8 \\(Floating point exception\\) ended this program while plug-in '.*plugin\\.so' was called"
}

@test "with --use-subprocess a crash of the runtime is an error of its own process, told once" {
    skip_under_sanitizers
    make_crashing_runtime
    run polygraphy run "$models/identity.onnx" --onnxrt --onnxruntime-lib ./runtime.so --use-subprocess
    [ "$status" -eq 1 ]
    logged '^\[!\] the process of onnxrt-runner.* was ended by signal 11 \(Segmentation fault\)$'
    not_logged 'ended this program'
}

@test "a crash of the runtime inside of a check is a model that was not run, in copies of the tool and in scripts" {
    skip_under_sanitizers
    make_crashing_runtime
    POLYGRAPHY_ITERATION=0 run polygraphy run "$models/identity.onnx" --onnxrt --onnxruntime-lib ./runtime.so
    [ "$status" -eq 3 ]
    run polygraphy debug repeat --until 1 --fail-code 3 --check polygraphy run "$models/identity.onnx" --onnxrt \
        --onnxruntime-lib ./runtime.so
    logged 'Passed: 0/1'
    run polygraphy debug repeat --until 1 --fail-code 3 --check \
        "true; polygraphy run $models/identity.onnx --onnxrt --onnxruntime-lib ./runtime.so"
    logged 'Passed: 0/1'
}

@test "check lint reports the node on which the runtime crashes, and goes on" {
    skip_under_sanitizers
    make_crashing_runtime
    run polygraphy check lint "$models/identity_identity.onnx" --onnxruntime-lib ./runtime.so -o report.json
    [ "$status" -eq 1 ]
    logged '^\[E\] LINT \| Name: .*, Op: Identity \| ONNX Runtime crashes: signal 11 \(Segmentation fault\) ended its process$'
    logged '^\[E\] FAILED'
    run /usr/bin/python3 -c "import json; report = json.load(open('report.json'))
print(len(report['summary']['failing']), [entry['level'] for entry in report['lint_entries']])"
    [ "$output" = "1 ['exception']" ]
}

# MatMul of float16 behind Transpose: some releases of ONNX Runtime crash when they make one of both.
@test "check lint says that the runtime crashes on a model whose nodes all run alone" {
    skip_under_sanitizers
    /usr/bin/python3 - <<'END'
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
weights = numpy_helper.from_array(numpy.ones((8, 2), numpy.float16), "w")
nodes = [helper.make_node("Transpose", ["x"], ["t"], "turn", perm=[1, 0, 2]), helper.make_node("MatMul", ["t", "w"], ["y"], "multiply")]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT16, [3, 4, 8])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT16, [4, 3, 2])], [weights])
onnx.save(helper.make_model(graph, ir_version=6, opset_imports=[helper.make_opsetid("", 9)]), "model.onnx")
END
    run polygraphy run model.onnx --onnxrt
    [ "$status" -eq 139 ] || skip "this release of ONNX Runtime does not crash on it"
    logged '^\[!\] signal 11 \(Segmentation fault\) ended this program while ONNX Runtime loaded a model\. '
    polygraphy run model.onnx --onnxrt --onnxrt-optimization-level none
    run polygraphy check lint model.onnx
    [ "$status" -eq 1 ]
    logged '^\[E\] LINT \| ONNX Runtime crashes: signal 11 \(Segmentation fault\) ended its process\. It does so on the whole model'
}
