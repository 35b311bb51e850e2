# debug_kernels.bats: each node and each fused layer of a model alone, against float64.

load debug_helper

export POLYGRAPHY_TRT=builtin
models=$POLYGRAPHY_ROOT/tests/models

# What a program reads of the result.
result()
{
    python3 -c 'import json, sys
value = json.load(open("result.json"))
print(eval(sys.argv[1], {"result": value}))' "$1"
}

# A runner that adds a share of 1e-4 to the outputs of a model with the operator WRONG.
faulty()
{
    cat >faulty.sh <<'END'
polygraphy run "$1" --onnxrt --load-inputs "$2" --save-outputs "$3" --silent
! grep -q "$WRONG" "$1" || python3 - "$3" <<'SCRIPT'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at = 8 + struct.unpack("<Q", data[:8])[0]
value = struct.unpack_from("<f", data, at)[0]
struct.pack_into("<f", data, at, value + abs(value) * 1e-4 + 1e-3)
open(sys.argv[1], "wb").write(data)
SCRIPT
END
}

@test "nodes that round are within their bound, in each runner" {
    local runner
    for runner in --onnxrt --trt; do
        run polygraphy debug kernels "$models/convolutions.onnx" $runner --json result.json
        [ "$status" -eq 0 ]
        logged 'All 5 nodes and 1 fused layer that have a bound are computed within it'
        [ "$(result 'result["within"], len(result["beyond"])')" = '(5, 0)' ]
    done
}

@test "what a runner computes together is tested as well" {
    local runner
    for runner in --onnxrt --trt; do
        run polygraphy debug kernels "$models/convolutions.onnx" $runner --json result.json
        [ "$status" -eq 0 ]
        [ "$(result 'result["layers"], result["layers_within"]')" = '(1, 1)' ]
    done
    run polygraphy debug kernels "$models/convolutions.onnx" --onnxrt --onnxrt-optimization-level none --json result.json
    [ "$status" -eq 0 ]
    [ "$(result 'result["layers"]')" = 0 ]
}

# ONNX Runtime 1.16 to 1.32 compute it wrongly.
@test "nodes that are right one by one, and wrong where they are fused, are named" {
    run polygraphy debug kernels "$models/transposed_before_a_vector.onnx" --onnxrt --json result.json
    [ "$status" -eq 1 ]
    logged '0 of [0-9]* nodes and 1 of 1 fused layers are computed with errors beyond their bound'
    [ "$(result '[node["op_type"] for node in result["beyond"]]')" = "['Transpose + MatMul']" ]
    run polygraphy debug kernels "$models/transposed_before_a_vector.onnx" --onnxrt --onnxrt-disable-optimizers MatmulTransposeFusion
    [ "$status" -eq 0 ]
}

@test "a wrong kernel is named with its error, and the right ones are not" {
    faulty
    WRONG=Relu run polygraphy debug kernels "$models/convolutions.onnx" --json result.json \
        --runner 'sh faulty.sh {model} {inputs} {outputs}'
    [ "$status" -eq 1 ]
    logged '1 of 5 nodes are computed with errors beyond their bound'
    logged 'Not tested: fused layers: the runner does not tell which nodes it computes together'
    [ "$(result '[(node["node"], node["op_type"]) for node in result["beyond"]]')" = "[('relu', 'Relu')]" ]
    [ "$(result 'result["beyond"][0]["excess"] > 100')" = True ]
}

@test "--fp-to-fp16 tests the nodes of the converted model" {
    run polygraphy debug kernels "$models/attention_overflow.onnx" --onnxrt --fp-to-fp16 --json result.json
    [ "$status" -eq 0 ]
    [ "$(result 'result["nodes"]')" = 17 ] # with the Casts of its input and its output
}

@test "nodes without a bound are not tested, and what the runner refuses is listed" {
    run polygraphy debug kernels "$models/attention_overflow.onnx" --onnxrt
    [ "$status" -eq 0 ]
    logged 'Not tested: .*Softmax.*: its operator has no bound'
    run polygraphy debug kernels "$models/convolutions.onnx" --json result.json \
        --runner '! grep -q Relu {model} && polygraphy run {model} --onnxrt --load-inputs {inputs} --save-outputs {outputs}'
    [ "$status" -eq 1 ]
    [ "$(result '[node["node"] for node in result["refused"]], len(result["beyond"])')" = "(['relu'], 0)" ]
}

@test "nodes that order NaN are not tested, and sums of NaN are" {
    polygraphy run "$models/convolutions.onnx" --onnxrt --save-inputs in.safetensors --silent
    python3 - <<'END'
import struct
data = bytearray(open("in.safetensors", "rb").read())
struct.pack_into("<f", data, 8 + struct.unpack("<Q", data[:8])[0], float("nan"))
open("in.safetensors", "wb").write(data)
END
    run polygraphy debug kernels "$models/convolutions.onnx" --onnxrt --load-inputs in.safetensors --json result.json
    [ "$status" -eq 0 ]
    logged 'Not tested: .*Relu.*: it orders NaN, which ONNX does not define'
    [ "$(result 'result["within"] > 0')" = True ]
}

@test "one runner is tested" {
    run polygraphy debug kernels "$models/convolutions.onnx" --onnxrt --trt
    [ "$status" -eq 1 ]
    [[ $output == *'one runner is tested'* ]]
    run polygraphy debug kernels "$models/convolutions.onnx"
    [ "$status" -eq 1 ]
}

@test "in exported networks no kernel of ONNX Runtime is beyond its bound" {
    local model
    for model in "$models"/exported/*.onnx; do
        run polygraphy debug kernels "$model" --onnxrt --json result.json
        [ "$status" -eq 0 ] || { echo "$model: $output"; return 1; }
        [ "$(result 'result["within"] > 10')" = True ]
    done
}
