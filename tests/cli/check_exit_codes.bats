# check_exit_codes.bats: how this program ends when it is the check of a debug tool, and that it ends as ever elsewhere.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

# ends WITHIN OUTSIDE WORD...: how `polygraphy WORD...` ends within a check, and outside.
ends()
{
    local within=$1 outside=$2
    shift 2
    POLYGRAPHY_ITERATION=0 run polygraphy "$@"
    [ "$status" -eq "$within" ] || {
        echo "in a check, polygraphy $* ends with $status, not $within: ${output: -800}"
        return 1
    }
    run polygraphy "$@"
    [ "$status" -eq "$outside" ] || {
        echo "polygraphy $* ends with $status, not $outside: ${output: -800}"
        return 1
    }
}

@test "a good model is good, and a difference is a difference, in a check and elsewhere" {
    feeds in.json '[{"x": f32([[[[1, nan], [inf, 1]]]])}]'
    results a.json '[("A", [{"x": f32([1])}]), ("B", [{"x": f32([2])}])]'
    ends 0 0 run "$models/identity.onnx" --onnxrt --validate
    ends 1 1 run "$models/identity.onnx" --onnxrt --validate --load-inputs in.json
    ends 1 1 run --load-outputs a.json
}

@test "a runner that refuses the model is another failure" {
    ends 3 1 run "$models/unknown_operator.onnx" --onnxrt
    ends 3 1 run "$models/unknown_operator.onnx" --trt
    ends 3 1 run "$models/unknown_operator.onnx" --onnxrt --use-subprocess
    ends 3 1 convert "$models/unknown_operator.onnx" --convert-to trt -o out.engine
}

@test "a command line that makes no sense says nothing about the model" {
    ends 125 1 run "$models/identity.onnx" --onxrt
    ends 125 1 run "$models/identity.onnx"
    ends 125 2 run "$models/identity.onnx" --onnxrt --iterations many
    ends 125 1 run "$models/identity.onnx" --onnxrt --atol x:-1
    ends 125 1 run "$models/identity.onnx" --onnxrt --onnxrt-optimization-level none --providers nobody
    ends 125 2 nothing
    ends 125 2 check nothing
}

@test "a file that is not there, or is something else, says nothing about the model" {
    echo "no model" >text.onnx
    echo "{}" >empty.json
    ends 125 1 run gone.onnx --onnxrt
    ends 125 1 run gone.onnx --trt
    ends 125 1 run gone.engine --trt
    ends 125 1 run text.onnx --onnxrt
    ends 125 1 run text.onnx --trt
    : >empty.onnx
    ends 125 1 run empty.onnx --onnxrt
    ends 125 1 run empty.onnx --trt
    cp "$models/external_weights.onnx" without_weights.onnx
    ends 125 1 run without_weights.onnx --onnxrt
    ends 125 1 run without_weights.onnx --trt
    ends 125 1 run "$models/identity.onnx" --onnxrt --load-outputs gone.json
    ends 125 1 run "$models/identity.onnx" --onnxrt --load-outputs text.onnx
    ends 125 1 run "$models/identity.onnx" --onnxrt --load-inputs gone.json
    ends 125 1 run "$models/identity.onnx" --trt --plugins gone.so
    ends 125 1 check lint gone.onnx
    ends 125 1 inspect model gone.onnx
    ends 125 1 convert gone.onnx --convert-to trt -o out.engine
}

@test "where nothing is run or compared, nothing is good" {
    feeds none.json '[]'
    results one.json '[("A", [{"x": f32([1])}])]'
    results never.json '[("A", []), ("B", [])]'
    results nothing.json '[("A", [{}]), ("B", [{}])]'
    results others.json '[("A", [{"x": f32([1])}]), ("B", [{"x1": f32([1])}])]'
    ends 125 0 run "$models/identity.onnx" --onnxrt --iterations 0
    ends 125 0 run --load-outputs one.json
    ends 125 0 run --load-outputs never.json
    ends 125 0 run --load-outputs nothing.json
    ends 125 0 run "$models/identity.onnx" --load-outputs one.json
    ends 125 0 run --load-outputs others.json
}

@test "a difference that was seen goes before what could not be compared" {
    results a.json '[("A", [{"x": f32([1])}]), ("B", [{"x": f32([2])}]), ("C", [{"z": f32([1]), "w": f32([1])}])]'
    results b.json '[("A", [{"x": f32([nan])}]), ("B", [{}])]'
    results c.json '[("A", [{"x": f32([1]), "y": f32([3])}]), ("B", [{"x": f32([2])}])]'
    results d.json '[("A", [{"x": f32([1])}]), ("B", [{"x": f32([1])}]), ("C", [{"z": f32([1]), "w": f32([1])}])]'
    ends 1 1 run --load-outputs a.json
    ends 1 1 run --load-outputs b.json --validate
    ends 1 1 run --load-outputs c.json
    ends 125 0 run --load-outputs d.json
    POLYGRAPHY_ITERATION=0 run polygraphy run --load-outputs a.json
    logged '^\[!\] All outputs were skipped, no common outputs found! B has .*x.*, C has .*z.*$'
    logged '^\[E\] FAILED \| Runtime'
}

@test "an input without data says nothing about the model, and the message says where data come from" {
    feeds in.json '[{"X0": f32([1]), "y0:0": f32([5])}]'
    ends 125 0 run "$models/reducable.onnx" --onnxrt --load-inputs in.json
    POLYGRAPHY_ITERATION=0 run polygraphy run "$models/reducable.onnx" --onnxrt --load-inputs in.json
    logged "^\\[!\\] input 'Y0' .* is not among the loaded data; iteration 0 contains \\['X0', 'y0:0'\\]: provide the data of all inputs; "
}

@test "in a check outputs are paired by their names only, and the others are named in one line" {
    results a.json '[("A", [{"x": f32([1]), "y": f32([3])}]), ("B", [{"x": f32([1]), "y_half": f32([3])}])]'
    POLYGRAPHY_ARTIFACT=x.onnx run polygraphy run --load-outputs a.json
    [ "$status" -eq 0 ]
    logged "^\\[W\\]     1 output\\(s\\) of A are not compared, because B has no such output: \\['y'\\]$"
    not_logged 'Assuming that'
    run polygraphy run --load-outputs a.json
    logged "Assuming that 'y_half' is its counterpart"
}

@test "elsewhere outputs of other kinds of types are never taken for partners" {
    results a.json '[("A", [{"x": f32([1]), "y": f32([3])}]), ("B", [{"x": f32([1]), "less": array([True])}])]'
    run polygraphy run --load-outputs a.json
    [ "$status" -eq 0 ]
    logged "^\\[W\\]     'y' is not compared: B has no such output, and 'less' cannot be meant, as it is bool, not float32$"
    results b.json '[("A", [{"y": f32([3])}]), ("B", [{"less": array([True])}])]'
    run polygraphy run --load-outputs b.json
    [ "$status" -eq 1 ]
    logged '^\[!\] All outputs were skipped, no common outputs found!'
}

# Whether the check ends with this code under `debug repeat`. Words are run by the fork server, a script is not.
check_ends()
{
    local code=$1
    shift
    run polygraphy debug repeat --until 1 --fail-code "$code" --hide-fail-output --check "$@"
    logged 'Passed: 0/1'
    printf '#!/bin/sh\nexec polygraphy' >check.sh
    shift
    printf ' %s' "$@" >>check.sh
    chmod +x check.sh
    run polygraphy debug repeat --until 1 --fail-code "$code" --hide-fail-output --check ./check.sh
    logged 'Passed: 0/1'
}

@test "checks end alike when they are words, and when they are in a script" {
    results a.json '[("A", [{"x": f32([1])}]), ("B", [{"x": f32([2])}])]'
    check_ends 1 polygraphy run --load-outputs a.json
    check_ends 3 polygraphy run "$models/unknown_operator.onnx" --onnxrt
    check_ends 125 polygraphy run "$models/identity.onnx" --onxrt
    check_ends 125 polygraphy run gone.onnx --onnxrt
}

@test "a runner that refuses the candidate is not the difference that is looked for, in any mode" {
    cat >check.sh <<'END'
#!/bin/sh
# The whole model differs. A part without its last node is refused.
nodes=$(polygraphy inspect model "$POLYGRAPHY_ARTIFACT" --show layers | grep -c 'Op: ')
[ "$nodes" -lt 3 ] && exit 3
exit 1
END
    chmod +x check.sh
    local mode
    for mode in bisect linear minimal; do
        reduce "$models/chain17.onnx" -o out.onnx --mode "$mode" --check ./check.sh
        worked
        logged "^\\[W\\] +Inconclusive, a different failure: exit code 3; the first failure: exit code 1"
        run polygraphy inspect model out.onnx --show layers
        [ "$(grep -c 'Op: ' <<<"$output")" -ge 3 ]
    done
    reduce "$models/chain17.onnx" -o none.onnx --signature off --check ./check.sh
    refused 'the check fails on every model'
    not_logged 'a different failure'
}

@test "125 says nothing about a candidate, without being named" {
    cat >check.sh <<'END'
#!/bin/sh
[ "$POLYGRAPHY_ITERATION" = 1 ] && exit 125
exit 1
END
    chmod +x check.sh
    run polygraphy debug repeat --until 3 --json result.json --check ./check.sh
    [ "$(json_value 'it["checks"]["failed"], it["checks"]["skipped"]')" = "(2, 1)" ]
    run polygraphy debug repeat --until 3 --json result.json --ignore-fail-code 125 --check ./check.sh
    [ "$(json_value 'it["checks"]["failed"], it["checks"]["passed"]')" = "(2, 1)" ]
    run polygraphy debug repeat --until 3 --json result.json --fail-code 125 --check ./check.sh
    [ "$(json_value 'it["checks"]["failed"], it["checks"]["passed"]')" = "(1, 2)" ]
    run polygraphy debug repeat --until 3 --json result.json --fail-code 1 --check ./check.sh
    [ "$(json_value 'it["checks"]["failed"], it["checks"]["skipped"]')" = "(2, 1)" ]
}
