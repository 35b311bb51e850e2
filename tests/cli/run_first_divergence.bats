# run_first_divergence.bats: the nodes at which two runs begin to differ.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

run_tool()
{
    run polygraphy run "$@"
}

# Layerwise results of the model, with its inputs in in.safetensors.
golden()
{
    polygraphy run "$1" --onnxrt --onnx-outputs mark all --save-inputs in.safetensors --save-outputs golden.safetensors -q
}

# Adds 1 to the first element of float32 tensors in golden.safetensors.
damage()
{
    /usr/bin/python3 - "$@" <<'END'
import json, struct, sys
data = bytearray(open("golden.safetensors", "rb").read())
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
for name in sys.argv[1:]:
    tensor = header["0/0/" + name]
    assert tensor["dtype"] == "F32"
    at = 8 + size + tensor["data_offsets"][0]
    data[at:at + 4] = struct.pack("<f", struct.unpack("<f", data[at:at + 4])[0] + 1)
open("golden.safetensors", "wb").write(data)
END
}

@test "equal runs do not diverge" {
    golden "$models/chain17.onnx"
    run_tool "$models/chain17.onnx" --onnxrt --load-inputs in.safetensors --load-outputs golden.safetensors \
        --first-divergence
    [ "$status" -eq 0 ]
    logged 'No tensor of the model differs'
    logged 'Re-checked without the extra outputs.*match$'
}

@test "the first node and every independent one are named, not those behind them" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" chain.onnx 12 0 chain
    golden chain.onnx
    damage t3 t4 t7
    for memory in 0 1; do
        run_tool chain.onnx --onnxrt --load-inputs in.safetensors --load-outputs golden.safetensors \
            --first-divergence --output-memory $memory --json result.json
        [ "$status" -eq 1 ]
        [ "$(json_value '[(n["node"]["index"], n["node"]["name"], n["inputs"], n["behind"], n["output"],
            n["worst"]["second"] - n["worst"]["first"]) for n in it["first_divergence"]["nodes"]]')" = \
            "[(3, 'node_3', ['t2'], 2, 't3', 1.0), (7, 'node_7', ['t6'], 0, 't7', 1.0)]" ]
        [ "$(json_value 'it["first_divergence"]["recheck"], it["first_divergence"]["invalid"]')" = \
            "({'passed': True, 'finite': None}, [])" ]
        logged "agree: 2$"
        logged "First divergence: node 'node_3' \(Neg\) \| Inputs: \['t2'\] \| Outputs: \['t3'\]"
        logged "Independent divergence: node 'node_7'"
        not_logged "divergence: node 'node_4'"
        logged 'Re-checked without the extra outputs.*match$'
    done
}

@test "NaN are looked for again in what the model gives, not in rankings of it" {
    run_tool "$POLYGRAPHY_ROOT/examples/overflow/detector.onnx" --onnxrt --first-divergence --validate --postprocess top-1
    logged "Re-checked without the extra outputs.*the model's own outputs hold NaN or infinities$"
}

@test "the node that makes the first infinity is shown with what went into it" {
    /usr/bin/python3 - <<'END'
def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])
def field(number, data):
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data
def node(op, name, inputs, output):
    return field(1, b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, name) + field(4, op))
def info(number, name):
    shape = field(2, field(1, field(1, 3)))
    return field(number, field(1, name) + field(2, field(1, field(1, 1) + shape)))
import struct
zeros = field(5, field(1, 3) + field(2, 1) + field(8, "w") + field(9, struct.pack("<3f", 1, 0, 2)))
graph = node("Neg", "n0", ["x"], "a") + node("Div", "n1", ["a", "w"], "b") + node("Neg", "n2", ["b"], "y")
graph += field(2, "g") + zeros + info(11, "x") + info(12, "y")
open("model.onnx", "wb").write(field(1, 8) + field(8, field(2, 13)) + field(7, graph))
END
    for memory in 0 1; do
        run_tool model.onnx --onnxrt --validate --first-divergence --output-memory $memory
        [ "$status" -eq 1 ]
        logged "First NaN or infinity: node 'n1' \(Div\)"
        not_logged "Independent NaN"
        logged 'w \| Stats: mean=1,'
        not_logged '^\[!\]'
        logged "The first bad element, at \(1,\), is -inf \| 'a' there: -[0-9.]+ \| 'w' there: 0\.0$"
        logged 'Re-checked.*hold NaN or infinities$'
    done
}

@test "what makes no sense with it is refused" {
    run_tool "$models/identity.onnx" --onnxrt --first-divergence
    [ "$status" -eq 1 ]
    run_tool "$models/identity.onnx" --onnxrt --onnxrt --first-divergence --use-subprocess
    [ "$status" -eq 1 ]
    [[ $output == *"--use-subprocess"* ]]
    run_tool "$models/identity.onnx" --onnxrt --trt --first-divergence
    [ "$status" -eq 1 ]
    [[ $output == *"with --trt needs all tensors as outputs of the engine: add '--onnx-outputs mark all'"* ]]
    run_tool --load-outputs a.json b.json --first-divergence
    [ "$status" -eq 1 ]
    [[ $output == *"needs the ONNX model"* ]]
}

@test "two saved results are compared over the model's graph, and what neither holds is passed over" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" chain.onnx 12 0 chain
    golden chain.onnx
    cp golden.safetensors sound.safetensors
    damage t3 t4 t7
    run_tool chain.onnx --load-outputs sound.safetensors golden.safetensors --first-divergence
    [ "$status" -eq 1 ]
    logged "First divergence: node 'node_3' \(Neg\) .* \| Bad as well behind it: 2 nodes$"
    logged "Independent divergence: node 'node_7'.*\['t7'\]$"
    logged "Not re-checked without the extra outputs"
    sed -i 's#0/0/t2"#0/0/u2"#' golden.safetensors
    run_tool chain.onnx --load-outputs sound.safetensors golden.safetensors --first-divergence --json result.json
    [ "$status" -eq 1 ]
    logged "^\[W\] 1 tensor of the model was passed over, since no two results hold it: \['t2'\]$"
    logged "First divergence: node 'node_3' .* \| Or 1 node before it, whose outputs were not compared"
    [ "$(json_value '[(n["node"]["index"], n["behind"], n["before"]) for n in it["first_divergence"]["nodes"]]')" = \
        '[(3, 2, 1), (7, 0, 0)]' ]
}

@test "an engine that saved all its tensors is compared with them" {
    model=$models/attention_overflow.onnx
    polygraphy run "$model" --trt --fp16 --trt-outputs mark all --save-inputs in.json --save-outputs engine.json -q
    run_tool "$model" --onnxrt --load-inputs in.json --load-outputs engine.json --first-divergence \
        --atol 0.5 --rtol 0.1
    [ "$status" -eq 1 ]
    logged "First divergence: node 'scores' \\(MatMul\\)"
    run_tool "$model" --onnxrt --trt --fp16 --onnx-outputs mark all --load-inputs in.json --first-divergence --validate \
        --atol 0.5 --rtol 0.1
    [ "$status" -eq 1 ]
    logged "First divergence: node 'scores' \\(MatMul\\)"
    logged "First NaN or infinity: node 'scores' \\(MatMul\\)"
    logged 'The first bad element, at \(0, 0, 0\), is inf$'
}

@test "where float16 begins to differ from float32 in real models is a node that differs alone, too" {
    [ -d "$POLYGRAPHY_TEST_MODELS" ] || skip 'no real models'
    cp "$POLYGRAPHY_TEST_MODELS/onnx_light/light_resnet50.onnx" single.onnx
    polygraphy convert single.onnx --fp-to-fp16 -o half.onnx -q
    polygraphy run single.onnx --onnxrt --onnx-outputs mark all --save-inputs in.safetensors \
        --save-outputs golden.safetensors -q
    run_tool half.onnx --onnxrt --load-inputs in.safetensors --load-outputs golden.safetensors --first-divergence \
        --atol 1e-3 --rtol 1e-3
    [ "$status" -eq 1 ]
    logged "First divergence: node 'n1' \\(BatchNormalization\\) \\| Inputs: \\['r0', .* \\| Outputs: \\['r1'\\]"

    polygraphy surgeon extract single.onnx --inputs r0:auto:auto --outputs r1:auto -o node.onnx -q
    polygraphy surgeon extract half.onnx --inputs r0:auto:auto --outputs r1:auto -o half_node.onnx -q
    polygraphy run single.onnx --onnxrt --onnx-outputs r0 --load-inputs in.safetensors --save-outputs r0.json -q
    polygraphy data to-input r0.json -o r0_in.json -q
    polygraphy run node.onnx --onnxrt --load-inputs r0_in.json --save-outputs alone.json -q
    run_tool half_node.onnx --onnxrt --load-inputs r0_in.json --load-outputs alone.json --atol 1e-3 --rtol 1e-3
    [ "$status" -eq 1 ]
    logged "FAILED \\| simple \\| Mismatched outputs: \\['r1'\\]"
}

@test "in a model that is one branch the branching node is named, as long as float16 is held to float32's tolerance" {
    [ -d "$POLYGRAPHY_TEST_MODELS" ] || skip 'no real models'
    cp "$POLYGRAPHY_TEST_MODELS/silero/silero_vad.onnx" single.onnx
    polygraphy convert single.onnx --fp-to-fp16 -o half.onnx -q
    local shapes=(--input-shapes 'input:[1,512]' 'state:[2,1,128]')
    polygraphy run single.onnx --onnxrt --onnx-outputs mark all "${shapes[@]}" --val-range 'sr:[16000,16000]' \
        --save-inputs in.safetensors --save-outputs golden.safetensors -q
    run_tool half.onnx --onnxrt "${shapes[@]}" --load-inputs in.safetensors --load-outputs golden.safetensors \
        --first-divergence
    [ "$status" -eq 1 ]
    logged "First divergence: node 'If_0' \\(If\\)"
    logged "agree: 1$"
    run_tool half.onnx --onnxrt "${shapes[@]}" --load-inputs in.safetensors --load-outputs golden.safetensors \
        --first-divergence --atol 1e-2
    [ "$status" -eq 0 ]
    logged 'No tensor of the model differs'
}

@test "a tensor is held against the one of its name only" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" chain.onnx 3 0 chain
    golden chain.onnx
    sed -i 's#0/0/t2"#0/0/u2"#' golden.safetensors # as many bytes
    run_tool chain.onnx --onnxrt --load-inputs in.safetensors --load-outputs golden.safetensors --first-divergence
    [ "$status" -eq 0 ]
    logged "All outputs matched \| Outputs: \['t0', 't1'\]"
    not_logged "Assuming that"
    logged "Re-checked without the extra outputs.*have no counterparts of their names$"
}
