# inspect_sparsity.bats: which weights have the 2:4 pattern.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
golden=$POLYGRAPHY_ROOT/tests/golden
theirs=$POLYGRAPHY_TEST_MODELS/polygraphy

inspect()
{
    run --separate-stderr polygraphy inspect sparsity "$@"
    [ "$status" -eq 0 ] && [ -z "$stderr" ] || {
        echo "status $status; $stderr; $output"
        return 1
    }
}

mask()
{
    sed -E 's#Runtime: [0-9.]+s#Runtime: TIME#; s#(<models>|/[^ ]*)/##g' "$@"
}

@test "the log is Polygraphy's" {
    inspect "$models/reducable.onnx"
    diff <(mask <<<"$output") <(mask "$golden/logs/inspect_sparsity_reducable.log")
    [ -d "$theirs" ] || skip 'the models of Polygraphy are not there'
    for model in matmul sparse.conv sparse.matmul; do
        inspect "$theirs/$model.onnx"
        diff <(mask <<<"$output") <(mask "$golden/logs/inspect_sparsity_$model.log")
    done
}

@test "weights are found behind Transpose, Cast and quantization, and judged along the axis that is summed over" {
    inspect "$models/sparse_weights.onnx" --json weights.json
    logged '^\[I\] Found: 6 weight tensor\(s\) eligible for pruning\.$'
    not_logged ': odd$'
    [ "$(/usr/bin/python3 -c 'import json
for w in json.load(open("weights.json")):
    print(w["name"], w["axis"], w["sparse"])')" = 'columns 0 True
rows 1 True
rows_too 1 True
dense 0 False
quantized 1 False
bfloat16 0 True' ]
    logged '^\[I\] Found sparse tensor: bfloat16$'
    logged '^\[W\] Found non-sparse tensor: dense$'
}
