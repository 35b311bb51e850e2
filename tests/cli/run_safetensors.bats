# run_safetensors.bats: inputs and outputs in files that are mapped.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

passes()
{
    run polygraphy run "$@"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

# The header of a file: names in the order of their data, and metadata.
header()
{
    /usr/bin/python3 - "$1" <<'END'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
print(sorted(header.pop("__metadata__").items()))
end = 0
for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
    assert tensor["data_offsets"][0] == end
    end = tensor["data_offsets"][1]
    print(name, tensor["dtype"], tensor["shape"])
assert 8 + size + end == len(data) and (8 + size) % 8 == 0
END
}

@test "outputs and inputs saved as safetensors match those saved as JSON" {
    passes "$models/reducable.onnx" --onnxrt --onnxrt --iterations 2 --save-inputs in.safetensors \
        --save-outputs out.safetensors
    passes "$models/reducable.onnx" --onnxrt --load-inputs in.safetensors --save-inputs in.json --save-outputs out.json
    passes --load-outputs out.safetensors out.json --atol 0 --rtol 0
    logged 'Accuracy Summary \| onnxrt-runner-N0-.* vs\. onnxrt-runner-N1-.* \| Passed: 2/2 iterations'
    logged 'Accuracy Summary \| onnxrt-runner-N1-.* vs\. onnxrt-runner-N0-.* \| Passed: 2/2 iterations'
    passes "$models/reducable.onnx" --onnxrt --load-inputs in.json --load-outputs out.safetensors --atol 0 --rtol 0
}

@test "the file is what its description says" {
    passes "$models/reducable.onnx" --onnxrt --iterations 2 --onnx-outputs mark all --save-outputs out.safetensors \
        --save-inputs in.safetensors
    header out.safetensors >out.txt
    grep -q "('polygraphy', 'results'), ('runners', '\[" out.txt
    grep -q '^0/0/identity_out_0 F32 ' out.txt
    grep -q '^0/1/identity_out_0 F32 ' out.txt
    header in.safetensors >in.txt
    grep -q "\[('iterations', '2'), ('polygraphy', 'inputs')\]" in.txt
    grep -q '^1/X0 F32 \[1\]' in.txt
}

@test "the content tells what a file is, not its name" {
    passes "$models/identity.onnx" --onnxrt --save-outputs out.safetensors
    mv out.safetensors out.json
    passes "$models/identity.onnx" --onnxrt --load-outputs out.json
    head -c 100 out.json >torn.safetensors
    run polygraphy run "$models/identity.onnx" --onnxrt --load-outputs torn.safetensors
    [ "$status" -eq 1 ]
}

@test "results are refused as inputs, and cannot go through a pipe" {
    passes "$models/identity.onnx" --onnxrt --save-outputs out.safetensors
    run polygraphy run "$models/identity.onnx" --onnxrt --load-inputs out.safetensors
    [ "$status" -eq 1 ]
    [[ $output == *"data merge"* ]]
    mkfifo pipe.safetensors
    (cat pipe.safetensors >/dev/null &)
    run polygraphy run "$models/identity.onnx" --onnxrt --save-outputs pipe.safetensors
    [ "$status" -eq 1 ]
    [[ $output == *"not a regular file"* ]]
}
