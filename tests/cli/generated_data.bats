# generated_data.bats: sizes and values of generated data that are derived from the model.

load debug_helper

exported=$POLYGRAPHY_ROOT/tests/models/exported

# The rules of `data generate` for model $1, as "name shape values".
rules()
{
    polygraphy data generate "$1" -o in.json --json rules.json >/dev/null
    /usr/bin/python3 - <<'END'
import json
for each in json.load(open("rules.json"))["inputs"]:
    print(each["name"], each["shape"], (each["values"] or "random").split(":")[0])
END
}

@test "every exported network runs without inputs, on both runners, and lint finds nothing" {
    for model in "$exported"/*.onnx; do
        echo "$model"
        polygraphy run "$model" --onnxrt --trt --atol 1e-3 --rtol 1e-3
        polygraphy check lint "$model"
    done
}

@test "data generate writes what run reads, and says which rule gave what" {
    run polygraphy data generate "$exported/decoder_dynamo.onnx" -o in.json
    worked
    logged "Input 'attention_mask' \| shape \(1, 21\): .* masks with it$"
    logged "Input 'input_ids' \| .* values 0 to 39: .* looks up 40 rows$"
    polygraphy run "$exported/decoder_dynamo.onnx" --onnxrt --load-inputs in.json
    diff <(rules "$exported/genai_int4.onnx" | grep -v '\.value') - <<'END'
input_ids [1, 16] 0 to 39
attention_mask [1, 21] ones
past_key_values.0.key [1, 2, 5, 16] random
past_key_values.1.key [1, 2, 5, 16] random
END
}

@test "another seed gives other values, the same seed the same" {
    for seed in 3 4 3; do
        polygraphy data generate "$exported/experts.onnx" -o "in_$seed.json" --seed $seed
        [ ! -e first.json ] || [ $seed = 4 ] || cmp first.json in_3.json
        [ $seed = 4 ] || cp in_3.json first.json
    done
    run ! cmp -s in_3.json in_4.json
}

@test "run uses Polygraphy's data as long as the model runs with them" {
    run polygraphy run "$exported/experts.onnx" --onnxrt
    worked
    logged 'Will generate data of shape: \(1, 1\)'
    run polygraphy run "$exported/experts.onnx" --onnxrt --generated-data representative
    worked
    logged 'input_ids \[dtype=int64, shape=\(1, 16\)\]'
    not_logged 'Will generate data of shape'
}

@test "sizes of the user decide on the others, and ranges of the user on values" {
    run polygraphy run "$exported/decoder_legacy.onnx" --onnxrt --input-shapes 'input_ids:[2,3]' --val-range 'input_ids:[7,7]' \
        --save-inputs in.json
    worked
    logged 'attention_mask \[dtype=int64, shape=\(2, 8\)\]'
    run polygraphy inspect data in.json --show-values
    logged '7 7 7'
}

@test "debug tools use representative data" {
    run polygraphy debug accuracy "$exported/experts.onnx" --onnxrt --trt --atol 1e-3 --max-checks 1 -o out
    grep -rqE 'shape=\(1, 16\)' out || grep -rq -- '--generated-data representative' out
}
