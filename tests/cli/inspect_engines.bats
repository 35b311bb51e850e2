# inspect_engines.bats: engines of TensorRT's, as their layer information, profiles and first bytes tell them.

load tensorrt_helper

bats_require_minimum_version 1.5.0

setup_file()
{
    export SAMPLES="$POLYGRAPHY_ROOT/tests/golden/tensorrt"
}

@test "layer information is shown with nodes, kernels and the precision that each layer has" {
    run --separate-stderr polygraphy inspect model "$SAMPLES/real/10.16.layers.json" --show layers
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    logged '^    ---- 1 Engine Input\(s\) ----$'
    logged '^    \{x \[dtype=float32, shape=\(1, 1, 28, 28\)\]\}$'
    logged '^    Layer 0    \| node_conv2d \+ node_relu \[Type: CaskConvolution, Precision: float32, by its kernel.s name\]$'
    logged '^        Tactic: sm80_xmma_.*_alignc4 \(0x5b8bf1b8028629d9\)$'
    logged '^        Nodes: node_linear, node_relu_2$'
    logged '^    Precision of the 9 layer\(s\) that compute: 8 float32, 1 int64 \| 0 more only move data$'
}

@test "with a profile the slowest layers come first, and the JSON file has their times" {
    sample="$SAMPLES/layers/pytorch-resnet-A100-fp16"
    run --separate-stderr polygraphy inspect model "$sample.layers.json" --profile "$sample.profile.json" --show layers \
        --json engine.json
    [ "$status" -eq 0 ]
    [ "$(grep -m 2 -o 'Layer [0-9]*' <<<"$output" | tr '\n' ' ')" = 'Layer 1 Layer 0 ' ]
    logged '^        Time: 0\.112 ms, 11\.0 %$'
    logged '^    Precision of the 23 layer\(s\) that compute: 23 float16 \(91\.3 % of the time\)'
    /usr/bin/python3 - <<'END'
import json
engine = json.load(open("engine.json"))
assert engine["inputs"][0]["name"] == "input.1" and engine["inputs"][0]["dtype"] == "float32"
assert engine["precisions"] == [{"precision": "float16", "layers": 23}]
layer = engine["layers"][1]
assert layer["name"] == "Conv_0 + Relu_1" and layer["tactic"] == "0xe2222883a6602489"
assert layer["milliseconds"] == 0.111616 and layer["precision_told_by"] == "kernel"
END
}

@test "an engine of TensorRT's tells the version of its builder where there is no TensorRT" {
    { printf 'ftrt'; head -c 20 /dev/zero; printf '\012\020\001\013'; head -c 100 /dev/zero; } >a.engine
    run --separate-stderr polygraphy inspect model a.engine
    [ "$status" -eq 0 ]
    logged '^    Built by: TensorRT 10\.16\.1\.11$'
    logged "^\[W\] '.*a\.engine': .*--save-layer-info"
    run --separate-stderr polygraphy inspect model a.engine --layer-info "$SAMPLES/real/10.16.layers.json"
    [ "$status" -eq 0 ]
    logged '^    ---- 9 Layer\(s\) ----$'
    run ! grep -q '\[W\]' <<<"$output"
    printf 'ftrt' >a.engine
    run --separate-stderr polygraphy inspect model a.engine
    refused "a.engine': it is cut short"
}

@test "TensorRT is asked for the layers of an engine" {
    for version in 8.6 11.1; do
        use_release "$version"
        polygraphy convert "$POLYGRAPHY_ROOT/tests/models/convolutions.onnx" -o "an, engine.plan"
        run --separate-stderr polygraphy inspect model "an, engine.plan" --show layers
        [ "$status" -eq 0 ]
        logged "^    Built by: TensorRT ${version//./\\.}\.[0-9]+\.[0-9]+\$"
        logged '^    Layer 3    \| pointwise \+ relu \[Type: [A-Za-z]+, Precision: float32'
    done
    head -c 200 "an, engine.plan" >cut.plan
    run --separate-stderr polygraphy inspect diff-engines cut.plan cut.plan
    refused "TensorRT does not load the engine"
}

@test "what is no layer information is one clear error" {
    echo '{"Layers": [{"Name": "a "quoted" name"}]}' >unescaped.json
    run --separate-stderr polygraphy inspect model unescaped.json
    refused "unescaped.json': byte"
    echo '{"lst": []}' >other.json
    run --separate-stderr polygraphy inspect diff-engines other.json other.json
    refused "'other.json' is no layer information"
}

@test "two engines of one network are told apart layer by layer" {
    run --separate-stderr polygraphy inspect diff-engines "$SAMPLES/layers/pytorch-resnet-A100-fp32.layers.json" \
        "$SAMPLES/layers/pytorch-resnet-A100-fp16.layers.json" --json diff.json
    [ "$status" -eq 0 ]
    logged '^\[I\] 26 of 32 and 36 layer\(s\) contain the same nodes: of these 26 are typed, 0 stored and 23 implemented differently$'
    logged '^            A: tf32 \(float32, float32 -> float32\)$'
    logged '^            B: float16 \(float16, float16 -> float16\)$'
    logged '^\[I\]     6 more; -v shows them\.$'
    logged '^\[I\] Precision of A and B: 20 from tf32 to float16, 6 from float32 to float16$'
    /usr/bin/python3 - <<'END'
import json
diff = json.load(open("diff.json"))
assert len(diff["layers"]) == 26 and diff["fused_differently"] == []
assert sum(layer["implemented_differently"] for layer in diff["layers"]) == 23
assert diff["layers"][2]["a"]["precision"] == "tf32" and len(diff["only_in_b"]) == 10
END
    run --separate-stderr polygraphy inspect diff-engines "$SAMPLES/real/10.16.layers.json" "$SAMPLES/real/10.16.layers.json"
    logged '^\[I\] No layer differs\.$'
}

@test "engines of this program are compared, too, and folders of layer information are ranked" {
    model="$POLYGRAPHY_ROOT/tests/models/convolutions.onnx"
    POLYGRAPHY_TRT=builtin polygraphy convert "$model" -o a.engine --save-layer-info good/0.json
    POLYGRAPHY_TRT=builtin polygraphy convert "$model" -o b.engine --fp16 --save-layer-info bad/0.json
    run --separate-stderr polygraphy inspect diff-engines a.engine b.engine
    [ "$status" -eq 0 ]
    logged 'typed, [0-9]* stored and [0-9]* implemented differently$'
    run --separate-stderr polygraphy inspect diff-tactics --dir .
    [ "$status" -eq 0 ]
    logged '^\[I\] Loaded 1 good tactic replays\.$'
    logged '^\[I\] Loaded 1 bad tactic replays\.$'
    logged '^\[I\] Found potentially bad tactics:$'
}
