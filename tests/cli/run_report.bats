# run_report.bats: what `run` leaves for people and programs that look at networks.

load debug_helper

detector=$POLYGRAPHY_ROOT/examples/overflow/detector.onnx

@test "a report has the verdict, its proof, all tensors in order, and pictures of what fails" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" chain.onnx 4 0 chain
    polygraphy run chain.onnx --onnxrt --onnx-outputs mark all --save-inputs in.json --save-outputs good.json -q
    results bad.json '[("B", [{"t%d" % i: f32([range(16)]) for i in range(4)}])]'
    run polygraphy run chain.onnx --onnxrt --load-inputs in.json --load-outputs bad.json --first-divergence \
        --report-data result.json --report page.html
    [ "$status" -eq 1 ]
    logged '^\[I\] Report: page.html$'
    [ "$(json_value 'it["verdict"]["kind"], it["verdict"]["text"]')" = \
        "('failed', \"4 of 4 tensors differ, from node 'node_0' on\")" ]
    [ "$(json_value '[t["name"] for t in it["tensors"]], len(it["network"]["nodes"])')" = "(['t0', 't1', 't2', 't3'], 4)" ]
    [ "$(json_value 'len(it["pictures"]), len(it["histograms"]), len(it["verdict"]["proof"])')" = '(4, 4, 4)' ]
    grep -q "4 of 4 tensors differ" page.html

    run polygraphy run "$detector" --onnxrt --validate --first-divergence --report-data result.json
    [ "$status" -eq 1 ]
    [ "$(json_value 'it["verdict"]["kind"], it["verdict"]["proof"][2]')" = "('cause', \
\"'block2/norm/div_out' at (0, 0, 0, 0) is inf, of 'block2/norm/abs_out' there: 0.0482934, 'block2/norm/epsilon' there: 9.99995e-41\")" ]

    run polygraphy run chain.onnx --onnxrt --report-data result.json
    [ "$status" -eq 0 ]
    [ "$(json_value 'it["verdict"]["kind"], it["verdict"]["text"]')" = "('unknown', '1 output, compared with nothing')" ]
}

@test "node data and metadata of nodes say what became of each tensor" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" chain.onnx 2 0 chain
    polygraphy run chain.onnx --onnxrt --onnx-outputs mark all --save-inputs in.json --save-outputs out.json -q
    results bad.json '[("B", [{"t0": f32([[1e29] * 16]), "t1": f32([[nan] * 16])}])]'
    run polygraphy run chain.onnx --load-outputs out.json bad.json --first-divergence --node-data result.json \
        --annotate noted.onnx
    [ "$status" -eq 1 ]
    [ "$(json_value '{k: (v["value"], "bgColor" in v) for k, v in it["results"].items()}')" = \
        "{'t0': (1.0, True), 't1': ('NaN', True)}" ]
    [ "$(grep -ac 'polygraphy.norm_error' noted.onnx)" -gt 0 ]
    polygraphy run noted.onnx --onnxrt --load-inputs in.json --onnx-outputs mark all --load-outputs out.json --atol 0 -q
    run polygraphy run noted.onnx --onnxrt --onnx-outputs mark all --node-data result.json --annotate again.onnx
    [ "$status" -eq 0 ]
    [ "$(json_value 'all(0 < v["value"] < 1 for v in it["results"].values()), len(it["results"]), it["name"]')" = \
        "(True, 2, 'largest magnitude')" ]
    [ "$(grep -ac 'polygraphy.norm_error' again.onnx)" -eq 0 ]
    run polygraphy run --load-outputs out.json bad.json --annotate x.onnx
    [ "$status" -eq 1 ]
    [[ $output == *'--annotate needs an ONNX model'* ]]
}
